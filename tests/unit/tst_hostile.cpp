// SPDX-License-Identifier: GPL-3.0-or-later
//
// Hostile files and folders, opened by the program as it is started. Each row shows the sentence, the time and the
// memory beyond that of a run that reads nothing.
#include "tests/support/hostilefiles.h"
#include "tests/support/hostilerun.h"

#include <QTemporaryDir>

#include <unistd.h>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;

class HostileTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void safetensors_data() { add(hostileSafetensors()); }
    void safetensors() { check(); }
    void gguf_data() { add(hostileGguf()); }
    void gguf() { check(); }
    void configs_data() { add(hostileConfigs()); }
    void configs() { check(); }
    void folders_data() { add(hostileFolders()); }
    void folders() { check(); }

private:
    void add(std::vector<HostileFile> rows);
    void check();

    std::vector<HostileFile> m_rows;
    HostileRun m_idle;
};

void HostileTest::initTestCase()
{
    const QTemporaryDir folder;
    m_idle = runWeir(folder.path(), {u"assess"_s, u"/nowhere"_s});
    QCOMPARE(m_idle.status, 3);
    qInfo("beyond the %.1f MiB of a run that reads nothing; at most %.0f s", m_idle.mebibytes,
          maxHostileSeconds);
}

void HostileTest::add(std::vector<HostileFile> rows)
{
    m_rows = std::move(rows);
    QTest::addColumn<int>("row");
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        QTest::newRow(m_rows[i].name.c_str()) << static_cast<int>(i);
}

void HostileTest::check()
{
    QFETCH(const int, row);
    const HostileFile &file = m_rows[static_cast<std::size_t>(row)];
    if (!file.asRootToo && ::geteuid() == 0)
        QSKIP("root may read everything");
    const QTemporaryDir scratch;
    const QTemporaryDir folder;
    const QString path = q(file.make(s(folder.path())));
    Expected expected;
    expected.status = file.status;
    expected.sentence = q(file.sentence).replace(u"{}"_s, folder.path());
    expected.shown = q(file.shown);
    expected.mebibytes = file.mebibytes;
    const HostileRun run = runWeir(scratch.path(), {u"assess"_s, path});
    checkHostile(file.name.c_str(), run, m_idle, expected);
}

QTEST_GUILESS_MAIN(HostileTest)
#include "tst_hostile.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
//
// The repositories of tst_forged, read over the wire from the stand-in Hub: the same figures must come out, and
// the token must stay with the Hub.
#include "models/sources/hub/hub.h"
#include "tests/support/forgedcheck.h"
#include "tests/support/standinhub.h"
#include "tests/support/testsupport.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace weir;
using namespace weir::test;

class HubForgedTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void reads_data();
    void reads();

private:
    fs::path m_oracle;
    QTemporaryDir m_folder;
    std::unique_ptr<StandInHub> m_hub;
    std::set<std::string> m_expanded;
    std::vector<Machine> m_machines;
    std::vector<Engine> m_engines;
};

void HubForgedTest::initTestCase()
{
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (!shared || !fs::exists(*shared / "oracle" / "expand.py"))
        QSKIP("no folder with forged repositories (WEIR_SHARED_DIR)");
    if (QStandardPaths::findExecutable(u"python3"_s).isEmpty())
        QSKIP("no python3 to expand the forged repositories");
    m_oracle = *shared / "oracle";
    m_machines = readMachines(fs::path(WEIR_SOURCE_DIR) / "data" / "machines.json").value();
    m_engines = readEngines(fs::path(WEIR_SOURCE_DIR) / "data" / "engines.json").value();
    m_hub = std::make_unique<StandInHub>(s(m_folder.path()));
    m_hub->setToken("hf_forged");
}

void HubForgedTest::reads_data() { addForgedRows(m_oracle); }

void HubForgedTest::reads()
{
    QFETCH(const QString, repository);
    QFETCH(const QString, variant);
    const std::string name = s(repository);
    const fs::path pack = m_oracle / "forged" / name;
    if (!m_expanded.contains(name)) {
        QProcess process;
        process.start(u"python3"_s, {q((m_oracle / "expand.py").string()), m_folder.path(), repository});
        QVERIFY(process.waitForFinished(120'000));
        QCOMPARE(process.exitCode(), 0);
        m_expanded.insert(name);
    }
    const Json whole = readJson(pack / "expected.json");
    const bool gguf = !variant.isEmpty();
    const Json &expected = gguf ? whole["variants"][s(variant)] : whole;
    HubReference reference =
        parseHubReference(readJson(pack / "files.json")["id"].get<std::string>()).value();
    if (gguf)
        reference.choice = expected["weight_files"][0].get<std::string>();

    HubSettings settings;
    settings.endpoint = m_hub->endpoint();
    settings.token = "hf_forged";
    settings.tries = 1;
    Hub hub(settings);
    m_hub->clearRequests();
    const Result<CheckpointPtr> read = hub.read(reference, {});
    QVERIFY2(read, read ? "" : read.error().id.c_str());
    QCOMPARE((*read)->source, Source::Hub);
    QCOMPARE(q((*read)->id), q(hubReferenceText(reference)));

    const Engine &engine = *std::ranges::find(m_engines, automaticEngine(**read), &Engine::id);
    const Machine &machine = *std::ranges::find_if(m_machines, [&](const Machine &each) {
        return canLoad(engine, **read, each).canLoad && each.bandwidthBytesPerSecond;
    });
    const Differences differences = differencesFrom(expected, *read, engine, machine, gguf, packedBytes(pack),
                                                    repository.startsWith("mlx-"_L1));
    QVERIFY2(differences.isEmpty(), differences.text().constData());

    std::size_t far = 0;
    for (const SeenRequest &seen : m_hub->requests()) {
        if (!seen.cdn) {
            QCOMPARE(q(seen.header("authorization")), u"Bearer hf_forged"_s);
            continue;
        }
        QVERIFY(!seen.headers.contains("authorization"));
        QVERIFY(!seen.headers.contains("cookie"));
        const bool index = seen.parameter("path").ends_with(".json"); // a large one is kept with the weights
        QVERIFY(index || seen.headers.contains("range"));
        far += index ? 0U : 1U;
    }
    QVERIFY(far > 0);
    // The guess of the header's size was good: one request a shard where the index tells its tensors.
    const std::size_t shards = expected["weight_files"].size();
    if (shards > 4 && !gguf)
        QVERIFY2(far <= shards + 1, qPrintable(QString::number(far)));
}

QTEST_GUILESS_MAIN(HubForgedTest)
#include "tst_hubforged.moc"

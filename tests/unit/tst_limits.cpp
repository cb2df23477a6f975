// SPDX-License-Identifier: GPL-3.0-or-later
//
// docs/limits.md against the sources that it speaks of.
#include "tests/support/testsupport.h"

#include <QFile>
#include <QRegularExpression>
#include <QTest>

using namespace weir::test;
using namespace Qt::StringLiterals;

class LimitsTest : public QObject
{
    Q_OBJECT

private slots:
    void table_data();
    void table();
};

namespace {

QString textOf(const QString &path)
{
    QFile file(QStringLiteral(WEIR_SOURCE_DIR) + u'/' + path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace

void LimitsTest::table_data()
{
    QTest::addColumn<QString>("constant");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("file");
    static const QRegularExpression row(u"^\\| `([^`]+)` \\| `([^`]+)` \\| `([^`]+)` \\| \\S.* \\|$"_s);
    int rows = 0;
    int lines = 0;
    const QStringList text = textOf(u"docs/limits.md"_s).split(u'\n');
    for (const QString &line : text) {
        lines += line.startsWith(u"| `") ? 1 : 0;
        const QRegularExpressionMatch match = row.match(line);
        if (!match.hasMatch())
            continue;
        ++rows;
        QTest::newRow(qPrintable(match.captured(3) + u' ' + match.captured(1)))
            << match.captured(1) << match.captured(2) << match.captured(3);
    }
    QCOMPARE(rows, lines);
    QVERIFY(rows > 40);
}

void LimitsTest::table()
{
    QFETCH(const QString, constant);
    QFETCH(const QString, value);
    QFETCH(const QString, file);
    const QString source = textOf(file);
    QVERIFY2(!source.isEmpty(), qPrintable(file));
    // `constexpr TYPE NAME = VALUE;`, or a member with that value.
    const QRegularExpression definition(u"\\b[\\w:]+\\s+%1(?: = |\\{)%2[;}]"_s.arg(
        QRegularExpression::escape(constant), QRegularExpression::escape(value)));
    QVERIFY2(definition.match(source).hasMatch(),
             qPrintable(u"%1 does not define %2 as %3"_s.arg(file, constant, value)));
}

QTEST_GUILESS_MAIN(LimitsTest)
#include "tst_limits.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/units.h"
#include "tests/support/testsupport.h"

#include <QTest>

#include <limits>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;

class UnitsTest : public QObject
{
    Q_OBJECT

private slots:
    void bytes_data();
    void bytes();
    void bytesExactly_data();
    void bytesExactly();
    void speed_data();
    void speed();
    void seconds_data();
    void seconds();
    void counts_data();
    void counts();
    void parameters_data();
    void parameters();
    void percent_data();
    void percent();
    void printableText_data();
    void printableText();
    void printableIsBounded();
};

void UnitsTest::bytes_data()
{
    QTest::addColumn<quint64>("value");
    QTest::addColumn<QString>("decimal");
    QTest::addColumn<QString>("binary");
    const auto row = [](quint64 value, const char *decimal, const char *binary) {
        QTest::addRow("%llu", value) << value << q(decimal) << q(binary);
    };
    row(0, "0 bytes", "0 bytes");
    row(1, "1 bytes", "1 bytes");
    row(2048, "2,048 bytes", "2,048 bytes");
    row(9'999, "9,999 bytes", "9,999 bytes");
    row(10'240, "10.2 kB", "10.0 KiB");
    row(312'500, "312.5 kB", "305.2 KiB");
    row(1'048'576, "1.0 MB", "1.0 MiB");
    row(75'497'472, "0.08 GB", "0.07 GiB");
    row(312'500'000, "0.31 GB", "0.29 GiB");
    row(60'246'982'656, "60.25 GB", "56.11 GiB");
    row(72'379'244'512, "72.38 GB", "67.41 GiB");
    row(137'438'953'472, "137.44 GB", "128.00 GiB");
    row(1'000'000'000'000, "1000.00 GB", "931.32 GiB");
    row(20'000'000'000'000, "20.00 TB", "18.19 TiB");
    row(std::numeric_limits<quint64>::max(), "18446744.07 TB", "16777216.00 TiB");
}

void UnitsTest::bytes()
{
    QFETCH(const quint64, value);
    QFETCH(const QString, decimal);
    QFETCH(const QString, binary);
    QCOMPARE(q(formatBytes(value)), decimal);
    QCOMPARE(q(formatBytes(value, ByteUnit::Gibibytes)), binary);
}

void UnitsTest::bytesExactly_data()
{
    QTest::addColumn<quint64>("value");
    QTest::addColumn<QString>("text");
    QTest::newRow("small") << quint64{9'999} << u"9,999 bytes"_s;
    QTest::newRow("reference") << quint64{72'379'244'512} << u"72.38 GB = 67.41 GiB = 72,379,244,512 bytes"_s;
}

void UnitsTest::bytesExactly()
{
    QFETCH(const quint64, value);
    QFETCH(const QString, text);
    QCOMPARE(q(formatBytesExactly(value)), text);
}

void UnitsTest::speed_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](double value, const char *text) { QTest::addRow("%g", value) << value << q(text); };
    row(0, "0.00");
    row(0.004, "0.00");
    row(0.617, "0.62");
    row(0.994, "0.99");
    row(0.996, "1.0");
    row(4.8, "4.8");
    row(9.94, "9.9");
    row(9.96, "10");
    row(27.2, "27");
    row(1234.5, "1,235");
    row(-1, "unknown");
    row(std::numeric_limits<double>::quiet_NaN(), "unknown");
    row(std::numeric_limits<double>::infinity(), "unknown");
}

void UnitsTest::speed()
{
    QFETCH(const double, value);
    QFETCH(const QString, text);
    QCOMPARE(q(formatSpeed(value)), text);
}

void UnitsTest::seconds_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](double value, const char *text) { QTest::addRow("%g", value) << value << q(text); };
    row(0, "0 µs");
    row(0.00012, "120 µs");
    row(0.001, "1.0 ms");
    row(0.03471, "34.7 ms");
    row(1.94, "1.9 s");
    row(99.4, "99.4 s");
    row(100, "100 s");
    row(12'345.6, "12346 s");
    row(-1, "unknown");
    row(std::numeric_limits<double>::quiet_NaN(), "unknown");
}

void UnitsTest::seconds()
{
    QFETCH(const double, value);
    QFETCH(const QString, text);
    QCOMPARE(q(formatSeconds(value)), text);
}

void UnitsTest::counts_data()
{
    QTest::addColumn<quint64>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](quint64 value, const char *text) { QTest::newRow(text) << value << q(text); };
    row(0, "0");
    row(999, "999");
    row(1'000, "1,000");
    row(262'144, "262,144");
    row(1'000'000, "1,000,000");
    row(std::numeric_limits<quint64>::max(), "18,446,744,073,709,551,615");
}

void UnitsTest::counts()
{
    QFETCH(const quint64, value);
    QFETCH(const QString, text);
    QCOMPARE(q(formatCount(value)), text);
}

void UnitsTest::parameters_data()
{
    QTest::addColumn<quint64>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](quint64 value, const char *text) {
        QTest::addRow("%llu", value) << value << q(text);
    };
    row(0, "0");
    row(12'345, "12,345");
    row(999'499, "999,499");
    row(999'500, "1 M");
    row(596'049'920, "596 M");
    row(999'499'999, "999 M");
    row(999'500'000, "1.00 B");
    row(8'030'261'248, "8.03 B");
    row(99'940'000'000, "99.94 B");
    row(99'950'000'000, "100.0 B");
    row(125'086'497'008, "125.1 B");
}

void UnitsTest::parameters()
{
    QFETCH(const quint64, value);
    QFETCH(const QString, text);
    QCOMPARE(q(formatParameters(value)), text);
}

void UnitsTest::percent_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](double value, const char *text) { QTest::addRow("%g", value) << value << q(text); };
    row(0, "0 %");
    row(0.0903, "9.0 %");
    row(0.0994, "9.9 %");
    row(0.0996, "10 %");
    row(1, "100 %");
    row(-0.031, "-3.1 %");
    row(2.5, "250 %");
    row(std::numeric_limits<double>::quiet_NaN(), "unknown");
}

void UnitsTest::percent()
{
    QFETCH(const double, value);
    QFETCH(const QString, text);
    QCOMPARE(q(formatPercent(value)), text);
}

void UnitsTest::printableText_data()
{
    QTest::addColumn<QByteArray>("text");
    // What must be in it, and what must not.
    QTest::addColumn<bool>("unchanged");
    const auto same = [](const char *name, const QByteArray &text) { QTest::newRow(name) << text << true; };
    const auto altered = [](const char *name, const QByteArray &text) {
        QTest::newRow(name) << text << false;
    };
    same("plain", "model.layers.N.mlp");
    same("empty", "");
    same("umlauts", "\xC3\xA4\xC3\xB6");
    same("Chinese", "\xE6\xA8\xA1\xE5\x9E\x8B");
    same("emoji", "\xF0\x9F\xA6\x99");
    altered("NUL", QByteArray("a\0b", 3));
    altered("line break", "a\nb");
    altered("carriage return", "a\rb");
    altered("tab", "a\tb");
    altered("escape", "\x1b[31m");
    altered("delete", "a\x7F");
    altered("C1 control", "\xC2\x9B"
                          "31m");
    altered("right-to-left override", "\xE2\x80\xAEgpj.exe");
    altered("left-to-right mark", "a\xE2\x80\x8E");
    altered("right-to-left isolate", "\xE2\x81\xA7x");
    altered("line separator", "a\xE2\x80\xA8"
                              "b");
    altered("lone continuation", "a\x80");
    altered("cut off in a letter", "a\xC3");
    altered("cut off in a wide letter", "a\xF0\x9F\xA6");
    altered("overlong slash", "\xC0\xAF");
    altered("overlong in three", "\xE0\x80\xAF");
    altered("surrogate", "\xED\xA0\x80");
    altered("beyond Unicode", "\xF4\x90\x80\x80");
    altered("0xFF", "\xFF\xFE");
}

void UnitsTest::printableText()
{
    QFETCH(const QByteArray, text);
    QFETCH(const bool, unchanged);
    const std::string shown = printable(text.toStdString());
    if (unchanged)
        QCOMPARE(QByteArray::fromStdString(shown), text);
    else
        QVERIFY(QByteArray::fromStdString(shown) != text);
    // Sound UTF-8 without anything that steers a terminal or turns the writing around.
    const QString back = QString::fromUtf8(shown.data(), static_cast<qsizetype>(shown.size()));
    QCOMPARE(back.toUtf8(), QByteArray::fromStdString(shown));
    for (const QChar c : back) {
        const char16_t code = c.unicode();
        QVERIFY2(code >= 0x20 && !(code >= 0x7F && code < 0xA0) && !(code >= 0x200E && code <= 0x200F)
                     && !(code >= 0x2028 && code <= 0x202E) && !(code >= 0x2066 && code <= 0x2069),
                 qPrintable(QString::number(code, 16)));
    }
}

void UnitsTest::printableIsBounded()
{
    for (const std::string &text :
         {std::string(10'000, 'x'), std::string(10'000, '\0'), std::string(10'000, '\xC3')}) {
        const std::string shown = printable(text, 100);
        QVERIFY2(shown.size() <= 120, qPrintable(QString::number(shown.size())));
        QVERIFY(shown.size() >= 90);
    }
    // Cut between letters.
    std::string wide;
    for (int i = 0; i < 100; ++i)
        wide += "\xE6\xA8\xA1";
    const std::string shown = printable(wide, 100);
    QCOMPARE(QString::fromStdString(shown).toUtf8(), QByteArray::fromStdString(shown));
    QVERIFY(!QString::fromStdString(shown).contains(QChar::ReplacementCharacter));
}

QTEST_GUILESS_MAIN(UnitsTest)
#include "tst_units.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/tolerantjson.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QElapsedTimer>
#include <QTest>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
using nlohmann::json;

class TolerantJsonTest : public QObject
{
    Q_OBJECT

private slots:
    void accepts_data();
    void accepts();
    void refuses_data();
    void refuses();
    void depth_data();
    void depth();
    void duplicates();
    void size();
    void impostors_data();
    void impostors();
    void errorNamesTheSubject();
};

void TolerantJsonTest::accepts_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("expected"); // as strict JSON
    const auto row = [](const char *name, const QByteArray &text, const char *expected) {
        QTest::newRow(name) << text << QByteArray(expected);
    };
    row("empty object", "{}", "{}");
    row("white space", " \t\r\n{ } \n", "{}");
    row("byte order mark", "\xEF\xBB\xBF{\"a\":1}", "{\"a\":1}");
    row("Infinity", "{\"a\": Infinity, \"b\": -Infinity, \"c\": NaN}", "{\"a\":null,\"b\":null,\"c\":null}");
    row("Infinity in lists", "{\"a\":[Infinity,1,NaN,-Infinity,-1]}", "{\"a\":[null,1,null,null,-1]}");
    row("the words in texts", "{\"Infinity\":\"NaN -Infinity\"}", "{\"Infinity\":\"NaN -Infinity\"}");
    row("escaped quotes before the words", "{\"a\\\"\":\"\\\\\", \"b\": NaN}",
        "{\"a\\\"\":\"\\\\\",\"b\":null}");
    row("negative numbers", "{\"a\":-1,\"b\":-1.5e-3}", "{\"a\":-1,\"b\":-0.0015}");
    row("last of duplicate keys", "{\"a\":1,\"a\":2}", "{\"a\":2}");
    row("64 bits", "{\"a\":18446744073709551615}", "{\"a\":18446744073709551615}");
    row("escapes", "{\"\\u0061\":\"\\ud83d\\ude00\"}", "{\"a\":\"\xF0\x9F\x98\x80\"}");
}

void TolerantJsonTest::accepts()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QByteArray, expected);
    const Result<json> parsed = parseTolerant(text.toStdString(), "test");
    QVERIFY2(parsed, parsed ? "" : parsed.error().id.c_str());
    QCOMPARE(q(parsed->dump()), q(json::parse(expected.toStdString()).dump()));
}

void TolerantJsonTest::refuses_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const QByteArray &text, const char *expected) {
        QTest::newRow(name) << text << q(expected);
    };
    row("nothing", "", "file.empty");
    row("white space alone", " \n\t ", "file.empty");
    row("byte order mark alone", "\xEF\xBB\xBF", "file.empty");
    row("list", "[1]", "json.not-object");
    row("number", "1", "json.not-object");
    row("text", "\"a\"", "json.not-object");
    row("null", "null", "json.not-object");
    row("NaN", "NaN", "json.not-object");
    row("line comment", "{} // comment", "json.invalid");
    row("block comment", "{/* comment */}", "json.invalid");
    row("hash comment", "# comment\n{}", "json.invalid");
    row("trailing comma", "{\"a\":1,}", "json.invalid");
    row("trailing comma in a list", "{\"a\":[1,]}", "json.invalid");
    row("single quotes", "{'a':1}", "json.invalid");
    row("key without quotes", "{a:1}", "json.invalid");
    row("Python", "{\"a\": None, \"b\": True}", "json.invalid");
    row("other infinity", "{\"a\": +Infinity}", "json.invalid");
    row("infinity in lower case", "{\"a\": infinity}", "json.invalid");
    row("minus NaN", "{\"a\": -NaN}", "json.invalid");
    row("longer word", "{\"a\": Infinityx}", "json.invalid");
    row("word as a key", "{NaN: 1}", "json.invalid");
    row("two objects", "{}{}", "json.invalid");
    row("cut off", "{\"a\":", "json.invalid");
    row("cut off in a text", "{\"a", "json.invalid");
    row("cut off after a backslash", "{\"a\\", "json.invalid");
    row("closed too often", "{}}", "json.invalid");
    row("NUL", QByteArray("{}\0", 3), "json.invalid");
    row("NUL and more", QByteArray("{}\0{", 4), "json.invalid");
    row("NUL in a text", QByteArray("{\"a\0b\":1}", 9), "json.invalid");
    row("line break in a text", "{\"a\nb\":1}", "json.invalid");
    row("not UTF-8", "{\"\xFF\":1}", "json.invalid");
    row("half a surrogate", "{\"a\":\"\\ud800\"}", "json.invalid");
    row("leading zero", "{\"a\":01}", "json.invalid");
    row("number that overflows a double", "{\"a\":1e999}", "json.invalid");
    row("page", "<!DOCTYPE html><html></html>", "json.html");
    row("page in lower case", "<!doctype html>", "json.html");
    row("page without doctype", "\n  <html lang=\"en\">", "json.html");
    row("XML", "<?xml version=\"1.0\"?><Error>AccessDenied</Error>", "json.html");
    row("LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
        "json.lfs-pointer");
    row("pickle", QByteArray("\x80\x02}q\x00.", 6), "json.invalid");
}

void TolerantJsonTest::refuses()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, expected);
    QCOMPARE(outcome(parseTolerant(text.toStdString(), "test")), expected);
}

void TolerantJsonTest::depth_data()
{
    QTest::addColumn<int>("depth");
    QTest::addColumn<bool>("objects");
    for (const bool objects : {false, true}) {
        for (const int depth : {1, 63, 64, 65, 1000, 1'000'000})
            QTest::addRow("%d %s", depth, objects ? "objects" : "lists") << depth << objects;
    }
}

void TolerantJsonTest::depth()
{
    QFETCH(const int, depth);
    QFETCH(const bool, objects);
    std::string text = "{\"a\":";
    for (int i = 1; i < depth; ++i)
        text += objects ? "{\"a\":" : "[";
    text += "1";
    for (int i = 1; i < depth; ++i)
        text += objects ? "}" : "]";
    text += "}";
    QCOMPARE(outcome(parseTolerant(text, "test")), depth <= maxConfigDepth ? u"ok"_s : u"json.too-deep"_s);
    // Brackets in texts are no depth.
    QCOMPARE(outcome(parseTolerant("{\"a\":\"" + std::string(1000, '[') + "\"}", "test")), u"ok"_s);
}

void TolerantJsonTest::duplicates()
{
    std::vector<std::string> names;
    const Result<json> parsed = parseTolerant(
        R"({"a":1,"b":{"a":1,"x":2,"x":3},"a":2,"\u0061":3,"c":[{"a":1},{"a":2}]})", "test", &names);
    QVERIFY(parsed);
    QCOMPARE(names, (std::vector<std::string>{"x", "a", "a"}));
    QCOMPARE((*parsed)["a"].get<int>(), 3);
    QCOMPARE((*parsed)["b"]["x"].get<int>(), 3);
    // A forged file of nothing else is not kept whole.
    std::string many = "{\"a\":0";
    for (int i = 0; i < 1000; ++i)
        many += ",\"a\":0";
    names.clear();
    QVERIFY(parseTolerant(many + "}", "test", &names));
    QVERIFY(!names.empty() && names.size() <= 16);
    // Tens of thousands of objects side by side, as in quantization configs: no time lost on them.
    std::string wide = "{\"a\":{}";
    for (int i = 0; i < 50'000; ++i)
        wide += ",\"k" + std::to_string(i) + "\":{\"bits\":4}";
    QElapsedTimer timer;
    timer.start();
    names.clear();
    QVERIFY(parseTolerant(wide + "}", "test", &names));
    QVERIFY(names.empty());
    QVERIFY2(timer.elapsed() < 10'000, qPrintable(QString::number(timer.elapsed())));
    names.clear();
    QVERIFY(parseTolerant(R"({"a":{"a":{"a":1}}})", "test", &names));
    QVERIFY(names.empty());
}

void TolerantJsonTest::size()
{
    std::string text = "{}";
    text.resize(1U << 20U, ' ');
    QCOMPARE(outcome(parseTolerant(text, "test")), u"ok"_s);
    text.resize(maxConfigBytes + 1, ' ');
    QCOMPARE(outcome(parseTolerant(text, "test")), u"json.too-large"_s);
}

void TolerantJsonTest::impostors_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("expected");
    QTest::newRow("nothing") << QByteArray() << QString();
    QTest::newRow("JSON") << QByteArray("{\"a\": \"<html>\"}") << QString();
    QTest::newRow("page") << QByteArray("<!DOCTYPE html>") << u"json.html"_s;
    QTest::newRow("page in capitals") << QByteArray("<HTML>") << u"json.html"_s;
    QTest::newRow("pointer") << QByteArray("version https://git-lfs.github.com/spec/v1")
                             << u"json.lfs-pointer"_s;
    QTest::newRow("some other version") << QByteArray("version 1") << QString();
}

void TolerantJsonTest::impostors()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, expected);
    QCOMPARE(q(impostorError(text.toStdString())), expected);
}

void TolerantJsonTest::errorNamesTheSubject()
{
    const Result<json> parsed = parseTolerant("{", "folder/config.json");
    QVERIFY(!parsed);
    QCOMPARE(q(parsed.error().subject), u"folder/config.json"_s);
    QCOMPARE(parsed.error().kind, ErrorKind::Unreadable);
}

QTEST_GUILESS_MAIN(TolerantJsonTest)
#include "tst_tolerantjson.moc"

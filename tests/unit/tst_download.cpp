// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/download.h"
#include "tests/support/testsupport.h"

#include <QProcess>
#include <QTest>

#include <algorithm>

using namespace weir;
using namespace weir::test;

namespace {

/// A repository of the Hub as its reader leaves it.
Checkpoint repository(const char *name)
{
    Checkpoint checkpoint;
    checkpoint.id = name;
    checkpoint.repository = name;
    checkpoint.source = Source::Hub;
    checkpoint.provenance = Provenance::Headers;
    return checkpoint;
}

/// The words that a POSIX shell makes of a command, one a line.
QStringList wordsOf(const std::string &command)
{
    QProcess shell;
    shell.start(QStringLiteral("/bin/sh"),
                {QStringLiteral("-c"), QStringLiteral("for word in ") + QString::fromStdString(command)
                                           + QStringLiteral("; do printf '%s\\0' \"$word\"; done")});
    if (!shell.waitForFinished())
        return {};
    QStringList words;
    for (const QByteArray &word : shell.readAllStandardOutput().split('\0'))
        words << QString::fromUtf8(word);
    words.removeLast(); // behind the last NUL
    return words;
}

/// Applies the options of a command to a listing as the official client does.
QStringList downloaded(const std::string &command, const QStringList &listing)
{
    QStringList include;
    QStringList exclude;
    for (const QString &word : wordsOf(command)) {
        if (word.startsWith(QLatin1String("--include=")))
            include << word.mid(10);
        if (word.startsWith(QLatin1String("--exclude=")))
            exclude << word.mid(10);
    }
    const auto matches = [](const QString &path, const QStringList &patterns) {
        return std::ranges::any_of(patterns, [&path](const QString &pattern) {
            return matchesGlob(path.toStdString(), pattern.toStdString());
        });
    };
    QStringList files;
    for (const QString &path : listing) {
        if ((include.isEmpty() || matches(path, include)) && !matches(path, exclude))
            files << path;
    }
    files.sort();
    return files;
}

} // namespace

class TestDownload : public QObject
{
    Q_OBJECT

private slots:
    void words_data();
    void words();
    void globs_data();
    void globs();
    void wholeRepository();
    void copiesAreLeftOut();
    void oneQuantizationOfMany();
    void hostileNames();
    void withoutListing();
    void time();
};

void TestDownload::words_data()
{
    QTest::addColumn<QByteArray>("word");
    for (const char *word : {"plain",     "",           "two words", "it's",   "$(touch /tmp/x)",
                             "`id`",      "a;b",        "a\nb",      "--flag", "\"",
                             "\\",        "*",          "~",         "a'b'c",  "!x",
                             "tab\there", "trailing\n", "üñí",       "'",      "$HOME",
                             "a&b|c>d"})
        QTest::newRow(word) << QByteArray(word);
}

void TestDownload::words()
{
    QFETCH(QByteArray, word);
    const std::string quoted = shellQuoted(word.toStdString());
    QCOMPARE(wordsOf(quoted), QStringList{QString::fromUtf8(word)});
    // Also as the second word of a line.
    QCOMPARE(wordsOf("first " + quoted), (QStringList{QStringLiteral("first"), QString::fromUtf8(word)}));
}

void TestDownload::globs_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("matches");
    const auto row = [](const char *pattern, const char *name, bool matches) {
        QTest::addRow("%s on %s", pattern, name)
            << QString::fromLatin1(pattern) << QString::fromLatin1(name) << matches;
    };
    row("*.json", "config.json", true);
    row("*.json", "a/b.json", true);
    row("*.json", "config.jsonl", false);
    row("a?c", "abc", true);
    row("a?c", "ac", false);
    row("[*]", "*", true);
    row("[*]", "x", false);
    row("[a-c]x", "bx", true);
    row("[!a-c]x", "bx", false);
    row("[!a-c]x", "dx", true);
    row("[", "[", true);
    row("", "", true);
    row("", "a", false);
    row("*", "", true);
    row("a*b*c", "a-b-b-c", true);
    row("a*b*c", "a-b-b-d", false);
    row("[[]x]", "[x]", true);
    const QByteArray stars = QByteArray("*a").repeated(200) + 'b';
    row(stars.constData(), QByteArray(5000, 'a').constData(), false);
}

void TestDownload::globs()
{
    QFETCH(QString, pattern);
    QFETCH(QString, name);
    QTEST(matchesGlob(name.toStdString(), pattern.toStdString()), "matches");
}

void TestDownload::wholeRepository()
{
    Checkpoint checkpoint = repository("org/model");
    checkpoint.revision = "0123456789012345678901234567890123456789";
    checkpoint.files = {{"model-00001-of-00002.safetensors", 100, true, true},
                        {"model-00002-of-00002.safetensors", 50, true, true}};
    checkpoint.companions = {{"config.json", 7, true}, {"tokenizer.json", 3, true}};
    const DownloadPlan plan = downloadPlan(checkpoint);
    QCOMPARE(q(plan.command),
             QStringLiteral("hf download org/model --revision=0123456789012345678901234567890123456789"));
    QCOMPARE(plan.files.size(), std::size_t{4});
    QCOMPARE(plan.bytes.value_or(0), std::uint64_t{160});
    QVERIFY(plan.exact);
}

void TestDownload::copiesAreLeftOut()
{
    Checkpoint checkpoint = repository("org/model");
    checkpoint.files = {{"model-00001-of-00002.safetensors", 100, true, true},
                        {"model-00002-of-00002.safetensors", 50, true, true},
                        {"original/model.safetensors", 150, false, false}};
    checkpoint.companions = {{"config.json", 7, true}, {"original/params.json", 1, false}};
    const DownloadPlan plan = downloadPlan(checkpoint);
    QCOMPARE(q(plan.command), QStringLiteral("hf download org/model '--exclude=original/*'"));
    QCOMPARE(plan.bytes.value_or(0), std::uint64_t{157});
}

void TestDownload::oneQuantizationOfMany()
{
    Checkpoint checkpoint = repository("org/model-GGUF");
    QStringList listing;
    for (int part = 1; part <= 20; ++part) {
        const std::string number = QStringLiteral("%1").arg(part, 5, 10, QLatin1Char('0')).toStdString();
        for (const char *label : {"Q4_K_M", "Q8_0"}) {
            const std::string path = std::string(label) + "/model-" + label + "-" + number + "-of-00020.gguf";
            checkpoint.files.push_back({path, 10, true, std::string(label) == "Q4_K_M"});
            listing << q(path);
        }
    }
    checkpoint.companions = {
        {"mmproj-F16.gguf", 5, true}, {"README.md", 1, false}, {"mmproj-F32.gguf", 9, false}};
    listing << QStringLiteral("mmproj-F16.gguf") << QStringLiteral("README.md")
            << QStringLiteral("mmproj-F32.gguf");
    const DownloadPlan plan = downloadPlan(checkpoint);
    QCOMPARE(q(plan.command),
             QStringLiteral("hf download org/model-GGUF '--include=Q4_K_M/*' --include=mmproj-F16.gguf"));
    QCOMPARE(plan.bytes.value_or(0), std::uint64_t{205});
    const QStringList files = downloaded(plan.command, listing);
    QCOMPARE(files.size(), 21);
    QCOMPARE(static_cast<std::size_t>(files.size()), plan.files.size());
}

void TestDownload::hostileNames()
{
    Checkpoint checkpoint = repository("org/it's $(id)");
    checkpoint.files = {{"-rf *.safetensors", 1, true, true},
                        {"a'b\n[x].safetensors", 1, true, true},
                        {"other *.gguf", 1, true, false}};
    const DownloadPlan plan = downloadPlan(checkpoint);
    QVERIFY2(plan.command.find('\n') == std::string::npos, plan.command.c_str());
    QCOMPARE(wordsOf(plan.command).mid(0, 3), (QStringList{QStringLiteral("hf"), QStringLiteral("download"),
                                                           QStringLiteral("org/it's $(id)")}));
    const QStringList wanted{QStringLiteral("-rf *.safetensors"), QStringLiteral("a'b\n[x].safetensors")};
    QCOMPARE(downloaded(plan.command, wanted + QStringList{QStringLiteral("other *.gguf")}), wanted);

    // A name that a terminal would act on makes no command at all.
    QVERIFY(downloadPlan(repository("org/na\x1bme")).command.empty());
}

void TestDownload::withoutListing()
{
    // An entry of the catalog: the weights are known, the files are not.
    Checkpoint checkpoint;
    checkpoint.source = Source::Catalog;
    checkpoint.provenance = Provenance::Config;
    checkpoint.ollama = "qwen2.5:7b";
    TensorGroup group;
    group.count = 1;
    group.bytes = 4'000;
    checkpoint.groups = {group};
    finish(checkpoint);
    const DownloadPlan plan = downloadPlan(checkpoint);
    QCOMPARE(q(plan.command), QStringLiteral("ollama pull qwen2.5:7b"));
    QVERIFY(plan.byOllama);
    QCOMPARE(plan.bytes.value_or(0), std::uint64_t{4'000});
    QVERIFY(!plan.exact);
    QVERIFY(plan.files.empty());

    // A file on this disk, or a what-if: nothing to get.
    checkpoint.ollama.clear();
    const DownloadPlan none = downloadPlan(checkpoint);
    QVERIFY(none.command.empty());
    QVERIFY(!none.bytes);
}

void TestDownload::time()
{
    QCOMPARE(downloadSeconds(72'379'244'512, 1e9), 72'379'244'512.0 * 8 / 1e9);
    QVERIFY(downloadSeconds(1, 0) > 1e300);
}

QTEST_APPLESS_MAIN(TestDownload)
#include "tst_download.moc"

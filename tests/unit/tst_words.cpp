// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/library.h"
#include "app/words.h"
#include "models/decode/assessment.h"
#include "tests/support/testsupport.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;

namespace {

struct Words
{
    QString title;
    QString detail;
};

/// One mention of an id in a source file: the words of arguments that stand near it.
struct Mention
{
    QString file;
    std::set<QString> arguments;
};

QString readText(const QString &file)
{
    QFile opened(file);
    return opened.open(QIODevice::ReadOnly) ? QString::fromUtf8(opened.readAll()) : QString();
}

/// "a" "b" -> ab
QString joinedLiteral(const QString &source)
{
    static const QRegularExpression literal(uR"re("((?:[^"\\]|\\.)*)")re"_s);
    QString text;
    auto matches = literal.globalMatch(source);
    while (matches.hasNext())
        text += matches.next().captured(1);
    return text;
}

/// The catalogue as it stands in app/words.cpp.
std::map<QString, Words> catalogue()
{
    static const QRegularExpression entry(
        uR"re(\{\s*"([a-z0-9.-]+)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\})re"_s);
    std::map<QString, Words> words;
    auto matches = entry.globalMatch(readText(QLatin1StringView(WEIR_SOURCE_DIR) + "/app/words.cpp"_L1));
    while (matches.hasNext()) {
        const auto match = matches.next();
        words[match.captured(1)] = {joinedLiteral(match.captured(2)), joinedLiteral(match.captured(3))};
    }
    return words;
}

QStringList sources()
{
    QStringList files;
    for (const char *folder : {"/models", "/app"}) {
        QDirIterator each(QLatin1StringView(WEIR_SOURCE_DIR) + QLatin1StringView(folder), {u"*.cpp"_s},
                          QDir::Files, QDirIterator::Subdirectories);
        while (each.hasNext()) {
            const QString file = each.next();
            // models/checkpoint/derive makes names of tensors, which look like ids, and no messages.
            if (!file.endsWith("/words.cpp"_L1) && !file.contains("/checkpoint/derive/"_L1))
                files += file;
        }
    }
    files.sort();
    return files;
}

/// Literals that look like ids and are none: file names, keys of GGUF files, hosts, tensors, beginnings of ids.
bool isNoId(const QString &text)
{
    static const QRegularExpression others(
        u"^(split|general)\\.|\\.(json|csv|ini|gguf|safetensors|cpp)$|-$|^data\\.[a-z]+$|^speed\\.basis$"
        u"|^(hf|huggingface)\\.co$|^(mixer|model|output)\\."_s);
    return others.match(text).hasMatch();
}

std::map<QString, std::vector<Mention>> mentions()
{
    static const QRegularExpression dotted(u"\"([a-z]+(?:-[a-z]+)*\\.[a-z][a-z0-9-]*)\""_s);
    // Ids without a dot, where they can only be ids.
    static const QRegularExpression bare(
        u"(?:fail\\(|Error\\{|push_back\\(\\s*\\{)\\s*\"([a-z][a-z0-9-]*)\""_s);
    static const QRegularExpression argument(u"\\{\"([a-z_]+)\",|emplace_back\\(\"([a-z_]+)\""_s);
    static const QRegularExpression helper(u"emplace_back\\(\"([a-z_]+)\""_s);
    std::map<QString, std::vector<Mention>> found;
    for (const QString &file : sources()) {
        const QString text = readText(file);
        std::set<QString> fromHelpers;
        auto helpers = helper.globalMatch(text);
        while (helpers.hasNext())
            fromHelpers.insert(helpers.next().captured(1));
        for (const QRegularExpression &expression : {dotted, bare}) {
            auto matches = expression.globalMatch(text);
            while (matches.hasNext()) {
                const auto match = matches.next();
                if (isNoId(match.captured(1)))
                    continue;
                Mention mention{file, fromHelpers};
                const qsizetype end = text.indexOf(u';', match.capturedEnd(1));
                auto arguments =
                    argument.globalMatch(text.mid(match.capturedEnd(1), end - match.capturedEnd(1)));
                while (arguments.hasNext()) {
                    const auto each = arguments.next();
                    mention.arguments.insert(each.captured(1) + each.captured(2));
                }
                found[match.captured(1)].push_back(mention);
            }
        }
    }
    return found;
}

std::set<QString> placeholders(const QString &text)
{
    static const QRegularExpression placeholder(u"\\{([^}]*)\\}"_s);
    std::set<QString> names;
    auto matches = placeholder.globalMatch(text);
    while (matches.hasNext())
        names.insert(matches.next().captured(1));
    return names;
}

bool isReason(const QString &id) { return id.startsWith("reason."_L1); }

} // namespace

class WordsTest : public QObject
{
    Q_OBJECT

private slots:
    void catalogueIsFound();
    void everyIdHasWords();
    void everyWordIsUsed();
    void placeholdersAreFilled();
    void sentencesEnd();
    void plainCharacters();
    void fills();
    void dataErrors();
    void unknownIdLosesNothing();
    void translates();
    void everyAssessmentReadsWell();
    void componentsHaveLabels();
};

void WordsTest::catalogueIsFound()
{
    const auto words = catalogue();
    QVERIFY(words.size() > 120);
    for (const auto &[id, each] : words)
        QVERIFY2(hasWordsFor(s(id)), qPrintable(id));
    QVERIFY(words.contains(u"memory.does-not-fit"_s));
    QVERIFY(words.contains(u"gguf.magic"_s));
    QVERIFY(!hasWordsFor("no.such-id"));
    QVERIFY(!hasWordsFor(""));
}

void WordsTest::everyIdHasWords()
{
    const auto all = mentions();
    QVERIFY(all.size() > 100);
    QStringList missing;
    for (const auto &[id, where] : all) {
        if (!hasWordsFor(s(id)))
            missing += id + u" ("_s + where.front().file + u')';
    }
    QVERIFY2(missing.isEmpty(), qPrintable(missing.join("\n  "_L1)));
    // Ids that are put together.
    for (const SpeedBasis basis :
         {SpeedBasis::Own, SpeedBasis::Fitted, SpeedBasis::Class, SpeedBasis::Default})
        QVERIFY(hasWordsFor("speed.basis-" + std::string(speedBasisId(basis))));
}

void WordsTest::everyWordIsUsed()
{
    QString text;
    for (const QString &file : sources())
        text += readText(file);
    QDirIterator data(QLatin1StringView(WEIR_SOURCE_DIR) + "/data/catalog"_L1, {u"*.json"_s}, QDir::Files);
    while (data.hasNext())
        text += readText(data.next());
    QStringList unused;
    for (const auto &[id, words] : catalogue()) {
        if (!text.contains(u'"' + id + u'"') && !id.startsWith("speed.basis-"_L1))
            unused += id;
    }
    QVERIFY2(unused.isEmpty(), qPrintable(unused.join(u' ')));
}

void WordsTest::placeholdersAreFilled()
{
    const auto words = catalogue();
    QStringList unfilled;
    for (const auto &[id, where] : mentions()) {
        const auto found = words.find(id);
        if (found == words.end())
            continue;
        for (const QString &name : placeholders(found->second.title + found->second.detail)) {
            for (const Mention &mention : where) {
                // Files that only ask for an id make no message of it.
                if (name != "subject"_L1 && !mention.arguments.contains(name)
                    && mention.file.contains("/models/"_L1))
                    unfilled += u"%1: {%2} (%3)"_s.arg(id, name, mention.file);
            }
        }
    }
    QVERIFY2(unfilled.isEmpty(), qPrintable(unfilled.join("\n  "_L1)));
}

void WordsTest::sentencesEnd()
{
    QStringList open;
    for (const auto &[id, words] : catalogue()) {
        if (isReason(id)) { // cells of a table, no sentences
            if (words.detail.isEmpty() || words.detail.endsWith(u'.'))
                open += id;
        } else if (!words.detail.endsWith(u'.') && words.detail != "{text}"_L1 && !words.detail.isEmpty()) {
            open += id;
        }
        if (words.title.endsWith(u'.') || words.title.contains(u'\n') || words.detail.contains(u'\n'))
            open += id + u" (title)"_s;
    }
    QVERIFY2(open.isEmpty(), qPrintable(open.join(u' ')));
}

void WordsTest::plainCharacters()
{
    for (const auto &[id, words] : catalogue()) {
        for (const QString &text : {words.title, words.detail}) {
            QVERIFY2(!text.contains(u'?'), qPrintable(id));
            QVERIFY2(!text.contains("  "_L1) && !text.startsWith(u' ') && !text.endsWith(u' '),
                     qPrintable(id));
            QCOMPARE(text.count(u'{'), text.count(u'}'));
            QCOMPARE(text.count(u'“'), text.count(u'”'));
        }
    }
}

void WordsTest::fills()
{
    const Error error{
        "folder.missing-shard",
        ErrorKind::NotFound,
        "m/a\n.safetensors",
        {{"missing", std::uint64_t{2}}, {"total", std::uint64_t{1234}}, {"index", std::string("i\x1b")}}};
    const QString text = q(wordError(error));
    QVERIFY(text.contains("2 of 1,234 files"_L1));
    QVERIFY(!text.contains(u'\n') && !text.contains(u'\x1b'));
    QVERIFY(text.endsWith(u'.'));
    const Message fit{"memory.does-not-fit",
                      Severity::Error,
                      {{"total", Bytes{80'000'000'000}},
                       {"usable", Bytes{24'000'000'000}},
                       {"short", Bytes{56'000'000'000}}},
                      {}};
    QVERIFY(q(wordDetail(fit)).contains("80.00 GB"_L1));
    QVERIFY(q(wordDetail(fit, ByteUnit::Gibibytes)).contains("74.51 GiB"_L1));
    QCOMPARE(q(wordTitle(fit)), u"Does not fit"_s);
    // An argument that looks like a placeholder stays what it is.
    const Error usage{"usage", ErrorKind::Usage, {}, {{"text", std::string("take {subject} {text}.")}}};
    QCOMPARE(q(wordError(usage)), u"take {subject} {text}."_s);
}

void WordsTest::dataErrors()
{
    QVERIFY(hasWordsFor("data.machines.bad-value"));
    const Error error{"data.machines.bad-value",
                      ErrorKind::Unreadable,
                      "machines.json",
                      {{"entry", std::string("dgx-spark")}, {"field", std::string("usable")}}};
    const QString text = q(wordError(error));
    for (const char *part : {"machines.json", "dgx-spark", "usable", "bad value"})
        QVERIFY2(text.contains(QLatin1StringView(part)), qPrintable(text));
    QVERIFY(text.endsWith(u'.'));
}

void WordsTest::unknownIdLosesNothing()
{
    const QString error =
        q(wordError({"no.such-id", ErrorKind::Unreadable, "file", {{"key", std::string("v")}}}));
    for (const char *part : {"no.such-id", "file", "key", "v"})
        QVERIFY(error.contains(QLatin1StringView(part)));
    const Message message{"no.such-id", Severity::Info, {{"n", std::uint64_t{1234}}}, {}};
    QVERIFY(q(wordDetail(message)).contains("1,234"_L1));
    QCOMPARE(q(wordTitle(message)), u"no.such-id"_s);
}

void WordsTest::translates()
{
    setWordTranslator([](std::string_view english) {
        return english == "{subject} is empty (0 bytes): download it again." ? std::string("leer: {subject}")
                                                                             : std::string(english);
    });
    const QString text = q(wordError({"file.empty", ErrorKind::Unreadable, "a", {}}));
    const QString other = q(wordError({"file.not-found", ErrorKind::NotFound, "a", {}}));
    setWordTranslator({});
    QCOMPARE(text, u"leer: a"_s);
    QVERIFY(other.startsWith("a does not exist"_L1));
    QVERIFY(q(wordError({"file.empty", ErrorKind::Unreadable, "a", {}})).startsWith("a is empty"_L1));
}

void WordsTest::everyAssessmentReadsWell()
{
    qputenv("WEIR_DATA_DIR", QByteArray(WEIR_SOURCE_DIR) + "/data");
    const Library library = Library::read();
    QVERIFY(library.problems.empty());
    std::set<QString> seen;
    for (const CatalogEntry &entry : library.catalog->entries()) {
        const CheckpointPtr checkpoint = library.catalog->load(entry).value();
        for (const Machine &machine : library.machines) {
            for (const Engine &engine : library.engines) {
                Workload workload;
                workload.contextTokens = 2'000'000;
                workload.concurrency = machine.id == "dgx-spark" ? 1 : 8;
                const Assessment assessment = assess(checkpoint, machine, engine, workload);
                std::vector<Message> messages = assessment.warnings;
                for (const ComponentAssessment &component : assessment.components)
                    messages.push_back(component.reason);
                if (!assessment.load.canLoad)
                    messages.push_back(assessment.load.reason);
                for (const Message &message : messages) {
                    const QString id = q(message.id);
                    seen.insert(id);
                    const QString title = q(wordTitle(message));
                    const QString detail = q(wordDetail(message));
                    QVERIFY2(!title.isEmpty() && title != id, qPrintable(id));
                    QVERIFY2(!detail.isEmpty() && !detail.contains(u'?'), qPrintable(id + u": "_s + detail));
                    QVERIFY2(!detail.contains(u'{') && !detail.contains(u'}'),
                             qPrintable(id + u": "_s + detail));
                    QVERIFY2(!detail.contains(" nan"_L1) && !detail.contains(" inf"_L1), qPrintable(detail));
                    QVERIFY2(isReason(id) || detail.endsWith(u'.'), qPrintable(id + u": "_s + detail));
                }
            }
        }
    }
    QVERIFY(seen.size() > 25);
}

void WordsTest::componentsHaveLabels()
{
    std::set<std::string> labels;
    for (const Component component : allComponents)
        QVERIFY(labels.insert(componentLabel(component)).second);
    QVERIFY(!labels.contains(""));
}

QTEST_GUILESS_MAIN(WordsTest)
#include "tst_words.moc"

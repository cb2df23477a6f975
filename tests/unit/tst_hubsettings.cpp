// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubchoice.h"
#include "models/sources/hub/hubreference.h"
#include "models/sources/hub/hubsettings.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <map>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;

namespace {

using Map = std::map<std::string, std::string>;

HubSettings from(const Map &variables)
{
    return hubSettings([&variables](const char *name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

} // namespace

class HubSettingsTest : public QObject
{
    Q_OBJECT

private slots:
    void defaults();
    void endpoint();
    void folders();
    void token();
    void offline_data();
    void offline();
    void network();
    void references_data();
    void references();
    void noReferences_data();
    void noReferences();
    void ownPages();
    void labels_data();
    void labels();
    void choices();
};

void HubSettingsTest::defaults()
{
    const HubSettings settings = from({{"HOME", "/home/u"}});
    QCOMPARE(q(settings.endpoint), u"https://huggingface.co"_s);
    QVERIFY(settings.token.empty());
    QVERIFY(settings.problem.empty());
    QVERIFY(!settings.offline);
    QCOMPARE(q(settings.hubCache.string()), u"/home/u/.cache/huggingface/hub"_s);
    QCOMPARE(q(settings.metadataCache.string()), u"/home/u/.cache/weir/hub"_s);
    QVERIFY(!settings.userAgent.empty());
    QVERIFY(from({}).hubCache.empty());
}

void HubSettingsTest::endpoint()
{
    QCOMPARE(q(from({{"HF_ENDPOINT", "http://127.0.0.1:8080//"}}).endpoint), u"http://127.0.0.1:8080"_s);
    QCOMPARE(q(from({{"HF_ENDPOINT", "  "}}).endpoint), u"https://huggingface.co"_s);
    QCOMPARE(q(from({{"HF_ENDPOINT", "https://mirror.example.org/hf"}}).endpoint),
             u"https://mirror.example.org/hf"_s);
    for (const char *bad : {"huggingface.co", "file:///etc", "ftp://x", "https://u:p@example.org",
                            "https://example.org/?a", "https://"})
        QVERIFY2(!from({{"HF_ENDPOINT", bad}}).problem.empty(), bad);
}

void HubSettingsTest::folders()
{
    Map map{{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "/cache"}};
    QCOMPARE(q(from(map).hubCache.string()), u"/cache/huggingface/hub"_s);
    QCOMPARE(q(from(map).metadataCache.string()), u"/cache/weir/hub"_s);
    map["HF_HOME"] = "~/hf";
    QCOMPARE(q(from(map).hubCache.string()), u"/home/u/hf/hub"_s);
    map["HUGGINGFACE_HUB_CACHE"] = "/old";
    QCOMPARE(q(from(map).hubCache.string()), u"/old"_s);
    map["HF_HUB_CACHE"] = "/new";
    QCOMPARE(q(from(map).hubCache.string()), u"/new"_s);
    map["HF_HUB_CACHE"] = "";
    QCOMPARE(q(from(map).hubCache.string()), u"/old"_s);
}

void HubSettingsTest::token()
{
    const QTemporaryDir folder;
    const std::string home = s(folder.path());
    writeFile(home + "/token", "hf_file\n");
    Map map{{"HF_HOME", home}};
    QCOMPARE(q(from(map).token), u"hf_file"_s);
    QCOMPARE(q(from(map).tokenOrigin), q(home + "/token"));
    map["HUGGING_FACE_HUB_TOKEN"] = " hf_old\r\n";
    QCOMPARE(q(from(map).token), u"hf_old"_s);
    QCOMPARE(q(from(map).tokenOrigin), u"HUGGING_FACE_HUB_TOKEN"_s);
    map["HF_TOKEN"] = "hf_new\n";
    QCOMPARE(q(from(map).token), u"hf_new"_s);
    map["HF_TOKEN"] = "";
    QCOMPARE(q(from(map).token), u"hf_old"_s);
    map["HF_HUB_DISABLE_IMPLICIT_TOKEN"] = "1";
    QVERIFY(from(map).token.empty()); // from wherever: the official client sends none unless it is asked to
    map.erase("HUGGING_FACE_HUB_TOKEN");
    QVERIFY(from(map).token.empty());
    map.erase("HF_HUB_DISABLE_IMPLICIT_TOKEN");
    writeFile(home + "/elsewhere", "hf_elsewhere");
    map["HF_TOKEN_PATH"] = home + "/elsewhere";
    QCOMPARE(q(from(map).token), u"hf_elsewhere"_s);
    // A line break inside would begin another header line.
    map["HF_TOKEN"] = "hf_a\r\nX-Evil: 1";
    QVERIFY(!from(map).token.contains('\n'));
    QVERIFY(!from(map).token.contains(' '));
    map["HF_TOKEN"] = "hf_\x01x";
    map["HF_TOKEN_PATH"] = home + "/absent";
    QVERIFY(from(map).token.empty());
}

void HubSettingsTest::offline_data()
{
    QTest::addColumn<QString>("value");
    QTest::addColumn<bool>("expected");
    for (const char *each : {"1", "ON", "on", "Yes", "TRUE", "true"})
        QTest::newRow(each) << QString::fromLatin1(each) << true;
    for (const char *each : {"", "0", "off", "no", "false", "2", "y"})
        QTest::newRow(*each == '\0' ? "empty" : each) << QString::fromLatin1(each) << false;
}

void HubSettingsTest::offline()
{
    QFETCH(const QString, value);
    QFETCH(const bool, expected);
    QCOMPARE(from({{"HF_HUB_OFFLINE", s(value)}}).offline, expected);
    QCOMPARE(from({{"TRANSFORMERS_OFFLINE", s(value)}}).offline, expected);
}

void HubSettingsTest::network()
{
    Map map{{"HTTPS_PROXY", "http://upper:1"}, {"HTTP_PROXY", "http://plain:1"}, {"NO_PROXY", "a,b"}};
    QCOMPARE(q(from(map).httpsProxy), u"http://upper:1"_s);
    QCOMPARE(q(from(map).httpProxy), u"http://plain:1"_s);
    QCOMPARE(q(from(map).noProxy), u"a,b"_s);
    map["https_proxy"] = "http://lower:1";
    QCOMPARE(q(from(map).httpsProxy), u"http://lower:1"_s);
    map["REQUEST_METHOD"] = "GET"; // a web server makes HTTP_PROXY of what a visitor sends
    QVERIFY(from(map).httpProxy.empty());
    map["ALL_PROXY"] = "socks5://all:1";
    QCOMPARE(q(from(map).httpProxy), u"socks5://all:1"_s);
    QCOMPARE(q(from({{"SSL_CERT_FILE", "/a"}}).caBundle), u"/a"_s);
    QCOMPARE(q(from({{"SSL_CERT_FILE", "/a"}, {"CURL_CA_BUNDLE", "/b"}}).caBundle), u"/b"_s);
    QCOMPARE(q(from({{"CURL_CA_BUNDLE", "/b"}, {"REQUESTS_CA_BUNDLE", "/c"}}).caBundle), u"/c"_s);
}

void HubSettingsTest::references_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("repository");
    QTest::addColumn<QString>("revision");
    QTest::addColumn<QString>("choice");
    const auto row = [](const char *text, const char *repository, const char *revision, const char *choice) {
        QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(repository)
                            << QString::fromUtf8(revision) << QString::fromUtf8(choice);
    };
    row("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B", "main", "");
    row("gpt2", "gpt2", "main", "");
    row("org/name@v1.0", "org/name", "v1.0", "");
    row("org/name@refs/pr/1", "org/name", "refs/pr/1", "");
    row("org/name:Q4_K_M", "org/name", "main", "Q4_K_M");
    row("org/name@main:UD/a-00001-of-00002.gguf", "org/name", "main", "UD/a-00001-of-00002.gguf");
    row("org/name:a@b.gguf", "org/name", "main", "a@b.gguf");
    row("https://huggingface.co/org/name", "org/name", "main", "");
    row("https://huggingface.co/org/name/", "org/name", "main", "");
    row("https://huggingface.co/org/name?library=x#files", "org/name", "main", "");
    row("https://huggingface.co/org/name/tree/dev", "org/name", "dev", "");
    row("https://huggingface.co/org/name/tree/dev/sub/folder", "org/name", "dev", "");
    row("https://huggingface.co/org/name/tree/refs%2Fpr%2F3", "org/name", "refs/pr/3", "");
    row("https://huggingface.co/org/name/blob/main/q/x.gguf", "org/name", "main", "q/x.gguf");
    row("https://huggingface.co/org/name/resolve/main/x.gguf?download=true", "org/name", "main", "x.gguf");
    row("https://huggingface.co/org/name/blob/main/README.md", "org/name", "main", "");
    row("http://huggingface.co/gpt2/tree/main", "gpt2", "main", "");
    row("hf.co/org/name", "org/name", "main", "");
    row("hf.co/org/name:Q8_0", "org/name", "main", "Q8_0");
    row("huggingface.co/org/name/blob/main/x.gguf", "org/name", "main", "x.gguf");
}

void HubSettingsTest::references()
{
    QFETCH(const QString, text);
    QFETCH(const QString, repository);
    QFETCH(const QString, revision);
    QFETCH(const QString, choice);
    const auto reference = parseHubReference(s(text));
    QVERIFY(reference);
    QCOMPARE(*reference, (HubReference{s(repository), s(revision), s(choice)}));
    QCOMPARE(parseHubReference(hubReferenceText(*reference)).value(), *reference);
}

void HubSettingsTest::noReferences_data()
{
    QTest::addColumn<QString>("text");
    for (const char *each : {"",
                             "/",
                             "org/",
                             "/name",
                             "a/b/c",
                             "hf.co/hf.co/name",
                             "huggingface.co/hf.co",
                             "https://hf.co/hf.co/name",
                             "http:some/file.gguf",
                             "hf://hTtps:some/file.gguf",
                             "org/na me",
                             "org/name--x",
                             "org/na..me",
                             "org/name.git",
                             "-org/name",
                             "org/.name",
                             "org/name-",
                             "org/name@",
                             "org/name@../x",
                             "org/name@a b",
                             "org/name:",
                             "org/name:../x",
                             "org/name:/etc/passwd",
                             "https://example.org/org/name",
                             "https://huggingface.co/datasets/org/name",
                             "https://huggingface.co/",
                             "https://huggingface.co",
                             "file:///org/name",
                             "org/n\xC3\xA4me",
                             "https://user:word@huggingface.co/org/name",
                             "org/name\n",
                             "https://huggingface.co/org/%zz"})
        QTest::newRow(each) << QString::fromUtf8(each);
    QTest::newRow("long") << u"org/"_s + QString(100, u'x');
}

void HubSettingsTest::noReferences()
{
    QFETCH(const QString, text);
    QVERIFY(!parseHubReference(s(text)));
}

void HubSettingsTest::ownPages()
{
    const std::string endpoint = "http://127.0.0.1:8080/hub";
    QCOMPARE(parseHubReference(endpoint + "/org/name/tree/dev", endpoint).value(),
             (HubReference{"org/name", "dev", ""}));
    QVERIFY(!parseHubReference("http://127.0.0.1:8081/hub/org/name", endpoint));
    QVERIFY(!parseHubReference("http://127.0.0.1:8080/hubs/org/name", endpoint));
}

void HubSettingsTest::labels_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("label");
    const auto row = [](const char *file, const char *label) {
        QTest::newRow(file) << QString::fromLatin1(file) << QString::fromLatin1(label);
    };
    row("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "Q4_K_M");
    row("qwen2.5-7b-instruct-q4_k_m-00001-of-00002.gguf", "Q4_K_M");
    row("UD-Q4_K_XL/Model-UD-Q4_K_XL-00001-of-00003.gguf", "UD-Q4_K_XL");
    row("Mixtral-8x7B-v0.1.Q4_K_M.gguf", "Q4_K_M");
    row("model.i1-IQ2_XXS.gguf", "IQ2_XXS");
    row("F16/model-F16.gguf", "F16");
    row("model-BF16.gguf", "BF16");
    row("gpt-oss-20b-mxfp4.gguf", "MXFP4");
    row("TQ1_0/m-TQ1_0.gguf", "TQ1_0");
    row("Qwen3-8B.gguf", "");
    row("QA-model.gguf", "");
}

void HubSettingsTest::labels()
{
    QFETCH(const QString, file);
    QFETCH(const QString, label);
    QCOMPARE(q(quantizationLabel(s(file))), label);
}

void HubSettingsTest::choices()
{
    const std::vector<ListedFile> listing{{"a-Q8_0.gguf", 80},
                                          {"b/a-F16-00001-of-00002.gguf", 100},
                                          {"b/a-F16-00002-of-00002.gguf", 60},
                                          {"mmproj-F16.gguf", 5},
                                          {"q-Q4_K_M.gguf", 40},
                                          {"z-Q8_0.gguf", 90}};
    const std::vector<HubChoice> choices = choicesOf(listing);
    QCOMPARE(choices.size(), std::size_t{4});
    QCOMPARE(q(choices.front().label), u"Q4_K_M"_s);
    QCOMPARE(q(choices.back().label), u"F16"_s);
    QCOMPARE(choices.back().bytes, 160U);
    QCOMPARE(choices.back().files.size(), std::size_t{2});
    QCOMPARE(q(choices[1].label), u"a-Q8_0"_s); // two of one label go by their names
    QCOMPARE(defaultChoice(choices, ""), choices.data());
    QCOMPARE(defaultChoice(choices, "f16"), &choices.back());
    for (const char *name :
         {"F16", "f16", "b/a-F16-00002-of-00002.gguf", "a-F16-00001-of-00002.gguf", "a-F16"})
        QCOMPARE(findChoice(choices, name), &choices.back());
    QVERIFY(findChoice(choices, "Q8_0") == nullptr);
    QCOMPARE(findChoice(choices, "z-Q8_0.gguf"), &choices[2]);
    QCOMPARE(q(otherLabels(choices, choices.data())), u"a-Q8_0, z-Q8_0, F16"_s);
    const std::vector<HubChoice> both = choicesOf({{"a-Q4_K_M.gguf", 1}, {"model.safetensors", 5}});
    // What is asked for by name comes before the usual choice.
    QCOMPARE(defaultChoice(both, "Q4_K_M"), both.data());
    QCOMPARE(defaultChoice(both, ""), &both.back());
    QCOMPARE(defaultChoice(both, "Q8_0"), &both.back());
    QCOMPARE(both.back().format, Format::Safetensors);
    QVERIFY(defaultChoice({}, "x") == nullptr);
}

QTEST_GUILESS_MAIN(HubSettingsTest)
#include "tst_hubsettings.moc"

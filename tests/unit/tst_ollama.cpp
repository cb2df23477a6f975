// SPDX-License-Identifier: GPL-3.0-or-later
//
// Ollama's names, manifests, stores and registry: what is read, and what is said of what cannot be.
#include "app/words.h"
#include "models/base/sha256.h"
#include "models/machine/engine.h"
#include "models/sources/catalog.h"
#include "models/sources/disk/disk.h"
#include "models/sources/disk/ollama.h"
#include "models/sources/disk/ollamamanifest.h"
#include "models/sources/hub/hub.h"
#include "models/sources/open.h"
#include "tests/support/standinhub.h"
#include "tests/support/standinregistry.h"
#include "tests/support/stores.h"
#include "tests/support/testsupport.h"
#include "tests/support/tinymodel.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const std::string hex(64, 'a');

Json layerOf(std::string_view kind, const std::string &digest = "sha256:" + hex, std::uint64_t size = 10)
{
    return {{"mediaType", "application/vnd.ollama.image." + std::string(kind)},
            {"digest", digest},
            {"size", size}};
}

Json manifestOf(const Json &layers) { return {{"schemaVersion", 2}, {"layers", layers}}; }

/// A sentence for people: whole, with nothing left to fill in.
void checkSentence(const Error &error)
{
    const QString sentence = q(wordError(error));
    QVERIFY2(sentence.endsWith(u'.'), qPrintable(sentence));
    QVERIFY2(!sentence.contains(u'?'), qPrintable(sentence)); // what a placeholder without argument becomes
    QVERIFY2(!sentence.startsWith(q(error.id)), qPrintable(sentence));
    qInfo("%s", qPrintable(sentence));
}

} // namespace

class OllamaTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void digests();
    void names_data();
    void names();
    void manifests_data();
    void manifests();
    void readsManifest();
    void opensByName();
    void brokenStores_data();
    void brokenStores();
    void paths();
    void layers();
    void quantizedTensors();
    void registry();
    void registryTensors();
    void registryRefuses_data();
    void registryRefuses();
    void registryForges();
    void hubAsRegistry();

private:
    OllamaSettings settings() const
    {
        OllamaSettings made;
        made.stores = {m_root / "store"};
        made.connection.tries = 1;
        made.connection.token = "hf_secret";
        return made;
    }
    Result<CheckpointPtr> open(const std::string &argument, Ollama &ollama, Hub *hub = nullptr,
                               std::optional<Source> forced = {}) const
    {
        OpenContext context{*m_catalog, hub, forced};
        context.ollama = &ollama;
        return openCheckpoint(argument, context);
    }
    void addTiny(const std::string &name = "tiny", const std::string &tag = "latest")
    {
        tinyGguf().write(m_root / "tiny.gguf");
        m_maker->addGguf(name, tag, {m_root / "tiny.gguf"}, {}, "Q4_K_M");
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_root;
    std::unique_ptr<OllamaStoreMaker> m_maker;
    std::shared_ptr<const Catalog> m_catalog;
};

void OllamaTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_root = s(m_folder->path());
    m_maker = std::make_unique<OllamaStoreMaker>(m_root / "store");
    if (!m_catalog) {
        m_catalog = std::make_shared<const Catalog>(
            Catalog::open(fs::path(WEIR_SOURCE_DIR) / "data" / "catalog").value());
    }
}

void OllamaTest::digests()
{
    // FIPS 180-4, examples.
    QCOMPARE(q(sha256Hex("")), u"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"_s);
    QCOMPARE(q(sha256Hex("abc")), u"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"_s);
    QCOMPARE(q(sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
             u"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"_s);
    QCOMPARE(q(sha256Hex(std::string(1'000'000, 'a'))),
             u"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"_s);
}

void OllamaTest::names_data()
{
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("full"); // empty: none
    QTest::addColumn<QString>("shortest");
    const auto row = [](const char *typed, const char *full, const char *shortest) {
        QTest::newRow(typed) << q(typed) << q(full) << q(shortest);
    };
    row("ollama:qwen3", "registry.ollama.ai/library/qwen3:latest", "qwen3:latest");
    row("ollama:qwen3:30b", "registry.ollama.ai/library/qwen3:30b", "qwen3:30b");
    row("qwen3:30b-a3b-q4_K_M", "registry.ollama.ai/library/qwen3:30b-a3b-q4_K_M", "qwen3:30b-a3b-q4_K_M");
    row("ollama:someone/model.1:x", "registry.ollama.ai/someone/model.1:x", "someone/model.1:x");
    row("ollama:registry.ollama.ai/library/a:b", "registry.ollama.ai/library/a:b", "a:b");
    row("ollama:hf.co/org/repo:Q4_K_M", "hf.co/org/repo:Q4_K_M", "hf.co/org/repo:Q4_K_M");
    row("ollama:127.0.0.1:5000/library/x:tag", "127.0.0.1:5000/library/x:tag",
        "127.0.0.1:5000/library/x:tag");
    row("ollama:https://host/a/b", "host/a/b:latest", "host/a/b:latest");
    for (const char *bad :
         {"", "ollama:", "ollama::tag", "ollama:a:", "ollama:/a", "ollama:a//b", "ollama:../x",
          "ollama:a/../b", "ollama:h/n/m/x:t", "ollama:a b", "ollama:-a", "ollama:.a", "ollama:a:..",
          "ollama:n.s/m", "ollama:a\nb", "ollama:a@b", "ollama:a\\b", "ollama:a%2Fb"})
        row(bad, "", "");
    QTest::newRow("long") << q(std::string(81, 'm')) << QString() << QString();
    QTest::newRow("NUL") << q(std::string_view("a\0b", 3)) << QString() << QString();
}

void OllamaTest::names()
{
    QFETCH(const QString, typed);
    QFETCH(const QString, full);
    QFETCH(const QString, shortest);
    const auto name = parseOllamaName(s(typed));
    QCOMPARE(name.has_value(), !full.isEmpty());
    if (!name)
        return;
    QCOMPARE(q(name->full()), full);
    QCOMPARE(q(name->shortest()), shortest);
    QVERIFY(ollamaNameOfPath(name->path()) == name);
}

void OllamaTest::manifests_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const std::string &text, const char *expected) {
        QTest::newRow(name) << QByteArray::fromStdString(text) << q(expected);
    };
    const auto layer = [](const Json &each) { return manifestOf(Json::array({each})).dump(); };
    row("good", layer(layerOf("model")), "ok");
    row("dash in the digest", layer(layerOf("model", "sha256-" + hex)), "ok");
    row("other layers", layer(layerOf("license")), "ok");
    row("empty", "", "file.empty");
    row("web page", "<!DOCTYPE html><html></html>", "json.html");
    row("no JSON", "{\"schemaVersion\":2,", "json.invalid");
    row("a list", "[]", "json.not-object");
    row("NUL", std::string("{\"schemaVersion\":2,\"layers\":[]}\0", 33), "json.invalid");
    row("deep", std::string(5000, '[') + std::string(5000, ']'), "json.too-deep");
    row("version 1", R"({"schemaVersion":1,"layers":[]})", "ollama.not-a-manifest");
    row("no layers", R"({"schemaVersion":2})", "ollama.not-a-manifest");
    row("layers of text", R"({"schemaVersion":2,"layers":"x"})", "ollama.not-a-manifest");
    row("a layer of text", R"({"schemaVersion":2,"layers":["x"]})", "ollama.not-a-manifest");
    row("twice the same key", R"({"schemaVersion":2,"layers":[],"layers":[]})",
        "ollama.manifest-duplicate-key");
    row("path in the digest", layer(layerOf("model", "sha256:../../../../etc/passwd")), "ollama.bad-digest");
    row("path in a digest of the right length", layer(layerOf("model", "sha256:../" + std::string(61, 'a'))),
        "ollama.bad-digest");
    row("short digest", layer(layerOf("model", "sha256:abc")), "ollama.bad-digest");
    row("other algorithm", layer(layerOf("model", "sha512:" + hex)), "ollama.bad-digest");
    row("no digest", layer(Json{{"mediaType", "x"}, {"size", 1}}), "ollama.bad-digest");
    row("digest is a number", layer(Json{{"digest", 5}, {"size", 1}}), "ollama.bad-digest");
    row("newline after the digest", layer(layerOf("model", "sha256:" + hex + "\n")), "ollama.bad-digest");
    row("negative size", R"({"schemaVersion":2,"layers":[{"digest":"sha256:)" + hex + R"(","size":-1}]})",
        "ollama.bad-size");
    row("fraction", R"({"schemaVersion":2,"layers":[{"digest":"sha256:)" + hex + R"(","size":1.5}]})",
        "ollama.bad-size");
    row("2^63",
        R"({"schemaVersion":2,"layers":[{"digest":"sha256:)" + hex + R"(","size":9223372036854775808}]})",
        "ollama.bad-size");
    row("no size", R"({"schemaVersion":2,"layers":[{"digest":"sha256:)" + hex + R"("}]})", "ollama.bad-size");
    for (const char *name : {"../x", "/etc/passwd", "a/../b", "a\\b", "C:x", "a//b"}) {
        Json tensor = layerOf("tensor");
        tensor["name"] = name;
        QTest::addRow("name %s", name)
            << QByteArray::fromStdString(layer(tensor)) << u"ollama.bad-layer-name"_s;
    }
    Json many = Json::array();
    for (int i = 0; i < 20'001; ++i)
        many.push_back({{"digest", "sha256:" + hex}, {"size", 1}});
    row("20,001 layers", manifestOf(many).dump(), "ollama.too-many-layers");
    many.erase(many.begin());
    row("20,000 layers", manifestOf(many).dump(), "ok");
    row("more than 4 MiB", std::string((4U << 20U) + 1, ' '), "file.too-large");
    row("bad config", R"({"schemaVersion":2,"layers":[],"config":{"digest":"sha256:x","size":1}})",
        "ollama.bad-digest");
}

void OllamaTest::manifests()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, expected);
    QElapsedTimer timer;
    timer.start();
    const auto read = readOllamaManifest(text.toStdString(), "m");
    QCOMPARE(outcome(read), expected);
    QVERIFY(timer.elapsed() < 5'000);
    if (!read)
        checkSentence(read.error());
}

void OllamaTest::readsManifest()
{
    Json tensor = layerOf("tensor", "sha256:" + hex, 77);
    tensor["name"] = "model.layers.0.mlp.experts";
    Json whole =
        manifestOf(Json::array({layerOf("model", "sha256:" + hex, 5), layerOf("projector"), layerOf("draft"),
                                layerOf("adapter"), tensor, layerOf("json"), layerOf("template")}));
    whole["config"] = {{"mediaType", "x"}, {"digest", "sha256:" + std::string(64, 'B')}, {"size", 3}};
    const OllamaManifest read = readOllamaManifest(whole.dump(), "m").value();
    using Kind = OllamaLayerKind;
    const std::vector<Kind> kinds{Kind::Model,  Kind::Projector, Kind::Draft, Kind::Adapter,
                                  Kind::Tensor, Kind::Json,      Kind::Other};
    QCOMPARE(read.layers.size(), kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i)
        QCOMPARE(read.layers[i].kind, kinds[i]);
    QCOMPARE(read.layers[4].bytes, 77U);
    QCOMPARE(q(read.layers[4].name), u"model.layers.0.mlp.experts"_s);
    QCOMPARE(q(ollamaBlobName(read.config)), u"sha256-"_s + QString(64, u'B'));

    const OllamaConfig config =
        readOllamaConfig(
            R"({"model_format":"gguf","file_type":"Q4_K_M","remote_host":5,"draft":{"tensor_prefix":"draft."}})",
            "c")
            .value();
    QCOMPARE(q(config.format), u"gguf"_s);
    QCOMPARE(q(config.quantization), u"Q4_K_M"_s);
    QVERIFY(config.remoteHost.empty());
    QCOMPARE(q(config.draftPrefix), u"draft."_s);
    QCOMPARE(outcome(readOllamaConfig("[]", "c")), u"json.not-object"_s);
    QCOMPARE(outcome(readOllamaConfig(std::string((1U << 20U) + 1, ' '), "c")), u"file.too-large"_s);
}

void OllamaTest::opensByName()
{
    addTiny();
    addTiny("qwen2.5", "7b"); // the catalog has one of that name, but this is what is here
    Ollama ollama(settings());
    for (const char *argument :
         {"ollama:tiny", "ollama:tiny:latest", "ollama:registry.ollama.ai/library/tiny"}) {
        const Result<CheckpointPtr> read = open(argument, ollama);
        QVERIFY2(read, argument);
        QCOMPARE((*read)->source, Source::Ollama);
        QCOMPARE((*read)->format, Format::Gguf);
        QCOMPARE(q((*read)->id), u"ollama:tiny:latest"_s);
        QCOMPARE(q((*read)->name), u"tiny:latest"_s);
        QCOMPARE(q((*read)->ollama), u"tiny:latest"_s);
        QCOMPARE(q((*read)->quantization), u"Q4_K_M"_s);
        QVERIFY((*read)->revision.starts_with("sha256:"));
        QCOMPARE((*read)->revision.size(), std::size_t{71});
        QCOMPARE((*read)->files.size(), std::size_t{1});
        QCOMPARE((*read)->files.front().bytes, tinyGguf().fileBytes());
    }
    QVERIFY(open("tiny", ollama, nullptr, Source::Ollama)); // forced: the prefix may be left out
    QCOMPARE((*open("ollama:qwen2.5:7b", ollama))->source, Source::Ollama);
    fs::remove_all(m_maker->manifest("qwen2.5", "7b"));
    QCOMPARE((*open("ollama:qwen2.5:7b", ollama))->source, Source::Catalog);
    // To imagine it at the quantization that it has changes nothing.
    QVERIFY(isChosenQuantization(**open("ollama:tiny", ollama), "q4_k_m"));
    QVERIFY(!isChosenQuantization(**open("ollama:tiny", ollama), "q6_k"));
    // Forced, the catalog is not asked.
    Result<CheckpointPtr> read = open("ollama:qwen2.5:7b", ollama, nullptr, Source::Ollama);
    QCOMPARE(outcome(read), u"ollama.not-here"_s);
    checkSentence(read.error());
    read = open("ollama:../x", ollama);
    QCOMPARE(outcome(read), u"ollama.bad-name"_s);
    checkSentence(read.error());
    QCOMPARE(read.error().kind, ErrorKind::Usage);
    // The second store is asked where the first has none.
    OllamaSettings two = settings();
    two.stores.insert(two.stores.begin(), m_root / "none");
    Ollama other(two);
    QVERIFY(open("ollama:tiny", other));
}

void OllamaTest::brokenStores_data()
{
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("expected");
    QTest::newRow("unfinished") << u"partial"_s << u"ollama.blob-unfinished"_s;
    QTest::newRow("missing") << u"missing"_s << u"ollama.blob-missing"_s;
    QTest::newRow("wrong size") << u"size"_s << u"ollama.blob-size"_s;
    QTest::newRow("pipe as blob") << u"fifo"_s << u"file.not-regular"_s;
    QTest::newRow("folder as blob") << u"folder"_s << u"file.not-regular"_s;
    QTest::newRow("link to itself as blob") << u"loop"_s << u"file.link-loop"_s;
    QTest::newRow("link to nowhere as blob") << u"dangling"_s << u"file.dangling"_s;
    QTest::newRow("no config") << u"config"_s << u"ollama.blob-missing"_s;
    QTest::newRow("remote") << u"remote"_s << u"ollama.remote"_s;
    QTest::newRow("digest with a path") << u"digest"_s << u"ollama.bad-digest"_s;
    QTest::newRow("bomb") << u"bomb"_s << u"file.too-large"_s;
    QTest::newRow("pipe as manifest") << u"manifest-fifo"_s << u"file.not-regular"_s;
    QTest::newRow("link to itself as manifest") << u"manifest-loop"_s << u"file.link-loop"_s;
    QTest::newRow("no weights") << u"empty"_s << u"ollama.no-weights"_s;
    QTest::newRow("no GGUF") << u"zeros"_s << u"gguf.magic"_s;
}

void OllamaTest::brokenStores()
{
    QFETCH(const QString, what);
    QFETCH(const QString, expected);
    addTiny();
    const fs::path manifest = m_maker->manifest("tiny");
    Json text = Json::parse(std::ifstream(manifest));
    const fs::path blob = m_maker->blob(text["layers"][0]["digest"].get<std::string>());
    const auto replace = [&](const fs::path &path) { fs::remove(path); };
    if (what == "partial"_L1) {
        fs::rename(blob, blob.string() + "-partial");
        writeFile(blob.string() + "-partial-0", "{}");
    } else if (what == "missing"_L1) {
        replace(blob);
    } else if (what == "size"_L1) {
        replace(blob);
        writeFile(blob, "GGUF");
    } else if (what == "fifo"_L1) {
        replace(blob);
        QCOMPARE(mkfifo(blob.c_str(), 0600), 0);
    } else if (what == "folder"_L1) {
        replace(blob);
        fs::create_directory(blob);
    } else if (what == "loop"_L1) {
        replace(blob);
        fs::create_symlink(blob.filename(), blob);
    } else if (what == "dangling"_L1) {
        replace(blob);
        fs::create_symlink("nowhere", blob);
    } else if (what == "config"_L1) {
        replace(m_maker->blob(text["config"]["digest"].get<std::string>()));
    } else if (what == "remote"_L1) {
        m_maker->write("tiny", "latest", Json::array(), {{"remote_host", "https://ollama.com"}});
    } else if (what == "digest"_L1) {
        text["layers"][0]["digest"] = "sha256:../../../../../../etc/passwd";
        writeFile(manifest, text.dump());
    } else if (what == "bomb"_L1) {
        writeSparse(manifest, "{", std::uint64_t{1} << 40U);
    } else if (what == "manifest-fifo"_L1) {
        replace(manifest);
        QCOMPARE(mkfifo(manifest.c_str(), 0600), 0);
    } else if (what == "manifest-loop"_L1) {
        replace(manifest);
        fs::create_symlink(manifest.filename(), manifest);
    } else if (what == "empty"_L1) {
        m_maker->write("tiny", "latest", Json::array({m_maker->textLayer("x", "application/x")}),
                       Json::object());
    } else if (what == "zeros"_L1) {
        const auto bytes = fs::file_size(blob);
        replace(blob);
        writeSparse(blob, "", bytes);
    }
    QElapsedTimer timer;
    timer.start();
    Ollama ollama(settings());
    const Result<CheckpointPtr> read = open("ollama:tiny", ollama);
    QCOMPARE(outcome(read), expected);
    checkSentence(read.error());
    // The list says the same, without opening weights; what is no regular manifest is not listed.
    const DiskListing listing = listDisk(std::vector{DiskPlace{DiskPlaceKind::Ollama, m_root / "store"}});
    QVERIFY(timer.elapsed() < 5'000);
    if (what.startsWith("manifest"_L1)) {
        QVERIFY(listing.checkpoints.empty());
        return;
    }
    QCOMPARE(listing.checkpoints.size(), std::size_t{1});
    const DiskCheckpoint &found = listing.checkpoints.front();
    if (what == "zeros"_L1) {
        QVERIFY(!found.problem);
        return;
    }
    QVERIFY(found.problem);
    QCOMPARE(q(found.problem->id), expected);
    QVERIFY(q(wordDetail(*found.problem)).endsWith(u'.'));
    QCOMPARE(found.complete, what == "remote"_L1 || what == "empty"_L1);
}

void OllamaTest::paths()
{
    addTiny("one");
    const fs::path store = m_root / "store";
    const fs::path manifest = m_maker->manifest("one");
    for (const fs::path &path : {store, store / "manifests", manifest, manifest.parent_path(),
                                 store / "manifests" / "registry.ollama.ai", store / "blobs" / ".."}) {
        const Result<CheckpointPtr> read = readPath(path);
        QVERIFY2(read, path.c_str());
        QCOMPARE((*read)->source, Source::Ollama);
        QCOMPARE(q((*read)->ollama), u"one:latest"_s);
        QCOMPARE(q((*read)->id), q(path.string()));
    }
    // ~/.ollama
    fs::create_directories(m_root / "home" / ".ollama");
    fs::rename(store, m_root / "home" / ".ollama" / "models");
    QVERIFY(readPath(m_root / "home" / ".ollama"));
    fs::rename(m_root / "home" / ".ollama" / "models", store);
    // A blob by itself is the file it is.
    const Json text = Json::parse(std::ifstream(manifest));
    const Result<CheckpointPtr> blob =
        readPath(m_maker->blob(text["layers"][0]["digest"].get<std::string>()));
    QVERIFY(blob);
    QCOMPARE((*blob)->source, Source::File);

    addTiny("two", "7b");
    Result<CheckpointPtr> read = readPath(store);
    QCOMPARE(outcome(read), u"ollama.several"_s);
    QCOMPARE(argumentText(read.error().arguments, "count"), u"2"_s);
    QCOMPARE(argumentText(read.error().arguments, "names"), u"ollama:one:latest, ollama:two:7b"_s);
    checkSentence(read.error());
    QVERIFY(readPath(manifest));
    // A link to a folder with everything in it is not walked into.
    fs::create_directory_symlink("/", store / "manifests" / "loop");
    fs::create_directory_symlink("..", store / "manifests" / "registry.ollama.ai" / "up");
    QCOMPARE(outcome(readPath(store)), u"ollama.several"_s);
    fs::remove_all(store / "manifests");
    fs::create_directories(store / "manifests");
    read = readPath(store);
    QCOMPARE(outcome(read), u"ollama.empty-store"_s);
    checkSentence(read.error());
    writeFile(store / "manifests" / "host" / "x", "{}");
    read = readPath(store / "manifests" / "host" / "x");
    QCOMPARE(outcome(read), u"ollama.not-a-manifest"_s);
}

void OllamaTest::layers()
{
    tinyGguf().write(m_root / "tiny.gguf");
    writeSparse(m_root / "mmproj.gguf", "GGUF", 1000);
    writeSparse(m_root / "lora.gguf", "GGUF", 200);
    Json layers = Json::array(
        {m_maker->layer(m_root / "tiny.gguf", "model"), m_maker->layer(m_root / "mmproj.gguf", "projector"),
         m_maker->layer(m_root / "lora.gguf", "adapter"), m_maker->layer(m_root / "tiny.gguf", "draft")});
    m_maker->write("all", "latest", layers, {{"file_type", "Q4_K_M"}});
    Ollama ollama(settings());
    Result<CheckpointPtr> read = open("ollama:all", ollama);
    QVERIFY2(read, read ? "" : read.error().id.c_str());
    const Result<CheckpointPtr> plain = readPath(m_root / "tiny.gguf");
    QCOMPARE((*read)->weightBytes(), (*plain)->weightBytes());
    QCOMPARE((*read)->files.size(), std::size_t{1});
    QCOMPARE((*read)->companions.size(), std::size_t{3});
    QCOMPARE((*read)->companions.front().bytes, 1000U);
    for (const char *id : {"ollama.projector", "ollama.draft", "ollama.adapter"})
        QVERIFY2(std::ranges::find((*read)->notes, id, &Message::id) != (*read)->notes.end(), id);
    QCOMPARE(q(automaticEngine(**read)), u"ollama"_s);

    // Two that are no split: the last is what Ollama loads.
    GgufBuilder large = tinyGguf();
    large.tensor("blk.0.attn_k.weight", "Q6_K", {256, 256});
    large.write(m_root / "large.gguf");
    layers = Json::array(
        {m_maker->layer(m_root / "tiny.gguf", "model"), m_maker->layer(m_root / "large.gguf", "model")});
    m_maker->write("several", "latest", layers, Json::object());
    read = open("ollama:several", ollama);
    QVERIFY2(read, read ? "" : read.error().id.c_str());
    QCOMPARE((*read)->weightBytes(), (*readPath(m_root / "large.gguf"))->weightBytes());
    QVERIFY(std::ranges::find((*read)->notes, "ollama.several-models", &Message::id) != (*read)->notes.end());
}

void OllamaTest::quantizedTensors()
{
    // As Ollama writes it: scales and biases beside their weight, under names of its own, and a config.json that
    // knows nothing of it.
    Json config = tinyConfig();
    writeFile(m_root / "m" / "config.json", config.dump());
    Json layers = Json::array();
    const auto add = [&](const SafetensorsBuilder &builder, const std::string &name) {
        builder.write(m_root / "m" / (name + ".blob"));
        Json layer = m_maker->layer(m_root / "m" / (name + ".blob"), "tensor");
        layer["name"] = name;
        layers.push_back(layer);
    };
    const auto quantized = [&](const std::string &prefix, const std::string &weight, std::uint64_t rows,
                               std::uint64_t columns) {
        SafetensorsBuilder builder;
        builder.metadata("quant_type", "int4")
            .metadata("group_size", "64")
            .add(prefix + weight, "U32", {rows, columns / 8})
            .add(prefix + weight + ".scale", "BF16", {rows, columns / 64})
            .add(prefix + weight + ".bias", "BF16", {rows, columns / 64});
        add(builder, prefix + weight);
    };
    const auto plain = [&](const std::string &name, const std::vector<std::uint64_t> &shape) {
        SafetensorsBuilder builder;
        builder.add(name, "BF16", shape);
        add(builder, name);
    };
    plain("model.embed_tokens.weight", {256, 64});
    plain("lm_head.weight", {256, 64});
    plain("model.norm.weight", {64});
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
        quantized(layer, "self_attn.q_proj.weight", 64, 64);
        quantized(layer, "self_attn.k_proj.weight", 32, 64);
        quantized(layer, "self_attn.v_proj.weight", 32, 64);
        quantized(layer, "self_attn.o_proj.weight", 64, 64);
        quantized(layer, "mlp.gate_proj.weight", 128, 64);
        quantized(layer, "mlp.up_proj.weight", 128, 64);
        quantized(layer, "mlp.down_proj.weight", 64, 128);
        plain(layer + "input_layernorm.weight", {64});
        plain(layer + "post_attention_layernorm.weight", {64});
    }
    quantized("draft.", "model.layers.0.mlp.up_proj.weight", 128, 64);
    Json json = m_maker->layer(m_root / "m" / "config.json", "json");
    json["name"] = "config.json";
    layers.push_back(json);
    m_maker->write(
        "mlx", "latest", layers,
        {{"model_format", "safetensors"}, {"file_type", "int4"}, {"draft", {{"tensor_prefix", "draft."}}}});
    Ollama ollama(settings());
    const Result<CheckpointPtr> read = open("ollama:mlx", ollama);
    QVERIFY2(read, read ? "" : read.error().id.c_str());
    QCOMPARE((*read)->format, Format::Mlx);
    QCOMPARE(q((*read)->quantization), u"mlx-4bit"_s);
    const std::uint64_t matrices = 2 * (64 * 64 + 32 * 64 + 32 * 64 + 64 * 64 + 3 * 128 * 64);
    const std::uint64_t others = 2 * 256 * 64 + 64 + 2 * 2 * 64;
    QCOMPARE((*read)->parametersTotal(), matrices + others);
    QCOMPARE((*read)->weightBytes(), matrices / 2 + matrices / 64 * 4 + others * 2);
    QVERIFY((*read)->sum(Component::Other) == nullptr);
    QVERIFY(std::ranges::find((*read)->notes, "ollama.draft", &Message::id) != (*read)->notes.end());
    QVERIFY(std::ranges::find((*read)->notes, "checkpoint.unknown-tensors", &Message::id)
            == (*read)->notes.end());
}

void OllamaTest::registry()
{
    // 60 MB, of which the header is what is read.
    GgufBuilder large = tinyGguf(2000);
    large.tensor("blk.0.ffn_up.weight", "F32", {4096, 4096});
    large.write(m_root / "large.gguf");
    m_maker->addGguf("large", "7b", {m_root / "large.gguf"}, {}, "Q4_K_M");
    const Result<CheckpointPtr> here = readPath(m_root / "large.gguf");
    QVERIFY(here);
    StandInRegistry registry(m_root / "store");
    OllamaSettings empty = settings();
    empty.stores.clear();
    empty.registry = registry.endpoint();
    Ollama ollama(empty);
    HubSettings hubSettings;
    hubSettings.token = "hf_secret";
    Hub hub(hubSettings);
    for (const std::string &argument :
         {std::string("ollama:large:7b"), "ollama:" + registry.host() + "/library/large:7b"}) {
        const Result<CheckpointPtr> read = open(argument, ollama, &hub);
        QVERIFY2(read, read ? "" : qPrintable(q(wordError(read.error()))));
        QCOMPARE((*read)->source, Source::Ollama);
        QCOMPARE((*read)->weightBytes(), (*here)->weightBytes());
        QCOMPARE((*read)->parametersTotal(), (*here)->parametersTotal());
        QCOMPARE(q((*read)->id), q(argument));
        QCOMPARE(q((*read)->revision),
                 u"sha256:"_s
                     + q(sha256Hex(Json::parse(std::ifstream(m_maker->manifest("large", "7b"))).dump())));
    }
    std::size_t ranges = 0;
    for (const SeenRequest &seen : registry.requests()) {
        QVERIFY(!seen.headers.contains("authorization"));
        QVERIFY(!seen.headers.contains("cookie"));
        if (seen.path().find("/manifests/") != std::string::npos)
            QCOMPARE(q(seen.header("accept")), u"application/vnd.docker.distribution.manifest.v2+json"_s);
        ranges += seen.headers.contains("range") ? 1U : 0U;
        if (seen.cdn && !seen.headers.contains("range"))
            QVERIFY(seen.path().size() == 65); // the config
    }
    QVERIFY(ranges >= 2);
    QVERIFY(fs::file_size(m_root / "large.gguf") > 60'000'000);
    QVERIFY2(registry.bytesSent() < 2 * (2U << 20U) + 20'000, std::to_string(registry.bytesSent()).c_str());

    // Offline, nothing is asked.
    const std::size_t before = registry.requests().size();
    hub.setOffline(true);
    const Result<CheckpointPtr> offline = open("ollama:large:7b", ollama, &hub);
    QCOMPARE(outcome(offline), u"ollama.not-here"_s);
    QCOMPARE(registry.requests().size(), before);
}

void OllamaTest::registryTensors()
{
    writeTinyModel(m_root / "tiny");
    std::vector<std::string> files;
    for (int i = 1; i <= 3; ++i)
        files.push_back("model-0000" + std::to_string(i) + "-of-00003.safetensors");
    m_maker->addSafetensors("tiny", "latest", m_root / "tiny", files);
    StandInRegistry registry(m_root / "store");
    OllamaSettings empty = settings();
    empty.stores.clear();
    empty.registry = registry.endpoint();
    Ollama ollama(empty);
    const Result<CheckpointPtr> read = ollama.readRegistry(*parseOllamaName("tiny"), {}, {});
    QVERIFY2(read, read ? "" : qPrintable(q(wordError(read.error()))));
    QCOMPARE((*read)->format, Format::Safetensors);
    QCOMPARE((*read)->weightBytes(), tinyWeightBytes);
}

void OllamaTest::registryRefuses_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<int>("retryAfter");
    QTest::addColumn<QString>("expected");
    QTest::newRow("401") << 401 << -1 << u"ollama.registry-denied"_s;
    QTest::newRow("403") << 403 << -1 << u"ollama.registry-denied"_s;
    QTest::newRow("404") << 404 << -1 << u"ollama.registry-missing"_s;
    QTest::newRow("429") << 429 << -1 << u"ollama.registry-busy"_s;
    QTest::newRow("429 until") << 429 << 74 << u"ollama.registry-busy-until"_s;
    QTest::newRow("500") << 500 << -1 << u"ollama.registry-failed"_s;
}

void OllamaTest::registryRefuses()
{
    QFETCH(const int, status);
    QFETCH(const int, retryAfter);
    QFETCH(const QString, expected);
    addTiny();
    StandInRegistry registry(m_root / "store");
    registry.setStatus(status, retryAfter);
    OllamaSettings empty = settings();
    empty.registry = registry.endpoint();
    Ollama ollama(empty);
    const Result<CheckpointPtr> read = ollama.readRegistry(*parseOllamaName("tiny"), {}, {});
    QCOMPARE(outcome(read), expected);
    checkSentence(read.error());
}

void OllamaTest::registryForges()
{
    addTiny();
    StandInRegistry registry(m_root / "store");
    OllamaSettings empty = settings();
    empty.registry = registry.endpoint();
    Ollama ollama(empty);
    const auto read = [&] { return ollama.readRegistry(*parseOllamaName("tiny"), {}, {}); };
    registry.setBlobsAt("file:///etc/passwd");
    QCOMPARE(outcome(read()), u"hub.refused-redirect"_s);
    registry.setBlobsAt(registry.endpoint() + "/v2/library/tiny/blobs/sha256:" + hex); // to itself
    QCOMPARE(outcome(read()), u"hub.refused-redirect"_s);
    registry.setBlobsAt({});
    registry.setManifest("<!DOCTYPE html>");
    QCOMPARE(outcome(read()), u"json.html"_s);
    registry.setManifest(std::string((4U << 20U) + 10, ' '));
    QCOMPARE(outcome(read()), u"hub.too-large"_s);
    registry.setManifest(manifestOf(Json::array({layerOf("model", "sha256:../../x")})).dump());
    QCOMPARE(outcome(read()), u"ollama.bad-digest"_s);
    // A size that is not the blob's.
    Json manifest = Json::parse(std::ifstream(m_maker->manifest("tiny")));
    manifest["layers"][0]["size"] = 1U << 30U;
    registry.setManifest(manifest.dump());
    const Result<CheckpointPtr> size = read();
    QCOMPARE(outcome(size), u"hub.size-differs"_s);
    checkSentence(size.error());

    empty.registry = "http://127.0.0.1:1";
    Ollama nowhere(empty);
    const Result<CheckpointPtr> none = nowhere.readRegistry(*parseOllamaName("tiny"), {}, {});
    QCOMPARE(outcome(none), u"ollama.registry-unreachable"_s);
    checkSentence(none.error());
    std::stop_source stop;
    stop.request_stop();
    QCOMPARE(outcome(ollama.readRegistry(*parseOllamaName("tiny"), stop.get_token(), {})), u"cancelled"_s);

    empty.registry = "ftp://registry";
    Ollama other(empty);
    const Result<CheckpointPtr> bad = other.readRegistry(*parseOllamaName("tiny"), {}, {});
    QCOMPARE(outcome(bad), u"ollama.bad-registry"_s);
    checkSentence(bad.error());
    const auto set = [](const char *name) -> std::optional<std::string> {
        return std::string_view(name) == "WEIR_OLLAMA_REGISTRY"
                   ? std::optional<std::string>("http://[::1]:5/")
                   : std::nullopt;
    };
    QCOMPARE(q(ollamaSettings(set).registry), u"http://[::1]:5"_s);
}

void OllamaTest::hubAsRegistry()
{
    tinyGguf().write(m_root / "hub" / "org" / "repo" / "tiny-Q4_K_M.gguf");
    GgufBuilder other = tinyGguf();
    other.tensor("blk.0.attn_k.weight", "Q6_K", {256, 256});
    other.write(m_root / "hub" / "org" / "repo" / "tiny-Q6_K.gguf");
    StandInHub server(m_root / "hub");
    HubSettings hubSettings;
    hubSettings.endpoint = server.endpoint();
    hubSettings.tries = 1;
    Hub hub(hubSettings);
    Ollama ollama(settings());
    const Result<CheckpointPtr> read = open("ollama:hf.co/org/repo:Q6_K", ollama, &hub);
    QVERIFY2(read, read ? "" : qPrintable(q(wordError(read.error()))));
    QCOMPARE((*read)->source, Source::Hub);
    QCOMPARE(q((*read)->files.front().path), u"tiny-Q6_K.gguf"_s);
}

QTEST_GUILESS_MAIN(OllamaTest)
#include "tst_ollama.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where checkpoints are looked for on this disk, what is listed of it, and that nothing on it can hold the list up.
#include "app/commandline.h"
#include "app/words.h"
#include "models/sources/disk/disk.h"
#include "models/sources/hub/hub.h"
#include "models/sources/open.h"
#include "tests/support/stores.h"
#include "tests/support/testsupport.h"
#include "tests/support/tinymodel.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <map>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

Environment environmentOf(const std::map<std::string, std::string> &variables)
{
    return [variables](const char *name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

QStringList texts(const std::vector<fs::path> &paths)
{
    QStringList out;
    for (const fs::path &path : paths)
        out += q(path.string());
    return out;
}

/// "name|quantization|problem" of each.
QStringList rows(const DiskListing &listing)
{
    QStringList out;
    for (const DiskCheckpoint &each : listing.checkpoints) {
        out += q(each.name) + u'|' + q(each.quantization) + u'|'
               + (each.problem ? q(each.problem->id) : QString());
    }
    return out;
}

QStringList notes(const DiskListing &listing)
{
    QStringList out;
    for (const Message &note : listing.notes)
        out += q(note.id);
    return out;
}

DiskListing listed(DiskPlaceKind kind, const fs::path &path)
{
    return listDisk(std::vector{DiskPlace{kind, path}});
}

} // namespace

class DiskTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void environment();
    void lmStudioHomes();
    void places();
    void folders();
    void hubCache();
    void hubCachePaths();
    void linksStayInside();
    void whatIsNotWholeIsSaid();
    void lmStudio();
    void llamaCpp();
    void unfinishedAndMissing();
    void loopsAndPipes();
    void denied();
    void tenThousand();
    void stops();
    void watches();
    void commandLine();

private:
    void gguf(const fs::path &file) const { tinyGguf().write(file); }

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_root;
};

void DiskTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_root = fs::canonical(s(m_folder->path()));
}

void DiskTest::environment()
{
    DiskEnvironment found = DiskEnvironment::from(environmentOf({{"HOME", "/h"}}));
    QCOMPARE(q(found.home.string()), u"/h"_s);
    QCOMPARE(texts(found.hubCaches), QStringList{u"/h/.cache/huggingface/hub"_s});
    QCOMPARE(texts(found.ollamaStores),
             (QStringList{u"/h/.ollama/models"_s, u"/usr/share/ollama/.ollama/models"_s,
                          u"/var/lib/ollama/.ollama/models"_s, u"/var/lib/ollama/models"_s,
                          u"/var/lib/ollama"_s}));
    QCOMPARE(texts(found.lmStudio), (QStringList{u"/h/.lmstudio/models"_s, u"/h/.cache/lm-studio/models"_s}));
    QCOMPARE(texts(found.llamaCppCaches),
             (QStringList{u"/h/.cache/llama.cpp"_s, u"/h/Library/Caches/llama.cpp"_s}));

    found = DiskEnvironment::from(environmentOf({{"HOME", "/h"},
                                                 {"HF_HOME", "/hf"},
                                                 {"XDG_CACHE_HOME", "/c"},
                                                 {"OLLAMA_MODELS", "~/o"},
                                                 {"LLAMA_CACHE", "/l"}}));
    QCOMPARE(texts(found.hubCaches), QStringList{u"/hf/hub"_s});
    QCOMPARE(texts(found.ollamaStores).mid(0, 2), (QStringList{u"/h/o"_s, u"/h/.ollama/models"_s}));
    QCOMPARE(texts(found.llamaCppCaches),
             (QStringList{u"/l"_s, u"/c/llama.cpp"_s, u"/h/Library/Caches/llama.cpp"_s}));
    found = DiskEnvironment::from(environmentOf({{"HF_HUB_CACHE", "/x"}}));
    QCOMPARE(texts(found.hubCaches), QStringList{u"/x"_s});
    QVERIFY(found.lmStudio.empty() && found.llamaCppCaches.empty());
    QVERIFY(DiskEnvironment::from(environmentOf({})).hubCaches.empty());
}

void DiskTest::lmStudioHomes()
{
    writeFile(m_root / ".lmstudio-home-pointer", (m_root / "elsewhere").string() + "\n");
    writeFile(m_root / "elsewhere" / "settings.json", R"({"downloadsFolder":"/big/models"})");
    DiskEnvironment found = DiskEnvironment::from(environmentOf({{"HOME", m_root.string()}}));
    QCOMPARE(texts(found.lmStudio), (QStringList{u"/big/models"_s, q((m_root / "elsewhere/models").string()),
                                                 q((m_root / ".lmstudio/models").string()),
                                                 q((m_root / ".cache/lm-studio/models").string())}));
    // What is no path, no JSON, no text: as if it were not there.
    writeFile(m_root / ".lmstudio-home-pointer", "relative/path");
    writeFile(m_root / ".lmstudio" / "settings.json", R"({"downloadsFolder":5})");
    found = DiskEnvironment::from(environmentOf({{"HOME", m_root.string()}}));
    QCOMPARE(found.lmStudio.size(), std::size_t{2});
    fs::remove(m_root / ".lmstudio-home-pointer");
    QCOMPARE(mkfifo((m_root / ".lmstudio-home-pointer").c_str(), 0600), 0);
    QCOMPARE(DiskEnvironment::from(environmentOf({{"HOME", m_root.string()}})).lmStudio.size(),
             std::size_t{2});
}

void DiskTest::places()
{
    DiskEnvironment environment;
    environment.hubCaches = {m_root / "hub", m_root / "no-hub"};
    environment.ollamaStores = {m_root / "ollama", m_root / "empty"};
    environment.lmStudio = {m_root / "lm", m_root / "same-lm"};
    environment.llamaCppCaches = {m_root / "llama"};
    QVERIFY(diskPlaces(environment).empty());
    for (const char *name : {"hub", "ollama/manifests", "ollama/blobs", "empty", "lm", "llama", "added"})
        fs::create_directories(m_root / name);
    fs::create_directory_symlink("lm", m_root / "same-lm");
    fs::create_directories(m_root / "hf" / "hub" / "models--org--name" / "snapshots");
    fs::create_directories(m_root / ".ollama" / "models" / "manifests");
    fs::create_directories(m_root / ".ollama" / "models" / "blobs");
    const std::vector<fs::path> folders{m_root / "added",   m_root / "lm",   m_root / "hf",
                                        m_root / ".ollama", m_root / "gone", ""};
    const std::vector<DiskPlace> found = diskPlaces(environment, folders);
    const std::vector<DiskPlace> expected{{DiskPlaceKind::HuggingFaceCache, m_root / "hub"},
                                          {DiskPlaceKind::Ollama, m_root / "ollama"},
                                          {DiskPlaceKind::LmStudio, m_root / "lm"},
                                          {DiskPlaceKind::LlamaCppCache, m_root / "llama"},
                                          {DiskPlaceKind::Folder, m_root / "added"},
                                          {DiskPlaceKind::HuggingFaceCache, m_root / "hf" / "hub"},
                                          {DiskPlaceKind::Ollama, m_root / ".ollama" / "models"},
                                          {DiskPlaceKind::Folder, m_root / "gone"}};
    QVERIFY(found == expected);
    const DiskListing listing = listDisk(found);
    QVERIFY(listing.checkpoints.empty());
    QCOMPARE(notes(listing), QStringList{u"disk.no-folder"_s});
    QVERIFY(q(wordDetail(listing.notes.front())).contains(u"/gone"_s));
    QStringList kinds;
    for (const DiskPlace &place : expected)
        kinds += q(diskPlaceKindId(place.kind));
    QCOMPARE(kinds.mid(0, 5).join(u' '), u"hugging-face-cache ollama lm-studio llama.cpp folder"_s);
}

void DiskTest::folders()
{
    writeTinyModel(m_root / "models" / "tiny");
    gguf(m_root / "models" / "top-Q4_K_M.gguf");
    gguf(m_root / "models" / "two" / "a-Q4_K_M.gguf");
    gguf(m_root / "models" / "two" / "b-Q4_K_M.gguf");
    gguf(m_root / "models" / "two" / "b-Q6_K.gguf");
    gguf(m_root / "models" / "two" / "mmproj-F16.gguf");
    gguf(m_root / "models" / "split" / "s-Q8_0-00001-of-00002.gguf");
    gguf(m_root / "models" / "split" / "s-Q8_0-00002-of-00002.gguf");
    Json mlx = tinyConfig();
    mlx["quantization"] = {{"group_size", 64}, {"bits", 4}};
    writeFile(m_root / "models" / "mlx" / "config.json", mlx.dump());
    tinyLayer(0).write(m_root / "models" / "mlx" / "model.safetensors");
    writeFile(m_root / "models" / "pickle" / "config.json", tinyConfig().dump());
    writeSparse(m_root / "models" / "pickle" / "pytorch_model.bin", "PK", 1000);
    // No models: an adapter, a pipeline, a folder with a config only, weights without one, hidden folders.
    writeFile(m_root / "models" / "lora" / "adapter_config.json", "{}");
    tinyLayer(0).write(m_root / "models" / "lora" / "adapter_model.safetensors");
    writeFile(m_root / "models" / "pipeline" / "model_index.json", "{}");
    writeFile(m_root / "models" / "pipeline" / "unet" / "config.json", "{}");
    tinyLayer(0).write(m_root / "models" / "pipeline" / "unet" / "model.safetensors");
    writeFile(m_root / "models" / "config" / "config.json", "{}");
    tinyLayer(0).write(m_root / "models" / "plain" / "model.safetensors");
    gguf(m_root / "models" / ".hidden" / "x.gguf");
    gguf(m_root / "models" / "only" / "mmproj-F16.gguf");

    const DiskListing listing = listed(DiskPlaceKind::Folder, m_root / "models");
    QCOMPARE(rows(listing),
             (QStringList{u"mlx||"_s, u"pickle||"_s, u"split|Q8_0|"_s, u"tiny||"_s, u"top-Q4_K_M|Q4_K_M|"_s,
                          u"two|Q6_K|"_s, u"two/a-Q4_K_M|Q4_K_M|"_s, u"two/b-Q4_K_M|Q4_K_M|"_s}));
    QVERIFY(notes(listing).isEmpty());
    const auto &list = listing.checkpoints;
    QCOMPARE(list[0].format, Format::Mlx);
    QCOMPARE(list[1].format, Format::Pickle);
    QCOMPARE(list[1].bytes, 1000U);
    QCOMPARE(list[2].bytes, 2 * tinyGguf().fileBytes());
    QCOMPARE(list[3].format, Format::Safetensors);
    QCOMPARE(q(list[3].argument), q((m_root / "models" / "tiny").string()));
    QVERIFY(list[3].modified > 1'700'000'000);
    for (const DiskCheckpoint &each : list) {
        QCOMPARE(q(each.place.string()), q((m_root / "models").string()));
        QVERIFY(each.complete);
    }
    QCOMPARE((*readPath(list[3].argument))->weightBytes(), tinyWeightBytes);
    QVERIFY(readPath(list[6].argument));
    // A folder that is itself a model.
    QCOMPARE(rows(listed(DiskPlaceKind::Folder, m_root / "models" / "tiny")), QStringList{u"tiny||"_s});
}

void DiskTest::hubCache()
{
    const fs::path cache = m_root / "hub";
    writeTinyModel(m_root / "tiny");
    gguf(m_root / "gguf" / "x-Q4_K_M.gguf");
    tinyGguf().u16("split.no", 0).u16("split.count", 2).write(m_root / "gguf/sub/x-Q8_0-00001-of-00002.gguf");
    GgufBuilder second;
    second.u16("split.no", 1).u16("split.count", 2).tensor("blk.1.attn_k.weight", "Q8_0", {256, 256});
    second.write(m_root / "gguf/sub/x-Q8_0-00002-of-00002.gguf");
    const fs::path tiny = layAsHubCache(cache, "org/tiny", m_root / "tiny");
    const fs::path both = layAsHubCache(cache, "org/tiny-GGUF", m_root / "gguf");
    // What else lies in such a cache.
    fs::create_directories(cache / "datasets--org--data" / "snapshots");
    fs::create_directories(cache / "models--org--empty" / "refs");
    fs::create_directories(cache / ".locks" / "models--org--tiny");
    writeFile(cache / "version.txt", "1");
    fs::create_directories(cache / "models--bad..name" / "snapshots");
    // An older state, and one that a branch stands for.
    const fs::path snapshots = tiny.parent_path();
    const std::string old(40, 'b');
    const std::string branch(40, 'c');
    for (const std::string &commit : {old, branch}) {
        fs::create_directories(snapshots / commit);
        for (const auto &each : fs::directory_iterator(tiny))
            fs::create_symlink(fs::read_symlink(each.path()), snapshots / commit / each.path().filename());
    }
    writeFile(snapshots.parent_path() / "refs" / "refs" / "pr" / "1", branch);
    writeFile(snapshots.parent_path() / "refs" / "forged", "../../../etc");

    const DiskListing listing = listed(DiskPlaceKind::HuggingFaceCache, cache);
    QCOMPARE(rows(listing),
             (QStringList{u"org/tiny||"_s, u"org/tiny-GGUF|Q4_K_M|"_s, u"org/tiny-GGUF|Q8_0|"_s,
                          u"org/tiny@bbbbbbbbbbbb||"_s, u"org/tiny@refs/pr/1||"_s}));
    QCOMPARE(q(listing.checkpoints[0].argument), q(tiny.string()));
    QCOMPARE(q(listing.checkpoints[2].argument), q((both / "sub" / "x-Q8_0-00001-of-00002.gguf").string()));
    for (const DiskCheckpoint &each : listing.checkpoints) {
        const Result<CheckpointPtr> read = readPath(each.argument);
        QVERIFY2(read, read ? "" : qPrintable(q(wordError(read.error()))));
        std::uint64_t bytes = 0;
        for (const RepositoryFile &file : (*read)->files)
            bytes += file.counted ? file.bytes : 0;
        QCOMPARE(each.bytes, bytes);
        QCOMPARE(q((*read)->revision), q(each.argument).section(u'/', -1).contains(u'.')
                                           ? q(both.filename().string())
                                           : q(fs::path(each.argument).filename().string()));
    }
    QVERIFY(std::ranges::find(listing.watched, cache) != listing.watched.end());
    QVERIFY(std::ranges::find(listing.watched, snapshots) != listing.watched.end());
}

void DiskTest::hubCachePaths()
{
    const fs::path home = m_root / "hf";
    writeTinyModel(m_root / "tiny");
    const fs::path tiny = layAsHubCache(home / "hub", "org/tiny", m_root / "tiny");
    const fs::path repository = tiny.parent_path().parent_path();
    for (const fs::path &path :
         {home, home / "hub", repository, tiny, tiny / "config.json",
          tiny / "model-00002-of-00003.safetensors", repository / "snapshots" / ".."}) {
        const Result<CheckpointPtr> read = readPath(path);
        QVERIFY2(read, qPrintable(q(path.string()) + (read ? QString() : q(wordError(read.error())))));
        QCOMPARE((*read)->weightBytes(), tinyWeightBytes);
        QCOMPARE(q((*read)->repository), u"org/tiny"_s);
        QCOMPARE(q((*read)->revision), q(tiny.filename().string()));
        QCOMPARE(q((*read)->name), u"tiny"_s);
        QCOMPARE(q((*read)->id), q(path.string()));
    }
    // By its name, offline, it is the same.
    HubSettings settings;
    settings.hubCache = home / "hub";
    settings.offline = true;
    Hub hub(settings);
    const Result<CheckpointPtr> byName = hub.read(parseHubReference("org/tiny").value(), {});
    QVERIFY(byName);
    const Result<CheckpointPtr> byPath = readPath(repository);
    QVERIFY(byPath);
    QCOMPARE(q((*byName)->revision), q((*byPath)->revision));
    QCOMPARE((*byName)->weightBytes(), (*byPath)->weightBytes());
    QCOMPARE((*byName)->parametersTotal(), (*byPath)->parametersTotal());
    QCOMPARE((*byName)->files.size(), (*byPath)->files.size());
    // Without `main`, the newest.
    fs::remove_all(repository / "refs");
    QVERIFY(readPath(repository));
    Result<CheckpointPtr> read = readPath(tiny / "no.gguf");
    QCOMPARE(outcome(read), u"cache.file-missing"_s);

    layAsHubCache(home / "hub", "org/other", m_root / "tiny");
    read = readPath(home);
    QCOMPARE(outcome(read), u"cache.several"_s);
    QCOMPARE(argumentText(read.error().arguments, "names"), u"models--org--other, models--org--tiny"_s);
    QVERIFY(q(wordError(read.error())).endsWith(u'.'));

    // GGUF: a quantization is chosen as on the Hub, and can be named.
    gguf(m_root / "gguf" / "x-Q4_K_M.gguf");
    GgufBuilder large = tinyGguf();
    large.tensor("blk.0.attn_k.weight", "Q6_K", {256, 256});
    large.write(m_root / "gguf" / "q6" / "x-Q6_K.gguf");
    const fs::path both = layAsHubCache(home / "hub", "org/gguf", m_root / "gguf");
    read = readPath(both);
    QVERIFY(read);
    QCOMPARE(q((*read)->files.front().path), u"x-Q4_K_M.gguf"_s);
    QVERIFY(std::ranges::find((*read)->notes, "hub.several-quantizations", &Message::id)
            != (*read)->notes.end());
    QCOMPARE(q((*readPath(both, {}, {}, "Q6_K"))->files.front().path), u"q6/x-Q6_K.gguf"_s);
    QCOMPARE(q((*readPath(both / "q6"))->files.front().path), u"x-Q6_K.gguf"_s);

    fs::remove_all(both);
    read = readPath(both.parent_path().parent_path());
    QCOMPARE(outcome(read), u"cache.empty"_s);
    QVERIFY(q(wordError(read.error())).endsWith(u'.'));
}

void DiskTest::whatIsNotWholeIsSaid()
{
    const fs::path models = m_root / "models";
    for (const char *name : {"bin", "empty"})
        writeFile(models / name / "config.json", tinyConfig().dump());
    writeSparse(models / "bin" / "pytorch_model-00001-of-00002.bin", "PK", 1000);
    writeFile(models / "empty" / "model.safetensors", "");
    const DiskListing listing = listed(DiskPlaceKind::Folder, models);
    QCOMPARE(rows(listing), (QStringList{u"bin||disk.missing-parts"_s, u"empty||disk.missing-files"_s}));

    // All weights are there; the config's blob is not.
    const fs::path snapshot = m_root / "hub" / "models--org--noconfig" / "snapshots" / std::string(40, 'a');
    writeFile(snapshot.parent_path().parent_path() / "refs" / "main", std::string(40, 'a'));
    fs::create_directories(snapshot);
    tinyLayer(0).write(snapshot / "model.safetensors");
    fs::create_symlink("../../blobs/absent", snapshot / "config.json");
    QCOMPARE(rows(listed(DiskPlaceKind::HuggingFaceCache, m_root / "hub")),
             QStringList{u"org/noconfig||disk.missing-files"_s});
}

void DiskTest::linksStayInside()
{
    const fs::path cache = m_root / "hub";
    writeTinyModel(m_root / "tiny");
    const fs::path tiny = layAsHubCache(cache, "org/tiny", m_root / "tiny");
    // A weight that is a link to somebody else's file, and one that is not there.
    const fs::path shard = tiny / "model-00002-of-00003.safetensors";
    fs::remove(shard);
    fs::create_symlink(m_root / "tiny" / "model-00002-of-00003.safetensors", shard);
    QCOMPARE(outcome(readPath(tiny)), u"folder.missing-shard"_s);
    QCOMPARE(outcome(readPath(shard)), u"cache.file-missing"_s);
    QVERIFY(q(wordError(readPath(shard).error())).endsWith(u'.'));
    QCOMPARE(rows(listed(DiskPlaceKind::HuggingFaceCache, cache)),
             QStringList{u"org/tiny||disk.missing-parts"_s});
    fs::remove(shard);
    fs::create_symlink("../../blobs/nothing", shard);
    QCOMPARE(rows(listed(DiskPlaceKind::HuggingFaceCache, cache)),
             QStringList{u"org/tiny||disk.missing-files"_s});
    QCOMPARE(outcome(readPath(tiny)), u"folder.missing-shard"_s);
    // The snapshot itself is a link.
    fs::remove_all(tiny);
    fs::create_directory_symlink(m_root / "tiny", tiny);
    QCOMPARE(outcome(readPath(tiny)), u"cache.empty"_s);
    QVERIFY(rows(listed(DiskPlaceKind::HuggingFaceCache, cache)).isEmpty());
    // Only the beginning of a download.
    writeFile(tiny.parent_path().parent_path() / "blobs" / "abc.incomplete", "x");
    const DiskListing listing = listed(DiskPlaceKind::HuggingFaceCache, cache);
    QCOMPARE(rows(listing), QStringList{u"org/tiny||disk.unfinished"_s});
    QVERIFY(!listing.checkpoints.front().complete);
}

void DiskTest::lmStudio()
{
    const fs::path root = m_root / "models";
    gguf(root / "publisher" / "model-GGUF" / "model-Q4_K_M.gguf");
    gguf(root / "publisher" / "model-GGUF" / "mmproj-model-f16.gguf");
    writeTinyModel(root / "mlx-community" / "tiny");
    gguf(m_root / "kept" / "linked-Q6_K.gguf");
    fs::create_directory_symlink(m_root / "kept",
                                 root / "publisher" / "linked"); // as its own guide says to do
    writeFile(root / "publisher" / "coming" / "downloading_coming-Q4_K_M.gguf.part", "x");
    QCOMPARE(rows(listed(DiskPlaceKind::LmStudio, root)),
             (QStringList{u"mlx-community/tiny||"_s, u"publisher/coming|Q4_K_M|disk.unfinished"_s,
                          u"publisher/linked|Q6_K|"_s, u"publisher/model-GGUF|Q4_K_M|"_s}));
    // By hand: several in one folder, one of them by its quantization.
    gguf(root / "publisher" / "model-GGUF" / "model-Q6_K.gguf");
    const fs::path folder = root / "publisher" / "model-GGUF";
    QCOMPARE(outcome(readPath(folder)), u"folder.several-gguf"_s);
    QCOMPARE(q((*readPath(folder, {}, {}, "q6_k"))->files.front().path), u"model-Q6_K.gguf"_s);
}

void DiskTest::llamaCpp()
{
    const fs::path cache = m_root / "llama.cpp";
    gguf(m_root / "r" / "x-Q4_K_M.gguf");
    layAsLlamaCpp(cache, "org/some_name", m_root / "r");
    gguf(cache / "lone-Q8_0.gguf");
    writeFile(cache / "org_coming_y-Q4_0.gguf.downloadInProgress", "x");
    layAsHubCache(cache, "ggml-org/new", m_root / "r"); // what builds of 2026 write there
    const DiskListing listing = listed(DiskPlaceKind::LlamaCppCache, cache);
    QCOMPARE(rows(listing),
             (QStringList{u"ggml-org/new|Q4_K_M|"_s, u"lone-Q8_0|Q8_0|"_s, u"org/some_name|Q4_K_M|"_s,
                          u"org_coming_y-Q4_0|Q4_0|disk.unfinished"_s}));
    for (const DiskCheckpoint &each : listing.checkpoints)
        QCOMPARE(readPath(each.argument).has_value(), each.complete);
    // Added by hand, it is known for what it is; opened whole, its own files count.
    const std::vector<fs::path> folders{cache};
    const std::vector<DiskPlace> expected{{DiskPlaceKind::LlamaCppCache, cache}};
    QVERIFY(diskPlaces({}, folders) == expected);
    QCOMPARE(outcome(readPath(cache)), u"folder.several-gguf"_s);
}

void DiskTest::unfinishedAndMissing()
{
    const fs::path root = m_root / "models";
    writeTinyModel(root / "shard");
    fs::remove(root / "shard" / "model-00002-of-00003.safetensors");
    gguf(root / "headless" / "s-Q8_0-00002-of-00003.gguf");
    gguf(root / "tailless" / "s-Q8_0-00001-of-00003.gguf");
    writeTinyModel(root / "part");
    writeFile(root / "part" / "model-00003-of-00003.safetensors.part", "x");
    const DiskListing listing = listed(DiskPlaceKind::Folder, root);
    QCOMPARE(rows(listing),
             (QStringList{u"headless|Q8_0|disk.missing-parts"_s, u"part||disk.unfinished"_s,
                          u"shard||disk.missing-parts"_s, u"tailless|Q8_0|disk.missing-parts"_s}));
    QCOMPARE(q(wordDetail(*listing.checkpoints[2].problem)),
             u"2 of its 3 weight files are here: finish the download."_s);
    for (const DiskCheckpoint &each : listing.checkpoints) {
        QVERIFY(!each.complete);
        QVERIFY(each.bytes > 0);
    }
}

void DiskTest::loopsAndPipes()
{
    const fs::path root = m_root / "models";
    gguf(root / "good" / "x-Q4_K_M.gguf");
    fs::create_directory_symlink(root, root / "good" / "up");
    fs::create_directory_symlink("..", root / "good" / "parent");
    fs::create_directory_symlink("self", root / "self");
    fs::create_directories(root / "pipe");
    QCOMPARE(mkfifo((root / "pipe" / "x-Q4_K_M.gguf").c_str(), 0600), 0);
    writeFile(root / "pipe-config" / "x", "");
    QCOMPARE(mkfifo((root / "pipe-config" / "config.json").c_str(), 0600), 0);
    tinyLayer(0).write(root / "pipe-config" / "model.safetensors");
    fs::create_directories(root / "dangling");
    fs::create_symlink("nowhere", root / "dangling" / "x-Q6_K.gguf");
    QElapsedTimer timer;
    timer.start();
    const DiskListing listing = listed(DiskPlaceKind::Folder, root);
    QVERIFY(timer.elapsed() < 5'000);
    QCOMPARE(rows(listing), (QStringList{u"dangling|Q6_K|disk.not-regular"_s, u"good|Q4_K_M|"_s,
                                         u"pipe|Q4_K_M|disk.not-regular"_s}));
    QVERIFY(q(wordDetail(*listing.checkpoints[2].problem)).startsWith(u"x-Q4_K_M.gguf is a pipe"_s));
    QCOMPARE(outcome(readPath(root / "pipe" / "x-Q4_K_M.gguf")), u"file.not-regular"_s);
    // The same in a snapshot and in a store's blobs.
    const fs::path snapshot = layAsHubCache(m_root / "hub", "org/tiny", root / "good");
    fs::remove(snapshot / "x-Q4_K_M.gguf");
    QCOMPARE(mkfifo((snapshot / "x-Q4_K_M.gguf").c_str(), 0600), 0);
    QVERIFY(rows(listed(DiskPlaceKind::HuggingFaceCache, m_root / "hub")).isEmpty());
    QCOMPARE(outcome(readPath(snapshot / "x-Q4_K_M.gguf")), u"cache.empty"_s);
    QCOMPARE(outcome(readPath(snapshot)), u"cache.empty"_s);
}

void DiskTest::denied()
{
    if (geteuid() == 0)
        QSKIP("root may read everything");
    gguf(m_root / "models" / "open" / "x-Q4_K_M.gguf");
    gguf(m_root / "models" / "closed" / "x-Q4_K_M.gguf");
    OllamaStoreMaker maker(m_root / "service" / "models");
    fs::permissions(m_root / "models" / "closed", fs::perms::none);
    fs::permissions(m_root / "service", fs::perms::none);
    DiskEnvironment environment;
    environment.ollamaStores = {m_root / "service" / "models"};
    const std::vector<fs::path> folders{m_root / "models"};
    const std::vector<DiskPlace> places = diskPlaces(environment, folders);
    const DiskListing listing = listDisk(places);
    fs::permissions(m_root / "models" / "closed", fs::perms::owner_all);
    fs::permissions(m_root / "service", fs::perms::owner_all);
    QCOMPARE(places.size(), std::size_t{2});
    QCOMPARE(rows(listing), QStringList{u"open|Q4_K_M|"_s});
    QCOMPARE(notes(listing), (QStringList{u"disk.denied"_s, u"disk.denied"_s}));
    QVERIFY(q(wordDetail(listing.notes.front())).startsWith(q((m_root / "service" / "models").string())));
}

void DiskTest::tenThousand()
{
    const fs::path root = m_root / "models";
    fs::create_directories(root);
    for (int i = 0; i < 10'050; ++i) {
        const fs::path file = root / ("m" + std::to_string(i) + "-Q4_K_M.gguf");
        std::ofstream(file, std::ios::binary) << "GGUF";
    }
    QElapsedTimer timer;
    timer.start();
    const DiskListing listing = listed(DiskPlaceKind::Folder, root);
    qInfo("10,050 files listed in %lld ms", static_cast<long long>(timer.elapsed()));
    QCOMPARE(listing.checkpoints.size(), maxDiskCheckpoints);
    QCOMPARE(notes(listing), QStringList{u"disk.too-many"_s});
    QVERIFY(timer.elapsed() < 30'000);

    // A store with as many models: manifests are small files, blobs are asked for their size alone.
    OllamaStoreMaker maker(m_root / "store");
    gguf(m_root / "tiny.gguf");
    maker.addGguf("first", "latest", {m_root / "tiny.gguf"}, {}, "Q4_K_M");
    const fs::path first = maker.manifest("first");
    for (int i = 0; i < 10'000; ++i) {
        const fs::path copy = maker.manifest("m" + std::to_string(i));
        fs::create_directories(copy.parent_path());
        fs::create_hard_link(first, copy);
    }
    timer.start();
    const DiskListing store = listed(DiskPlaceKind::Ollama, m_root / "store");
    qInfo("10,001 manifests listed in %lld ms", static_cast<long long>(timer.elapsed()));
    QCOMPARE(store.checkpoints.size(), maxDiskCheckpoints);
    QCOMPARE(notes(store), QStringList{u"disk.too-many"_s});
    QCOMPARE(store.watched.size(), maxWatchedFolders);
    QVERIFY(timer.elapsed() < 60'000);
}

void DiskTest::stops()
{
    gguf(m_root / "models" / "x-Q4_K_M.gguf");
    std::stop_source stop;
    stop.request_stop();
    const std::vector<DiskPlace> places{{DiskPlaceKind::Folder, m_root / "models"}};
    const DiskListing listing = listDisk(places, stop.get_token());
    QVERIFY(listing.stopped);
    QVERIFY(listing.checkpoints.empty());
    QVERIFY(!listDisk(places).stopped);
}

void DiskTest::watches()
{
    const fs::path root = m_root / "models";
    gguf(root / "publisher" / "model" / "x-Q4_K_M.gguf");
    QStringList watched = texts(listed(DiskPlaceKind::LmStudio, root).watched);
    QCOMPARE(watched, (QStringList{q(root.string()), q((root / "publisher").string()),
                                   q((root / "publisher" / "model").string())}));
    OllamaStoreMaker maker(m_root / "store");
    maker.addGguf("tiny", "7b", {root / "publisher" / "model" / "x-Q4_K_M.gguf"}, {}, "Q4_K_M");
    watched = texts(listed(DiskPlaceKind::Ollama, m_root / "store").watched);
    for (const char *folder :
         {"", "blobs", "manifests", "manifests/registry.ollama.ai", "manifests/registry.ollama.ai/library",
          "manifests/registry.ollama.ai/library/tiny"}) {
        const fs::path path = *folder == '\0' ? m_root / "store" : m_root / "store" / folder;
        QVERIFY2(watched.contains(q(path.string())), folder);
    }
}

void DiskTest::commandLine()
{
    for (const char *name :
         {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME", "LLAMA_CACHE"})
        qunsetenv(name);
    qputenv("HOME", QByteArray::fromStdString(m_root.string()));
    qputenv("OLLAMA_MODELS", QByteArray::fromStdString((m_root / "store").string()));
    gguf(m_root / "tiny-Q4_K_M.gguf");
    OllamaStoreMaker maker(m_root / "store");
    maker.addGguf("tiny", "7b", {m_root / "tiny-Q4_K_M.gguf"}, {}, "Q4_K_M");
    maker.addGguf("gone", "7b", {m_root / "tiny-Q4_K_M.gguf"}, {}, "Q4_K_M");
    const Json manifest = Json::parse(std::ifstream(maker.manifest("gone", "7b")));
    fs::remove(maker.blob(manifest["layers"][0]["digest"].get<std::string>()));
    writeTinyModel(m_root / "added" / "tiny");
    const auto run = [](std::vector<std::string> arguments) {
        std::vector<const char *> pointers{"weir"};
        for (const std::string &argument : arguments)
            pointers.push_back(argument.c_str());
        std::ostringstream out;
        std::ostringstream err;
        const CommandOutcome outcome =
            runCommandLine(static_cast<int>(pointers.size()), pointers.data(), out, err);
        return std::tuple(outcome.exitStatus.value_or(-1), out.str(), err.str());
    };
    const std::string added = (m_root / "added").string();
    const std::string absent = (m_root / "absent").string();
    auto [status, out, err] = run({"disk", "--json", "--folder", added, "--folder", absent});
    QCOMPARE(status, 0);
    QCOMPARE(q(err), q(absent) + u" is no folder, so nothing is listed of it.\n"_s);
    const Json object = Json::parse(out);
    QCOMPARE(q(object["schema"].get<std::string>()), u"weir.disk/1"_s);
    const Json &items = object["items"];
    QCOMPARE(items.size(), std::size_t{3});
    QCOMPARE(q(items[0]["name"].get<std::string>()), u"gone:7b"_s);
    QCOMPARE(items[0]["complete"].get<bool>(), false);
    QCOMPARE(q(items[0]["problem"]["id"].get<std::string>()), u"ollama.blob-missing"_s);
    QVERIFY(q(items[0]["problem"]["message"].get<std::string>()).contains(u"/blobs/sha256-"_s));
    const Json &tiny = items[1];
    QCOMPARE(q(tiny["name"].get<std::string>()), u"tiny:7b"_s);
    QCOMPARE(q(tiny["kind"].get<std::string>()), u"ollama"_s);
    QCOMPARE(q(tiny["format"].get<std::string>()), u"gguf"_s);
    QCOMPARE(q(tiny["quantization"].get<std::string>()), u"Q4_K_M"_s);
    QCOMPARE(tiny["bytes"].get<std::uint64_t>(), tinyGguf().fileBytes());
    QVERIFY(tiny["problem"].is_null());
    QVERIFY(q(tiny["modified"].get<std::string>()).endsWith(u'Z'));
    QCOMPARE(q(items[2]["kind"].get<std::string>()), u"folder"_s);
    QVERIFY(items[2]["quantization"].is_null());

    std::tie(status, out, err) = run({"disk"});
    QCOMPARE(status, 0);
    QVERIFY(q(out).contains(u"tiny:7b"_s) && q(out).contains(u"Ollama"_s));
    // What the list names can be assessed, and so can the name.
    for (const std::string &argument : {tiny["argument"].get<std::string>(), std::string("ollama:tiny:7b")}) {
        std::tie(status, out, err) = run({"assess", argument, "--json"});
        QCOMPARE(status, 0);
        const Json assessed = Json::parse(out);
        QCOMPARE(q(assessed["checkpoint"]["source"].get<std::string>()), u"ollama"_s);
        QCOMPARE(q(assessed["engine"]["id"].get<std::string>()), u"ollama"_s);
    }
    std::tie(status, out, err) = run({"assess", "ollama:gone:7b"});
    QCOMPARE(status, 3);
}

QTEST_GUILESS_MAIN(DiskTest)
#include "tst_disk.moc"

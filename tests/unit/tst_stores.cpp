// SPDX-License-Identifier: GPL-3.0-or-later
//
// The repositories of tst_forged, laid out as the Hub's cache, Ollama's store, LM Studio's folder and llama.cpp's
// cache: the lists show them, and what the list says to open reads exactly.
#include "models/sources/disk/disk.h"
#include "models/sources/open.h"
#include "tests/support/forgedcheck.h"
#include "tests/support/stores.h"
#include "tests/support/testsupport.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace weir;
using namespace weir::test;

class StoresTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void reads_data() { addForgedRows(m_oracle); }
    void reads();

private:
    fs::path expand(const std::string &name);
    /// The one checkpoint of a place that `matches`.
    static std::optional<DiskCheckpoint> only(const DiskPlace &place,
                                              const std::function<bool(const DiskCheckpoint &)> &matches);
    QByteArray differences(const Json &expected, const std::string &argument, bool mlx, bool gguf,
                           const std::optional<std::uint64_t> &repositoryBytes = {}) const;

    fs::path m_oracle;
    std::string m_expandedName;
    std::unique_ptr<QTemporaryDir> m_expanded;
    fs::path m_repository;
    std::vector<Machine> m_machines;
    std::vector<Engine> m_engines;
};

void StoresTest::initTestCase()
{
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (!shared || !fs::exists(*shared / "oracle" / "expand.py"))
        QSKIP("no folder with forged repositories (WEIR_SHARED_DIR)");
    if (QStandardPaths::findExecutable(u"python3"_s).isEmpty())
        QSKIP("no python3 to expand the forged repositories");
    m_oracle = *shared / "oracle";
    m_machines = readMachines(fs::path(WEIR_SOURCE_DIR) / "data" / "machines.json").value();
    m_engines = readEngines(fs::path(WEIR_SOURCE_DIR) / "data" / "engines.json").value();
}

fs::path StoresTest::expand(const std::string &name)
{
    if (name == m_expandedName)
        return m_repository;
    m_expanded = std::make_unique<QTemporaryDir>();
    m_expandedName = name;
    QProcess process;
    process.start(u"python3"_s, {q((m_oracle / "expand.py").string()), m_expanded->path(), q(name)});
    if (!process.waitForFinished(120'000) || process.exitCode() != 0)
        return m_repository = fs::path();
    return m_repository = s(QString::fromUtf8(process.readAllStandardOutput()).trimmed());
}

std::optional<DiskCheckpoint> StoresTest::only(const DiskPlace &place,
                                               const std::function<bool(const DiskCheckpoint &)> &matches)
{
    const DiskListing listing = listDisk(std::vector{place});
    std::optional<DiskCheckpoint> found;
    for (const DiskCheckpoint &each : listing.checkpoints) {
        if (!matches(each))
            continue;
        if (found)
            return std::nullopt;
        found = each;
    }
    return found;
}

QByteArray StoresTest::differences(const Json &expected, const std::string &argument, bool mlx, bool gguf,
                                   const std::optional<std::uint64_t> &repositoryBytes) const
{
    const Result<CheckpointPtr> read = readPath(argument);
    if (!read)
        return QByteArray::fromStdString(read.error().id + ": " + read.error().subject);
    for (const Message &note : (*read)->notes) {
        if (note.id.starts_with("derive."))
            return QByteArray::fromStdString(note.id);
    }
    // Whose memory and speed is the same as from a folder.
    Checkpoint plain = **read;
    plain.source = Source::Folder;
    const Engine &engine = *std::ranges::find(m_engines, automaticEngine(plain), &Engine::id);
    const Machine &machine = *std::ranges::find_if(m_machines, [&](const Machine &each) {
        return canLoad(engine, **read, each).canLoad && each.bandwidthBytesPerSecond;
    });
    return differencesFrom(expected, *read, engine, machine, gguf, repositoryBytes, mlx).text();
}

void StoresTest::reads()
{
    QFETCH(const QString, repository);
    QFETCH(const QString, variant);
    const fs::path folder = expand(s(repository));
    QVERIFY(!folder.empty());
    const fs::path pack = m_oracle / "forged" / s(repository);
    const Json whole = readJson(pack / "expected.json");
    const bool gguf = !variant.isEmpty();
    const bool mlx = repository.startsWith("mlx-"_L1);
    Json expected = gguf ? whole["variants"][s(variant)] : whole;
    const auto bytes = expected["weight_file_bytes"].get<std::uint64_t>();
    // The revision of a forged repository is a part of its folder's name.
    std::string id = readJson(pack / "files.json")["id"].get<std::string>();
    id = id.substr(0, id.find('@'));
    const std::string first = fs::path(expected["weight_files"][0].get<std::string>()).filename().string();
    const auto isWanted = [&](const DiskCheckpoint &each) {
        return !gguf || fs::path(each.argument).filename().string().ends_with(first);
    };
    const auto check = [&](const std::optional<DiskCheckpoint> &found, const std::string &name) {
        QVERIFY(found);
        QCOMPARE(q(found->name), q(name));
        QVERIFY(!found->problem);
        QVERIFY(found->complete);
        QCOMPARE(found->bytes, bytes);
        QVERIFY(found->modified > 0);
        QCOMPARE(found->format, gguf ? Format::Gguf : mlx ? Format::Mlx : Format::Safetensors);
    };
    QTemporaryDir stores;
    const fs::path root = s(stores.path());

    // Hugging Face
    const fs::path snapshot = layAsHubCache(root / "hub", id, folder);
    const DiskPlace hub{DiskPlaceKind::HuggingFaceCache, root / "hub"};
    auto found = only(hub, isWanted);
    check(found, id);
    QVERIFY(found);
    QCOMPARE(differences(expected, found->argument, mlx, gguf,
                         gguf ? std::nullopt : std::optional(packedBytes(pack))),
             QByteArray());
    // The repository's folder is the same, and so is a whole cache with nothing else in it.
    std::vector<fs::path> paths{snapshot.parent_path().parent_path()};
    if (expected["weight_files"].size() == 1)
        paths.insert(paths.end(), {root / "hub", root});
    for (const fs::path &path : paths) {
        const Result<CheckpointPtr> read = readPath(path, {}, {}, gguf ? s(variant) : std::string());
        QVERIFY2(read, read ? "" : read.error().id.c_str());
        QCOMPARE(q((*read)->repository), q(id));
        QCOMPARE(q((*read)->revision), q(madeUpCommit(id)));
        if (!gguf || isChosenQuantization(**read, s(variant)))
            QCOMPARE((*read)->weightBytes(), expected["totals"]["resident_bytes"].get<std::uint64_t>());
    }

    // LM Studio
    layAsLmStudio(root / "lm-studio", id, folder);
    found = only({DiskPlaceKind::LmStudio, root / "lm-studio"}, isWanted);
    const std::string inFolder =
        gguf ? fs::path(id + '/' + expected["weight_files"][0].get<std::string>()).parent_path().string()
             : id;
    check(found, inFolder);
    QVERIFY(found);
    QCOMPARE(differences(expected, found->argument, mlx, gguf,
                         gguf ? std::nullopt : std::optional(packedBytes(pack))),
             QByteArray());

    // llama.cpp
    if (gguf) {
        layAsLlamaCpp(root / "llama.cpp", id, folder);
        found = only({DiskPlaceKind::LlamaCppCache, root / "llama.cpp"}, isWanted);
        check(found, id);
        QVERIFY(found);
        Json renamed = expected;
        for (Json &file : renamed["weight_files"]) {
            std::string name = id + '_' + file.get<std::string>();
            std::ranges::replace(name, '/', '_');
            file = name;
        }
        QCOMPARE(differences(renamed, found->argument, mlx, gguf), QByteArray());
    }

    // Ollama
    OllamaStoreMaker maker(root / "ollama");
    if (gguf) {
        std::vector<fs::path> files;
        for (const std::string file : expected["weight_files"])
            files.push_back(folder / file);
        maker.addGguf("forged", "it", files, {}, s(variant));
        const Json manifest = readJson(maker.manifest("forged", "it"));
        expected["weight_files"] = Json::array();
        for (const Json &layer : manifest["layers"]) {
            if (layer["mediaType"] == "application/vnd.ollama.image.model")
                expected["weight_files"].push_back("sha256-" + layer["digest"].get<std::string>().substr(7));
        }
    } else {
        std::vector<std::string> listed;
        std::vector<std::string> unlisted = expected["unlisted_files"].get<std::vector<std::string>>();
        for (const std::string file : expected["weight_files"]) {
            if (std::ranges::find(unlisted, file) == unlisted.end())
                listed.push_back(file);
        }
        listed.insert(listed.end(), unlisted.begin(), unlisted.end());
        const auto made = maker.addSafetensors("forged", "it", folder, listed);
        expected["weight_files"] = made.files;
        expected["weight_file_bytes"] = made.bytes;
        expected["unlisted_files"] = Json::array();
    }
    const DiskListing listing = listDisk(std::vector{DiskPlace{DiskPlaceKind::Ollama, root / "ollama"}});
    QCOMPARE(listing.checkpoints.size(), std::size_t{1});
    const DiskCheckpoint &model = listing.checkpoints.front();
    QCOMPARE(q(model.name), u"forged:it"_s);
    QVERIFY(model.complete && !model.problem);
    QCOMPARE(model.bytes, expected["weight_file_bytes"].get<std::uint64_t>());
    QCOMPARE(q(model.quantization), variant);
    QCOMPARE(differences(expected, model.argument, mlx, gguf), QByteArray());
    if (expected["weight_files"].size() > 50)
        return; // the store itself is opened the same way
    const Result<CheckpointPtr> read = readPath(root / "ollama"); // its only model
    QVERIFY(read);
    QCOMPARE((*read)->source, Source::Ollama);
    QCOMPARE(q((*read)->ollama), u"forged:it"_s);
    QCOMPARE(q(automaticEngine(**read)), u"ollama"_s);
    QCOMPARE((*read)->weightBytes(), expected["totals"]["resident_bytes"].get<std::uint64_t>());
}

QTEST_GUILESS_MAIN(StoresTest)
#include "tst_stores.moc"

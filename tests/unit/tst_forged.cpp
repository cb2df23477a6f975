// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whole repositories with true headers and holes for weights, laid out as the published ones are, and what
// must come out of them, made without this program. They are not part of this repository: see
// sharedFolder() in tests/support/testsupport.h.
#include "models/checkpoint/requantize.h"
#include "models/decode/assessment.h"
#include "models/sources/open.h"
#include "tests/support/forgedcheck.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using Json = nlohmann::json;

class ForgedTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void reads_data();
    void reads();
    void anyPartOpensTheWholeSplit();
    void oneShardOpensTheWholeFolder();
    void derivesTheSameGguf_data();
    void derivesTheSameGguf();

private:
    /// Writes one repository out. The last one is kept: variants of one repository follow each other.
    fs::path expand(const std::string &name);
    static fs::path expandInto(const QTemporaryDir &folder, const fs::path &oracle, const std::string &name);
    /// The first machine that the engine runs on: MLX needs a Mac.
    const Machine &machineFor(const Engine &engine, const Checkpoint &checkpoint) const
    {
        return *std::ranges::find_if(m_machines, [&](const Machine &machine) {
            return canLoad(engine, checkpoint, machine).canLoad && machine.bandwidthBytesPerSecond;
        });
    }
    const Engine &engineFor(const Checkpoint &checkpoint) const
    {
        return *std::ranges::find(m_engines, automaticEngine(checkpoint), &Engine::id);
    }

    fs::path m_oracle;
    std::string m_expandedName;
    std::unique_ptr<QTemporaryDir> m_expanded;
    fs::path m_expandedPath;
    std::vector<Machine> m_machines;
    std::vector<Engine> m_engines;
};

void ForgedTest::initTestCase()
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

fs::path ForgedTest::expandInto(const QTemporaryDir &folder, const fs::path &oracle, const std::string &name)
{
    QProcess process;
    process.start(u"python3"_s, {q((oracle / "expand.py").string()), folder.path(), q(name)});
    if (!process.waitForFinished(120'000) || process.exitCode() != 0)
        return {};
    return s(QString::fromUtf8(process.readAllStandardOutput()).trimmed());
}

fs::path ForgedTest::expand(const std::string &name)
{
    if (name != m_expandedName) {
        m_expanded = std::make_unique<QTemporaryDir>();
        m_expandedPath = expandInto(*m_expanded, m_oracle, name);
        m_expandedName = name;
    }
    return m_expandedPath;
}

void ForgedTest::reads_data() { addForgedRows(m_oracle); }

void ForgedTest::reads()
{
    QFETCH(const QString, repository);
    QFETCH(const QString, variant);
    const fs::path folder = expand(s(repository));
    QVERIFY(!folder.empty());
    const Json whole = readJson(m_oracle / "forged" / s(repository) / "expected.json");
    const bool gguf = !variant.isEmpty();
    const Json &expected = gguf ? whole["variants"][s(variant)] : whole;
    const fs::path path = gguf ? folder / expected["weight_files"][0].get<std::string>() : folder;

    const Result<CheckpointPtr> read = readPath(path);
    QVERIFY2(read, read ? "" : read.error().id.c_str());
    // What its own config leads to is what is stored, to the last parameter of every component.
    for (const Message &note : (*read)->notes)
        QVERIFY2(!note.id.starts_with("derive."), note.id.c_str());
    const Engine &engine = engineFor(**read);
    const Differences differences =
        differencesFrom(expected, *read, engine, machineFor(engine, **read), gguf,
                        gguf ? std::nullopt : std::optional(packedBytes(m_oracle / "forged" / s(repository))),
                        repository.startsWith("mlx-"_L1));
    QVERIFY2(differences.isEmpty(), differences.text().constData());
}

void ForgedTest::anyPartOpensTheWholeSplit()
{
    std::size_t checked = 0;
    for (const auto &each : fs::directory_iterator(m_oracle / "forged")) {
        const Json whole = readJson(each.path() / "expected.json");
        if (!whole.contains("variants"))
            continue;
        for (const auto &[variant, expected] : whole["variants"].items()) {
            if (expected["weight_files"].size() < 2)
                continue;
            const fs::path folder = expand(each.path().filename().string());
            for (const std::string file : expected["weight_files"]) {
                const Result<CheckpointPtr> read = readPath(folder / file);
                QVERIFY2(read, file.c_str());
                QCOMPARE((*read)->weightBytes(), expected["totals"]["resident_bytes"].get<std::uint64_t>());
                ++checked;
            }
        }
    }
    QVERIFY(checked > 2);
}

void ForgedTest::oneShardOpensTheWholeFolder()
{
    const fs::path folder = expand("Qwen__Qwen3-8B");
    const Json expected = readJson(m_oracle / "forged" / "Qwen__Qwen3-8B" / "expected.json");
    for (const std::string file : expected["weight_files"]) {
        const Result<CheckpointPtr> read = readPath(folder / file);
        QVERIFY2(read, file.c_str());
        QCOMPARE((*read)->weightBytes(), expected["totals"]["resident_bytes"].get<std::uint64_t>());
    }
    for (const char *name : {"config.json", "model.safetensors.index.json"}) {
        const Result<CheckpointPtr> read = readPath(folder / name);
        QVERIFY2(read, name);
        QCOMPARE((*read)->weightBytes(), expected["totals"]["resident_bytes"].get<std::uint64_t>());
    }
}

void ForgedTest::derivesTheSameGguf_data()
{
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("published");
    QTest::newRow("Qwen3.5-35B-A3B") << u"Qwen__Qwen3.5-35B-A3B"_s << u"ggml-org__Qwen3.5-35B-A3B-GGUF"_s;
    QTest::newRow("Qwen3-30B-A3B") << u"Qwen__Qwen3-30B-A3B"_s << u"Qwen__Qwen3-30B-A3B-GGUF"_s;
    QTest::newRow("Nemotron-3-Nano") << u"nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"_s
                                     << u"unsloth__Nemotron-3-Nano-30B-A3B-GGUF"_s;
    QTest::newRow("Llama-3.1-8B") << u"meta-llama__Llama-3.1-8B"_s
                                  << u"bartowski__Meta-Llama-3.1-8B-Instruct-GGUF"_s;
    QTest::newRow("Qwen2.5-7B") << u"Qwen__Qwen2.5-7B-Instruct"_s << u"Qwen__Qwen2.5-7B-Instruct-GGUF"_s;
    QTest::newRow("Mixtral-8x7B") << u"mistralai__Mixtral-8x7B-v0.1"_s
                                  << u"mradermacher__Mixtral-8x7B-v0.1-GGUF"_s;
}

void ForgedTest::derivesTheSameGguf()
{
    QFETCH(const QString, source);
    QFETCH(const QString, published);
    const Result<CheckpointPtr> read = readPath(expand(s(source)));
    QVERIFY(read);
    const Result<Checkpoint> derived = deriveGguf(**read, "Q4_K_M");
    QVERIFY2(derived, derived ? "" : derived.error().id.c_str());
    const Json expected =
        readJson(m_oracle / "forged" / s(published) / "expected.json")["variants"]["Q4_K_M"]["components"];
    Differences differences;
    for (const auto &[id, wanted] : expected.items()) {
        if (id == "other")
            continue; // rope_freqs: the converter makes it, no weight stands behind it
        const ComponentSum *sum = derived->sum(componentFromId(id).value());
        differences.compare(component(id, "bytes"), sum == nullptr ? 0 : sum->bytes,
                            wanted["resident_bytes"]);
        differences.compare(component(id, "parameters"), sum == nullptr ? 0 : sum->parameters,
                            wanted["parameters"]);
        differences.compare(component(id, "dtypes"),
                            sum == nullptr ? Json::object() : Json(sum->bytesByDtype), wanted["dtypes"]);
    }
    QVERIFY2(differences.isEmpty(), differences.text().constData());
}

QTEST_GUILESS_MAIN(ForgedTest)
#include "tst_forged.moc"

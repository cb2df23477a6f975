// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/machine/engine.h"
#include "models/machine/machine.h"
#include "models/measure/measurement.h"
#include "tests/support/jsonschema.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace weir;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const fs::path data = WEIR_SOURCE_DATA_DIR;

QString q(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

Json readJson(const fs::path &file)
{
    std::ifstream stream(file);
    return Json::parse(stream, nullptr, false);
}

/// The text argument of that name, numbers as text; empty if there is none.
QString argument(const MessageArguments &arguments, std::string_view name)
{
    for (const auto &[key, value] : arguments) {
        if (key == name) {
            if (const auto *text = std::get_if<std::string>(&value)) {
                return q(*text);
            }
            if (const auto *number = std::get_if<std::uint64_t>(&value)) {
                return QString::number(*number);
            }
        }
    }
    return {};
}

template <typename T>
const T *byId(const std::vector<T> &items, std::string_view id)
{
    const auto found = std::ranges::find(items, id, &T::id);
    return found == items.end() ? nullptr : &*found;
}

std::vector<Machine> shippedMachines()
{
    return readMachines(data / "machines.json").value_or(std::vector<Machine>{});
}
std::vector<Engine> shippedEngines()
{
    return readEngines(data / "engines.json").value_or(std::vector<Engine>{});
}

Checkpoint checkpointOf(Format format, std::string quantization, Source source = Source::Folder)
{
    Checkpoint checkpoint;
    checkpoint.format = format;
    checkpoint.quantization = std::move(quantization);
    checkpoint.source = source;
    return checkpoint;
}

} // namespace

class DataTest : public QObject
{
    Q_OBJECT

private slots:
    void keepsToItsSchema_data();
    void keepsToItsSchema();
    void everyFigureHasItsSource();
    void dgxSpark();
    void issueMachinesAreThere();
    void enginesAreThere();
    void speedOfKnownMachines();
    void measurementsReferToKnownThings();
    void foundingFigures();
    void reserve();
    void loading_data();
    void loading();
    void automatic();
    void bestSpeedRow();
    void badMachines_data();
    void badMachines();
    void badEngines_data();
    void badEngines();
    void missingFile();
    void recordForms();
    void recordColumns();
    void badRecords_data();
    void badRecords();
    void depthAndPlainDecode();

private:
    fs::path write(const std::string &name, const std::string &text);

    QTemporaryDir m_folder;
};

fs::path DataTest::write(const std::string &name, const std::string &text)
{
    const fs::path file = fs::path(m_folder.path().toStdString()) / name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
}

void DataTest::keepsToItsSchema_data()
{
    QTest::addColumn<QString>("file");
    QTest::newRow("machines") << u"machines"_s;
    QTest::newRow("engines") << u"engines"_s;
}

void DataTest::keepsToItsSchema()
{
    QFETCH(QString, file);
    const std::string name = file.toStdString();
    const Json value = readJson(data / (name + ".json"));
    const Json schema = readJson(data / "schemas" / (name + ".schema.json"));
    QVERIFY(!value.is_discarded() && !schema.is_discarded());
    const test::JsonSchema validator(schema);
    QCOMPARE(q(validator.complaint(value)), QString());

    // The validator does complain: a member too many, a string for a number.
    Json broken = value;
    broken["more"] = 1;
    QVERIFY(!validator.complaint(broken).empty());
    broken = value;
    broken[name][0]["name"] = 1;
    QVERIFY(!validator.complaint(broken).empty());
}

void DataTest::everyFigureHasItsSource()
{
    const auto machines = readMachines(data / "machines.json");
    QVERIFY(machines);
    QVERIFY(machines->size() >= 40);
    for (const Machine &machine : *machines) {
        QVERIFY2(!machine.memorySource.empty(), machine.id.c_str());
        for (const auto &figure : {machine.usableBytes, machine.bandwidthBytesPerSecond,
                                   machine.readableBandwidthBytesPerSecond}) {
            QVERIFY2(!figure || (!figure->source.empty() && figure->value > 0), machine.id.c_str());
        }
        // Without a bandwidth no speed can be given: such a machine is of no use here.
        QVERIFY2(machine.bandwidthBytesPerSecond, machine.id.c_str());
    }
    const auto engines = readEngines(data / "engines.json");
    QVERIFY(engines);
    for (const Engine &engine : *engines) {
        QVERIFY2(!engine.source.empty() && !engine.runtimeBytes.source.empty()
                     && !engine.activationBytes.source.empty(),
                 engine.id.c_str());
        for (const SpeedConstants &row : engine.speed) {
            QVERIFY2(!row.source.empty(), engine.id.c_str());
            QVERIFY2(row.machine.empty() || byId(*machines, row.machine), row.machine.c_str());
        }
        // Every machine gets a speed: there is a default at least.
        for (const Machine &machine : *machines) {
            QVERIFY2(engine.speedFor(machine), machine.id.c_str());
        }
        for (const std::string &vendor : engine.vendors) {
            QVERIFY2(std::ranges::any_of(*machines, [&](const Machine &m) { return m.vendor == vendor; })
                         || vendor == "Intel",
                     vendor.c_str());
        }
    }
}

void DataTest::dgxSpark()
{
    const std::vector<Machine> machines = shippedMachines();
    const Machine *spark = byId(machines, "dgx-spark");
    QVERIFY(spark);
    QCOMPARE(spark->memoryKind, MemoryKind::Unified);
    QCOMPARE(spark->memoryBytes, std::uint64_t{137438953472}); // 128 GiB
    QCOMPARE(spark->usableOrNominalBytes(), std::uint64_t{130660000000}); // 121.69 GiB
    QCOMPARE(spark->bandwidthBytesPerSecond->value, 273e9);
    QVERIFY(spark->readableBandwidthBytesPerSecond->value >= 231e9);
    QVERIFY(spark->readableBandwidthBytesPerSecond->value <= 234e9);
    QCOMPARE(spark->defaultReserveBytes(), std::uint64_t{19599000000});
}

void DataTest::issueMachinesAreThere()
{
    const std::vector<Machine> machines = shippedMachines();
    for (const std::string_view id :
         {"dgx-spark", "strix-halo-128", "m3-ultra", "m4-max", "m5-max", "rtx-5090", "rtx-4090", "rtx-3090",
          "rtx-pro-6000-ws", "h100-sxm", "h100-pcie", "h200", "jetson-agx-thor"}) {
        QVERIFY2(byId(machines, id), id.data());
    }
    const Machine *card = byId(machines, "rtx-3090");
    QCOMPARE(card->memoryBytes, std::uint64_t{25769803776}); // 24 GiB
    QCOMPARE(card->bandwidthBytesPerSecond->value, 936e9);
    QVERIFY(!card->usableBytes);
    QVERIFY(!card->readableBandwidthBytesPerSecond);
    QCOMPARE(card->usableOrNominalBytes(), card->memoryBytes);
}

void DataTest::enginesAreThere()
{
    const std::vector<Engine> engines = shippedEngines();
    QCOMPARE(engines.size(), std::size_t{6});
    for (const std::string_view id : {"vllm", "llama.cpp", "ollama", "sglang", "mlx", "tensorrt-llm"}) {
        QVERIFY2(byId(engines, id), id.data());
    }
    const Engine *vllm = byId(engines, "vllm");
    QCOMPARE(vllm->formats, (std::vector{Format::Safetensors, Format::Pickle}));
    QVERIFY(!vllm->loadsIdleDraftHead);
    QCOMPARE(vllm->contextPadding, 16U);
    QCOMPARE(vllm->memoryUtilization->value, 0.92);
    QCOMPARE(q(vllm->kvDtypes.front()), u"f16"_s);
    const Engine *llama = byId(engines, "llama.cpp");
    QCOMPARE(llama->formats, std::vector{Format::Gguf});
    QVERIFY(llama->copiesTiedEmbedding);
    QVERIFY(!llama->memoryUtilization);
    QCOMPARE(llama->contextPadding, 256U);
    QCOMPARE(llama->windowBatchTokens, 512U);
    QCOMPARE(q(llama->stateDtype), u"F32"_s);
    QCOMPARE(q(llama->convolutionDtype), u"F32"_s);
}

/// Constants that stand for measurements: their time for the published bytes is near the published
/// speed. Bytes and layers of the checkpoints are written out here; the assessment makes them itself.
void DataTest::speedOfKnownMachines()
{
    const std::vector<Machine> machines = shippedMachines();
    const std::vector<Engine> engines = shippedEngines();
    const Machine *spark = byId(machines, "dgx-spark");
    QVERIFY(spark);
    struct Case
    {
        std::string_view engine;
        double bytes;
        int attention;
        int linear;
        int mamba;
        int moe;
        double published;
        double tolerance;
    };
    const Case cases[]{
        // Qwen3.5-122B-A10B int4 AutoRound at 1,616 tokens: weights, KV, state read and written.
        {"vllm", 6539361792.0 + 1616 * 24576.0 + 2 * 36 * (36864 * 2.0 + 1048576 * 4.0), 12, 36, 0, 48, 27.2,
         0.05},
        {"ollama", 4370558976.0 + 716 * 57344.0, 28, 0, 0, 0, 45.3, 0.12},
        {"ollama", 19407413248.0 + 716 * 262144.0, 64, 0, 0, 0, 10.6, 0.12},
        {"ollama", 41921528064.0 + 716 * 327680.0, 80, 0, 0, 0, 4.8, 0.12},
        {"ollama", 5754138624.0 + 716 * 24576.0 + 2 * 36 * (36864 + 1048576) * 4.0, 12, 36, 0, 48, 29.2,
         0.12},
        {"ollama", 8189415424.0 + 716 * 8192.0 + 2 * 40 * (30720 + 1048576) * 4.0, 8, 0, 40, 40, 21.4, 0.12},
        {"llama.cpp", 3594210048.0, 36, 0, 0, 36, 58.72, 0.05}, // gpt-oss-120b, empty context
        {"llama.cpp", 7513511936.0, 28, 0, 0, 0, 29.43, 0.05},  // Qwen2.5-7B Q8_0, empty context
    };
    for (const Case &c : cases) {
        const Engine *engine = byId(engines, c.engine);
        QVERIFY(engine);
        const SpeedConstants *speed = engine->speedFor(*spark);
        QVERIFY(speed);
        QCOMPARE(speed->basis, SpeedBasis::Fitted);
        QVERIFY(speed->rows >= 10);
        QVERIFY(speed->lowFactor && speed->highFactor);
        QVERIFY(*speed->lowFactor < 1 && *speed->highFactor > 1);
        const double seconds = c.bytes / (speed->efficiency * spark->bandwidthBytesPerSecond->value)
                               + speed->fixedSeconds + c.attention * speed->secondsPerAttentionLayer
                               + c.linear * speed->secondsPerLinearLayer
                               + c.mamba * speed->secondsPerMambaLayer + c.moe * speed->secondsPerMoeLayer;
        const double error = 1 / seconds / c.published - 1;
        QVERIFY2(std::abs(error) < c.tolerance,
                 qPrintable(u"%1: %2 tok/s for %3"_s.arg(q(c.engine)).arg(1 / seconds).arg(c.published)));
    }
    // No engine is said to read faster than a kernel that does nothing else.
    for (const Engine &engine : engines) {
        QVERIFY(engine.speedFor(*spark)->efficiency * 273e9 <= 234e9);
    }
}

void DataTest::measurementsReferToKnownThings()
{
    const auto rows = readMeasurements(data / "measurements.csv");
    QVERIFY(rows);
    QCOMPARE(rows->size(), std::size_t{27});
    const std::vector<Machine> machines = shippedMachines();
    const std::vector<Engine> engines = shippedEngines();
    const std::set<std::string> quantizations{"autoround", "Q4_K_M", "gptq", "int4+fp8"};
    for (const Measurement &row : *rows) {
        QVERIFY2(byId(machines, row.machine), row.machine.c_str());
        QVERIFY2(byId(engines, row.engine), row.engine.c_str());
        QVERIFY2(row.source == "founding-article-1" || row.source == "founding-articles-2",
                 row.source.c_str());
        QVERIFY(!row.checkpoint.empty());
        QVERIFY2(quantizations.contains(row.quantization), row.quantization.c_str());
        QVERIFY(row.decodeTokensPerSecond);
        QVERIFY(row.concurrency);
        QVERIFY(!row.draftMethod.empty());
        if (row.contextTokens) {
            QCOMPARE(*row.contextTokens, *row.promptTokens + *row.outputTokens / 2);
        }
        if (row.aggregateTokensPerSecond) {
            const double sum = *row.decodeTokensPerSecond * *row.concurrency;
            QVERIFY(std::abs(sum - *row.aggregateTokensPerSecond) < 0.2);
        }
    }
    QCOMPARE(std::ranges::count_if(*rows, [](const Measurement &m) { return m.isClaim; }), 1);
    QCOMPARE(std::ranges::count_if(*rows, [](const Measurement &m) { return m.nodes == 2; }), 3);
    QCOMPARE(std::ranges::count_if(*rows, &Measurement::isPlainDecode), 19);
}

void DataTest::foundingFigures()
{
    const auto rows = readMeasurements(data / "measurements.csv");
    QVERIFY(rows);
    const auto speeds = [&](std::string_view checkpoint, std::string_view engine,
                            std::optional<std::uint64_t> depth, std::string_view draft) {
        std::multiset<double> found;
        for (const Measurement &row : *rows) {
            if (row.checkpoint == checkpoint && row.engine == engine && row.contextTokens == depth
                && row.draftMethod == draft) {
                found.insert(*row.decodeTokensPerSecond);
            }
        }
        return found;
    };
    using Set = std::multiset<double>;
    constexpr std::string_view reference = "qwen3.5-122b-a10b-int4-autoround";
    QCOMPARE(speeds(reference, "vllm", 306, "none"), (Set{28.1, 28.3}));
    QCOMPARE(speeds(reference, "vllm", 716, "none"), (Set{27.7, 27.9}));
    QCOMPARE(speeds(reference, "vllm", 1616, "none"), (Set{27.1, 27.2}));
    QCOMPARE(speeds(reference, "vllm", 306, "mtp"), (Set{37.8}));
    QCOMPARE(speeds(reference, "vllm", 716, "mtp"), (Set{37.4}));
    QCOMPARE(speeds(reference, "vllm", 1616, "mtp"), (Set{34.9}));
    QCOMPARE(speeds(reference, "vllm", std::nullopt, "mtp"), (Set{36.2}));
    struct Pair
    {
        std::string_view checkpoint;
        double medium;
        double lengthy;
    };
    for (const Pair &pair : {Pair{"qwen2.5-7b-q4_k_m", 45.3, 45.2}, Pair{"qwen2.5-32b-q4_k_m", 10.6, 10.5},
                             Pair{"llama3.1-70b-q4_k_m", 4.8, 4.8}, Pair{"qwen3.5-122b-ollama", 29.2, 27.3},
                             Pair{"nemotron-3-super-ollama", 21.4, 20.2}}) {
        QCOMPARE(speeds(pair.checkpoint, "ollama", 716, "none"), Set{pair.medium});
        QCOMPARE(speeds(pair.checkpoint, "ollama", 1616, "none"), Set{pair.lengthy});
    }
    QCOMPARE(speeds("qwen2.5-7b-q4_k_m", "ollama", std::nullopt, "none"), Set{48});
    QCOMPARE(speeds("qwen3-235b-a22b-gptq-int4", "vllm", std::nullopt, "none"), (Set{9.1, 12.1, 17.0}));
}

void DataTest::reserve()
{
    Machine machine;
    machine.memoryBytes = 24ULL << 30U;
    machine.memoryKind = MemoryKind::Discrete;
    QCOMPARE(machine.defaultReserveBytes(), std::uint64_t{1000000000});
    machine.memoryKind = MemoryKind::Unified;
    QCOMPARE(machine.defaultReserveBytes(),
             std::uint64_t{3865470566}); // 15 % of 25,769,803,776, rounded down
    machine.memoryKind = MemoryKind::Cpu;
    machine.usableBytes = Sourced{199, "made up"};
    QCOMPARE(machine.usableOrNominalBytes(), std::uint64_t{199});
    QCOMPARE(machine.defaultReserveBytes(), std::uint64_t{29}); // 29.85
    machine.usableBytes.reset();
    machine.memoryBytes = ~std::uint64_t{0};
    QCOMPARE(machine.defaultReserveBytes(), std::uint64_t{2767011611056432742});
    QCOMPARE(q(memoryKindId(MemoryKind::Unified)), u"unified"_s);
    QCOMPARE(q(memoryKindId(MemoryKind::Discrete)), u"discrete"_s);
    QCOMPARE(q(memoryKindId(MemoryKind::Cpu)), u"cpu"_s);
}

void DataTest::loading_data()
{
    QTest::addColumn<QString>("engine");
    QTest::addColumn<QString>("machine");
    QTest::addColumn<int>("format");
    QTest::addColumn<QString>("quantization");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char *name, const char *engine, const char *machine, Format format,
                        const char *quantization, const char *reason) {
        QTest::newRow(name) << QString::fromLatin1(engine) << QString::fromLatin1(machine)
                            << static_cast<int>(format) << QString::fromLatin1(quantization)
                            << QString::fromLatin1(reason);
    };
    row("vllm loads safetensors", "vllm", "dgx-spark", Format::Safetensors, "autoround", "");
    row("vllm loads no gguf", "vllm", "dgx-spark", Format::Gguf, "Q4_K_M", "load.format");
    row("vllm loads no mlx", "vllm", "dgx-spark", Format::Mlx, "mlx-4bit", "load.format");
    row("vllm loads no exl2", "vllm", "rtx-4090", Format::Safetensors, "exl2", "load.quantization");
    row("vllm runs on no Mac", "vllm", "m3-ultra", Format::Safetensors, "bf16", "load.vendor");
    row("vllm runs on AMD", "vllm", "strix-halo-128", Format::Safetensors, "fp8", "");
    row("llama.cpp runs anywhere", "llama.cpp", "m3-ultra", Format::Gguf, "Q4_K_M", "");
    row("llama.cpp loads no safetensors", "llama.cpp", "dgx-spark", Format::Safetensors, "bf16",
        "load.format");
    row("llama.cpp knows no types of its fork", "llama.cpp", "dgx-spark", Format::Gguf, "IQ4_KS",
        "load.quantization");
    row("llama.cpp knows no interleaved types", "llama.cpp", "dgx-spark", Format::Gguf, "q4_k_r4",
        "load.quantization");
    row("IQ4_XS is not of the fork", "llama.cpp", "dgx-spark", Format::Gguf, "IQ4_XS", "");
    row("ollama", "ollama", "dgx-spark", Format::Gguf, "Q4_K_M", "");
    row("mlx on a Mac", "mlx", "m4-max", Format::Mlx, "mlx-4bit", "");
    row("mlx takes plain safetensors", "mlx", "m4-max", Format::Safetensors, "bf16", "");
    row("mlx takes no packed ones", "mlx", "m4-max", Format::Safetensors, "gptq", "load.quantization");
    row("mlx not on a card", "mlx", "rtx-4090", Format::Mlx, "mlx-4bit", "load.vendor");
    row("tensorrt-llm not on AMD", "tensorrt-llm", "strix-halo-128", Format::Safetensors, "bf16",
        "load.vendor");
    row("unknown format", "vllm", "dgx-spark", Format::Unknown, "", "load.format");
}

void DataTest::loading()
{
    QFETCH(QString, engine);
    QFETCH(QString, machine);
    QFETCH(int, format);
    QFETCH(QString, quantization);
    QFETCH(QString, reason);
    const std::vector<Machine> machines = shippedMachines();
    const std::vector<Engine> engines = shippedEngines();
    const Engine *e = byId(engines, engine.toStdString());
    const Machine *m = byId(machines, machine.toStdString());
    QVERIFY(e && m);
    const LoadVerdict verdict =
        canLoad(*e, checkpointOf(static_cast<Format>(format), quantization.toStdString()), *m);
    QCOMPARE(verdict.canLoad, reason.isEmpty());
    QCOMPARE(q(verdict.reason.id), reason);
    if (!reason.isEmpty()) {
        QCOMPARE(argument(verdict.reason.arguments, "engine"), q(e->name));
    }
    if (reason == "load.vendor"_L1) {
        QCOMPARE(argument(verdict.reason.arguments, "machine"), q(m->name));
        QCOMPARE(argument(verdict.reason.arguments, "vendor"), q(m->vendor));
    }
    if (reason == "load.quantization"_L1) {
        QCOMPARE(argument(verdict.reason.arguments, "quantization"), quantization);
    }
}

void DataTest::automatic()
{
    QCOMPARE(q(automaticEngine(checkpointOf(Format::Safetensors, "bf16"))), u"vllm"_s);
    QCOMPARE(q(automaticEngine(checkpointOf(Format::Gguf, "Q4_K_M"))), u"llama.cpp"_s);
    QCOMPARE(q(automaticEngine(checkpointOf(Format::Mlx, "mlx-4bit"))), u"mlx"_s);
    QCOMPARE(q(automaticEngine(checkpointOf(Format::Gguf, "Q4_K_M", Source::Ollama))), u"ollama"_s);
    Checkpoint build = checkpointOf(Format::Gguf, "Q4_K_M", Source::Catalog);
    build.revision = "ollama";
    QCOMPARE(q(automaticEngine(build)), u"ollama"_s);
    build.revision = "ollama:qwen2.5:7b";
    QCOMPARE(q(automaticEngine(build)), u"ollama"_s);
    build.revision = "main";
    QCOMPARE(q(automaticEngine(build)), u"llama.cpp"_s);
}

void DataTest::bestSpeedRow()
{
    Engine engine;
    Machine machine;
    machine.id = "box";
    machine.memoryKind = MemoryKind::Unified;
    QVERIFY(!engine.speedFor(machine));
    const auto add = [&](std::string id, std::optional<std::string> kind, SpeedBasis basis,
                         double efficiency) {
        SpeedConstants row;
        row.machine = std::move(id);
        row.memoryKind = std::move(kind);
        row.basis = basis;
        row.efficiency = efficiency;
        engine.speed.push_back(row);
    };
    add("", std::nullopt, SpeedBasis::Default, 0.1);
    QCOMPARE(engine.speedFor(machine)->efficiency, 0.1);
    add("", "discrete", SpeedBasis::Class, 0.2);
    QCOMPARE(engine.speedFor(machine)->efficiency, 0.1);
    add("", "unified", SpeedBasis::Class, 0.3);
    QCOMPARE(engine.speedFor(machine)->efficiency, 0.3);
    add("other", std::nullopt, SpeedBasis::Fitted, 0.4);
    QCOMPARE(engine.speedFor(machine)->efficiency, 0.3);
    add("box", std::nullopt, SpeedBasis::Fitted, 0.5);
    QCOMPARE(engine.speedFor(machine)->efficiency, 0.5);
    add("box", std::nullopt, SpeedBasis::Own, 0.6);
    add("box", std::nullopt, SpeedBasis::Fitted, 0.7);
    QCOMPARE(engine.speedFor(machine)->efficiency, 0.6);
    QCOMPARE(q(speedBasisId(SpeedBasis::Own)), u"own"_s);
    QCOMPARE(q(speedBasisId(SpeedBasis::Fitted)), u"fitted"_s);
    QCOMPARE(q(speedBasisId(SpeedBasis::Class)), u"class"_s);
    QCOMPARE(q(speedBasisId(SpeedBasis::Default)), u"default"_s);
}

void DataTest::badMachines_data()
{
    QTest::addColumn<QString>("patch"); // JSON merge patch on the first machine
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("field");
    const auto row = [](const char *name, const char *patch, const char *id, const char *field) {
        QTest::newRow(name) << QString::fromUtf8(patch) << QString::fromUtf8(id) << QString::fromUtf8(field);
    };
    row("unknown key", R"({"colour": "green"})", "data.machines.unknown-field", "colour");
    row("missing name", R"({"name": null})", "data.machines.missing-field", "name");
    row("name is a number", R"({"name": 7})", "data.machines.bad-type", "name");
    row("empty name", R"({"name": ""})", "data.machines.bad-value", "name");
    row("capitals in the id", R"({"id": "DGX"})", "data.machines.bad-value", "id");
    row("unknown kind of memory", R"({"memory_kind": "fast"})", "data.machines.bad-value", "memory_kind");
    row("memory below zero", R"({"memory": {"bytes": -1}})", "data.machines.bad-value", "bytes");
    row("memory of 12 bytes", R"({"memory": {"bytes": 12}})", "data.machines.bad-value", "bytes");
    row("memory of an exabyte", R"({"memory": {"bytes": 1152921504606846976}})", "data.machines.bad-value",
        "bytes");
    row("memory beyond 64 bits", R"({"memory": {"bytes": 1e300}})", "data.machines.bad-type", "bytes");
    row("half a byte", R"({"memory": {"bytes": 137438953472.5}})", "data.machines.bad-type", "bytes");
    row("memory without source", R"({"memory": {"source": ""}})", "data.machines.bad-value", "source");
    row("memory as a number", R"({"memory": 137438953472})", "data.machines.bad-type", "");
    row("stray key in a figure", R"({"memory": {"unit": "GiB"}})", "data.machines.unknown-field", "unit");
    row("more usable than there is", R"({"usable": {"bytes": 137438953473, "source": "x"}})",
        "data.machines.bad-value", "usable");
    row("bandwidth in GB/s", R"({"bandwidth": {"bytes_per_second": 273}})", "data.machines.bad-value",
        "bytes_per_second");
    row("readable above the datasheet", R"({"readable_bandwidth": {"bytes_per_second": 274e9}})",
        "data.machines.bad-value", "readable_bandwidth");
}

void DataTest::badMachines()
{
    QFETCH(QString, patch);
    QFETCH(QString, id);
    QFETCH(QString, field);
    Json file = readJson(data / "machines.json");
    Json first = file["machines"][0];
    first.merge_patch(Json::parse(patch.toStdString()));
    file["machines"] = Json::array({first});
    const fs::path path = write("machines.json", file.dump());
    const auto result = readMachines(path);
    QVERIFY(!result);
    QCOMPARE(q(result.error().id), id);
    QCOMPARE(q(result.error().subject), q(path.string()));
    QCOMPARE(argument(result.error().arguments, "field"), field);
    QVERIFY(!argument(result.error().arguments, "entry").isEmpty());
}

void DataTest::badEngines_data()
{
    QTest::addColumn<QString>("patch"); // on the first engine; "speed" below on its first speed row
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("field");
    const auto row = [](const char *name, const char *patch, const char *id, const char *field) {
        QTest::newRow(name) << QString::fromUtf8(patch) << QString::fromUtf8(id) << QString::fromUtf8(field);
    };
    row("unknown key", R"({"loads": true})", "data.engines.unknown-field", "loads");
    row("missing flag", R"({"copies_tied_embedding": null})", "data.engines.missing-field",
        "copies_tied_embedding");
    row("flag is a text", R"({"copies_tied_embedding": "yes"})", "data.engines.bad-type",
        "copies_tied_embedding");
    row("unknown format", R"({"formats": ["safetensors", "onnx"]})", "data.engines.bad-value", "formats");
    row("no format", R"({"formats": []})", "data.engines.bad-value", "formats");
    row("formats is a text", R"({"formats": "gguf"})", "data.engines.bad-type", "formats");
    row("vendors holds a number", R"({"vendors": [1]})", "data.engines.bad-type", "vendors");
    row("padding of zero", R"({"context_padding": 0})", "data.engines.bad-value", "context_padding");
    row("buffers below zero", R"({"runtime": {"bytes": -5}})", "data.engines.bad-value", "bytes");
    row("more than all memory", R"({"memory_utilization": {"share": 1.5}})", "data.engines.bad-value",
        "share");
    row("a source missing", R"({"sources": {"vendors": null}})", "data.engines.missing-field", "vendors");
    row("a source too many", R"({"sources": {"speed": "x"}})", "data.engines.unknown-field", "speed");
    row("efficiency in percent", R"({"speed": {"efficiency": 85}})", "data.engines.bad-value", "efficiency");
    row("milliseconds", R"({"speed": {"fixed_seconds": 3.5}})", "data.engines.bad-value", "fixed_seconds");
    row("time below zero", R"({"speed": {"seconds_per_moe_layer": -1e-6}})", "data.engines.bad-value",
        "seconds_per_moe_layer");
    row("fitted to nothing", R"({"speed": {"rows": 0}})", "data.engines.bad-value", "basis");
    row("machine and class", R"({"speed": {"memory_kind": "unified"}})", "data.engines.bad-value", "machine");
    row("unknown basis", R"({"speed": {"basis": "guessed"}})", "data.engines.bad-value", "basis");
    row("default for a machine", R"({"speed": {"basis": "default"}})", "data.engines.bad-value", "basis");
    row("half a band", R"({"speed": {"low_factor": "null"}})", "data.engines.bad-type", "low_factor");
    row("band upside down", R"({"speed": {"low_factor": 2}})", "data.engines.bad-value", "low_factor");
}

void DataTest::badEngines()
{
    QFETCH(QString, patch);
    QFETCH(QString, id);
    QFETCH(QString, field);
    Json file = readJson(data / "engines.json");
    Json first = file["engines"][0];
    Json change = Json::parse(patch.toStdString());
    if (change.contains("speed")) {
        first["speed"][0].merge_patch(change["speed"]);
        change.erase("speed");
    }
    first.merge_patch(change);
    file["engines"] = Json::array({first});
    const auto result = readEngines(write("engines.json", file.dump()));
    QVERIFY(!result);
    QCOMPARE(q(result.error().id), id);
    QCOMPARE(argument(result.error().arguments, "field"), field);
    QVERIFY(argument(result.error().arguments, "entry").startsWith("vllm"_L1));
}

void DataTest::missingFile()
{
    const auto idOf = [](const auto &result) { return result ? QString() : q(result.error().id); };
    const fs::path nowhere = data / "nowhere.json";
    QCOMPARE(idOf(readMachines(nowhere)), u"data.machines.not-found"_s);
    QCOMPARE(idOf(readEngines(data)), u"data.engines.not-found"_s); // a folder
    QCOMPARE(readMachines(nowhere).error().kind, ErrorKind::NotFound);
    QCOMPARE(idOf(readMeasurements(nowhere)), u"data.measurements.not-found"_s);

    QCOMPARE(idOf(readMachines(write("a.json", ""))), u"data.machines.not-json"_s);
    QCOMPARE(idOf(readMachines(write("a.json", "<html>"))), u"data.machines.not-json"_s);
    QCOMPARE(idOf(readMachines(write("a.json", "[]"))), u"data.machines.bad-type"_s);
    QCOMPARE(idOf(readMachines(write("a.json", R"({"schema": "weir.machines/1"})"))),
             u"data.machines.missing-field"_s);
    QCOMPARE(idOf(readMachines(write("a.json", R"({"schema": "weir.engines/1", "machines": []})"))),
             u"data.machines.bad-value"_s);
    QCOMPARE(idOf(readMachines(write("a.json", R"({"schema": "weir.machines/1", "machines": [1]})"))),
             u"data.machines.bad-type"_s);
    QCOMPARE(
        idOf(readMachines(write("a.json", R"({"schema": "weir.machines/1", "schema": "", "machines": []})"))),
        u"data.machines.repeated-field"_s);
    QVERIFY(readMachines(write("a.json", R"({"schema": "weir.machines/1", "machines": []})")));
    QCOMPARE(idOf(readEngines(write("a.json", R"({"schema": "weir.engines/1", "engines": {}})"))),
             u"data.engines.bad-type"_s);

    Json twice = readJson(data / "machines.json");
    twice["machines"].push_back(twice["machines"][0]);
    const auto machines = readMachines(write("a.json", twice.dump()));
    QCOMPARE(idOf(machines), u"data.machines.repeated-id"_s);
    QCOMPARE(argument(machines.error().arguments, "entry"), u"dgx-spark"_s);
    twice = readJson(data / "engines.json");
    twice["engines"].push_back(twice["engines"][0]);
    QCOMPARE(idOf(readEngines(write("a.json", twice.dump()))), u"data.engines.repeated-id"_s);
    twice = readJson(data / "engines.json");
    twice["engines"][0]["speed"].push_back(twice["engines"][0]["speed"][0]);
    QCOMPARE(idOf(readEngines(write("a.json", twice.dump()))), u"data.engines.repeated-id"_s);

    // Deep nesting must not bring the reader down.
    QCOMPARE(idOf(readMachines(write("a.json", std::string(200000, '[')))), u"data.machines.not-json"_s);
}

void DataTest::recordForms()
{
    // A byte order mark, CR LF, quotes with commas, quotes and line breaks inside, an empty line, and no
    // line end after the last record.
    const auto rows = readMeasurements(write("m.csv", "\xEF\xBB\xBFmachine,note,decode_tok_s\r\n"
                                                      "dgx-spark,\"a, b\",27.2\r\n"
                                                      "\r\n"
                                                      "m3-max,\"first line\r\nsecond \"\"quoted\"\"\",1e1\r\n"
                                                      "rtx-4090,,.5"));
    QVERIFY(rows);
    QCOMPARE(rows->size(), std::size_t{3});
    QCOMPARE(q(rows->at(0).machine), u"dgx-spark"_s);
    QCOMPARE(q(rows->at(0).note), u"a, b"_s);
    QCOMPARE(*rows->at(0).decodeTokensPerSecond, 27.2);
    QCOMPARE(q(rows->at(1).note), u"first line\r\nsecond \"quoted\""_s);
    QCOMPARE(*rows->at(1).decodeTokensPerSecond, 10.0);
    QCOMPARE(q(rows->at(2).note), QString());
    QCOMPARE(*rows->at(2).decodeTokensPerSecond, 0.5);

    // Line ends of LF and CR alone; a header and no record.
    QCOMPARE(readMeasurements(write("m.csv", "machine\na\nb\n"))->size(), std::size_t{2});
    QCOMPARE(readMeasurements(write("m.csv", "machine\ra\rb\r"))->size(), std::size_t{2});
    QCOMPARE(readMeasurements(write("m.csv", "machine\n"))->size(), std::size_t{0});
    QCOMPARE(readMeasurements(write("m.csv", "machine"))->size(), std::size_t{0});
}

void DataTest::recordColumns()
{
    // In any order, unknown ones ignored, missing ones empty, short records padded.
    const auto rows = readMeasurements(
        write("m.csv", " decode_tok_s ,confidence,machine,nodes,kind,prompt_tokens,output_tokens,concurrency,"
                       "ttft_s\n"
                       " 4.8 ,sure,dgx-spark,2,claim,1360,511,4,0\n"
                       ",nonsense \xC3\xA9,x\n"));
    QVERIFY(rows);
    QCOMPARE(rows->size(), std::size_t{2});
    const Measurement &first = rows->front();
    QCOMPARE(*first.decodeTokensPerSecond, 4.8);
    QCOMPARE(q(first.machine), u"dgx-spark"_s);
    QCOMPARE(first.nodes, 2U);
    QVERIFY(first.isClaim);
    QCOMPARE(*first.concurrency, 4U);
    QCOMPARE(*first.secondsToFirstToken, 0.0);
    QCOMPARE(*first.depthTokens(), std::uint64_t{1615});
    const Measurement &second = rows->back();
    QVERIFY(!second.decodeTokensPerSecond && !second.concurrency && !second.promptTokens && !second.isClaim);
    QCOMPARE(second.nodes, 1U);
    QVERIFY(!second.depthTokens());
}

void DataTest::badRecords_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("column");
    const auto row = [](const char *name, const char *text, const char *id, const char *line,
                        const char *column) {
        QTest::newRow(name) << QByteArray(text) << QString::fromLatin1(id) << QString::fromLatin1(line)
                            << QString::fromLatin1(column);
    };
    row("empty file", "", "data.measurements.empty", "", "");
    row("only empty lines", "\n\r\n\n", "data.measurements.empty", "", "");
    row("a web page", "<html>\n<body>\n", "data.measurements.no-known-column", "1", "");
    row("column twice", "machine,nodes,machine\n", "data.measurements.repeated-column", "1", "machine");
    row("a word", "machine,decode_tok_s\na,1\nb,fast\n", "data.measurements.bad-number", "3", "decode_tok_s");
    row("a unit", "decode_tok_s\n27.2 tok/s\n", "data.measurements.bad-number", "2", "decode_tok_s");
    row("decimal comma", "decode_tok_s,note\n\"27,2\",\n", "data.measurements.bad-number", "2",
        "decode_tok_s");
    row("below zero", "decode_tok_s\n-1\n", "data.measurements.bad-number", "2", "decode_tok_s");
    row("zero", "decode_tok_s\n0\n", "data.measurements.bad-number", "2", "decode_tok_s");
    row("infinite", "decode_tok_s\ninf\n", "data.measurements.bad-number", "2", "decode_tok_s");
    row("not a number", "prefill_tok_s\nnan\n", "data.measurements.bad-number", "2", "prefill_tok_s");
    row("too large", "aggregate_tok_s\n1e300\n", "data.measurements.bad-number", "2", "aggregate_tok_s");
    row("half a token", "prompt_tokens\n1.5\n", "data.measurements.bad-number", "2", "prompt_tokens");
    row("tokens below zero", "context_tokens\n-4096\n", "data.measurements.bad-number", "2",
        "context_tokens");
    row("tokens beyond 64 bits", "output_tokens\n18446744073709551616\n", "data.measurements.bad-number", "2",
        "output_tokens");
    row("no streams", "concurrency\n0\n", "data.measurements.bad-number", "2", "concurrency");
    row("no machines", "nodes\n0\n", "data.measurements.bad-number", "2", "nodes");
    row("unknown kind", "kind\nguess\n", "data.measurements.bad-value", "2", "kind");
    row("a field too many", "machine,nodes\na,1\nb,1,2\n", "data.measurements.too-many-fields", "3", "");
    row("quote not closed", "machine,note\na,\"b\nc,d\n", "data.measurements.bad-quote", "2", "");
    row("text after a quote", "machine,note\na,\"b\"c\n", "data.measurements.bad-quote", "2", "");
    row("quote inside a field", "machine,note\na,b \"c\"\n", "data.measurements.bad-quote", "2", "");
    // The line is that of the file, also after records of several lines.
    row("line numbers", "note,nodes\n\"1\n2\n3\",1\n\nx,no\n", "data.measurements.bad-number", "6", "nodes");
}

void DataTest::badRecords()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, id);
    QFETCH(QString, line);
    QFETCH(QString, column);
    const auto result = readMeasurements(write("m.csv", text.toStdString()));
    QVERIFY(!result);
    QCOMPARE(q(result.error().id), id);
    QCOMPARE(result.error().kind, ErrorKind::Unreadable);
    QCOMPARE(argument(result.error().arguments, "line"), line);
    QCOMPARE(argument(result.error().arguments, "column"), column);
}

void DataTest::depthAndPlainDecode()
{
    Measurement row;
    QVERIFY(!row.depthTokens());
    row.promptTokens = 1360;
    QVERIFY(!row.depthTokens());
    row.outputTokens = 512;
    QCOMPARE(*row.depthTokens(), std::uint64_t{1616});
    row.contextTokens = 7;
    QCOMPARE(*row.depthTokens(), std::uint64_t{7});

    QVERIFY(!row.isPlainDecode()); // no speed
    row.decodeTokensPerSecond = 27.2;
    QVERIFY(row.isPlainDecode());
    const auto with = [&](auto change) {
        Measurement changed = row;
        change(changed);
        return changed.isPlainDecode();
    };
    QVERIFY(!with([](Measurement &m) { m.nodes = 2; }));
    QVERIFY(!with([](Measurement &m) { m.concurrency = 2; }));
    QVERIFY(with([](Measurement &m) { m.concurrency = 1; }));
    QVERIFY(!with([](Measurement &m) { m.draftMethod = "mtp"; }));
    QVERIFY(with([](Measurement &m) { m.draftMethod = "none"; }));
    QVERIFY(!with([](Measurement &m) { m.draftTokens = 2; }));
    QVERIFY(!with([](Measurement &m) { m.tokensPerStep = 2.5; }));
    QVERIFY(with([](Measurement &m) { m.tokensPerStep = 1; }));
}

QTEST_GUILESS_MAIN(DataTest)
#include "tst_data.moc"

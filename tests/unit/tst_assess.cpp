// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/saturating.h"
#include "models/decode/assessment.h"
#include "models/decode/cachebytes.h"
#include "models/decode/memoryfit.h"
#include "models/decode/stepspeed.h"
#include "models/decode/streamed.h"
#include "models/measure/measurement.h"
#include "models/sources/catalog.h"
#include "tests/support/testsupport.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

const fs::path data = fs::path(WEIR_SOURCE_DIR) / "data";

constexpr ElementSize sixteenBit{2, 1};

struct Shipped
{
    std::vector<Machine> machines = readMachines(data / "machines.json").value();
    std::vector<Engine> engines = readEngines(data / "engines.json").value();
    Catalog catalog = Catalog::open(data / "catalog").value();

    const Machine &machine(std::string_view id) const
    {
        return *std::ranges::find(machines, id, &Machine::id);
    }
    const Engine &engine(std::string_view id) const { return *std::ranges::find(engines, id, &Engine::id); }
    CheckpointPtr checkpoint(std::string_view id) const { return catalog.load(*catalog.find(id)).value(); }
};

const Shipped &shipped()
{
    static const Shipped all;
    return all;
}

void add(Checkpoint &checkpoint, Component component, std::uint64_t bytes, std::uint64_t parameters = 0,
         Role role = Role::Unspecified, bool listed = true)
{
    TensorGroup group;
    group.component = component;
    group.role = role;
    group.dtype = "BF16";
    group.count = 1;
    group.bytes = bytes;
    group.parameters = parameters;
    group.listed = listed;
    checkpoint.groups.push_back(group);
}

/// A mixture of experts with every component, of round sizes.
Checkpoint everything()
{
    Checkpoint checkpoint;
    checkpoint.format = Format::Safetensors;
    checkpoint.quantization = "bf16";
    checkpoint.spec.experts = 8;
    checkpoint.spec.expertsPerToken = 2;
    checkpoint.spec.moeLayers = 5;
    checkpoint.spec.maxContextTokens = 1000;
    checkpoint.spec.dtype = "BF16";
    checkpoint.spec.stateDtype = "F32";
    checkpoint.spec.attention = {{LayerKind::Attention, 2, 8, 8, 1, 0, {}, {}},
                                 {LayerKind::SlidingAttention, 3, 8, 8, 1, 0, 100, {}},
                                 {LayerKind::Mla, 1, 4, 0, 0, 0, {}, {}}};
    checkpoint.spec.state = {{LayerKind::GatedDeltaNet, 3, 10, 20}, {LayerKind::Mamba, 2, 6, 30}};
    add(checkpoint, Component::RoutedExperts, 8001, 4000);
    add(checkpoint, Component::SharedExpert, 100, 50);
    add(checkpoint, Component::DenseMlp, 200, 100);
    add(checkpoint, Component::Attention, 300, 150);
    add(checkpoint, Component::LinearAttention, 400, 200);
    add(checkpoint, Component::Router, 50, 25);
    add(checkpoint, Component::EmbedTokens, 600, 300);
    add(checkpoint, Component::LookupTables, 700, 350);
    add(checkpoint, Component::LmHead, 620, 310);
    add(checkpoint, Component::Mtp, 900, 450, Role::Unspecified, false);
    add(checkpoint, Component::Vision, 1000, 500);
    add(checkpoint, Component::Audio, 1100, 550);
    add(checkpoint, Component::Norm, 10, 5);
    add(checkpoint, Component::Other, 30, 15);
    finish(checkpoint);
    return checkpoint;
}

/// Without a draft head, towers, windows and state: what the fit formulas are easiest to follow on.
Checkpoint plain(std::uint64_t weightBytes, std::uint64_t maxContext)
{
    Checkpoint checkpoint;
    checkpoint.format = Format::Safetensors;
    checkpoint.quantization = "bf16";
    checkpoint.spec.maxContextTokens = maxContext;
    checkpoint.spec.attention = {{LayerKind::Attention, 2, 8, 8, 1, 0, {}, {}}}; // 64 bytes per token
    add(checkpoint, Component::Attention, weightBytes);
    finish(checkpoint);
    return checkpoint;
}

Machine machineOf(std::uint64_t usable, double bandwidth)
{
    Machine machine;
    machine.id = "box";
    machine.vendor = "NVIDIA";
    machine.memoryKind = MemoryKind::Discrete;
    machine.memoryBytes = usable;
    machine.usableBytes = Sourced{static_cast<double>(usable), "test"};
    machine.bandwidthBytesPerSecond = Sourced{bandwidth, "test"};
    return machine;
}

Engine engineOf()
{
    Engine engine;
    engine.id = "engine";
    engine.name = "Engine";
    engine.formats = {Format::Safetensors};
    engine.kvDtypes = {"f16"};
    engine.speed = {{}};
    engine.speed.front().efficiency = 0.5;
    return engine;
}

Workload workloadOf(std::uint64_t context, std::uint32_t concurrency = 1, std::uint64_t reserve = 0)
{
    Workload workload;
    workload.contextTokens = context;
    workload.concurrency = concurrency;
    workload.reserveBytes = reserve;
    return workload;
}

bool near(double found, double expected, double relative = 1e-12)
{
    return std::abs(found - expected) <= relative * std::abs(expected);
}

bool holds(const std::vector<Message> &messages, std::string_view id)
{
    return std::ranges::find(messages, id, &Message::id) != messages.end();
}

double speedOf(std::string_view id, std::string_view engine, std::uint64_t context)
{
    const Shipped &all = shipped();
    const Assessment assessment =
        assess(all.checkpoint(id), all.machine("dgx-spark"), all.engine(engine), workloadOf(context));
    return assessment.decode ? assessment.decode->tokensPerSecond : 0;
}

} // namespace

class AssessTest : public QObject
{
    Q_OBJECT

private slots:
    // weights
    void streamedByComponent_data();
    void streamedByComponent();
    void tiedHeadReadsTheTable();
    void unseenBytesAreNotRead();
    void unknownExpertCountReadsAll();
    void distinctExpertsOfTheTable_data();
    void distinctExpertsOfTheTable();
    void severalSequencesShareWeights();
    // cache and state
    void elementSizes_data();
    void elementSizes();
    void cacheHeld_data();
    void cacheHeld();
    void cacheRead();
    void sparseAttention();
    void growthPerToken();
    void state_data();
    void state();
    void catalogCaches_data();
    void catalogCaches();
    // memory
    void loadedWeights();
    void memoryTotal();
    void reserveByDefault();
    void largestContextIsExact_data();
    void largestContextIsExact();
    void largestConcurrencyIsExact();
    void modelLimitsTheContext();
    void weightsAloneDoNotFit();
    void budgetOfVllm();
    // speed
    void speedTermByTerm();
    void fixedCostByLayerKind();
    void bandNeedsRows();
    void noSpeedWithoutBandwidth();
    void noSpeedWhereItCannotLoad();
    void boundByOverhead();
    // the whole
    void componentsAndReasons();
    void warnings();
    void monotone();
    void absurdSizesSaturate();
    void neverAboveTheDatasheet();
    void quickEnough();
    // what issue 2 asks for
    void referenceSpeed();
    void bandwidthWall();
    void publishedSpeeds_data();
    void publishedSpeeds();
};

void AssessTest::streamedByComponent_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<quint64>("bytes");
    QTest::addColumn<quint64>("parameters");
    const auto row = [](const char *id, quint64 bytes, quint64 parameters) {
        QTest::newRow(id) << q(id) << bytes << parameters;
    };
    row("routed_experts", 2000, 1000); // 8001 * 2 / 8, rounded down
    row("shared_expert", 100, 50);
    row("dense_mlp", 200, 100);
    row("attention", 300, 150);
    row("linear_attention", 400, 200);
    row("router", 50, 25);
    row("embed_tokens", 0, 0);
    row("lookup_tables", 0, 0);
    row("lm_head", 620, 310);
    row("mtp", 0, 0);
    row("vision", 0, 0);
    row("audio", 0, 0);
    row("norm", 10, 5);
    row("other", 30, 15);
}

void AssessTest::streamedByComponent()
{
    QFETCH(const QString, id);
    QFETCH(const quint64, bytes);
    QFETCH(const quint64, parameters);
    const Checkpoint checkpoint = everything();
    const Component component = componentFromId(s(id)).value();
    QCOMPARE(quint64{streamedBytes(checkpoint, component)}, bytes);
    QCOMPARE(quint64{streamedParameters(checkpoint, component)}, parameters);
}

void AssessTest::tiedHeadReadsTheTable()
{
    Checkpoint checkpoint;
    add(checkpoint, Component::EmbedTokens, 600, 300);
    checkpoint.spec.tiedEmbeddings = true;
    finish(checkpoint);
    QCOMPARE(streamedBytes(checkpoint, Component::EmbedTokens), 0U);
    QCOMPARE(streamedBytes(checkpoint, Component::LmHead), 600U);
    QCOMPARE(streamedParameters(checkpoint, Component::LmHead), 300U);
    QCOMPARE(streamedWeightBytes(checkpoint, 1), 600U);

    const Assessment assessment =
        assess(std::make_shared<const Checkpoint>(checkpoint), machineOf(10'000, 1e9), engineOf(), {});
    QCOMPARE(assessment.components.size(), 2U);
    QCOMPARE(assessment.components[1].component, Component::LmHead);
    QCOMPARE(assessment.components[1].residentBytes, 0U);
    QCOMPARE(assessment.components[1].streamedBytes, 600U);
    QCOMPARE(assessment.residentBytes, 600U);
    QCOMPARE(q(assessment.components[1].reason.id), u"reason.head-tied"_s);
}

void AssessTest::unseenBytesAreNotRead()
{
    Checkpoint checkpoint;
    add(checkpoint, Component::Other, 40, 20);
    add(checkpoint, Component::Other, 1000, 0, Role::UnseenRemainder);
    finish(checkpoint);
    QCOMPARE(checkpoint.weightBytes(), 1040U);
    QCOMPARE(streamedBytes(checkpoint, Component::Other), 40U);
}

void AssessTest::unknownExpertCountReadsAll()
{
    Checkpoint checkpoint = everything();
    checkpoint.spec.experts = 0;
    checkpoint.spec.expertsPerToken = 0;
    QCOMPARE(streamedBytes(checkpoint, Component::RoutedExperts), 8001U);
    QCOMPARE(streamedWeightBytes(checkpoint, 4), 8001U + 100 + 200 + 300 + 400 + 50 + 620 + 10 + 30);
    QCOMPARE(distinctExperts(0, 0, 5), 0.0);
}

void AssessTest::distinctExpertsOfTheTable_data()
{
    QTest::addColumn<int>("experts");
    QTest::addColumn<int>("active");
    QTest::addColumn<QList<double>>("expected");
    QTest::newRow("128/4") << 128 << 4 << QList<double>{4, 7.9, 11.6, 15.3, 18.8, 28.7, 51.0, 81.7};
    QTest::newRow("128/8") << 128 << 8 << QList<double>{8, 15.5, 22.5, 29.1, 35.3, 51.6, 82.4, 111.8};
    QTest::newRow("256/8") << 256 << 8 << QList<double>{8, 15.8, 23.3, 30.5, 37.6, 57.4, 102.0, 163.3};
    QTest::newRow("512/22") << 512 << 22 << QList<double>{22, 43.1, 63.2, 82.5, 100.9, 151.7, 258.4, 386.4};
    QTest::newRow("32/4") << 32 << 4 << QList<double>{4, 7.5, 10.6, 13.2, 15.6, 21.0, 28.2, 31.6};
    QTest::newRow("8/2") << 8 << 2 << QList<double>{2, 3.5, 4.6, 5.5, 6.1, 7.2, 7.9, 8};
}

void AssessTest::distinctExpertsOfTheTable()
{
    QFETCH(const int, experts);
    QFETCH(const int, active);
    QFETCH(const QList<double>, expected);
    constexpr std::array positions{1U, 2U, 3U, 4U, 5U, 8U, 16U, 32U};
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const double found = distinctExperts(static_cast<std::uint32_t>(experts),
                                             static_cast<std::uint32_t>(active), positions.at(i));
        QVERIFY2(std::abs(found - expected[static_cast<qsizetype>(i)]) <= 0.0501,
                 qPrintable(u"n = %1: %2"_s.arg(positions.at(i)).arg(found)));
    }
}

void AssessTest::severalSequencesShareWeights()
{
    const Checkpoint checkpoint = everything();
    const std::uint64_t rest = 100 + 200 + 300 + 400 + 50 + 620 + 10 + 30;
    QCOMPARE(streamedWeightBytes(checkpoint, 1), 2000 + rest);
    // 1 - (1 - 2/8)^2 = 0.4375 of 8001 bytes
    QCOMPARE(streamedWeightBytes(checkpoint, 2), 3500 + rest);
    QCOMPARE(streamedWeightBytes(checkpoint, 1000), 8001 + rest);
}

void AssessTest::elementSizes_data()
{
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<double>("bytes");
    const auto row = [](const char *dtype, double bytes) { QTest::newRow(dtype) << q(dtype) << bytes; };
    row("f16", 2);
    row("bf16", 2);
    row("auto", 2);
    row("f32", 4);
    row("fp8", 1);
    row("fp8_e4m3", 1);
    row("fp8_e5m2", 1);
    row("q8_0", 1.0625);
    row("q5_1", 0.75);
    row("q5_0", 0.6875);
    row("q4_1", 0.625);
    row("q4_0", 0.5625);
    row("iq4_nl", 0.5625);
    row("nvfp4", 0.5625);
}

void AssessTest::elementSizes()
{
    QFETCH(const QString, dtype);
    QFETCH(const double, bytes);
    const auto size = kvElementSize(s(dtype));
    QVERIFY(size.has_value());
    QCOMPARE(static_cast<double>(size->bytes) / static_cast<double>(size->elements), bytes);
    QVERIFY(!kvElementSize("").has_value());
    QVERIFY(!kvElementSize("F16").has_value());
    QVERIFY(!kvElementSize("q8_0 ").has_value());
    // A head of 128: whole blocks, so nothing is rounded.
    ModelSpec spec;
    spec.attention = {{LayerKind::Attention, 3, 1024, 1024, 8, 0, {}, {}}};
    QCOMPARE(static_cast<double>(kvBytesRead(spec, 100, *size, *size)), bytes * 2048 * 3 * 100);
}

void AssessTest::cacheHeld_data()
{
    QTest::addColumn<quint64>("context");
    QTest::addColumn<quint64>("padding");
    QTest::addColumn<quint64>("extra");
    QTest::addColumn<quint64>("bytes");
    // 64 bytes per token in two full layers, 96 in three with a window of 100.
    QTest::newRow("empty") << quint64{0} << quint64{1} << quint64{0} << quint64{0};
    QTest::newRow("within the window") << quint64{40} << quint64{1} << quint64{0} << quint64{160 * 40};
    QTest::newRow("beyond the window")
        << quint64{150} << quint64{1} << quint64{0} << quint64{64 * 150 + 96 * 100};
    QTest::newRow("window of a batch more")
        << quint64{150} << quint64{1} << quint64{20} << quint64{64 * 150 + 96 * 120};
    QTest::newRow("padded") << quint64{150} << quint64{256} << quint64{512} << quint64{160 * 256};
    QTest::newRow("padded, deep") << quint64{1000} << quint64{256} << quint64{512}
                                  << quint64{64 * 1024 + 96 * 768};
    QTest::newRow("padded to itself")
        << quint64{512} << quint64{256} << quint64{0} << quint64{64 * 512 + 96 * 256};
}

void AssessTest::cacheHeld()
{
    QFETCH(const quint64, context);
    QFETCH(const quint64, padding);
    QFETCH(const quint64, extra);
    QFETCH(const quint64, bytes);
    ModelSpec spec;
    spec.attention = {{LayerKind::Attention, 2, 8, 8, 1, 0, {}, {}},
                      {LayerKind::SlidingAttention, 3, 8, 8, 1, 0, 100, {}}};
    QCOMPARE(quint64{kvBytesHeld(spec, context, sixteenBit, sixteenBit, {padding, extra})}, bytes);
}

void AssessTest::cacheRead()
{
    ModelSpec spec;
    spec.attention = {{LayerKind::Attention, 2, 64, 32, 1, 0, {}, {}},
                      {LayerKind::SlidingAttention, 3, 64, 32, 1, 0, 100, {}}};
    // Keys and values of different width and dtype: 64 x 34/32 + 32 x 2 = 132 bytes.
    QCOMPARE(kvBytesRead(spec, 40, {34, 32}, sixteenBit), 132U * 5 * 40);
    QCOMPARE(kvBytesRead(spec, 1000, {34, 32}, sixteenBit), 132U * (2 * 1000 + 3 * 100));
    QCOMPARE(kvBytesRead(spec, 0, {34, 32}, sixteenBit), 0U);
}

void AssessTest::sparseAttention()
{
    // 576 latent elements, an indexer key of 128, the best 2048 tokens read.
    ModelSpec spec;
    spec.attention = {{LayerKind::Mla, 2, 576, 0, 0, 128, {}, 2048}};
    QCOMPARE(kvBytesRead(spec, 10'000, sixteenBit, sixteenBit), 2U * (256 * 10'000 + 1152 * 2048));
    QCOMPARE(kvBytesRead(spec, 1000, sixteenBit, sixteenBit), 2U * (256 + 1152) * 1000);
    // All of it is kept all the same.
    QCOMPARE(kvBytesHeld(spec, 10'000, sixteenBit, sixteenBit, {}), 2U * (256 + 1152) * 10'000);
}

void AssessTest::growthPerToken()
{
    const ModelSpec spec = everything().spec;
    // Full 2 x 32, window 3 x 32, latent 8 bytes; a full window adds nothing.
    QCOMPARE(kvBytesPerToken(spec, 0, sixteenBit, sixteenBit), 64U + 96 + 8);
    QCOMPARE(kvBytesPerToken(spec, 99, sixteenBit, sixteenBit), 64U + 96 + 8);
    QCOMPARE(kvBytesPerToken(spec, 100, sixteenBit, sixteenBit), 64U + 8);
}

void AssessTest::state_data()
{
    QTest::addColumn<QString>("recurrent");
    QTest::addColumn<QString>("convolution");
    QTest::addColumn<quint64>("bytes");
    // Three layers of 10 + 20 elements and two of 6 + 30; the model's own: BF16 and F32.
    QTest::newRow("as the model says")
        << QString() << QString() << quint64{3 * (10 * 2 + 20 * 4) + 2 * (6 * 2 + 30 * 4)};
    QTest::newRow("all F32") << u"F32"_s << u"F32"_s << quint64{3 * (10 * 4 + 20 * 4) + 2 * (6 * 4 + 30 * 4)};
    QTest::newRow("state in BF16") << u"BF16"_s << QString()
                                   << quint64{3 * (10 * 2 + 20 * 2) + 2 * (6 * 2 + 30 * 2)};
}

void AssessTest::state()
{
    QFETCH(const QString, recurrent);
    QFETCH(const QString, convolution);
    QFETCH(const quint64, bytes);
    QCOMPARE(quint64{stateBytes(everything().spec, s(recurrent), s(convolution))}, bytes);
    QCOMPARE(stateBytes(ModelSpec{}, "", ""), 0U);
}

void AssessTest::catalogCaches_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<quint64>("perToken"); // 16 bit, beyond the window
    QTest::addColumn<double>("stateMegabytes");
    QTest::addColumn<double>("at32768"); // GB, state or window included
    const auto row = [](const char *id, quint64 perToken, double state, double at) {
        QTest::newRow(id) << q(id) << perToken << state << at;
    };
    row("llama3.1-70b-q4_k_m", 327'680, 0, 10.74);
    row("qwen2.5-7b-q4_k_m", 57'344, 0, 1.88);
    row("qwen3-30b-a3b-bf16", 98'304, 0, 3.22);
    row("gpt-oss-120b", 36'864, 0, 1.21);
    row("qwen3.5-122b-a10b-int4-autoround", 24'576, 153.7, 0.96);
    row("qwen3.6-35b-a3b-bf16", 20'480, 64.4, 0.74);
    row("qwen3.6-27b-bf16", 65'536, 153.9, 2.30);
    row("glm-4.7-flash-bf16", 54'144, 0, 1.77);
    row("nemotron-3-super-120b-a12b-bf16", 8'192, 170.2, 0.44);
    row("gemma-4-26b-a4b", 20'480, 0, 0.88);
}

void AssessTest::catalogCaches()
{
    QFETCH(const QString, id);
    QFETCH(const quint64, perToken);
    QFETCH(const double, stateMegabytes);
    QFETCH(const double, at32768);
    const ModelSpec spec = shipped().checkpoint(s(id))->spec;
    QCOMPARE(quint64{kvBytesPerToken(spec, 100'000, sixteenBit, sixteenBit)}, perToken);
    const double state = static_cast<double>(stateBytes(spec, {}, {}));
    QVERIFY2(std::abs(state / 1e6 - stateMegabytes) <= 0.052, qPrintable(QString::number(state)));
    const double held = static_cast<double>(kvBytesRead(spec, 32'768, sixteenBit, sixteenBit)) + state;
    QVERIFY2(std::abs(held / 1e9 - at32768) <= 0.0051, qPrintable(QString::number(held)));
}

void AssessTest::loadedWeights()
{
    Checkpoint checkpoint = everything();
    const std::uint64_t rest = 8001 + 100 + 200 + 300 + 400 + 50 + 600 + 700 + 620 + 10 + 30;
    Engine engine = engineOf();
    engine.loadsVisionTower = true;
    QCOMPARE(loadedWeightBytes(checkpoint, engine), rest + 1000 + 1100);
    engine.loadsVisionTower = false;
    QCOMPARE(loadedWeightBytes(checkpoint, engine), rest);
    // The draft head is in an unlisted file: loading draft heads alone does not find it.
    engine.loadsIdleDraftHead = true;
    QCOMPARE(loadedWeightBytes(checkpoint, engine), rest);
    engine.loadsUnlistedFiles = true;
    QCOMPARE(loadedWeightBytes(checkpoint, engine), rest + 900);
    engine.copiesTiedEmbedding = true;
    QCOMPARE(loadedWeightBytes(checkpoint, engine), rest + 900);
    checkpoint.spec.tiedEmbeddings = true;
    QCOMPARE(loadedWeightBytes(checkpoint, engine), rest + 900 + 600);
}

void AssessTest::memoryTotal()
{
    Engine engine = engineOf();
    engine.loadsVisionTower = false;
    engine.runtimeBytes = {5000, "test"};
    engine.activationBytes = {300, "test"};
    const Checkpoint checkpoint = everything();
    const MemoryAssessment memory =
        assessMemory(checkpoint, machineOf(100'000, 1e9), engine, workloadOf(150, 2, 7000));
    QCOMPARE(memory.weightsBytes, 11'011U);
    QCOMPARE(memory.kvBytes, 2U * (64 * 150 + 96 * 100 + 8 * 150));
    QCOMPARE(memory.stateBytes, 2U * (300 + 264));
    QCOMPARE(memory.activationBytes, 300U);
    QCOMPARE(memory.runtimeBytes, 5000U);
    QCOMPARE(memory.reserveBytes, 7000U);
    QCOMPARE(memory.totalBytes, 11'011U + 40'800 + 1128 + 300 + 5000 + 7000);
    QCOMPARE(memory.usableBytes, 100'000U);
    QVERIFY(memory.fits);
    QCOMPARE(memory.marginBytes, 100'000 - 65'239);
    QCOMPARE(memory.kvBytesPerToken, 72U);
    QVERIFY(!memory.budgetBytes && !memory.kvPoolBytes && !memory.kvPoolTokens);

    // One byte decides.
    QVERIFY(assessMemory(checkpoint, machineOf(65'239, 1e9), engine, workloadOf(150, 2, 7000)).fits);
    const MemoryAssessment tight =
        assessMemory(checkpoint, machineOf(65'238, 1e9), engine, workloadOf(150, 2, 7000));
    QVERIFY(!tight.fits);
    QCOMPARE(tight.marginBytes, -1);
}

void AssessTest::reserveByDefault()
{
    const Shipped &all = shipped();
    const CheckpointPtr checkpoint = all.checkpoint("qwen2.5-7b-q4_k_m");
    const Assessment unified = assess(checkpoint, all.machine("dgx-spark"), all.engine("llama.cpp"), {});
    QCOMPARE(unified.memory.reserveBytes, 130'660'000'000U * 15 / 100);
    QCOMPARE(unified.workload.reserveBytes, std::optional(unified.memory.reserveBytes));
    const Assessment card = assess(checkpoint, all.machine("rtx-4090"), all.engine("llama.cpp"), {});
    QCOMPARE(card.memory.reserveBytes, 1'000'000'000U);
    const Assessment own =
        assess(checkpoint, all.machine("rtx-4090"), all.engine("llama.cpp"), workloadOf(4096, 1, 0));
    QCOMPARE(own.memory.reserveBytes, 0U);
}

void AssessTest::largestContextIsExact_data()
{
    QTest::addColumn<quint64>("padding");
    QTest::addColumn<quint64>("extra");
    QTest::addColumn<quint64>("usable");
    QTest::addColumn<quint32>("concurrency");
    for (const quint64 padding : {1U, 16U, 256U}) {
        for (const quint64 usable : {15'000U, 30'000U, 50'001U, 77'777U, 80'000U}) {
            for (const quint32 concurrency : {1U, 3U})
                QTest::addRow("padding %llu, %llu bytes, %u sequences", padding, usable, concurrency)
                    << padding << quint64{7} << usable << concurrency;
        }
    }
}

void AssessTest::largestContextIsExact()
{
    QFETCH(const quint64, padding);
    QFETCH(const quint64, extra);
    QFETCH(const quint64, usable);
    QFETCH(const quint32, concurrency);
    Engine engine = engineOf();
    engine.contextPadding = static_cast<std::uint32_t>(padding);
    engine.windowBatchTokens = static_cast<std::uint32_t>(extra);
    const Checkpoint checkpoint = everything();
    const Machine machine = machineOf(usable, 1e9);
    std::uint64_t best = 0;
    for (std::uint64_t context = 1; context <= checkpoint.spec.maxContextTokens; ++context) {
        if (assessMemory(checkpoint, machine, engine, workloadOf(context, concurrency, 1000)).fits)
            best = context;
    }
    const MemoryAssessment memory =
        assessMemory(checkpoint, machine, engine, workloadOf(10, concurrency, 1000));
    QCOMPARE(quint64{memory.maxContextTokens.value_or(0)}, quint64{best});
    QCOMPARE(memory.contextLimitedByModel, best == checkpoint.spec.maxContextTokens);
}

void AssessTest::largestConcurrencyIsExact()
{
    const Checkpoint checkpoint = plain(1000, 1000);
    // 64 bytes per token, 10 tokens: (20000 - 1000) / 640 = 29.7
    const MemoryAssessment memory =
        assessMemory(checkpoint, machineOf(20'000, 1e9), engineOf(), workloadOf(10));
    QCOMPARE(memory.maxConcurrency, std::optional<std::uint32_t>(29));
    QVERIFY(assessMemory(checkpoint, machineOf(20'000, 1e9), engineOf(), workloadOf(10, 29)).fits);
    QVERIFY(!assessMemory(checkpoint, machineOf(20'000, 1e9), engineOf(), workloadOf(10, 30)).fits);
}

void AssessTest::modelLimitsTheContext()
{
    const MemoryAssessment capped =
        assessMemory(plain(1000, 100), machineOf(1'000'000, 1e9), engineOf(), workloadOf(10));
    QCOMPARE(capped.maxContextTokens, std::optional<std::uint64_t>(100));
    QVERIFY(capped.contextLimitedByModel);
    // Exactly full: memory ends where the model does.
    const MemoryAssessment both =
        assessMemory(plain(1000, 100), machineOf(1000 + 6400, 1e9), engineOf(), workloadOf(10));
    QCOMPARE(both.maxContextTokens, std::optional<std::uint64_t>(100));
    const MemoryAssessment less =
        assessMemory(plain(1000, 100), machineOf(1000 + 6399, 1e9), engineOf(), workloadOf(10));
    QCOMPARE(less.maxContextTokens, std::optional<std::uint64_t>(99));
    QVERIFY(!less.contextLimitedByModel);
    // No limit stated: memory decides.
    const MemoryAssessment open =
        assessMemory(plain(1000, 0), machineOf(1'000'000, 1e9), engineOf(), workloadOf(10));
    QCOMPARE(open.maxContextTokens, std::optional<std::uint64_t>(999'000 / 64));
    QVERIFY(!open.contextLimitedByModel);
}

void AssessTest::weightsAloneDoNotFit()
{
    const MemoryAssessment memory =
        assessMemory(plain(1000, 100), machineOf(900, 1e9), engineOf(), workloadOf(10));
    QVERIFY(!memory.fits);
    QVERIFY(!memory.maxContextTokens.has_value());
    QVERIFY(!memory.maxConcurrency.has_value());
    QCOMPARE(memory.marginBytes, 900 - 1640);
}

void AssessTest::budgetOfVllm()
{
    Engine engine = engineOf();
    engine.memoryUtilization = Sourced{0.9, "test"};
    engine.runtimeBytes = {5000, "test"};
    engine.activationBytes = {300, "test"};
    engine.loadsVisionTower = false;
    // ceil(100,001 x 0.9) = 90,001; minus weights 11,011, buffers 5,300 and one sequence's state 564.
    const MemoryAssessment memory =
        assessMemory(everything(), machineOf(100'001, 1e9), engine, workloadOf(10, 1, 7000));
    QCOMPARE(memory.budgetBytes, std::optional<std::uint64_t>(90'001));
    QCOMPARE(memory.kvPoolBytes, std::optional<std::uint64_t>(90'001 - 11'011 - 5300 - 564));
    QCOMPARE(memory.kvPoolTokens, std::optional<std::uint64_t>(73'126 / 168));
    const MemoryAssessment none =
        assessMemory(everything(), machineOf(12'000, 1e9), engine, workloadOf(10, 1, 0));
    QCOMPARE(none.kvPoolBytes, std::optional<std::uint64_t>(0));
    QCOMPARE(none.kvPoolTokens, std::optional<std::uint64_t>(0));
}

void AssessTest::speedTermByTerm()
{
    Engine engine = engineOf();
    SpeedConstants &constants = engine.speed.front();
    constants.efficiency = 0.8;
    constants.fixedSeconds = 0.003;
    constants.secondsPerAttentionLayer = 0.0001;
    constants.secondsPerMlaLayer = 0.0002;
    constants.secondsPerLinearLayer = 0.00003;
    constants.secondsPerMambaLayer = 0.00004;
    constants.secondsPerMoeLayer = 0.00001;
    constants.basis = SpeedBasis::Default;
    const auto decode = assessDecode(everything(), machineOf(1'000'000, 1e6), engine, workloadOf(150, 2));
    QVERIFY(decode.has_value());
    QCOMPARE(decode->weightBytes, 3500U + 1710);
    QCOMPARE(decode->kvBytes, 2U * (64 * 150 + 96 * 100 + 8 * 150));
    QCOMPARE(decode->stateBytes, 2U * 2 * 564); // two sequences, read and written
    QCOMPARE(decode->bytesPerStep, 5210U + 40'800 + 2256);
    QCOMPARE(decode->effectiveBandwidthBytesPerSecond, 0.8e6);
    QVERIFY(near(decode->weightSeconds, 5210 / 0.8e6));
    QVERIFY(near(decode->kvSeconds, 40'800 / 0.8e6));
    QVERIFY(near(decode->stateSeconds, 2256 / 0.8e6));
    // five attention layers, one latent, three linear, two Mamba, five with experts
    const double fixed = 0.003 + 5 * 0.0001 + 0.0002 + 3 * 0.00003 + 2 * 0.00004 + 5 * 0.00001;
    QVERIFY(near(decode->fixedSeconds, fixed));
    const double seconds = 48'266 / 0.8e6 + fixed;
    QVERIFY(near(decode->secondsPerStep, seconds));
    QVERIFY(near(decode->tokensPerSecond, 1 / seconds));
    QVERIFY(near(decode->aggregateTokensPerSecond, 2 / seconds));
    QVERIFY(near(decode->datasheetLimitTokensPerSecond, 1e6 / 48'266));
    QCOMPARE(decode->bound, Bound::Bandwidth);
    QCOMPARE(decode->basis, SpeedBasis::Default);
    QCOMPARE(decode->basisRows, 0U);
}

void AssessTest::fixedCostByLayerKind()
{
    SpeedConstants constants;
    constants.secondsPerAttentionLayer = 1;
    constants.secondsPerMlaLayer = 10;
    constants.secondsPerLinearLayer = 100;
    constants.secondsPerMambaLayer = 1000;
    ModelSpec spec;
    spec.attention = {{LayerKind::Attention, 2, 0, 0, 0, 0, {}, {}},
                      {LayerKind::SlidingAttention, 3, 0, 0, 0, 0, {}, {}},
                      {LayerKind::Mla, 4, 0, 0, 0, 0, {}, {}}};
    spec.state = {{LayerKind::GatedDeltaNet, 1, 0, 0},
                  {LayerKind::Kda, 2, 0, 0},
                  {LayerKind::ShortConvolution, 3, 0, 0},
                  {LayerKind::Mamba, 5, 0, 0}};
    QCOMPARE(fixedSeconds(spec, constants), 5.0 + 40 + 600 + 5000);
    QCOMPARE(fixedSeconds({}, constants), 0.0);
}

void AssessTest::bandNeedsRows()
{
    Engine engine = engineOf();
    SpeedConstants &constants = engine.speed.front();
    constants.lowFactor = 0.9;
    constants.highFactor = 1.2;
    const auto none = assessDecode(plain(1000, 0), machineOf(1'000'000, 1e6), engine, workloadOf(0));
    QVERIFY(!none->low && !none->high);
    constants.rows = 3;
    const auto some = assessDecode(plain(1000, 0), machineOf(1'000'000, 1e6), engine, workloadOf(0));
    QVERIFY(near(some->low.value(), some->tokensPerSecond * 0.9));
    QVERIFY(near(some->high.value(), some->tokensPerSecond * 1.2));
    QCOMPARE(some->basisRows, 3U);
    constants.highFactor.reset();
    const auto half = assessDecode(plain(1000, 0), machineOf(1'000'000, 1e6), engine, workloadOf(0));
    QVERIFY(!half->low && !half->high);
    // What ships: a band only where rows stand behind it.
    for (const Engine &each : shipped().engines) {
        for (const SpeedConstants &row : each.speed)
            QVERIFY(row.rows > 0 || (!row.lowFactor && !row.highFactor));
    }
}

void AssessTest::noSpeedWithoutBandwidth()
{
    const auto checkpoint = std::make_shared<const Checkpoint>(plain(1000, 0));
    Machine machine = machineOf(1'000'000, 1e6);
    machine.bandwidthBytesPerSecond.reset();
    const Assessment unknown = assess(checkpoint, machine, engineOf(), {});
    QVERIFY(!unknown.decode.has_value());
    QVERIFY(holds(unknown.warnings, "speed.no-bandwidth"));
    Engine silent = engineOf();
    silent.speed.clear();
    const Assessment constants = assess(checkpoint, machineOf(1'000'000, 1e6), silent, {});
    QVERIFY(!constants.decode.has_value());
    QVERIFY(holds(constants.warnings, "speed.no-constants"));
    Workload nobody = workloadOf(10);
    nobody.concurrency = 0;
    QVERIFY(!assess(checkpoint, machineOf(1'000'000, 1e6), engineOf(), nobody).decode.has_value());
}

void AssessTest::noSpeedWhereItCannotLoad()
{
    const Shipped &all = shipped();
    const Assessment assessment =
        assess(all.checkpoint("qwen2.5-7b-q4_k_m"), all.machine("dgx-spark"), all.engine("mlx"), {});
    QVERIFY(!assessment.load.canLoad);
    QVERIFY(!assessment.decode.has_value());
    QVERIFY(assessment.memory.totalBytes > 0);
    QVERIFY(holds(assessment.warnings, assessment.load.reason.id));
    QVERIFY(!holds(assessment.warnings, "speed.no-constants"));
}

void AssessTest::boundByOverhead()
{
    Engine engine = engineOf();
    engine.speed.front().fixedSeconds = 1;
    const auto decode = assessDecode(plain(1000, 0), machineOf(1'000'000, 1e6), engine, workloadOf(0));
    QCOMPARE(decode->bound, Bound::Overhead);
}

void AssessTest::componentsAndReasons()
{
    const auto checkpoint = std::make_shared<const Checkpoint>(everything());
    const Assessment shallow = assess(checkpoint, machineOf(1'000'000, 1e6), engineOf(), workloadOf(0));
    QCOMPARE(shallow.components.size(), componentCount);
    for (std::size_t i = 0; i < componentCount; ++i)
        QCOMPARE(shallow.components[i].component, allComponents.at(i));
    QCOMPARE(shallow.residentBytes, checkpoint->weightBytes());
    QCOMPARE(shallow.streamedBytes, 2000U + 1710);
    QCOMPARE(shallow.parametersActive, 1000U + 855);
    QVERIFY(near(shallow.streamedFraction(), 3710.0 / 14'011));
    QCOMPARE(q(shallow.components[0].reason.id), u"reason.routed"_s);
    QCOMPARE(argumentText(shallow.components[0].reason.arguments, "active"), u"2"_s);
    QCOMPARE(argumentText(shallow.components[0].reason.arguments, "experts"), u"8"_s);
    QCOMPARE(argumentText(shallow.components[0].reason.arguments, "layers"), u"5"_s);
    QCOMPARE(q(shallow.components[9].reason.id), u"reason.draft-unlisted"_s);

    // They describe the files and one plain token: no option changes them.
    const Assessment deep = assess(checkpoint, machineOf(10'000, 1e9), engineOf(), workloadOf(900, 7, 5));
    for (std::size_t i = 0; i < componentCount; ++i) {
        QCOMPARE(deep.components[i].residentBytes, shallow.components[i].residentBytes);
        QCOMPARE(deep.components[i].streamedBytes, shallow.components[i].streamedBytes);
    }
    QCOMPARE(Assessment{}.streamedFraction(), 0.0);
}

void AssessTest::warnings()
{
    Checkpoint checkpoint = everything();
    checkpoint.provenance = Provenance::Reconstructed;
    checkpoint.spec.declaredKvDtype = "fp8";
    checkpoint.notes = {{"catalog.derived", Severity::Info, {}, {}}};
    Engine engine = engineOf();
    engine.memoryUtilization = Sourced{0.9, "where it says so"};
    const Assessment assessment = assess(std::make_shared<const Checkpoint>(checkpoint),
                                         machineOf(20'000, 1e6), engine, workloadOf(2000, 1, 10'000));
    const auto has = [&assessment](std::string_view id) { return holds(assessment.warnings, id); };
    for (const char *id : {"catalog.derived", "provenance.reconstructed", "draft.ships-unlisted",
                           "kv.declared", "context.beyond-model", "memory.does-not-fit", "memory.budget",
                           "speed.basis-default", "routing.uniform", "not-predicted"})
        QVERIFY2(has(id), id);
    QVERIFY(!has("memory.tight"));
    const auto unfit = std::ranges::find(assessment.warnings, "memory.does-not-fit", &Message::id);
    QCOMPARE(unfit->severity, Severity::Error);
    QCOMPARE(argumentText(unfit->arguments, "short"),
             QString::number(assessment.memory.totalBytes - assessment.memory.usableBytes));

    Workload declared = workloadOf(10);
    declared.kDtype = declared.vDtype = "fp8";
    const Assessment followed =
        assess(std::make_shared<const Checkpoint>(checkpoint), machineOf(20'000, 1e6), engine, declared);
    QVERIFY(!holds(followed.warnings, "kv.declared"));
}

void AssessTest::monotone()
{
    const Shipped &all = shipped();
    for (const CatalogEntry &entry : all.catalog.entries()) {
        const CheckpointPtr checkpoint = all.catalog.load(entry).value();
        const Machine &machine = all.machine("dgx-spark");
        const Engine &engine = all.engine(automaticEngine(*checkpoint));
        if (!canLoad(engine, *checkpoint, machine).canLoad)
            continue;
        std::optional<Assessment> before;
        for (std::uint64_t context = 0; context <= 300'000; context = context * 3 + 1) {
            const Assessment now = assess(checkpoint, machine, engine, workloadOf(context));
            if (before) {
                QVERIFY(now.decode->kvBytes >= before->decode->kvBytes);
                QVERIFY(now.memory.kvBytes >= before->memory.kvBytes);
                QVERIFY(now.memory.totalBytes >= before->memory.totalBytes);
                QVERIFY(now.decode->tokensPerSecond <= before->decode->tokensPerSecond);
                QCOMPARE(now.decode->stateBytes, before->decode->stateBytes);
                // It depends on neither context nor speed.
                QCOMPARE(now.memory.maxContextTokens, before->memory.maxContextTokens);
            }
            before = now;
        }
        before.reset();
        for (std::uint32_t sequences = 1; sequences <= 300; sequences = sequences * 2 + 1) {
            const Assessment now = assess(checkpoint, machine, engine, workloadOf(4096, sequences));
            if (before) {
                QVERIFY2(now.decode->weightBytes >= before->decode->weightBytes, entry.id.c_str());
                QVERIFY(now.decode->bytesPerStep > before->decode->bytesPerStep);
                QVERIFY(now.decode->tokensPerSecond < before->decode->tokensPerSecond);
                QVERIFY2(now.decode->aggregateTokensPerSecond >= before->decode->aggregateTokensPerSecond,
                         entry.id.c_str());
                QVERIFY(now.memory.totalBytes > before->memory.totalBytes);
                QVERIFY(now.decode->weightBytes <= checkpoint->weightBytes());
            }
            before = now;
        }
        // Smaller cache elements: less to keep and to read.
        Workload quantized = workloadOf(32'768);
        quantized.kDtype = quantized.vDtype = "q8_0";
        const Assessment whole = assess(checkpoint, machine, engine, workloadOf(32'768));
        const Assessment half = assess(checkpoint, machine, engine, quantized);
        QVERIFY(half.decode->kvBytes < whole.decode->kvBytes);
        QVERIFY(half.memory.maxContextTokens >= whole.memory.maxContextTokens);
    }
}

void AssessTest::absurdSizesSaturate()
{
    QCOMPARE(saturatingAdd(saturated, 1), saturated);
    QCOMPARE(saturatingAdd(std::numeric_limits<std::uint64_t>::max(), 5), saturated);
    QCOMPARE(saturatingMultiply(std::uint64_t{1} << 40U, std::uint64_t{1} << 40U), saturated);
    QCOMPARE(multiplyDivide(saturated, 34, 32), saturated);
    QCOMPARE(multiplyDivide(std::uint64_t{1} << 62U, 3, 4), std::uint64_t{3} << 60U);

    Checkpoint checkpoint;
    checkpoint.format = Format::Safetensors;
    checkpoint.quantization = "bf16";
    checkpoint.spec.experts = 1000;
    checkpoint.spec.expertsPerToken = 999;
    constexpr std::uint64_t huge = std::uint64_t{1} << 60U;
    checkpoint.spec.attention = {{LayerKind::Attention, 4'000'000'000U, huge, huge, 1, huge, {}, {}},
                                 {LayerKind::Mla, 4'000'000'000U, huge, 0, 0, huge, {}, huge}};
    checkpoint.spec.state = {{LayerKind::Mamba, 4'000'000'000U, huge, huge}};
    for (const Component component : allComponents) {
        for (int i = 0; i < 3; ++i)
            add(checkpoint, component, std::uint64_t{1} << 62U, std::uint64_t{1} << 62U);
    }
    finish(checkpoint);
    QVERIFY2(checkpoint.weightBytes() >= saturated, "sums of components wrapped");
    const auto shared = std::make_shared<const Checkpoint>(checkpoint);
    Engine engine = engineOf();
    engine.memoryUtilization = Sourced{0.9, "test"};
    engine.contextPadding = 256;
    const Assessment assessment =
        assess(shared, machineOf(1'000'000, 1e12), engine, workloadOf(1'000'000'000, 100'000, saturated));
    QCOMPARE(assessment.memory.kvBytes, saturated);
    QCOMPARE(assessment.memory.stateBytes, saturated);
    QCOMPARE(assessment.memory.totalBytes, saturated);
    QVERIFY(assessment.memory.weightsBytes >= saturated);
    QVERIFY(!assessment.memory.fits);
    QVERIFY(assessment.memory.marginBytes < 0);
    QVERIFY(!assessment.memory.maxContextTokens.has_value());
    QCOMPARE(assessment.decode->bytesPerStep, saturated);
    QVERIFY(assessment.decode->tokensPerSecond > 0 && assessment.decode->tokensPerSecond < 1e-3);
    QVERIFY(assessment.residentBytes >= saturated);
    QVERIFY(assessment.streamedFraction() <= 1);
}

void AssessTest::neverAboveTheDatasheet()
{
    const Shipped &all = shipped();
    std::size_t checked = 0;
    for (const CatalogEntry &entry : all.catalog.entries()) {
        const CheckpointPtr checkpoint = all.catalog.load(entry).value();
        for (const Machine &machine : all.machines) {
            for (const Engine &engine : all.engines) {
                for (const std::uint64_t context : {0U, 4096U, 131'072U}) {
                    const Assessment assessment = assess(checkpoint, machine, engine, workloadOf(context));
                    if (!assessment.decode)
                        continue;
                    const DecodeAssessment &decode = *assessment.decode;
                    const double implied = decode.tokensPerSecond * static_cast<double>(decode.bytesPerStep);
                    QVERIFY(implied <= machine.bandwidthBytesPerSecond->value);
                    QVERIFY(decode.tokensPerSecond <= decode.datasheetLimitTokensPerSecond);
                    QVERIFY(decode.effectiveBandwidthBytesPerSecond
                            <= machine.bandwidthBytesPerSecond->value);
                    QVERIFY(!decode.low || *decode.low <= decode.tokensPerSecond);
                    QVERIFY(!decode.high || *decode.high >= decode.tokensPerSecond);
                    ++checked;
                }
            }
        }
    }
    QVERIFY(checked > 1000);
}

void AssessTest::quickEnough()
{
    const Shipped &all = shipped();
    const CheckpointPtr checkpoint = all.checkpoint("qwen3.5-122b-a10b-int4-autoround");
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < 100; ++i)
        (void)assess(checkpoint, all.machine("dgx-spark"), all.engine("vllm"), workloadOf(1000));
    QVERIFY2(timer.elapsed() < 1000, "assess() takes more than 10 ms even in a debug build");
}

void AssessTest::referenceSpeed()
{
    const char *id = "qwen3.5-122b-a10b-int4-autoround";
    const double shallow = speedOf(id, "vllm", 1616);
    QVERIFY2(std::abs(shallow / 27.2 - 1) < 0.05, qPrintable(QString::number(shallow)));
    const double deep = speedOf(id, "vllm", 32'768);
    QVERIFY2(deep >= 24 && deep <= 26, qPrintable(QString::number(deep)));
}

void AssessTest::bandwidthWall()
{
    // Streamed bytes times published speed: the same wall for three dense models.
    const Shipped &all = shipped();
    std::vector<double> walls;
    for (const auto &[id, speed, published] : {std::tuple{"qwen2.5-7b-q4_k_m", 45.2, 198.0},
                                               {"qwen2.5-32b-q4_k_m", 10.5, 204.0},
                                               {"llama3.1-70b-q4_k_m", 4.8, 201.0}}) {
        const Assessment assessment =
            assess(all.checkpoint(id), all.machine("dgx-spark"), all.engine("ollama"), {});
        walls.push_back(static_cast<double>(assessment.streamedBytes) * speed / 1e9);
        QVERIFY2(std::abs(walls.back() - published) < 1, qPrintable(QString::number(walls.back())));
    }
    const auto [lowest, highest] = std::ranges::minmax(walls);
    QVERIFY2(highest / lowest - 1 < 0.04, qPrintable(QString::number(highest / lowest)));
}

void AssessTest::publishedSpeeds_data()
{
    QTest::addColumn<QString>("checkpoint");
    QTest::addColumn<QString>("engine");
    QTest::addColumn<quint64>("context");
    QTest::addColumn<double>("measured");
    const auto rows = readMeasurements(data / "measurements.csv").value();
    for (const Measurement &row : rows) {
        const bool asked = row.checkpoint == "qwen3.5-122b-a10b-int4-autoround"
                           || row.checkpoint == "qwen3.5-122b-ollama" || row.checkpoint == "qwen2.5-7b-q4_k_m"
                           || row.checkpoint == "qwen2.5-32b-q4_k_m"
                           || row.checkpoint == "llama3.1-70b-q4_k_m";
        if (asked && row.isPlainDecode() && row.depthTokens() && row.decodeTokensPerSecond) {
            QTest::addRow("%s at %llu: %.1f", row.checkpoint.c_str(), qulonglong{*row.depthTokens()},
                          *row.decodeTokensPerSecond)
                << q(row.checkpoint) << q(row.engine) << quint64{*row.depthTokens()}
                << *row.decodeTokensPerSecond;
        }
    }
}

void AssessTest::publishedSpeeds()
{
    QFETCH(const QString, checkpoint);
    QFETCH(const QString, engine);
    QFETCH(const quint64, context);
    QFETCH(const double, measured);
    const double predicted = speedOf(s(checkpoint), s(engine), context);
    QVERIFY2(std::abs(predicted / measured - 1) < 0.12, qPrintable(QString::number(predicted)));
}

QTEST_GUILESS_MAIN(AssessTest)
#include "tst_assess.moc"

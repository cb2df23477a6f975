// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/config.h"
#include "models/decode/assessment.h"
#include "models/decode/cachebytes.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <algorithm>
#include <filesystem>

using namespace weir;
using namespace weir::test;
using nlohmann::json;

namespace {

constexpr double gibibyte = 1073741824.0;
constexpr double mebibyte = 1048576.0;

/// The keys of the published configs that decide what the past costs.
json hybrid(int layers, int kvHeads, int valueHeads)
{
    json kinds = json::array();
    for (int layer = 1; layer <= layers; ++layer)
        kinds.push_back(layer % 4 == 0 ? "full_attention" : "linear_attention");
    return {{"model_type", "qwen3_5"},
            {"architectures", {"Qwen3_5ForConditionalGeneration"}},
            {"text_config",
             {{"model_type", "qwen3_5_text"},
              {"dtype", "bfloat16"},
              {"head_dim", 256},
              {"hidden_size", 5120},
              {"intermediate_size", 17408},
              {"layer_types", kinds},
              {"linear_conv_kernel_dim", 4},
              {"linear_key_head_dim", 128},
              {"linear_num_key_heads", 16},
              {"linear_num_value_heads", valueHeads},
              {"linear_value_head_dim", 128},
              {"mamba_ssm_dtype", "float32"},
              {"max_position_embeddings", 262144},
              {"num_attention_heads", 24},
              {"num_hidden_layers", layers},
              {"num_key_value_heads", kvHeads},
              {"vocab_size", 248320}}}};
}

json latent(int context)
{
    return {{"model_type", "deepseek_v3"}, {"architectures", {"DeepseekV3ForCausalLM"}},
            {"torch_dtype", "bfloat16"},   {"hidden_size", 7168},
            {"intermediate_size", 18432},  {"num_hidden_layers", 61},
            {"num_attention_heads", 64},   {"num_key_value_heads", 64},
            {"kv_lora_rank", 512},         {"q_lora_rank", 1536},
            {"qk_nope_head_dim", 128},     {"qk_rope_head_dim", 64},
            {"v_head_dim", 128},           {"max_position_embeddings", context},
            {"vocab_size", 129280}};
}

json dense()
{
    return {{"model_type", "qwen3"},
            {"architectures", {"Qwen3ForCausalLM"}},
            {"torch_dtype", "bfloat16"},
            {"hidden_size", 1024},
            {"intermediate_size", 3072},
            {"num_hidden_layers", 28},
            {"num_attention_heads", 16},
            {"num_key_value_heads", 8},
            {"head_dim", 128},
            {"max_position_embeddings", 40960},
            {"use_sliding_window", false},
            {"sliding_window", nullptr},
            {"tie_word_embeddings", true},
            {"vocab_size", 151936}};
}

json nemotron()
{
    return {{"model_type", "nemotron_h"},
            {"architectures", {"NemotronHForCausalLM"}},
            {"torch_dtype", "bfloat16"},
            {"hidden_size", 4096},
            {"intermediate_size", 2688},
            {"num_hidden_layers", 88},
            {"hybrid_override_pattern",
             "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME"},
            {"num_attention_heads", 32},
            {"num_key_value_heads", 2},
            {"head_dim", 128},
            {"mamba_num_heads", 128},
            {"mamba_head_dim", 64},
            {"ssm_state_size", 128},
            {"n_groups", 8},
            {"conv_kernel", 4},
            {"max_position_embeddings", 262144},
            {"vocab_size", 131072}};
}

json alternatingWindows()
{
    json kinds = json::array();
    for (int layer = 0; layer < 24; ++layer)
        kinds.push_back(layer % 2 == 0 ? "sliding_attention" : "full_attention");
    return {{"model_type", "gpt_oss"},
            {"architectures", {"GptOssForCausalLM"}},
            {"torch_dtype", "bfloat16"},
            {"hidden_size", 2880},
            {"intermediate_size", 2880},
            {"layer_types", kinds},
            {"sliding_window", 128},
            {"num_hidden_layers", 24},
            {"num_attention_heads", 64},
            {"num_key_value_heads", 8},
            {"head_dim", 64},
            {"num_local_experts", 32},
            {"num_experts_per_tok", 4},
            {"max_position_embeddings", 131072},
            {"vocab_size", 201088}};
}

/// A checkpoint of nothing but its config: enough for cache and state.
CheckpointPtr checkpointOf(const json &config, Format format = Format::Safetensors)
{
    const Result<ModelConfig> model = readModelConfig(json::parse(config.dump()), nullptr, "config.json");
    if (!model)
        return nullptr;
    Checkpoint checkpoint;
    checkpoint.spec = model->spec;
    checkpoint.format = format;
    finish(checkpoint);
    return std::make_shared<const Checkpoint>(std::move(checkpoint));
}

} // namespace

/// What a context costs at 16 bit, against figures that engines and their users report.
class TestContextMemory : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cacheOfOneSequence_data();
    void cacheOfOneSequence();
    void recurrentStateByEngine();
    void windowsByEngine();

private:
    MemoryAssessment memoryWith(const char *engine, const CheckpointPtr &checkpoint, quint64 context,
                                quint32 sequences) const;
    std::uint64_t readPerStep(const CheckpointPtr &checkpoint, quint64 context, quint32 sequences) const;

    std::vector<Engine> m_engines;
    std::vector<Machine> m_machines;
};

void TestContextMemory::initTestCase()
{
    const std::filesystem::path data = std::filesystem::path(WEIR_SOURCE_DIR) / "data";
    const auto machines = readMachines(data / "machines.json");
    const auto engines = readEngines(data / "engines.json");
    QVERIFY(machines && engines);
    m_machines = *machines;
    m_engines = *engines;
}

MemoryAssessment TestContextMemory::memoryWith(const char *engine, const CheckpointPtr &checkpoint,
                                               quint64 context, quint32 sequences) const
{
    const auto found = std::find_if(m_engines.begin(), m_engines.end(),
                                    [engine](const Engine &each) { return each.id == engine; });
    if (found == m_engines.end())
        qFatal("no engine %s", engine);
    Workload workload;
    workload.contextTokens = context;
    workload.concurrency = sequences;
    return assess(checkpoint, m_machines.front(), *found, workload).memory;
}

std::uint64_t TestContextMemory::readPerStep(const CheckpointPtr &checkpoint, quint64 context,
                                             quint32 sequences) const
{
    return kvBytesRead(checkpoint->spec, context, ElementSize{}, ElementSize{}) * sequences;
}

void TestContextMemory::cacheOfOneSequence_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<quint64>("context");
    QTest::addColumn<double>("gib"); ///< to three decimals, as reported
    const auto row = [](const char *name, const json &config, quint64 context, double gib) {
        QTest::newRow(name) << QByteArray::fromStdString(config.dump()) << context << gib;
    };
    row("Qwen3.5-27B", hybrid(64, 4, 48), 262144, 16.000);
    row("Qwen3.6-35B-A3B", hybrid(40, 2, 32), 262144, 5.000);
    row("DeepSeek-V3.1", latent(163840), 163840, 10.723);
    row("Kimi-K2.5", latent(262144), 262144, 17.156);
    row("Qwen3-0.6B", dense(), 40960, 4.375);
    row("Nemotron-3-Super", nemotron(), 32768, 0.250);
}

void TestContextMemory::cacheOfOneSequence()
{
    QFETCH(QByteArray, config);
    QFETCH(quint64, context);
    QFETCH(double, gib);
    const CheckpointPtr checkpoint = checkpointOf(json::parse(config.toStdString()));
    QVERIFY(checkpoint);
    const auto rounded = [](std::uint64_t bytes) {
        return std::round(static_cast<double>(bytes) / gibibyte * 1000) / 1000;
    };
    QCOMPARE(rounded(readPerStep(checkpoint, context, 1)), gib);
    for (const char *engine : {"vllm", "llama.cpp", "ollama"})
        QCOMPARE(rounded(memoryWith(engine, checkpoint, context, 1).kvBytes), gib);
}

void TestContextMemory::recurrentStateByEngine()
{
    const CheckpointPtr checkpoint = checkpointOf(hybrid(64, 4, 48));
    QVERIFY(checkpoint);
    // 48 layers: 10,240 channels x 3 in BF16 or F32, 48 heads of 128 x 128 in F32.
    QCOMPARE(static_cast<double>(memoryWith("vllm", checkpoint, 4096, 1).stateBytes) / mebibyte, 146.8125);
    QCOMPARE(static_cast<double>(memoryWith("llama.cpp", checkpoint, 4096, 1).stateBytes) / mebibyte,
             149.625);
    QCOMPARE(static_cast<double>(memoryWith("vllm", checkpoint, 4096, 4).stateBytes) / mebibyte,
             4 * 146.8125);
}

void TestContextMemory::windowsByEngine()
{
    const CheckpointPtr checkpoint = checkpointOf(alternatingWindows());
    QVERIFY(checkpoint);
    // A step reads no more than the window; llama.cpp keeps window and batch, padded to 256 tokens; vLLM keeps
    // a window layer's pages for the window and the tokens of one scheduled batch, here the whole context.
    QCOMPARE(static_cast<double>(readPerStep(checkpoint, 8192, 32)) / gibibyte, 6.09375);
    QCOMPARE(static_cast<double>(memoryWith("llama.cpp", checkpoint, 8192, 32).kvBytes) / gibibyte, 6.5625);
    QCOMPARE(static_cast<double>(memoryWith("vllm", checkpoint, 8192, 32).kvBytes) / gibibyte, 12.0);
}

QTEST_APPLESS_MAIN(TestContextMemory)
#include "tst_contextmemory.moc"

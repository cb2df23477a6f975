// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/tolerantjson.h"
#include "models/checkpoint/config.h"
#include "models/decode/cachebytes.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// A small dense decoder, with keys replaced or added.
json llama(const json &changes = json::object())
{
    json config{{"architectures", {"LlamaForCausalLM"}},
                {"model_type", "llama"},
                {"num_hidden_layers", 4},
                {"hidden_size", 64},
                {"num_attention_heads", 8},
                {"num_key_value_heads", 2},
                {"vocab_size", 100},
                {"max_position_embeddings", 512},
                {"torch_dtype", "bfloat16"}};
    config.update(changes);
    return config;
}

Result<ModelConfig> read(const json &config, const json *side = nullptr)
{
    // As it comes from a file: numbers written here are signed, those of a file are not.
    return readModelConfig(json::parse(config.dump()), side, "config.json");
}

/// "attention x4 k16 v16; gated_delta_net x2 c10 r20"
QString layersOf(const ModelSpec &spec)
{
    QStringList found;
    for (const AttentionLayers &run : spec.attention) {
        QString text = u"%1 x%2 k%3 v%4"_s.arg(q(layerKindId(run.kind)))
                           .arg(run.layers)
                           .arg(run.kElementsPerToken)
                           .arg(run.vElementsPerToken);
        if (run.window)
            text += u" w%1"_s.arg(*run.window);
        if (run.indexerElementsPerToken > 0)
            text += u" i%1"_s.arg(run.indexerElementsPerToken);
        if (run.topK)
            text += u" top%1"_s.arg(*run.topK);
        found += text;
    }
    for (const StateLayers &run : spec.state) {
        found += u"%1 x%2 c%3 r%4"_s.arg(q(layerKindId(run.kind)))
                     .arg(run.layers)
                     .arg(run.convolutionElements)
                     .arg(run.recurrentElements);
    }
    return found.join("; "_L1);
}

json alternating(int layers, int every, const char *usual, const char *other)
{
    json names = json::array();
    for (int i = 0; i < layers; ++i)
        names.push_back((i + 1) % every == 0 ? other : usual);
    return names;
}

json parsed(const QByteArray &text) { return json::parse(text.toStdString()); }
QByteArray dumped(const json &value) { return QByteArray::fromStdString(value.dump()); }

} // namespace

class ConfigTest : public QObject
{
    Q_OBJECT

private slots:
    void reads();
    void aliases_data();
    void aliases();
    void nested_data();
    void nested();
    void layers_data();
    void layers();
    void publishedFigures_data();
    void publishedFigures();
    void experts_data();
    void experts();
    void dtypes_data();
    void dtypes();
    void quantization_data();
    void quantization();
    void kvScheme();
    void badNumbers_data();
    void badNumbers();
    void otherKinds_data();
    void otherKinds();
    void wrongTypesNeverThrow();
    void everySharedConfig_data();
    void everySharedConfig();
    void sharedOtherKinds_data();
    void sharedOtherKinds();
};

void ConfigTest::reads()
{
    const Result<ModelConfig> config =
        read(llama({{"tie_word_embeddings", true}, {"num_nextn_predict_layers", 1}}));
    QVERIFY2(config, config ? "" : config.error().id.c_str());
    const ModelSpec &spec = config->spec;
    QCOMPARE(q(spec.architecture), u"LlamaForCausalLM"_s);
    QCOMPARE(spec.layers, 4U);
    QCOMPARE(spec.hiddenSize, 64U);
    QCOMPARE(spec.vocabularySize, 100U);
    QCOMPARE(spec.maxContextTokens, 512U);
    QCOMPARE(spec.experts, 0U);
    QCOMPARE(q(spec.dtype), u"BF16"_s);
    QCOMPARE(layersOf(spec), u"attention x4 k16 v16"_s);
    QCOMPARE(spec.attention[0].kvHeads, 2U);
    QCOMPARE(config->layerKinds.size(), 4U);
    QCOMPARE(config->declaredTied, std::optional(true));
    QCOMPARE(config->draftLayers, 1U);
    QVERIFY(config->quantization.method.empty());
    QVERIFY(!spec.declaredKvDtype.has_value());
}

void ConfigTest::aliases_data()
{
    QTest::addColumn<QByteArray>("config");
    const auto row = [](const char *name, const json &config) { QTest::newRow(name) << dumped(config); };
    // The same model under every name that its numbers have.
    const auto renamed = [](const char *from, const char *to) {
        json config = llama();
        config[to] = config[from];
        config.erase(from);
        return config;
    };
    row("as it is", llama());
    for (const char *key : {"n_layer", "num_layers", "n_layers"})
        row(key, renamed("num_hidden_layers", key));
    for (const char *key : {"n_embd", "d_model", "dim"})
        row(key, renamed("hidden_size", key));
    for (const char *key : {"n_head", "num_heads"})
        row(key, renamed("num_attention_heads", key));
    for (const char *key : {"n_head_kv", "num_kv_heads"})
        row(key, renamed("num_key_value_heads", key));
    for (const char *key : {"n_positions", "max_sequence_length", "seq_length", "model_max_length"})
        row(key, renamed("max_position_embeddings", key));
    for (const char *key : {"head_dim", "attention_head_dim"})
        row(key, llama({{key, 8}}));
    row("dtype", renamed("torch_dtype", "dtype"));
    row("torch.bfloat16", llama({{"torch_dtype", "torch.bfloat16"}}));
    row("numbers as floats", llama({{"hidden_size", 64.0}, {"num_hidden_layers", 4.0}}));
    row("null is absent", llama({{"head_dim", nullptr},
                                 {"kv_lora_rank", nullptr},
                                 {"layer_types", nullptr},
                                 {"num_experts", nullptr},
                                 {"sliding_window", nullptr}}));
}

void ConfigTest::aliases()
{
    QFETCH(const QByteArray, config);
    const Result<ModelConfig> read_ = read(parsed(config));
    QVERIFY2(read_, read_ ? "" : read_.error().id.c_str());
    QCOMPARE(read_->spec.layers, 4U);
    QCOMPARE(read_->spec.hiddenSize, 64U);
    QCOMPARE(read_->spec.maxContextTokens, 512U);
    QCOMPARE(q(read_->spec.dtype), u"BF16"_s);
    QCOMPARE(layersOf(read_->spec), u"attention x4 k16 v16"_s);
}

void ConfigTest::nested_data()
{
    QTest::addColumn<QByteArray>("config");
    json inner = llama();
    inner.erase("architectures");
    const json vision{{"num_hidden_layers", 27}, {"hidden_size", 9999}, {"num_attention_heads", 3}};
    for (const char *key : {"text_config", "llm_config", "language_config"}) {
        QTest::newRow(key) << dumped(
            {{"architectures", {"SomeForConditionalGeneration"}}, {"vision_config", vision}, {key, inner}});
    }
    QTest::newRow("twice") << dumped(
        {{"architectures", {"OmniForConditionalGeneration"}},
         {"thinker_config", {{"text_config", inner}, {"vision_config", vision}}}});
    json split = inner;
    split.erase("vocab_size");
    split.erase("torch_dtype");
    QTest::newRow("some keys outside") << dumped({{"architectures", {"SomeForConditionalGeneration"}},
                                                  {"vocab_size", 100},
                                                  {"torch_dtype", "bfloat16"},
                                                  {"hidden_size", 1},
                                                  {"text_config", split}});
    QTest::newRow("architectures inside") << dumped({{"text_config", llama()}, {"model_type", "some"}});
}

void ConfigTest::nested()
{
    QFETCH(const QByteArray, config);
    const Result<ModelConfig> read_ = read(parsed(config));
    QVERIFY2(read_, read_ ? "" : read_.error().id.c_str());
    QCOMPARE(read_->spec.layers, 4U);
    QCOMPARE(read_->spec.hiddenSize, 64U);
    QCOMPARE(read_->spec.vocabularySize, 100U);
    QCOMPARE(q(read_->spec.dtype), u"BF16"_s);
    QCOMPARE(layersOf(read_->spec), u"attention x4 k16 v16"_s);
}

void ConfigTest::layers_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const json &changes, const char *expected) {
        QTest::newRow(name) << dumped(llama(changes)) << q(expected);
    };
    row("no heads of its own for keys", {{"num_key_value_heads", nullptr}}, "attention x4 k64 v64");
    row("values of another width", {{"v_head_dim", 16}}, "attention x4 k16 v32");
    row("layer types",
        {{"layer_types", alternating(4, 2, "sliding_attention", "full_attention")}, {"sliding_window", 128}},
        "sliding_attention x2 k16 v16 w128; attention x2 k16 v16");
    row("layers_block_type",
        {{"layers_block_type", {"mamba", "moe", "attention", "mamba"}},
         {"mamba_num_heads", 4},
         {"mamba_head_dim", 8},
         {"ssm_state_size", 16},
         {"n_groups", 2},
         {"conv_kernel", 4}},
        "attention x1 k16 v16; mamba x2 c288 r512");
    row("one letter a layer",
        {{"hybrid_override_pattern", "M-*E"},
         {"mamba_num_heads", 4},
         {"mamba_head_dim", 8},
         {"ssm_state_size", 16},
         {"n_groups", 2},
         {"conv_kernel", 4}},
        "attention x1 k16 v16; mamba x1 c288 r512");
    row("every fourth attends",
        {{"linear_num_key_heads", 2},
         {"linear_num_value_heads", 4},
         {"linear_key_head_dim", 8},
         {"linear_value_head_dim", 16},
         {"linear_conv_kernel_dim", 4}},
        "attention x1 k16 v16; gated_delta_net x3 c288 r512");
    row("every second attends",
        {{"linear_num_key_heads", 2},
         {"linear_num_value_heads", 4},
         {"linear_key_head_dim", 8},
         {"linear_value_head_dim", 16},
         {"full_attention_interval", 2}},
        "attention x2 k16 v16; gated_delta_net x2 c288 r512");
    row("interval of zero", {{"linear_num_key_heads", 2}, {"full_attention_interval", 0}},
        "attention x4 k16 v16");
    row("KDA, counted from one",
        {{"kv_lora_rank", 32},
         {"qk_rope_head_dim", 8},
         {"linear_attn_config",
          {{"kda_layers", {1, 2, 3, 99, 0}},
           {"num_heads", 4},
           {"head_dim", 16},
           {"short_conv_kernel_size", 4}}}},
        "mla x1 k40 v0; kda x3 c576 r1024");
    row("MLA", {{"kv_lora_rank", 512}, {"qk_rope_head_dim", 64}, {"v_head_dim", 128}}, "mla x4 k576 v0");
    row("MLA with an indexer",
        {{"kv_lora_rank", 512}, {"qk_rope_head_dim", 64}, {"index_topk", 2048}, {"index_head_dim", 128}},
        "mla x4 k576 v0 i128 top2048");
    row("short convolution by list", {{"full_attn_idxs", {1, 3, 77}}, {"conv_L_cache", 3}},
        "attention x2 k16 v16; short_convolution x2 c128 r0");
    row("window by list", {{"hybrid_layer_pattern", {0, 1, 1, 0}}, {"sliding_window", 32}},
        "attention x2 k16 v16; sliding_attention x2 k16 v16 w32");
    row("window with heads of its own",
        {{"hybrid_layer_pattern", {0, 1, 1, 1}},
         {"sliding_window", 32},
         {"swa_num_key_value_heads", 4},
         {"swa_head_dim", 4},
         {"swa_v_head_dim", 2}},
        "attention x1 k16 v16; sliding_attention x3 k16 v8 w32");
    row("sliding_window_pattern", {{"sliding_window_pattern", 2}, {"sliding_window", 32}},
        "sliding_attention x2 k16 v16 w32; attention x2 k16 v16");
    row("Gemma 3 by default",
        {{"model_type", "gemma3_text"}, {"num_hidden_layers", 12}, {"sliding_window", 32}},
        "sliding_attention x10 k16 v16 w32; attention x2 k16 v16");
    row("Gemma 2", {{"model_type", "gemma2"}, {"sliding_window", 32}},
        "sliding_attention x2 k16 v16 w32; attention x2 k16 v16");
    row("Llama 4 in chunks", {{"model_type", "llama4_text"}, {"attention_chunk_size", 64}},
        "sliding_attention x3 k16 v16 w64; attention x1 k16 v16");
    row("Llama 4 by list",
        {{"model_type", "llama4_text"}, {"attention_chunk_size", 64}, {"no_rope_layers", {1, 0, 1, 0}}},
        "sliding_attention x2 k16 v16 w64; attention x2 k16 v16");
    row("Mistral", {{"model_type", "mistral"}, {"sliding_window", 32}}, "sliding_attention x4 k16 v16 w32");
    row("Qwen 2 carries a window that is off",
        {{"model_type", "qwen2"},
         {"sliding_window", 32},
         {"use_sliding_window", false},
         {"max_window_layers", 2}},
        "attention x4 k16 v16");
    row("Gemma 4",
        {{"model_type", "gemma4_text"},
         {"layer_types", alternating(4, 4, "sliding_attention", "full_attention")},
         {"sliding_window", 32},
         {"num_global_key_value_heads", 1},
         {"global_head_dim", 64}},
        "sliding_attention x3 k16 v16 w32; attention x1 k64 v64");
    row("layers that share a cache", {{"num_kv_shared_layers", 3}}, "attention x1 k16 v16");
    row("all share", {{"num_kv_shared_layers", 4}}, "");
    row("Mamba by expansion",
        {{"layers_block_type", {"mamba", "mamba", "mamba", "attention"}},
         {"mamba_n_heads", 16},
         {"mamba_d_state", 8},
         {"mamba_n_groups", 1},
         {"mamba_d_conv", 4},
         {"mamba_expand", 2}},
        "attention x1 k16 v16; mamba x3 c432 r1024");
    row("more names than layers",
        {{"layer_types", alternating(9, 2, "sliding_attention", "full_attention")}, {"sliding_window", 128}},
        "sliding_attention x2 k16 v16 w128; attention x2 k16 v16");
    row("fewer names than layers", {{"layer_types", {"sliding_attention"}}, {"sliding_window", 128}},
        "sliding_attention x1 k16 v16 w128; attention x3 k16 v16");
    row("names that are no texts",
        {{"layer_types", {1, nullptr, "sliding_attention", {}}}, {"sliding_window", 9}},
        "attention x3 k16 v16; sliding_attention x1 k16 v16 w9");
}

void ConfigTest::layers()
{
    QFETCH(const QByteArray, config);
    QFETCH(const QString, expected);
    const Result<ModelConfig> read_ = read(parsed(config));
    QVERIFY2(read_, read_ ? "" : read_.error().id.c_str());
    QCOMPARE(layersOf(read_->spec), expected);
    QCOMPARE(read_->layerKinds.size(), std::size_t{read_->spec.layers});
}

void ConfigTest::publishedFigures_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<quint64>("perToken"); // bytes at 16 bit, beyond the window
    QTest::addColumn<double>("perSequence"); // MB of state, or of full windows
    const auto row = [](const char *name, const json &config, quint64 perToken, double perSequence) {
        QTest::newRow(name) << dumped(config) << perToken << perSequence;
    };
    const auto base = [](int layers, int hidden, int heads, int kvHeads, int headDim) {
        return json{{"architectures", {"X"}},       {"model_type", "x"},
                    {"num_hidden_layers", layers},  {"hidden_size", hidden},
                    {"num_attention_heads", heads}, {"num_key_value_heads", kvHeads},
                    {"head_dim", headDim},          {"torch_dtype", "bfloat16"}};
    };
    const auto with = [](json config, const json &changes) {
        config.update(changes);
        return config;
    };
    row("Llama 3.1 70B", base(80, 8192, 64, 8, 128), 327'680, 0);
    row("Qwen2.5 7B", base(28, 3584, 28, 4, 128), 57'344, 0);
    row("Qwen3 30B-A3B", base(48, 2048, 32, 4, 128), 98'304, 0);
    row("gpt-oss-120b",
        with(base(36, 2880, 64, 8, 64),
             {{"layer_types", alternating(36, 2, "sliding_attention", "full_attention")},
              {"sliding_window", 128}}),
        36'864, 4.7);
    const json gatedDeltaNet{{"linear_num_key_heads", 16},  {"linear_num_value_heads", 64},
                             {"linear_key_head_dim", 128},  {"linear_value_head_dim", 128},
                             {"linear_conv_kernel_dim", 4}, {"full_attention_interval", 4},
                             {"mamba_ssm_dtype", "float32"}};
    row("Qwen3.5-122B-A10B", with(base(48, 3072, 32, 2, 256), gatedDeltaNet), 24'576, 153.65);
    row("Qwen3.6-35B-A3B",
        with(with(base(40, 2048, 16, 2, 256), gatedDeltaNet), {{"linear_num_value_heads", 32}}), 20'480,
        64.4);
    row("GLM-4.7-Flash", with(base(47, 2048, 20, 20, 64), {{"kv_lora_rank", 512}, {"qk_rope_head_dim", 64}}),
        54'144, 0);
    row("DeepSeek V3", with(base(61, 7168, 128, 128, 56), {{"kv_lora_rank", 512}, {"qk_rope_head_dim", 64}}),
        70'272, 0);
    json kda = json::array();
    for (int i = 1; i <= 27; ++i) {
        if (i % 4 != 0 && i != 27)
            kda.push_back(i);
    }
    row("Kimi-Linear 48B",
        with(base(27, 2304, 32, 32, 72),
             {{"kv_lora_rank", 512},
              {"qk_rope_head_dim", 64},
              {"linear_attn_config",
               {{"kda_layers", kda}, {"num_heads", 32}, {"head_dim", 128}, {"short_conv_kernel_size", 4}}}}),
        8'064, 43.4);
    std::string pattern;
    for (int i = 0; i < 88; ++i)
        pattern += i < 40 ? 'M' : i < 80 ? 'E' : '*';
    row("Nemotron 3 Super",
        with(base(88, 4096, 32, 2, 128), {{"hybrid_override_pattern", pattern},
                                          {"mamba_num_heads", 128},
                                          {"mamba_head_dim", 64},
                                          {"ssm_state_size", 128},
                                          {"n_groups", 8},
                                          {"conv_kernel", 4}}),
        8'192, 170.2);
    row("Gemma 4 26B-A4B",
        with(base(30, 2816, 16, 8, 256),
             {{"model_type", "gemma4_text"},
              {"layer_types", alternating(30, 6, "sliding_attention", "full_attention")},
              {"sliding_window", 1024},
              {"num_global_key_value_heads", 2},
              {"global_head_dim", 512}}),
        20'480, 209.7);
}

void ConfigTest::publishedFigures()
{
    QFETCH(const QByteArray, config);
    QFETCH(const quint64, perToken);
    QFETCH(const double, perSequence);
    const Result<ModelConfig> read_ = read(parsed(config));
    QVERIFY2(read_, read_ ? "" : read_.error().id.c_str());
    const ModelSpec &spec = read_->spec;
    constexpr ElementSize sixteen{2, 1};
    QCOMPARE(quint64{kvBytesPerToken(spec, 1'000'000, sixteen, sixteen)}, perToken);
    const std::uint64_t windows =
        kvBytesRead(spec, 1'000'000, sixteen, sixteen) - std::uint64_t{perToken} * 1'000'000;
    const double megabytes = static_cast<double>(windows + stateBytes(spec, {}, {})) / 1e6;
    QVERIFY2(std::abs(megabytes - perSequence) <= 0.05, qPrintable(QString::number(megabytes)));
}

void ConfigTest::experts_data()
{
    QTest::addColumn<QByteArray>("changes");
    QTest::addColumn<QString>("expected"); // active/experts, or the error
    const auto row = [](const char *name, const json &changes, const char *expected) {
        QTest::newRow(name) << dumped(changes) << q(expected);
    };
    for (const char *count : {"num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts"})
        row(count, {{count, 64}, {"num_experts_per_tok", 4}}, "4/64");
    for (const char *active : {"num_experts_per_tok", "num_experts_per_token", "experts_per_token",
                               "top_k_experts", "moe_topk", "moe_k", "moe_top_k"})
        row(active, {{"num_experts", 64}, {active, 4}}, "4/64");
    row("a list of one a layer", {{"num_experts", {64, 64}}, {"num_experts_per_tok", {4, 4}}}, "4/64");
    row("none", json::object(), "0/0");
    row("one is dense", {{"num_experts", 1}, {"num_experts_per_tok", 1}}, "0/0");
    row("block turned off", {{"num_experts", 64}, {"num_experts_per_tok", 4}, {"enable_moe_block", false}},
        "0/0");
    row("none awake", {{"num_experts", 64}}, "config.bad-experts");
    row("zero awake", {{"num_experts", 64}, {"num_experts_per_tok", 0}}, "config.bad-experts");
    row("more awake than there are", {{"num_experts", 64}, {"num_experts_per_tok", 65}},
        "config.bad-experts");
    row("all awake", {{"num_experts", 64}, {"num_experts_per_tok", 64}}, "64/64");
    row("negative", {{"num_experts", -1}, {"num_experts_per_tok", 4}}, "config.bad-number");
}

void ConfigTest::experts()
{
    QFETCH(const QByteArray, changes);
    QFETCH(const QString, expected);
    const Result<ModelConfig> config = read(llama(parsed(changes)));
    QCOMPARE(config ? u"%1/%2"_s.arg(config->spec.expertsPerToken).arg(config->spec.experts)
                    : q(config.error().id),
             expected);
}

void ConfigTest::dtypes_data()
{
    QTest::addColumn<QByteArray>("changes");
    QTest::addColumn<QString>("dtype");
    const auto row = [](const json &changes, const char *dtype) {
        QTest::newRow(changes.dump().c_str()) << dumped(changes) << q(dtype);
    };
    row({{"torch_dtype", "bfloat16"}}, "BF16");
    row({{"torch_dtype", "float16"}}, "F16");
    row({{"torch_dtype", "float32"}}, "F32");
    row({{"torch_dtype", "torch.float16"}}, "F16");
    row({{"torch_dtype", nullptr}, {"dtype", "float16"}}, "F16");
    row({{"torch_dtype", nullptr}}, "BF16");
    row({{"torch_dtype", 16}}, "BF16");
}

void ConfigTest::dtypes()
{
    QFETCH(const QByteArray, changes);
    QFETCH(const QString, dtype);
    QCOMPARE(q(read(llama(parsed(changes)))->spec.dtype), dtype);
}

void ConfigTest::quantization_data()
{
    QTest::addColumn<QByteArray>("changes");
    QTest::addColumn<QByteArray>("side"); // of hf_quant_config.json and the like
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const json &changes, const json &side, const char *expected) {
        QTest::newRow(name) << dumped(changes) << (side.is_null() ? QByteArray() : dumped(side))
                            << q(expected);
    };
    const auto declared = [](const json &quantization) {
        return json{{"quantization_config", quantization}};
    };
    row("none", json::object(), nullptr, " 0 0");
    row("GPTQ", declared({{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}}), nullptr,
        "gptq 4 128");
    row("GPTQ by column", declared({{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 0}}), nullptr,
        "gptq 4 0");
    row("AutoRound", declared({{"quant_method", "auto-round"}, {"bits", 4}, {"group_size", 128}}), nullptr,
        "auto-round 4 128");
    row("AWQ", declared({{"quant_method", "awq"}, {"w_bit", 4}, {"q_group_size", 128}}), nullptr,
        "awq 4 128");
    row("AWQ without method", declared({{"w_bit", 4}, {"q_group_size", 128}}), nullptr, "awq 4 128");
    row("MLX", {{"quantization", {{"group_size", 64}, {"bits", 4}}}}, nullptr, "mlx 4 64");
    row("compressed-tensors",
        declared({{"quant_method", "compressed-tensors"},
                  {"format", "pack-quantized"},
                  {"config_groups", {{"group_0", {{"weights", {{"num_bits", 4}, {"group_size", 32}}}}}}}}),
        nullptr, "compressed-tensors 4 32 pack-quantized");
    row("FP8", declared({{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}}), nullptr, "fp8 0 0");
    row("MXFP4", declared({{"quant_method", "mxfp4"}}), nullptr, "mxfp4 0 0");
    row("inside text_config",
        {{"text_config", llama(declared({{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}}))}},
        nullptr, "gptq 4 128");
    row("ModelOpt beside", json::object(), {{"quantization", {{"quant_algo", "NVFP4"}, {"group_size", 16}}}},
        "modelopt 0 16 NVFP4");
    row("what the config says wins", declared({{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}}),
        {{"quantization", {{"quant_algo", "NVFP4"}, {"group_size", 16}}}}, "gptq 4 128");
}

void ConfigTest::quantization()
{
    QFETCH(const QByteArray, changes);
    QFETCH(const QByteArray, side);
    QFETCH(const QString, expected);
    const json sideFile = side.isEmpty() ? json() : parsed(side);
    const Result<ModelConfig> config = read(llama(parsed(changes)), side.isEmpty() ? nullptr : &sideFile);
    QVERIFY2(config, config ? "" : config.error().id.c_str());
    const QuantizationConfig &found = config->quantization;
    QString text = u"%1 %2 %3"_s.arg(q(found.method)).arg(found.bits).arg(found.groupSize);
    if (!found.format.empty())
        text += u' ' + q(found.format);
    QCOMPARE(text, expected);
}

void ConfigTest::kvScheme()
{
    const json scheme{{"quantization_config",
                       {{"quant_method", "compressed-tensors"}, {"kv_cache_scheme", {{"num_bits", 8}}}}}};
    QCOMPARE(read(llama(scheme))->spec.declaredKvDtype, std::optional<std::string>("fp8"));
    const json modelopt{{"quantization", {{"quant_algo", "FP8"}, {"kv_cache_quant_algo", "FP8"}}}};
    QCOMPARE(read(llama(), &modelopt)->spec.declaredKvDtype, std::optional<std::string>("fp8"));
    QVERIFY(!read(llama({{"quantization_config", {{"kv_cache_scheme", nullptr}}}}))->spec.declaredKvDtype);
    QVERIFY(!read(llama({{"quantization_config", {{"kv_cache_scheme", {{"num_bits", "8"}}}}}}))
                 ->spec.declaredKvDtype);
}

void ConfigTest::badNumbers_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QByteArray>("value");
    for (const char *key :
         {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim",
          "vocab_size", "max_position_embeddings", "num_experts", "kv_lora_rank", "sliding_window",
          "num_kv_shared_layers", "mtp_num_hidden_layers"}) {
        for (const char *value :
             {"-1", "1.5", "\"8\"", "1e30", "18446744073709551615", "true", "{}", "[]", "[1,\"a\"]", "[-1]"})
            QTest::addRow("%s %s", key, value) << q(key) << QByteArray(value);
    }
}

void ConfigTest::badNumbers()
{
    QFETCH(const QString, key);
    QFETCH(const QByteArray, value);
    const Result<ModelConfig> config = read(llama({{s(key), parsed(value)}}));
    QVERIFY2(!config, "accepted");
    QCOMPARE(q(config.error().id), u"config.bad-number"_s);
    QCOMPARE(argumentText(config.error().arguments, "key"), key);
    QCOMPARE(config.error().kind, ErrorKind::Unreadable);
}

void ConfigTest::otherKinds_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const json &config,
                        const char *expected = "config.not-language-model") {
        QTest::newRow(name) << dumped(config) << q(expected);
    };
    row("Whisper", {{"architectures", {"WhisperForConditionalGeneration"}},
                    {"model_type", "whisper"},
                    {"is_encoder_decoder", true},
                    {"num_hidden_layers", 4}});
    row("T5", {{"architectures", {"T5ForConditionalGeneration"}}, {"model_type", "t5"}, {"num_layers", 8}});
    row("BERT", {{"architectures", {"BertModel"}}, {"model_type", "bert"}, {"num_hidden_layers", 6}});
    row("CLIP", {{"architectures", {"CLIPModel"}},
                 {"model_type", "clip"},
                 {"text_config", {{"model_type", "clip_text_model"}, {"num_hidden_layers", 2}}}});
    row("encoder-decoder by its flag",
        {{"model_type", "new"}, {"is_encoder_decoder", true}, {"num_hidden_layers", 2}});
    row("classifier", llama({{"architectures", {"LlamaForSequenceClassification"}}}));
    row("masked language model", llama({{"architectures", {"NewForMaskedLM"}}}));
    row("diffusion part", {{"_class_name", "UNet2DConditionModel"}, {"layers_per_block", 2}});
    row("diffusion transformer", {{"_class_name", "FluxTransformer2DModel"}, {"num_layers", 19}});
    row("speech",
        {{"architectures", {"Wav2Vec2ForCTC"}}, {"model_type", "wav2vec2"}, {"num_hidden_layers", 12}});
    row("nothing known", {{"a", 1}}, "config.no-layers");
    row("empty", json::object(), "config.no-layers");
    row("no layers", llama({{"num_hidden_layers", 0}}), "config.no-layers");
    row("adapter", {{"peft_type", "LORA"}, {"base_model_name_or_path", "a/b"}}, "config.no-layers");
}

void ConfigTest::otherKinds()
{
    QFETCH(const QByteArray, config);
    QFETCH(const QString, expected);
    const Result<ModelConfig> read_ = read(parsed(config));
    QVERIFY(!read_);
    QCOMPARE(q(read_.error().id), expected);
    QCOMPARE(read_.error().kind, ErrorKind::NotLanguageModel);
    QVERIFY(!argumentText(read_.error().arguments, "architecture").isEmpty());
}

void ConfigTest::wrongTypesNeverThrow()
{
    // Every key of a rich config with every type of value: an answer or an error, no exception.
    const json rich =
        llama({{"layer_types", {"full_attention"}},
               {"hybrid_override_pattern", nullptr},
               {"layers_block_type", nullptr},
               {"linear_attn_config", {{"kda_layers", {1}}, {"num_heads", 1}, {"head_dim", 8}}},
               {"hybrid_layer_pattern", nullptr},
               {"full_attn_idxs", nullptr},
               {"full_attention_interval", 4},
               {"linear_num_key_heads", nullptr},
               {"sliding_window", 8},
               {"sliding_window_pattern", nullptr},
               {"attention_chunk_size", nullptr},
               {"no_rope_layers", nullptr},
               {"text_config", nullptr},
               {"architectures", {"X"}},
               {"quantization_config", {{"quant_method", "gptq"}, {"config_groups", {{"g", 1}}}}},
               {"compression_config", nullptr},
               {"quantization", nullptr},
               {"tie_word_embeddings", true},
               {"is_encoder_decoder", false},
               {"num_experts", 8},
               {"num_experts_per_tok", 2},
               {"enable_moe_block", nullptr},
               {"mamba_d_ssm", nullptr},
               {"mamba_ssm_dtype", nullptr},
               {"model_type", "llama4"}});
    for (const auto &[key, value] : rich.items()) {
        for (const json &wrong :
             {json(nullptr), json(true), json(-1), json(3), json(1e300), json("text"), json(""),
              json::array(), json::array({nullptr}), json::array({"a", 1, {}}), json::object(),
              json{{"a", 1}}, json{{"quant_method", 4}, {"bits", "x"}, {"config_groups", 7}}}) {
            json altered = rich;
            altered[key] = wrong;
            const Result<ModelConfig> read_ = read(altered);
            if (read_)
                QCOMPARE(read_->layerKinds.size(), std::size_t{read_->spec.layers});
            const Result<ModelConfig> side = read(llama(), &wrong);
            QVERIFY(side || !side.error().id.empty());
        }
    }
}

void ConfigTest::everySharedConfig_data()
{
    QTest::addColumn<QString>("file");
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (shared && fs::is_directory(*shared / "checkpoints")) {
        for (const auto &each : fs::recursive_directory_iterator(*shared / "checkpoints")) {
            if (each.path().filename() == "config.json") {
                QTest::newRow(each.path().parent_path().lexically_relative(*shared).c_str())
                    << q(each.path().string());
            }
        }
    }
    QTest::newRow("none") << QString();
}

void ConfigTest::everySharedConfig()
{
    QFETCH(const QString, file);
    if (file.isEmpty()) {
        if (!sharedFolder(WEIR_SOURCE_DIR))
            QSKIP("no folder with published configs (WEIR_SHARED_DIR)");
        return;
    }
    std::ifstream stream(s(file), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    const Result<json> config = parseTolerant(text, s(file));
    if (!config) {
        QVERIFY(config.error().id.starts_with("json.") || config.error().id == "file.empty");
        return;
    }
    const Result<ModelConfig> read_ = read(*config);
    if (!read_) {
        QVERIFY2(read_.error().kind == ErrorKind::NotLanguageModel, read_.error().id.c_str());
        return;
    }
    const ModelSpec &spec = read_->spec;
    QVERIFY(spec.layers > 0 && spec.hiddenSize > 0 && spec.vocabularySize > 0);
    std::uint32_t layers = 0;
    for (const AttentionLayers &run : spec.attention) {
        layers += run.layers;
        QVERIFY(run.kElementsPerToken > 0);
        QVERIFY(run.kind != LayerKind::SlidingAttention || run.window);
    }
    for (const StateLayers &run : spec.state)
        QVERIFY(run.convolutionElements > 0);
    QVERIFY(layers <= spec.layers);
    QVERIFY(!spec.attention.empty() || !spec.state.empty());
}

void ConfigTest::sharedOtherKinds_data()
{
    QTest::addColumn<QString>("pattern");
    for (const char *name : {"whisper", "clip", "bart", "t5", "MiniLM", "unet"})
        QTest::newRow(name) << q(name);
}

void ConfigTest::sharedOtherKinds()
{
    QFETCH(const QString, pattern);
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (!shared || !fs::is_directory(*shared / "checkpoints"))
        QSKIP("no folder with published configs (WEIR_SHARED_DIR)");
    int checked = 0;
    for (const auto &each : fs::directory_iterator(*shared / "checkpoints")) {
        const QString name = q(each.path().filename().string());
        if (!name.contains(pattern) || !fs::exists(each.path() / "config.json"))
            continue;
        std::ifstream stream(each.path() / "config.json", std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(stream), {});
        const Result<json> config = parseTolerant(text, "config.json");
        QVERIFY2(config, qPrintable(name));
        const Result<ModelConfig> read_ = read(*config);
        QVERIFY2(!read_, qPrintable(name));
        QCOMPARE(read_.error().kind, ErrorKind::NotLanguageModel);
        ++checked;
    }
    if (checked == 0)
        QSKIP("no such config in the shared folder");
}

QTEST_GUILESS_MAIN(ConfigTest)
#include "tst_config.moc"

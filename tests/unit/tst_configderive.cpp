// SPDX-License-Identifier: GPL-3.0-or-later
//
// Checkpoints derived from a config alone. Totals come from three sources that do not share a line with the
// derivation: sums made by hand below, `derivedtotals.jsonl` (configs with few, odd or absent keys, whose
// parameters the transformers library counted), and, where it is there, the material beside the repository.
#include "models/checkpoint/configderive.h"

#include "models/base/tolerantjson.h"
#include "models/sources/open.h"
#include "tests/support/safetensorsbuilder.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QElapsedTimer>
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

namespace {

std::uint64_t parameters(const Checkpoint &checkpoint, Component component)
{
    const ComponentSum *sum = checkpoint.sum(component);
    return sum == nullptr ? 0 : sum->parameters;
}

/// All parameters but those of the draft head.
std::uint64_t withoutDraft(const Checkpoint &checkpoint)
{
    return checkpoint.parametersTotal() - parameters(checkpoint, Component::Mtp);
}

std::optional<std::string> textOf(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

Result<Checkpoint> derived(const Json &config)
{
    // As read from a file: there, what is not negative is unsigned.
    return deriveCheckpoint(Json::parse(config.dump()), nullptr, "config.json");
}

void setType(Json &config, const char *modelType, const char *architecture)
{
    config["model_type"] = modelType;
    config["architectures"] = {architecture};
}

/// A small Llama: 2 layers, 8 wide, 2 heads of 4, 16 in between, 32 tokens.
Json llama()
{
    return {{"architectures", {"LlamaForCausalLM"}},
            {"model_type", "llama"},
            {"num_hidden_layers", 2},
            {"hidden_size", 8},
            {"num_attention_heads", 2},
            {"intermediate_size", 16},
            {"vocab_size", 32},
            {"torch_dtype", "float16"}};
}

QString noteIds(const std::vector<Message> &notes)
{
    QStringList ids;
    for (const Message &note : notes)
        ids += q(note.id);
    return ids.join(u' ');
}

/// The groups of a checkpoint as lines that can be compared.
std::set<std::string> lines(const Checkpoint &checkpoint)
{
    std::set<std::string> lines;
    for (const TensorGroup &group : checkpoint.groups) {
        lines.insert(Json{group.pattern, componentId(group.component), roleId(group.role),
                          layerKindId(group.layerKind), group.layers, group.dtype, group.shape, group.count,
                          group.bytes, group.parameters}
                         .dump());
    }
    return lines;
}

} // namespace

class ConfigDeriveTest : public QObject
{
    Q_OBJECT

private slots:
    void small_data();
    void small();
    void names();
    void draftHeads();
    void countedByTheLibrary_data();
    void countedByTheLibrary();
    void hostile_data();
    void hostile();
    void comparison();
    void loneConfig();
    void indexWithoutFiles();
    void headersAgainstConfig();
    void published_data();
    void published();
    void forged_data();
    void forged();
};

void ConfigDeriveTest::small_data()
{
    QTest::addColumn<QString>("config");
    QTest::addColumn<quint64>("total");
    const auto row = [](const char *name, const Json &config, std::uint64_t total) {
        QTest::newRow(name) << q(config.dump()) << quint64{total};
    };
    // Tables 32 x 8, and a layer of q, k, v, o (8 x 8 each), three matrices of 8 x 16 and two norms of 8.
    constexpr std::uint64_t table = 256;
    constexpr std::uint64_t layer = 4 * 64 + 3 * 128 + 2 * 8;
    row("llama", llama(), 2 * table + 2 * layer + 8);
    Json config = llama();
    config["tie_word_embeddings"] = true;
    row("tied", config, table + 2 * layer + 8);
    config = llama();
    config["num_key_value_heads"] = 1; // halves k and v
    row("one key head", config, 2 * table + 2 * (layer - 64) + 8);
    config = llama();
    config["head_dim"] = 6; // q, k, v, o of 8 x 12
    row("head width", config, 2 * table + 2 * (layer + 4 * 32) + 8);
    config = llama();
    config["attention_bias"] = true; // q, k, v, o
    config["mlp_bias"] = true; // 16 + 16 + 8
    row("biases", config, 2 * table + 2 * (layer + 4 * 8 + 40) + 8);
    config = llama();
    config["head_dim"] = nullptr; // as good as absent
    row("null", config, 2 * table + 2 * layer + 8);

    config = llama();
    setType(config, "qwen2", "Qwen2ForCausalLM");
    config["num_key_value_heads"] = 2;
    row("qwen2: q, k, v have a bias", config, 2 * table + 2 * (layer + 3 * 8) + 8);
    setType(config, "qwen3", "Qwen3ForCausalLM");
    row("qwen3: heads are 128 wide", config, 2 * table + 2 * (4 * 2048 + 2 * 128 + 3 * 128 + 16) + 8);
    setType(config, "gemma2", "Gemma2ForCausalLM");
    config["head_dim"] = 4;
    row("gemma2: tied, four norms", config, table + 2 * (layer + 16) + 8);
    setType(config, "olmo2", "Olmo2ForCausalLM"); // norms over all heads
    row("olmo2", config, 2 * table + 2 * (layer + 16) + 8);
    setType(config, "phi3", "Phi3ForCausalLM");
    row("phi3: fused, but as many", config, 2 * table + 2 * layer + 8);
    setType(config, "starcoder2",
            "Starcoder2ForCausalLM"); // tied, biases everywhere, two matrices, norms with a bias
    row("starcoder2", config, table + 2 * (4 * 64 + 4 * 8 + 2 * 128 + 24 + 2 * 16) + 16);

    // 4 experts of 3 x 8 x 4 and a gate of 4 x 8 in the place of the 3 x 128.
    constexpr std::uint64_t experts = 4 * 96 + 32;
    config = llama();
    setType(config, "qwen3_moe", "Qwen3MoeForCausalLM");
    config.update({{"head_dim", 4},
                   {"num_key_value_heads", 2},
                   {"num_experts", 4},
                   {"num_experts_per_tok", 2},
                   {"moe_intermediate_size", 4}});
    constexpr std::uint64_t rest = 4 * 64 + 2 * 4 + 16;
    row("qwen3_moe", config, 2 * table + 2 * (rest + experts) + 8);
    config["mlp_only_layers"] = {1};
    row("a dense layer", config, 2 * table + 2 * rest + experts + 384 + 8);
    config["mlp_only_layers"] = Json::array();
    config["decoder_sparse_step"] = 2;
    row("every second layer", config, 2 * table + 2 * rest + experts + 384 + 8);
    config.erase("num_experts");
    config["num_local_experts"] = 4; // another name of the same key
    row("another name", config, 2 * table + 2 * rest + experts + 384 + 8);

    config = llama();
    setType(config, "deepseek_v3", "DeepseekV3ForCausalLM");
    config.update({{"q_lora_rank", nullptr},
                   {"kv_lora_rank", 4},
                   {"qk_nope_head_dim", 3},
                   {"qk_rope_head_dim", 2},
                   {"v_head_dim", 3},
                   {"n_routed_experts", 4},
                   {"num_experts_per_tok", 2},
                   {"n_shared_experts", 0},
                   {"first_k_dense_replace", 1},
                   {"moe_intermediate_size", 4}});
    // q 10 x 8; kv_a 6 x 8 and its norm of 4; kv_b 12 x 4; o 8 x 6
    constexpr std::uint64_t latent = 80 + 48 + 4 + 48 + 48 + 16;
    row("latent attention without query rank", config, 2 * table + 2 * latent + 384 + experts + 4 + 8);
    config["q_lora_rank"] = 5; // q_a 5 x 8, norm, q_b 10 x 5 for the 80
    row("with query rank", config, 2 * table + 2 * (latent - 80 + 40 + 5 + 50) + 384 + experts + 4 + 8);
    config["n_shared_experts"] = 2;
    row("shared experts", config, 2 * table + 2 * (latent + 15) + 384 + experts + 4 + 3 * 64 + 8);
}

void ConfigDeriveTest::small()
{
    QFETCH(const QString, config);
    QFETCH(const quint64, total);
    const Result<Checkpoint> checkpoint = derived(Json::parse(s(config)));
    QCOMPARE(outcome(checkpoint), u"ok"_s);
    QCOMPARE(checkpoint->parametersTotal(), total);
    QCOMPARE(checkpoint->weightBytes(), 2 * total + (config.contains(u"deepseek"_s) ? 2 * 4 : 0)); // F32 bias
    QCOMPARE(checkpoint->source, Source::Config);
    QCOMPARE(checkpoint->provenance, Provenance::Config);
    QCOMPARE(checkpoint->format, Format::Safetensors);
    QCOMPARE(q(checkpoint->quantization), u"f16"_s);
    QCOMPARE(noteIds(checkpoint->notes).contains(u"unknown"_s), false);
}

void ConfigDeriveTest::names()
{
    const Result<Checkpoint> checkpoint = derived(llama());
    QCOMPARE(outcome(checkpoint), u"ok"_s);
    std::set<std::string> names;
    for (const TensorGroup &group : checkpoint->groups) {
        names.insert(group.pattern);
        QCOMPARE(group.count, group.pattern.find(".N.") == std::string::npos ? 1U : 2U);
        QCOMPARE(q(group.dtype), u"F16"_s);
    }
    const std::set<std::string> expected{"lm_head.weight",
                                         "model.embed_tokens.weight",
                                         "model.norm.weight",
                                         "model.layers.N.input_layernorm.weight",
                                         "model.layers.N.post_attention_layernorm.weight",
                                         "model.layers.N.self_attn.q_proj.weight",
                                         "model.layers.N.self_attn.k_proj.weight",
                                         "model.layers.N.self_attn.v_proj.weight",
                                         "model.layers.N.self_attn.o_proj.weight",
                                         "model.layers.N.mlp.gate_proj.weight",
                                         "model.layers.N.mlp.up_proj.weight",
                                         "model.layers.N.mlp.down_proj.weight"};
    QVERIFY(names == expected);
    // The class name alone tells the architecture too.
    Json config = llama();
    config.erase("model_type");
    const Result<Checkpoint> byClass = derived(config);
    QCOMPARE(outcome(byClass), u"ok"_s);
    QVERIFY(lines(*byClass) == lines(*checkpoint));
}

void ConfigDeriveTest::draftHeads()
{
    Json config = llama();
    config.update({{"model_type", "deepseek_v3"},
                   {"architectures", {"DeepseekV3ForCausalLM"}},
                   {"num_nextn_predict_layers", 1},
                   {"n_routed_experts", 4},
                   {"num_experts_per_tok", 2},
                   {"moe_intermediate_size", 4}});
    const Result<Checkpoint> with = derived(config);
    config["num_nextn_predict_layers"] = 0;
    const Result<Checkpoint> without = derived(config);
    QCOMPARE(outcome(with), u"ok"_s);
    QCOMPARE(outcome(without), u"ok"_s);
    QCOMPARE(withoutDraft(*with), without->parametersTotal());
    QCOMPARE(parameters(*without, Component::Mtp), 0U);
    // Two tables, the projection of 8 x 16, and three norms beside a whole layer.
    QVERIFY(parameters(*with, Component::Mtp) > 2 * 256 + 128 + 24);

    // Announced by all of them, stored by none.
    config["model_type"] = "minimax_m2";
    config["architectures"] = {"MiniMaxM2ForCausalLM"};
    config["num_local_experts"] = 4;
    config.erase("n_routed_experts");
    config.erase("num_nextn_predict_layers");
    config["num_mtp_modules"] = 3;
    const Result<Checkpoint> none = derived(config);
    QCOMPARE(outcome(none), u"ok"_s);
    QCOMPARE(noteIds(none->notes), u"checkpoint.draft-announced-only"_s);

    // Announced by an architecture whose draft head nobody has described.
    config = llama();
    config["num_nextn_predict_layers"] = 2;
    const Result<Checkpoint> unknown = derived(config);
    QCOMPARE(outcome(unknown), u"ok"_s);
    QCOMPARE(noteIds(unknown->notes), u"derive.draft-unknown"_s);
}

void ConfigDeriveTest::countedByTheLibrary_data()
{
    QTest::addColumn<QString>("config");
    QTest::addColumn<quint64>("total");
    std::ifstream stream(fs::path(WEIR_SOURCE_DIR) / "tests" / "unit" / "derivedtotals.jsonl");
    QVERIFY(stream);
    std::string line;
    while (std::getline(stream, line)) {
        const Json one = Json::parse(line);
        QTest::newRow(one["name"].get<std::string>().c_str())
            << q(one["config"].dump()) << quint64{one["total"].get<std::uint64_t>()};
    }
}

void ConfigDeriveTest::countedByTheLibrary()
{
    QFETCH(const QString, config);
    QFETCH(const quint64, total);
    const Result<Checkpoint> checkpoint = derived(Json::parse(s(config)));
    QCOMPARE(outcome(checkpoint), u"ok"_s);
    QCOMPARE(withoutDraft(*checkpoint), total);
    QCOMPARE(parameters(*checkpoint, Component::Other) > 200, false); // only scalars have no better place
}

void ConfigDeriveTest::hostile_data()
{
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("id");
    const auto row = [](const char *name, const Json &change, const char *id) {
        Json config = llama();
        config.update(change);
        QTest::newRow(name) << q(config.dump()) << q(id);
    };
    row("negative width", {{"hidden_size", -8}}, "config.bad-number");
    row("no width", {{"hidden_size", 0}}, "derive.bad-number");
    row("no heads", {{"num_attention_heads", 0}}, "derive.bad-number");
    row("no tokens", {{"vocab_size", 0}}, "derive.bad-number");
    row("a fraction of a layer", {{"num_hidden_layers", 1.5}}, "config.bad-number");
    row("a billion layers", {{"num_hidden_layers", 1'000'000'000}}, "config.bad-number");
    row("a width as text", {{"intermediate_size", "16"}}, "derive.bad-number");
    row("a width as a list", {{"hidden_size", Json::array({8, Json::array()})}}, "config.bad-number");
    row("a flag as a number", {{"attention_bias", 1}}, "derive.bad-number");
    row("a flag as an object", {{"tie_word_embeddings", Json::object()}}, "derive.bad-number");
    row("all as large as can be",
        {{"num_hidden_layers", 4096},
         {"hidden_size", 1U << 20U},
         {"head_dim", 1U << 20U},
         {"num_attention_heads", 1U << 20U},
         {"intermediate_size", 1U << 20U},
         {"vocab_size", 1'000'000'000}},
        "derive.too-large");
    row("experts without end",
        {{"model_type", "qwen3_moe"},
         {"num_experts", 1'000'000},
         {"num_experts_per_tok", 1},
         {"moe_intermediate_size", 1U << 20U},
         {"hidden_size", 1U << 20U},
         {"num_hidden_layers", 4096}},
        "derive.too-large");
    row("unknown", {{"model_type", "perceiver"}, {"architectures", {"PerceiverXForCausalLM"}}},
        "derive.unknown-architecture");
    row("no list of architectures", {{"model_type", 7}, {"architectures", 7}}, "derive.unknown-architecture");
    row("an encoder", {{"model_type", "bert"}, {"architectures", {"BertModel"}}},
        "config.not-language-model");
    row("layer types of another length", {{"model_type", "qwen3_next"}, {"layer_types", {"full_attention"}}},
        "derive.bad-number");
    row("layer types of no kind",
        {{"model_type", "qwen3_next"}, {"layer_types", {"full_attention", "convolution"}}},
        "derive.bad-number");
    row("layer types as numbers", {{"model_type", "qwen3_next"}, {"layer_types", {1, 2}}},
        "derive.bad-number");
    row("a letter that is no mixer", {{"model_type", "nemotron_h"}, {"hybrid_override_pattern", "MX"}},
        "derive.bad-number");
    row("a step of no layers",
        {{"model_type", "qwen3_moe"},
         {"decoder_sparse_step", 0},
         {"num_experts", 4},
         {"num_experts_per_tok", 1}},
        "derive.bad-number");
    row("dense layers beyond the end", {{"model_type", "qwen3_moe"}, {"mlp_only_layers", {1, 2, 3, 4, 5}}},
        "derive.bad-number");
    row("a tower without patches", {{"model_type", "gemma3"}, {"vision_config", {{"patch_size", 0}}}},
        "derive.bad-number");
    row("a tower of a billion layers",
        {{"model_type", "qwen3_vl"}, {"vision_config", {{"depth", 1'000'000'000}}}}, "derive.bad-number");
}

void ConfigDeriveTest::hostile()
{
    QFETCH(const QString, config);
    QFETCH(const QString, id);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(derived(Json::parse(s(config)))), id);
    QVERIFY2(timer.elapsed() < 5000, "a bad config must not take long");
}

void ConfigDeriveTest::comparison()
{
    const Checkpoint base = derived(llama()).value();
    QVERIFY(compareWithConfig(base, base).empty());

    Checkpoint read = base;
    const auto change = [&read](Component component, std::uint64_t amount) -> ComponentSum & {
        auto found = std::ranges::find(read.sums, component, &ComponentSum::component);
        if (found == read.sums.end()) {
            read.sums.push_back({});
            found = std::prev(read.sums.end());
            found->component = component;
        }
        found->parameters = amount;
        return *found;
    };
    change(Component::Mtp, 100);
    std::vector<Message> differences = compareWithConfig(read, base);
    QCOMPARE(noteIds(differences), u"derive.differs-draft"_s);
    QCOMPARE(differences.front().severity, Severity::Info);
    QCOMPARE(argumentText(differences.front().arguments, "stored"), u"100"_s);
    QCOMPARE(argumentText(differences.front().arguments, "derived"), u"0"_s);

    read = base;
    change(Component::DenseMlp, parameters(base, Component::DenseMlp) + 1);
    differences = compareWithConfig(read, base);
    QCOMPARE(noteIds(differences), u"derive.differs"_s);
    QCOMPARE(differences.front().severity, Severity::Warning);
    read.quantization = "gptq"; // rounded up
    differences = compareWithConfig(read, base);
    QCOMPARE(noteIds(differences), u"derive.differs-slightly"_s);
    QCOMPARE(differences.front().severity, Severity::Info);
    change(Component::DenseMlp, 2 * parameters(base, Component::DenseMlp));
    QCOMPARE(noteIds(compareWithConfig(read, base)), u"derive.differs"_s);

    Json tied = llama();
    tied["tie_word_embeddings"] = true;
    differences = compareWithConfig(base, derived(tied).value());
    QCOMPARE(noteIds(differences), u"derive.differs-tied"_s);
    QCOMPARE(differences.front().severity, Severity::Info);
}

void ConfigDeriveTest::loneConfig()
{
    const QTemporaryDir folder;
    const fs::path path = s(folder.path());
    Json config = llama();
    writeFile(path / "config.json", config.dump());
    writeFile(path / "tokenizer.json", "{}");
    for (const fs::path &argument : {path, path / "config.json"}) {
        const Result<CheckpointPtr> read = readPath(argument);
        QCOMPARE(outcome(read), u"ok"_s);
        QCOMPARE((*read)->parametersTotal(), 1832U);
        QCOMPARE(q(sourceId((*read)->source)), u"config"_s);
        QCOMPARE(q(provenanceId((*read)->provenance)), u"config"_s);
        QVERIFY((*read)->files.empty());
    }
    // Under another name, away from its folder.
    writeFile(path / "other" / "llama-small.json", config.dump());
    const Result<CheckpointPtr> other = readPath(path / "other" / "llama-small.json");
    QCOMPARE(outcome(other), u"ok"_s);
    QCOMPARE((*other)->parametersTotal(), 1832U);

    // A config that names no class is known by its type.
    config.erase("architectures");
    writeFile(path / "config.json", config.dump());
    const Result<CheckpointPtr> nameless = readPath(path);
    QCOMPARE(outcome(nameless), u"ok"_s);
    QCOMPARE((*nameless)->parametersTotal(), 1832U);
    QVERIFY(!noteIds((*nameless)->notes).contains(u"checkpoint.unknown-architecture"_s));

    config["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 4}};
    writeFile(path / "config.json", config.dump());
    const Result<CheckpointPtr> quantized = readPath(path);
    QCOMPARE(outcome(quantized), u"ok"_s);
    QCOMPARE((*quantized)->parametersTotal(), 1832U);
    // Matrices of this size are no whole number of groups: said, and not guessed.
    QVERIFY(noteIds((*quantized)->notes).contains(u"derive.not-quantized"_s)
            || (*quantized)->quantization.starts_with("gptq"));
    config["quantization_config"] = {{"quant_method", "a-method-of-tomorrow"}};
    writeFile(path / "config.json", config.dump());
    const Result<CheckpointPtr> tomorrow = readPath(path);
    QCOMPARE(outcome(tomorrow), u"ok"_s);
    QVERIFY(noteIds((*tomorrow)->notes).contains(u"derive.not-quantized"_s));

    // The older tools declare it in a file of their own, whose name tells the method: wide enough to be packed.
    Json wide = llama();
    wide.update({{"hidden_size", 128}, {"intermediate_size", 256}, {"head_dim", 64}});
    writeFile(path / "config.json", wide.dump());
    const Result<CheckpointPtr> plain = readPath(path);
    QCOMPARE(outcome(plain), u"ok"_s);
    for (const auto &[name, method] :
         {std::pair("quantize_config.json", "gptq"), {"quant_config.json", "awq"}}) {
        writeFile(path / name, R"({"bits": 4, "w_bit": 4, "group_size": 128, "q_group_size": 128})");
        const Result<CheckpointPtr> declared = readPath(path);
        QCOMPARE(outcome(declared), u"ok"_s);
        QVERIFY2((*declared)->quantization.starts_with(method), (*declared)->quantization.c_str());
        QVERIFY((*declared)->weightBytes() < (*plain)->weightBytes());
        QCOMPARE((*declared)->parametersTotal(), (*plain)->parametersTotal());
        writeFile(path / name, "{");
        const Result<CheckpointPtr> damaged = readPath(path);
        QCOMPARE(outcome(damaged), u"ok"_s);
        QCOMPARE((*damaged)->weightBytes(), (*plain)->weightBytes());
        QVERIFY(noteIds((*damaged)->notes).contains(u"config.side-file-unreadable"_s));
        fs::remove(path / name);
    }

    writeFile(path / "config.json", "<html></html>");
    QCOMPARE(outcome(readPath(path)), u"json.html"_s);
    writeFile(path / "config.json", R"({"model_type":"nobody-knows","num_hidden_layers":2})");
    QCOMPARE(outcome(readPath(path)), u"derive.unknown-architecture"_s);
    writeFile(path / "config.json", R"({"model_type":"bert","num_hidden_layers":2})");
    const Result<CheckpointPtr> encoder = readPath(path);
    QCOMPARE(outcome(encoder), u"config.not-language-model"_s);
    QCOMPARE(encoder.error().kind, ErrorKind::NotLanguageModel);
}

void ConfigDeriveTest::indexWithoutFiles()
{
    const QTemporaryDir folder;
    const fs::path path = s(folder.path());
    writeFile(path / "config.json", llama().dump());
    Json map = Json::object();
    const Checkpoint whole = derived(llama()).value();
    for (const TensorGroup &group : whole.groups) {
        const std::size_t place = group.pattern.find(".N.");
        for (std::uint64_t i = 0; i < group.count; ++i) {
            std::string name = group.pattern;
            if (place != std::string::npos)
                name.replace(place + 1, 1, std::to_string(i));
            map[name] = "model-00001-of-00001.safetensors";
        }
    }
    writeFile(path / "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
    const Result<CheckpointPtr> same = readPath(path);
    QCOMPARE(outcome(same), u"ok"_s);
    QCOMPARE(q(provenanceId((*same)->provenance)), u"index"_s);
    QCOMPARE((*same)->parametersTotal(), 1832U);

    map["model.layers.0.self_attn.q_proj.bias"] = "model-00001-of-00001.safetensors";
    writeFile(path / "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
    const Result<CheckpointPtr> more = readPath(path);
    QCOMPARE(outcome(more), u"ok"_s);
    QCOMPARE(q(provenanceId((*more)->provenance)), u"config"_s);
    QCOMPARE(q((*more)->notes.back().id), u"derive.index-differs"_s);
    QCOMPARE(argumentText((*more)->notes.back().arguments, "patterns"), u"1"_s);
    QCOMPARE(argumentText((*more)->notes.back().arguments, "first"),
             u"model.layers.N.self_attn.q_proj.bias"_s);

    // With one of its files, the index means a download that is not finished.
    SafetensorsBuilder().add("model.norm.weight", "F16", {8}).write(path / "other.safetensors");
    QCOMPARE(outcome(readPath(path)), u"folder.missing-shard"_s);
}

void ConfigDeriveTest::headersAgainstConfig()
{
    const QTemporaryDir folder;
    const fs::path path = s(folder.path());
    writeFile(path / "config.json", llama().dump());
    SafetensorsBuilder builder;
    const Checkpoint whole = derived(llama()).value();
    for (const TensorGroup &group : whole.groups) {
        const std::size_t place = group.pattern.find(".N.");
        for (std::uint64_t i = 0; i < group.count; ++i) {
            std::string name = group.pattern;
            if (place != std::string::npos)
                name.replace(place + 1, 1, std::to_string(i));
            builder.add(name, group.dtype, group.shape);
        }
    }
    builder.write(path / "model.safetensors");
    const Result<CheckpointPtr> same = readPath(path);
    QCOMPARE(outcome(same), u"ok"_s);
    QVERIFY((*same)->notes.empty());
    QCOMPARE(q(provenanceId((*same)->provenance)), u"headers"_s);

    Json config = llama();
    config["intermediate_size"] = 17;
    writeFile(path / "config.json", config.dump());
    const Result<CheckpointPtr> wider = readPath(path);
    QCOMPARE(outcome(wider), u"ok"_s);
    QCOMPARE(noteIds((*wider)->notes), u"derive.differs"_s);
    QCOMPARE(argumentText((*wider)->notes.front().arguments, "component"), u"dense_mlp"_s);
    QCOMPARE(argumentText((*wider)->notes.front().arguments, "stored"), u"768"_s);
    QCOMPARE(argumentText((*wider)->notes.front().arguments, "derived"), u"816"_s);

    // Where nothing can be derived, nothing is said.
    config["model_type"] = "nobody-knows";
    config["architectures"] = {"NobodyForCausalLM"};
    writeFile(path / "config.json", config.dump());
    const Result<CheckpointPtr> unknown = readPath(path);
    QCOMPARE(outcome(unknown), u"ok"_s);
    QVERIFY(!noteIds((*unknown)->notes).contains(u"derive."_s));
}

void ConfigDeriveTest::published_data()
{
    QTest::addColumn<QString>("config");
    QTest::addColumn<quint64>("total");
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (!shared || !fs::exists(*shared / "oracle" / "parameters.json"))
        QSKIP("no folder with published configs (WEIR_SHARED_DIR)");
    const Json models = Json::parse(textOf(*shared / "oracle" / "parameters.json").value())["models"];
    for (const auto &[name, model] : models.items()) {
        const fs::path config = *shared / "checkpoints" / name / "config.json";
        if (fs::exists(config))
            QTest::newRow(name.c_str())
                << q(config.string()) << quint64{model["parameters"].get<std::uint64_t>()};
    }
}

void ConfigDeriveTest::published()
{
    QFETCH(const QString, config);
    QFETCH(const quint64, total);
    const QTemporaryDir folder;
    const fs::path path = s(folder.path());
    writeFile(path / "config.json", textOf(s(config)).value());
    const Result<CheckpointPtr> read = readPath(path);
    if (!read) { // encoders, encoder-decoders and speech are in the list for completeness
        QCOMPARE(read.error().kind, ErrorKind::NotLanguageModel);
        const QString tag = q(QTest::currentDataTag());
        QVERIFY2(tag.contains(u"bart"_s) || tag.contains(u"t5-"_s) || tag.contains(u"clip"_s)
                     || tag.contains(u"whisper"_s) || tag.contains(u"MiniLM"_s),
                 "a decoder was refused");
        return;
    }
    QCOMPARE(withoutDraft(**read), total);
    for (const Message &note : (*read)->notes)
        QVERIFY2(note.id.starts_with("derive.") || note.id == "checkpoint.draft-announced-only",
                 note.id.c_str());
}

void ConfigDeriveTest::forged_data()
{
    QTest::addColumn<QString>("name");
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (!shared || !fs::exists(*shared / "oracle" / "expand.py"))
        QSKIP("no folder with forged repositories (WEIR_SHARED_DIR)");
    if (QStandardPaths::findExecutable(u"python3"_s).isEmpty())
        QSKIP("no python3 to expand the forged repositories");
    for (const auto &each : fs::directory_iterator(*shared / "oracle" / "forged")) {
        const Json expected = Json::parse(textOf(each.path() / "expected.json").value());
        if (expected.contains("variants"))
            continue; // GGUF
        bool plain = true;
        for (const auto &[id, component] : expected["components"].items()) {
            for (const auto &[dtype, bytes] : component["dtypes"].items())
                plain = plain && (dtype == "BF16" || dtype == "F16" || dtype == "F32");
        }
        const std::string name = each.path().filename().string();
        if (plain)
            QTest::newRow(name.c_str()) << q(name);
    }
}

/// Every group of tensors is the same as in the headers. Quantized repositories are compared where they are
/// read anyway: in tst_forged.
void ConfigDeriveTest::forged()
{
    QFETCH(const QString, name);
    const fs::path oracle = *sharedFolder(WEIR_SOURCE_DIR) / "oracle";
    const QTemporaryDir folder;
    QProcess process;
    process.start(u"python3"_s, {q((oracle / "expand.py").string()), folder.path(), name});
    QVERIFY(process.waitForFinished(120'000) && process.exitCode() == 0);
    const fs::path path = s(QString::fromUtf8(process.readAllStandardOutput()).trimmed());
    const Result<CheckpointPtr> read = readPath(path);
    QCOMPARE(outcome(read), u"ok"_s);

    const QTemporaryDir alone;
    writeFile(fs::path(s(alone.path())) / "config.json", textOf(path / "config.json").value());
    const Result<CheckpointPtr> derived = readPath(s(alone.path()));
    QCOMPARE(outcome(derived), u"ok"_s);
    const std::set<std::string> a = lines(**read);
    const std::set<std::string> b = lines(**derived);
    std::vector<std::string> different;
    std::ranges::set_symmetric_difference(a, b, std::back_inserter(different));
    QVERIFY2(different.empty(), different.empty() ? "" : different.front().c_str());
    QCOMPARE(q((*derived)->quantization), q((*read)->quantization));
    QCOMPARE((*derived)->spec.tiedEmbeddings, (*read)->spec.tiedEmbeddings);
    QCOMPARE((*derived)->spec.moeLayers, (*read)->spec.moeLayers);
}

QTEST_GUILESS_MAIN(ConfigDeriveTest)
#include "tst_configderive.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Experts in all their forms, draft heads, lookup tables and towers. One layer each, hidden size 64.
#include "tests/unit/formatkinds.h"

using nlohmann::json;

namespace weir::test {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t hidden = 64;
constexpr std::uint64_t words = 256;
constexpr std::uint64_t experts = 4;
constexpr std::uint64_t active = 2;
constexpr std::uint64_t inner = 128; ///< of an expert
constexpr std::uint64_t table = words * hidden * 2;
constexpr std::uint64_t attention = 2 * (64 * hidden * 2 + 32 * hidden * 2);

json baseConfig(const char *architecture, const char *type)
{
    return {{"architectures", {architecture}},
            {"model_type", type},
            {"hidden_size", hidden},
            {"num_hidden_layers", 1},
            {"num_attention_heads", 4},
            {"num_key_value_heads", 2},
            {"head_dim", 16},
            {"intermediate_size", inner},
            {"moe_intermediate_size", inner},
            {"vocab_size", words},
            {"max_position_embeddings", 2048},
            {"torch_dtype", "bfloat16"},
            {"tie_word_embeddings", false}};
}

json moeConfig(const char *architecture, const char *type)
{
    json config = baseConfig(architecture, type);
    config["num_experts"] = experts;
    config["num_experts_per_tok"] = active;
    return config;
}

/// Token tables, attention and norms, in BF16.
SafetensorsBuilder frame(const std::string &prefix = "model.", const std::string &head = "lm_head.weight")
{
    SafetensorsBuilder builder;
    builder.add(prefix + "embed_tokens.weight", "BF16", {words, hidden}).add(head, "BF16", {words, hidden});
    const std::string layer = prefix + "layers.0.";
    builder.add(prefix + "norm.weight", "BF16", {hidden})
        .add(layer + "input_layernorm.weight", "BF16", {hidden})
        .add(layer + "post_attention_layernorm.weight", "BF16", {hidden})
        .add(layer + "self_attn.q_proj.weight", "BF16", {64, hidden})
        .add(layer + "self_attn.k_proj.weight", "BF16", {32, hidden})
        .add(layer + "self_attn.v_proj.weight", "BF16", {32, hidden})
        .add(layer + "self_attn.o_proj.weight", "BF16", {hidden, 64});
    return builder;
}

SafetensorsBuilder &addDense(SafetensorsBuilder &builder, const std::string &layer)
{
    return builder.add(layer + "mlp.gate_proj.weight", "BF16", {inner, hidden})
        .add(layer + "mlp.up_proj.weight", "BF16", {inner, hidden})
        .add(layer + "mlp.down_proj.weight", "BF16", {hidden, inner});
}

constexpr std::uint64_t frameParameters = 2 * words * hidden + 3 * hidden + attention / 2;
constexpr std::uint64_t denseParameters = 3 * inner * hidden;
constexpr std::uint64_t expertParameters = experts * 3 * inner * hidden;

FormatKind kindOf(const std::string &id, const std::string &label, const json &config,
                  const SafetensorsBuilder &builder)
{
    FormatKind out;
    out.id = id;
    out.label = label;
    out.bytes = builder.dataBytes();
    out.make = [config, builder](const fs::path &folder) {
        writeFile(folder / "config.json", config.dump());
        builder.write(folder / "model.safetensors");
    };
    return out;
}

/// Expects this of the routed experts and half of it for a token.
void setExperts(FormatKind &kind, std::uint64_t bytes)
{
    kind.resident["routed_experts"] = bytes;
    kind.streamed["routed_experts"] = bytes * active / experts;
}

std::string expert(std::uint64_t number, const char *module)
{
    return "model.layers.0.mlp.experts." + std::to_string(number) + '.' + module;
}

void addExperts(std::vector<FormatKind> &out)
{
    constexpr std::uint64_t routerBytes = experts * hidden * 2;
    {
        SafetensorsBuilder builder = frame();
        builder.add("model.layers.0.mlp.gate.weight", "BF16", {experts, hidden});
        for (std::uint64_t i = 0; i < experts; ++i) {
            for (const char *module : {"gate_proj", "up_proj"})
                builder.add(expert(i, module) + ".weight", "F8_E4M3", {inner, hidden})
                    .add(expert(i, module) + ".weight_scale_inv", "F32", {1, 1});
            builder.add(expert(i, "down_proj") + ".weight", "F8_E4M3", {hidden, inner})
                .add(expert(i, "down_proj") + ".weight_scale_inv", "F32", {1, 1});
        }
        json config = moeConfig("Qwen3MoeForCausalLM", "qwen3_moe");
        config["quantization_config"] = {{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}};
        out.push_back(kindOf("experts-fp8", "fp8", config, builder));
        out.back().parameters = frameParameters + expertParameters + experts * hidden;
        setExperts(out.back(), expertParameters + experts * 3 * 4);
        out.back().resident["router"] = routerBytes;
        // The generic derivation gives Qwen3 its query and key norms, which are left out here.
        out.back().notes = {"derive.differs-slightly"};
    }
    {
        SafetensorsBuilder builder = frame("model.language_model.", "lm_head.weight");
        const std::string mlp = "model.language_model.layers.0.mlp.";
        builder.add(mlp + "gate.weight", "BF16", {experts, hidden})
            .add(mlp + "experts.gate_up_proj", "BF16", {experts, 2 * inner, hidden})
            .add(mlp + "experts.down_proj", "BF16", {experts, hidden, inner});
        json text = moeConfig("Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe_text");
        const json config = {{"architectures", {"Qwen3VLMoeForConditionalGeneration"}},
                             {"text_config", text}};
        out.push_back(kindOf("experts-fused", "bf16", config, builder));
        out.back().parameters = frameParameters + expertParameters + experts * hidden;
        setExperts(out.back(), expertParameters * 2);
        // Neither the norms of queries and keys nor the tower is in these files.
        out.back().notes = {"derive.differs", "derive.differs-tower"};
    }
    {
        SafetensorsBuilder builder = frame();
        const std::string mlp = "model.layers.0.mlp.";
        builder.add(mlp + "router.weight", "BF16", {experts, hidden})
            .add(mlp + "router.bias", "BF16", {experts})
            .add(mlp + "experts.gate_up_proj_blocks", "U8", {experts, 2 * inner, hidden / 32, 16})
            .add(mlp + "experts.gate_up_proj_scales", "U8", {experts, 2 * inner, hidden / 32})
            .add(mlp + "experts.gate_up_proj_bias", "BF16", {experts, 2 * inner})
            .add(mlp + "experts.down_proj_blocks", "U8", {experts, hidden, inner / 32, 16})
            .add(mlp + "experts.down_proj_scales", "U8", {experts, hidden, inner / 32})
            .add(mlp + "experts.down_proj_bias", "BF16", {experts, hidden})
            .add("model.layers.0.self_attn.sinks", "BF16", {4});
        for (const auto &[name, size] : {std::pair{"q", 64U}, {"k", 32U}, {"v", 32U}, {"o", 64U}})
            builder.add("model.layers.0.self_attn." + std::string(name) + "_proj.bias", "BF16", {size});
        json config = moeConfig("GptOssForCausalLM", "gpt_oss");
        config["num_local_experts"] = experts;
        config["quantization_config"] = {{"quant_method", "mxfp4"},
                                         {"modules_to_not_convert", {"model.layers.*.self_attn"}}};
        out.push_back(kindOf("mxfp4", "mxfp4", config, builder));
        constexpr std::uint64_t biases = experts * (2 * inner + hidden);
        out.back().parameters =
            frameParameters + expertParameters + experts * hidden + experts + biases + 4 + 192;
        setExperts(out.back(), expertParameters * 17 / 32 + biases * 2);
        out.back().resident["attention"] = attention + 8 + 384;
    }
    {
        SafetensorsBuilder builder;
        builder.add("embed.weight", "BF16", {words, hidden})
            .add("head.weight", "BF16", {words, hidden})
            .add("norm.weight", "BF16", {hidden});
        const std::string layer = "layers.0.";
        builder.add(layer + "attn_norm.weight", "BF16", {hidden})
            .add(layer + "ffn_norm.weight", "BF16", {hidden});
        builder.add(layer + "attn.wkv.weight", "F8_E4M3", {128, hidden})
            .add(layer + "attn.wkv.scale", "F8_E8M0", {1, 1});
        builder.add(layer + "ffn.gate.weight", "BF16", {experts, hidden});
        for (std::uint64_t i = 0; i < experts; ++i) {
            const std::string each = layer + "ffn.experts." + std::to_string(i) + '.';
            for (const char *module : {"w1", "w3"})
                builder.add(each + module + ".weight", "I8", {inner, hidden / 2})
                    .add(each + module + ".scale", "F8_E8M0", {inner, hidden / 32});
            builder.add(each + "w2.weight", "I8", {hidden, inner / 2})
                .add(each + "w2.scale", "F8_E8M0", {hidden, inner / 32});
        }
        json config = moeConfig("DeepseekV4ForCausalLM", "deepseek_v4");
        config["quantization_config"] = {{"quant_method", "fp8"},
                                         {"expert_dtype", "fp4"},
                                         {"scale_fmt", "ue8m0"},
                                         {"weight_block_size", {128, 128}}};
        out.push_back(kindOf("deepseek-v4", "fp8-fp4", config, builder));
        out.back().parameters =
            2 * words * hidden + 3 * hidden + 128 * hidden + experts * hidden + expertParameters;
        setExperts(out.back(), expertParameters * 17 / 32);
        out.back().resident["attention"] = 128 * hidden + 1;
        out.back().notes = {"checkpoint.unknown-architecture"};
    }
    for (const bool fused : {true, false}) {
        SafetensorsBuilder builder = frame();
        builder.metadata("format", "mlx").add("model.layers.0.mlp.gate.weight", "BF16", {experts, hidden});
        const auto stack = [&builder](const std::string &module, std::vector<std::uint64_t> shape) {
            std::vector<std::uint64_t> packed = shape;
            packed.back() /= 8;
            std::vector<std::uint64_t> groups = shape;
            groups.back() /= 64;
            builder.add(module + ".weight", "U32", packed)
                .add(module + ".scales", "BF16", groups)
                .add(module + ".biases", "BF16", groups);
        };
        if (fused) {
            stack("model.layers.0.mlp.switch_mlp.gate_proj", {experts, inner, hidden});
            stack("model.layers.0.mlp.switch_mlp.up_proj", {experts, inner, hidden});
            stack("model.layers.0.mlp.switch_mlp.down_proj", {experts, hidden, inner});
        } else {
            for (std::uint64_t i = 0; i < experts; ++i) {
                stack(expert(i, "gate_proj"), {inner, hidden});
                stack(expert(i, "up_proj"), {inner, hidden});
                stack(expert(i, "down_proj"), {hidden, inner});
            }
        }
        json config = moeConfig("Qwen3MoeForCausalLM", "qwen3_moe");
        config["quantization"] = {{"group_size", 64}, {"bits", 4}, {"model.layers.0.mlp.gate", false}};
        out.push_back(kindOf(fused ? "mlx-experts" : "mlx-experts-unfused", "mlx-4bit", config, builder));
        out.back().format = "mlx";
        out.back().parameters = frameParameters + expertParameters + experts * hidden;
        setExperts(out.back(), expertParameters * 9 / 16);
        out.back().notes = {"derive.differs-slightly"};
    }
    {
        SafetensorsBuilder builder = frame();
        builder.add("model.layers.0.mlp.gate.weight", "BF16", {experts, hidden});
        for (std::uint64_t i = 0; i < experts; ++i) {
            for (const char *module : {"gate_proj", "up_proj"})
                builder.add(expert(i, module) + ".weight", "BF16", {inner, hidden});
            builder.add(expert(i, "down_proj") + ".weight", "BF16", {hidden, inner});
        }
        json config = moeConfig("Qwen3MoeForCausalLM", "qwen3_moe");
        config["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}};
        out.push_back(kindOf("claimed-experts", "bf16", config, builder));
        out.back().parameters = frameParameters + expertParameters + experts * hidden;
        setExperts(out.back(), expertParameters * 2);
        out.back().notes = {"checkpoint.quantization-contradicted", "derive.differs"};
    }
}

/// A draft head of one dense layer in the form of Qwen.
void addDraft(SafetensorsBuilder &builder)
{
    builder.add("mtp.fc.weight", "BF16", {hidden, 2 * hidden})
        .add("mtp.norm.weight", "BF16", {hidden})
        .add("mtp.layers.0.self_attn.q_proj.weight", "BF16", {64, hidden})
        .add("mtp.layers.0.mlp.up_proj.weight", "BF16", {inner, hidden});
}

constexpr std::uint64_t draftBytes = 2 * (2 * hidden * hidden + hidden + 64 * hidden + inner * hidden);

void addDrafts(std::vector<FormatKind> &out)
{
    const json config = baseConfig("LlamaForCausalLM", "llama");
    json announced = config;
    announced["num_nextn_predict_layers"] = 1;
    SafetensorsBuilder builder = frame();
    addDense(builder, "model.layers.0.");
    const SafetensorsBuilder without = builder;
    addDraft(builder);
    const std::uint64_t whole = frameParameters + denseParameters;
    out.push_back(kindOf("mtp", "bf16", announced, builder));
    out.back().parameters = whole + draftBytes / 2;
    out.back().resident["mtp"] = draftBytes;
    out.back().streamed["mtp"] = 0;
    out.back().notes = {"derive.differs-draft"};
    out.push_back(kindOf("mtp-undeclared", "bf16", config, builder));
    out.back().parameters = whole + draftBytes / 2;
    out.back().resident["mtp"] = draftBytes;
    out.back().streamed["mtp"] = 0;
    out.back().notes = {"checkpoint.draft-undeclared", "derive.differs-draft"};
    out.push_back(kindOf("mtp-announced-only", "bf16", announced, without));
    out.back().parameters = whole;
    out.back().resident["mtp"] = 0;
    out.back().notes = {"checkpoint.draft-announced-only"};
    FormatKind unlisted = out[out.size() - 3];
    unlisted.id = "mtp-unlisted";
    unlisted.notes = {"derive.differs-draft", "folder.unlisted-file"};
    unlisted.make = [announced, without](const fs::path &folder) {
        writeFile(folder / "config.json", announced.dump());
        without.write(folder / "model-00001-of-00001.safetensors");
        SafetensorsBuilder draft;
        addDraft(draft);
        draft.write(folder / "model_extra_tensors.safetensors");
        json map;
        const json header = json::parse(without.header());
        for (const auto &[name, entry] : header.items())
            map[name] = "model-00001-of-00001.safetensors";
        writeFile(folder / "model.safetensors.index.json",
                  json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump());
    };
    out.push_back(unlisted);
}

void addTables(std::vector<FormatKind> &out)
{
    constexpr std::uint64_t perLayer = words * 32 * 2;
    {
        SafetensorsBuilder builder = frame("model.language_model.");
        const std::string layer = "model.language_model.layers.0.";
        addDense(builder, layer);
        builder.add("model.language_model.embed_tokens_per_layer.weight", "BF16", {words, 32})
            .add("model.language_model.per_layer_model_projection.weight", "BF16", {32, hidden})
            .add("model.language_model.per_layer_projection_norm.weight", "BF16", {32})
            .add(layer + "per_layer_input_gate.weight", "BF16", {32, hidden})
            .add(layer + "per_layer_projection.weight", "BF16", {hidden, 32})
            .add(layer + "altup.modality_router.weight", "BF16", {4, hidden})
            .add(layer + "laurel.linear_left.weight", "BF16", {16, hidden})
            .add("model.audio_tower.conformer.0.attention.attn.q_proj.weight", "BF16", {8, 8})
            .add("model.embed_audio.embedding_projection.weight", "BF16", {hidden, 8})
            .add("model.vision_tower.blocks.0.attn.qkv.weight", "BF16", {24, 8})
            .add("model.embed_vision.embedding_projection.weight", "BF16", {hidden, 8});
        const json config = {{"architectures", {"Gemma3nForConditionalGeneration"}},
                             {"model_type", "gemma3n"},
                             {"text_config", baseConfig("Gemma3nForConditionalGeneration", "gemma3n_text")}};
        out.push_back(kindOf("per-layer-embeddings", "bf16", config, builder));
        out.back().parameters = frameParameters + denseParameters + words * 32 + 3 * 32 * hidden + 32
                                + 4 * hidden + 16 * hidden + 64 + 2 * hidden * 8 + 24 * 8;
        out.back().resident = {{"lookup_tables", perLayer},
                               {"audio", 128 + hidden * 16},
                               {"vision", 384 + hidden * 16},
                               {"attention", attention},
                               {"embed_tokens", table}};
        out.back().streamed = {
            {"lookup_tables", 0}, {"audio", 0}, {"vision", 0}, {"attention", attention}, {"embed_tokens", 0}};
    }
    {
        SafetensorsBuilder builder;
        builder.add("model.embed_tokens.weight", "BF16", {words, hidden})
            .add("lm_head.weight", "BF16", {words, hidden})
            .add("model.norm.weight", "BF16", {hidden});
        for (const char *number : {"0", "1"}) {
            builder
                .add(std::string("model.ngram_embeddings.embedders.") + number + ".weight", "BF16",
                     {1024, 16})
                .add(std::string("model.ngram_embeddings.post_projs.") + number + ".weight", "BF16",
                     {hidden, 16})
                .add(std::string("model.layers.0.self_attn.") + number + ".kv_b_proj.weight", "BF16",
                     {64, 32})
                .add(std::string("model.layers.0.mlps.") + number + ".up_proj.weight", "BF16",
                     {inner, hidden})
                .add(std::string("model.layers.0.input_layernorm.") + number + ".weight", "BF16", {hidden});
        }
        builder.add("model.layers.0.mlp.router.classifier.weight", "F32", {experts, hidden})
            .add("model.layers.0.mlp.experts.0.up_proj.weight", "BF16", {inner, hidden});
        json config = baseConfig("LongcatFlashNgramForCausalLM", "longcat_flash_ngram");
        config["n_routed_experts"] = experts;
        config["moe_topk"] = active;
        out.push_back(kindOf("ngram-embeddings", "bf16", config, builder));
        out.back().parameters = 2 * words * hidden + hidden
                                + 2 * (1024 * 16 + hidden * 16 + 64 * 32 + inner * hidden + hidden)
                                + experts * hidden + inner * hidden;
        out.back().resident = {{"lookup_tables", 2 * 1024 * 16 * 2},
                               {"dense_mlp", 2 * 2 * (hidden * 16 + inner * hidden)},
                               {"attention", 2 * 64 * 32 * 2},
                               {"router", experts * hidden * 4},
                               {"routed_experts", inner * hidden * 2}};
        out.back().streamed = {{"lookup_tables", 0}};
    }
    {
        SafetensorsBuilder builder = frame();
        addDense(builder, "model.layers.0.");
        builder.add("model.layers.0.engram.multi_head_embedding.embedding.weight", "BF16", {4096, 8})
            .add("model.layers.0.engram.value_proj.weight", "BF16", {hidden, 8})
            .add("model.layers.0.engram.short_conv.conv.weight", "BF16", {hidden, 1, 4});
        out.push_back(kindOf("engram", "bf16", baseConfig("NobodyForCausalLM", "nobody"), builder));
        out.back().parameters = frameParameters + denseParameters + 4096 * 8 + hidden * 8 + hidden * 4;
        out.back().resident = {{"lookup_tables", 4096 * 8 * 2}, {"other", hidden * 8}};
        out.back().streamed = {{"lookup_tables", 0}};
        out.back().notes = {"checkpoint.unknown-architecture"};
    }
}

void addTowers(std::vector<FormatKind> &out)
{
    const auto add = [&out](const char *id, const char *architecture, const std::string &prefix,
                            const std::string &head, const std::vector<std::string> &audio,
                            const std::vector<std::string> &vision) {
        SafetensorsBuilder builder = frame(prefix, head);
        addDense(builder, prefix + "layers.0.");
        for (const auto *list : {&audio, &vision}) {
            for (const std::string &name : *list)
                builder.add(name + ".weight", "BF16", {8, 8});
        }
        const json config = {{"architectures", {architecture}},
                             {"text_config", baseConfig(architecture, "llama")}};
        out.push_back(kindOf(id, "bf16", config, builder));
        out.back().parameters = frameParameters + denseParameters + 64 * (audio.size() + vision.size());
        out.back().resident = {{"audio", 128 * audio.size()},
                               {"vision", 128 * vision.size()},
                               {"attention", attention},
                               {"dense_mlp", denseParameters * 2},
                               {"other", 0}};
        out.back().streamed = {{"audio", 0}, {"vision", 0}};
    };
    add("audio-voxtral", "VoxtralForConditionalGeneration", "language_model.model.",
        "language_model.lm_head.weight",
        {"audio_tower.layers.0.self_attn.q_proj", "audio_tower.layers.0.fc1", "audio_tower.embed_positions",
         "multi_modal_projector.linear_1"},
        {});
    add("audio-ultravox", "UltravoxModel", "language_model.model.", "language_model.lm_head.weight",
        {"audio_tower.layers.0.self_attn.q_proj", "multi_modal_projector.ln_pre",
         "multi_modal_projector.linear_1"},
        {});
    add("audio-omni", "Qwen2_5OmniForConditionalGeneration", "thinker.model.", "thinker.lm_head.weight",
        {"thinker.audio_tower.layers.0.self_attn.q_proj", "talker.model.layers.0.mlp.up_proj",
         "token2wav.code2wav_dit_model.proj", "thinker.audio_tower.proj"},
        {"thinker.visual.blocks.0.attn.q", "thinker.visual.merger.mlp.0"});
    add("audio-phi4", "Phi4MMForCausalLM", "model.", "lm_head.weight",
        {"model.embed_tokens_extend.audio_embed.encoder.encoders.0.self_attn.linear_q",
         "model.embed_tokens_extend.audio_embed.audio_projection.speech.0",
         "model.layers.0.self_attn.qkv_proj.lora_A.speech"},
        {"model.embed_tokens_extend.image_embed.img_processor.encoder.layers.0.self_attn.q_proj",
         "model.layers.0.mlp.down_proj.lora_B.vision"});
    add("vision-names", "Qwen2_5_VLForConditionalGeneration", "model.language_model.", "lm_head.weight", {},
        {"model.visual.blocks.0.attn.qkv", "model.visual.blocks.0.mlp.gate_proj",
         "model.visual.patch_embed.proj", "model.visual.merger.mlp.0"});
    out.back().notes = {"derive.differs"}; // a tower of four matrices is none that the config means
}

} // namespace

std::vector<FormatKind> expertKinds()
{
    std::vector<FormatKind> out;
    addExperts(out);
    addDrafts(out);
    addTables(out);
    addTowers(out);
    return out;
}

} // namespace weir::test

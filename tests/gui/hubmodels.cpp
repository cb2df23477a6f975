// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/hubmodels.h"

#include "tests/support/ggufbuilder.h"
#include "tests/support/safetensorsbuilder.h"

#include <cstdio>

namespace weir::test {

namespace fs = std::filesystem;

namespace {

void writeSafetensors(const fs::path &folder, std::uint64_t width, std::uint64_t layers)
{
    const nlohmann::json config{{"architectures", {"LlamaForCausalLM"}},
                                {"model_type", "llama"},
                                {"hidden_size", width},
                                {"intermediate_size", 2 * width},
                                {"num_hidden_layers", layers},
                                {"num_attention_heads", 4},
                                {"num_key_value_heads", 2},
                                {"head_dim", width / 4},
                                {"vocab_size", 1000},
                                {"torch_dtype", "bfloat16"},
                                {"max_position_embeddings", 8192},
                                {"tie_word_embeddings", false}};
    writeFile(folder / "config.json", config.dump());
    SafetensorsBuilder builder;
    builder.add("model.embed_tokens.weight", "BF16", {1000, width});
    builder.add("lm_head.weight", "BF16", {1000, width});
    builder.add("model.norm.weight", "BF16", {width});
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        builder.add(prefix + "input_layernorm.weight", "BF16", {width});
        builder.add(prefix + "post_attention_layernorm.weight", "BF16", {width});
        builder.add(prefix + "self_attn.q_proj.weight", "BF16", {width, width});
        builder.add(prefix + "self_attn.k_proj.weight", "BF16", {width / 2, width});
        builder.add(prefix + "self_attn.v_proj.weight", "BF16", {width / 2, width});
        builder.add(prefix + "self_attn.o_proj.weight", "BF16", {width, width});
        builder.add(prefix + "mlp.gate_proj.weight", "BF16", {2 * width, width});
        builder.add(prefix + "mlp.up_proj.weight", "BF16", {2 * width, width});
        builder.add(prefix + "mlp.down_proj.weight", "BF16", {width, 2 * width});
    }
    builder.write(folder / "model.safetensors");
}

/// One file of `of`; a split one holds its layers in turn.
void writeGguf(const fs::path &file, const char *type, std::uint32_t part, std::uint32_t of)
{
    constexpr std::uint64_t width = 256;
    constexpr std::uint32_t layers = 2;
    GgufBuilder gguf;
    if (of > 1) {
        gguf.u16("split.no", static_cast<std::uint16_t>(part))
            .u16("split.count", static_cast<std::uint16_t>(of));
        gguf.i32("split.tensors.count", 3 + 9 * static_cast<std::int32_t>(layers));
    }
    if (part == 0) {
        gguf.string("general.architecture", "llama").string("general.name", "Llama GGUF");
        gguf.u32("llama.block_count", layers).u32("llama.context_length", 8192);
        gguf.u32("llama.embedding_length", width).u32("llama.feed_forward_length", 2 * width);
        gguf.u32("llama.attention.head_count", 4).u32("llama.attention.head_count_kv", 2);
        gguf.u32("llama.vocab_size", 1024);
        gguf.tensor("token_embd.weight", type, {width, 1024}).tensor("output.weight", type, {width, 1024});
        gguf.tensor("output_norm.weight", "F32", {width});
    }
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
        if (layer % of != part)
            continue;
        const std::string prefix = "blk." + std::to_string(layer) + ".";
        gguf.tensor(prefix + "attn_norm.weight", "F32", {width})
            .tensor(prefix + "ffn_norm.weight", "F32", {width});
        gguf.tensor(prefix + "attn_q.weight", type, {width, width});
        gguf.tensor(prefix + "attn_k.weight", type, {width, width / 2});
        gguf.tensor(prefix + "attn_v.weight", type, {width, width / 2});
        gguf.tensor(prefix + "attn_output.weight", type, {width, width});
        gguf.tensor(prefix + "ffn_gate.weight", type, {width, 2 * width});
        gguf.tensor(prefix + "ffn_up.weight", type, {width, 2 * width});
        gguf.tensor(prefix + "ffn_down.weight", type, {2 * width, width});
    }
    gguf.write(file);
}

} // namespace

void writeHubModels(const fs::path &root)
{
    writeSafetensors(root / "tiny" / "Llama-One", 256, 2);
    writeSafetensors(root / "tiny" / "Llama-One@v2", 256, 3);
    writeSafetensors(root / "tiny" / "Llama-Two", 512, 4);
    writeSafetensors(root / "closed" / "Llama-Gated", 256, 2);

    const fs::path gguf = root / "tiny" / "Llama-GGUF";
    writeGguf(gguf / "llama-Q4_K_M.gguf", "Q4_K", 0, 1);
    writeGguf(gguf / "llama-Q8_0.gguf", "Q8_0", 0, 1);
    for (std::uint32_t part = 0; part < 2; ++part)
        writeGguf(gguf / ("llama-BF16-0000" + std::to_string(part + 1) + "-of-00002.gguf"), "BF16", part, 2);

    const fs::path huge = root / "huge" / "Llama-Huge";
    writeSafetensors(huge, 256, 2);
    SafetensorsBuilder weights;
    weights.add("model.embed_tokens.weight", "BF16", {1000, 256});
    weights.add("model.layers.0.mlp.down_proj.weight", "BF16", {400'000, 400'000});
    weights.write(huge / "model.safetensors");

    for (int model = 0; model < 40; ++model) {
        char name[16];
        std::snprintf(name, sizeof name, "Model-%02d", model);
        writeSafetensors(root / "crowd" / name, 64, 1);
    }
}

} // namespace weir::test

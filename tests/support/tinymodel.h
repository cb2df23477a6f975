// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/ggufbuilder.h"
#include "tests/support/safetensorsbuilder.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

/// Whole repositories of a model with two layers, small enough to be made for each test.
namespace weir::test {

inline nlohmann::json tinyConfig()
{
    return {{"architectures", {"LlamaForCausalLM"}},
            {"model_type", "llama"},
            {"hidden_size", 64},
            {"num_hidden_layers", 2},
            {"num_attention_heads", 4},
            {"num_key_value_heads", 2},
            {"head_dim", 16},
            {"intermediate_size", 128},
            {"vocab_size", 256},
            {"max_position_embeddings", 2048},
            {"torch_dtype", "bfloat16"},
            {"tie_word_embeddings", false}};
}

inline SafetensorsBuilder tinyLayer(int layer)
{
    const std::string prefix = "model.layers." + std::to_string(layer) + '.';
    SafetensorsBuilder builder;
    builder.add(prefix + "self_attn.q_proj.weight", "BF16", {64, 64})
        .add(prefix + "self_attn.k_proj.weight", "BF16", {32, 64})
        .add(prefix + "self_attn.v_proj.weight", "BF16", {32, 64})
        .add(prefix + "self_attn.o_proj.weight", "BF16", {64, 64})
        .add(prefix + "mlp.gate_proj.weight", "BF16", {128, 64})
        .add(prefix + "mlp.up_proj.weight", "BF16", {128, 64})
        .add(prefix + "mlp.down_proj.weight", "BF16", {64, 128})
        .add(prefix + "input_layernorm.weight", "BF16", {64})
        .add(prefix + "post_attention_layernorm.weight", "BF16", {64});
    return builder;
}

/// Bytes of the weights of writeTinyModel().
inline constexpr std::uint64_t tinyWeightBytes =
    2 * (2 * 256 * 64 + 64 + 2 * (64 * 64 + 32 * 64 + 32 * 64 + 64 * 64 + 3 * 128 * 64 + 2 * 64));

/// Config, index and three shards: the token tables, and each layer.
inline void writeTinyModel(const std::filesystem::path &folder)
{
    writeFile(folder / "config.json", tinyConfig().dump());
    writeFile(folder / "README.md", "# tiny");
    nlohmann::json map;
    const auto write = [&](const SafetensorsBuilder &builder, int number) {
        const std::string name = "model-0000" + std::to_string(number) + "-of-00003.safetensors";
        builder.write(folder / name);
        const nlohmann::json header = nlohmann::json::parse(builder.header());
        for (const auto &[tensor, entry] : header.items())
            map[tensor] = name;
    };
    SafetensorsBuilder tables;
    tables.add("model.embed_tokens.weight", "BF16", {256, 64})
        .add("lm_head.weight", "BF16", {256, 64})
        .add("model.norm.weight", "BF16", {64});
    write(tables, 1);
    write(tinyLayer(0), 2);
    write(tinyLayer(1), 3);
    writeFile(folder / "model.safetensors.index.json",
              nlohmann::json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump());
}

/// A GGUF file with a tokenizer of so many tokens, of six bytes each.
inline GgufBuilder tinyGguf(std::size_t tokens = 4)
{
    GgufBuilder builder;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < tokens; ++i)
        words.push_back("t" + std::to_string(100'000 + i).substr(1));
    builder.string("general.architecture", "llama")
        .u32("llama.block_count", 2)
        .u32("llama.embedding_length", 256)
        .u32("llama.attention.head_count", 4)
        .u32("llama.attention.head_count_kv", 2)
        .u32("llama.context_length", 4096)
        .u32("llama.vocab_size", 32)
        .u32("general.file_type", 15)
        .strings("tokenizer.ggml.tokens", words);
    builder.tensor("token_embd.weight", "Q4_K", {256, 32})
        .tensor("blk.0.attn_q.weight", "Q6_K", {256, 256})
        .tensor("blk.1.attn_q.weight", "Q4_K", {256, 256})
        .tensor("output_norm.weight", "F32", {256});
    return builder;
}

} // namespace weir::test

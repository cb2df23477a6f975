// SPDX-License-Identifier: GPL-3.0-or-later
//
// GGUF files: byte orders, per-layer keys, forms of experts, types of forks, and files that are no decoder.
#include "tests/unit/formatkinds.h"

namespace weir::test {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t q4 = 144; ///< bytes of 256 weights
constexpr std::uint64_t q8 = 272;
constexpr std::uint64_t q6 = 210;

FormatKind kindOf(const std::string &id, const std::string &label, const GgufBuilder &builder,
                  std::uint64_t parameters, std::uint64_t bytes)
{
    FormatKind out;
    out.id = id;
    out.format = "gguf";
    out.label = label;
    out.parameters = parameters;
    out.bytes = bytes;
    out.make = [builder](const fs::path &folder) { builder.write(folder / "model.gguf"); };
    return out;
}

FormatKind declined(const std::string &id, const GgufBuilder &builder,
                    std::map<std::string, std::string> facts)
{
    FormatKind out;
    out.id = id;
    out.error = "gguf.not-language-model";
    out.facts = std::move(facts);
    out.make = [builder](const fs::path &folder) { builder.write(folder / "model.gguf"); };
    return out;
}

constexpr std::uint64_t tinyParameters = 32 * 256 + 2 * 256 * 256 + 256;
constexpr std::uint64_t tinyBytes = 32 * q4 + 256 * q6 + 256 * q4 + 1024;

/// tinyGguf() in another version or byte order, or with other types in its two layers.
GgufBuilder ordinary(std::uint32_t version, bool bigEndian, const char *first = "Q6_K",
                     const char *second = "Q4_K")
{
    GgufBuilder builder;
    builder.version = version;
    builder.bigEndian = bigEndian;
    builder.string("general.architecture", "llama")
        .u32("llama.block_count", 2)
        .u32("llama.embedding_length", 256)
        .u32("llama.attention.head_count", 4)
        .u32("llama.attention.head_count_kv", 2)
        .u32("llama.context_length", 4096)
        .u32("general.file_type", 15)
        .strings("tokenizer.ggml.tokens", {"a", "b"});
    builder.tensor("token_embd.weight", "Q4_K", {256, 32})
        .tensor("blk.0.attn_q.weight", first, {256, 256})
        .tensor("blk.1.attn_q.weight", second, {256, 256})
        .tensor("output_norm.weight", "F32", {256});
    return builder;
}

void addOrders(std::vector<FormatKind> &out)
{
    for (const auto &[id, version, big] :
         {std::tuple{"gguf", 3U, false}, {"gguf-v2", 2U, false}, {"gguf-big-endian", 3U, true}}) {
        out.push_back(kindOf(id, "Q4_K_M", ordinary(version, big), tinyParameters, tinyBytes));
        out.back().resident = {{"embed_tokens", 32 * q4}, {"attention", 256 * (q6 + q4)}, {"norm", 1024}};
        out.back().streamed = {{"embed_tokens", 0}, {"lm_head", 32 * q4}};
        if (big)
            out.back().notes = {"gguf.big-endian"};
    }
    // Labelled Q4_K_M, and nearly all of it is not.
    const GgufBuilder plain = ordinary(3, false, "BF16", "BF16");
    out.push_back(kindOf("gguf-claimed", "BF16", plain, tinyParameters, 32 * q4 + 2 * 256 * 256 * 2 + 1024));
    out.back().notes = {"checkpoint.name-contradicted"};
    // Labelled Q4_K_M in the metadata, and all of it in eight bits.
    out.push_back(kindOf("gguf-wider-than-labelled", "Q8_0", ordinary(3, false, "Q8_0", "Q8_0"),
                         tinyParameters, 32 * q4 + 2 * 256 * q8 + 1024));
    out.back().notes = {"checkpoint.name-understated"};
    FormatKind projector = out.front();
    projector.id = "gguf-mmproj-beside";
    projector.notes = {"gguf.projector"};
    projector.make = [](const fs::path &folder) {
        ordinary(3, false).write(folder / "model-Q4_K_M.gguf");
        GgufBuilder mmproj;
        mmproj.string("general.architecture", "clip").tensor("v.blk.0.attn_q.weight", "F16", {64, 64});
        mmproj.write(folder / "mmproj-model-f16.gguf");
        GgufBuilder imatrix;
        imatrix.string("general.type", "imatrix").tensor("blk.0.attn_q.weight.in_sum2", "F32", {256});
        imatrix.write(folder / "imatrix.gguf");
    };
    out.push_back(projector);
}

GgufBuilder keys(const std::string &architecture, std::uint32_t blocks)
{
    GgufBuilder builder;
    builder.string("general.architecture", architecture)
        .u32(architecture + ".block_count", blocks)
        .u32(architecture + ".embedding_length", 256)
        .u32(architecture + ".attention.head_count", 4)
        .u32(architecture + ".context_length", 4096)
        .u32("general.file_type", 7);
    return builder;
}

GgufBuilder &tables(GgufBuilder &builder)
{
    return builder.tensor("token_embd.weight", "Q8_0", {256, 32})
        .tensor("output.weight", "Q8_0", {256, 32})
        .tensor("output_norm.weight", "F32", {256});
}

constexpr std::uint64_t tableBytes = 2 * 32 * q8 + 1024;
constexpr std::uint64_t tableParameters = 2 * 32 * 256 + 256;

void addLayers(std::vector<FormatKind> &out)
{
    {
        GgufBuilder builder = keys("nemotron_h", 3);
        builder.u32s("nemotron_h.attention.head_count_kv", {0, 2, 0})
            .u32s("nemotron_h.feed_forward_length", {0, 0, 512})
            .u32("nemotron_h.ssm.inner_size", 512)
            .u32("nemotron_h.ssm.state_size", 16)
            .u32("nemotron_h.ssm.group_count", 1)
            .u32("nemotron_h.ssm.conv_kernel", 4);
        tables(builder)
            .tensor("blk.0.ssm_in.weight", "Q8_0", {256, 512})
            .tensor("blk.0.ssm_out.weight", "Q8_0", {512, 256})
            .tensor("blk.1.attn_q.weight", "Q8_0", {256, 256})
            .tensor("blk.2.ffn_up.weight", "Q8_0", {256, 512});
        out.push_back(kindOf("gguf-per-layer-keys", "Q8_0", builder,
                             tableParameters + 3 * 256 * 512 + 256 * 256, tableBytes + q8 * (3 * 512 + 256)));
        out.back().resident = {
            {"linear_attention", 2 * 512 * q8}, {"attention", 256 * q8}, {"dense_mlp", 512 * q8}};
    }
    {
        GgufBuilder builder = keys("qwen3moe", 2);
        builder.u32("qwen3moe.nextn_predict_layers", 1)
            .u32("qwen3moe.expert_count", 4)
            .u32("qwen3moe.expert_used_count", 2);
        tables(builder)
            .tensor("blk.0.ffn_gate_up_exps.weight", "Q8_0", {256, 256, 4})
            .tensor("blk.0.ffn_down_exps.weight", "Q8_0", {256, 256, 4})
            .tensor("blk.0.ffn_gate_inp.weight", "F32", {256, 4})
            .tensor("blk.1.nextn.eh_proj.weight", "Q8_0", {512, 256})
            .tensor("blk.1.ffn_down_exps.weight", "Q8_0", {256, 256, 4});
        out.push_back(kindOf("gguf-experts-mtp", "Q8_0", builder,
                             tableParameters + 3 * 4 * 256 * 256 + 1024 + 512 * 256,
                             tableBytes + 3 * 1024 * q8 + 4096 + 512 * q8));
        out.back().resident = {
            {"routed_experts", 2 * 1024 * q8}, {"router", 4096}, {"mtp", 1024 * q8 + 512 * q8}};
        out.back().streamed = {{"routed_experts", 1024 * q8}, {"mtp", 0}};
    }
    {
        GgufBuilder builder = keys("llama", 1);
        builder.u32("llama.expert_count", 2).u32("llama.expert_used_count", 1);
        tables(builder)
            .tensor("blk.0.ffn_gate.0.weight", "Q8_0", {256, 256})
            .tensor("blk.0.ffn_gate.1.weight", "Q8_0", {256, 256})
            .tensor("blk.0.ffn_down.0.weight", "Q8_0", {256, 256})
            .tensor("blk.0.ffn_down.1.weight", "Q8_0", {256, 256});
        out.push_back(kindOf("gguf-old-experts", "Q8_0", builder, tableParameters + 4 * 256 * 256,
                             tableBytes + 1024 * q8));
        out.back().resident = {{"routed_experts", 1024 * q8}};
        out.back().streamed = {{"routed_experts", 512 * q8}};
    }
    {
        GgufBuilder builder = keys("gemma3n", 1);
        tables(builder)
            .tensor("per_layer_token_embd.weight", "Q8_0", {256, 32})
            .tensor("blk.0.altup_router.weight", "F32", {256, 4})
            .tensor("blk.0.laurel_l.weight", "Q8_0", {256, 64});
        out.push_back(kindOf("gguf-per-layer-embeddings", "Q8_0", builder,
                             tableParameters + 32 * 256 + 1024 + 16'384,
                             tableBytes + 32 * q8 + 4096 + 64 * q8));
        out.back().resident = {{"lookup_tables", 32 * q8}};
        out.back().streamed = {{"lookup_tables", 0}};
    }
}

void addTypes(std::vector<FormatKind> &out)
{
    {
        GgufBuilder builder;
        builder.string("general.architecture", "llama")
            .u32("llama.block_count", 1)
            .u32("llama.embedding_length", 256)
            .u32("llama.attention.head_count", 4);
        tables(builder);
        const std::uint64_t start = 2 * 32 * q8 + 1024;
        // Two rows of 136 bytes, each with a scale of four: more than the blocks alone.
        builder.tensorAt("blk.0.attn_q.weight", 144, {256, 256}, start, 256 * 140)
            .tensor("blk.0.attn_norm.weight", "F32", {256});
        out.push_back(kindOf("gguf-ik-types", "IQ4_KS", builder, tableParameters + 65'536 + 256,
                             tableBytes + 256 * 140 + 1024));
        out.back().resident = {{"attention", 256 * 140}};
        out.back().notes = {"gguf.unknown-types"};
    }
    for (const auto &[id, type, number, block] : {std::tuple{"gguf-mxfp4", "MXFP4", 38U, 136U},
                                                  {"gguf-nvfp4", "NVFP4", 39U, 144U},
                                                  {"gguf-q1", "Q1_0", 40U, 36U},
                                                  {"gguf-ternary", "TQ1_0", 36U, 54U}}) {
        GgufBuilder builder;
        builder.string("general.architecture", "llama")
            .u32("llama.block_count", 1)
            .u32("llama.embedding_length", 256)
            .u32("llama.attention.head_count", 4)
            .u32("general.file_type", number);
        tables(builder).tensor("blk.0.ffn_up.weight", type, {256, 512});
        out.push_back(kindOf(id, type, builder, tableParameters + 131'072, tableBytes + 512 * block));
        out.back().resident = {{"dense_mlp", 512 * block}};
    }
}

void addDeclined(std::vector<FormatKind> &out)
{
    GgufBuilder lora;
    lora.string("general.architecture", "llama")
        .string("general.type", "adapter")
        .string("adapter.type", "lora")
        .string("general.base_model.0.name", "Llama 3.1 8B")
        .f32("adapter.lora.alpha", 32);
    lora.tensor("blk.0.attn_q.weight.lora_a", "F16", {256, 16})
        .tensor("blk.0.attn_q.weight.lora_b", "F16", {16, 256});
    out.push_back(declined("gguf-lora", lora,
                           {{"kind", "adapter"},
                            {"rank", "16"},
                            {"base", "Llama 3.1 8B"},
                            {"parameters", "8192"},
                            {"weights", "16384"}}));
    out.back().error = "gguf.adapter";
    GgufBuilder clip;
    clip.string("general.architecture", "clip").tensor("v.blk.0.attn_q.weight", "F16", {64, 64});
    out.push_back(
        declined("gguf-mmproj", clip, {{"kind", "projector"}, {"parameters", "4096"}, {"weights", "8192"}}));
    GgufBuilder bert;
    bert.string("general.architecture", "nomic-bert")
        .u32("nomic-bert.block_count", 12)
        .tensor("token_embd.weight", "F16", {64, 10});
    out.push_back(declined("gguf-encoder", bert,
                           {{"kind", "encoder"}, {"architecture", "nomic-bert"}, {"parameters", "640"}}));
    GgufBuilder t5;
    t5.string("general.architecture", "t5")
        .u32("t5.block_count", 12)
        .tensor("token_embd.weight", "F16", {64, 10});
    out.push_back(declined("gguf-t5", t5, {{"kind", "encoder-decoder"}, {"architecture", "t5"}}));
    GgufBuilder speech;
    speech.string("general.architecture", "wavtokenizer-dec").tensor("token_embd.weight", "F16", {64, 10});
    out.push_back(declined("gguf-speech", speech, {{"kind", "speech"}}));
    GgufBuilder flux;
    flux.string("general.architecture", "flux")
        .tensor("double_blocks.0.img_attn.qkv.weight", "Q8_0", {256, 64});
    out.push_back(declined("gguf-diffusion", flux, {{"kind", "diffusion"}, {"parameters", "16384"}}));
    GgufBuilder imatrix;
    imatrix.string("general.type", "imatrix")
        .strings("imatrix.datasets", {"a.txt"})
        .tensor("blk.0.attn_q.weight.in_sum2", "F32", {256});
    out.push_back(declined("gguf-imatrix", imatrix, {{"kind", "imatrix"}}));
    GgufBuilder embedding = ordinary(3, false);
    embedding.u32("llama.pooling_type", 3);
    out.push_back(declined(
        "gguf-embedding", embedding,
        {{"kind", "embedding"}, {"architecture", "llama"}, {"parameters", std::to_string(tinyParameters)}}));
}

} // namespace

std::vector<FormatKind> ggufKinds()
{
    std::vector<FormatKind> out;
    addOrders(out);
    addLayers(out);
    addTypes(out);
    addDeclined(out);
    return out;
}

} // namespace weir::test

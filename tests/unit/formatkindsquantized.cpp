// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every way to quantize a linear layer that docs/formats.md names: the same decoder of one layer, each time with
// its seven matrices stored so. The bytes of `gate_proj` [512, 256] are written down; all kinds must come to the
// same number of parameters.
#include "tests/unit/formatkinds.h"

using nlohmann::json;

namespace weir::test {

namespace {

namespace fs = std::filesystem;
using Linear = std::function<void(SafetensorsBuilder &, const std::string &, std::uint64_t, std::uint64_t)>;

constexpr std::uint64_t hidden = 256;
constexpr std::uint64_t inner = 512;
constexpr std::uint64_t words = 64;
constexpr std::uint64_t allParameters =
    2 * words * hidden + 3 * hidden + 256 * 256 * 2 + 128 * 256 * 2 + 3 * 512 * 256;

json decoderConfig()
{
    return {{"architectures", {"LlamaForCausalLM"}},
            {"model_type", "llama"},
            {"hidden_size", hidden},
            {"num_hidden_layers", 1},
            {"num_attention_heads", 4},
            {"num_key_value_heads", 2},
            {"head_dim", 64},
            {"intermediate_size", inner},
            {"vocab_size", words},
            {"max_position_embeddings", 2048},
            {"torch_dtype", "bfloat16"},
            {"tie_word_embeddings", false}};
}

SafetensorsBuilder decoder(const Linear &linear)
{
    SafetensorsBuilder builder;
    builder.add("model.embed_tokens.weight", "BF16", {words, hidden})
        .add("lm_head.weight", "BF16", {words, hidden})
        .add("model.norm.weight", "BF16", {hidden})
        .add("model.layers.0.input_layernorm.weight", "BF16", {hidden})
        .add("model.layers.0.post_attention_layernorm.weight", "BF16", {hidden});
    const std::string layer = "model.layers.0.";
    linear(builder, layer + "self_attn.q_proj", 256, hidden);
    linear(builder, layer + "self_attn.k_proj", 128, hidden);
    linear(builder, layer + "self_attn.v_proj", 128, hidden);
    linear(builder, layer + "self_attn.o_proj", hidden, 256);
    linear(builder, layer + "mlp.gate_proj", inner, hidden);
    linear(builder, layer + "mlp.up_proj", inner, hidden);
    linear(builder, layer + "mlp.down_proj", hidden, inner);
    return builder;
}

bool isDown(const std::string &module) { return module.ends_with("down_proj"); }
bool isAttention(const std::string &module) { return module.find("self_attn") != std::string::npos; }

void plain(SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k)
{
    builder.add(module + ".weight", "BF16", {n, k});
}

Linear gptq(std::uint64_t bits, bool order)
{
    return [bits, order](SafetensorsBuilder &builder, const std::string &module, std::uint64_t n,
                         std::uint64_t k) {
        builder.add(module + ".qweight", "I32", {k * bits / 32, n})
            .add(module + ".qzeros", "I32", {k / 128, n * bits / 32})
            .add(module + ".scales", "F16", {k / 128, n});
        if (order)
            builder.add(module + ".g_idx", "I32", {k});
    };
}

void awq(SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k)
{
    builder.add(module + ".qweight", "I32", {k, n / 8})
        .add(module + ".qzeros", "I32", {k / 128, n / 8})
        .add(module + ".scales", "F16", {k / 128, n});
}

/// compressed-tensors; a group of 0 is one scale a row.
void packedInt(SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k,
               std::uint64_t bits, std::uint64_t group)
{
    builder.add(module + ".weight_packed", "I32", {n, (k * bits + 31) / 32})
        .add(module + ".weight_scale", "BF16", {n, group == 0 ? 1 : k / group})
        .add(module + ".weight_shape", "I64", {2});
}

void fp4Packed(SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k)
{
    builder.add(module + ".weight_packed", "U8", {n, k / 2})
        .add(module + ".weight_scale", "F8_E4M3", {n, k / 16})
        .add(module + ".weight_global_scale", "F32", {1})
        .add(module + ".input_global_scale", "F32", {1});
}

void mxfp4Packed(SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k)
{
    builder.add(module + ".weight_packed", "U8", {n, k / 2}).add(module + ".weight_scale", "U8", {n, k / 32});
}

void mxfp8(SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k)
{
    builder.add(module + ".weight", "F8_E4M3", {n, k}).add(module + ".weight_scale", "U8", {n, k / 32});
}

/// A weight of one byte an element, with one scale of this dtype and shape.
Linear bytes(const char *dtype, const char *scaleName, const char *scaleDtype,
             std::function<std::vector<std::uint64_t>(std::uint64_t, std::uint64_t)> scaleShape, bool input)
{
    return [=](SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k) {
        builder.add(module + ".weight", dtype, {n, k})
            .add(module + "." + scaleName, scaleDtype, scaleShape(n, k));
        if (input)
            builder.add(module + ".input_scale", scaleDtype, {});
    };
}

std::vector<std::uint64_t> one(std::uint64_t /*n*/, std::uint64_t /*k*/) { return {}; }
std::vector<std::uint64_t> channel(std::uint64_t n, std::uint64_t /*k*/) { return {n, 1}; }
std::vector<std::uint64_t> block(std::uint64_t n, std::uint64_t k) { return {n / 128, k / 128}; }

void nvfp4(SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k)
{
    builder.add(module + ".weight", "U8", {n, k / 2})
        .add(module + ".weight_scale", "F8_E4M3", {n, k / 16})
        .add(module + ".weight_scale_2", "F32", {})
        .add(module + ".input_scale", "F32", {});
}

void mlx(SafetensorsBuilder &builder, const std::string &module, std::uint64_t n, std::uint64_t k,
         std::uint64_t bits, std::uint64_t group)
{
    builder.add(module + ".weight", "U32", {n, k * bits / 32})
        .add(module + ".scales", "BF16", {n, k / group})
        .add(module + ".biases", "BF16", {n, k / group});
}

Linear mlxFloat(std::uint64_t bits, std::uint64_t group)
{
    return [bits, group](SafetensorsBuilder &builder, const std::string &module, std::uint64_t n,
                         std::uint64_t k) {
        builder.add(module + ".weight", "U32", {n, k * bits / 32})
            .add(module + ".scales", "U8", {n, k / group});
    };
}

FormatKind kind(const std::string &id, const std::string &label, std::uint64_t gateBytes,
                const json &declared, const Linear &linear)
{
    FormatKind out;
    out.id = id;
    out.label = label;
    out.parameters = allParameters;
    const SafetensorsBuilder builder = decoder(linear);
    out.bytes = builder.dataBytes();
    out.patterns = {{"model.layers.N.mlp.gate_proj", gateBytes}};
    out.resident = {
        {"embed_tokens", words * hidden * 2}, {"lm_head", words * hidden * 2}, {"norm", 3 * hidden * 2}};
    out.streamed = {{"embed_tokens", 0}, {"lm_head", words * hidden * 2}};
    out.make = [builder, declared](const fs::path &folder) {
        json config = decoderConfig();
        if (declared.contains("@file")) {
            json side = declared;
            side.erase("@file");
            writeFile(folder / declared["@file"].get<std::string>(), side.dump());
        } else if (!declared.is_null() && declared.contains("@mlx")) {
            json own = declared;
            own.erase("@mlx");
            config["quantization"] = own;
            config["quantization_config"] = own;
        } else if (!declared.is_null()) {
            config["quantization_config"] = declared;
        }
        writeFile(folder / "config.json", config.dump());
        builder.write(folder / "model.safetensors");
    };
    return out;
}

json compressed(const char *format, const json &weights)
{
    return {{"quant_method", "compressed-tensors"},
            {"format", format},
            {"ignore", {"lm_head"}},
            {"config_groups", {{"group_0", {{"targets", {"Linear"}}, {"weights", weights}}}}}};
}

json integers(std::uint64_t bits, std::uint64_t group)
{
    return {{"num_bits", bits},
            {"type", "int"},
            {"strategy", group == 0 ? "channel" : "group"},
            {"group_size", group == 0 ? json(nullptr) : json(group)},
            {"symmetric", true}};
}

json floats(std::uint64_t bits, const char *strategy, std::uint64_t group)
{
    return {{"num_bits", bits},
            {"type", "float"},
            {"strategy", strategy},
            {"group_size", group == 0 ? json(nullptr) : json(group)}};
}

json autoRound(const char *packing)
{
    return {{"quant_method", "auto-round"},
            {"bits", 4},
            {"group_size", 128},
            {"sym", true},
            {"packing_format", packing}};
}

json modelOpt(const char *algorithm)
{
    return {{"quant_method", "modelopt"}, {"quant_algo", algorithm}, {"producer", {{"name", "modelopt"}}}};
}

void addInteger(std::vector<FormatKind> &out)
{
    out.push_back(kind("bf16", "bf16", 262'144, nullptr, plain));
    const json gptqConfig = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}, {"desc_act", false}};
    const auto gptqAt = [&gptqConfig](std::uint64_t bits) {
        json config = gptqConfig;
        config["bits"] = bits;
        return config;
    };
    out.push_back(kind("gptq", "gptq", 69'120, gptqConfig, gptq(4, true)));
    out.push_back(kind("gptq-2bit", "gptq-int2", 36'096, gptqAt(2), gptq(2, true)));
    out.push_back(kind("gptq-3bit", "gptq-int3", 52'608, gptqAt(3), gptq(3, true)));
    out.push_back(kind("gptq-8bit", "gptq-int8", 135'168, gptqAt(8), gptq(8, true)));
    out.push_back(kind("gptq-wider-than-declared", "gptq-int8", 135'168, gptqAt(4), gptq(8, true)));
    json dynamic = gptqConfig;
    dynamic["desc_act"] = true;
    dynamic["dynamic"] = {{"-:.*down_proj", json::object()}, {"+:.*up_proj", {{"bits", 8}}}};
    out.push_back(
        kind("gptq-dynamic", "gptq", 69'120, dynamic, [](auto &builder, auto &module, auto n, auto k) {
            if (isDown(module))
                plain(builder, module, n, k);
            else
                gptq(module.ends_with("up_proj") ? 8 : 4, true)(builder, module, n, k);
        }));
    json old = gptqConfig;
    old.erase("quant_method");
    old["@file"] = "quantize_config.json";
    out.push_back(kind("gptq-old", "gptq", 69'120, old, gptq(4, true)));
    const json awqConfig = {
        {"quant_method", "awq"}, {"bits", 4}, {"group_size", 128}, {"zero_point", true}, {"version", "gemm"}};
    out.push_back(kind("awq-gemm", "awq", 68'096, awqConfig, awq));
    json gemv = awqConfig;
    gemv["version"] = "gemv";
    out.push_back(kind("awq-gemv", "awq", 75'776, gemv, [](auto &builder, auto &module, auto n, auto k) {
        const std::uint64_t width = (k / 128 + 7) / 8;
        builder.add(module + ".qweight", "I32", {n, k / 8})
            .add(module + ".qzeros", "I32", {n, width})
            .add(module + ".scales", "F16", {n, width * 8});
    }));
    json oldAwq = {{"w_bit", 4}, {"q_group_size", 128}, {"zero_point", true}, {"@file", "quant_config.json"}};
    out.push_back(kind("awq-old", "awq", 68'096, oldAwq, awq));
}

void addAutoRound(std::vector<FormatKind> &out)
{
    out.push_back(
        kind("autoround-gptq", "autoround", 68'096, autoRound("auto_round:auto_gptq"), gptq(4, false)));
    out.push_back(
        kind("autoround-gptq-own", "autoround", 69'120, autoRound("auto_round:gptq"), gptq(4, true)));
    out.push_back(kind("autoround-awq", "autoround", 68'096, autoRound("auto_round:auto_awq"), awq));
    out.push_back(
        kind("autoround-llm-compressor", "autoround", 67'600, autoRound("auto_round:llm_compressor"),
             [](auto &builder, auto &module, auto n, auto k) { packedInt(builder, module, n, k, 4, 128); }));
    json extra = autoRound("auto_round:auto_gptq");
    extra["extra_config"] = {{"model.layers.0.mlp.down_proj", {{"bits", 8}}},
                             {"model.layers.0.self_attn.v_proj", {{"bits", 16}}}};
    out.push_back(kind("autoround-extra-config", "autoround", 68'096, extra,
                       [](auto &builder, auto &module, auto n, auto k) {
                           if (module.ends_with("v_proj"))
                               plain(builder, module, n, k);
                           else
                               gptq(isDown(module) ? 8 : 4, false)(builder, module, n, k);
                       }));
    const auto typed = [](const char *type, int bits, int group) {
        json config = autoRound("auto_round:llm_compressor");
        config["data_type"] = type;
        config["bits"] = bits;
        config["group_size"] = group;
        return config;
    };
    out.push_back(kind("autoround-mxfp4", "mxfp4", 69'632, typed("mx_fp", 4, 32), mxfp4Packed));
    out.push_back(kind("autoround-nvfp4", "nvfp4", 73'736, typed("nv_fp", 4, 16), fp4Packed));
    out.push_back(kind("autoround-fp8", "fp8", 133'120, typed("fp", 8, -1),
                       bytes("F8_E4M3", "weight_scale", "F32", channel, false)));
}

void addCompressed(std::vector<FormatKind> &out)
{
    out.push_back(
        kind("ct-pack", "int4", 73'744, compressed("pack-quantized", integers(4, 32)),
             [](auto &builder, auto &module, auto n, auto k) { packedInt(builder, module, n, k, 4, 32); }));
    out.push_back(kind("ct-pack-short-group", "int4", 68'624, compressed("pack-quantized", integers(4, 96)),
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight_packed", "I32", {n, k / 8})
                               .add(module + ".weight_scale", "BF16", {n, (k + 95) / 96})
                               .add(module + ".weight_shape", "I64", {2});
                       }));
    out.push_back(kind("ct-pack-asymmetric", "int4", 75'792, compressed("pack-quantized", integers(4, 32)),
                       [](auto &builder, auto &module, auto n, auto k) {
                           packedInt(builder, module, n, k, 4, 32);
                           builder.add(module + ".weight_zero_point", "I32", {n / 8, k / 32});
                       }));
    out.push_back(kind("ct-int", "int8", 132'096, compressed("int-quantized", integers(8, 0)),
                       bytes("I8", "weight_scale", "BF16", channel, false)));
    out.push_back(kind("ct-float", "fp8", 132'096, compressed("float-quantized", floats(8, "channel", 0)),
                       bytes("F8_E4M3", "weight_scale", "BF16", channel, false)));
    out.push_back(kind("ct-float-block", "fp8", 131'088, compressed("float-quantized", floats(8, "block", 0)),
                       bytes("F8_E4M3", "weight_scale", "BF16", block, false)));
    out.push_back(kind("ct-naive", "int8", 131'076, compressed("naive-quantized", integers(8, 0)),
                       bytes("I8", "weight_scale", "BF16", one, true)));
    out.push_back(kind("ct-nvfp4", "nvfp4", 73'736,
                       compressed("nvfp4-pack-quantized", floats(4, "tensor_group", 16)), fp4Packed));
    out.push_back(kind("ct-mxfp4", "mxfp4", 69'632,
                       compressed("mxfp4-pack-quantized", floats(4, "group", 32)), mxfp4Packed));
    out.push_back(
        kind("ct-mxfp8", "mxfp8", 135'168, compressed("mxfp8-quantized", floats(8, "group", 32)), mxfp8));
    json mixed = compressed("mixed-precision", integers(4, 128));
    mixed["config_groups"]["group_0"]["format"] = "pack-quantized";
    mixed["config_groups"]["group_1"] = {
        {"targets", {"re:.*self_attn.*"}}, {"format", "pack-quantized"}, {"weights", integers(8, 0)}};
    // 4 bits a 128 and 8 bits a row have scales that shapes alone do not tell apart.
    out.push_back(kind("ct-mixed", "mixed", 67'600, mixed, [](auto &builder, auto &module, auto n, auto k) {
        const bool wide = isAttention(module);
        packedInt(builder, module, n, k, wide ? 8 : 4, wide ? 0 : 128);
    }));
    out.push_back(kind("ct-marlin-24", "int4-24", 51'200, compressed("marlin-24", integers(4, 128)),
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight_packed", "I32", {k / 32, n * 2})
                               .add(module + ".scale_packed", "F16", {k / 128, n})
                               .add(module + ".meta", "I16", {k / 32, n * 2});
                       }));
    out.push_back(kind("ct-sparse", "bf16", 147'468, compressed("sparse-bitmask", integers(8, 0)),
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight.compressed", "BF16", {n * k / 2})
                               .add(module + ".weight.bitmask", "U8", {n, k / 8})
                               .add(module + ".weight.shape", "I32", {2})
                               .add(module + ".weight.row_offsets", "I32", {1});
                       }));
}

void addFp8(std::vector<FormatKind> &out)
{
    const json blocks = {{"quant_method", "fp8"},
                         {"fmt", "e4m3"},
                         {"weight_block_size", {128, 128}},
                         {"activation_scheme", "dynamic"}};
    const json whole = {{"quant_method", "fp8"}, {"activation_scheme", "static"}};
    out.push_back(
        kind("fp8-block", "fp8", 131'104, blocks, bytes("F8_E4M3", "weight_scale_inv", "F32", block, false)));
    out.push_back(kind("fp8-block-bf16", "fp8", 131'088, blocks,
                       bytes("F8_E4M3", "weight_scale_inv", "BF16", block, false)));
    out.push_back(kind("fp8-block-scale", "fp8", 131'104, blocks,
                       bytes("F8_E4M3", "weight_scale", "F32", block, false)));
    out.push_back(
        kind("fp8-tensor", "fp8", 131'080, whole, bytes("F8_E4M3", "weight_scale", "F32", one, true)));
    out.push_back(
        kind("fp8-channel", "fp8", 133'120, whole, bytes("F8_E4M3", "weight_scale", "F32", channel, false)));
    out.push_back(kind("fbgemm-fp8", "fp8", 133'120,
                       {{"quant_method", "fbgemm_fp8"}, {"activation_scale_ub", 1200.0}},
                       bytes("F8_E4M3", "weight_scale", "F32", channel, false)));
}

void addModelOpt(std::vector<FormatKind> &out)
{
    const Linear fp8 = bytes("F8_E4M3", "weight_scale", "F32", one, true);
    out.push_back(kind("modelopt-fp8", "fp8", 131'080, modelOpt("FP8"), fp8));
    out.push_back(kind("modelopt-nvfp4", "nvfp4", 73'736, modelOpt("NVFP4"), nvfp4));
    out.push_back(kind("modelopt-w4a16-nvfp4", "nvfp4", 73'732, modelOpt("W4A16_NVFP4"),
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight", "U8", {n, k / 2})
                               .add(module + ".weight_scale", "F8_E4M3", {n, k / 16})
                               .add(module + ".weight_scale_2", "F32", {});
                       }));
    out.push_back(kind("modelopt-mxfp8", "mxfp8", 135'168, modelOpt("MXFP8"), mxfp8));
    out.push_back(kind("modelopt-w4a8-awq", "w4a8_awq", 70'152, modelOpt("W4A8_AWQ"),
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight", "U8", {n / 2, k})
                               .add(module + ".weight_scale", "F32", {n, k / 128})
                               .add(module + ".pre_quant_scale", "BF16", {k})
                               .add(module + ".weight_scale_2", "F32", {})
                               .add(module + ".input_scale", "F32", {});
                       }));
    json mixed = modelOpt("MIXED_PRECISION");
    mixed["quantized_layers"] = {
        {"model.layers.0.mlp.gate_proj", {{"quant_algo", "NVFP4"}, {"group_size", 16}}},
        {"model.layers.0.self_attn.q_proj", {{"quant_algo", "FP8"}}}};
    out.push_back(kind("modelopt-mixed", "nvfp4-mixed", 73'736, mixed,
                       [fp8](auto &builder, auto &module, auto n, auto k) {
                           (isAttention(module) ? fp8 : Linear(nvfp4))(builder, module, n, k);
                       }));
    json file = {{"producer", {{"name", "modelopt"}}},
                 {"quantization",
                  {{"quant_algo", "FP8"}, {"kv_cache_quant_algo", "FP8"}, {"exclude_modules", {"lm_head"}}}},
                 {"@file", "hf_quant_config.json"}};
    out.push_back(kind("modelopt-file", "fp8", 131'080, file, fp8));
}

void addBitsAndBytes(std::vector<FormatKind> &out)
{
    const json four = {{"quant_method", "bitsandbytes"},
                       {"load_in_4bit", true},
                       {"bnb_4bit_quant_type", "nf4"},
                       {"bnb_4bit_use_double_quant", false}};
    out.push_back(kind("bnb-4bit", "bnb-4bit", 73'872, four, [](auto &builder, auto &module, auto n, auto k) {
        builder.add(module + ".weight", "U8", {n * k / 2, 1})
            .add(module + ".weight.absmax", "F32", {n * k / 64})
            .add(module + ".weight.quant_map", "F32", {16})
            .add(module + ".weight.quant_state.bitsandbytes__nf4", "U8", {80});
    }));
    json nested = four;
    nested["bnb_4bit_use_double_quant"] = true;
    out.push_back(
        kind("bnb-4bit-nested", "bnb-4bit", 68'794, nested, [](auto &builder, auto &module, auto n, auto k) {
            builder.add(module + ".weight", "U8", {n * k / 2, 1})
                .add(module + ".weight.absmax", "U8", {n * k / 64})
                .add(module + ".weight.quant_map", "F32", {16})
                .add(module + ".weight.nested_absmax", "F32", {n * k / 64 / 256})
                .add(module + ".weight.nested_quant_map", "F32", {256})
                .add(module + ".weight.quant_state.bitsandbytes__nf4", "U8", {90});
        }));
    out.push_back(kind("bnb-8bit", "bnb-int8", 133'121,
                       {{"quant_method", "bitsandbytes"}, {"load_in_8bit", true}},
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight", "I8", {n, k})
                               .add(module + ".SCB", "F32", {n})
                               .add(module + ".weight_format", "U8", {});
                       }));
}

void addMlx(std::vector<FormatKind> &out)
{
    const auto add = [&out](const char *id, const char *label, std::uint64_t gate, json declared,
                            const Linear &linear) {
        declared["@mlx"] = true;
        out.push_back(kind(id, label, gate, declared, linear));
        out.back().format = "mlx";
    };
    const json four = {{"group_size", 64}, {"bits", 4}};
    add("mlx", "mlx-4bit", 73'728, four,
        [](auto &builder, auto &module, auto n, auto k) { mlx(builder, module, n, k, 4, 64); });
    json mixed = four;
    mixed["model.layers.0.mlp.down_proj"] = {{"group_size", 32}, {"bits", 8}};
    mixed["model.layers.0.self_attn.v_proj"] = false;
    add("mlx-mixed", "mlx-4bit", 73'728, mixed, [](auto &builder, auto &module, auto n, auto k) {
        if (module.ends_with("v_proj"))
            plain(builder, module, n, k);
        else // 4 bits a 64 and 8 bits a 32 have the same product
            mlx(builder, module, n, k, isDown(module) ? 8 : 4, isDown(module) ? 32 : 64);
    });
    add("mlx-mxfp4", "mlx-mxfp4", 69'632, {{"group_size", 32}, {"bits", 4}, {"mode", "mxfp4"}},
        mlxFloat(4, 32));
    add("mlx-mxfp8", "mlx-mxfp8", 135'168, {{"group_size", 32}, {"bits", 8}, {"mode", "mxfp8"}},
        mlxFloat(8, 32));
    add("mlx-nvfp4", "mlx-nvfp4", 73'728, {{"group_size", 16}, {"bits", 4}, {"mode", "nvfp4"}},
        mlxFloat(4, 16));
}

void addHqqTorchAoQuark(std::vector<FormatKind> &out)
{
    out.push_back(
        kind("hqq", "hqq", 73'744,
             {{"quant_method", "hqq"},
              {"quant_config", {{"weight_quant_params", {{"nbits", 4}, {"group_size", 64}, {"axis", 1}}}}}},
             [](auto &builder, auto &module, auto n, auto k) {
                 builder.add(module + ".W_q", "U8", {n * k / 128, 64})
                     .add(module + ".scale", "F16", {n * k / 64, 1})
                     .add(module + ".zero", "F16", {n * k / 64, 1})
                     .add(module + ".shape", "I64", {2});
             }));
    const json torchao = {{"quant_method", "torchao"},
                          {"quant_type", {{"default", {{"_type", "Int4WeightOnlyConfig"}}}}}};
    out.push_back(
        kind("torchao-int4", "torchao", 69'632, torchao, [](auto &builder, auto &module, auto n, auto k) {
            builder.add(module + "._weight_qdata", "I8", {n, k / 2})
                .add(module + "._weight_scale", "BF16", {k / 128, n})
                .add(module + "._weight_zero_point", "BF16", {k / 128, n});
        }));
    out.push_back(
        kind("torchao-float8", "torchao", 133'120, torchao, [](auto &builder, auto &module, auto n, auto k) {
            builder.add(module + ".weight:qdata", "F8_E4M3", {n, k})
                .add(module + ".weight:scale", "F32", {n, 1});
        }));
    const auto quark = [](const char *dtype) {
        return json{{"quant_method", "quark"},
                    {"global_quant_config", {{"weight", {{"dtype", dtype}}}}},
                    {"export", {{"pack_method", "reorder"}}}};
    };
    out.push_back(kind("quark-fp8", "quark-fp8", 131'080, quark("fp8_e4m3"),
                       bytes("F8_E4M3", "weight_scale", "F32", one, true)));
    out.push_back(kind("quark-mxfp4", "quark-mxfp4", 69'632, quark("fp4"),
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight", "U8", {n, k / 2})
                               .add(module + ".weight_scale", "U8", {n, k / 32});
                       }));
    out.push_back(kind("quark-int4", "quark-int4", 68'096, quark("int4"),
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight", "I32", {k, n / 8})
                               .add(module + ".weight_scale", "BF16", {k / 128, n})
                               .add(module + ".weight_zero_point", "I32", {k / 128, n / 8});
                       }));
}

void addCodebooks(std::vector<FormatKind> &out)
{
    const auto method = [](const char *name) { return json{{"quant_method", name}}; };
    out.push_back(kind("exl2", "exl2", 67'084, {{"quant_method", "exl2"}, {"bits", 4.25}},
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".q_weight", "I32", {k / 8, n})
                               .add(module + ".q_scale", "I32", {2, n / 8})
                               .add(module + ".q_scale_max", "F16", {2})
                               .add(module + ".q_groups", "I16", {4})
                               .add(module + ".q_invperm", "I32", {k});
                       }));
    out.push_back(kind("exl3", "exl3", 67'072, {{"quant_method", "exl3"}, {"bits", 4.0}},
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".trellis", "I16", {k / 16, n / 16, 64})
                               .add(module + ".suh", "F16", {k})
                               .add(module + ".svh", "F16", {n});
                       }));
    out.push_back(kind("aqlm", "aqlm", 41'984, {{"quant_method", "aqlm"}, {"in_group_size", 8}},
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".codes", "I8", {n, k / 8, 2})
                               .add(module + ".codebooks", "F16", {2, 256, 1, 8})
                               .add(module + ".scales", "F16", {n, 1, 1, 1});
                       }));
    out.push_back(kind("higgs", "higgs", 67'648,
                       {{"quant_method", "higgs"}, {"bits", 4}, {"group_size", 256}},
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight", "I16", {k / 4, n})
                               .add(module + ".scales", "F16", {n, k / 256})
                               .add(module + ".tables", "F16", {16, 2})
                               .add(module + ".tables2", "F32", {16, 16});
                       }));
    out.push_back(
        kind("bitnet", "bitnet", 32'770, method("bitnet"), [](auto &builder, auto &module, auto n, auto k) {
            builder.add(module + ".weight", "U8", {n / 4, k}).add(module + ".weight_scale", "BF16", {1});
        }));
    out.push_back(
        kind("eetq", "eetq", 132'096, method("eetq"), [](auto &builder, auto &module, auto n, auto k) {
            builder.add(module + ".weight", "I8", {k, n}).add(module + ".weight_scales", "F16", {n});
        }));
    out.push_back(kind("quanto", "quanto", 69'632, {{"quant_method", "quanto"}, {"weights", "int4"}},
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".weight._data", "U8", {n / 2, k})
                               .add(module + ".weight._scale", "BF16", {n * k / 128, 1})
                               .add(module + ".weight._shift", "BF16", {n * k / 128, 1});
                       }));
    out.push_back(kind("fp-quant", "fp-quant", 71'688,
                       {{"quant_method", "fp_quant"}, {"forward_dtype", "mxfp4"}},
                       [](auto &builder, auto &module, auto n, auto k) {
                           builder.add(module + ".qweight", "U8", {n, k / 2})
                               .add(module + ".scales", "U8", {n, k / 32})
                               .add(module + ".weight_global_scale", "F32", {1})
                               .add(module + ".act_global_scale", "F32", {1})
                               .add(module + ".forward_hadamard_matrix", "BF16", {32, 32});
                       }));
    // Nothing in the header tells how many weights these stand for.
    constexpr std::uint64_t tables = 2 * words * hidden + 3 * hidden;
    out.push_back(
        kind("vptq", "vptq", 39'424, method("vptq"), [](auto &builder, auto &module, auto n, auto k) {
            builder.add(module + ".indices", "I32", {1, n / 8, k / 2})
                .add(module + ".centroids.weight", "F16", {1, 2048})
                .add(module + ".perm", "U16", {k})
                .add(module + ".weight_scale", "F16", {n})
                .add(module + ".weight_bias", "F16", {n});
        }));
    out.back().parameters = tables;
    out.back().notes = {"checkpoint.parameters-unknown"};
    out.push_back(
        kind("spqr", "spqr", 67'988, method("spqr"), [](auto &builder, auto &module, auto n, auto k) {
            builder.add(module + ".dense_weights", "I64", {n * k / 16})
                .add(module + ".row_offsets", "I32", {n + 1})
                .add(module + ".col_vals", "I32", {100});
        }));
    out.back().parameters = tables;
    out.back().notes = {"checkpoint.parameters-unknown"};
}

/// A quantization that is declared, or promised by the name of the folder, and is not there.
void addContradictions(std::vector<FormatKind> &out)
{
    const json awqConfig = {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 128}};
    out.push_back(kind("claimed-by-config", "bf16", 262'144, awqConfig, plain));
    out.back().notes = {"checkpoint.quantization-contradicted"};
    out.push_back(kind("claimed-in-part", "awq-mixed", 262'144, awqConfig,
                       [](auto &builder, auto &module, auto n, auto k) {
                           (isAttention(module) ? Linear(awq) : Linear(plain))(builder, module, n, k);
                       }));
    out.back().notes = {"checkpoint.quantization-contradicted"};
    out.push_back(kind("claimed-by-name-AWQ-4bit", "bf16", 262'144, nullptr, plain));
    out.back().notes = {"checkpoint.name-contradicted"};
}

} // namespace

std::vector<FormatKind> quantizedKinds()
{
    std::vector<FormatKind> out;
    addInteger(out);
    addAutoRound(out);
    addCompressed(out);
    addFp8(out);
    addModelOpt(out);
    addBitsAndBytes(out);
    addMlx(out);
    addHqqTorchAoQuark(out);
    addCodebooks(out);
    addContradictions(out);
    return out;
}

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Vision towers and projectors of multimodal models, named as published.
#include "models/checkpoint/derive/decoders.h"
#include "models/checkpoint/derive/defaults.h"

#include <algorithm>
#include <array>

namespace weir::derive {

namespace {

struct TowerParts
{
    Keys &top;
    Keys &vision;
    Keys &text;
    TensorBuilder &builder;
};

constexpr std::size_t maxDepth = 4096;

std::uint64_t depthOf(Keys &keys, const char *key) { return keys.number(key, maxDepth); }

std::uint64_t square(std::uint64_t value) { return value * value; }

/// Patches of a square image.
std::uint64_t patches(Keys &vision)
{
    return square(vision.number("image_size") / vision.number("patch_size"));
}

// ---- Qwen ---------------------------------------------------------------------------------------

void qwen2Tower(TowerParts &parts)
{
    Keys &vision = parts.vision;
    const std::uint64_t width = vision.number("embed_dim");
    const std::uint64_t out = vision.number("hidden_size");
    const std::uint64_t merged = width * square(vision.number("spatial_merge_size"));
    const std::uint64_t patch = vision.number("patch_size");
    const Scope tower(parts.builder, "visual.");
    tower.weight("patch_embed.proj.weight",
                 {width, vision.number("in_channels"), vision.number("temporal_patch_size"), patch, patch});
    for (std::uint64_t i = 0; i < depthOf(vision, "depth"); ++i) {
        const Scope block = tower.item("blocks", i);
        block.norm("norm1", width, true);
        block.norm("norm2", width, true);
        block.linear("attn.qkv", 3 * width, width, true);
        block.linear("attn.proj", width, width, true);
        feedForward(block.in("mlp"), Feed::Numbered, width, width * vision.number("mlp_ratio"), true);
    }
    tower.norm("merger.ln_q", width, true);
    tower.item("merger.mlp", 0).weight("weight", {merged, merged});
    tower.item("merger.mlp", 0).weight("bias", {merged});
    tower.item("merger.mlp", 2).weight("weight", {out, merged});
    tower.item("merger.mlp", 2).weight("bias", {out});
}

void qwen25Tower(TowerParts &parts)
{
    Keys &vision = parts.vision;
    const std::uint64_t width = vision.number("hidden_size");
    const std::uint64_t out = vision.number("out_hidden_size");
    const std::uint64_t merged = width * square(vision.number("spatial_merge_size"));
    const std::uint64_t patch = vision.number("patch_size");
    const Scope tower(parts.builder, "visual.");
    tower.weight("patch_embed.proj.weight",
                 {width, vision.number("in_channels"), vision.number("temporal_patch_size"), patch, patch});
    for (std::uint64_t i = 0; i < depthOf(vision, "depth"); ++i) {
        const Scope block = tower.item("blocks", i);
        block.norm("norm1", width);
        block.norm("norm2", width);
        block.linear("attn.qkv", 3 * width, width, true);
        block.linear("attn.proj", width, width, true);
        feedForward(block.in("mlp"), Feed::Gated, width, vision.number("intermediate_size"), true);
    }
    tower.norm("merger.ln_q", width);
    tower.item("merger.mlp", 0).weight("weight", {merged, merged});
    tower.item("merger.mlp", 0).weight("bias", {merged});
    tower.item("merger.mlp", 2).weight("weight", {out, merged});
    tower.item("merger.mlp", 2).weight("bias", {out});
}

void qwen3Tower(TowerParts &parts, bool deepstack)
{
    Keys &vision = parts.vision;
    const std::uint64_t width = vision.number("hidden_size");
    const std::uint64_t out = vision.number("out_hidden_size");
    const std::uint64_t merged = width * square(vision.number("spatial_merge_size"));
    const std::uint64_t patch = vision.number("patch_size");
    const Scope tower(parts.builder, "model.visual.");
    tower.weight("patch_embed.proj.weight",
                 {width, vision.number("in_channels"), vision.number("temporal_patch_size"), patch, patch});
    tower.weight("patch_embed.proj.bias", {width});
    tower.weight("pos_embed.weight", {vision.number("num_position_embeddings"), width});
    for (std::uint64_t i = 0; i < depthOf(vision, "depth"); ++i) {
        const Scope block = tower.item("blocks", i);
        block.norm("norm1", width, true);
        block.norm("norm2", width, true);
        block.linear("attn.qkv", 3 * width, width, true);
        block.linear("attn.proj", width, width, true);
        block.linear("mlp.linear_fc1", vision.number("intermediate_size"), width, true);
        block.linear("mlp.linear_fc2", width, vision.number("intermediate_size"), true);
    }
    const auto merger = [&](const Scope &scope, std::uint64_t normed) {
        scope.norm("norm", normed, true);
        scope.linear("linear_fc1", merged, merged, true);
        scope.linear("linear_fc2", out, merged, true);
    };
    merger(tower.in("merger"), width);
    if (!deepstack)
        return;
    const std::size_t mergers =
        vision.numbers("deepstack_visual_indexes", ConfigReader::maxDimension, maxDepth).size();
    for (std::size_t i = 0; i < mergers; ++i)
        merger(tower.item("deepstack_merger_list", i), merged);
}

// ---- SigLIP (Gemma 3, LFM2-VL) --------------------------------------------------------------------

void siglipLayers(const Scope &tower, Keys &vision, std::uint64_t width)
{
    for (std::uint64_t i = 0; i < depthOf(vision, "num_hidden_layers"); ++i) {
        const Scope layer = tower.item("encoder.layers", i);
        layer.norm("layer_norm1", width, true);
        layer.norm("layer_norm2", width, true);
        for (const char *name : {"q_proj", "k_proj", "v_proj", "out_proj"})
            layer.linear(std::string("self_attn.") + name, width, width, true);
        feedForward(layer.in("mlp"), Feed::Numbered, width, vision.number("intermediate_size"), true);
    }
    tower.norm("post_layernorm", width, true);
}

void siglipHead(const Scope &tower, Keys &vision, std::uint64_t width)
{
    if (!vision.flagOr("vision_use_head", true))
        return;
    const Scope head = tower.in("head");
    head.weight("probe", {1, 1, width});
    head.weight("attention.in_proj_weight", {3 * width, width});
    head.weight("attention.in_proj_bias", {3 * width});
    head.linear("attention.out_proj", width, width, true);
    head.norm("layernorm", width, true);
    feedForward(head.in("mlp"), Feed::Numbered, width, vision.number("intermediate_size"), true);
}

void gemma3Tower(TowerParts &parts)
{
    Keys &vision = parts.vision;
    const std::uint64_t width = vision.number("hidden_size");
    const std::uint64_t patch = vision.number("patch_size");
    const Scope tower(parts.builder, "vision_tower.vision_model.");
    tower.weight("embeddings.patch_embedding.weight", {width, vision.number("num_channels"), patch, patch});
    tower.weight("embeddings.patch_embedding.bias", {width});
    tower.weight("embeddings.position_embedding.weight", {patches(vision), width});
    siglipLayers(tower, vision, width);
    siglipHead(tower, vision, width);
    const Scope projector(parts.builder, "multi_modal_projector.");
    projector.weight("mm_input_projection_weight", {width, parts.text.number("hidden_size")});
    projector.norm("mm_soft_emb_norm", width);
}

void lfm2Tower(TowerParts &parts)
{
    Keys &vision = parts.vision;
    const std::uint64_t width = vision.number("hidden_size");
    const Scope tower(parts.builder, "model.vision_tower.vision_model.");
    // SigLIP 2 takes patches that are flattened already.
    tower.linear("embeddings.patch_embedding", width,
                 vision.number("num_channels") * square(vision.number("patch_size")), true);
    tower.weight("embeddings.position_embedding.weight", {vision.number("num_patches"), width});
    siglipLayers(tower, vision, width);
    siglipHead(tower, vision, width);
    const Scope projector(parts.builder, "model.multi_modal_projector.");
    const std::uint64_t in = width * square(parts.top.number("downsample_factor"));
    const std::uint64_t inner = parts.top.number("projector_hidden_size");
    const bool bias = parts.top.flagOr("projector_bias", true);
    if (parts.top.flagOr("projector_use_layernorm", true))
        projector.norm("layer_norm", in, true);
    projector.linear("linear_1", inner, in, bias);
    projector.linear("linear_2", parts.text.number("hidden_size"), inner, bias);
}

// ---- Gemma 4, Mistral 3, Llama 4, Kimi K2.5, GLM-4V ------------------------------------------------

/// A linear layer of Gemma 4's towers, with the limits that its activations are clipped to: scalars.
void clippedLinear(const Scope &scope, const std::string &name, std::uint64_t out, std::uint64_t in,
                   bool clipped)
{
    scope.linear(name + ".linear", out, in);
    for (const char *limit : {".input_min", ".input_max", ".output_min", ".output_max"}) {
        if (clipped)
            scope.weight(name + limit, {});
    }
}

void gemma4Audio(TowerParts &parts)
{
    const auto found = parts.top.object().find("audio_config");
    if (found == parts.top.object().end() || !found->is_object())
        return;
    nlohmann::json config = *found;
    fillDefaults(config, "gemma4_audio");
    Keys audio(config);
    const std::uint64_t width = audio.number("hidden_size");
    const std::uint64_t heads = audio.number("num_attention_heads");
    const std::uint64_t dim = width / heads;
    const std::uint64_t out = audio.number("output_proj_dims");
    const bool clipped = audio.flagOr("use_clipped_linears", true);
    const std::vector<std::uint64_t> channels = audio.numbers("subsampling_conv_channels", 1U << 16U, 2);
    if (channels.size() != 2) {
        parts.top.complain("subsampling_conv_channels");
        return;
    }
    const Scope tower(parts.builder, "model.audio_tower.");
    const Scope sampling = tower.in("subsample_conv_projection");
    sampling.weight("layer0.conv.weight", {channels[0], 1, 3, 3});
    sampling.norm("layer0.norm", channels[0]);
    sampling.weight("layer1.conv.weight", {channels[1], channels[0], 3, 3});
    sampling.norm("layer1.norm", channels[1]);
    sampling.linear("input_proj_linear", width, channels[0] / 4 * channels[1]);
    for (std::uint64_t i = 0; i < depthOf(audio, "num_hidden_layers"); ++i) {
        const Scope layer = tower.item("layers", i);
        for (const char *feed : {"feed_forward1", "feed_forward2"}) {
            const Scope scope = layer.in(feed);
            clippedLinear(scope, "ffw_layer_1", 4 * width, width, clipped);
            clippedLinear(scope, "ffw_layer_2", width, 4 * width, clipped);
            scope.norm("pre_layer_norm", width);
            scope.norm("post_layer_norm", width);
        }
        const Scope self = layer.in("self_attn");
        for (const char *name : {"q_proj", "k_proj", "v_proj"})
            clippedLinear(self, name, heads * dim, width, clipped);
        clippedLinear(self, "post", width, width, clipped);
        self.linear("relative_k_proj", heads * dim, width);
        self.weight("per_dim_scale", {dim});
        const Scope convolution = layer.in("lconv1d");
        clippedLinear(convolution, "linear_start", 2 * width, width, clipped);
        clippedLinear(convolution, "linear_end", width, width, clipped);
        convolution.weight("depthwise_conv1d.weight", {width, 1, audio.number("conv_kernel_size")});
        convolution.norm("pre_layer_norm", width);
        convolution.norm("conv_norm", width);
        for (const char *norm : {"norm_pre_attn", "norm_post_attn", "norm_out"})
            layer.norm(norm, width);
    }
    tower.linear("output_proj", out, width, true);
    Scope(parts.builder, "model.embed_audio.")
        .linear("embedding_projection", parts.text.number("hidden_size"), out);
    if (!audio.problem().empty())
        parts.top.complain(audio.problem().c_str());
}

void gemma4Tower(TowerParts &parts)
{
    gemma4Audio(parts);
    Keys &vision = parts.vision;
    if (!parts.top.has("vision_config"))
        return;
    const std::uint64_t width = vision.number("hidden_size");
    const std::uint64_t heads = vision.number("num_attention_heads");
    const std::uint64_t dim = headWidth(vision, width);
    const std::uint64_t keys = keyValueHeads(vision) * dim;
    const std::uint64_t inner = vision.number("intermediate_size");
    const bool clipped = vision.flag("use_clipped_linears");
    const Scope tower(parts.builder, "model.vision_tower.");
    tower.weight("patch_embedder.position_embedding_table",
                 {2, vision.number("position_embedding_size"), width});
    tower.linear("patch_embedder.input_proj", width, 3 * square(vision.number("patch_size")));
    for (std::uint64_t i = 0; i < depthOf(vision, "num_hidden_layers"); ++i) {
        const Scope layer = tower.item("encoder.layers", i);
        const auto linear = [&](const char *name, std::uint64_t out, std::uint64_t in) {
            clippedLinear(layer, name, out, in, clipped);
        };
        linear("self_attn.q_proj", heads * dim, width);
        linear("self_attn.k_proj", keys, width);
        linear("self_attn.v_proj", keys, width);
        linear("self_attn.o_proj", width, heads * dim);
        layer.norm("self_attn.q_norm", dim);
        layer.norm("self_attn.k_norm", dim);
        linear("mlp.gate_proj", inner, width);
        linear("mlp.up_proj", inner, width);
        linear("mlp.down_proj", width, inner);
        for (const char *norm : {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                                 "post_feedforward_layernorm"})
            layer.norm(norm, width);
    }
    if (vision.flag("standardize")) {
        tower.weight("std_bias", {width});
        tower.weight("std_scale", {width});
    }
    Scope(parts.builder, "model.embed_vision.")
        .linear("embedding_projection", parts.text.number("hidden_size"), width);
}

void pixtralTower(TowerParts &parts)
{
    Keys &vision = parts.vision;
    const std::uint64_t width = vision.number("hidden_size");
    const std::uint64_t patch = vision.number("patch_size");
    const std::uint64_t hidden = parts.text.number("hidden_size");
    const Scope tower(parts.builder, "vision_tower.");
    tower.weight("patch_conv.weight", {width, vision.number("num_channels"), patch, patch});
    tower.norm("ln_pre", width);
    for (std::uint64_t i = 0; i < depthOf(vision, "num_hidden_layers"); ++i) {
        const Scope layer = tower.item("transformer.layers", i);
        layer.norm("attention_norm", width);
        layer.norm("ffn_norm", width);
        for (const char *name : {"q_proj", "k_proj", "v_proj", "o_proj"})
            layer.linear(std::string("attention.") + name, width, width);
        feedForward(layer.in("feed_forward"), Feed::Gated, width, vision.number("intermediate_size"));
    }
    const Scope projector(parts.builder, "multi_modal_projector.");
    const bool bias = parts.top.flag("multimodal_projector_bias");
    const auto feature = parts.top.object().find("vision_feature_layer");
    const std::uint64_t features =
        feature != parts.top.object().end() && feature->is_array() && feature->size() <= maxDepth
            ? feature->size()
            : 1;
    projector.norm("norm", width);
    projector.linear("patch_merger.merging_layer", width,
                     width * square(parts.top.number("spatial_merge_size")));
    projector.linear("linear_1", hidden, width * features, bias);
    projector.linear("linear_2", hidden, hidden, bias);
}

void llama4Tower(TowerParts &parts)
{
    Keys &vision = parts.vision;
    const std::uint64_t width = vision.number("hidden_size");
    const std::uint64_t heads = vision.number("num_attention_heads");
    const std::uint64_t inner = vision.number("intermediate_size");
    const std::uint64_t projected = vision.number("projector_output_dim");
    const std::uint64_t attended = width / heads * heads;
    const Scope tower(parts.builder, "vision_model.");
    tower.weight("class_embedding", {width});
    tower.weight("positional_embedding_vlm", {patches(vision) + 1, width});
    tower.linear("patch_embedding.linear", width,
                 vision.number("num_channels") * square(vision.number("patch_size")));
    tower.norm("layernorm_pre", width, true);
    tower.norm("layernorm_post", width, true);
    for (std::uint64_t i = 0; i < depthOf(vision, "num_hidden_layers"); ++i) {
        const Scope layer = tower.item("model.layers", i);
        for (const char *name : {"q_proj", "k_proj", "v_proj"})
            layer.linear(std::string("self_attn.") + name, attended, width, true);
        layer.linear("self_attn.o_proj", width, attended, true);
        feedForward(layer.in("mlp"), Feed::Numbered, width, inner, true);
        layer.norm("input_layernorm", width, true);
        layer.norm("post_attention_layernorm", width, true);
    }
    tower.linear("vision_adapter.mlp.fc1", vision.number("projector_input_dim"), inner);
    tower.linear("vision_adapter.mlp.fc2", projected, projected);
    Scope(parts.builder, "multi_modal_projector.")
        .linear("linear_1", parts.text.number("hidden_size"), vision.number("vision_output_dim"));
}

void kimiTower(TowerParts &parts)
{
    Keys &vision = parts.vision;
    const auto either = [&vision](const char *one, const char *other) {
        return vision.number(vision.has(one) ? one : other);
    };
    const std::uint64_t width = either("vt_hidden_size", "hidden_size");
    const std::uint64_t inner = either("vt_intermediate_size", "intermediate_size");
    const std::uint64_t patch = vision.number("patch_size");
    const Scope tower(parts.builder, "vision_tower.");
    tower.weight("patch_embed.proj.weight", {width, 3, patch, patch});
    tower.weight("patch_embed.proj.bias", {width});
    tower.weight("patch_embed.pos_emb.weight", {either("init_pos_emb_height", "pos_emb_height"),
                                                either("init_pos_emb_width", "pos_emb_width"), width});
    const std::uint64_t depth =
        depthOf(vision, vision.has("vt_num_hidden_layers") ? "vt_num_hidden_layers" : "num_hidden_layers");
    for (std::uint64_t i = 0; i < depth; ++i) {
        const Scope block = tower.item("encoder.blocks", i);
        block.norm("norm0", width, true);
        block.norm("norm1", width, true);
        block.linear("wqkv", 3 * width, width, true);
        block.linear("wo", width, width, true);
        block.linear("mlp.fc0", inner, width, true);
        block.linear("mlp.fc1", width, inner, true);
    }
    tower.norm("encoder.final_layernorm", width, true);
    const std::vector<std::uint64_t> kernel = vision.numbers("merge_kernel_size", 1024, 2);
    if (kernel.size() != 2) {
        vision.complain("merge_kernel_size");
        return;
    }
    const std::uint64_t merged = width * kernel[0] * kernel[1];
    const std::uint64_t hidden = parts.text.number("hidden_size");
    const Scope projector(parts.builder, "mm_projector.");
    projector.norm("pre_norm",
                   vision.has("mm_hidden_size") ? vision.number("mm_hidden_size")
                                                : parts.top.number("projection_hidden_size"),
                   true);
    projector.item("proj", 0).weight("weight", {merged, merged});
    projector.item("proj", 0).weight("bias", {merged});
    projector.item("proj", 2).weight("weight", {hidden, merged});
    projector.item("proj", 2).weight("bias", {hidden});
}

void glmTower(TowerParts &parts)
{
    Keys &vision = parts.vision;
    const std::uint64_t width = vision.number("hidden_size");
    const std::uint64_t out = vision.number("out_hidden_size");
    const std::uint64_t patch = vision.number("patch_size");
    const std::uint64_t merge = vision.number("spatial_merge_size");
    const std::uint64_t inner = vision.number("intermediate_size");
    const Scope tower(parts.builder, "model.visual.");
    tower.weight("embeddings.position_embedding.weight", {patches(vision), width});
    tower.weight("patch_embed.proj.weight",
                 {width, vision.number("in_channels"), vision.number("temporal_patch_size"), patch, patch});
    tower.weight("patch_embed.proj.bias", {width});
    for (std::uint64_t i = 0; i < depthOf(vision, "depth"); ++i) {
        const Scope block = tower.item("blocks", i);
        block.norm("norm1", width);
        block.norm("norm2", width);
        block.linear("attn.qkv", 3 * width, width, vision.flag("attention_bias"));
        block.linear("attn.proj", width, width);
        feedForward(block.in("mlp"), Feed::Gated, width, out);
    }
    tower.norm("post_conv_layernorm", width);
    tower.norm("post_layernorm", width);
    tower.weight("downsample.weight", {out, width, merge, merge});
    tower.weight("downsample.bias", {out});
    const Scope merger = tower.in("merger");
    merger.linear("proj", out, out);
    merger.norm("post_projection_norm", out, true);
    feedForward(merger, Feed::Gated, out, inner);
}

// ---- which model has which -----------------------------------------------------------------------

constexpr MultimodalForm forms[] = {
    {"qwen2_vl", "qwen2_vl_text", "qwen2_vl_vision", "model.", "lm_head"},
    {"qwen2_5_vl", "qwen2_5_vl_text", "qwen2_5_vl_vision", "model.", "lm_head"},
    {"qwen3_vl", "qwen3_vl_text", "qwen3_vl_vision", "model.language_model.", "lm_head"},
    {"qwen3_vl_moe", "qwen3_vl_moe_text", "qwen3_vl_moe_vision", "model.language_model.", "lm_head"},
    {"qwen3_5", "qwen3_5_text", "qwen3_5_vision", "model.language_model.", "lm_head"},
    {"qwen3_5_moe", "qwen3_5_moe_text", "qwen3_5_moe_vision", "model.language_model.", "lm_head"},
    {"gemma3", "gemma3_text", "siglip_vision_model", "language_model.model.", "language_model.lm_head"},
    {"gemma4", "gemma4_text", "gemma4_vision", "model.language_model.", "lm_head"},
    {"mistral3", "mistral", "pixtral", "language_model.model.", "language_model.lm_head"},
    {"llama4", "llama4_text", "llama4_vision_model", "language_model.model.", "language_model.lm_head"},
    {"kimi_k25", "deepseek_v3", "kimi_k25_vision", "language_model.model.", "language_model.lm_head"},
    {"glm4v", "glm4v_text", "glm4v_vision", "model.language_model.", "lm_head"},
    {"glm4v_moe", "glm4v_moe_text", "glm4v_moe_vision", "model.language_model.", "lm_head"},
    {"lfm2_vl", "lfm2", "siglip2_vision_model", "model.language_model.", "lm_head"},
};

} // namespace

const MultimodalForm *multimodalForm(std::string_view modelType)
{
    const auto *found = std::find_if(std::begin(forms), std::end(forms),
                                     [modelType](const auto &form) { return form.modelType == modelType; });
    return found == std::end(forms) ? nullptr : found;
}

void visionTower(std::string_view modelType, Keys &top, Keys &vision, Keys &text, TensorBuilder &builder)
{
    TowerParts parts{top, vision, text, builder};
    if (modelType == "qwen2_vl")
        qwen2Tower(parts);
    else if (modelType == "qwen2_5_vl")
        qwen25Tower(parts);
    else if (modelType.starts_with("qwen3_vl") || modelType.starts_with("qwen3_5"))
        qwen3Tower(parts, modelType.starts_with("qwen3_vl"));
    else if (modelType == "gemma3")
        gemma3Tower(parts);
    else if (modelType == "gemma4")
        gemma4Tower(parts);
    else if (modelType == "mistral3")
        pixtralTower(parts);
    else if (modelType == "llama4")
        llama4Tower(parts);
    else if (modelType == "kimi_k25")
        kimiTower(parts);
    else if (modelType.starts_with("glm4v"))
        glmTower(parts);
    else if (modelType == "lfm2_vl")
        lfm2Tower(parts);
}

} // namespace weir::derive

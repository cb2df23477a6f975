// SPDX-License-Identifier: GPL-3.0-or-later
//
// Decoders with recurrent layers, and others that the table of styles has no column for.
#include "models/checkpoint/derive/hybrids.h"

#include "models/checkpoint/derive/decoders.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weir::derive {

AttentionForm plainAttention(DecoderModel &model, const char *biasKey)
{
    AttentionForm form;
    form.heads = model.text.number("num_attention_heads");
    form.kvHeads = keyValueHeads(model.text);
    form.headDim = headWidth(model.text, model.hidden);
    form.inBias = form.outBias = biasKey != nullptr && model.text.flag(biasKey);
    return form;
}

std::vector<bool> attendingLayers(DecoderModel &model, const std::function<bool(std::size_t)> &otherwise)
{
    std::vector<bool> attends(model.layers);
    for (const char *key : {"layer_types", "layers_block_type"}) {
        if (!model.text.has(key))
            continue;
        const std::vector<std::string> types = model.text.words(key, model.layers);
        for (std::size_t i = 0; i < types.size(); ++i) {
            attends[i] = types[i] == "full_attention" || types[i] == "attention";
            if (!attends[i] && types[i] != "linear_attention" && types[i] != "mamba" && types[i] != "conv")
                model.text.complain(key);
        }
        return attends;
    }
    for (std::size_t i = 0; i < model.layers; ++i)
        attends[i] = otherwise(i);
    return attends;
}

namespace {

// ---- Qwen3-Next, Qwen3.5 -----------------------------------------------------------------------

void qwenHybrid(DecoderModel &model, std::string_view type)
{
    Keys &text = model.text;
    const bool next = type == "qwen3_next";
    const bool moe = type != "qwen3_5_text";
    const std::uint64_t every = std::max<std::uint64_t>(1, text.numberOr("full_attention_interval", 4));
    const std::vector<bool> attends =
        attendingLayers(model, [every](std::size_t i) { return (i + 1) % every == 0; });
    AttentionForm form = plainAttention(model, "attention_bias");
    form.headNorm = HeadNorm::Head;
    form.gated = true;

    std::vector<bool> sparse(model.layers, moe);
    if (next) {
        const std::uint64_t step = text.number("decoder_sparse_step");
        for (std::size_t i = 0; i < model.layers; ++i)
            sparse[i] = expertCount(text) > 0 && (i + 1) % step == 0;
        for (const std::uint64_t dense :
             text.numbers("mlp_only_layers", ConfigReader::maxDimension, model.layers)) {
            if (dense < model.layers)
                sparse[dense] = false;
        }
    }
    const auto layer = [&](const Scope &scope, bool attending, bool experts) {
        scope.norm("input_layernorm", model.hidden);
        scope.norm("post_attention_layernorm", model.hidden);
        if (attending)
            attention(scope.in("self_attn"), model.hidden, form);
        else
            deltaNet(scope.in("linear_attn"), text, model.hidden, !next);
        const Scope mlp = scope.in("mlp");
        if (!experts) {
            feedForward(mlp, Feed::Gated, model.hidden, text.number("intermediate_size"));
            return;
        }
        mlp.weight("gate.weight", {expertCount(text), model.hidden});
        routedExperts(mlp, next ? Experts::Single : Experts::Stacked, expertCount(text), model.hidden,
                      text.number("moe_intermediate_size"));
        feedForward(mlp.in("shared_expert"), Feed::Gated, model.hidden,
                    text.numberOr("shared_expert_intermediate_size", 0));
        mlp.linear("shared_expert_gate", 1, model.hidden);
    };
    model.tables();
    for (std::size_t i = 0; i < model.layers; ++i)
        layer(model.layer(i), attends[i], sparse[i]);

    // Qwen3-Next holds one draft layer that its config does not announce.
    const std::uint32_t draft = next && model.draftLayers == 0 ? 1 : model.draftLayers;
    if (draft == 0)
        return;
    const Scope head(model.builder, "mtp.");
    head.linear("fc", model.hidden, 2 * model.hidden);
    head.norm("norm", model.hidden);
    head.norm("pre_fc_norm_embedding", model.hidden);
    head.norm("pre_fc_norm_hidden", model.hidden);
    if (text.flag("mtp_use_dedicated_embeddings"))
        head.weight("embed_tokens.weight", {model.vocabulary, model.hidden});
    for (std::uint32_t i = 0; i < draft; ++i)
        layer(head.item("layers", i), true, moe);
}

// ---- Nemotron-H: one mixer a layer ---------------------------------------------------------------

/// The letter of each layer: M (Mamba), * (attention), E (experts), - (feed-forward).
std::string mixerLetters(Keys &text, const char *patternKey, std::initializer_list<const char *> listKeys)
{
    std::string letters = text.text(patternKey);
    for (const char *key : listKeys) {
        const auto list = text.object().find(key);
        if (!letters.empty() || list == text.object().end() || !list->is_array())
            continue;
        for (const std::string &name : text.words(key, list->size())) {
            letters += name == "mamba" || name == "linear_attention"     ? 'M'
                       : name == "attention" || name == "full_attention" ? '*'
                       : name == "moe"                                   ? 'E'
                       : name == "mlp"                                   ? '-'
                                                                         : '?';
        }
    }
    if (letters.find_first_not_of("M*E-") != std::string::npos)
        text.complain(patternKey);
    return letters;
}

void nemotronMixer(DecoderModel &model, const Scope &scope, char letter)
{
    Keys &text = model.text;
    const std::uint64_t hidden = model.hidden;
    const bool mlpBias = text.flag("mlp_bias");
    if (letter == 'M') {
        MambaForm form;
        form.heads = text.number("mamba_num_heads");
        form.inner = form.heads * text.number("mamba_head_dim");
        form.groups = text.number(text.has("mamba_n_groups") ? "mamba_n_groups" : "n_groups");
        form.state = text.number("ssm_state_size");
        form.kernel = text.number(text.has("mamba_d_conv") ? "mamba_d_conv" : "conv_kernel");
        form.convolutionBias = text.flag(text.has("mamba_conv_bias") ? "mamba_conv_bias" : "use_conv_bias");
        form.inBias = form.outBias = text.flag("use_bias");
        form.stateDtype = "F32";
        mamba2(scope, hidden, form);
    } else if (letter == '*') {
        attention(scope, hidden, plainAttention(model));
    } else if (letter == '-') {
        feedForward(scope, Feed::Plain, hidden, text.number("intermediate_size"), mlpBias);
    } else if (letter == 'E') {
        const std::uint64_t experts = expertCount(text);
        const std::uint64_t latent = text.numberOr("moe_latent_size", 0);
        routedExperts(scope, Experts::Plain, experts, latent > 0 ? latent : hidden,
                      text.number("moe_intermediate_size"));
        scope.weight("gate.weight", {experts, hidden});
        scope.weight("gate.e_score_correction_bias", {experts});
        feedForward(scope.in("shared_experts"), Feed::Plain, hidden,
                    text.numberOr("moe_shared_expert_intermediate_size", 0), mlpBias);
        if (latent > 0) {
            scope.linear("fc1_latent_proj", latent, hidden, mlpBias);
            scope.linear("fc2_latent_proj", hidden, latent, mlpBias);
        }
    }
}

void nemotronH(DecoderModel &model, std::string_view)
{
    const std::string letters =
        mixerLetters(model.text, "hybrid_override_pattern", {"layers_block_type", "layer_types"});
    if (letters.size() != model.layers) {
        model.text.complain("hybrid_override_pattern");
        return;
    }
    model.tied = false; // the library ties nothing here
    model.tables("embeddings", "norm_f");
    for (std::size_t i = 0; i < model.layers; ++i) {
        const Scope scope = model.layer(i);
        scope.norm("norm", model.hidden);
        nemotronMixer(model, scope.in("mixer"), letters[i]);
    }
    if (model.draftLayers == 0)
        return;
    const std::string draft =
        mixerLetters(model.text, "mtp_hybrid_override_pattern", {"mtp_layers_block_type"});
    if (model.draftLayers != 1 || draft.empty() || draft.size() > model.layers) {
        model.draftDerived = false;
        return;
    }
    const Scope head(model.builder, "mtp.");
    for (std::size_t i = 0; i < draft.size(); ++i) {
        const Scope scope = head.item("layers", i);
        if (i == 0) {
            scope.linear("eh_proj", model.hidden, 2 * model.hidden);
            scope.norm("enorm", model.hidden);
            scope.norm("hnorm", model.hidden);
        }
        scope.norm("norm", model.hidden);
        nemotronMixer(model, scope.in("mixer"), draft[i]);
        if (i + 1 == draft.size())
            scope.norm("final_layernorm", model.hidden);
    }
}

// ---- Gemma 4 ------------------------------------------------------------------------------------

void gemma4(DecoderModel &model, std::string_view)
{
    Keys &text = model.text;
    const std::uint64_t hidden = model.hidden;
    const std::uint64_t heads = text.number("num_attention_heads");
    const bool bias = text.flag("attention_bias");
    const bool sharesKeys = text.flag("attention_k_eq_v");
    const std::uint64_t sharing = text.numberOr("num_kv_shared_layers", 0);
    const std::uint64_t perLayer = text.numberOr("hidden_size_per_layer_input", 0);
    const bool moe = text.flag("enable_moe_block");
    const std::vector<std::string> types = text.words("layer_types", model.layers);
    model.tables();
    if (perLayer > 0) {
        const std::uint64_t all = perLayer * model.layers;
        model.root().weight("embed_tokens_per_layer.weight",
                            {text.number("vocab_size_per_layer_input", ConfigReader::maxTokens), all});
        model.root().linear("per_layer_model_projection", all, hidden);
        model.root().norm("per_layer_projection_norm", perLayer);
    }
    for (std::size_t i = 0; i < model.layers; ++i) {
        // The last layer always sees everything.
        const bool full =
            i + 1 == model.layers || (types.empty() ? (i + 1) % 6 == 0 : types[i] == "full_attention");
        const bool shares = i + sharing >= model.layers;
        const std::uint64_t dim = full ? (text.has("global_head_dim") ? text.number("global_head_dim") : 512)
                                       : text.number("head_dim");
        const std::uint64_t keyHeads = full && sharesKeys && text.has("num_global_key_value_heads")
                                           ? text.number("num_global_key_value_heads")
                                           : keyValueHeads(text);
        const Scope scope = model.layer(i);
        const Scope self = scope.in("self_attn");
        self.linear("q_proj", heads * dim, hidden, bias);
        self.norm("q_norm", dim);
        if (!shares) {
            self.norm("k_norm", dim);
            self.linear("k_proj", keyHeads * dim, hidden, bias);
            if (!(sharesKeys && full))
                self.linear("v_proj", keyHeads * dim, hidden, bias);
        }
        self.linear("o_proj", hidden, heads * dim, bias);
        feedForward(scope.in("mlp"), Feed::Gated, hidden,
                    text.number("intermediate_size") * (shares && text.flag("use_double_wide_mlp") ? 2 : 1));
        for (const char *norm : {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                                 "post_feedforward_layernorm"})
            scope.norm(norm, hidden);
        scope.weight("layer_scalar", {1});
        if (perLayer > 0) {
            scope.linear("per_layer_input_gate", perLayer, hidden);
            scope.linear("per_layer_projection", hidden, perLayer);
            scope.norm("post_per_layer_input_norm", hidden);
        }
        if (moe) {
            const std::uint64_t experts = expertCount(text);
            scope.linear("router.proj", experts, hidden);
            scope.weight("router.scale", {hidden});
            scope.weight("router.per_expert_scale", {experts});
            routedExperts(scope, Experts::Stacked, experts, hidden, text.number("moe_intermediate_size"));
            for (const char *norm : {"post_feedforward_layernorm_1", "post_feedforward_layernorm_2",
                                     "pre_feedforward_layernorm_2"})
                scope.norm(norm, hidden);
        }
    }
}

// ---- Kimi Linear --------------------------------------------------------------------------------

void deltaAttention(const Scope &scope, std::uint64_t hidden, std::uint64_t heads, std::uint64_t dim,
                    std::uint64_t kernel)
{
    const std::uint64_t all = heads * dim;
    for (const char *name : {"q", "k", "v"}) {
        scope.linear(std::string(name) + "_proj", all, hidden);
        scope.weight(std::string(name) + "_conv1d.weight", {all, 1, kernel});
    }
    scope.weight("A_log", {1, 1, heads, 1}, "F32");
    scope.weight("dt_bias", {all}, "F32");
    scope.linear("f_a_proj", dim, hidden);
    scope.linear("f_b_proj", all, dim);
    scope.linear("b_proj", heads, hidden);
    scope.linear("g_a_proj", dim, hidden);
    scope.linear("g_b_proj", all, dim);
    scope.norm("o_norm", dim);
    scope.linear("o_proj", hidden, all);
}

void kimiLinear(DecoderModel &model, std::string_view)
{
    Keys &text = model.text;
    const auto part = text.object().find("linear_attn_config");
    const nlohmann::json none = nlohmann::json::object();
    Keys linear(part != text.object().end() && part->is_object() ? *part : none);
    const auto size = [&](const char *inner, const char *outer) {
        return linear.has(inner) ? linear.number(inner) : text.number(outer);
    };
    const std::uint64_t heads = size("num_heads", "linear_num_heads");
    const std::uint64_t dim = size("head_dim", "linear_head_dim");
    const std::uint64_t kernel = size("short_conv_kernel_size", "linear_conv_kernel_dim");
    // The lists count layers from 1.
    const std::vector<std::uint64_t> full =
        linear.numbers("full_attn_layers", ConfigReader::maxDimension, model.layers);
    const bool listed = linear.has("full_attn_layers");
    const std::vector<bool> attends = attendingLayers(model, [&](std::size_t i) {
        return listed ? std::find(full.begin(), full.end(), i + 1) != full.end() : i > 0 && i % 4 == 0;
    });
    const std::uint64_t dense =
        text.has("first_k_dense_replace") ? text.numberOr("first_k_dense_replace", 0) : 1;
    const std::vector<std::string> feeds = text.words("mlp_layer_types", model.layers);
    const std::uint64_t experts = expertCount(text);
    model.tied = false; // the library ties nothing here
    model.tables();
    for (std::size_t i = 0; i < model.layers; ++i) {
        const Scope scope = model.layer(i);
        scope.norm("input_layernorm", model.hidden);
        scope.norm("post_attention_layernorm", model.hidden);
        if (attends[i])
            latentAttention(scope.in("self_attn"), text, model.hidden, false);
        else
            deltaAttention(scope.in("self_attn"), model.hidden, heads, dim, kernel);
        if (feeds.empty() ? i < dense : feeds[i] != "sparse") {
            feedForward(scope.in("mlp"), Feed::Gated, model.hidden, text.number("intermediate_size"));
            continue;
        }
        const Scope moe = scope.in("block_sparse_moe");
        const std::uint64_t inner = text.number("moe_intermediate_size");
        routedExperts(moe, Experts::Lettered, experts, model.hidden, inner);
        moe.weight("gate.weight", {experts, model.hidden});
        moe.weight("gate.e_score_correction_bias", {experts}, "F32");
        const std::uint64_t shared =
            text.numberOr(text.has("num_shared_experts") ? "num_shared_experts" : "n_shared_experts", 0);
        if (shared > 0)
            feedForward(moe.in("shared_experts"), Feed::Gated, model.hidden, inner * shared);
    }
    if (!linear.problem().empty())
        text.complain(linear.problem().c_str());
}

// ---- others -------------------------------------------------------------------------------------

void phi(DecoderModel &model, std::string_view)
{
    AttentionForm form = plainAttention(model);
    form.inBias = form.outBias = true;
    form.out = "dense";
    const std::uint64_t width = model.hidden / form.heads;
    model.tables("embed_tokens", "final_layernorm", true, true);
    for (std::size_t i = 0; i < model.layers; ++i) {
        const Scope scope = model.layer(i);
        scope.norm("input_layernorm", model.hidden, true);
        attention(scope.in("self_attn"), model.hidden, form);
        if (model.text.flag("qk_layernorm")) {
            scope.norm("self_attn.q_layernorm", width, true);
            scope.norm("self_attn.k_layernorm", width, true);
        }
        feedForward(scope.in("mlp"), Feed::Numbered, model.hidden, model.text.number("intermediate_size"),
                    true);
    }
}

using Family = void (*)(DecoderModel &, std::string_view);
constexpr std::pair<std::string_view, Family> families[] = {
    {"qwen3_next", qwenHybrid},
    {"qwen3_5_text", qwenHybrid},
    {"qwen3_5_moe_text", qwenHybrid},
    {"nemotron_h", nemotronH},
    {"granitemoe", granite},
    {"granitemoeshared", granite},
    {"granitemoehybrid", granite},
    {"bamba", bamba},
    {"falcon_h1", falconH1},
    {"jamba", jamba},
    {"lfm2", lfm2},
    {"lfm2_moe", lfm2},
    {"gemma4_text", gemma4},
    {"kimi_linear", kimiLinear},
    {"phi", phi},
};

} // namespace

bool specialDecoder(std::string_view modelType, DecoderModel &model)
{
    for (const auto &[type, add] : families) {
        if (type == modelType) {
            add(model, type);
            return true;
        }
    }
    return false;
}

bool isSpecialDecoder(std::string_view modelType)
{
    return std::any_of(std::begin(families), std::end(families),
                       [modelType](const auto &family) { return family.first == modelType; });
}

} // namespace weir::derive

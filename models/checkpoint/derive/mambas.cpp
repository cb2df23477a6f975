// SPDX-License-Identifier: GPL-3.0-or-later
//
// Decoders that mix attention with Mamba or short convolutions, and Granite's with experts.
#include "models/checkpoint/derive/hybrids.h"

#include <algorithm>

namespace weir::derive {

// ---- Granite with experts, Bamba, Falcon-H1, Jamba ------------------------------------------------

namespace {

/// Mamba 2 as Granite, Bamba and Falcon-H1 name its sizes.
MambaForm namedMamba(DecoderModel &model)
{
    Keys &text = model.text;
    MambaForm form;
    form.heads = text.number("mamba_n_heads");
    form.inner =
        text.has("mamba_d_ssm") ? text.number("mamba_d_ssm") : text.number("mamba_expand") * model.hidden;
    form.groups = text.number("mamba_n_groups");
    form.state = text.number("mamba_d_state");
    form.kernel = text.number("mamba_d_conv");
    form.convolutionBias = text.flag("mamba_conv_bias");
    form.inBias = form.outBias = text.flag("mamba_proj_bias");
    return form;
}

} // namespace

void granite(DecoderModel &model, std::string_view type)
{
    Keys &text = model.text;
    const bool hybrid = type == "granitemoehybrid";
    std::vector<bool> attends(model.layers, true);
    if (hybrid)
        attends = attendingLayers(model, [](std::size_t) { return false; });
    const AttentionForm form = plainAttention(model, "attention_bias");
    const std::uint64_t experts = expertCount(text);
    const std::uint64_t inner = text.number("intermediate_size");
    const std::uint64_t shared = text.numberOr("shared_intermediate_size", 0);
    model.tables();
    for (std::size_t i = 0; i < model.layers; ++i) {
        const Scope scope = model.layer(i);
        scope.norm("input_layernorm", model.hidden);
        scope.norm("post_attention_layernorm", model.hidden);
        if (attends[i])
            attention(scope.in("self_attn"), model.hidden, form);
        else
            mamba2(scope.in("mamba"), model.hidden, namedMamba(model));
        if (experts > 0) {
            const Scope moe = scope.in("block_sparse_moe");
            moe.weight("input_linear.weight", {experts, 2 * inner, model.hidden});
            moe.weight("output_linear.weight", {experts, model.hidden, inner});
            moe.weight("router.layer.weight", {experts, model.hidden});
        }
        if (type != "granitemoe" && shared > 0) {
            scope.linear("shared_mlp.input_linear", 2 * shared, model.hidden);
            scope.linear("shared_mlp.output_linear", model.hidden, shared);
        }
    }
}

void bamba(DecoderModel &model, std::string_view)
{
    Keys &text = model.text;
    const std::vector<std::uint64_t> attending =
        text.numbers("attn_layer_indices", ConfigReader::maxDimension, model.layers);
    const AttentionForm form = plainAttention(model, "attention_bias");
    model.tables("embed_tokens", "final_layernorm");
    for (std::size_t i = 0; i < model.layers; ++i) {
        const Scope scope = model.layer(i);
        scope.norm("input_layernorm", model.hidden);
        scope.norm("pre_ff_layernorm", model.hidden);
        if (std::find(attending.begin(), attending.end(), i) != attending.end())
            attention(scope.in("self_attn"), model.hidden, form);
        else
            mamba2(scope.in("mamba"), model.hidden, namedMamba(model));
        feedForward(scope.in("feed_forward"), Feed::Gated, model.hidden, text.number("intermediate_size"),
                    text.flag("mlp_bias"));
    }
}

void falconH1(DecoderModel &model, std::string_view)
{
    Keys &text = model.text;
    const AttentionForm form = plainAttention(model, "attention_bias");
    MambaForm mamba = namedMamba(model);
    mamba.norm = text.flag("mamba_rms_norm");
    mamba.outBias = text.flag("projectors_bias");
    model.tables("embed_tokens", "final_layernorm");
    for (std::size_t i = 0; i < model.layers; ++i) {
        const Scope scope = model.layer(i);
        scope.norm("input_layernorm", model.hidden);
        scope.norm("pre_ff_layernorm", model.hidden);
        attention(scope.in("self_attn"), model.hidden, form);
        mamba2(scope.in("mamba"), model.hidden, mamba);
        feedForward(scope.in("feed_forward"), Feed::Gated, model.hidden, text.number("intermediate_size"),
                    text.flag("mlp_bias"));
    }
}

namespace {

/// Mamba 1 with norms, as in Jamba.
void jambaMamba(DecoderModel &model, const Scope &scope)
{
    Keys &text = model.text;
    const std::uint64_t inner = text.number("mamba_expand") * model.hidden;
    const std::uint64_t state = text.number("mamba_d_state");
    const std::uint64_t rank = text.text("mamba_dt_rank") == "auto" || !text.has("mamba_dt_rank")
                                   ? (model.hidden + 15) / 16
                                   : text.number("mamba_dt_rank");
    const bool bias = text.flag("mamba_proj_bias");
    scope.weight("A_log", {inner, state});
    scope.weight("D", {inner});
    scope.weight("conv1d.weight", {inner, 1, text.number("mamba_d_conv")});
    if (text.flag("mamba_conv_bias"))
        scope.weight("conv1d.bias", {inner});
    scope.linear("in_proj", 2 * inner, model.hidden, bias);
    scope.linear("x_proj", rank + 2 * state, inner);
    scope.linear("dt_proj", inner, rank, true);
    scope.linear("out_proj", model.hidden, inner, bias);
    scope.norm("dt_layernorm", rank);
    scope.norm("b_layernorm", state);
    scope.norm("c_layernorm", state);
}

} // namespace

void jamba(DecoderModel &model, std::string_view)
{
    Keys &text = model.text;
    const std::uint64_t attentionPeriod = text.number("attn_layer_period");
    const std::uint64_t attentionOffset = text.numberOr("attn_layer_offset", 0);
    const std::uint64_t expertPeriod = text.number("expert_layer_period");
    const std::uint64_t expertOffset = text.numberOr("expert_layer_offset", 0);
    const std::uint64_t experts = expertCount(text);
    const std::uint64_t inner = text.number("intermediate_size");
    const AttentionForm form = plainAttention(model);
    model.tables("embed_tokens", "final_layernorm");
    for (std::size_t i = 0; i < model.layers; ++i) {
        const Scope scope = model.layer(i);
        scope.norm("input_layernorm", model.hidden);
        scope.norm("pre_ff_layernorm", model.hidden);
        if (i % attentionPeriod == attentionOffset)
            attention(scope.in("self_attn"), model.hidden, form);
        else
            jambaMamba(model, scope.in("mamba"));
        const Scope feed = scope.in("feed_forward");
        if (experts > 1 && i % expertPeriod == expertOffset) {
            feed.weight("router.weight", {experts, model.hidden});
            routedExperts(feed, Experts::Single, experts, model.hidden, inner);
        } else {
            feedForward(feed, Feed::Gated, model.hidden, inner);
        }
    }
}

// ---- LFM2 ---------------------------------------------------------------------------------------

namespace {

/// The width of LFM2's feed-forward network: two thirds of the stated one, rounded up to a multiple.
std::uint64_t lfm2Width(Keys &text)
{
    const std::uint64_t stated = text.number(text.has("block_ff_dim") ? "block_ff_dim" : "intermediate_size");
    if (!text.flag("block_auto_adjust_ff_dim"))
        return stated;
    std::uint64_t width = 2 * stated / 3;
    const auto factor = text.object().find("block_ffn_dim_multiplier");
    if (factor == text.object().end() || factor->is_null())
        return width;
    const double times = factor->is_number() ? factor->get<double>() : -1.0;
    if (!(times > 0.0 && times < 1024.0)) {
        text.complain("block_ffn_dim_multiplier");
        return width;
    }
    width = static_cast<std::uint64_t>(times * static_cast<double>(width));
    const std::uint64_t multiple = text.number("block_multiple_of");
    return (width + multiple - 1) / multiple * multiple;
}

} // namespace

void lfm2(DecoderModel &model, std::string_view type)
{
    Keys &text = model.text;
    const std::vector<std::uint64_t> attending =
        text.numbers("full_attn_idxs", ConfigReader::maxDimension, model.layers);
    const bool listed = text.has("full_attn_idxs");
    const std::vector<bool> attends = attendingLayers(model, [&](std::size_t i) {
        return !listed || std::find(attending.begin(), attending.end(), i) != attending.end();
    });
    const bool moe = type == "lfm2_moe";
    const std::uint64_t dense = moe ? text.numberOr("num_dense_layers", 0) : model.layers;
    const std::uint64_t width = moe ? text.number("intermediate_size") : lfm2Width(text);
    AttentionForm form = plainAttention(model);
    form.headNorm = HeadNorm::Head;
    form.out = "out_proj";
    form.queryNorm = "q_layernorm";
    form.keyNorm = "k_layernorm";
    model.tables("embed_tokens", "embedding_norm");
    for (std::size_t i = 0; i < model.layers; ++i) {
        const Scope scope = model.layer(i);
        scope.norm("operator_norm", model.hidden);
        scope.norm("ffn_norm", model.hidden);
        if (attends[i])
            attention(scope.in("self_attn"), model.hidden, form);
        else
            shortConvolution(scope.in("conv"), model.hidden, text.number("conv_L_cache"),
                             text.flag("conv_bias"));
        const Scope feed = scope.in("feed_forward");
        if (i < dense) {
            feedForward(feed, Feed::Lettered, model.hidden, width);
            continue;
        }
        const std::uint64_t experts = expertCount(text);
        routedExperts(feed, Experts::Lettered, experts, model.hidden, text.number("moe_intermediate_size"));
        feed.weight("gate.weight", {experts, model.hidden});
        if (text.flag("use_expert_bias"))
            feed.weight("expert_bias", {experts}, "F32");
    }
}

} // namespace weir::derive

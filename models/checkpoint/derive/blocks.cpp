// SPDX-License-Identifier: GPL-3.0-or-later
//
// The parts that decoders are made of, with the names and shapes of published safetensors files.
// Sources: the modelling code of the transformers library (5.17) for what there is and how large it is, the
// headers of published checkpoints for names, layout of experts and types.
#include "models/checkpoint/derive/blocks.h"

namespace weir::derive {

void DecoderModel::tables(std::string_view embedding, std::string_view finalNorm, bool normBias,
                          bool headBias) const
{
    root().weight(std::string(embedding) + ".weight", {vocabulary, hidden});
    if (!finalNorm.empty())
        root().norm(finalNorm, hidden, normBias);
    const Scope top(builder, {});
    if (!tied)
        top.weight(head + ".weight", {vocabulary, hidden});
    if (headBias)
        top.weight(head + ".bias", {vocabulary});
}

std::uint64_t headWidth(Keys &keys, std::uint64_t hidden)
{
    return keys.has("head_dim") ? keys.number("head_dim") : hidden / keys.number("num_attention_heads");
}

std::uint64_t keyValueHeads(Keys &keys)
{
    return keys.number(keys.has("num_key_value_heads") ? "num_key_value_heads" : "num_attention_heads");
}

std::uint64_t expertCount(Keys &keys)
{
    for (const char *key : {"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"}) {
        if (const auto count = keys.maybe(key, 1'000'000))
            return *count;
    }
    return 0;
}

void attention(const Scope &scope, std::uint64_t hidden, const AttentionForm &form)
{
    const std::uint64_t query = form.heads * form.headDim;
    const std::uint64_t key = form.kvHeads * form.headDim;
    if (form.fused) {
        scope.linear("qkv_proj", query + 2 * key, hidden, form.inBias);
    } else {
        scope.linear("q_proj", query * (form.gated ? 2 : 1), hidden, form.inBias);
        scope.linear("k_proj", key, hidden, form.inBias);
        scope.linear("v_proj", key, hidden, form.inBias);
    }
    scope.linear(form.out, hidden, query, form.outBias);
    if (form.sinks)
        scope.weight("sinks", {form.heads});
    const std::string queryNorm(form.queryNorm);
    const std::string keyNorm(form.keyNorm);
    switch (form.headNorm) {
    case HeadNorm::None: break;
    case HeadNorm::Head:
        scope.norm(queryNorm, form.headDim);
        scope.norm(keyNorm, form.headDim);
        break;
    case HeadNorm::Whole:
        scope.norm(queryNorm, query);
        scope.norm(keyNorm, key);
        break;
    case HeadNorm::PerHead:
        scope.weight(queryNorm + ".weight", {form.heads, form.headDim});
        scope.weight(keyNorm + ".weight", {form.kvHeads, form.headDim});
        break;
    case HeadNorm::Listed:
        scope.weight(queryNorm + ".norms.N.weight", {form.headDim}, {}, form.heads);
        scope.weight(keyNorm + ".norms.N.weight", {form.headDim}, {}, form.kvHeads);
        break;
    }
}

void latentAttention(const Scope &scope, Keys &keys, std::uint64_t hidden, bool indexed)
{
    const std::uint64_t heads = keys.number("num_attention_heads");
    const std::uint64_t latent = keys.number("kv_lora_rank");
    const std::uint64_t rope = keys.number("qk_rope_head_dim");
    const std::uint64_t plain = keys.number("qk_nope_head_dim");
    const std::uint64_t value = keys.number("v_head_dim");
    const bool bias = keys.flag("attention_bias");
    const std::uint64_t query = heads * (plain + rope);
    const std::uint64_t rank = keys.numberOr("q_lora_rank", 0);
    if (rank > 0) {
        scope.linear("q_a_proj", rank, hidden, bias);
        scope.norm("q_a_layernorm", rank);
        scope.linear("q_b_proj", query, rank);
    } else {
        scope.linear("q_proj", query, hidden);
    }
    scope.linear("kv_a_proj_with_mqa", latent + rope, hidden, bias);
    scope.norm("kv_a_layernorm", latent);
    scope.linear("kv_b_proj", heads * (plain + value), latent);
    scope.linear("o_proj", hidden, heads * value, bias);
    if (!indexed)
        return;
    const Scope indexer = scope.in("indexer");
    const std::uint64_t indexHeads = keys.number("index_n_heads");
    const std::uint64_t indexDim = keys.number("index_head_dim");
    if (rank == 0)
        keys.complain("q_lora_rank"); // the indexer reads the query's latent
    indexer.linear("wq_b", indexHeads * indexDim, rank);
    indexer.linear("wk", indexDim, hidden);
    indexer.norm("k_norm", indexDim, true);
    indexer.linear("weights_proj", indexHeads, hidden);
}

void feedForward(const Scope &scope, Feed feed, std::uint64_t hidden, std::uint64_t inner, bool bias)
{
    const auto three = [&](const char *gate, const char *up, const char *down) {
        if (gate != nullptr)
            scope.linear(gate, inner, hidden, bias);
        scope.linear(up, inner, hidden, bias);
        scope.linear(down, hidden, inner, bias);
    };
    switch (feed) {
    case Feed::Gated: three("gate_proj", "up_proj", "down_proj"); break;
    case Feed::Lettered: three("w1", "w3", "w2"); break;
    case Feed::Plain: three(nullptr, "up_proj", "down_proj"); break;
    case Feed::Numbered: three(nullptr, "fc1", "fc2"); break;
    case Feed::Convolved: three(nullptr, "c_fc", "c_proj"); break;
    case Feed::FusedGated:
        scope.linear("gate_up_proj", 2 * inner, hidden, bias);
        scope.linear("down_proj", hidden, inner, bias);
        break;
    }
}

void routedExperts(const Scope &scope, Experts layout, std::uint64_t experts, std::uint64_t hidden,
                   std::uint64_t inner)
{
    const auto single = [&](const char *gate, const char *up, const char *down) {
        const auto each = [&](const char *name, std::uint64_t out, std::uint64_t in) {
            scope.linear(std::string("experts.N.") + name, out, in, false, experts);
        };
        if (gate != nullptr)
            each(gate, inner, hidden);
        each(up, inner, hidden);
        each(down, hidden, inner);
    };
    switch (layout) {
    case Experts::Single: single("gate_proj", "up_proj", "down_proj"); break;
    case Experts::Lettered: single("w1", "w3", "w2"); break;
    case Experts::Plain: single(nullptr, "up_proj", "down_proj"); break;
    case Experts::Stacked:
        scope.weight("experts.gate_up_proj", {experts, 2 * inner, hidden});
        scope.weight("experts.down_proj", {experts, hidden, inner});
        break;
    case Experts::Turned:
        scope.weight("experts.gate_up_proj", {experts, hidden, 2 * inner});
        scope.weight("experts.down_proj", {experts, inner, hidden});
        break;
    }
}

void deltaNet(const Scope &scope, Keys &keys, std::uint64_t hidden, bool split)
{
    const std::uint64_t valueHeads = keys.number("linear_num_value_heads");
    const std::uint64_t valueDim = keys.number("linear_value_head_dim");
    const std::uint64_t key = keys.number("linear_num_key_heads") * keys.number("linear_key_head_dim");
    const std::uint64_t value = valueHeads * valueDim;
    const std::string_view precise = split ? "F32" : "";
    scope.weight("conv1d.weight", {2 * key + value, 1, keys.number("linear_conv_kernel_dim")});
    scope.weight("dt_bias", {valueHeads});
    scope.weight("A_log", {valueHeads}, precise);
    scope.weight("norm.weight", {valueDim}, precise);
    scope.linear("out_proj", hidden, value);
    if (split) {
        scope.linear("in_proj_qkv", 2 * key + value, hidden);
        scope.linear("in_proj_z", value, hidden);
        scope.linear("in_proj_b", valueHeads, hidden);
        scope.linear("in_proj_a", valueHeads, hidden);
    } else {
        scope.linear("in_proj_qkvz", 2 * key + 2 * value, hidden);
        scope.linear("in_proj_ba", 2 * valueHeads, hidden);
    }
}

void mamba2(const Scope &scope, std::uint64_t hidden, const MambaForm &form)
{
    const std::uint64_t convolved = form.inner + 2 * form.groups * form.state;
    scope.weight("A_log", {form.heads}, form.stateDtype);
    scope.weight("D", {form.heads}, form.stateDtype);
    scope.weight("dt_bias", {form.heads}, form.stateDtype);
    scope.weight("conv1d.weight", {convolved, 1, form.kernel});
    if (form.convolutionBias)
        scope.weight("conv1d.bias", {convolved});
    scope.linear("in_proj", form.inner + convolved + form.heads, hidden, form.inBias);
    if (form.norm)
        scope.norm("norm", form.inner);
    scope.linear("out_proj", hidden, form.inner, form.outBias);
}

void shortConvolution(const Scope &scope, std::uint64_t hidden, std::uint64_t kernel, bool bias)
{
    scope.weight("conv.weight", {hidden, 1, kernel});
    if (bias)
        scope.weight("conv.bias", {hidden});
    scope.linear("in_proj", 3 * hidden, hidden, bias);
    scope.linear("out_proj", hidden, hidden, bias);
}

} // namespace weir::derive

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/ggufderivation.h"

#include "models/base/saturating.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/ggufmix.h"
#include "models/checkpoint/tensorset.h"
#include "models/checkpoint/unquantized.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace weir {

namespace {

using Shape = std::vector<std::uint64_t>;

void setShape(TensorGroup &group, Shape shape)
{
    group.shape = std::move(shape);
    group.parameters = saturatingMultiply(elementCount(group.shape), group.count);
}

/// Heads and head sizes of latent attention, which follow from the shapes of its projections.
struct LatentHeads
{
    std::uint64_t heads = 0;
    std::uint64_t keySize = 0;   ///< without the rotary part
    std::uint64_t valueSize = 0;
};

const TensorGroup *find(const Checkpoint &plain, std::string_view ending)
{
    const auto found =
        std::find_if(plain.groups.begin(), plain.groups.end(), [ending](const TensorGroup &group) {
            return group.component == Component::Attention && group.shape.size() == 2
                   && moduleOf(group).ends_with(ending);
        });
    return found == plain.groups.end() ? nullptr : &*found;
}

std::optional<LatentHeads> latentHeads(const Checkpoint &plain)
{
    const TensorGroup *up = find(plain, "kv_b_proj");
    const TensorGroup *down = find(plain, "kv_a_proj_with_mqa");
    const TensorGroup *query = find(plain, "q_b_proj");
    if (query == nullptr)
        query = find(plain, "self_attn.q_proj");
    const TensorGroup *output = find(plain, "self_attn.o_proj");
    if (up == nullptr || down == nullptr || query == nullptr || output == nullptr)
        return std::nullopt;
    const std::uint64_t latent = up->shape[1];
    const std::uint64_t values = output->shape[1];
    if (down->shape[0] <= latent || up->shape[0] <= values)
        return std::nullopt;
    const std::uint64_t rotary = down->shape[0] - latent;
    const std::uint64_t keys = up->shape[0] - values;
    if (query->shape[0] <= keys || (query->shape[0] - keys) % rotary != 0)
        return std::nullopt;
    const std::uint64_t heads = (query->shape[0] - keys) / rotary;
    if (keys % heads != 0 || values % heads != 0)
        return std::nullopt;
    return LatentHeads{heads, keys / heads, values / heads};
}

/// Rows of the projection that the convolution of a gated DeltaNet sees; the rest of in_proj_qkvz is z.
std::uint64_t convolvedRows(const Checkpoint &plain)
{
    for (const TensorGroup &group : plain.groups) {
        if (group.component == Component::LinearAttention && moduleOf(group).ends_with("linear_attn.conv1d")
            && !group.shape.empty())
            return group.shape.front();
    }
    return 0;
}

/// What the converter makes of one group before anything is quantized.
std::vector<TensorGroup> converted(const Checkpoint &plain, const TensorGroup &group,
                                   const std::optional<LatentHeads> &heads, std::uint64_t convolved)
{
    TensorGroup one = group;
    const std::string module = moduleOf(group);
    if (const std::uint64_t experts = expertsOf(plain, group); experts > 1) {
        one.count = group.count / experts;
        setShape(one, {experts, group.shape[0], group.shape[1]});
        return {one};
    }
    if (module.ends_with("kv_b_proj") && heads && group.shape.size() == 2
        && group.shape[0] == heads->heads * (heads->keySize + heads->valueSize)) {
        TensorGroup keys = group;
        keys.pattern = "blk.N.attn_k_b.weight";
        setShape(keys, {heads->heads, group.shape[1], heads->keySize});
        TensorGroup values = group;
        values.pattern = "blk.N.attn_v_b.weight";
        setShape(values, {heads->heads, heads->valueSize, group.shape[1]});
        return {keys, values};
    }
    if (module.ends_with("in_proj_qkvz") && group.shape.size() == 2 && convolved > 0
        && convolved < group.shape[0]) {
        TensorGroup gate = group;
        one.pattern = "blk.N.attn_qkv.weight";
        setShape(one, {convolved, group.shape[1]});
        gate.pattern = "blk.N.attn_gate.weight";
        setShape(gate, {group.shape[0] - convolved, group.shape[1]});
        return {one, gate};
    }
    // The biases of a fused pair of expert matrices are [E, 2I].
    if (group.component == Component::RoutedExperts && group.role == Role::GateUp && !isWeight(group)
        && group.shape.size() == 2 && group.shape[1] % 2 == 0) {
        setShape(one, {group.shape[0], group.shape[1] / 2});
        TensorGroup up = one;
        one.role = Role::Gate;
        up.role = Role::Up;
        return {one, up};
    }
    if (module.find("conv") != std::string::npos && group.shape.size() == 3 && group.shape[1] == 1)
        setShape(one, {group.shape[0], group.shape[2]});
    return {one};
}

/// The name that llama.cpp gives to what a role says; empty where the role does not decide.
std::string_view nameOfRole(const TensorGroup &group)
{
    using enum Role;
    const Component component = group.component;
    const auto forward = [component](std::string_view routed, std::string_view shared,
                                     std::string_view dense) {
        return component == Component::RoutedExperts  ? routed
               : component == Component::SharedExpert ? shared
               : component == Component::DenseMlp     ? dense
                                                      : std::string_view();
    };
    switch (group.role) {
    case Embedding: return component == Component::EmbedTokens ? "token_embd" : "per_layer_token_embd";
    case Head: return "output";
    case Query: return "blk.N.attn_q";
    case Key: return "blk.N.attn_k";
    case Value: return "blk.N.attn_v";
    case QueryKeyValue: return "blk.N.attn_qkv";
    case AttentionOutput: return "blk.N.attn_output";
    case Gate: return forward("blk.N.ffn_gate_exps", "blk.N.ffn_gate_shexp", "blk.N.ffn_gate");
    case Up: return forward("blk.N.ffn_up_exps", "blk.N.ffn_up_shexp", "blk.N.ffn_up");
    case Down: return forward("blk.N.ffn_down_exps", "blk.N.ffn_down_shexp", "blk.N.ffn_down");
    case RouterWeight: return "blk.N.ffn_gate_inp";
    case SharedExpertGate: return "blk.N.ffn_gate_inp_shexp";
    default: return {};
    }
}

/// Names that only the module tells.
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> names{{
    {"self_attn.q_norm", "blk.N.attn_q_norm"},
    {"self_attn.k_norm", "blk.N.attn_k_norm"},
    {"self_attn.sinks", "blk.N.attn_sinks"},
    {"self_attn.q_a_proj", "blk.N.attn_q_a"},
    {"self_attn.q_b_proj", "blk.N.attn_q_b"},
    {"self_attn.q_a_layernorm", "blk.N.attn_q_a_norm"},
    {"self_attn.kv_a_proj_with_mqa", "blk.N.attn_kv_a_mqa"},
    {"self_attn.kv_a_layernorm", "blk.N.attn_kv_a_norm"},
    {"self_attn.kv_b_proj", "blk.N.attn_kv_b"},
    {"input_layernorm", "blk.N.attn_norm"},
    {"post_attention_layernorm", "blk.N.ffn_norm"},
    {"model.norm", "output_norm"},
    {"language_model.norm", "output_norm"},
    {"norm_f", "output_norm"},
    {"linear_attn.in_proj_qkv", "blk.N.attn_qkv"},
    {"linear_attn.in_proj_z", "blk.N.attn_gate"},
    {"linear_attn.in_proj_a", "blk.N.ssm_alpha"},
    {"linear_attn.in_proj_b", "blk.N.ssm_beta"},
    {"linear_attn.in_proj_ba", "blk.N.ssm_ba"},
    {"linear_attn.out_proj", "blk.N.ssm_out"},
    {"linear_attn.conv1d", "blk.N.ssm_conv1d"},
    {"linear_attn.A_log", "blk.N.ssm_a"},
    {"linear_attn.dt_bias", "blk.N.ssm_dt"},
    {"linear_attn.norm", "blk.N.ssm_norm"},
    {"mixer.in_proj", "blk.N.ssm_in"},
    {"mixer.out_proj", "blk.N.ssm_out"},
    {"mixer.conv1d", "blk.N.ssm_conv1d"},
    {"mixer.A_log", "blk.N.ssm_a"},
    {"mixer.D", "blk.N.ssm_d"},
    {"mixer.dt_bias", "blk.N.ssm_dt"},
    {"mixer.norm", "blk.N.ssm_norm"},
    {"e_score_correction_bias", "blk.N.exp_probs_b"},
}};

std::string ggufName(const TensorGroup &group)
{
    if (group.pattern.starts_with("blk.") || group.pattern.starts_with("output")
        || group.pattern.starts_with("token_embd"))
        return group.pattern;
    const std::string_view leaf =
        group.pattern.ends_with("bias") && isWeight(group) == false ? ".bias" : ".weight";
    std::string_view name = nameOfRole(group);
    if (name.empty()) {
        const std::string module = moduleOf(group);
        for (const auto &[ending, known] : names) {
            if (name.empty() && module.ends_with(ending))
                name = known;
        }
    }
    return name.empty() ? group.pattern : std::string(name) + std::string(leaf);
}

} // namespace

std::vector<TensorGroup> ggufGroupsOf(const TensorGroup &group,
                                      const std::function<std::string_view(std::uint32_t)> &typeOfLayer)
{
    // Layers of one group may get different types; each layer holds the same number of tensors.
    const std::vector<std::uint32_t> none{0};
    const std::vector<std::uint32_t> &layers = group.layers.empty() ? none : group.layers;
    std::map<std::string_view, TensorGroup> byType;
    for (const std::uint32_t layer : layers) {
        const std::string_view type = typeOfLayer(layer);
        const GgufType *known = ggufType(type);
        TensorGroup &target = byType[type];
        if (target.count == 0) {
            target = group;
            target.layers.clear();
            target.count = target.bytes = target.parameters = 0;
            target.dtype = std::string(type);
            std::reverse(target.shape.begin(), target.shape.end());
            target.file.clear();
            target.listed = true;
        }
        const std::uint64_t parameters = group.parameters / layers.size();
        target.count += group.count / layers.size();
        target.parameters = saturatingAdd(target.parameters, parameters);
        if (known != nullptr)
            target.bytes =
                saturatingAdd(target.bytes, saturatingMultiply(parameters / known->block, known->bytes));
        if (!group.layers.empty())
            target.layers.push_back(layer);
    }
    std::vector<TensorGroup> groups;
    for (auto &[type, target] : byType)
        groups.push_back(std::move(target));
    return groups;
}

std::vector<TensorGroup> ggufGroups(const Checkpoint &plain, std::string_view mix,
                                    const std::map<Component, std::string_view> &overrides)
{
    // Types depend on the tensors that the file has, so all are converted first.
    Checkpoint converter = plain;
    converter.groups.clear();
    const auto heads = latentHeads(plain);
    const std::uint64_t convolved = convolvedRows(plain);
    for (const TensorGroup &group : plain.groups) {
        const bool draft = group.component == Component::Mtp && !group.pattern.starts_with("blk.");
        if (draft || group.component == Component::Vision || group.component == Component::Audio)
            continue;
        for (TensorGroup &each : converted(plain, group, heads, convolved))
            converter.groups.push_back(std::move(each));
    }
    const GgufMix types(mix, converter);
    std::vector<TensorGroup> groups;
    for (const TensorGroup &group : converter.groups) {
        const auto asked = overrides.find(group.component);
        const auto typeOfLayer = [&](std::uint32_t layer) {
            return asked == overrides.end() || GgufMix::staysFloat(group)
                       ? types.typeOf(group, layer)
                       : GgufMix::fitting(asked->second, group.shape.back());
        };
        for (TensorGroup &each : ggufGroupsOf(group, typeOfLayer)) {
            each.pattern = ggufName(group);
            groups.push_back(std::move(each));
        }
    }
    return groups;
}

} // namespace weir

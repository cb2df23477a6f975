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
    case NormWeight: return group.layers.empty() ? "output_norm" : "";
    default: return {};
    }
}

/// Names that only the module tells.
constexpr std::array<std::pair<std::string_view, std::string_view>, 29> names{{
    {".self_attn.q_norm", "blk.N.attn_q_norm"},
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
    {".mixer.in_proj", "blk.N.ssm_in"},
    {".mixer.out_proj", "blk.N.ssm_out"},
    {".mixer.conv1d", "blk.N.ssm_conv1d"},
    {".mixer.A_log", "blk.N.ssm_a"},
    {".mixer.D", "blk.N.ssm_d"},
    {".mixer.dt_bias", "blk.N.ssm_dt"},
    {".mixer.norm", "blk.N.ssm_norm"},
    {"e_score_correction_bias", "blk.N.exp_probs_b"},
}};

/// What a draft head below `mtp.` has once.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> draftFrame{{
    {"fc", "blk.N.nextn.eh_proj"},
    {"pre_fc_norm_embedding", "blk.N.nextn.enorm"},
    {"pre_fc_norm_hidden", "blk.N.nextn.hnorm"},
    {"norm", "blk.N.nextn.shared_head_norm"},
}};

/// Names within a draft head, where roles say less.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> draftNames{{
    {"layers.N.eh_proj", "blk.N.nextn.eh_proj"},
    {"layers.N.enorm", "blk.N.nextn.enorm"},
    {"layers.N.hnorm", "blk.N.nextn.hnorm"},
    {"layers.N.shared_head.norm", "blk.N.nextn.shared_head_norm"},
    {"layers.N.shared_head.head", "blk.N.nextn.shared_head_head"},
    {"layers.N.embed_tokens", "blk.N.nextn.embed_tokens"},
    {"self_attn.q_proj", "blk.N.attn_q"},
    {"self_attn.k_proj", "blk.N.attn_k"},
    {"self_attn.v_proj", "blk.N.attn_v"},
    {"self_attn.o_proj", "blk.N.attn_output"},
    {"mlp.experts.N.gate_proj", "blk.N.ffn_gate_exps"},
    {"mlp.experts.N.up_proj", "blk.N.ffn_up_exps"},
    {"mlp.experts.N.down_proj", "blk.N.ffn_down_exps"},
    {"mlp.shared_expert.gate_proj", "blk.N.ffn_gate_shexp"},
    {"mlp.shared_expert.up_proj", "blk.N.ffn_up_shexp"},
    {"mlp.shared_expert.down_proj", "blk.N.ffn_down_shexp"},
    {"mlp.shared_experts.gate_proj", "blk.N.ffn_gate_shexp"},
    {"mlp.shared_experts.up_proj", "blk.N.ffn_up_shexp"},
    {"mlp.shared_experts.down_proj", "blk.N.ffn_down_shexp"},
    {"mlp.shared_expert_gate", "blk.N.ffn_gate_inp_shexp"},
    {".mlp.gate", "blk.N.ffn_gate_inp"},
    {"mlp.gate_proj", "blk.N.ffn_gate"},
    {"mlp.up_proj", "blk.N.ffn_up"},
    {"mlp.down_proj", "blk.N.ffn_down"},
}};

/// Architectures that name the norm between attention and MLP after what stands before it.
bool hasPostAttentionNorm(const std::string &architecture)
{
    return architecture.starts_with("Qwen3_5") || architecture.starts_with("Qwen3Next")
           || architecture.starts_with("Glm4MoeFor");
}

template <std::size_t size>
std::string_view nameOfModule(const std::string &module,
                              const std::array<std::pair<std::string_view, std::string_view>, size> &known)
{
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&module](const auto &each) { return module.ends_with(each.first); });
    return found == known.end() ? std::string_view() : found->second;
}

/// True if what begins at `place` stands right below `mtp.` or `model.mtp.`.
bool isBelowMtp(std::string_view module, std::size_t place)
{
    const std::string_view above = module.substr(0, place);
    return above.ends_with("mtp.") && (above.size() == 4 || above[above.size() - 5] == '.');
}

/// Empty if llama.cpp's name is not known.
std::string knownName(const std::string &architecture, const TensorGroup &group)
{
    const std::string module = moduleOf(group);
    const std::string_view leaf = group.pattern.ends_with("bias") && !isWeight(group) ? ".bias" : ".weight";
    std::string_view name = nameOfRole(group);
    if (name.empty() && group.component == Component::Mtp) {
        const auto once = std::find_if(draftFrame.begin(), draftFrame.end(), [&module](const auto &each) {
            return module.ends_with(each.first) && isBelowMtp(module, module.size() - each.first.size());
        });
        name = once == draftFrame.end() ? nameOfModule(module, draftNames) : once->second;
    }
    if (name.empty())
        name = nameOfModule(module, names);
    if (name == "blk.N.ffn_norm" && hasPostAttentionNorm(architecture))
        name = "blk.N.post_attention_norm";
    return name.empty() ? std::string() : std::string(name) + std::string(leaf);
}

bool isGgufName(const std::string &pattern)
{
    return pattern.starts_with("blk.") || pattern.starts_with("output") || pattern.starts_with("token_embd");
}

std::string ggufName(const std::string &architecture, const TensorGroup &group)
{
    const std::string known = isGgufName(group.pattern) ? std::string() : knownName(architecture, group);
    return known.empty() ? group.pattern : known;
}

/// A tensor of a draft head as one of a further block. `mtp.*` counts its layers from 0, and what it has once
/// goes to the first of them.
void placeDraft(const Checkpoint &plain, TensorGroup &group, const std::string &source)
{
    group.pattern = ggufName(plain.spec.architecture, group);
    if (group.pattern.starts_with("blk.N.attn_")) // as classify() reads such a name
        group.role = Role::MtpAttention;
    if (source.find("mtp.") == std::string::npos)
        return;
    if (group.layers.empty())
        group.layers = {0};
    for (std::uint32_t &layer : group.layers)
        layer += plain.spec.layers;
}

TensorGroup ropeFactors(std::uint64_t elements)
{
    TensorGroup group;
    group.pattern = "rope_freqs.weight";
    group.component = Component::Other;
    group.dtype = "F32";
    group.shape = {elements};
    group.count = 1;
    group.parameters = elements;
    group.bytes = saturatingMultiply(elements, 4);
    return group;
}

/// A draft head that llama.cpp stored as further blocks; older conversions by Ollama have `mtp.*`.
bool isGgufDraft(const TensorGroup &group) { return group.pattern.starts_with("blk."); }

} // namespace

bool knowsGgufDraft(const Checkpoint &plain)
{
    const std::string &architecture = plain.spec.architecture;
    const bool known = architecture.starts_with("Qwen3_5") || architecture.starts_with("Glm4MoeFor")
                       || architecture.starts_with("Glm4MoeLiteFor");
    return std::all_of(plain.groups.begin(), plain.groups.end(), [&](const TensorGroup &group) {
        return group.component != Component::Mtp || isGgufDraft(group)
               || (known && !knownName(architecture, group).empty());
    });
}

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
                                    const std::map<Component, std::string_view> &overrides,
                                    const GgufDraft &draft)
{
    // Types depend on the tensors that the file has, so all are converted first.
    Checkpoint converter = plain;
    converter.groups.clear();
    const auto heads = latentHeads(plain);
    const std::uint64_t convolved = convolvedRows(plain);
    bool hasFactors = plain.spec.ropeFactors == 0;
    for (const TensorGroup &group : plain.groups) {
        const bool foreignDraft = group.component == Component::Mtp && !isGgufDraft(group);
        if ((foreignDraft && !draft.kept) || group.component == Component::Vision
            || group.component == Component::Audio)
            continue;
        hasFactors = hasFactors || group.pattern.starts_with("rope_f");
        for (TensorGroup &each : converted(plain, group, heads, convolved)) {
            if (foreignDraft)
                placeDraft(plain, each, group.pattern);
            converter.groups.push_back(std::move(each));
        }
    }
    const GgufMix types(mix, converter);
    const GgufMix draftTypes(draft.mix.empty() ? mix : draft.mix, converter);
    std::vector<TensorGroup> groups;
    for (const TensorGroup &group : converter.groups) {
        const bool byDraftMix = group.component == Component::Mtp && !draft.mix.empty();
        const auto asked = byDraftMix ? overrides.end() : overrides.find(group.component);
        const auto typeOfLayer = [&](std::uint32_t layer) {
            return asked == overrides.end() || GgufMix::staysFloat(group)
                       ? (byDraftMix ? draftTypes : types).typeOf(group, layer)
                       : GgufMix::fitting(asked->second, group.shape.back());
        };
        for (TensorGroup &each : ggufGroupsOf(group, typeOfLayer)) {
            each.pattern = ggufName(plain.spec.architecture, group);
            groups.push_back(std::move(each));
        }
    }
    if (!hasFactors)
        groups.push_back(ropeFactors(plain.spec.ropeFactors));
    return groups;
}

} // namespace weir

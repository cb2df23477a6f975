// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/ggufmix.h"

#include "models/checkpoint/gguf.h"
#include "models/checkpoint/unquantized.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

namespace weir {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 22> baseTypes{{
    {"F32", "F32"},     {"F16", "F16"},     {"BF16", "BF16"},     {"Q4_0", "Q4_0"},     {"Q4_1", "Q4_1"},
    {"Q5_0", "Q5_0"},   {"Q5_1", "Q5_1"},   {"Q8_0", "Q8_0"},     {"Q2_K", "Q2_K"},     {"Q3_K_S", "Q3_K"},
    {"Q3_K_M", "Q3_K"}, {"Q3_K_L", "Q3_K"}, {"Q4_K_S", "Q4_K"},   {"Q4_K_M", "Q4_K"},   {"Q5_K_S", "Q5_K"},
    {"Q5_K_M", "Q5_K"}, {"Q6_K", "Q6_K"},   {"IQ4_NL", "IQ4_NL"}, {"IQ4_XS", "IQ4_XS"}, {"IQ3_S", "IQ3_S"},
    {"IQ3_M", "IQ3_S"}, {"MXFP4", "MXFP4"},
}};

bool isPlain(std::string_view type) { return type == "F32" || type == "F16" || type == "BF16"; }

/// The first and the last eighth of the layers and every third between them get more bits.
bool useMoreBits(std::uint64_t index, std::uint64_t count)
{
    return index < count / 8 || index >= 7 * count / 8 || (index - count / 8) % 3 == 2;
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

std::map<std::uint32_t, std::uint64_t> ranked(const std::set<std::uint32_t> &layers)
{
    std::map<std::uint32_t, std::uint64_t> ranks;
    std::uint64_t next = 0;
    for (const std::uint32_t layer : layers)
        ranks[layer] = next++;
    return ranks;
}

} // namespace

std::string_view GgufMix::baseType(std::string_view mix)
{
    for (const auto &[name, type] : baseTypes) {
        if (name == mix)
            return type;
    }
    return {};
}

GgufMix::GgufMix(std::string_view mix, const Checkpoint &plain)
    : m_mix(mix)
    , m_base(baseType(mix))
    , m_eightExperts(plain.spec.experts == 8)
    , m_experts(plain.spec.experts > 1)
    , m_layers(plain.spec.layers)
{
    std::set<std::uint32_t> values;
    std::set<std::uint32_t> downs;
    for (const TensorGroup &group : plain.groups) {
        if (group.component == Component::Vision || group.component == Component::Audio)
            continue;
        const Category category = categoryOf(group);
        if (category == Category::Output)
            m_tied = false;
        // Of a draft head only those count that the file holds as further layers.
        if (group.component == Component::Mtp && !group.pattern.starts_with("blk."))
            continue;
        if (!group.layers.empty())
            m_layers = std::max<std::uint64_t>(m_layers, group.layers.back() + std::uint64_t{1});
        if (category == Category::ValueLike)
            values.insert(group.layers.begin(), group.layers.end());
        if (category == Category::Down)
            downs.insert(group.layers.begin(), group.layers.end());
    }
    m_valueIndex = ranked(values);
    m_downIndex = ranked(downs);
    measureHeads(plain);
}

void GgufMix::measureHeads(const Checkpoint &plain)
{
    const AttentionLayers *run = nullptr;
    for (const AttentionLayers &each : plain.spec.attention) {
        if (each.kvHeads > 0 && each.vElementsPerToken > 0 && run == nullptr)
            run = &each;
    }
    if (run == nullptr)
        return;
    const std::uint64_t headSize = std::max<std::uint64_t>(1, run->vElementsPerToken / run->kvHeads);
    for (const TensorGroup &group : plain.groups) {
        if (group.component != Component::Attention || group.role != Role::AttentionOutput
            || group.shape.size() < 2 || group.layers.empty())
            continue;
        // Hybrids that count heads by layer have none in a first layer without attention; Qwen's count once.
        const bool everyLayer =
            group.layers.front() == 0
            || std::any_of(plain.spec.state.begin(), plain.spec.state.end(),
                           [](const auto &state) { return state.kind == LayerKind::GatedDeltaNet; });
        if (everyLayer)
            m_headsPerKeyHead = group.shape.back() / headSize / run->kvHeads;
        break;
    }
    const std::string &architecture = plain.spec.architecture;
    const bool counted = architecture.starts_with("Llama") || architecture.starts_with("Qwen2")
                         || architecture.starts_with("Mistral") || architecture == "llama"
                         || architecture == "qwen2" || architecture == "qwen2vl";
    m_seventyBillion =
        counted && plain.spec.layers == 80 && m_headsPerKeyHead != 1 && plain.spec.experts == 0;
}

bool GgufMix::staysFloat(const TensorGroup &group)
{
    switch (group.role) {
    case Role::NormWeight:
    case Role::AttentionSmall:
    case Role::RecurrentSmall:
    case Role::RouterWeight:
    case Role::RouterBias:
    case Role::SharedExpertGate: return true;
    default:
        // Biases and other vectors are never quantized; routers of a draft head go by their names.
        return group.shape.size() < 2 || !isWeight(group) || contains(group.pattern, "norm.")
               || group.pattern.ends_with("_norm") || contains(group.pattern, ".ffn_gate_inp");
    }
}

GgufMix::Category GgufMix::categoryOf(const TensorGroup &group)
{
    switch (group.role) {
    case Role::Head: return Category::Output;
    case Role::Embedding: return Category::TokenEmbedding;
    case Role::Query: return Category::Query;
    case Role::Key: return Category::Key;
    case Role::Value:
    case Role::QueryKeyValue: return Category::ValueLike;
    case Role::AttentionOutput: return Category::AttentionOutput;
    case Role::Up:
    case Role::GateUp: return Category::Up;
    case Role::Gate: return Category::Gate;
    case Role::Down: return Category::Down;
    default: break;
    }
    // Projections of recurrences and of a draft head go by their names.
    const std::string module = moduleOf(group);
    const auto ends = [&module](std::string_view ending) { return module.ends_with(ending); };
    if (ends("attn_qkv") || ends("in_proj_qkv") || ends("attn_v") || ends("self_attn.v_proj")
        || ends("attn_kv_b") || ends("kv_b_proj"))
        return Category::ValueLike;
    if (ends("attn_k") || ends("self_attn.k_proj"))
        return Category::Key;
    if (ends("attn_q") || ends("self_attn.q_proj"))
        return Category::Query;
    if (ends("attn_output") || ends("self_attn.o_proj"))
        return Category::AttentionOutput;
    if (contains(module, "ffn_up"))
        return Category::Up;
    if (contains(module, "ffn_gate"))
        return Category::Gate;
    return contains(module, "ffn_down") ? Category::Down : Category::Rest;
}

std::string_view GgufMix::fitting(std::string_view type, std::uint64_t row)
{
    const GgufType *known = ggufType(type);
    if (known == nullptr || row % known->block == 0)
        return type;
    std::string_view simpler = "Q8_0";
    if (type.starts_with("IQ") || type == "NVFP4")
        simpler = "IQ4_NL";
    else if (type == "Q2_K" || type == "Q3_K")
        simpler = "Q4_0";
    else if (type == "Q4_K")
        simpler = "Q5_0";
    else if (type == "Q5_K")
        simpler = "Q5_1";
    return row % 32 == 0 ? simpler : "F16";
}

std::string_view GgufMix::valueType(std::uint32_t layer) const
{
    const auto found = m_valueIndex.find(layer);
    const std::uint64_t index = found == m_valueIndex.end() ? m_valueIndex.size() : found->second;
    const bool shared = m_headsPerKeyHead >= 4;
    std::string_view type = m_base;
    if (is("Q2_K"))
        type = shared ? "Q4_K" : "Q3_K";
    else if (is("IQ3_M") || (is("IQ3_S") && shared))
        type = "Q4_K";
    else if (is("Q3_K_M"))
        type = index < 2 ? "Q5_K" : "Q4_K";
    else if (is("Q3_K_L") || ((is("IQ4_NL") || is("IQ4_XS")) && shared) || (is("Q4_K_S") && index < 4))
        type = "Q5_K";
    else if ((is("Q4_K_M") || is("Q5_K_M")) && index < m_valueIndex.size()
             && useMoreBits(index, m_valueIndex.size()))
        type = "Q6_K";
    if (m_seventyBillion && (type == "Q3_K" || type == "Q4_K"))
        type = "Q5_K";
    return m_eightExperts ? "Q8_0" : type;
}

std::string_view GgufMix::downType(std::uint32_t layer) const
{
    std::uint64_t index = layer;
    if (const auto found = m_downIndex.find(layer); !m_experts && found != m_downIndex.end())
        index = found->second;
    const bool early = index < m_layers / 8;
    if (is("Q2_K"))
        return "Q3_K";
    if (is("Q3_K_M"))
        return index < m_layers / 16 ? "Q5_K" : "Q4_K";
    if (is("Q3_K_L") || (is("Q4_K_S") && early))
        return "Q5_K";
    if (is("IQ3_M") && (early || (m_eightExperts && useMoreBits(index, m_layers))))
        return "Q4_K";
    if ((is("Q4_K_M") || is("Q5_K_M")) && useMoreBits(index, m_layers))
        return "Q6_K";
    return m_base;
}

std::string_view GgufMix::special(Category category, std::uint32_t layer) const
{
    switch (category) {
    case Category::ValueLike: return valueType(layer);
    case Category::Down: return downType(layer);
    case Category::Key: return m_eightExperts ? "Q8_0" : m_base;
    case Category::AttentionOutput:
        if (m_eightExperts) {
            static constexpr std::array<std::string_view, 9> lifted{
                "Q2_K", "Q3_K_S", "Q3_K_M", "IQ4_NL", "Q4_K_S", "Q4_K_M", "IQ3_S", "IQ3_M", "IQ4_XS"};
            return std::find(lifted.begin(), lifted.end(), m_mix) != lifted.end() ? "Q5_K" : m_base;
        }
        if (is("Q2_K"))
            return "Q3_K";
        if (is("Q3_K_M") || is("IQ3_M"))
            return "Q4_K";
        return is("Q3_K_L") ? "Q5_K" : m_base;
    default: return m_base;
    }
}

std::string_view GgufMix::typeOf(const TensorGroup &group, std::uint32_t layer) const
{
    if (staysFloat(group))
        return "F32";
    if (isPlain(m_base))
        return m_base;
    const std::uint64_t row = group.shape.back();
    // Gemma's projection of per-layer inputs is kept as it was converted.
    if (contains(group.pattern, "per_layer_model_proj"))
        return "BF16";
    const Category category = categoryOf(group);
    if (category == Category::Output || (m_tied && category == Category::TokenEmbedding)) {
        const GgufType *base = ggufType(m_base);
        const bool eightBit = is("MXFP4") || is("Q8_0") || base == nullptr || row % base->block != 0;
        return fitting(eightBit ? "Q8_0" : "Q6_K", row);
    }
    if (is("MXFP4"))
        return fitting(group.shape.size() > 2 ? "MXFP4" : "Q8_0", row);
    if (category == Category::TokenEmbedding)
        return fitting(m_base, row);
    return fitting(special(category, layer), row);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/requantize.h"

#include "models/checkpoint/gguf.h"
#include "models/checkpoint/tensorset.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace weir {

namespace {

/// llama.cpp gives the first and last eighth of the layers and every third between them more bits.
bool useMoreBits(std::uint64_t index, std::uint64_t count)
{
    return index < count / 8 || index >= 7 * count / 8 || (index - count / 8) % 3 == 2;
}

/// Tensors whose name decides like attn_v: values, and fused projections that hold them.
bool decidesLikeValue(const TensorGroup &group)
{
    return group.role == Role::Value || group.role == Role::QueryKeyValue
           || group.pattern.find("in_proj_qkv.") != std::string::npos;
}

bool staysFloat(const TensorGroup &group)
{
    switch (group.role) {
    case Role::NormWeight:
    case Role::AttentionSmall:
    case Role::RecurrentSmall:
    case Role::RouterWeight:
    case Role::RouterBias:
    case Role::SharedExpertGate: return true;
    default:
        // Biases and other vectors are never quantized.
        return group.shape.size() < 2;
    }
}

/// A type whose blocks divide the row: 256-element types fall back to 32-element ones.
std::string_view fitting(std::string_view type, std::uint64_t row)
{
    if (const GgufType *known = ggufType(type); known != nullptr && row % known->block == 0)
        return type;
    if (type == "Q4_K")
        return row % 32 == 0 ? "Q5_0" : "F16";
    if (type == "Q5_K")
        return row % 32 == 0 ? "Q5_1" : "F16";
    return row % 32 == 0 ? "Q8_0" : "F16";
}

class Mix
{
public:
    explicit Mix(const Checkpoint &source)
        : m_source(source)
    {
        std::set<std::uint32_t> values;
        for (const TensorGroup &group : source.groups) {
            if (decidesLikeValue(group) && group.component != Component::Mtp)
                values.insert(group.layers.begin(), group.layers.end());
        }
        std::uint64_t index = 0;
        for (const std::uint32_t layer : values)
            m_valueIndex[layer] = index++;
    }

    std::string_view typeOf(const TensorGroup &group, std::uint32_t layer) const
    {
        if (staysFloat(group))
            return "F32";
        const std::uint64_t row = group.shape.back();
        const bool eightExperts = m_source.spec.experts == 8;
        switch (group.role) {
        case Role::Embedding: return fitting(m_source.spec.tiedEmbeddings ? "Q6_K" : "Q4_K", row);
        case Role::Head: return fitting("Q6_K", row);
        case Role::Key: return eightExperts ? "Q8_0" : fitting("Q4_K", row);
        case Role::AttentionOutput: return fitting(eightExperts ? "Q5_K" : "Q4_K", row);
        case Role::Down: return fitting(useMoreBits(layer, m_source.spec.layers) ? "Q6_K" : "Q4_K", row);
        default: break;
        }
        if (decidesLikeValue(group)) {
            if (eightExperts)
                return "Q8_0";
            const auto index = m_valueIndex.find(layer);
            const bool more = index != m_valueIndex.end() && useMoreBits(index->second, m_valueIndex.size());
            return fitting(more ? "Q6_K" : "Q4_K", row);
        }
        return fitting("Q4_K", row);
    }

private:
    const Checkpoint &m_source;
    std::map<std::uint32_t, std::uint64_t> m_valueIndex;
};

} // namespace

Result<Checkpoint> deriveGguf(const Checkpoint &source, std::string_view mix)
{
    if (mix != "Q4_K_M")
        return fail("requantize.mix", ErrorKind::Usage, std::string(mix));
    const bool latent = std::any_of(source.spec.attention.begin(), source.spec.attention.end(),
                                    [](const AttentionLayers &run) { return run.kind == LayerKind::Mla; });
    if (latent || source.format != Format::Safetensors)
        return fail("requantize.architecture", ErrorKind::Usage, source.spec.architecture);

    Checkpoint derived = source;
    derived.format = Format::Gguf;
    derived.provenance = Provenance::Config;
    derived.quantization = std::string(mix);
    derived.repositoryBytes.reset();
    derived.files.clear();
    derived.groups.clear();
    derived.notes.clear();
    const Mix types(source);
    for (const TensorGroup &group : source.groups) {
        if (group.component == Component::Mtp || group.component == Component::Vision
            || group.component == Component::Audio)
            continue;
        if (group.side)
            return fail("requantize.architecture", ErrorKind::Usage, source.spec.architecture);
        // Layers of one group may get different types; each layer holds the same number of tensors.
        const std::vector<std::uint32_t> none{0};
        const std::vector<std::uint32_t> &layers = group.layers.empty() ? none : group.layers;
        std::map<std::string_view, TensorGroup> byType;
        for (const std::uint32_t layer : layers) {
            const std::string_view type = types.typeOf(group, layer);
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
            target.parameters += parameters;
            target.bytes += parameters / known->block * known->bytes;
            if (!group.layers.empty())
                target.layers.push_back(layer);
        }
        for (auto &[type, target] : byType)
            derived.groups.push_back(std::move(target));
    }
    // llama.cpp keeps the recurrent state and 16-bit caches in its own dtypes.
    derived.spec.dtype = "F16";
    if (!derived.spec.state.empty())
        derived.spec.stateDtype = "F32";
    finish(derived);
    return derived;
}

Result<Checkpoint> deriveNvfp4Experts(const Checkpoint &source)
{
    Checkpoint derived = source;
    derived.provenance = Provenance::Config;
    derived.quantization = "nvfp4";
    derived.repositoryBytes.reset();
    derived.files.clear();
    derived.groups.clear();
    for (const TensorGroup &group : source.groups) {
        if (group.component != Component::RoutedExperts) {
            derived.groups.push_back(group);
            continue;
        }
        if (group.shape.size() != 3 || group.shape.back() % 16 != 0 || group.side)
            return fail("requantize.architecture", ErrorKind::Usage, source.spec.architecture);
        // Fused [E, 2I, H] or [E, H, I] becomes one matrix an expert; a fused pair becomes two.
        const std::uint64_t experts = group.shape[0];
        const std::uint64_t pair = group.role == Role::GateUp ? 2 : 1;
        const std::uint64_t rows = group.shape[1] / pair;
        const std::uint64_t columns = group.shape[2];
        const std::string stem = group.pattern.substr(0, group.pattern.rfind('.')) + ".N.";
        const std::vector<std::pair<std::string, Role>> names =
            pair == 2
                ? std::vector<std::pair<std::string, Role>>{{"gate_proj", Role::Gate}, {"up_proj", Role::Up}}
                : std::vector<std::pair<std::string, Role>>{{"down_proj", Role::Down}};
        for (const auto &[name, role] : names) {
            const auto add = [&](const char *leaf, const char *dtype, std::vector<std::uint64_t> shape,
                                 std::uint64_t bytesEach, bool side) {
                TensorGroup each = group;
                each.pattern = stem + name + leaf;
                each.role = role;
                each.dtype = dtype;
                each.shape = std::move(shape);
                each.count = group.count * experts;
                each.bytes = each.count * bytesEach;
                each.parameters = side ? 0 : each.count * rows * columns;
                each.side = side;
                each.file.clear();
                derived.groups.push_back(std::move(each));
            };
            add(".weight", "U8", {rows, columns / 2}, rows * columns / 2, false);
            add(".weight_scale", "F8_E4M3", {rows, columns / 16}, rows * columns / 16, true);
            add(".weight_scale_2", "F32", {}, 4, true);
            add(".input_scale", "F32", {}, 4, true);
        }
    }
    finish(derived);
    return derived;
}

} // namespace weir

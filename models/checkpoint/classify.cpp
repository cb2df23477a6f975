// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/classify.h"

#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/checkpoint/classificationrules.h"
#include "models/checkpoint/logicalsize.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace weir {

namespace {

constexpr auto sideLeaves = std::to_array<std::string_view>(
    {"scales", "qzeros", "g_idx", "zeros", "weight_scale", "weight_scale_inv", "weight_scale_2",
     "weight_global_scale", "weight_shape", "weight_zero_point", "weight_g_idx", "input_scale",
     "input_global_scale", "input_zero_point", "activation_scale", "output_scale", "k_scale", "v_scale",
     "q_scale", "kv_scale", "prob_scale", "SCB", "weight_format", "biases", "zero_point", "pre_quant_scale",
     "weight_scales", "act_global_scale", "forward_hadamard_matrix", "backward_hadamard_matrix",
     // 2:4 sparse
     "scale_packed", "meta",
     // HQQ
     "zero", "shape", "axis", "group_size", "nbits", "packing", "channel_wise", "compute_dtype", "optimize",
     "round_zero", "stores_quant_config", "unpack_view_dtype", "view_as_float", "offload_meta",
     // torchao, flattened
     "_weight_scale", "_weight_zero_point", "_weight_act_pre_scale", "_weight_scale_and_zero",
     // EXL2, EXL3
     "q_scale_max", "q_perm", "q_invperm", "q_groups", "q_group_map", "suh", "svh", "su", "sv", "mcg", "mul1",
     // AQLM, VPTQ, SpQR, HIGGS
     "codebooks", "centroids", "res_centroids", "perm", "weight_bias", "out_order", "row_offsets", "col_vals",
     "in_perm", "tables", "tables2", "tune_metadata"});

constexpr auto weightLeaves = std::to_array<std::string_view>({
    "weight",
    "bias",
    "qweight",
    "weight_packed",
    "q_weight",
    "W_q",
    "trellis",
    "codes",
    "indices",
    "res_indices",
    "outlier_indices",
    "dense_weights",
    "_weight_qdata",
});

/// Suffixes of experts that are fused into one tensor and so have no `.weight`.
constexpr std::array<std::pair<std::string_view, bool>, 10> fusedSuffixes{{
    {"_blocks", false},
    {"_bias", false},
    {"_packed", false},
    {"_scales", true},
    {"_scale", true},
    {"_scale_inv", true},
    {"_weight_scale", true},
    {"_weight_scale_2", true},
    {"_weight_scale_inv", true},
    {"_input_scale", true},
}};

template <std::size_t N>
bool isOneOf(const std::array<std::string_view, N> &list, std::string_view text)
{
    return std::find(list.begin(), list.end(), text) != list.end();
}

/// "Qwen3MoeForCausalLM" and "qwen3_moe_text" alike: "qwen3moe". What a config without a class is known by.
std::string plainType(std::string_view name)
{
    name = name.substr(0, name.find("For"));
    if (name.ends_with("_text"))
        name.remove_suffix(5);
    std::string plain;
    for (const char c : name) {
        if (c != '_')
            plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return plain;
}

const ArchitectureFamily &familyOf(Format format, const std::string &architecture)
{
    const bool gguf = format == Format::Gguf;
    for (const ArchitectureFamily &family : gguf ? ggufFamilies() : safetensorsFamilies()) {
        if (std::find(family.architectures.begin(), family.architectures.end(), architecture)
            != family.architectures.end())
            return family;
    }
    const bool isType = !architecture.empty() && architecture.find("For") == std::string::npos;
    if (!gguf && isType) {
        const std::string type = plainType(architecture);
        for (const ArchitectureFamily &family : safetensorsFamilies()) {
            if (std::any_of(family.architectures.begin(), family.architectures.end(),
                            [&type](std::string_view name) { return plainType(name) == type; }))
                return family;
        }
    }
    return gguf ? genericGgufFamily() : genericSafetensorsFamily();
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// What a tensor of a draft layer (numbered beyond the decoder's) is within the draft head.
Role draftRole(std::string_view module)
{
    if (contains(module, ".experts.") || contains(module, "_exps"))
        return Role::MtpExperts;
    if (module.ends_with("eh_proj"))
        return Role::MtpProjection;
    if (module.ends_with("embed_tokens"))
        return Role::MtpEmbedding;
    if (module.ends_with("shared_head.head") || module.ends_with("shared_head_head"))
        return Role::MtpHead;
    if (contains(module, ".self_attn.") || contains(module, ".attn_"))
        return Role::MtpAttention;
    return Role::MtpRest;
}

class Classifier
{
public:
    Classifier(const TensorSet &tensors, const ModelConfig &config, const ArchitectureFamily &family)
        : m_tensors(tensors)
        , m_config(config)
        , m_family(family)
        , m_sizes(tensors, config.quantization)
    {
        findStateLayers();
        findTowers();
    }

    Classified of(const RawGroup &group)
    {
        const std::string &pattern = m_tensors.patternOf(group);
        const bool beyond =
            group.layer != RawGroup::noLayer && group.layer >= m_config.spec.layers
            && (matchesPattern("P.layers.N.**", pattern) || matchesPattern("blk.N.**", pattern));
        const bool stateLayer = m_stateLayers.contains(group.layer);
        const auto key = std::tuple(group.pattern, beyond, stateLayer);
        if (const auto found = m_cache.find(key); found != m_cache.end())
            return found->second;

        TensorName name = splitTensorName(pattern);
        // A bare `.scale` is a scale only beside a weight that is no plain float; else a parameter.
        if (name.leaf == "scale") {
            if (m_sizes.hasPackedWeight(name.module))
                name.side = true;
            else
                name = {pattern, {}, false};
        }
        Classified result;
        const std::string &dtype = m_tensors.dtypeOf(group);
        result.side = name.side || dtype == "F8_E8M0" || dtype == "E8M0" || dtype == "UE8"; // exponents alone
        if (beyond) {
            result.component = Component::Mtp;
            result.role = draftRole(name.module);
            result.known = true;
        } else {
            for (const RuleBlock &block : m_family.blocks) {
                const auto rule =
                    std::find_if(block.begin(), block.end(), [&](const ClassificationRule &each) {
                        return (each.where == Where::Anywhere || stateLayer)
                               && matchesPattern(each.pattern, name.module);
                    });
                if (rule != block.end()) {
                    result.component = rule->component;
                    result.role = rule->role;
                    // The projector of a model that only hears goes by the same name.
                    if (m_onlyHears && result.component == Component::Vision
                        && result.role == Role::Projector)
                        result.component = Component::Audio;
                    result.known = true;
                    break;
                }
            }
        }
        m_cache.emplace(key, result);
        return result;
    }

    std::optional<std::uint64_t> parameters(const RawGroup &group) { return m_sizes.parameters(group); }

    LayerKind kindOf(const RawGroup &group, Component component) const
    {
        if (component != Component::Attention && component != Component::LinearAttention)
            return LayerKind::None;
        return group.layer < m_config.layerKinds.size() ? m_config.layerKinds[group.layer] : LayerKind::None;
    }

private:
    void findStateLayers()
    {
        for (const RawGroup &group : m_tensors.groups()) {
            const std::string &pattern = m_tensors.patternOf(group);
            if (matchesPattern("P.layers.N.*.A_log", pattern) || pattern.starts_with("blk.N.ssm_")
                || pattern.starts_with("blk.N.shortconv."))
                m_stateLayers.insert(group.layer);
        }
    }

    void findTowers()
    {
        bool hears = false;
        bool sees = false;
        for (const std::string &pattern : m_tensors.patterns()) {
            hears = hears || matchesPattern("P.{audio_tower,audio_model,audio_encoder}.**", pattern);
            sees = sees
                   || matchesPattern("P.{visual,vision_tower,vision_model,vision_encoder,vision_backbone}.**",
                                     pattern);
        }
        m_onlyHears = hears && !sees;
    }

    const TensorSet &m_tensors;
    const ModelConfig &m_config;
    const ArchitectureFamily &m_family;
    LogicalSizes m_sizes;
    std::set<std::uint32_t> m_stateLayers;
    bool m_onlyHears = false; ///< an audio tower and none for images
    std::map<std::tuple<std::uint32_t, bool, bool>, Classified> m_cache;
};

void noteUnknown(const std::map<std::string, std::uint64_t> &unknown, Checkpoint &checkpoint)
{
    if (unknown.empty())
        return;
    constexpr std::size_t named = 5;
    std::string names;
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    for (const auto &[pattern, size] : unknown) {
        bytes += size;
        if (count++ < named)
            names += (names.empty() ? "" : ", ") + printable(pattern, 120);
    }
    checkpoint.notes.push_back({"checkpoint.unknown-tensors",
                                Severity::Warning,
                                {{"names", names},
                                 {"patterns", static_cast<std::uint64_t>(unknown.size())},
                                 {"bytes", Bytes{bytes}}},
                                {}});
}

} // namespace

TensorName splitTensorName(std::string_view pattern)
{
    // bitsandbytes hangs its maps below the weight: "….weight.quant_state.bitsandbytes__nf4".
    if (const std::size_t place = pattern.rfind(".weight."); place != std::string_view::npos) {
        const std::string_view rest = pattern.substr(place + 8);
        if (rest == "absmax" || rest == "quant_map" || rest == "nested_absmax" || rest == "nested_quant_map"
            || rest.starts_with("quant_state.") || rest.starts_with("bitsandbytes__") || rest == "_scale"
            || rest == "_shift" || rest == "_zeropoint" || rest == "bitmask" || rest == "shape"
            || rest == "row_offsets")
            return {pattern.substr(0, place), rest, true};
        // Quanto's data and the values of a sparse weight.
        if (rest == "_data" || rest == "_data._data" || rest == "compressed")
            return {pattern.substr(0, place), rest, false};
    }
    const std::size_t dot = pattern.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? pattern : pattern.substr(dot + 1);
    if (dot != std::string_view::npos) {
        const std::string_view module = pattern.substr(0, dot);
        // VPTQ keeps its tables as embeddings of their own.
        for (const std::string_view table : {".centroids", ".res_centroids", ".outlier_centroids"}) {
            if (last == "weight" && module.ends_with(table))
                return {module.substr(0, module.size() - table.size()), table.substr(1), true};
        }
        // torchao hangs the parts of a weight to its name.
        if (last.starts_with("weight:"))
            return {module, last, !last.ends_with("data")};
        if (isOneOf(sideLeaves, last))
            return {module, last, true};
        if (isOneOf(weightLeaves, last) || last == "scale")
            return {module, last, false};
    }
    if (const std::size_t projection = last.rfind("_proj"); projection != std::string_view::npos) {
        const std::string_view suffix = last.substr(projection + 5);
        for (const auto &[text, side] : fusedSuffixes) {
            if (suffix == text)
                return {pattern.substr(0, pattern.size() - suffix.size()), suffix, side};
        }
    }
    return {pattern, {}, false};
}

void classify(const TensorSet &tensors, const ModelConfig &config, std::span<const TensorFile> files,
              Checkpoint &checkpoint)
{
    const ArchitectureFamily &family = familyOf(checkpoint.format, config.spec.architecture);
    checkpoint.spec = config.spec;
    checkpoint.spec.family = std::string(family.id);
    Classifier classifier(tensors, config, family);

    using Key = std::tuple<Component, std::string, Role, LayerKind, std::string, std::vector<std::uint64_t>,
                           bool, bool>;
    std::map<Key, TensorGroup> merged;
    std::map<std::string, std::uint64_t> unknown;
    std::set<std::uint32_t> moeLayers;
    std::set<std::uint32_t> storedLayers;
    std::uint64_t unsized = 0; // bytes of weights whose number is not told
    for (const RawGroup &raw : tensors.groups()) {
        const Classified what = classifier.of(raw);
        const TensorFile &file = files[raw.file];
        const LayerKind kind = classifier.kindOf(raw, what.component);
        TensorGroup &group = merged[Key{what.component, tensors.patternOf(raw), what.role, kind,
                                        tensors.dtypeOf(raw), tensors.shapeOf(raw), what.side, file.listed}];
        if (group.count == 0) {
            group.pattern = tensors.patternOf(raw);
            group.component = what.component;
            group.role = what.role;
            group.layerKind = kind;
            group.dtype = tensors.dtypeOf(raw);
            group.shape = tensors.shapeOf(raw);
            group.side = what.side;
            group.listed = file.listed;
            group.file = file.path;
        } else if (group.file != file.path) {
            group.file.clear();
        }
        group.count += raw.count;
        group.bytes += raw.bytes;
        if (!what.side) {
            const auto parameters = classifier.parameters(raw);
            group.parameters = saturatingAdd(group.parameters, parameters.value_or(0));
            if (!parameters)
                unsized = saturatingAdd(unsized, raw.bytes);
        }
        if (raw.layer != RawGroup::noLayer)
            group.layers.push_back(raw.layer);
        if (what.component == Component::RoutedExperts)
            moeLayers.insert(raw.layer);
        if (raw.layer < config.spec.layers && what.component != Component::Mtp
            && what.component != Component::Vision && what.component != Component::Audio)
            storedLayers.insert(raw.layer);
        if (!what.known)
            unknown[group.pattern] += raw.bytes;
    }
    checkpoint.groups.clear();
    checkpoint.groups.reserve(merged.size());
    for (auto &[key, group] : merged) {
        std::sort(group.layers.begin(), group.layers.end());
        group.layers.erase(std::unique(group.layers.begin(), group.layers.end()), group.layers.end());
        checkpoint.groups.push_back(std::move(group));
    }
    finish(checkpoint);

    checkpoint.spec.moeLayers = static_cast<std::uint32_t>(moeLayers.size());
    const bool hasHead = checkpoint.sum(Component::LmHead) != nullptr;
    checkpoint.spec.tiedEmbeddings = !hasHead && checkpoint.sum(Component::EmbedTokens) != nullptr;

    auto &notes = checkpoint.notes;
    notes.insert(notes.end(), config.notes.begin(), config.notes.end());
    if (family.id == "generic") {
        notes.push_back({"checkpoint.unknown-architecture",
                         Severity::Warning,
                         {{"architecture", config.spec.architecture}},
                         {}});
    }
    noteUnknown(unknown, checkpoint);
    if (unsized > 0) {
        notes.push_back({"checkpoint.parameters-unknown",
                         Severity::Warning,
                         {{"bytes", Bytes{unsized}}, {"method", printable(config.quantization.method, 40)}},
                         {}});
    }
    if (checkpoint.spec.tiedEmbeddings && config.declaredTied == std::optional(false))
        notes.push_back({"checkpoint.head-missing", Severity::Warning, {}, {}});
    if (!storedLayers.empty() && storedLayers.size() < config.spec.layers) {
        notes.push_back({"checkpoint.layers-missing",
                         Severity::Warning,
                         {{"declared", std::uint64_t{config.spec.layers}},
                          {"stored", static_cast<std::uint64_t>(storedLayers.size())}},
                         {}});
    }
    const ComponentSum *draft = checkpoint.sum(Component::Mtp);
    if (config.draftLayers == 0 && draft != nullptr && checkpoint.provenance == Provenance::Headers
        && checkpoint.format != Format::Gguf)
        notes.push_back(
            {"checkpoint.draft-undeclared", Severity::Info, {{"bytes", Bytes{draft->bytes}}}, {}});
    if (config.draftLayers > 0 && draft == nullptr) {
        notes.push_back({"checkpoint.draft-announced-only",
                         Severity::Info,
                         {{"layers", std::uint64_t{config.draftLayers}}},
                         {}});
    }
    const ComponentSum *experts = checkpoint.sum(Component::RoutedExperts);
    if (experts == nullptr && checkpoint.spec.experts > 0) {
        notes.push_back({"checkpoint.experts-missing",
                         Severity::Warning,
                         {{"experts", std::uint64_t{checkpoint.spec.experts}}},
                         {}});
        checkpoint.spec.experts = 0;
        checkpoint.spec.expertsPerToken = 0;
    } else if (experts != nullptr && checkpoint.spec.experts == 0) {
        notes.push_back(
            {"checkpoint.experts-undeclared", Severity::Warning, {{"bytes", Bytes{experts->bytes}}}, {}});
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/declaredscheme.h"

#include "models/base/units.h"
#include "models/checkpoint/configreader.h"
#include "models/checkpoint/quantconvention.h"

#include <array>
#include <string>
#include <utility>

namespace weir {

namespace {

using nlohmann::json;

/// The object that declares a quantization: in the config, in its text part, or in the file beside it.
const json *declaration(const json &config, const json *quantConfig)
{
    const auto in = [](const json &place) -> const json * {
        for (const char *key : {"quantization_config", "compression_config", "quantization"}) {
            const auto found = place.find(key);
            if (found != place.end() && found->is_object())
                return &*found;
        }
        return nullptr;
    };
    if (!config.is_object())
        return nullptr;
    if (const json *found = in(config))
        return found;
    for (const char *key : {"text_config", "llm_config", "language_config", "thinker_config"}) {
        const auto part = config.find(key);
        if (part != config.end() && part->is_object()) {
            if (const json *found = in(*part))
                return found;
        }
    }
    if (quantConfig == nullptr || !quantConfig->is_object())
        return nullptr;
    if (const json *found = in(*quantConfig))
        return found;
    // The older files of GPTQ and AWQ are the declaration themselves.
    return quantConfig->contains("quant_method") ? quantConfig : nullptr;
}

class SchemeReader
{
public:
    SchemeReader(const json &declared, std::string_view architecture)
        : m_json(declared)
        , m_reader(declared)
        , m_architecture(architecture)
    {}

    Result<DeclaredScheme> read(const json *besides)
    {
        const std::string method = m_reader.text({"quant_method"});
        static constexpr std::array<std::pair<std::string_view, void (SchemeReader::*)()>, 9> methods{{
            {"fp8", &SchemeReader::readFp8},
            {"gptq", &SchemeReader::readGptq},
            {"awq", &SchemeReader::readAwq},
            {"auto-round", &SchemeReader::readAutoRound},
            {"compressed-tensors", &SchemeReader::readCompressedTensors},
            {"modelopt", &SchemeReader::readModelOpt},
            {"mxfp4", &SchemeReader::readMxfp4},
            {"bitsandbytes", &SchemeReader::readBitsandbytes},
            {"mlx", &SchemeReader::readMlx},
        }};
        std::string_view wanted = method == "auto_round" ? "auto-round"
                                  : method == "modelopt_fp4" || m_reader.has("quant_algo")
                                      ? "modelopt"
                                      : std::string_view(method);
        if (method.empty() && !m_reader.has("quant_algo"))
            wanted = m_reader.has("w_bit")                                ? "awq"
                     : m_reader.has("group_size") && m_reader.has("bits") ? "mlx"
                                                                          : "";
        for (const auto &[name, read] : methods) {
            if (name != wanted)
                continue;
            m_out.method = name;
            (this->*read)();
            for (const char *key : {"modules_to_not_convert", "ignore", "exclude_modules",
                                    "llm_int8_skip_modules", "ignored_layers"}) {
                exclude(m_json, key);
                if (besides != nullptr)
                    exclude(*besides, key);
            }
            if (m_tooMany)
                return fail("quant.too-many-patterns", ErrorKind::Unreadable, std::string(name));
            if (m_unknown.empty() && m_reader.problem().empty())
                return std::move(m_out);
            break;
        }
        const std::string what = !m_unknown.empty() ? m_unknown
                                 : method.empty()   ? std::string("unknown")
                                                    : method;
        return fail("quant.declared-unknown", ErrorKind::Unreadable, printable(what, 80));
    }

private:
    void exclude(const json &place, const char *key)
    {
        const auto list = place.find(key);
        if (list == place.end() || !list->is_array())
            return;
        for (const json &name : *list) {
            if (name.is_string() && !m_out.excluded.add(name.get_ref<const std::string &>()))
                m_tooMany = true;
        }
    }

    void name(std::string_view module, std::optional<LinearScheme> scheme)
    {
        // The same few schemes are named again and again.
        std::size_t index = 0;
        while (index < m_out.schemes.size() && m_out.schemes[index] != scheme)
            ++index;
        if (index == m_out.schemes.size())
            m_out.schemes.push_back(std::move(scheme));
        if (!m_out.named.add(module, index) || m_out.schemes.size() > 256)
            m_tooMany = true;
    }

    unsigned bitsOf(ConfigReader &reader, unsigned fallback)
    {
        const auto bits = reader.number({"bits", "w_bit", "num_bits"}, 64).value_or(fallback);
        if (bits < 2 || bits > 8)
            m_unknown = std::to_string(bits) + " bit";
        return static_cast<unsigned>(bits);
    }

    /// -1 and null mean the whole row.
    static std::uint64_t groupOf(const json &object, const char *key, std::uint64_t fallback)
    {
        const auto found = object.find(key);
        if (found == object.end())
            return fallback;
        return ConfigReader::scalar(*found, ConfigReader::maxDimension).value_or(0);
    }

    LinearScheme integers(Layout layout)
    {
        LinearScheme scheme;
        scheme.layout = layout;
        scheme.bits = bitsOf(m_reader, 4);
        scheme.groupSize =
            groupOf(m_json, m_json.contains("q_group_size") ? "q_group_size" : "group_size", 128);
        return scheme;
    }

    void readFp8()
    {
        LinearScheme scheme = *layoutOf("fp8", m_architecture);
        const json *block = m_reader.array("weight_block_size");
        if (block != nullptr && block->size() == 2) {
            scheme.blockRows = ConfigReader::scalar((*block)[0], ConfigReader::maxDimension).value_or(0);
            scheme.blockColumns = ConfigReader::scalar((*block)[1], ConfigReader::maxDimension).value_or(0);
            if (scheme.blockRows == 0 || scheme.blockColumns == 0)
                m_unknown = "weight_block_size";
        } else {
            scheme.layout = Layout::Fp8Tensor;
            scheme.scaleDtype.clear();
        }
        if (m_reader.text({"expert_dtype"}) == "fp4")
            m_out.experts = layoutOf("mxfp4", m_architecture);
        m_out.ordinary = scheme;
        m_out.drafts = true;
    }

    void readGptq()
    {
        LinearScheme scheme = integers(Layout::Gptq);
        scheme.groupIndex = true;
        m_out.ordinary = scheme;
        m_out.heads = m_reader.flag("lm_head").value_or(false);
        const json *rules = m_reader.object("dynamic");
        if (rules == nullptr)
            return;
        for (const auto &[pattern, values] : rules->items()) {
            const bool leaves = pattern.starts_with("-:");
            if (pattern.size() < 3 || !values.is_object())
                continue;
            std::optional<LinearScheme> special;
            if (!leaves) {
                ConfigReader reader(values);
                special = scheme;
                special->bits = bitsOf(reader, scheme.bits);
                special->groupSize = groupOf(values, "group_size", scheme.groupSize);
            }
            name("re:" + (pattern[1] == ':' ? pattern.substr(2) : pattern), special);
        }
    }

    void readAwq() { m_out.ordinary = integers(Layout::Awq); }

    void readAutoRound()
    {
        const std::string packing = m_reader.text({"packing_format"});
        const bool awq = packing.find("awq") != std::string::npos;
        const bool compressed = packing.find("llm_compressor") != std::string::npos;
        LinearScheme scheme = integers(awq ? Layout::Awq : compressed ? Layout::PackedInt : Layout::Gptq);
        m_out.ordinary = scheme;
        std::string blocks = m_reader.text({"block_name_to_quantize", "to_quant_block_names"});
        for (std::size_t start = 0; start < blocks.size();) {
            const std::size_t comma = std::min(blocks.find(',', start), blocks.size());
            if (!m_out.blocks.add(blocks.substr(start, comma - start)))
                m_tooMany = true;
            start = comma + 1;
        }
        const json *special = m_reader.object("extra_config");
        if (special == nullptr)
            return;
        for (const auto &[module, values] : special->items()) {
            if (!values.is_object())
                continue;
            ConfigReader reader(values);
            if (reader.number({"bits"}, 64).value_or(scheme.bits) >= 16) {
                name(module, std::nullopt);
                continue;
            }
            LinearScheme other = scheme;
            other.bits = bitsOf(reader, scheme.bits);
            other.groupSize = groupOf(values, "group_size", scheme.groupSize);
            name(module, other);
        }
    }

    /// The weights of a group of compressed-tensors, or of ModelOpt in the same form.
    std::optional<LinearScheme> groupScheme(const json &group, const std::string &format, bool modelopt)
    {
        const auto found = group.find("weights");
        if (found == group.end() || !found->is_object())
            return std::nullopt;
        const json &weights = *found;
        ConfigReader reader(weights);
        LinearScheme scheme;
        const std::string strategy = reader.text({"strategy"});
        const std::string type = reader.text({"type"});
        scheme.bits = bitsOf(reader, 8);
        scheme.groupSize = groupOf(weights, "group_size", 0);
        if (type == "float" && scheme.bits == 4) {
            const bool shared = scheme.groupSize == 32 || format.find("mxfp4") != std::string::npos;
            scheme.layout = shared ? Layout::Mxfp4 : modelopt ? Layout::Nvfp4 : Layout::Nvfp4Packed;
        } else if (type == "float" && scheme.bits == 8) {
            if (format.find("mxfp8") != std::string::npos || scheme.groupSize == 32) {
                scheme.layout = Layout::Mxfp8;
            } else if (const json *block = reader.array("block_structure");
                       block != nullptr && block->size() == 2) {
                scheme.layout = Layout::Fp8Block;
                scheme.blockRows = ConfigReader::scalar((*block)[0], ConfigReader::maxDimension).value_or(0);
                scheme.blockColumns =
                    ConfigReader::scalar((*block)[1], ConfigReader::maxDimension).value_or(0);
            } else {
                scheme.layout = strategy == "channel" ? Layout::Fp8Channel : Layout::Fp8Tensor;
            }
            if (modelopt)
                scheme.scaleDtype = "F32";
            // GLM-4.5-FP8 keeps F32 scales; others have those of the model.
            else if (m_architecture.starts_with("Glm4Moe"))
                scheme.scaleDtype = "F32";
        } else if (type == "int" && format.find("pack") == std::string::npos && scheme.bits == 8) {
            scheme.layout = Layout::Int8;
        } else if (type == "int") {
            scheme.layout = Layout::PackedInt;
            scheme.zeroPoints = !reader.flag("symmetric").value_or(true);
            if (m_architecture.starts_with("Deepseek") || m_architecture.starts_with("Kimi"))
                scheme.shapeDtype = "I32"; // Kimi-K2-Thinking and later
        } else {
            m_unknown = type.empty() ? std::string("weights") : type;
        }
        return scheme;
    }

    void readGroups(bool modelopt)
    {
        const json *groups = m_reader.object("config_groups");
        if (groups == nullptr)
            return;
        const std::string format = m_reader.text({"format"});
        for (const auto &[id, group] : groups->items()) {
            if (!group.is_object())
                continue;
            const std::string own = ConfigReader(group).text({"format"});
            const auto scheme = groupScheme(group, own.empty() ? format : own, modelopt);
            const auto targets = group.find("targets");
            if (!scheme || targets == group.end() || !targets->is_array()) {
                if (scheme && !m_out.ordinary)
                    m_out.ordinary = scheme;
                continue;
            }
            for (const json &target : *targets) {
                if (!target.is_string())
                    continue;
                const auto &text = target.get_ref<const std::string &>();
                if (text == "Linear")
                    m_out.ordinary = scheme;
                else
                    name(text, scheme);
            }
        }
    }

    void readCompressedTensors()
    {
        readGroups(false);
        if (!m_out.ordinary && m_out.named.empty())
            m_unknown = "compressed-tensors";
        m_out.heads = true;
        m_out.drafts = true;
    }

    std::optional<LinearScheme> algorithm(const std::string &algorithm, std::uint64_t group)
    {
        LinearScheme scheme;
        scheme.scaleDtype = "F32";
        if (algorithm == "FP8") {
            scheme.layout = Layout::Fp8Tensor;
        } else if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") {
            scheme.layout = Layout::Fp8Channel;
        } else if (algorithm == "FP8_PB_WO") {
            scheme.layout = Layout::Fp8Block;
        } else if (algorithm == "NVFP4" || algorithm == "W4A16_NVFP4" || algorithm == "NVFP4_AWQ") {
            scheme.layout = Layout::Nvfp4;
        } else if (algorithm == "MXFP8") {
            scheme.layout = Layout::Mxfp8;
        } else if (algorithm == "MXFP4" || algorithm == "W4A8_MXFP4_FP8") {
            scheme.layout = Layout::Mxfp4;
        } else if (algorithm == "W4A16_AWQ" || algorithm == "W4A8_AWQ") {
            scheme.layout = Layout::PackedInt;
            scheme.groupSize = group == 0 ? 128 : group;
            scheme.scaleDtype.clear();
        } else if (algorithm == "INT8_SQ" || algorithm == "W8A8_SQ_PER_CHANNEL") {
            scheme.layout = Layout::Int8;
        } else {
            m_unknown = algorithm.empty() ? std::string("modelopt") : algorithm;
            return std::nullopt;
        }
        return scheme;
    }

    void readModelOpt()
    {
        const std::string whole = m_reader.text({"quant_algo"});
        if (whole != "MIXED_PRECISION")
            m_out.ordinary = algorithm(whole, groupOf(m_json, "group_size", 0));
        const json *layers = m_reader.object("quantized_layers");
        if (layers == nullptr) {
            if (!m_out.ordinary)
                readGroups(true);
            if (!m_out.ordinary && m_out.named.empty() && m_unknown.empty())
                m_unknown = whole;
            return;
        }
        for (const auto &[module, values] : layers->items()) {
            if (values.is_object())
                name(module,
                     algorithm(ConfigReader(values).text({"quant_algo"}), groupOf(values, "group_size", 0)));
        }
    }

    void readMxfp4()
    {
        m_out.ordinary = layoutOf("mxfp4", m_architecture);
        m_out.onlyExperts = true;
    }

    void readBitsandbytes()
    {
        LinearScheme scheme;
        scheme.layout = m_reader.flag("load_in_8bit").value_or(m_reader.flag("_load_in_8bit").value_or(false))
                            ? Layout::Bnb8
                            : Layout::Bnb4;
        scheme.nestedScales = m_reader.flag("bnb_4bit_use_double_quant").value_or(false);
        m_out.ordinary = scheme;
    }

    std::optional<LinearScheme> mlxScheme(const json &values, const LinearScheme &fallback)
    {
        ConfigReader reader(values);
        LinearScheme scheme = fallback;
        scheme.bits = bitsOf(reader, fallback.bits);
        scheme.groupSize = groupOf(values, "group_size", fallback.groupSize);
        const std::string mode = reader.text({"mode"});
        if (!mode.empty())
            scheme.layout = mode == "affine" ? Layout::Mlx : Layout::MlxFloat;
        return scheme;
    }

    void readMlx()
    {
        LinearScheme base;
        base.layout = Layout::Mlx;
        base.groupSize = 64;
        m_out.ordinary = mlxScheme(m_json, base);
        m_out.heads = m_out.tables = true;
        for (const auto &[module, values] : m_json.items()) {
            if (values.is_object())
                name(module, mlxScheme(values, *m_out.ordinary));
            else if (values.is_boolean() && !values.get<bool>())
                name(module, std::nullopt);
        }
    }

    const json &m_json;
    ConfigReader m_reader;
    std::string_view m_architecture;
    DeclaredScheme m_out;
    std::string m_unknown;
    bool m_tooMany = false;
};

} // namespace

Result<DeclaredScheme> readDeclaredScheme(const json &config, const json *quantConfig,
                                          std::string_view architecture)
{
    const json *declared = declaration(config, quantConfig);
    if (declared == nullptr)
        return DeclaredScheme{};
    const json *besides = nullptr;
    if (quantConfig != nullptr && quantConfig->is_object()) {
        const auto inner = quantConfig->find("quantization");
        besides = inner != quantConfig->end() && inner->is_object() ? &*inner : quantConfig;
    }
    return SchemeReader(*declared, architecture).read(besides == declared ? nullptr : besides);
}

} // namespace weir

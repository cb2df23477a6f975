// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/ggufconfig.h"

#include "models/base/units.h"
#include "models/checkpoint/otherkind.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace weir {

namespace {

constexpr std::uint64_t maxLayers = 4096;
constexpr std::uint64_t maxDimension = 1U << 20U;
constexpr std::uint64_t maxTokens = 1'000'000'000;

/// Bounded access to the keys of one architecture.
class Keys
{
public:
    Keys(const GgufHeader &header, std::string architecture)
        : m_header(&header)
        , m_architecture(std::move(architecture))
    {}

    const GgufValue *find(std::string_view key) const
    {
        const auto found = m_header->metadata.find(m_architecture + "." + std::string(key));
        return found == m_header->metadata.end() ? nullptr : &found->second;
    }
    bool has(std::string_view key) const { return find(key) != nullptr; }

    /// A number; of a per-layer array the largest.
    std::optional<std::uint64_t> number(std::string_view key, std::uint64_t limit = maxDimension)
    {
        const GgufValue *value = find(key);
        if (value == nullptr)
            return std::nullopt;
        std::optional<std::uint64_t> result;
        if (const auto *numbers = std::get_if<GgufNumbers>(value)) {
            result = 0;
            for (const double each : *numbers) {
                const auto one = whole(each, limit);
                if (!one) {
                    result.reset();
                    break;
                }
                result = std::max(*result, *one);
            }
        } else {
            result = scalar(*value, limit);
        }
        if (!result && m_problem.empty())
            m_problem = m_architecture + "." + std::string(key);
        return result;
    }
    std::uint64_t numberOr(std::string_view key, std::uint64_t fallback)
    {
        return number(key).value_or(fallback);
    }

    /// The value of one layer of a key that is a scalar or an array of one a layer.
    std::optional<std::uint64_t> ofLayer(std::string_view key, std::size_t layer)
    {
        const GgufValue *value = find(key);
        if (value == nullptr)
            return std::nullopt;
        const auto *numbers = std::get_if<GgufNumbers>(value);
        if (numbers == nullptr)
            return number(key);
        if (layer >= numbers->size())
            return std::nullopt;
        const auto one = whole((*numbers)[layer], maxDimension);
        if (!one && m_problem.empty())
            m_problem = m_architecture + "." + std::string(key);
        return one;
    }

    const std::string &problem() const { return m_problem; }

private:
    static std::optional<std::uint64_t> whole(double value, std::uint64_t limit)
    {
        if (!(value >= 0) || value > static_cast<double>(limit) || value != std::floor(value))
            return std::nullopt;
        return static_cast<std::uint64_t>(value);
    }
    static std::optional<std::uint64_t> scalar(const GgufValue &value, std::uint64_t limit)
    {
        if (const auto *u = std::get_if<std::uint64_t>(&value))
            return *u <= limit ? std::optional(*u) : std::nullopt;
        if (const auto *i = std::get_if<std::int64_t>(&value))
            return *i >= 0 && static_cast<std::uint64_t>(*i) <= limit
                       ? std::optional(static_cast<std::uint64_t>(*i))
                       : std::nullopt;
        if (const auto *d = std::get_if<double>(&value))
            return whole(*d, limit);
        return std::nullopt;
    }

    const GgufHeader *m_header;
    std::string m_architecture;
    std::string m_problem;
};

std::string textOf(const GgufHeader &header, std::string_view key)
{
    const auto found = header.metadata.find(key);
    const auto *text = found == header.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
    return text == nullptr ? std::string() : *text;
}

std::uint64_t generalNumber(const GgufHeader &header, std::string_view key)
{
    const auto found = header.metadata.find(key);
    if (found == header.metadata.end())
        return 0;
    if (const auto *u = std::get_if<std::uint64_t>(&found->second))
        return *u;
    if (const auto *i = std::get_if<std::int64_t>(&found->second))
        return *i > 0 ? static_cast<std::uint64_t>(*i) : 0;
    return 0;
}

/// "every n-th layer sees everything" where the file does not say (llama.cpp src/models/*.cpp).
std::uint64_t defaultWindowPattern(std::string_view architecture)
{
    static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 9> table{{{"gpt-oss", 2},
                                                                                      {"gemma2", 2},
                                                                                      {"gemma3", 6},
                                                                                      {"gemma3n", 5},
                                                                                      {"gemma4", 6},
                                                                                      {"llama4", 4},
                                                                                      {"cohere2", 4},
                                                                                      {"exaone4", 4},
                                                                                      {"olmo2", 4}}};
    for (const auto &[name, every] : table) {
        if (name == architecture)
            return every;
    }
    return 1;
}

LayerKind recurrentKind(std::string_view architecture, const Keys &keys)
{
    if (keys.has("kda.head_dim"))
        return LayerKind::Kda;
    if (keys.has("shortconv.l_cache"))
        return LayerKind::ShortConvolution;
    if (architecture.starts_with("qwen3next") || architecture.starts_with("qwen35"))
        return LayerKind::GatedDeltaNet;
    return LayerKind::Mamba;
}

std::vector<LayerKind> layerKinds(Keys &keys, std::string_view architecture, std::size_t layers)
{
    const LayerKind full = keys.has("attention.kv_lora_rank") ? LayerKind::Mla : LayerKind::Attention;
    std::vector<LayerKind> kinds(layers, full);
    const LayerKind recurrent = recurrentKind(architecture, keys);

    const auto *listed = keys.find("attention.recurrent_layers");
    const auto *flags = listed == nullptr ? nullptr : std::get_if<GgufNumbers>(listed);
    const bool interval = recurrent == LayerKind::GatedDeltaNet;
    const std::uint64_t every = std::max<std::uint64_t>(1, keys.numberOr("full_attention_interval", 4));
    const bool hasWindow = keys.numberOr("attention.sliding_window", 0) > 0;
    const auto *pattern = keys.find("attention.sliding_window_pattern");
    const auto *patternFlags = pattern == nullptr ? nullptr : std::get_if<GgufNumbers>(pattern);
    const std::uint64_t fullEvery =
        pattern != nullptr && patternFlags == nullptr
            ? std::max<std::uint64_t>(1, keys.numberOr("attention.sliding_window_pattern", 1))
            : defaultWindowPattern(architecture);

    for (std::size_t i = 0; i < layers; ++i) {
        if (flags != nullptr && i < flags->size()) {
            if ((*flags)[i] != 0)
                kinds[i] = recurrent;
        } else if (interval) {
            if ((i + 1) % every != 0)
                kinds[i] = recurrent;
        } else if (keys.ofLayer("attention.head_count_kv", i) == std::optional<std::uint64_t>(0)) {
            // No attention: a feed-forward layer where one has a width of its own (Nemotron-H).
            const auto *widths = keys.find("feed_forward_length");
            const bool perLayer = widths != nullptr && std::holds_alternative<GgufNumbers>(*widths)
                                  && (keys.has("ssm.inner_size"));
            kinds[i] = perLayer && keys.ofLayer("feed_forward_length", i).value_or(0) > 0
                           ? LayerKind::FeedForward
                           : recurrent;
        }
        if (kinds[i] == LayerKind::Attention && hasWindow) {
            const bool windowed = patternFlags != nullptr && i < patternFlags->size()
                                      ? (*patternFlags)[i] != 0
                                      : fullEvery > 1 && (i + 1) % fullEvery != 0;
            if (windowed)
                kinds[i] = LayerKind::SlidingAttention;
        }
    }
    return kinds;
}

void readAttention(Keys &keys, ModelConfig &out)
{
    const std::uint64_t heads = keys.numberOr("attention.head_count", 0);
    const std::uint64_t fallback = heads > 0 ? out.spec.hiddenSize / heads : 0;
    const std::uint64_t keyLength = keys.numberOr("attention.key_length", fallback);
    const std::uint64_t valueLength = keys.numberOr("attention.value_length", fallback);
    const auto window = keys.number("attention.sliding_window", maxTokens);
    const std::uint64_t sharing = keys.numberOr("attention.shared_kv_layers", 0);

    for (std::size_t i = 0; i < out.layerKinds.size(); ++i) {
        AttentionLayers run;
        run.kind = out.layerKinds[i];
        if (sharing > 0 && i + sharing >= out.layerKinds.size())
            continue;
        if (run.kind == LayerKind::Mla) {
            run.kElementsPerToken =
                keys.numberOr("attention.kv_lora_rank", 0) + keys.numberOr("rope.dimension_count", 0);
            run.indexerElementsPerToken = keys.numberOr("attention.indexer.key_length", 0);
            run.topK = keys.number("attention.indexer.top_k", maxTokens);
        } else if (run.kind == LayerKind::Attention || run.kind == LayerKind::SlidingAttention) {
            const bool sliding = run.kind == LayerKind::SlidingAttention;
            const std::uint64_t kvHeads = keys.ofLayer("attention.head_count_kv", i).value_or(heads);
            const std::uint64_t key =
                sliding ? keys.numberOr("attention.key_length_swa", keyLength) : keyLength;
            const std::uint64_t value =
                sliding ? keys.numberOr("attention.value_length_swa", valueLength) : valueLength;
            run.kvHeads = static_cast<std::uint32_t>(kvHeads);
            run.kElementsPerToken = kvHeads * key;
            run.vElementsPerToken = kvHeads * value;
            if (sliding)
                run.window = window;
        } else {
            continue;
        }
        auto &runs = out.spec.attention;
        const auto same = std::find_if(runs.begin(), runs.end(), [&run](const AttentionLayers &other) {
            return other.kind == run.kind && other.kElementsPerToken == run.kElementsPerToken
                   && other.vElementsPerToken == run.vElementsPerToken && other.window == run.window;
        });
        AttentionLayers &target = same == runs.end() ? runs.emplace_back(run) : *same;
        ++target.layers;
    }
}

void readState(Keys &keys, ModelConfig &out)
{
    for (const LayerKind kind :
         {LayerKind::GatedDeltaNet, LayerKind::Kda, LayerKind::Mamba, LayerKind::ShortConvolution}) {
        // In Falcon-H1 every layer attends and keeps a state as well.
        const bool parallel = kind == LayerKind::Mamba && out.spec.architecture == "falcon-h1";
        const auto layers =
            parallel
                ? out.spec.layers
                : static_cast<std::uint32_t>(std::count(out.layerKinds.begin(), out.layerKinds.end(), kind));
        if (layers == 0)
            continue;
        StateLayers state;
        state.kind = kind;
        state.layers = layers;
        const std::uint64_t kernel = std::max<std::uint64_t>(1, keys.numberOr("ssm.conv_kernel", 4));
        const std::uint64_t inner = keys.numberOr("ssm.inner_size", 0);
        const std::uint64_t size = keys.numberOr("ssm.state_size", 0);
        const std::uint64_t groups = keys.numberOr("ssm.group_count", 0);
        if (kind == LayerKind::ShortConvolution) {
            const std::uint64_t cache = std::max<std::uint64_t>(1, keys.numberOr("shortconv.l_cache", 3));
            state.convolutionElements = out.spec.hiddenSize * (cache - 1);
        } else if (kind == LayerKind::Kda) {
            const std::uint64_t headDim = keys.numberOr("kda.head_dim", 0);
            const std::uint64_t heads = keys.numberOr("attention.head_count", 0);
            state.convolutionElements = 3 * heads * headDim * (kernel - 1);
            state.recurrentElements = heads * headDim * headDim;
        } else {
            // Mamba-2 and gated DeltaNet under the same keys: groups are key heads, inner = heads x value dim.
            state.convolutionElements = (inner + 2 * groups * size) * (kernel - 1);
            state.recurrentElements = inner * size;
        }
        out.spec.state.push_back(state);
        out.spec.stateDtype = "F32";
    }
}

} // namespace

GgufSplit ggufSplit(const GgufHeader &header)
{
    GgufSplit split;
    split.count = std::max<std::uint64_t>(1, generalNumber(header, "split.count"));
    split.number = generalNumber(header, "split.no");
    split.tensors = generalNumber(header, "split.tensors.count");
    return split;
}

std::string ggufMixName(const GgufHeader &header)
{
    static constexpr std::array<std::pair<std::uint64_t, std::string_view>, 36> names{{
        {0, "F32"},     {1, "F16"},     {2, "Q4_0"},     {3, "Q4_1"},    {7, "Q8_0"},     {8, "Q5_0"},
        {9, "Q5_1"},    {10, "Q2_K"},   {11, "Q3_K_S"},  {12, "Q3_K_M"}, {13, "Q3_K_L"},  {14, "Q4_K_S"},
        {15, "Q4_K_M"}, {16, "Q5_K_S"}, {17, "Q5_K_M"},  {18, "Q6_K"},   {19, "IQ2_XXS"}, {20, "IQ2_XS"},
        {21, "Q2_K_S"}, {22, "IQ3_XS"}, {23, "IQ3_XXS"}, {24, "IQ1_S"},  {25, "IQ4_NL"},  {26, "IQ3_S"},
        {27, "IQ3_M"},  {28, "IQ2_S"},  {29, "IQ2_M"},   {30, "IQ4_XS"}, {31, "IQ1_M"},   {32, "BF16"},
        {36, "TQ1_0"},  {37, "TQ2_0"},  {38, "MXFP4"},   {39, "NVFP4"},  {40, "Q1_0"},    {41, "Q2_0"},
    }};
    if (!header.metadata.contains("general.file_type"))
        return {};
    const std::uint64_t type = generalNumber(header, "general.file_type") & ~std::uint64_t{1024};
    for (const auto &[id, name] : names) {
        if (id == type)
            return std::string(name);
    }
    return {};
}

Result<ModelConfig> readGgufConfig(const GgufHeader &header, const std::string &subject)
{
    const std::string architecture = textOf(header, "general.architecture");
    if (const std::string_view kind = otherKindOfGguf(header, architecture); !kind.empty()) {
        const bool bare = kind == "adapter" || kind == "imatrix" || architecture.empty();
        return fail("gguf.not-language-model", ErrorKind::NotLanguageModel, subject,
                    {{"architecture", printable(bare ? kind : std::string_view(architecture), 80)},
                     {"kind", std::string(kind)}});
    }
    if (architecture.empty())
        return fail("gguf.no-architecture", ErrorKind::Unreadable, subject);

    ModelConfig out;
    Keys keys(header, architecture);
    ModelSpec &spec = out.spec;
    spec.architecture = printable(architecture, 80);
    const auto blocks = keys.number("block_count", maxLayers);
    if (!blocks || *blocks == 0)
        return fail("gguf.bad-key", ErrorKind::Unreadable, subject,
                    {{"key", printable(architecture, 80) + ".block_count"}});
    out.draftLayers =
        static_cast<std::uint32_t>(std::min(keys.numberOr("nextn_predict_layers", 0), *blocks - 1));
    spec.layers = static_cast<std::uint32_t>(*blocks) - out.draftLayers;
    spec.hiddenSize = keys.numberOr("embedding_length", 0);
    spec.maxContextTokens = keys.number("context_length", maxTokens).value_or(0);
    spec.vocabularySize = keys.number("vocab_size", maxTokens).value_or(0);
    if (spec.vocabularySize == 0) {
        const auto tokens = header.metadata.find("tokenizer.ggml.tokens");
        if (tokens != header.metadata.end()) {
            if (const auto *count = std::get_if<GgufTextCount>(&tokens->second))
                spec.vocabularySize = count->count;
        }
    }
    spec.experts = static_cast<std::uint32_t>(keys.number("expert_count", 1'000'000).value_or(0));
    spec.expertsPerToken =
        static_cast<std::uint32_t>(keys.number("expert_used_count", 1'000'000).value_or(0));
    if (spec.experts <= 1) {
        spec.experts = 0;
        spec.expertsPerToken = 0;
    }
    if (spec.experts > 0 && (spec.expertsPerToken == 0 || spec.expertsPerToken > spec.experts)) {
        return fail(
            "config.bad-experts", ErrorKind::Unreadable, subject,
            {{"experts", std::uint64_t{spec.experts}}, {"active", std::uint64_t{spec.expertsPerToken}}});
    }
    spec.dtype = "F16";
    out.layerKinds = layerKinds(keys, architecture, spec.layers);
    readAttention(keys, out);
    readState(keys, out);
    if (!keys.problem().empty())
        return fail("gguf.bad-key", ErrorKind::Unreadable, subject, {{"key", printable(keys.problem())}});
    return out;
}

} // namespace weir

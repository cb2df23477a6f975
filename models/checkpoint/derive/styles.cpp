// SPDX-License-Identifier: GPL-3.0-or-later
//
// The table of ordinary decoders: every layer has attention and a feed-forward network or experts. A new
// architecture of this kind is a line here, and one in defaults.cpp.
#include "models/checkpoint/derive/decoders.h"

#include <algorithm>
#include <array>
#include <span>

namespace weir::derive {

namespace {

/// Which layers have experts.
enum class Sparse : std::uint8_t {
    All,
    AfterDense, ///< all from `first_k_dense_replace` on, or as `mlp_layer_types` says
    AfterFirst, ///< all but the first, or as `mlp_layer_types` says
    Steps,      ///< every `decoder_sparse_step`-th that `mlp_only_layers` does not name
    Interval,   ///< Ernie: every `moe_layer_interval`-th between two indexes
    Listed,     ///< Llama 4: `moe_layers`, or every `interleave_moe_layer_step`-th
};

/// What runs for every token beside the routed experts.
enum class Shared : std::uint8_t {
    None,
    Gated,    ///< `shared_expert` of its own width, with a gate
    Multiple, ///< `shared_experts`: so many times the width of a routed expert
    Same,     ///< `shared_expert` as wide as a routed one
    Hunyuan,  ///< `shared_mlp`
};

struct MoeStyle
{
    Experts layout = Experts::Single;
    std::string_view module = "mlp";
    std::string_view router = "gate";
    const char *inner = "moe_intermediate_size";
    std::string_view correction = {}; ///< parameter that corrects the routing, below the module
    Sparse sparse = Sparse::All;
    Shared shared = Shared::None;
    std::string_view routerDtype = {};
};

using Names = std::span<const std::string_view>;

struct DecoderStyle
{
    std::string_view type;
    const char *inBias = nullptr; ///< key that gives q, k, v a bias; "+" = always
    const char *outBias = nullptr;
    const char *feedBias = nullptr;
    HeadNorm headNorm = HeadNorm::None;
    Feed feed = Feed::Gated;
    Names norms;
    bool normBias = false;
    const MoeStyle *moe = nullptr;
    bool latent = false;
    bool indexed = false;
    bool draft = false; ///< draft layers follow the decoder's, as DeepSeek publishes them
};

constexpr std::string_view twoNorms[] = {"input_layernorm", "post_attention_layernorm"};
constexpr std::string_view oneNorm[] = {"input_layernorm"};
constexpr std::string_view afterNorms[] = {"post_attention_layernorm", "post_feedforward_layernorm"};
constexpr std::string_view gemmaNorms[] = {"input_layernorm", "post_attention_layernorm",
                                           "pre_feedforward_layernorm", "post_feedforward_layernorm"};
constexpr std::string_view glmNorms[] = {"input_layernorm", "post_attention_layernorm",
                                         "post_self_attn_layernorm", "post_mlp_layernorm"};
constexpr std::string_view apertusNorms[] = {"attention_layernorm", "feedforward_layernorm"};

constexpr const char *always = "+";
constexpr const char *bias = "attention_bias";
constexpr std::string_view correction = "gate.e_score_correction_bias";

constexpr MoeStyle mixtralMoe{Experts::Lettered, "block_sparse_moe", "gate", "intermediate_size"};
constexpr MoeStyle qwen2Moe{.sparse = Sparse::Steps, .shared = Shared::Gated};
constexpr MoeStyle qwen3Moe{.sparse = Sparse::Steps};
constexpr MoeStyle qwen3VlMoe{.layout = Experts::Turned, .sparse = Sparse::Steps};
constexpr MoeStyle olmoMoe{.inner = "intermediate_size"};
constexpr MoeStyle deepseekV2Moe{.sparse = Sparse::AfterDense, .shared = Shared::Multiple};
constexpr MoeStyle deepseekMoe{
    .correction = correction, .sparse = Sparse::AfterDense, .shared = Shared::Multiple};
constexpr MoeStyle glmLiteMoe{
    .correction = correction, .sparse = Sparse::AfterFirst, .shared = Shared::Multiple};
constexpr MoeStyle exaoneMoe{
    .correction = "e_score_correction_bias", .sparse = Sparse::AfterDense, .shared = Shared::Multiple};
constexpr MoeStyle solarMoe{.correction = correction, .shared = Shared::Multiple};
constexpr MoeStyle miniMaxMoe{.layout = Experts::Lettered,
                              .module = "block_sparse_moe",
                              .inner = "intermediate_size",
                              .correction = "e_score_correction_bias",
                              .routerDtype = "F32"};
constexpr MoeStyle gptOssMoe{
    .layout = Experts::Turned, .module = "mlp", .router = "router", .inner = "intermediate_size"};
constexpr MoeStyle llama4Moe{.layout = Experts::Turned,
                             .module = "feed_forward",
                             .router = "router",
                             .inner = "intermediate_size",
                             .sparse = Sparse::Listed,
                             .shared = Shared::Same};
constexpr MoeStyle ernieMoe{.correction = "moe_statics.e_score_correction_bias",
                            .sparse = Sparse::Interval,
                            .shared = Shared::Multiple,
                            .routerDtype = "F32"};
constexpr MoeStyle hunyuanMoe{
    .router = "gate.wg", .inner = "intermediate_size", .shared = Shared::Hunyuan, .routerDtype = "F32"};

using enum HeadNorm;

constexpr DecoderStyle styles[] = {
    {"llama", bias, bias, "mlp_bias", None, Feed::Gated, twoNorms},
    {"mistral", nullptr, nullptr, nullptr, None, Feed::Gated, twoNorms},
    {"ministral", nullptr, nullptr, nullptr, None, Feed::Gated, twoNorms},
    {"ministral3", nullptr, nullptr, nullptr, None, Feed::Gated, twoNorms},
    {"qwen2", always, nullptr, nullptr, None, Feed::Gated, twoNorms},
    {"qwen2_vl_text", always, nullptr, nullptr, None, Feed::Gated, twoNorms},
    {"qwen2_5_vl_text", always, nullptr, nullptr, None, Feed::Gated, twoNorms},
    {"qwen3", bias, bias, nullptr, Head, Feed::Gated, twoNorms},
    {"qwen3_vl_text", bias, bias, nullptr, Head, Feed::Gated, twoNorms},
    {"gemma", bias, bias, nullptr, None, Feed::Gated, twoNorms},
    {"gemma2", bias, bias, nullptr, None, Feed::Gated, gemmaNorms},
    {"gemma3_text", bias, bias, nullptr, Head, Feed::Gated, gemmaNorms},
    {"glm", bias, nullptr, nullptr, None, Feed::FusedGated, twoNorms},
    {"glm4", bias, nullptr, nullptr, None, Feed::FusedGated, glmNorms},
    {"glm4v_text", always, nullptr, nullptr, None, Feed::FusedGated, glmNorms},
    {"granite", bias, bias, "mlp_bias", None, Feed::Gated, twoNorms},
    {"olmo", bias, bias, nullptr, None, Feed::Gated, {}},
    {"olmo2", bias, bias, nullptr, Whole, Feed::Gated, afterNorms},
    {"olmo3", bias, bias, nullptr, Whole, Feed::Gated, afterNorms},
    {"phi3", nullptr, nullptr, nullptr, None, Feed::FusedGated, twoNorms},
    {"seed_oss", bias, "attention_out_bias", "mlp_bias", None, Feed::Gated, twoNorms},
    {"ernie4_5", "use_bias", "use_bias", "use_bias", None, Feed::Gated, twoNorms},
    {"smollm3", bias, bias, "mlp_bias", None, Feed::Gated, twoNorms},
    {"cohere", bias, bias, nullptr, PerHead, Feed::Gated, oneNorm},
    {"cohere2", bias, bias, nullptr, None, Feed::Gated, oneNorm},
    {"starcoder2", "use_bias", "use_bias", "use_bias", None, Feed::Convolved, twoNorms, true},
    {"exaone4", nullptr, nullptr, nullptr, Head, Feed::Gated, afterNorms},
    {"stablelm", "use_qkv_bias", nullptr, nullptr, Listed, Feed::Gated, twoNorms, true},
    {"arcee", bias, bias, "mlp_bias", None, Feed::Plain, twoNorms},
    {"apertus", bias, bias, nullptr, Head, Feed::Plain, apertusNorms},
    {"nemotron", bias, bias, "mlp_bias", None, Feed::Plain, twoNorms, true},
    {"hunyuan_v1_dense", bias, bias, nullptr, Head, Feed::Gated, twoNorms},
    // with experts
    {"mixtral", nullptr, nullptr, nullptr, None, Feed::Gated, twoNorms, false, &mixtralMoe},
    {"phimoe", bias, bias, nullptr, None, Feed::Gated, twoNorms, true, &mixtralMoe},
    {"qwen2_moe", "qkv_bias", nullptr, nullptr, None, Feed::Gated, twoNorms, false, &qwen2Moe},
    {"qwen3_moe", bias, bias, nullptr, Head, Feed::Gated, twoNorms, false, &qwen3Moe},
    {"qwen3_vl_moe_text", bias, bias, nullptr, Head, Feed::Gated, twoNorms, false, &qwen3VlMoe},
    {"olmoe", bias, bias, nullptr, Whole, Feed::Gated, twoNorms, false, &olmoMoe},
    {"flex_olmo", bias, bias, nullptr, Whole, Feed::Gated, afterNorms, false, &olmoMoe},
    {"dots1", bias, bias, nullptr, Head, Feed::Gated, twoNorms, false, &deepseekMoe},
    {"glm4_moe", bias, nullptr, nullptr, None, Feed::Gated, twoNorms, false, &deepseekMoe, false, false,
     true},
    {"glm4v_moe_text", bias, nullptr, nullptr, None, Feed::Gated, twoNorms, false, &deepseekMoe},
    {"exaone_moe", nullptr, nullptr, nullptr, Head, Feed::Gated, twoNorms, false, &exaoneMoe},
    {"solar_open", bias, nullptr, nullptr, None, Feed::Gated, twoNorms, false, &solarMoe},
    {"minimax_m2", nullptr, nullptr, nullptr, Whole, Feed::Gated, twoNorms, false, &miniMaxMoe},
    {"gpt_oss", bias, bias, nullptr, None, Feed::Gated, twoNorms, false, &gptOssMoe},
    {"llama4_text", bias, bias, nullptr, None, Feed::Gated, twoNorms, false, &llama4Moe},
    {"ernie4_5_moe", "use_bias", "use_bias", "use_bias", None, Feed::Gated, twoNorms, false, &ernieMoe},
    {"hunyuan_v1_moe", bias, bias, nullptr, Head, Feed::Gated, twoNorms, false, &hunyuanMoe},
    // with latent attention
    {"deepseek_v2", bias, bias, "mlp_bias", None, Feed::Gated, twoNorms, false, &deepseekV2Moe, true},
    {"deepseek_v3", bias, bias, nullptr, None, Feed::Gated, twoNorms, false, &deepseekMoe, true, false, true},
    {"deepseek_v32", bias, bias, nullptr, None, Feed::Gated, twoNorms, false, &deepseekMoe, true, true, true},
    {"glm4_moe_lite", bias, bias, nullptr, None, Feed::Gated, twoNorms, false, &glmLiteMoe, true, false,
     true},
    {"glm_moe_dsa", bias, bias, nullptr, None, Feed::Gated, twoNorms, false, &deepseekMoe, true, true, true},
};

const DecoderStyle *styleOf(std::string_view type)
{
    const auto *found = std::find_if(std::begin(styles), std::end(styles),
                                     [type](const DecoderStyle &style) { return style.type == type; });
    return found == std::end(styles) ? nullptr : found;
}

class StyledDecoder
{
public:
    StyledDecoder(const DecoderStyle &style, DecoderModel &model)
        : m_style(style)
        , m_model(model)
        , m_text(model.text)
    {}

    void add()
    {
        readSparseLayers();
        readIndexers();
        if (!m_style.latent)
            readAttention();
        addTables();
        for (std::size_t i = 0; i < m_model.layers; ++i)
            addLayer(m_model.layer(i), i, m_sparse[i]);
        if (m_model.draftLayers > 0)
            addDraft();
    }

private:
    bool on(const char *key) { return key != nullptr && (key == always || m_text.flag(key)); }

    void addTables()
    {
        const std::string_view type = m_style.type;
        m_model.tables("embed_tokens", type == "olmo" ? "" : "norm", m_style.normBias,
                       type == "phimoe"         ? m_text.flag("lm_head_bias")
                       : type == "ernie4_5_moe" ? m_text.flag("use_bias")
                                                : false);
    }

    void readAttention()
    {
        m_attention.heads = m_text.number("num_attention_heads");
        m_attention.kvHeads = keyValueHeads(m_text);
        m_attention.headDim = headWidth(m_text, m_model.hidden);
        m_attention.inBias = on(m_style.inBias);
        m_attention.outBias = on(m_style.outBias);
        m_attention.headNorm = m_style.headNorm;
        m_attention.fused = m_style.type == "phi3";
        m_attention.sinks = m_style.type == "gpt_oss";
        // Norms of queries and keys that a key turns on.
        if ((m_style.type == "cohere" && !m_text.flag("use_qk_norm"))
            || (m_style.type == "stablelm" && !m_text.flag("qk_layernorm")))
            m_attention.headNorm = None;
        if (m_style.type.starts_with("glm4_moe") && m_text.flag("use_qk_norm"))
            m_attention.headNorm = Head;
        if (m_style.type.starts_with("hunyuan")) {
            m_attention.queryNorm = "query_layernorm";
            m_attention.keyNorm = "key_layernorm";
        } else if (m_style.type == "stablelm") {
            m_attention.queryNorm = "q_layernorm";
            m_attention.keyNorm = "k_layernorm";
        }
    }

    void readSparseLayers()
    {
        const std::size_t layers = m_model.layers;
        m_sparse.assign(layers, false);
        if (m_style.moe == nullptr)
            return;
        const bool listed = m_style.moe->sparse == Sparse::AfterFirst || m_style.type == "deepseek_v32"
                            || m_style.type == "glm_moe_dsa" || m_style.type == "exaone_moe";
        if (listed && m_text.has("mlp_layer_types")) {
            const std::vector<std::string> types = m_text.words("mlp_layer_types", layers);
            for (std::size_t i = 0; i < types.size(); ++i)
                m_sparse[i] = types[i] == "sparse";
            return;
        }
        switch (m_style.moe->sparse) {
        case Sparse::All: m_sparse.assign(layers, true); break;
        case Sparse::AfterFirst: sparseBetween(1, layers, 1); break;
        case Sparse::AfterDense: sparseBetween(m_text.numberOr("first_k_dense_replace", 0), layers, 1); break;
        case Sparse::Interval: {
            // -1 stands for the last layer.
            const auto last = m_text.object().find("moe_layer_end_index");
            const bool open = last == m_text.object().end() || *last == -1;
            const std::uint64_t end = open ? layers : m_text.numberOr("moe_layer_end_index", 0) + 1;
            sparseBetween(m_text.numberOr("moe_layer_start_index", 0), std::min<std::uint64_t>(end, layers),
                          m_text.number("moe_layer_interval"));
            break;
        }
        case Sparse::Steps:
            if (expertCount(m_text) > 0)
                sparseBetween(0, layers, m_text.number("decoder_sparse_step"));
            for (const std::uint64_t dense :
                 m_text.numbers("mlp_only_layers", ConfigReader::maxDimension, layers)) {
                if (dense < layers)
                    m_sparse[dense] = false;
            }
            break;
        case Sparse::Listed:
            if (m_text.has("moe_layers")) {
                for (const std::uint64_t sparse :
                     m_text.numbers("moe_layers", ConfigReader::maxDimension, layers)) {
                    if (sparse < layers)
                        m_sparse[sparse] = true;
                }
            } else {
                sparseBetween(0, layers, m_text.number("interleave_moe_layer_step"));
            }
            break;
        }
    }

    /// Layers from `first` up to `end`, of which every `step`-th (counted from 1) has experts.
    void sparseBetween(std::uint64_t first, std::uint64_t end, std::uint64_t step)
    {
        for (std::uint64_t i = first; i < end; ++i)
            m_sparse[i] = (i + 1) % step == 0;
    }

    /// GLM-5: a layer may use the selection of an earlier one and has no indexer of its own then.
    void readIndexers()
    {
        const std::size_t layers = m_model.layers;
        m_indexed.assign(layers, m_style.indexed);
        if (m_style.type != "glm_moe_dsa")
            return;
        if (m_text.has("indexer_types")) {
            const std::vector<std::string> types = m_text.words("indexer_types", layers);
            for (std::size_t i = 0; i < types.size(); ++i)
                m_indexed[i] = types[i] != "shared";
        } else if (const std::string pattern = m_text.text("index_topk_pattern"); !pattern.empty()) {
            if (pattern.size() != layers) {
                m_text.complain("index_topk_pattern");
                return;
            }
            for (std::size_t i = 0; i < layers; ++i)
                m_indexed[i] = pattern[i] != 'S';
        } else if (const std::uint64_t every = m_text.numberOr("index_topk_freq", 1); every > 1) {
            const std::uint64_t offset = m_text.numberOr("index_skip_topk_offset", 2);
            for (std::size_t i = 0; i < layers; ++i)
                m_indexed[i] = (i + 1 > offset ? i + 1 - offset : 0) % every == 0;
        }
    }

    void addLayer(const Scope &scope, std::size_t number, bool sparse)
    {
        for (const std::string_view norm : m_style.norms) {
            // With a parallel residual, StableLM has one norm only.
            if (m_style.type == "stablelm" && norm == "post_attention_layernorm"
                && m_text.flag("use_parallel_residual"))
                continue;
            scope.norm(norm, m_model.hidden, m_style.normBias);
        }
        if (m_style.latent)
            latentAttention(scope.in("self_attn"), m_text, m_model.hidden,
                            m_style.indexed && (number >= m_indexed.size() || m_indexed[number]));
        else
            attention(scope.in("self_attn"), m_model.hidden, m_attention);
        if (sparse)
            addExperts(scope.in(m_style.moe->module), number);
        else
            addDense(scope.in(m_style.type == "llama4_text" ? "feed_forward" : "mlp"));
    }

    void addDense(const Scope &scope)
    {
        const char *inner = m_style.type == "llama4_text" ? "intermediate_size_mlp" : "intermediate_size";
        feedForward(scope, m_style.feed, m_model.hidden, m_text.number(inner), on(m_style.feedBias));
        // The activation of Apertus has parameters, two of them scalars.
        if (m_style.type == "apertus" && m_text.text("hidden_act") == "xielu") {
            scope.weight("act_fn.alpha_p", {1});
            scope.weight("act_fn.alpha_n", {1});
            scope.weight("act_fn.beta", {});
            scope.weight("act_fn.eps", {});
        }
    }

    void addExperts(const Scope &scope, std::size_t number)
    {
        const MoeStyle &moe = *m_style.moe;
        const std::uint64_t hidden = m_model.hidden;
        const std::uint64_t experts = m_experts.value_or(expertCount(m_text));
        m_experts = experts;
        const std::uint64_t inner =
            moe.shared == Shared::Hunyuan
                ? m_text.number(moe.inner)
                : m_text.perLayer(moe.inner, std::min(number, m_model.layers - 1), m_model.layers);
        routedExperts(scope, moe.layout, experts, hidden, inner);
        scope.weight(std::string(moe.router) + ".weight", {experts, hidden}, moe.routerDtype);
        if (moe.layout == Experts::Turned && m_style.type == "gpt_oss") {
            scope.weight("router.bias", {experts});
            scope.weight("experts.gate_up_proj_bias", {experts, 2 * inner});
            scope.weight("experts.down_proj_bias", {experts, hidden});
        }
        if (m_style.type == "ernie4_5_moe")
            scope.weight(moe.correction, {1, experts}, "F32");
        else if (!moe.correction.empty())
            scope.weight(moe.correction, {experts}, "F32");
        addShared(scope, inner);
    }

    void addShared(const Scope &scope, std::uint64_t inner)
    {
        const std::uint64_t hidden = m_model.hidden;
        switch (m_style.moe->shared) {
        case Shared::None: break;
        case Shared::Gated:
            feedForward(scope.in("shared_expert"), Feed::Gated, hidden,
                        m_text.numberOr("shared_expert_intermediate_size", 0));
            scope.linear("shared_expert_gate", 1, hidden);
            break;
        case Shared::Multiple: {
            std::uint64_t count = 0;
            for (const char *key : {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"})
                count = std::max(count, m_text.numberOr(key, 0));
            if (count > 0)
                feedForward(scope.in("shared_experts"), Feed::Gated, hidden, inner * count,
                            on(m_style.feedBias));
            break;
        }
        case Shared::Same: feedForward(scope.in("shared_expert"), Feed::Gated, hidden, inner); break;
        case Shared::Hunyuan: feedForward(scope.in("shared_mlp"), Feed::Gated, hidden, inner); break;
        }
    }

    void addDraft()
    {
        if (!m_style.draft) {
            m_model.draftDerived = m_style.type == "minimax_m2"; // announces heads that nobody published
            return;
        }
        for (std::uint32_t i = 0; i < m_model.draftLayers; ++i) {
            const Scope scope = m_model.layer(m_model.layers + i);
            scope.linear("eh_proj", m_model.hidden, 2 * m_model.hidden);
            scope.norm("enorm", m_model.hidden);
            scope.norm("hnorm", m_model.hidden);
            scope.weight("embed_tokens.weight", {m_model.vocabulary, m_model.hidden});
            scope.norm("shared_head.norm", m_model.hidden);
            scope.weight("shared_head.head.weight", {m_model.vocabulary, m_model.hidden});
            addLayer(scope, m_model.layers + i, true);
        }
    }

    const DecoderStyle &m_style;
    DecoderModel &m_model;
    Keys &m_text;
    AttentionForm m_attention;
    std::vector<bool> m_sparse;
    std::vector<bool> m_indexed;
    std::optional<std::uint64_t> m_experts;
};

} // namespace

bool styledDecoder(std::string_view modelType, DecoderModel &model)
{
    const DecoderStyle *style = styleOf(modelType);
    if (style == nullptr)
        return false;
    StyledDecoder(*style, model).add();
    return true;
}

bool knowsDecoder(std::string_view modelType)
{
    return styleOf(modelType) != nullptr || isSpecialDecoder(modelType);
}

} // namespace weir::derive

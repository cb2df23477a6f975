// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/config.h"

#include "models/base/units.h"
#include "models/checkpoint/configreader.h"
#include "models/checkpoint/declaredscheme.h"
#include "models/checkpoint/otherkind.h"

#include <algorithm>
#include <array>

namespace weir {

namespace {

using nlohmann::json;

constexpr std::uint64_t maxLayers = 4096;

/// The part of a config that describes the decoder: nested under various names, once or twice.
const json &textPart(const json &config)
{
    const json *part = &config;
    for (int depth = 0; depth < 3; ++depth) {
        const json *inner = nullptr;
        for (const char *key : {"text_config", "llm_config", "language_config", "thinker_config"}) {
            const auto found = part->find(key);
            if (found != part->end() && found->is_object()) {
                inner = &*found;
                break;
            }
        }
        if (inner == nullptr)
            break;
        part = inner;
    }
    return *part;
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

std::string storageDtype(std::string text)
{
    if (text.starts_with("torch."))
        text.erase(0, 6);
    if (text == "bfloat16")
        return "BF16";
    if (text == "float16" || text == "half")
        return "F16";
    if (text == "float32" || text == "float")
        return "F32";
    return "BF16";
}

std::vector<std::string> layerNames(const ConfigReader &text, const char *key)
{
    std::vector<std::string> names;
    if (const json *list = text.array(key)) {
        for (const json &each : *list)
            names.push_back(each.is_string() ? each.get<std::string>() : std::string());
    }
    return names;
}

LayerKind kindOfName(const std::string &name, LayerKind full, LayerKind linear)
{
    if (name == "sliding_attention" || name == "chunked_attention" || name == "swa")
        return LayerKind::SlidingAttention;
    if (name == "linear_attention")
        return linear;
    if (name == "mamba" || name == "mamba2")
        return LayerKind::Mamba;
    if (name == "conv")
        return LayerKind::ShortConvolution;
    if (name == "moe" || name == "mlp")
        return LayerKind::FeedForward;
    return full;
}

/// Which layer does what. `full` is the kind of an ordinary attention layer (MLA or attention).
std::vector<LayerKind> readLayerKinds(ConfigReader &text, const std::string &modelType, std::size_t layers,
                                      LayerKind full)
{
    std::vector<LayerKind> kinds(layers, full);
    const LayerKind linear = text.has("linear_num_key_heads") ? LayerKind::GatedDeltaNet
                             : text.has("linear_attn_config") ? LayerKind::Kda
                                                              : LayerKind::GatedDeltaNet;

    // Nemotron-H: one letter a layer.
    if (const std::string pattern = text.text({"hybrid_override_pattern"}); !pattern.empty()) {
        for (std::size_t i = 0; i < std::min(layers, pattern.size()); ++i) {
            kinds[i] = pattern[i] == 'M'   ? LayerKind::Mamba
                       : pattern[i] == '*' ? full
                                           : LayerKind::FeedForward;
        }
        return kinds;
    }
    for (const char *key : {"layer_types", "layers_block_type"}) {
        const std::vector<std::string> names = layerNames(text, key);
        if (names.empty())
            continue;
        for (std::size_t i = 0; i < std::min(layers, names.size()); ++i)
            kinds[i] = kindOfName(names[i], full, linear);
        return kinds;
    }
    // Jamba: every n-th layer attends, the others are Mamba.
    if (const auto period = text.number({"attn_layer_period"}, maxLayers); period && *period > 0) {
        const std::uint64_t offset = text.number({"attn_layer_offset"}, maxLayers).value_or(0);
        for (std::size_t i = 0; i < layers; ++i) {
            if (i % *period != offset)
                kinds[i] = LayerKind::Mamba;
        }
        return kinds;
    }
    if (modelType == "mamba" || modelType == "mamba2" || modelType == "falcon_mamba") {
        std::fill(kinds.begin(), kinds.end(), LayerKind::Mamba);
        return kinds;
    }
    // Kimi-Linear: lists of layers, counted from 1.
    if (const json *linearConfig = text.object("linear_attn_config")) {
        if (const auto list = linearConfig->find("kda_layers");
            list != linearConfig->end() && list->is_array()) {
            for (const json &each : *list) {
                const auto number = ConfigReader::scalar(each, maxLayers);
                if (number && *number >= 1 && *number <= layers)
                    kinds[*number - 1] = LayerKind::Kda;
            }
        }
        return kinds;
    }
    // MiMo: 1 = window.
    if (const json *pattern = text.array("hybrid_layer_pattern")) {
        for (std::size_t i = 0; i < std::min(layers, pattern->size()); ++i) {
            if ((*pattern)[i] == 1)
                kinds[i] = LayerKind::SlidingAttention;
        }
        return kinds;
    }
    // LFM2: the listed layers attend, the others convolve.
    if (const json *attending = text.array("full_attn_idxs")) {
        std::fill(kinds.begin(), kinds.end(), LayerKind::ShortConvolution);
        for (const json &each : *attending) {
            const auto number = ConfigReader::scalar(each, maxLayers);
            if (number && *number < layers)
                kinds[*number] = full;
        }
        return kinds;
    }
    if (const auto interval = text.number({"full_attention_interval"}, maxLayers);
        text.has("linear_num_key_heads")) {
        const std::uint64_t every = std::max<std::uint64_t>(1, interval.value_or(4));
        for (std::size_t i = 0; i < layers; ++i) {
            if ((i + 1) % every != 0)
                kinds[i] = linear;
        }
        return kinds;
    }
    // Gemma 3: every sixth layer is global unless told otherwise.
    if (const auto every = text.number({"sliding_window_pattern"}, maxLayers); every && *every > 1) {
        for (std::size_t i = 0; i < layers; ++i) {
            if ((i + 1) % *every != 0)
                kinds[i] = LayerKind::SlidingAttention;
        }
        return kinds;
    }
    if (modelType == "gemma3_text" || modelType == "gemma3") {
        for (std::size_t i = 0; i < layers; ++i) {
            if ((i + 1) % 6 != 0)
                kinds[i] = LayerKind::SlidingAttention;
        }
        return kinds;
    }
    if (modelType == "gemma2") {
        for (std::size_t i = 0; i < layers; i += 2)
            kinds[i] = LayerKind::SlidingAttention;
        return kinds;
    }
    // Llama 4: layers with rotary embedding attend in chunks, every fourth has none and sees all.
    if (contains(modelType, "llama4") && text.has("attention_chunk_size")) {
        const json *rope = text.array("no_rope_layers");
        for (std::size_t i = 0; i < layers; ++i) {
            const bool chunked = rope != nullptr && i < rope->size() ? (*rope)[i] == 1 : (i + 1) % 4 != 0;
            if (chunked)
                kinds[i] = LayerKind::SlidingAttention;
        }
        return kinds;
    }
    // Mistral 7B and Phi-3: a window in all layers. Qwen2 carries one that `use_sliding_window` turns off.
    if (text.has("sliding_window") && text.flag("use_sliding_window").value_or(!text.has("max_window_layers"))
        && (modelType == "mistral" || modelType == "mixtral" || modelType == "phi3"
            || modelType == "starcoder2"))
        std::fill(kinds.begin(), kinds.end(), LayerKind::SlidingAttention);
    return kinds;
}

void readAttention(ConfigReader &text, ModelConfig &out, const std::string &modelType)
{
    const std::uint64_t heads = text.numberOr({"num_attention_heads", "n_head", "num_heads"}, 0);
    const std::uint64_t hidden = out.spec.hiddenSize;
    const std::uint64_t headDim =
        text.number({"head_dim", "attention_head_dim"}).value_or(heads > 0 ? hidden / heads : 0);
    const std::uint64_t kvHeads = text.numberOr({"num_key_value_heads", "n_head_kv", "num_kv_heads"}, heads);
    const std::uint64_t valueDim = text.number({"v_head_dim"}).value_or(headDim);
    const bool isMla = text.has("kv_lora_rank");
    const std::uint64_t latent = text.numberOr({"kv_lora_rank"}, 0) + text.numberOr({"qk_rope_head_dim"}, 0);
    const auto window = text.number({"sliding_window", "attention_chunk_size", "sliding_window_size"},
                                    ConfigReader::maxTokens);
    const bool isGemma4 = contains(modelType, "gemma4");
    // Layers at the end that reuse the cache of an earlier one keep none of their own.
    const std::uint64_t sharing = text.numberOr({"num_kv_shared_layers"}, 0);

    std::vector<AttentionLayers> runs;
    for (std::size_t i = 0; i < out.layerKinds.size(); ++i) {
        AttentionLayers run;
        run.kind = out.layerKinds[i];
        if (run.kind != LayerKind::Attention && run.kind != LayerKind::SlidingAttention
            && run.kind != LayerKind::Mla)
            continue;
        if (sharing > 0 && i + sharing >= out.layerKinds.size())
            continue;
        if (run.kind == LayerKind::Mla) {
            run.kElementsPerToken = latent;
            // DeepSeek V3.2 and GLM-5: the indexer keeps one key of its own per token.
            run.indexerElementsPerToken = text.has("index_topk") ? text.numberOr({"index_head_dim"}, 0) : 0;
            run.topK = text.number({"index_topk"}, ConfigReader::maxTokens);
        } else {
            std::uint64_t layerHeads = kvHeads;
            std::uint64_t keyDim = headDim;
            std::uint64_t layerValueDim = isMla ? headDim : valueDim;
            if (run.kind == LayerKind::SlidingAttention) {
                run.window = window;
                layerHeads = text.number({"swa_num_key_value_heads"}).value_or(layerHeads);
                keyDim = text.number({"swa_head_dim"}).value_or(keyDim);
                layerValueDim = text.number({"swa_v_head_dim"}).value_or(layerValueDim);
            } else if (isGemma4) {
                layerHeads = text.number({"num_global_key_value_heads"}).value_or(layerHeads);
                keyDim = text.number({"global_head_dim"}).value_or(keyDim);
                layerValueDim = keyDim;
            }
            run.kvHeads = static_cast<std::uint32_t>(layerHeads);
            run.kElementsPerToken = layerHeads * keyDim;
            run.vElementsPerToken = layerHeads * layerValueDim;
        }
        const auto same = std::find_if(runs.begin(), runs.end(), [&run](const AttentionLayers &other) {
            return other.kind == run.kind && other.kElementsPerToken == run.kElementsPerToken
                   && other.vElementsPerToken == run.vElementsPerToken && other.window == run.window;
        });
        AttentionLayers &target = same == runs.end() ? runs.emplace_back(run) : *same;
        ++target.layers;
    }
    out.spec.attention = std::move(runs);
}

void readState(ConfigReader &text, ModelConfig &out)
{
    const auto layersOf = [&out](LayerKind kind) {
        return static_cast<std::uint32_t>(std::count(out.layerKinds.begin(), out.layerKinds.end(), kind));
    };
    const std::uint64_t kernel = text.numberOr({"linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv"}, 4);

    if (const std::uint32_t layers = layersOf(LayerKind::GatedDeltaNet); layers > 0) {
        const std::uint64_t keyHeads = text.numberOr({"linear_num_key_heads"}, 0);
        const std::uint64_t valueHeads = text.numberOr({"linear_num_value_heads"}, 0);
        const std::uint64_t keyDim = text.numberOr({"linear_key_head_dim"}, 0);
        const std::uint64_t valueDim = text.numberOr({"linear_value_head_dim"}, 0);
        StateLayers state;
        state.kind = LayerKind::GatedDeltaNet;
        state.layers = layers;
        state.convolutionElements =
            (2 * keyDim * keyHeads + valueDim * valueHeads) * (kernel - std::min<std::uint64_t>(kernel, 1));
        state.recurrentElements = valueHeads * valueDim * keyDim;
        out.spec.state.push_back(state);
    }
    // Falcon-H1 and Granite-H name the same things `mamba_*`; in Falcon-H1 every layer has both.
    const bool parallel = text.text({"model_type"}) == "falcon_h1" && layersOf(LayerKind::Mamba) == 0;
    if (const std::uint32_t layers = parallel ? out.spec.layers : layersOf(LayerKind::Mamba); layers > 0) {
        const std::uint64_t heads = text.numberOr({"mamba_num_heads", "mamba_n_heads"}, 0);
        const std::uint64_t headDim = text.number({"mamba_head_dim", "mamba_d_head"})
                                          .value_or(heads > 0 ? text.numberOr({"mamba_expand", "expand"}, 2)
                                                                    * out.spec.hiddenSize / heads
                                                              : 0);
        const std::uint64_t groups = text.numberOr({"n_groups", "mamba_n_groups"}, 1);
        const std::uint64_t stateSize = text.numberOr({"ssm_state_size", "mamba_d_state", "state_size"}, 0);
        StateLayers state;
        state.kind = LayerKind::Mamba;
        state.layers = layers;
        state.convolutionElements =
            (heads * headDim + 2 * groups * stateSize) * (kernel - std::min<std::uint64_t>(kernel, 1));
        state.recurrentElements = heads * headDim * stateSize;
        if (heads == 0) { // Mamba-1 has channels instead of heads, and no groups in its convolution
            const std::uint64_t expanded = text.numberOr({"mamba_expand", "expand"}, 2) * out.spec.hiddenSize;
            const std::uint64_t inner =
                text.has("mamba_d_state") ? expanded : text.numberOr({"intermediate_size"}, expanded);
            state.convolutionElements = inner * (kernel - std::min<std::uint64_t>(kernel, 1));
            state.recurrentElements = inner * stateSize;
        }
        out.spec.state.push_back(state);
    }
    if (const std::uint32_t layers = layersOf(LayerKind::Kda); layers > 0) {
        if (const json *linear = text.object("linear_attn_config")) {
            ConfigReader reader(*linear);
            const std::uint64_t heads = reader.numberOr({"num_heads"}, 0);
            const std::uint64_t headDim = reader.numberOr({"head_dim"}, 0);
            const std::uint64_t shortKernel = reader.numberOr({"short_conv_kernel_size"}, 4);
            StateLayers state;
            state.kind = LayerKind::Kda;
            state.layers = layers;
            state.convolutionElements =
                3 * heads * headDim * (shortKernel - std::min<std::uint64_t>(shortKernel, 1));
            state.recurrentElements = heads * headDim * headDim;
            out.spec.state.push_back(state);
        }
    }
    if (const std::uint32_t layers = layersOf(LayerKind::ShortConvolution); layers > 0) {
        const std::uint64_t cache = text.numberOr({"conv_L_cache"}, 3);
        StateLayers state;
        state.kind = LayerKind::ShortConvolution;
        state.layers = layers;
        state.convolutionElements = out.spec.hiddenSize * (cache - std::min<std::uint64_t>(cache, 1));
        out.spec.state.push_back(state);
    }
    // Recurrent state is kept in F32 unless the config says otherwise.
    const std::string dtype = text.text({"mamba_ssm_dtype", "mamba_ssm_cache_dtype"});
    if (!out.spec.state.empty())
        out.spec.stateDtype = dtype.empty() ? "F32" : storageDtype(dtype);
}

void readKvScheme(const json &quantization, QuantizationConfig &out)
{
    const auto scheme = quantization.find("kv_cache_scheme");
    if (scheme != quantization.end() && scheme->is_object() && scheme->value("num_bits", json(0)) == 8)
        out.kvDtype = "fp8";
    const auto algorithm = quantization.find("kv_cache_quant_algo");
    if (algorithm != quantization.end() && algorithm->is_string() && algorithm->get<std::string>() == "FP8")
        out.kvDtype = "fp8";
}

/// Bits and group size of methods that keep them a level deeper, or as the name of a type.
void readNestedWidth(const ConfigReader &reader, QuantizationConfig &out)
{
    const json *place = nullptr;
    if (out.method == "hqq") {
        place = reader.object("quant_config");
        if (place != nullptr && place->contains("weight_quant_params"))
            place = &(*place)["weight_quant_params"];
    } else if (out.method == "quark") {
        place = reader.object("global_quant_config");
        if (place != nullptr && place->contains("weight"))
            place = &(*place)["weight"];
    }
    if (place != nullptr && place->is_object()) {
        ConfigReader nested(*place);
        if (out.bits == 0)
            out.bits = static_cast<unsigned>(nested.number({"nbits"}, 64).value_or(0));
        if (out.groupSize == 0)
            out.groupSize = nested.number({"group_size"}).value_or(0);
    }
    if (out.bits != 0)
        return;
    // "int4", "uint4", "fp4", "float8": of Quanto, Quark and FP-Quant.
    std::string type = reader.text({"weights", "forward_dtype"});
    if (type.empty() && place != nullptr && place->is_object())
        type = ConfigReader(*place).text({"dtype"});
    for (const char digit : {'2', '4', '8'}) {
        if (!type.empty()
            && (contains(type, std::string("nt") + digit) || contains(type, std::string("fp") + digit)
                || contains(type, std::string("float") + digit)))
            out.bits = static_cast<unsigned>(digit - '0');
    }
}

QuantizationConfig readQuantization(const json &config, const json &text, const json *quantConfig,
                                    std::string_view architecture)
{
    QuantizationConfig out;
    const json *declared = nullptr;
    for (const json *place : {&config, &text}) {
        for (const char *key : {"quantization_config", "compression_config", "quantization"}) {
            const auto found = place->find(key);
            if (declared == nullptr && found != place->end() && found->is_object())
                declared = &*found;
        }
    }
    const bool fromSideFile = declared == nullptr && quantConfig != nullptr;
    if (fromSideFile) {
        const auto inner = quantConfig->find("quantization");
        declared = inner != quantConfig->end() && inner->is_object() ? &*inner : quantConfig;
    }
    if (declared == nullptr)
        return out;

    ConfigReader reader(*declared);
    out.method = reader.text({"quant_method"});
    out.bits = static_cast<unsigned>(reader.number({"bits", "w_bit"}, 64).value_or(0));
    out.groupSize = reader.number({"group_size", "q_group_size"}).value_or(0);
    out.format = reader.text({"format", "quant_algo", "quant_type", "mode", "data_type"});
    out.fourBitBitsandbytes = reader.flag("load_in_4bit").value_or(false);
    readKvScheme(*declared, out);
    if (quantConfig != nullptr) {
        const auto inner = quantConfig->find("quantization");
        if (inner != quantConfig->end() && inner->is_object())
            readKvScheme(*inner, out);
    }
    if (out.method.empty()) {
        if (!out.format.empty() && reader.has("quant_algo"))
            out.method = "modelopt";
        else if (out.bits > 0 && reader.has("group_size"))
            out.method = "mlx"; // written by mlx-lm without a method
        else if (reader.has("w_bit"))
            out.method = "awq";
    }
    readNestedWidth(reader, out);
    // compressed-tensors keeps bits and group size per group; one group is the rule.
    if (const json *groups = reader.object("config_groups")) {
        for (const auto &[name, group] : groups->items()) {
            if (!group.is_object() || !group.contains("weights") || !group["weights"].is_object())
                continue;
            ConfigReader weights(group["weights"]);
            if (out.bits == 0)
                out.bits = static_cast<unsigned>(weights.number({"num_bits"}, 64).value_or(0));
            if (out.groupSize == 0)
                out.groupSize = weights.number({"group_size"}).value_or(0);
        }
    }
    if (out.method == "mlx" || out.method == "compressed-tensors") {
        // A layout that is not known is told from the shapes alone.
        if (Result<DeclaredScheme> modules = readDeclaredScheme(config, quantConfig, architecture))
            out.modules = std::make_shared<const DeclaredScheme>(*std::move(modules));
    }
    return out;
}

/// llama.cpp's converter writes one factor for every pair of rotated elements, `rope_freqs`.
std::uint64_t readRopeFactors(ConfigReader &text, std::uint64_t hidden)
{
    for (const char *key : {"rope_scaling", "rope_parameters"}) {
        const json *scaling = text.object(key);
        if (scaling == nullptr || ConfigReader(*scaling).text({"rope_type", "type"}) != "llama3")
            continue;
        const std::uint64_t heads = text.numberOr({"num_attention_heads"}, 0);
        return text.number({"head_dim"}).value_or(heads > 0 ? hidden / heads : 0) / 2;
    }
    return 0;
}

} // namespace

Result<ModelConfig> readModelConfig(const json &config, const json *quantConfig, const std::string &subject)
{
    ModelConfig out;
    const json &textJson = textPart(config);
    ConfigReader top(config);
    ConfigReader text(textJson);

    std::string architecture;
    for (const json *place : {&config, &textJson}) {
        const auto found = place->find("architectures");
        if (architecture.empty() && found != place->end() && found->is_array() && !found->empty()
            && found->front().is_string())
            architecture = found->front().get<std::string>();
    }
    std::string modelType = text.text({"model_type"});
    if (modelType.empty())
        modelType = top.text({"model_type"});
    if (architecture.empty())
        architecture = modelType.empty() ? top.text({"_class_name"}) : modelType;
    out.spec.architecture = printable(architecture, 80);

    // CLIP nests a text encoder: the outer type tells that it is none.
    std::string_view kind = otherKindOfConfig(config, architecture, top.text({"model_type"}));
    if (kind.empty())
        kind = otherKindOfConfig(config, architecture, modelType);
    if (!kind.empty()) {
        return fail("config.not-language-model", ErrorKind::NotLanguageModel, subject,
                    {{"architecture", printable(architecture.empty() ? "unknown" : architecture, 80)},
                     {"kind", std::string(kind)}});
    }

    const auto layers = text.number({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, maxLayers);
    if (!layers || *layers == 0) {
        if (!text.problem().empty())
            return fail("config.bad-number", ErrorKind::Unreadable, subject, {{"key", text.problem()}});
        return fail("config.no-layers", ErrorKind::NotLanguageModel, subject,
                    {{"architecture", printable(architecture.empty() ? "unknown" : architecture, 80)}});
    }
    ModelSpec &spec = out.spec;
    spec.layers = static_cast<std::uint32_t>(*layers);
    spec.hiddenSize = text.numberOr({"hidden_size", "n_embd", "d_model", "dim"}, 0);
    spec.vocabularySize = text.number({"vocab_size"}, ConfigReader::maxTokens)
                              .value_or(top.number({"vocab_size"}, ConfigReader::maxTokens).value_or(0));
    spec.maxContextTokens = text.number({"max_position_embeddings", "n_positions", "max_sequence_length",
                                         "seq_length", "model_max_length"},
                                        ConfigReader::maxTokens)
                                .value_or(0);
    spec.experts = static_cast<std::uint32_t>(
        text.number({"num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts"}, 1'000'000)
            .value_or(0));
    spec.expertsPerToken = static_cast<std::uint32_t>(
        text.number({"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts",
                     "moe_topk", "moe_k", "moe_top_k"},
                    1'000'000)
            .value_or(0));
    if (text.flag("enable_moe_block") == std::optional(false)) {
        spec.experts = 0;
        spec.expertsPerToken = 0;
    }
    if (spec.experts <= 1) { // one expert is a dense layer by another name
        spec.experts = 0;
        spec.expertsPerToken = 0;
    }
    if (spec.experts > 0 && (spec.expertsPerToken == 0 || spec.expertsPerToken > spec.experts)) {
        return fail(
            "config.bad-experts", ErrorKind::Unreadable, subject,
            {{"experts", std::uint64_t{spec.experts}}, {"active", std::uint64_t{spec.expertsPerToken}}});
    }
    const std::string dtype = text.text({"torch_dtype", "dtype"});
    spec.dtype = storageDtype(dtype.empty() ? top.text({"torch_dtype", "dtype"}) : dtype);
    for (const auto &flag : {top.flag("tie_word_embeddings"), text.flag("tie_word_embeddings")}) {
        if (flag && !out.declaredTied)
            out.declaredTied = flag;
    }
    out.draftLayers = static_cast<std::uint32_t>(
        text.number({"mtp_num_hidden_layers", "num_nextn_predict_layers", "num_mtp_modules"}, maxLayers)
            .value_or(0));

    const LayerKind full = text.has("kv_lora_rank") ? LayerKind::Mla : LayerKind::Attention;
    out.layerKinds = readLayerKinds(text, modelType, spec.layers, full);
    readAttention(text, out, modelType);
    readState(text, out);
    spec.ropeFactors = readRopeFactors(text, spec.hiddenSize);
    out.quantization = readQuantization(config, textJson, quantConfig, architecture);
    if (!out.quantization.kvDtype.empty())
        spec.declaredKvDtype = out.quantization.kvDtype;

    if (!text.problem().empty() || !top.problem().empty()) {
        return fail("config.bad-number", ErrorKind::Unreadable, subject,
                    {{"key", text.problem().empty() ? top.problem() : text.problem()}});
    }
    return out;
}

} // namespace weir

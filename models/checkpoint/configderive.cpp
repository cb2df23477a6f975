// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/configderive.h"

#include "models/base/units.h"
#include "models/checkpoint/classify.h"
#include "models/checkpoint/derive/decoders.h"
#include "models/checkpoint/derive/defaults.h"
#include "models/checkpoint/quantlabel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace weir {

namespace {

using derive::Keys;
using nlohmann::json;

/// A config with everything in it that the library would assume, and what it is the config of.
struct CompletedConfig
{
    json config;
    std::string modelType; ///< of the whole
    std::string textType;  ///< of the decoder
    const derive::MultimodalForm *form = nullptr;
    bool nested = false; ///< the decoder's part is `text_config`

    const json &text() const { return nested ? config.at("text_config") : config; }
};

/// Types that are another's under a name of their own.
std::string canonicalType(std::string type)
{
    if (type == "kimi_k2")
        return "deepseek_v3";
    return type;
}

bool isKnown(const std::string &type)
{
    return derive::multimodalForm(type) != nullptr || derive::knowsDecoder(type);
}

std::string textAt(const json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string architectureOf(const json &config)
{
    const auto found = config.find("architectures");
    if (found != config.end() && found->is_array() && !found->empty() && found->front().is_string())
        return found->front().get<std::string>();
    return {};
}

/// The model type that a class name is made of: "Qwen3MoeForCausalLM" -> "qwen3_moe".
std::string typeOfClass(const std::string &architecture)
{
    const std::size_t end = architecture.find("For");
    std::string wanted = architecture.substr(0, end);
    const auto plain = [](std::string_view name) {
        std::string text;
        for (const char c : name) {
            if (c != '_')
                text += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
        return text;
    };
    wanted = plain(wanted);
    for (const std::string_view type : derive::typesWithDefaults()) {
        const bool same = plain(type) == wanted
                          || (type.ends_with("_text") && plain(type.substr(0, type.size() - 5)) == wanted
                              && architecture.ends_with("ForCausalLM"));
        if (same && isKnown(std::string(type)))
            return std::string(type);
    }
    return {};
}

Error unknownArchitecture(const json &config, const std::string &subject)
{
    std::string name = architectureOf(config);
    if (name.empty())
        name = textAt(config, "model_type");
    return {"derive.unknown-architecture",
            ErrorKind::Unreadable,
            subject,
            {{"architecture", printable(name.empty() ? "unknown" : name, 80)}}};
}

/// Spellings that stand for a value to be worked out.
void resolveSpellings(json &text, const std::string &type)
{
    if (textAt(text, "mamba_d_head") == "auto")
        text.erase("mamba_d_head");
    if (type == "nemotron_h") {
        // The layers are what the pattern says, whatever the count says.
        const std::string pattern = textAt(text, "hybrid_override_pattern");
        std::size_t layers = pattern.size();
        for (const char *key : {"layers_block_type", "layer_types"}) {
            const auto list = text.find(key);
            if (layers == 0 && list != text.end() && list->is_array())
                layers = list->size();
        }
        if (layers > 0)
            text["num_hidden_layers"] = layers;
        if (!pattern.empty() && pattern.find('E') == std::string::npos)
            text.erase("n_routed_experts"); // assumed, but no layer has any
    }
    if (type.starts_with("lfm2") && text.contains("tie_embedding"))
        text["tie_word_embeddings"] = text["tie_embedding"];
}

Result<CompletedConfig> complete(const json &config, const std::string &subject)
{
    if (!config.is_object())
        return std::unexpected(unknownArchitecture(json::object(), subject));
    CompletedConfig out;
    out.modelType = canonicalType(textAt(config, "model_type"));
    if (!isKnown(out.modelType))
        out.modelType = typeOfClass(architectureOf(config));
    if (out.modelType.empty())
        return std::unexpected(unknownArchitecture(config, subject));
    out.form = derive::multimodalForm(out.modelType);
    out.config = config;
    out.textType = out.modelType;
    if (out.form != nullptr) {
        const auto part = out.config.find("text_config");
        out.nested = part != out.config.end() && part->is_object();
        out.textType = out.nested ? canonicalType(textAt(*part, "model_type")) : std::string();
        if (!derive::knowsDecoder(out.textType))
            out.textType = out.form->textType;
        derive::fillDefaults(out.config, out.modelType);
    }
    json &text = out.nested ? out.config["text_config"] : out.config;
    // What the whole assumes about tied tables goes before what its decoder would assume alone.
    if (out.form != nullptr && !out.nested && !text.contains("tie_word_embeddings"))
        text["tie_word_embeddings"] = false;
    derive::fillDefaults(text, out.textType);
    resolveSpellings(text, out.textType);
    return out;
}

bool tiesTables(const CompletedConfig &config, Keys &top, Keys &text)
{
    if (config.form == nullptr || config.modelType == "llama4")
        return text.flag("tie_word_embeddings");
    const bool whole = top.flag("tie_word_embeddings");
    return config.modelType == "glm4v_moe" ? whole || text.flag("tie_word_embeddings") : whole;
}

Result<TensorSet> deriveFrom(const CompletedConfig &config, const ModelConfig &model,
                             const std::string &subject, bool *draftDerived)
{
    constexpr std::uint64_t maxLayers = 4096;
    json visionPart = json::object();
    if (config.form != nullptr) {
        const auto found = config.config.find("vision_config");
        if (found != config.config.end() && found->is_object())
            visionPart = *found;
        derive::fillDefaults(visionPart, config.form->visionType);
    }
    Keys top(config.config);
    Keys text(config.text());
    Keys vision(visionPart);
    derive::TensorBuilder builder(model.spec.dtype.empty() ? "BF16" : model.spec.dtype);
    derive::DecoderModel decoder{.text = text, .builder = builder, .prefix = "model.", .head = "lm_head"};
    if (config.form != nullptr) {
        decoder.prefix = config.form->prefix;
        decoder.head = config.form->head;
    } else if (config.textType == "nemotron_h") {
        decoder.prefix = "backbone.";
    } else if (config.textType.starts_with("qwen3_5")
               && architectureOf(config.config).ends_with("ForConditionalGeneration")) {
        decoder.prefix = "model.language_model."; // the tower was taken out, the names stayed
    }
    decoder.layers = text.number("num_hidden_layers", maxLayers);
    decoder.hidden = text.number("hidden_size");
    decoder.vocabulary = text.number("vocab_size", ConfigReader::maxTokens);
    decoder.tied = tiesTables(config, top, text);
    decoder.draftLayers = model.draftLayers;

    if (text.problem().empty()) {
        if (!derive::styledDecoder(config.textType, decoder)
            && !derive::specialDecoder(config.textType, decoder))
            return std::unexpected(unknownArchitecture(config.config, subject));
        if (config.form != nullptr)
            derive::visionTower(config.modelType, top, vision, text, builder);
    }
    for (const Keys *keys : {&text, &vision, &top}) {
        if (!keys->problem().empty())
            return fail("derive.bad-number", ErrorKind::Unreadable, subject, {{"key", keys->problem()}});
    }
    if (builder.isTooLarge())
        return fail("derive.too-large", ErrorKind::Unreadable, subject);
    if (draftDerived != nullptr)
        *draftDerived = decoder.draftDerived;
    return builder.take();
}

std::uint64_t parametersOf(const Checkpoint &checkpoint, Component component)
{
    const ComponentSum *sum = checkpoint.sum(component);
    return sum == nullptr ? 0 : sum->parameters;
}

/// Weights whose number is not told by their layout.
bool hasUnsized(const Checkpoint &checkpoint, Component component)
{
    const ComponentSum *sum = checkpoint.sum(component);
    return sum != nullptr && !sum->parametersKnown;
}

bool isPlain(const Checkpoint &checkpoint)
{
    return checkpoint.quantization == "bf16" || checkpoint.quantization == "f16"
           || checkpoint.quantization == "f32";
}

} // namespace

Result<TensorSet> deriveTensors(const json &config, const ModelConfig &model, const std::string &subject)
{
    const Result<CompletedConfig> completed = complete(config, subject);
    if (!completed)
        return std::unexpected(completed.error());
    return deriveFrom(*completed, model, subject, nullptr);
}

Result<Checkpoint> deriveCheckpoint(const json &config, const json *quantConfig, const std::string &subject,
                                    ModelConfig *model)
{
    const Result<CompletedConfig> completed = complete(config, subject);
    Result<ModelConfig> read = readModelConfig(completed ? completed->config : config, quantConfig, subject);
    if (!read) // what is no language model is not called an unknown one
        return std::unexpected(read.error());
    if (!completed)
        return std::unexpected(completed.error());
    bool draftDerived = true;
    const Result<TensorSet> tensors = deriveFrom(*completed, *read, subject, &draftDerived);
    if (!tensors)
        return std::unexpected(tensors.error());

    Checkpoint checkpoint;
    checkpoint.source = Source::Config;
    checkpoint.format = Format::Safetensors;
    checkpoint.provenance = Provenance::Config;
    if (model != nullptr)
        *model = *read;
    if (!draftDerived) {
        checkpoint.notes.push_back(
            {"derive.draft-unknown", Severity::Info, {{"layers", std::uint64_t{read->draftLayers}}}, {}});
        read->draftLayers = 0;
    }
    if (read->spec.architecture.empty())
        read->spec.architecture = completed->modelType;
    // The classifier tells a packed tensor by its declared scheme; nothing here is packed.
    read->quantization = {};
    const std::array<TensorFile, 1> files{};
    classify(*tensors, *read, files, checkpoint);
    checkpoint.quantization = safetensorsQuantization(*read, checkpoint);
    return checkpoint;
}

std::vector<Message> compareWithConfig(const Checkpoint &read, const Checkpoint &derived)
{
    std::vector<Message> differences;
    for (const Component component : allComponents) {
        const std::uint64_t stored = parametersOf(read, component);
        const std::uint64_t expected = parametersOf(derived, component);
        if (stored == expected || hasUnsized(read, component))
            continue;
        MessageArguments arguments;
        arguments.emplace_back("component", std::string(componentId(component)));
        arguments.emplace_back("stored", stored);
        arguments.emplace_back("derived", expected);
        if (component == Component::Mtp) {
            differences.push_back({"derive.differs-draft", Severity::Info, arguments, {}});
            continue;
        }
        // Tied tables are often stored twice all the same.
        if (component == Component::LmHead && expected == 0
            && stored == parametersOf(read, Component::EmbedTokens)) {
            differences.push_back({"derive.differs-tied", Severity::Info, arguments, {}});
            continue;
        }
        // Converters often leave the tower out.
        if ((component == Component::Vision || component == Component::Audio) && stored == 0) {
            differences.push_back({"derive.differs-tower", Severity::Info, arguments, {}});
            continue;
        }
        // Packing rounds rows up, and drops or adds a bias here and there.
        const std::uint64_t apart = stored > expected ? stored - expected : expected - stored;
        const bool rounding = !isPlain(read) && apart <= expected / 100;
        differences.push_back({rounding ? "derive.differs-slightly" : "derive.differs",
                               rounding ? Severity::Info : Severity::Warning,
                               arguments,
                               {}});
    }
    return differences;
}

} // namespace weir

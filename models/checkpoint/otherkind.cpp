// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/otherkind.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>
#include <variant>

namespace weir {

namespace {

using nlohmann::json;

std::string textOf(const GgufHeader &header, std::string_view key)
{
    const auto found = header.metadata.find(key);
    const auto *text = found == header.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
    return text == nullptr ? std::string() : *text;
}

std::uint64_t numberOf(const GgufHeader &header, std::string_view key)
{
    const auto found = header.metadata.find(key);
    const auto *number =
        found == header.metadata.end() ? nullptr : std::get_if<std::uint64_t>(&found->second);
    return number == nullptr ? 0 : *number;
}

} // namespace

std::string_view otherKindOfConfig(const json &config, const std::string &architecture,
                                   const std::string &modelType)
{
    using Types = std::pair<std::string_view, std::string_view>;
    static constexpr auto types = std::to_array<Types>({{"bert", "encoder"},
                                                        {"roberta", "encoder"},
                                                        {"xlm-roberta", "encoder"},
                                                        {"distilbert", "encoder"},
                                                        {"albert", "encoder"},
                                                        {"electra", "encoder"},
                                                        {"mpnet", "encoder"},
                                                        {"deberta", "encoder"},
                                                        {"deberta-v2", "encoder"},
                                                        {"modernbert", "encoder"},
                                                        {"nomic_bert", "encoder"},
                                                        {"camembert", "encoder"},
                                                        {"longformer", "encoder"},
                                                        {"eurobert", "encoder"},
                                                        {"neobert", "encoder"},
                                                        {"clip", "image-text"},
                                                        {"siglip", "image-text"},
                                                        {"siglip2", "image-text"},
                                                        {"blip", "image-text"},
                                                        {"clap", "audio-text"},
                                                        {"vit", "image"},
                                                        {"dinov2", "image"},
                                                        {"dinov3_vit", "image"},
                                                        {"segformer", "image"},
                                                        {"detr", "image"},
                                                        {"sam", "image"},
                                                        {"whisper", "speech"},
                                                        {"wav2vec2", "speech"},
                                                        {"wav2vec2-bert", "speech"},
                                                        {"wavlm", "speech"},
                                                        {"hubert", "speech"},
                                                        {"encodec", "speech"},
                                                        {"seamless_m4t", "speech"},
                                                        {"seamless_m4t_v2", "speech"},
                                                        {"speecht5", "speech"},
                                                        {"vits", "speech"},
                                                        {"bark", "speech"},
                                                        {"t5", "encoder-decoder"},
                                                        {"mt5", "encoder-decoder"},
                                                        {"umt5", "encoder-decoder"},
                                                        {"bart", "encoder-decoder"},
                                                        {"mbart", "encoder-decoder"},
                                                        {"marian", "encoder-decoder"},
                                                        {"pegasus", "encoder-decoder"}});
    // A class that neither generates text nor is a language model: classification, bare encoders.
    static constexpr auto endings = std::to_array<Types>({{"ForMaskedLM", "encoder"},
                                                          {"ForSequenceClassification", "classifier"},
                                                          {"ForTokenClassification", "classifier"},
                                                          {"ForRewardModel", "classifier"},
                                                          {"ForProcessRewardModel", "classifier"},
                                                          {"RewardModel", "classifier"},
                                                          {"ForImageClassification", "image"},
                                                          {"ForSpeechSeq2Seq", "speech"},
                                                          {"UNet2DConditionModel", "diffusion"}});
    for (const auto &[ending, kind] : endings) {
        if (kind == "classifier" && architecture.ends_with(ending))
            return kind;
    }
    for (const auto &[type, kind] : types) {
        if (type == modelType)
            return kind;
    }
    for (const auto &[ending, kind] : endings) {
        if (architecture.ends_with(ending))
            return kind;
    }
    if (const auto found = config.find("is_encoder_decoder");
        found != config.end() && found->is_boolean() && found->get<bool>())
        return "encoder-decoder";
    return config.contains("_class_name") ? "diffusion" : "";
}

std::string_view otherKindOfGguf(const GgufHeader &header, const std::string &architecture)
{
    using Pair = std::pair<std::string_view, std::string_view>;
    static constexpr auto types =
        std::to_array<Pair>({{"adapter", "adapter"}, {"mmproj", "projector"}, {"imatrix", "imatrix"}});
    static constexpr auto architectures =
        std::to_array<Pair>({{"clip", "projector"},         {"bert", "encoder"},
                             {"modern-bert", "encoder"},    {"nomic-bert", "encoder"},
                             {"nomic-bert-moe", "encoder"}, {"neo-bert", "encoder"},
                             {"jina-bert-v2", "encoder"},   {"jina-bert-v3", "encoder"},
                             {"eurobert", "encoder"},       {"gemma-embedding", "encoder"},
                             {"llama-embed", "encoder"},    {"t5encoder", "encoder"},
                             {"t5", "encoder-decoder"},     {"wavtokenizer-dec", "speech"},
                             {"whisper", "speech"},         {"flux", "diffusion"},
                             {"sd1", "diffusion"},          {"sd3", "diffusion"},
                             {"sdxl", "diffusion"},         {"aura", "diffusion"},
                             {"ltxv", "diffusion"},         {"hyvid", "diffusion"},
                             {"wan", "diffusion"},          {"hidream", "diffusion"},
                             {"cosmos", "diffusion"},       {"lumina2", "diffusion"},
                             {"qwen_image", "diffusion"}});
    const std::string type = textOf(header, "general.type");
    for (const auto &[name, kind] : types) {
        if (name == type)
            return kind;
    }
    for (const auto &[name, kind] : architectures) {
        if (name == architecture)
            return kind;
    }
    if (architecture.empty() && header.metadata.contains(std::string("imatrix.") + "datasets"))
        return "imatrix";
    // A decoder that gives one vector for a text, or one score (4): it generates nothing.
    const std::uint64_t pooling = numberOf(header, architecture + ".pooling_type");
    return pooling == 0 || architecture.empty() ? "" : pooling == 4 ? "classifier" : "embedding";
}

} // namespace weir

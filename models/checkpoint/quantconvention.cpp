// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/quantconvention.h"

#include "models/checkpoint/unquantized.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace weir {

namespace {

bool startsWithAny(std::string_view text, std::initializer_list<std::string_view> beginnings)
{
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [text](std::string_view beginning) { return text.starts_with(beginning); });
}

bool isSmall(Role role)
{
    switch (role) {
    case Role::NormWeight:
    case Role::AttentionSmall:
    case Role::RecurrentSmall:
    case Role::RouterBias: return true;
    default: return false;
    }
}

/// Whether ModelOpt's published NVFP4 checkpoints quantize such a layer.
bool isNvfp4Layer(const Checkpoint &plain, const TensorGroup &group)
{
    const std::string &architecture = plain.spec.architecture;
    if (group.component == Component::RoutedExperts)
        return true;
    if (startsWithAny(architecture, {"LlamaFor", "MistralFor", "MixtralFor", "Qwen2For", "Qwen2Moe",
                                     "Qwen3For", "Qwen3Moe", "Phi3"}))
        return true;
    // As GGUF files name the same architectures.
    static constexpr std::array<std::string_view, 7> whole{"llama",    "qwen2",    "qwen2moe", "qwen3",
                                                           "qwen3moe", "mistral3", "phi3"};
    if (std::find(whole.begin(), whole.end(), architecture) != whole.end())
        return true;
    if (startsWithAny(architecture, {"Deepseek", "Kimi", "deepseek2"})) {
        return group.component == Component::SharedExpert || group.component == Component::DenseMlp
               || (group.role == Role::AttentionOutput && !architecture.starts_with("Kimi"));
    }
    return !plain.isMoe() && group.component == Component::DenseMlp;
}

/// ModelOpt's MIXED_PRECISION: FP4 for what is read most, FP8 for the mixers between the tokens.
std::optional<LinearScheme> mixedLayout(const TensorGroup &group)
{
    LinearScheme layout;
    switch (group.component) {
    case Component::LmHead:
        if (!isMatrix(group))
            return std::nullopt;
        layout.layout = Layout::Nvfp4;
        return layout;
    case Component::RoutedExperts:
    case Component::SharedExpert:
    case Component::DenseMlp:
        if (!isLinear(group))
            return std::nullopt;
        layout.layout = Layout::Nvfp4;
        return layout;
    case Component::Attention:
    case Component::LinearAttention:
        // The projections of decays and gates (in_proj_a, in_proj_b, in_proj_ba) have a row or two a head.
        if (!isLinear(group) || (group.component == Component::LinearAttention && group.shape.front() < 128))
            return std::nullopt;
        layout.layout = Layout::Fp8Tensor;
        layout.scaleDtype = "F32";
        return layout;
    default: return std::nullopt;
    }
}

std::optional<LinearScheme> mlxLayout(std::string_view scheme)
{
    LinearScheme layout;
    if (scheme == "mlx-mxfp4" || scheme == "mlx-nvfp4") {
        layout.layout = Layout::MlxFloat;
        layout.groupSize = scheme == "mlx-mxfp4" ? 32 : 16;
        return layout;
    }
    layout.layout = Layout::Mlx;
    layout.groupSize = 64;
    const std::string_view digits = scheme.substr(4);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), layout.bits);
    if (read.ec != std::errc{} || layout.bits == 0 || layout.bits > 8)
        return std::nullopt;
    return layout;
}

} // namespace

std::optional<LinearScheme> layoutOf(std::string_view scheme, std::string_view architecture)
{
    if (scheme.starts_with("mlx-"))
        return mlxLayout(scheme);
    LinearScheme layout;
    if (scheme == "fp8") {
        layout.layout = Layout::Fp8Block;
        layout.scaleDtype = startsWithAny(architecture, {"Deepseek", "Kimi", "Glm4MoeLite", "GlmMoeDsa",
                                                         "MiniMax", "deepseek2", "minimax"})
                                ? "F32"
                                : "BF16";
    } else if (scheme == "fp8-channel") {
        layout.layout = Layout::Fp8Channel;
    } else if (scheme == "fp8-tensor") {
        layout.layout = Layout::Fp8Tensor;
    } else if (scheme == "int8") {
        layout.layout = Layout::Int8;
        layout.bits = 8;
    } else if (scheme == "int4") {
        layout.layout = Layout::PackedInt;
    } else if (scheme == "gptq" || scheme == "gptq-int8") {
        layout.layout = Layout::Gptq;
        layout.groupIndex = true;
        layout.bits = scheme == "gptq" ? 4 : 8;
    } else if (scheme == "autoround") {
        layout.layout = Layout::Gptq;
    } else if (scheme == "awq") {
        layout.layout = Layout::Awq;
    } else if (scheme == "nvfp4") {
        layout.layout = Layout::Nvfp4;
    } else if (scheme == "mxfp4") {
        layout.layout = Layout::Mxfp4;
    } else if (scheme == "bnb-4bit") {
        layout.layout = Layout::Bnb4;
    } else if (scheme == "bnb-int8") {
        layout.layout = Layout::Bnb8;
        layout.bits = 8;
    } else {
        return std::nullopt;
    }
    return layout;
}

bool isMatrix(const TensorGroup &group)
{
    const bool projections = group.role == Role::MlaUp && group.shape.size() == 3; // of a GGUF file
    return isWeight(group) && !isSmall(group.role) && (group.shape.size() == 2 || projections);
}

bool isLinear(const TensorGroup &group)
{
    switch (group.component) {
    case Component::RoutedExperts:
    case Component::SharedExpert:
    case Component::DenseMlp:
    case Component::Attention:
    case Component::LinearAttention: return isMatrix(group) && group.role != Role::SharedExpertGate;
    default: return false;
    }
}

bool isDraftLinear(const TensorGroup &group)
{
    if (group.component != Component::Mtp || !isMatrix(group))
        return false;
    if (group.role == Role::MtpExperts || group.role == Role::MtpAttention)
        return true;
    const std::string module = moduleOf(group);
    static constexpr std::array<std::string_view, 14> layers{
        "gate_proj",    "up_proj",       "down_proj", "gate_up_proj", ".w1",    ".w2",
        ".w3",          "q_proj",        "k_proj",    "v_proj",       "o_proj", "ffn_gate_shexp",
        "ffn_up_shexp", "ffn_down_shexp"};
    return std::any_of(layers.begin(), layers.end(),
                       [&module](std::string_view ending) { return module.ends_with(ending); });
}

std::optional<LinearScheme> conventionalLayout(std::string_view scheme, const Checkpoint &plain,
                                               const TensorGroup &group)
{
    if (scheme == "nvfp4-mixed")
        return mixedLayout(group);
    auto layout = layoutOf(scheme, plain.spec.architecture);
    if (!layout)
        return std::nullopt;
    const bool mlx = scheme.starts_with("mlx-");
    const bool fp8 = scheme.starts_with("fp8");
    const bool table = group.component == Component::EmbedTokens || group.component == Component::LookupTables
                       || group.component == Component::LmHead;
    if (table)
        return mlx && isMatrix(group) ? layout : std::nullopt;
    if (!isLinear(group) && !(fp8 && isDraftLinear(group)))
        return std::nullopt;
    const std::uint64_t rows = group.shape.front() * (group.shape.size() > 2 ? group.shape[1] : 1);
    if (fp8 && (rows < 128 || group.pattern.find("weights_proj") != std::string::npos))
        return std::nullopt;
    if (scheme == "autoround" && group.component == Component::SharedExpert)
        return std::nullopt;
    if (scheme == "nvfp4" && !isNvfp4Layer(plain, group))
        return std::nullopt;
    if (scheme == "mxfp4" && plain.isMoe() && group.component != Component::RoutedExperts)
        return std::nullopt;
    return layout;
}

} // namespace weir

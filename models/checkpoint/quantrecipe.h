// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir {

/// What a scheme of --quant makes of a checkpoint.
enum class QuantKind : std::uint8_t {
    Float,       ///< a plain dtype, in the format that the checkpoint has
    Safetensors, ///< a layout of packed safetensors
    Mlx,         ///< a conversion by mlx-lm
    Gguf,        ///< a mix of llama.cpp
};

/// One entry of the vocabulary of --quant.
struct QuantChoice
{
    std::string_view id;
    QuantKind kind = QuantKind::Float;
};

/// A quantization to imagine: one scheme for the whole model, then schemes for single components.
struct QuantRecipe
{
    std::string label; ///< id of a QuantChoice for the whole model; empty = as it is
    std::map<Component, std::string> overrides;

    friend bool operator==(const QuantRecipe &, const QuantRecipe &) = default;
};

inline constexpr std::size_t maxRecipeText = 1024;

/// Every scheme, in the order in which a picker lists them.
std::span<const QuantChoice> quantChoices();

/// The choice that a text names. A text written exactly as an id means that id ("MXFP4" and "BF16" are GGUF mixes,
/// "mxfp4" a safetensors layout, "bf16" a dtype in the format of the source); in any other spelling case does not
/// matter, and "Bf16" is the lower-case one. Aliases: "gptq-int4", "int4-autoround", "auto-round", "MXFP4_MOE",
/// "w4a16", "gguf-bf16" ...
std::optional<QuantChoice> quantChoice(std::string_view text);

/// Reads "Q4_K_M", "nvfp4", "lm_head=int8,shared_expert=fp8" or "awq,lm_head=int8": parts between commas, a
/// scheme for the whole model at most once and every component at most once; spaces around parts do not
/// count. All errors are of kind Usage: "quant.empty-part", "quant.unknown-scheme" and
/// "quant.unknown-component" (which name the vocabulary), "quant.repeated", "quant.too-long".
Result<QuantRecipe> parseQuantRecipe(std::string_view text);

/// "awq+lm_head=int8"; `label` stands for the whole model where the recipe says nothing about it.
std::string recipeLabel(const QuantRecipe &recipe, std::string_view label);

} // namespace weir

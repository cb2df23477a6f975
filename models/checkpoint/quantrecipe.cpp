// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/quantrecipe.h"

#include "models/base/ascii.h"
#include "models/base/units.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weir {

namespace {

using enum QuantKind;

constexpr QuantChoice choices[] = {
    {"bf16", Float},
    {"f16", Float},
    {"f32", Float},
    {"fp8", Safetensors},
    {"fp8-channel", Safetensors},
    {"fp8-tensor", Safetensors},
    {"int8", Safetensors},
    {"nvfp4", Safetensors},
    {"nvfp4-mixed", Safetensors},
    {"mxfp4", Safetensors},
    {"gptq", Safetensors},
    {"gptq-int8", Safetensors},
    {"awq", Safetensors},
    {"autoround", Safetensors},
    {"int4", Safetensors},
    {"bnb-4bit", Safetensors},
    {"bnb-int8", Safetensors},
    {"mlx-8bit", Mlx},
    {"mlx-6bit", Mlx},
    {"mlx-5bit", Mlx},
    {"mlx-4bit", Mlx},
    {"mlx-3bit", Mlx},
    {"mlx-mxfp4", Mlx},
    {"mlx-nvfp4", Mlx},
    {"mlx-bf16", Mlx},
    {"Q8_0", Gguf},
    {"Q6_K", Gguf},
    {"Q5_K_M", Gguf},
    {"Q5_K_S", Gguf},
    {"Q5_1", Gguf},
    {"Q5_0", Gguf},
    {"Q4_K_M", Gguf},
    {"Q4_K_S", Gguf},
    {"Q4_1", Gguf},
    {"Q4_0", Gguf},
    {"IQ4_NL", Gguf},
    {"IQ4_XS", Gguf},
    {"MXFP4", Gguf},
    {"Q3_K_L", Gguf},
    {"Q3_K_M", Gguf},
    {"Q3_K_S", Gguf},
    {"IQ3_M", Gguf},
    {"IQ3_S", Gguf},
    {"Q2_K", Gguf},
    {"F16", Gguf},
    {"BF16", Gguf},
    {"F32", Gguf},
};

/// Other names by which people and programs call the same thing; compared without case.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {
    {"fp16", "f16"},
    {"float16", "f16"},
    {"bfloat16", "bf16"},
    {"fp32", "f32"},
    {"float32", "f32"},
    {"fp8-block", "fp8"},
    {"w8a8", "int8"},
    {"int8-channel", "int8"},
    {"gptq-int4", "gptq"},
    {"gptq-4bit", "gptq"},
    {"gptq-8bit", "gptq-int8"},
    {"awq-int4", "awq"},
    {"awq-4bit", "awq"},
    {"auto-round", "autoround"},
    {"autoround-int4", "autoround"},
    {"autoround int4", "autoround"},
    {"int4-autoround", "autoround"},
    {"w4a16", "int4"},
    {"nf4", "bnb-4bit"},
    {"bnb-nf4", "bnb-4bit"},
    {"bnb-8bit", "bnb-int8"},
    {"mlx-16bit", "mlx-bf16"},
    {"mxfp4_moe", "MXFP4"},
    {"gguf-mxfp4", "MXFP4"},
    {"gguf-bf16", "BF16"},
    {"gguf-f16", "F16"},
    {"gguf-f32", "F32"},
};

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string schemeList()
{
    std::string list;
    for (const QuantChoice &choice : choices)
        list += (list.empty() ? "" : ", ") + std::string(choice.id);
    return list;
}

std::string componentList()
{
    std::string list;
    for (const Component component : allComponents)
        list += (list.empty() ? "" : ", ") + std::string(componentId(component));
    return list;
}

std::unexpected<Error> badScheme(std::string_view text)
{
    return fail("quant.unknown-scheme", ErrorKind::Usage, printable(text, 80), {{"known", schemeList()}});
}

} // namespace

std::span<const QuantChoice> quantChoices() { return choices; }

std::optional<QuantChoice> quantChoice(std::string_view text)
{
    const auto exact = std::find_if(std::begin(choices), std::end(choices),
                                    [text](const QuantChoice &choice) { return choice.id == text; });
    if (exact != std::end(choices))
        return *exact;
    const std::string lower = asciiLower(text);
    const auto known =
        std::find_if(std::begin(choices), std::end(choices),
                     [&lower](const QuantChoice &choice) { return asciiLower(choice.id) == lower; });
    if (known != std::end(choices))
        return *known;
    for (const auto &[alias, id] : aliases) {
        if (alias == lower)
            return quantChoice(id);
    }
    return std::nullopt;
}

Result<QuantRecipe> parseQuantRecipe(std::string_view text)
{
    if (text.size() > maxRecipeText) {
        return fail("quant.too-long", ErrorKind::Usage, printable(text, 80),
                    {{"limit", static_cast<std::uint64_t>(maxRecipeText)}});
    }
    QuantRecipe recipe;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view part = trimmed(text.substr(0, comma));
        const std::size_t equals = part.find('=');
        const std::string_view scheme =
            equals == std::string_view::npos ? part : trimmed(part.substr(equals + 1));
        if (scheme.empty() || equals == 0)
            return fail("quant.empty-part", ErrorKind::Usage, printable(part, 80));
        if (equals == std::string_view::npos && componentFromId(asciiLower(scheme)))
            return fail("quant.empty-part", ErrorKind::Usage, printable(part, 80));
        const auto choice = quantChoice(scheme);
        if (!choice)
            return badScheme(scheme);
        if (equals == std::string_view::npos) {
            if (!recipe.label.empty())
                return fail("quant.repeated", ErrorKind::Usage, printable(part, 80));
            recipe.label = choice->id;
        } else {
            const std::string_view name = trimmed(part.substr(0, equals));
            const auto component = componentFromId(asciiLower(name));
            if (!component) {
                return fail("quant.unknown-component", ErrorKind::Usage, printable(name, 80),
                            {{"known", componentList()}});
            }
            if (!recipe.overrides.emplace(*component, choice->id).second)
                return fail("quant.repeated", ErrorKind::Usage, printable(part, 80));
        }
        if (comma == std::string_view::npos)
            return recipe;
        text.remove_prefix(comma + 1);
    }
}

std::string recipeLabel(const QuantRecipe &recipe, std::string_view label)
{
    std::string text(label);
    for (const auto &[component, scheme] : recipe.overrides) {
        text += text.empty() ? "" : "+";
        text += componentId(component);
        text += '=';
        text += scheme;
    }
    return text;
}

} // namespace weir

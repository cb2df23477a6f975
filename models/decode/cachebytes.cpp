// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/decode/cachebytes.h"

#include "models/base/saturating.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weir {

namespace {

constexpr std::array<std::pair<std::string_view, ElementSize>, 16> kvTable{{
    {"f16", {2, 1}},
    {"bf16", {2, 1}},
    {"auto", {2, 1}},
    {"f32", {4, 1}},
    {"fp8", {1, 1}},
    {"fp8_e4m3", {1, 1}},
    {"fp8_e5m2", {1, 1}},
    {"int8", {1, 1}},
    {"q8_0", {34, 32}},
    {"q5_1", {24, 32}},
    {"q5_0", {22, 32}},
    {"q4_1", {20, 32}},
    {"q4_0", {18, 32}},
    {"iq4_nl", {18, 32}},
    {"nvfp4", {9, 16}},
    {"int4", {1, 2}},
}};

std::uint64_t sized(std::uint64_t elements, ElementSize size)
{
    return multiplyDivide(elements, size.bytes, size.elements);
}

/// Bytes of one token in all layers of a run.
std::uint64_t runBytesPerToken(const AttentionLayers &run, ElementSize k, ElementSize v)
{
    const std::uint64_t perLayer =
        saturatingAdd(saturatingAdd(sized(run.kElementsPerToken, k), sized(run.vElementsPerToken, v)),
                      sized(run.indexerElementsPerToken, k));
    return saturatingMultiply(perLayer, run.layers);
}

std::uint64_t paddedTo(std::uint64_t tokens, std::uint64_t padding)
{
    return padding <= 1 ? tokens : saturatingMultiply((tokens + padding - 1) / padding, padding);
}

} // namespace

std::optional<ElementSize> kvElementSize(std::string_view dtype)
{
    for (const auto &[name, size] : kvTable) {
        if (name == dtype)
            return size;
    }
    return std::nullopt;
}

std::uint64_t stateElementBytes(std::string_view dtype) { return dtype == "F32" ? 4 : 2; }

std::uint64_t kvBytesHeld(const ModelSpec &spec, std::uint64_t contextTokens, ElementSize k, ElementSize v,
                          const CacheLayout &layout)
{
    std::uint64_t total = 0;
    for (const AttentionLayers &run : spec.attention) {
        std::uint64_t tokens = contextTokens;
        if (run.window)
            tokens = std::min(tokens, saturatingAdd(*run.window, layout.windowExtraTokens));
        tokens = paddedTo(tokens, layout.contextPadding);
        total = saturatingAdd(total, saturatingMultiply(runBytesPerToken(run, k, v), tokens));
    }
    return total;
}

std::uint64_t kvBytesRead(const ModelSpec &spec, std::uint64_t contextTokens, ElementSize k, ElementSize v)
{
    std::uint64_t total = 0;
    for (const AttentionLayers &run : spec.attention) {
        if (run.topK) {
            const std::uint64_t keys =
                saturatingMultiply(sized(run.indexerElementsPerToken, k), contextTokens);
            const std::uint64_t latents = saturatingMultiply(
                saturatingAdd(sized(run.kElementsPerToken, k), sized(run.vElementsPerToken, v)),
                std::min(contextTokens, *run.topK));
            total = saturatingAdd(total, saturatingMultiply(saturatingAdd(keys, latents), run.layers));
            continue;
        }
        const std::uint64_t tokens = run.window ? std::min(contextTokens, *run.window) : contextTokens;
        total = saturatingAdd(total, saturatingMultiply(runBytesPerToken(run, k, v), tokens));
    }
    return total;
}

std::uint64_t kvBytesPerToken(const ModelSpec &spec, std::uint64_t contextTokens, ElementSize k,
                              ElementSize v)
{
    std::uint64_t total = 0;
    for (const AttentionLayers &run : spec.attention) {
        if (!run.window || contextTokens < *run.window)
            total = saturatingAdd(total, runBytesPerToken(run, k, v));
    }
    return total;
}

std::uint64_t stateBytes(const ModelSpec &spec, std::string_view recurrentDtype,
                         std::string_view convolutionDtype)
{
    const std::uint64_t recurrent =
        stateElementBytes(recurrentDtype.empty() ? std::string_view(spec.stateDtype) : recurrentDtype);
    const std::uint64_t convolution =
        stateElementBytes(convolutionDtype.empty() ? std::string_view(spec.dtype) : convolutionDtype);
    std::uint64_t total = 0;
    for (const StateLayers &run : spec.state) {
        const std::uint64_t perLayer = saturatingAdd(saturatingMultiply(run.convolutionElements, convolution),
                                                     saturatingMultiply(run.recurrentElements, recurrent));
        total = saturatingAdd(total, saturatingMultiply(perLayer, run.layers));
    }
    return total;
}

} // namespace weir

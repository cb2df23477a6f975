// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// Sixteenths of a bit would be exact for all of them; tenths of a percent are not good enough for bytes,
/// so an element size is a fraction: `bytes` for `elements` elements (q8_0: 34 for 32).
struct ElementSize
{
    std::uint64_t bytes = 2;
    std::uint64_t elements = 1;
};

/// Size of one KV cache element by dtype name ("f16", "bf16", "fp8", "q8_0", "q4_0" ...), as llama.cpp and
/// vLLM store it; empty for an unknown name. Source: ggml block sizes; vLLM config/cache.py.
std::optional<ElementSize> kvElementSize(std::string_view dtype);

/// Bytes of one element of a recurrent state or 16-bit activation dtype ("F32", "BF16").
std::uint64_t stateElementBytes(std::string_view dtype);

/// How a cache is kept: padding of the context, and what a sliding window keeps beyond itself.
struct CacheLayout
{
    std::uint64_t contextPadding = 1;
    std::uint64_t windowExtraTokens = 0;
};

/// Bytes that a KV cache of one sequence of `contextTokens` takes:
/// sum over layers of (K + V elements) x tokens kept, a window keeping at most its own length.
/// Source: llama.cpp src/llama-kv-cache*.cpp; vLLM v1/kv_cache_interface.py.
std::uint64_t kvBytesHeld(const ModelSpec &spec, std::uint64_t contextTokens, ElementSize k, ElementSize v,
                          const CacheLayout &layout);

/// Bytes of the cache that one decode step of one sequence reads at a depth of `contextTokens`: all of it
/// once, windows capped; sparse attention reads the indexer's keys of all tokens and the chosen latents.
std::uint64_t kvBytesRead(const ModelSpec &spec, std::uint64_t contextTokens, ElementSize k, ElementSize v);

/// What one more token adds to the cache at a depth of `contextTokens` (full windows add nothing).
std::uint64_t kvBytesPerToken(const ModelSpec &spec, std::uint64_t contextTokens, ElementSize k,
                              ElementSize v);

/// Recurrent and convolution state of one sequence in bytes. @param recurrentDtype,convolutionDtype
/// dtypes that the engine forces; empty = the model's own.
std::uint64_t stateBytes(const ModelSpec &spec, std::string_view recurrentDtype,
                         std::string_view convolutionDtype);

} // namespace weir

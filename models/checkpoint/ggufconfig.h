// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/config.h"
#include "models/checkpoint/gguf.h"

#include <string>

namespace weir {

/// What the metadata of a GGUF file says about the decoder, in the same form as a config.json.
/// Errors: "gguf.not-language-model" (projectors, adapters, encoders), "gguf.no-architecture",
/// "gguf.bad-key" for a key of the wrong kind or with a value that cannot be.
/// Source of the keys: ggml docs/gguf.md, llama.cpp src/llama-arch.cpp and src/llama-model.cpp.
Result<ModelConfig> readGgufConfig(const GgufHeader &header, const std::string &subject);

/// The label of a mix in the vocabulary of --quant ("Q4_K_M"), from general.file_type; empty if unknown.
std::string ggufMixName(const GgufHeader &header);

/// Position and number of parts of a split file; {0, 1} for a whole one.
struct GgufSplit
{
    std::uint64_t number = 0;
    std::uint64_t count = 1;
    std::uint64_t tensors = 0; ///< in all parts together; 0 = not stated
};
GgufSplit ggufSplit(const GgufHeader &header);

} // namespace weir

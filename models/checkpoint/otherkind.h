// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/gguf.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace weir {

/// What a repository that holds no decoder language model is, by model type and class name: the id of a kind that
/// the catalogue of words knows ("encoder", "speech", "diffusion" ...); empty for one that may be a decoder.
std::string_view otherKindOfConfig(const nlohmann::json &config, const std::string &architecture,
                                   const std::string &modelType);

/// The same for a GGUF file, by `general.type`, architecture and pooling. Source: llama.cpp src/llama-arch.cpp, and
/// the names that converters of other programs write.
std::string_view otherKindOfGguf(const GgufHeader &header, const std::string &architecture);

} // namespace weir

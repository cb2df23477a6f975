// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/modulenames.h"
#include "models/checkpoint/packedlinear.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace weir {

/// What a quantization config says, before it is applied to modules.
struct DeclaredScheme
{
    std::string_view method;              ///< "fp8" "gptq" ...; empty = nothing is declared
    std::optional<LinearScheme> ordinary; ///< of linear layers that nothing else is said about
    std::vector<std::optional<LinearScheme>> schemes; ///< that `named` points to; empty = stays
    ModuleNames named;
    ModuleNames excluded;
    ModuleNames blocks; ///< if not empty, only what is below is quantized
    std::optional<LinearScheme> experts; ///< another one for routed experts
    bool onlyExperts = false;
    bool heads = false;  ///< lm_head is a linear layer like others
    bool tables = false; ///< embeddings, too
    bool drafts = false; ///< draft heads, too
};

/// Reads what config.json, or hf_quant_config.json beside it, declares.
Result<DeclaredScheme> readDeclaredScheme(const nlohmann::json &config, const nlohmann::json *quantConfig,
                                          std::string_view architecture);

} // namespace weir

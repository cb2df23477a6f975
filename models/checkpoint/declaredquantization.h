// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/checkpoint/config.h"

#include <nlohmann/json_fwd.hpp>

namespace weir {

/// What a lone config says that its weights are stored as: the quantization it declares, applied to groups that
/// were derived from the same config in the model's dtype.
/// Known are fp8 (by block, by tensor), gptq with `dynamic`, awq, auto-round with `extra_config`, compressed-tensors
/// (groups with targets and formats, `ignore`), modelopt (FP8, NVFP4, MIXED_PRECISION with `quantized_layers` or
/// targets, `exclude_modules`), mxfp4, bitsandbytes and mlx with its overrides; exclusions as ModuleNames reads
/// them. What is never declared and never quantized stays in its dtype: norms, routers, gates of shared experts,
/// convolutions, towers; lm_head and embeddings unless they are named (MLX: both are quantized); a draft head
/// unless it is FP8 or compressed-tensors.
/// Groups whose modules are not quantized stay as they came, fused experts included.
/// @param derived      groups with dtypes and shapes as an unquantized checkpoint stores them
/// @param config       the parsed config.json
/// @param quantConfig  hf_quant_config.json, or null
/// Sets `format`, `quantization` and `sums`. Without any declaration the groups stay as they are.
/// Errors: "quant.declared-unknown" for a method or algorithm that is not known here,
/// "quant.too-many-patterns" for lists that no checkpoint has (both Unreadable).
/// Source: transformers' quantizers, vLLM's and compressed-tensors' config readers, ModelOpt's export.
Result<Checkpoint> applyDeclaredQuantization(const Checkpoint &derived, const nlohmann::json &config,
                                             const nlohmann::json *quantConfig, const ModelConfig &model);

} // namespace weir

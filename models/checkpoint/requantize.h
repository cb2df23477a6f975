// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/checkpoint/quantrecipe.h"

#include <string_view>

namespace weir {

/// The same model at another quantization, as the tools that publish such checkpoints would store it: see
/// conventionalLayout() for safetensors and MLX, GgufMix and ggufGroups() for GGUF.
/// - A plain dtype ("bf16") keeps the format of the source. GGUF files have neither vision tower nor, unless an
///   override asks for it ("Q4_K_M,mtp=Q4_K_M"), a draft head, conversions to MLX no draft head; a note
///   ("quant.left-out") says so.
/// - Overrides replace what whole components are stored as, on top of the recipe's scheme or of the source as it
///   is; every matrix of the component is quantized, also what the scheme's conventions would leave alone. In
///   a GGUF file int8 means Q8_0, int4 Q4_K, and a mix its ordinary type, or for a draft head the types that the
///   mix gives it; in MLX they mean 8 and 4 bit.
/// - lm_head of a model with tied tables gets a copy of its own; the table for look-ups stays
///   ("quant.head-copied").
/// - A recipe that says what the source is already returns the source.
/// The result has provenance Config, no files, a note "quant.derived", and the recipe as `quantization`
/// ("awq+lm_head=int8"). Notes about the repository of the source are gone.
/// Errors (kind Usage): "quant.no-shapes", "quant.component-absent", "quant.component-scheme",
/// "quant.draft-unknown", "quant.nothing-to-quantize", "quant.unknown-scheme".
Result<Checkpoint> requantize(const Checkpoint &source, const QuantRecipe &recipe);

/// The GGUF file that llama.cpp's converter and quantizer make of an unquantized checkpoint, for mixes with
/// rules here ("Q4_K_M"): type per tensor by role and layer, rows that are no whole number of blocks fall
/// back to a simpler type, norms, routers and small recurrent parameters stay F32; draft head and towers
/// are left out, as in text-only files. Provenance becomes `Config`.
/// Architectures with MLA are refused ("requantize.architecture"): their conversion splits tensors.
/// Source: llama.cpp src/llama-quant.cpp (llama_tensor_get_type_impl, use_more_bits).
Result<Checkpoint> deriveGguf(const Checkpoint &source, std::string_view mix);

/// The same checkpoint with its routed experts in ModelOpt's NVFP4 layout and everything else as it is:
/// packed FP4 pairs, an F8_E4M3 scale per 16 weights, two F32 scalars per matrix.
/// Source: NVIDIA Model-Optimizer export; hf_quant_config.json of the checkpoint names what is excluded.
Result<Checkpoint> deriveNvfp4Experts(const Checkpoint &source);

} // namespace weir

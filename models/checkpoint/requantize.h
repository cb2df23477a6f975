// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <string_view>

namespace weir {

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

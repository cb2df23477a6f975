// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <string>

namespace weir {

/// The weights behind a checkpoint, whatever it is stored as: what all derivations start from.
/// - Every group is one logical weight with its shape slowest dimension first, `[N, K]` for the matrix of a
///   linear layer (N outputs, K inputs), whichever way the format stores or packs it.
/// - Routed experts (and those of the draft head) are one matrix an expert, a fused gate and up are two.
///   Expert biases and MLA's per-head projections of GGUF files keep three dimensions.
/// - Scales, zero points and maps are gone; packed weights have the model's dtype, BF16 where none is known.
///   Of a GGUF file, what its converter widened to F32 (norms, routers, biases) has the model's dtype again.
/// `sums` are filled; `format` is Safetensors and the names stay those of the source.
/// Error "quant.no-shapes" (kind Usage): a packed weight whose shape cannot be told.
Result<Checkpoint> unquantized(const Checkpoint &source);

/// Experts of a group of expert matrices; 1 for any other group.
std::uint64_t expertsOf(const Checkpoint &checkpoint, const TensorGroup &group);

/// True if the last part of the name says that it is the weight of a layer: no bias, no bare parameter.
bool isWeight(const TensorGroup &group);

/// The name without the last part, if that says "weight" in one of its spellings.
std::string moduleOf(const TensorGroup &group);

/// The dtype that derived weights have before they are quantized: "BF16", "F16" or "F32".
std::string floatDtype(const Checkpoint &checkpoint);

} // namespace weir

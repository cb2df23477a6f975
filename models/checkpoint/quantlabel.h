// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"
#include "models/checkpoint/config.h"

#include <string>
#include <string_view>

namespace weir {

/// The label of a classified safetensors checkpoint in the vocabulary of --quant, from what is declared as far as
/// the tensors bear it out: "bf16" where nothing is packed, "…-mixed" where half of the decoder's matrices are not.
std::string safetensorsQuantization(const ModelConfig &config, const Checkpoint &checkpoint);

/// Adds "checkpoint.quantization-contradicted" where the config declares a quantization but at least half of the
/// parameters in the decoder's matrices are plain floats.
void noteContradictedQuantization(const ModelConfig &config, Checkpoint &checkpoint);

/// The same for what the name of a folder or repository promises ("…-AWQ-4bit"): "checkpoint.name-contradicted",
/// and where they are packed at twice the promised bits or more: "checkpoint.name-understated".
void noteContradictedName(std::string_view name, Checkpoint &checkpoint);

} // namespace weir

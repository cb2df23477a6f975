// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/checkpoint/config.h"
#include "models/checkpoint/tensorset.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace weir {

/// The tensors that the published safetensors files of this architecture hold when they are not quantized,
/// with the names, shapes and types that they are published with (what has no type of its own has that of
/// `model.spec.dtype`). Keys that the config leaves out are taken as the transformers library takes them.
/// Draft layers are there if `model.draftLayers` announces them and such files hold them.
/// Errors: "derive.unknown-architecture", "derive.bad-number" (a key that is missing or cannot be),
/// "derive.too-large".
Result<TensorSet> deriveTensors(const nlohmann::json &config, const ModelConfig &model,
                                const std::string &subject);

/// A whole checkpoint from a config alone: derived tensors, classified (provenance Config, format
/// Safetensors, no files, not quantized whatever the config declares). `model`, if given, receives what the
/// config says, its declared quantization among it. Errors: those of readModelConfig() and deriveTensors().
Result<Checkpoint> deriveCheckpoint(const nlohmann::json &config, const nlohmann::json *quantConfig,
                                    const std::string &subject, ModelConfig *model = nullptr);

/// Where a checkpoint that was read from its files and the one derived from its config differ in parameters,
/// component by component; empty if nowhere. Differences in the draft head and rounding by quantization are
/// Info, all others Warning.
std::vector<Message> compareWithConfig(const Checkpoint &read, const Checkpoint &derived);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/derive/blocks.h"

#include <functional>
#include <string_view>
#include <vector>

namespace weir::derive {

/// Ordinary attention as most configs state it; the key, if any, gives all projections a bias.
AttentionForm plainAttention(DecoderModel &model, const char *biasKey = nullptr);

/// True for the layers that attend, false for those with a state: by `layer_types` (or its older name), else
/// by `otherwise(layer)`.
std::vector<bool> attendingLayers(DecoderModel &model, const std::function<bool(std::size_t)> &otherwise);

// Families in mambas.cpp; the second argument is the model type.
void granite(DecoderModel &model, std::string_view modelType);
void bamba(DecoderModel &model, std::string_view modelType);
void falconH1(DecoderModel &model, std::string_view modelType);
void jamba(DecoderModel &model, std::string_view modelType);
void lfm2(DecoderModel &model, std::string_view modelType);

} // namespace weir::derive

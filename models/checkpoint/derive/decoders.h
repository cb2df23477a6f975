// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/derive/blocks.h"

#include <string_view>

namespace weir::derive {

/// Adds the tensors of a decoder whose layers are all attention and feed-forward (dense or experts), by the
/// table of styles. False: the table does not know the model type.
bool styledDecoder(std::string_view modelType, DecoderModel &model);

/// The same for decoders with recurrent layers, or otherwise of their own form.
bool specialDecoder(std::string_view modelType, DecoderModel &model);

/// True if either knows the model type.
bool knowsDecoder(std::string_view modelType);
bool isSpecialDecoder(std::string_view modelType);

/// How a multimodal model is put together: the model types of its parts where they do not say, and where its
/// decoder hangs in the tree of names.
struct MultimodalForm
{
    std::string_view modelType;
    std::string_view textType;
    std::string_view visionType;
    std::string_view prefix;
    std::string_view head;
};
const MultimodalForm *multimodalForm(std::string_view modelType);

/// Adds the tower and the projector of a multimodal model that multimodalForm() knows. `top` is the outer
/// config, `vision` and `text` its parts.
void visionTower(std::string_view modelType, Keys &top, Keys &vision, Keys &text, TensorBuilder &builder);

} // namespace weir::derive

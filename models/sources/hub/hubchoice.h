// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/sources/hub/hubtypes.h"
#include "models/sources/localfile.h"

#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// What the name of a GGUF file says of its quantization: "Q4_K_M", "UD-Q4_K_XL", "BF16"; empty if nothing.
std::string quantizationLabel(std::string_view path);

/// What can be chosen in a repository: all of its safetensors as one, each GGUF model (split files as one)
/// with a label of its own. Largest last.
std::vector<HubChoice> choicesOf(const std::vector<ListedFile> &listing);

/// The choice that `wanted` names: by label (case does not matter), by file, by part of a split, by the name of
/// a file without folder or ending. Null if none does.
const HubChoice *findChoice(const std::vector<HubChoice> &choices, std::string_view wanted);

/// The choice to take where none was named: safetensors, else the preferred quantization, else Q4_K_M, else the
/// first by name. Null if there is none.
const HubChoice *defaultChoice(const std::vector<HubChoice> &choices, std::string_view preferred);

/// Labels of the choices but one, for people: at most eight.
std::string otherLabels(const std::vector<HubChoice> &choices, const HubChoice *chosen);

/// The rest of the repository beside the files of a checkpoint, and what of it is downloaded with it: config and
/// tokenizer; for GGUF one projector.
std::vector<CompanionFile> companionsOf(const std::vector<ListedFile> &listing, const Checkpoint &checkpoint);

} // namespace weir

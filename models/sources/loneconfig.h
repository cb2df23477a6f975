// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/localfile.h"

#include <filesystem>
#include <vector>

namespace weir {

/// True if the folder holds a `config.json` and no weights in any format: the checkpoint can only be derived.
bool isLoneConfig(const std::vector<ListedFile> &listing);

/// Derives the checkpoint of a folder that isLoneConfig() from its `config.json` (and the side file that
/// declares a quantization). If an index names the tensors, and they are those that were derived, the
/// provenance is Index, else Config. Errors: those of deriveCheckpoint(), and of reading the files.
Result<CheckpointPtr> readLoneConfig(const std::filesystem::path &folder,
                                     const std::vector<ListedFile> &listing);

/// The same from one JSON file of any name.
Result<CheckpointPtr> readConfigFile(const std::filesystem::path &file);

/// Adds notes to a checkpoint that was read from headers, where its own `config.json` leads to other
/// tensors. Nothing is added where the config cannot be derived, and no error comes of it.
CheckpointPtr comparedWithConfig(CheckpointPtr read, const std::filesystem::path &config);

} // namespace weir

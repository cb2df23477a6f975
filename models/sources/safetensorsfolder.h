// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/localfile.h"
#include "models/sources/open.h"

#include <filesystem>
#include <stop_token>
#include <vector>

namespace weir {

/// Reads a model folder with safetensors files: config, index, the header of every weight file. Files
/// that the index does not list are found and counted (marked unlisted), second copies of the same
/// weights are not.
/// @param only  if not empty, read this one file of the folder instead of all of them
Result<CheckpointPtr> readSafetensorsFolder(const std::filesystem::path &folder,
                                            const std::vector<ListedFile> &listing, const std::string &only,
                                            std::stop_token stop, const ProgressCallback &progress);

} // namespace weir

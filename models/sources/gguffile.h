// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/localfile.h"
#include "models/sources/open.h"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// "PREFIX-00002-of-00003.gguf" taken apart.
struct GgufPartName
{
    std::string prefix; ///< with its folder
    unsigned long number = 0;
    unsigned long total = 0;
};
std::optional<GgufPartName> ggufPartName(std::string_view path);

/// Reads a GGUF checkpoint: one file, or all parts of a split of which `file` is one.
Result<CheckpointPtr> readGgufFile(const std::filesystem::path &file, std::stop_token stop,
                                   const ProgressCallback &progress);

/// The model files of a folder, one path each (the first part of splits), projectors and other
/// companions left out.
std::vector<std::string> ggufModels(const std::vector<ListedFile> &listing);

} // namespace weir

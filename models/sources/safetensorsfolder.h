// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/open.h"
#include "models/sources/repositoryfiles.h"

#include <stop_token>
#include <string>
#include <string_view>

namespace weir {

/// Reads a repository with safetensors files: config, index, the header of every weight file. Files
/// that the index does not list are found and counted (marked unlisted), second copies of the same
/// weights are not.
/// @param only  if not empty, read this one file of the repository instead of all of them
Result<CheckpointPtr> readSafetensors(RepositoryFiles &files, const std::string &only, std::stop_token stop,
                                      const ProgressCallback &progress);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/open.h"
#include "models/sources/repositoryfiles.h"

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
/// The names of all parts; none if there are more than a split can have.
std::vector<std::string> ggufPartNames(const GgufPartName &name);

/// All files of the split of which `path` is one, in order; itself if it is none.
Result<std::vector<std::string>> ggufParts(const RepositoryFiles &files, const std::string &path);

/// Reads a GGUF checkpoint of these parts.
Result<CheckpointPtr> readGguf(RepositoryFiles &files, const std::vector<std::string> &parts,
                               std::stop_token stop, const ProgressCallback &progress);

/// Projectors, draft heads and importance matrices beside a model: no model by themselves.
bool isGgufCompanion(std::string_view path);

/// Notes the projector among the companions of a checkpoint: it is needed for images or sound and is not counted.
void noteProjector(Checkpoint &checkpoint);

/// The model files of a listing, one path each (the first part of splits), projectors and other
/// companions left out.
std::vector<std::string> ggufModels(const std::vector<ListedFile> &listing);

} // namespace weir

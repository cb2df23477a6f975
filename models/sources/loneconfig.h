// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/repositoryfiles.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace weir {

/// True if the repository holds a `config.json` and no weights in any format: the checkpoint can only be derived.
bool isLoneConfig(const std::vector<ListedFile> &listing);

/// Derives the checkpoint of a repository that isLoneConfig() from its `config.json` (and the side file that
/// declares a quantization). If an index names the tensors, and they are those that were derived, the
/// provenance is Index, else Config. Errors: those of deriveCheckpoint(), and of reading the files.
Result<CheckpointPtr> readLoneConfig(RepositoryFiles &files, std::stop_token stop);

/// A checkpoint from a config, at the quantization that it (or the side file) declares as far as that is known;
/// `notes` go before its own. Errors: those of deriveCheckpoint().
Result<Checkpoint> deriveDeclared(const nlohmann::json &config, const nlohmann::json *side,
                                  const std::string &subject, std::vector<Message> notes);

/// Makes the provenance of a derived checkpoint Index if the index names the tensors that were derived, and notes
/// the first difference if not.
Result<void> compareWithIndex(Checkpoint &checkpoint, RepositoryFiles &files, const std::string &index,
                              const std::stop_token &stop);

/// The same from one JSON file of any name.
Result<CheckpointPtr> readConfigFile(const std::filesystem::path &file);

/// Adds notes to a checkpoint that was read from headers, where its own `config.json` leads to other
/// tensors. Nothing is added where the config cannot be derived, and no error comes of it.
CheckpointPtr comparedWithConfig(CheckpointPtr read, RepositoryFiles &files, std::stop_token stop);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/repositoryfiles.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// True for a file of weights that PyTorch pickled: `pytorch_model.bin`, `consolidated.00.pth` ...; false for the
/// states of an optimizer or trainer.
bool isPickleFile(std::string_view path);

/// The pickle files that are the model, sorted: those that the index names, else the usual names; none where the
/// weights are in another format, or there is no `config.json` to size them by.
std::vector<std::string> pickleModel(const RepositoryFiles &files);

/// Sizes such a checkpoint without opening a pickle, which can run code: tensors come from `config.json` at the dtype
/// that fits the sizes of the files, names from the index if there is one (provenance Index or Config); what the
/// files hold beyond the tensors is a remainder in `other`, so that all weights are as large as the files. Notes say
/// how the two compare. Errors: "folder.pickle-only" where the config cannot be derived, "folder.missing-shard",
/// and those of reading the files.
Result<CheckpointPtr> readPickles(RepositoryFiles &files, std::stop_token stop);

} // namespace weir

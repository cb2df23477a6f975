// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/disk/disk.h"
#include "models/sources/localfile.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weir {

/// The files of one folder, by names and sizes, however they came to be listed.
struct DiskFolder
{
    std::filesystem::path path;
    std::vector<ListedFile> files;        ///< relative paths, sorted
    std::vector<std::string> missing;     ///< links to nowhere, pipes: named but not to be read
    std::vector<std::string> unfinished;  ///< what downloads that did not end left behind
    bool withSubfolders = false;          ///< the listing goes deeper: a snapshot
};

/// One of the checkpoints that lie in a folder. Name, kind and place are left to the caller; `stem` is the name of
/// its file without quantization and ending where the folder alone does not tell it apart.
struct FolderCheckpoint
{
    DiskCheckpoint checkpoint;
    std::string stem;
};

/// What can be opened in a folder: all of its safetensors as one, each GGUF model with a quantization of its own, a
/// pickle checkpoint; each with what is missing of it. Adapters, pipelines and lone companions are left out.
std::vector<FolderCheckpoint> checkpointsOf(const DiskFolder &folder);

/// Seconds since 1970; 0 if that cannot be asked for.
std::int64_t modifiedSeconds(const std::filesystem::path &path);

/// True for the name of a file that a download has not finished; `name` then becomes what it will be called.
bool isUnfinishedName(std::string &name);

} // namespace weir

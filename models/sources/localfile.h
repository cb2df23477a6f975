// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weir {

/// Size of a regular file (links are followed). FIFOs, devices, sockets and folders are refused with
/// "file.not-regular", links to themselves with "file.link-loop", absent ones with "file.not-found", unreadable ones with "file.denied".
Result<std::uint64_t> regularFileSize(const std::filesystem::path &file);

/// A whole small file as text; at most `limit` bytes ("file.too-large").
Result<std::string> readTextFile(const std::filesystem::path &file, std::uint64_t limit);

/// One file of a folder tree.
struct ListedFile
{
    std::string path; ///< relative, with '/'
    std::uint64_t bytes = 0;
};

/// Regular files below a folder, sorted by path. Links to files are followed, links to folders are not
/// (no loops); `.git` and `.cache` are left out. At most 100,000 entries and 8 levels ("folder.too-large").
Result<std::vector<ListedFile>> listFolder(const std::filesystem::path &folder);

} // namespace weir

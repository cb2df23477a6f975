// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/open.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace weir {

/// A repository's folder in a cache of the Hub's client: `models--org--name`.
struct CachedRepository
{
    std::string name; ///< org/name
    std::filesystem::path folder;
};

/// A downloaded state of a repository.
struct CachedSnapshot
{
    std::string commit;
    std::string revision; ///< a branch or tag that stands for it; empty: none does
    std::int64_t modified = 0; ///< seconds since 1970
};

/// The name in "models--org--name"; empty if it is no name of a repository of models.
std::optional<std::string> cachedRepositoryName(std::string_view folder);

/// Repositories of models in a cache, by name. Links are not followed; at most `limit` entries are looked at, `cut`
/// then says so. Error: "file.denied".
Result<std::vector<CachedRepository>> listHubCache(const std::filesystem::path &cache, std::size_t limit,
                                                   const std::stop_token &stop, bool &cut);

/// Snapshots of a repository: that of `main` first, then the newest.
std::vector<CachedSnapshot> cachedSnapshots(const std::filesystem::path &repositoryFolder);

/// The cache at a path: the folder itself if it holds `models--*`, else `hub` below it. Empty if it is none.
std::optional<std::filesystem::path> hubCacheOf(const std::filesystem::path &path);

/// True if files of weights lie in the folder itself.
bool holdsWeights(const std::filesystem::path &folder);

/// Reads a path in a cache of the Hub's client: a repository's folder (`main`, else the newest snapshot), a
/// snapshot, a file in one; or the cache itself if it holds one model, else an error that names what it holds. Links
/// are followed to the repository's own blobs and nowhere else. Empty if the path leads to no such cache.
/// Errors: "cache.empty", "cache.several", "cache.file-missing", and those of the readers.
std::optional<Result<CheckpointPtr>> readHubCachePath(const std::filesystem::path &path,
                                                      const std::stop_token &stop,
                                                      const ProgressCallback &progress,
                                                      const std::string &preferred);

} // namespace weir

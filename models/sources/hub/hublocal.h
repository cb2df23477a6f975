// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/hub/hubtypes.h"
#include "models/sources/repositoryfiles.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace weir {

/// A repository as the official client left it in its cache.
struct HubSnapshot
{
    std::string commit;
    std::vector<std::string> missing; ///< named by the snapshot, but their contents are not there
    std::unique_ptr<RepositoryFiles> files; ///< whatever of the repository was downloaded
};

/// Looks a revision up in the official client's cache (`models--org--name/refs`, `/snapshots`). Links that lead
/// out of the repository's own folder are left out, and so are those that lead nowhere.
/// Empty if nothing of it is there.
std::optional<HubSnapshot> openSnapshot(const std::filesystem::path &hubCache, const std::string &repository,
                                        const std::string &revision);

/// The same for one commit of a repository's folder (`models--org--name`) in the cache.
std::optional<HubSnapshot> openSnapshotFolder(const std::filesystem::path &repositoryFolder,
                                              const std::string &commit);

/// The commit that a branch or tag of a repository's folder stands for; empty if it is not known there.
std::string snapshotCommit(const std::filesystem::path &repositoryFolder, const std::string &revision);

} // namespace weir

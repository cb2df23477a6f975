// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hublocal.h"

#include "models/checkpoint/safetensors.h"
#include "models/sources/hub/hubreference.h"

#include <algorithm>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t maxEntries = 100'000;
constexpr int maxDepth = 8;

/// One line with the commit of a branch or tag.
std::string readRef(const fs::path &file)
{
    const Result<std::string> text = readTextFile(file, 1024);
    if (!text)
        return {};
    const std::size_t end = text->find_last_not_of(" \t\r\n");
    std::string commit = end == std::string::npos ? std::string() : text->substr(0, end + 1);
    return isCommit(commit) ? commit : std::string();
}

bool isBelow(const fs::path &path, const fs::path &folder)
{
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    static_cast<void>(rest);
    return end == folder.end();
}

} // namespace

std::optional<HubSnapshot> openSnapshot(const fs::path &hubCache, const std::string &repository,
                                        const std::string &revision)
{
    if (hubCache.empty() || !isPlainRelativePath(revision))
        return std::nullopt;
    std::string name = repository;
    if (const std::size_t slash = name.find('/'); slash != std::string::npos)
        name.replace(slash, 1, "--");
    const fs::path folder = hubCache / ("models--" + name);
    return openSnapshotFolder(folder, isCommit(revision) ? revision : snapshotCommit(folder, revision));
}

std::string snapshotCommit(const fs::path &repositoryFolder, const std::string &revision)
{
    return isPlainRelativePath(revision) ? readRef(repositoryFolder / "refs" / revision) : std::string();
}

std::optional<HubSnapshot> openSnapshotFolder(const fs::path &repositoryFolder, const std::string &commit)
{
    std::error_code error;
    const fs::path folder = fs::canonical(repositoryFolder, error);
    if (error || !isCommit(commit))
        return std::nullopt;
    HubSnapshot snapshot;
    snapshot.commit = commit;
    const fs::path root = folder / "snapshots" / snapshot.commit;
    // A link in the place of the snapshot would lead anywhere.
    if (fs::symlink_status(root, error).type() != fs::file_type::directory)
        return std::nullopt;

    std::vector<ListedFile> listing;
    std::size_t entries = 0;
    fs::recursive_directory_iterator each(root, fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; !error && each != end; each.increment(error)) {
        if (++entries > maxEntries)
            break;
        std::error_code ignored;
        if (each->is_directory(ignored)) {
            if (each.depth() >= maxDepth)
                each.disable_recursion_pending();
            continue;
        }
        // What a link leads to is opened on the user's behalf: it must be this repository's own.
        const fs::path target = fs::canonical(each->path(), ignored);
        if (ignored) {
            // A link to a blob that was deleted, or never came.
            if (each->is_symlink())
                snapshot.missing.push_back(each->path().lexically_relative(root).generic_string());
            continue;
        }
        if (!isBelow(target, folder) || !fs::is_regular_file(target, ignored))
            continue;
        const std::uintmax_t bytes = fs::file_size(target, ignored);
        if (!ignored)
            listing.push_back({each->path().lexically_relative(root).generic_string(), bytes});
    }
    if (listing.empty())
        return std::nullopt;
    std::sort(listing.begin(), listing.end(),
              [](const ListedFile &a, const ListedFile &b) { return a.path < b.path; });
    snapshot.files = std::make_unique<FolderFiles>(root, std::move(listing));
    return snapshot;
}

} // namespace weir

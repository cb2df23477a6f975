// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/hubcachepath.h"

#include "models/base/units.h"
#include "models/sources/disk/diskfolder.h"
#include "models/sources/hub/hublocal.h"
#include "models/sources/hub/hubread.h"
#include "models/sources/hub/hubreference.h"

#include <algorithm>
#include <map>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "models--";
constexpr std::size_t maxEntries = 100'000;
constexpr std::size_t maxRefs = 1'000;
constexpr int maxRefDepth = 4; ///< refs/pr/1 and names with slashes

/// A path in a repository's folder, taken apart.
struct Place
{
    CachedRepository repository;
    std::string commit; ///< empty: the repository's folder itself
    std::string file;   ///< below the snapshot; empty: the snapshot itself
};

bool isPlainFolder(const fs::path &path)
{
    std::error_code error;
    return fs::symlink_status(path, error).type() == fs::file_type::directory;
}

std::optional<Place> placeOf(const fs::path &path)
{
    std::error_code error;
    fs::path at = fs::absolute(path, error).lexically_normal();
    if (error)
        return std::nullopt;
    if (at.filename().empty())
        at = at.parent_path();
    const fs::path whole = at;
    for (int depth = 0; depth <= 10 && at.has_relative_path(); ++depth, at = at.parent_path()) {
        auto name = cachedRepositoryName(at.filename().string());
        if (!name || !fs::is_directory(at / "snapshots", error))
            continue;
        Place place{{*std::move(name), at}, {}, {}};
        const fs::path rest = whole.lexically_relative(at);
        if (rest == ".")
            return place;
        auto part = rest.begin();
        if (*part != "snapshots" || ++part == rest.end() || !isCommit(part->string()))
            return std::nullopt; // a blob by its hash: a file like any other
        place.commit = part->string();
        fs::path file;
        for (++part; part != rest.end(); ++part)
            file /= *part;
        place.file = file.generic_string();
        return place;
    }
    return std::nullopt;
}

Result<CheckpointPtr> readPlace(Place place, const fs::path &path, const std::stop_token &stop,
                                const ProgressCallback &progress, const std::string &preferred)
{
    if (place.commit.empty()) {
        const std::vector<CachedSnapshot> snapshots = cachedSnapshots(place.repository.folder);
        if (snapshots.empty())
            return fail("cache.empty", ErrorKind::NotFound, path.string());
        place.commit = snapshots.front().commit;
    }
    auto snapshot = openSnapshotFolder(place.repository.folder, place.commit);
    if (!snapshot)
        return fail("cache.empty", ErrorKind::NotFound, path.string());
    HubReference reference{place.repository.name, place.commit, {}};
    const std::string &file = place.file;
    const fs::path at = place.repository.folder / "snapshots" / place.commit / file;
    if (!file.empty() && isPlainFolder(at)) { // one quantization of several, in a folder of its own
        std::vector<ListedFile> listing;
        for (const ListedFile &each : snapshot->files->listing()) {
            if (each.path.starts_with(file + '/'))
                listing.push_back({each.path.substr(file.size() + 1), each.bytes});
        }
        snapshot->files = std::make_unique<FolderFiles>(at, std::move(listing));
    } else if (file.ends_with(".gguf") || file.ends_with(".safetensors")) {
        if (snapshot->files->find(file) == nullptr)
            return fail("cache.file-missing", ErrorKind::NotFound, path.string());
        reference.choice = file;
    } else if (!file.empty() && snapshot->files->find(file) == nullptr) {
        return fail("cache.file-missing", ErrorKind::NotFound, path.string());
    }
    Result<Checkpoint> read = readChoice(*snapshot->files, reference, preferred, stop, progress);
    if (!read)
        return std::unexpected(read.error());
    read->source = reference.choice.empty() ? Source::Folder : Source::File;
    read->repository = place.repository.name;
    read->revision = place.commit;
    read->id = path.string();
    read->name = printable(place.repository.name.substr(place.repository.name.rfind('/') + 1), 120);
    read->companions.clear(); // what was downloaded, not what there is
    if (!snapshot->missing.empty()) {
        read->repositoryBytes.reset();
        read->notes.push_back({"hub.snapshot-partial",
                               Severity::Warning,
                               {{"files", std::uint64_t{snapshot->missing.size()}},
                                {"first", printable(snapshot->missing.front())}},
                               {}});
    }
    return std::make_shared<const Checkpoint>(*std::move(read));
}

} // namespace

std::optional<std::string> cachedRepositoryName(std::string_view folder)
{
    if (!folder.starts_with(prefix))
        return std::nullopt;
    std::string name(folder.substr(prefix.size()));
    if (const std::size_t dashes = name.find("--"); dashes != std::string::npos)
        name.replace(dashes, 2, "/");
    return isRepositoryName(name) ? std::optional(std::move(name)) : std::nullopt;
}

Result<std::vector<CachedRepository>> listHubCache(const fs::path &cache, std::size_t limit,
                                                   const std::stop_token &stop, bool &cut)
{
    cut = false;
    std::vector<CachedRepository> repositories;
    std::error_code error;
    fs::directory_iterator each(cache, error);
    if (error)
        return fail("file.denied", ErrorKind::Unreadable, cache.string());
    std::size_t seen = 0;
    for (const fs::directory_iterator end; !error && each != end; each.increment(error)) {
        if (stop.stop_requested())
            break;
        if (++seen > limit) {
            cut = true;
            break;
        }
        auto name = cachedRepositoryName(each->path().filename().string());
        if (name && isPlainFolder(each->path()))
            repositories.push_back({*std::move(name), each->path()});
    }
    std::sort(repositories.begin(), repositories.end(),
              [](const CachedRepository &a, const CachedRepository &b) { return a.name < b.name; });
    return repositories;
}

std::vector<CachedSnapshot> cachedSnapshots(const fs::path &repositoryFolder)
{
    std::map<std::string, std::string> revisions; // by commit
    std::error_code error;
    const fs::path refs = repositoryFolder / "refs";
    fs::recursive_directory_iterator ref(refs, fs::directory_options::skip_permission_denied, error);
    std::size_t seen = 0;
    for (const fs::recursive_directory_iterator end; !error && ref != end && seen < maxRefs;
         ref.increment(error)) {
        ++seen;
        if (ref.depth() >= maxRefDepth)
            ref.disable_recursion_pending();
        std::error_code ignored;
        if (!ref->is_regular_file(ignored))
            continue;
        const std::string name = ref->path().lexically_relative(refs).generic_string();
        const std::string commit = snapshotCommit(repositoryFolder, name);
        if (commit.empty())
            continue;
        const auto known = revisions.try_emplace(commit, name).first;
        if (name == "main" || (known->second != "main" && name < known->second))
            known->second = name;
    }
    std::vector<CachedSnapshot> snapshots;
    error.clear();
    fs::directory_iterator each(repositoryFolder / "snapshots", error);
    seen = 0;
    for (const fs::directory_iterator end; !error && each != end && seen < maxRefs; each.increment(error)) {
        ++seen;
        std::string commit = each->path().filename().string();
        if (!isCommit(commit) || !isPlainFolder(each->path()))
            continue;
        const auto revision = revisions.find(commit);
        snapshots.push_back({std::move(commit),
                             revision == revisions.end() ? std::string() : revision->second,
                             modifiedSeconds(each->path())});
    }
    std::sort(snapshots.begin(), snapshots.end(), [](const CachedSnapshot &a, const CachedSnapshot &b) {
        const bool aMain = a.revision == "main";
        const bool bMain = b.revision == "main";
        return aMain != bMain             ? aMain
               : a.modified != b.modified ? a.modified > b.modified
                                          : a.commit < b.commit;
    });
    return snapshots;
}

std::optional<fs::path> hubCacheOf(const fs::path &path)
{
    for (const fs::path &folder : {path, path / "hub"}) {
        std::error_code error;
        fs::directory_iterator each(folder, error);
        std::size_t seen = 0;
        for (const fs::directory_iterator end; !error && each != end && seen < maxEntries;
             each.increment(error)) {
            ++seen;
            if (cachedRepositoryName(each->path().filename().string())
                && isPlainFolder(each->path() / "snapshots"))
                return folder;
        }
    }
    return std::nullopt;
}

bool holdsWeights(const fs::path &folder)
{
    std::error_code error;
    fs::directory_iterator each(folder, error);
    std::size_t seen = 0;
    for (const fs::directory_iterator end; !error && each != end && seen < maxEntries;
         each.increment(error)) {
        ++seen;
        const std::string name = each->path().filename().string();
        if (name.ends_with(".gguf") || name.ends_with(".safetensors"))
            return true;
    }
    return false;
}

std::optional<Result<CheckpointPtr>> readHubCachePath(const fs::path &path, const std::stop_token &stop,
                                                      const ProgressCallback &progress,
                                                      const std::string &preferred)
{
    if (auto place = placeOf(path))
        return readPlace(*std::move(place), path, stop, progress, preferred);
    std::error_code error;
    // Beside a model, such a folder is somebody's own business.
    if (!fs::is_directory(path, error) || fs::exists(path / "config.json", error) || holdsWeights(path))
        return std::nullopt;
    const auto cache = hubCacheOf(path);
    if (!cache)
        return std::nullopt;
    bool cut = false;
    Result<std::vector<CachedRepository>> repositories = listHubCache(*cache, maxEntries, stop, cut);
    if (!repositories)
        return std::unexpected(repositories.error());
    if (stop.stop_requested())
        return fail("cancelled", ErrorKind::Unreadable, path.string());
    std::erase_if(*repositories,
                  [](const CachedRepository &each) { return cachedSnapshots(each.folder).empty(); });
    if (repositories->empty())
        return fail("cache.empty", ErrorKind::NotFound, path.string());
    if (repositories->size() == 1)
        return readPlace({repositories->front(), {}, {}}, path, stop, progress, preferred);
    std::vector<std::string> names;
    for (const CachedRepository &each : *repositories)
        names.push_back(each.folder.filename().string());
    return fail("cache.several", ErrorKind::Unreadable, path.string(),
                {{"count", std::uint64_t{repositories->size()}}, {"names", someNames(names)}});
}

} // namespace weir

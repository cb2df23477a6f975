// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/disk.h"

#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/sources/disk/diskfolder.h"
#include "models/sources/disk/hubcachepath.h"
#include "models/sources/disk/ollamafiles.h"
#include "models/sources/disk/ollamastore.h"
#include "models/sources/hub/hublocal.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t maxEntries = 100'000; ///< of one place
constexpr int maxDepth = 6;

/// An error as a note, for what was left out because of it.
Message asMessage(const Error &error)
{
    Message message{error.id, Severity::Warning, error.arguments, {}};
    message.arguments.emplace_back("subject", printable(error.subject, 600));
    return message;
}

bool isModelName(std::string_view name) { return name.ends_with(".gguf") || name.ends_with(".safetensors"); }

class Lister
{
public:
    explicit Lister(std::stop_token stop)
        : m_stop(std::move(stop))
    {}

    DiskListing run(std::span<const DiskPlace> places)
    {
        for (const DiskPlace &place : places) {
            if (stopped())
                break;
            const auto begin = static_cast<std::ptrdiff_t>(m_out.checkpoints.size());
            list(place);
            std::stable_sort(m_out.checkpoints.begin() + begin, m_out.checkpoints.end(),
                             [](const DiskCheckpoint &a, const DiskCheckpoint &b) {
                                 return a.name != b.name ? a.name < b.name : a.bytes < b.bytes;
                             });
        }
        if (m_full) {
            m_out.notes.push_back(
                {"disk.too-many", Severity::Warning, {{"limit", std::uint64_t{maxDiskCheckpoints}}}, {}});
        }
        m_out.stopped = m_stop.stop_requested();
        return std::move(m_out);
    }

private:
    bool stopped() const { return m_full || m_stop.stop_requested(); }

    void watch(const fs::path &folder)
    {
        if (m_out.watched.size() < maxWatchedFolders && m_watched.insert(folder).second)
            m_out.watched.push_back(folder);
    }

    void note(std::string id, const fs::path &path)
    {
        Message message{std::move(id), Severity::Warning, {}, {}};
        message.arguments.emplace_back("path", printable(path.string(), 600));
        m_out.notes.push_back(std::move(message));
    }

    void noteCut(const fs::path &path)
    {
        m_out.notes.push_back(
            {"disk.too-many-entries",
             Severity::Warning,
             {{"path", printable(path.string(), 600)}, {"limit", std::uint64_t{maxEntries}}},
             {}});
    }

    void add(const DiskPlace &place, DiskCheckpoint checkpoint, const std::string &name)
    {
        if (m_out.checkpoints.size() >= maxDiskCheckpoints) {
            m_full = true;
            return;
        }
        checkpoint.kind = place.kind;
        checkpoint.place = place.path;
        checkpoint.name = printable(name, 200);
        m_out.checkpoints.push_back(std::move(checkpoint));
    }

    void list(const DiskPlace &place)
    {
        std::error_code error;
        if (!fs::is_directory(place.path, error)) {
            note(error == std::errc::permission_denied ? "disk.denied" : "disk.no-folder", place.path);
            return;
        }
        const fs::directory_iterator probe(place.path, error);
        if (error) {
            note("disk.denied", place.path);
            return;
        }
        watch(place.path);
        switch (place.kind) {
        case DiskPlaceKind::HuggingFaceCache: listCache(place); return;
        case DiskPlaceKind::Ollama: listOllama(place); return;
        case DiskPlaceKind::LlamaCppCache:
            listCache(place); // newer builds lay LLAMA_CACHE out as the Hub's client does
            listTree(place);
            return;
        case DiskPlaceKind::LmStudio:
        case DiskPlaceKind::Folder: listTree(place); return;
        }
    }

    void listCache(const DiskPlace &place)
    {
        bool cut = false;
        const Result<std::vector<CachedRepository>> repositories =
            listHubCache(place.path, maxEntries, m_stop, cut);
        if (!repositories)
            return note("disk.denied", place.path);
        if (cut)
            noteCut(place.path);
        for (const CachedRepository &repository : *repositories) {
            if (stopped())
                return;
            listRepository(place, repository);
        }
    }

    void listRepository(const DiskPlace &place, const CachedRepository &repository)
    {
        watch(repository.folder / "snapshots");
        const std::vector<std::string> unfinished = unfinishedBlobs(repository.folder / "blobs");
        if (!unfinished.empty())
            watch(repository.folder / "blobs");
        const std::vector<CachedSnapshot> snapshots = cachedSnapshots(repository.folder);
        for (const CachedSnapshot &each : snapshots) {
            if (stopped())
                return;
            const bool plain = each.revision == "main" || (snapshots.size() == 1 && each.revision.empty());
            const std::string name =
                plain ? repository.name
                      : repository.name + '@'
                            + (each.revision.empty() ? each.commit.substr(0, 12) : each.revision);
            DiskFolder folder{repository.folder / "snapshots" / each.commit, {}, {}, {}, true};
            if (auto snapshot = openSnapshotFolder(repository.folder, each.commit)) {
                folder.files = snapshot->files->listing();
                folder.missing = std::move(snapshot->missing);
            }
            if (folder.missing.empty() && !hasWeights(folder.files) && !unfinished.empty())
                folder.unfinished = unfinished;
            for (FolderCheckpoint &found : checkpointsOf(folder))
                add(place, std::move(found.checkpoint), name);
        }
        if (snapshots.empty() && !unfinished.empty()) {
            DiskFolder folder{repository.folder, {}, {}, unfinished, true};
            for (FolderCheckpoint &found : checkpointsOf(folder))
                add(place, std::move(found.checkpoint), repository.name);
        }
    }

    static bool hasWeights(const std::vector<ListedFile> &files)
    {
        return std::any_of(files.begin(), files.end(),
                           [](const ListedFile &file) { return isModelName(file.path); });
    }

    std::vector<std::string> unfinishedBlobs(const fs::path &blobs) const
    {
        std::vector<std::string> names;
        std::error_code error;
        fs::directory_iterator each(blobs, error);
        std::size_t seen = 0;
        for (const fs::directory_iterator end; !error && each != end && ++seen < maxEntries;
             each.increment(error)) {
            std::string name = each->path().filename().string();
            if (name.ends_with(".incomplete") && names.empty())
                names.push_back(std::move(name));
            if (m_stop.stop_requested())
                break;
        }
        return names;
    }

    void listOllama(const DiskPlace &place)
    {
        const fs::path manifests = place.path / "manifests";
        watch(place.path / "blobs");
        bool cut = false;
        const Result<std::vector<OllamaEntry>> entries =
            listOllamaManifests(place.path, manifests, maxEntries, m_stop, cut);
        if (!entries)
            return note("disk.denied", manifests);
        if (cut)
            noteCut(manifests);
        watch(manifests);
        std::error_code error;
        const fs::directory_iterator blobs(place.path / "blobs", error);
        if (error)
            note("disk.denied", place.path / "blobs");
        for (const OllamaEntry &entry : *entries) {
            if (stopped())
                return;
            fs::path folder = entry.manifest.parent_path();
            for (int up = 0; up < 3; ++up, folder = folder.parent_path())
                watch(folder);
            add(place, ollamaCheckpoint(place, entry), entry.name.shortest());
        }
    }

    static DiskCheckpoint ollamaCheckpoint(const DiskPlace &place, const OllamaEntry &entry)
    {
        DiskCheckpoint checkpoint;
        checkpoint.argument = entry.manifest.string();
        checkpoint.modified = modifiedSeconds(entry.manifest);
        const Result<OllamaModel> model = openOllamaModel(place.path, entry);
        if (!model) {
            checkpoint.complete = model.error().id.ends_with(".remote"); // nothing of it is missing
            checkpoint.problem = asMessage(model.error());
            return checkpoint;
        }
        const std::vector<OllamaLayer> weights = ollamaWeights(model->manifest, model->config);
        if (weights.empty()) {
            checkpoint.problem = asMessage(Error{"ollama.no-weights",
                                                 ErrorKind::Unreadable,
                                                 entry.name.shortest(),
                                                 {{"layers", std::uint64_t{model->manifest.layers.size()}}}});
            return checkpoint;
        }
        const bool gguf = weights.front().kind == OllamaLayerKind::Model;
        checkpoint.format = gguf ? Format::Gguf : Format::Safetensors;
        checkpoint.quantization = model->config.quantization;
        for (const OllamaLayer &layer : weights) {
            checkpoint.bytes = saturatingAdd(checkpoint.bytes, layer.bytes);
            if (!checkpoint.complete)
                continue;
            if (const Result<void> blob = checkOllamaBlob(place.path, layer, entry.name.shortest()); !blob) {
                checkpoint.complete = false;
                checkpoint.problem = asMessage(blob.error());
            }
        }
        return checkpoint;
    }

    /// Folder by folder, the upper ones first; links to folders are followed, each folder once.
    void listTree(const DiskPlace &place)
    {
        struct Folder
        {
            fs::path path;
            int depth = 0;
        };
        std::deque<Folder> folders{{place.path, 0}};
        std::set<fs::path> known;
        std::size_t seen = 0;
        while (!folders.empty() && !stopped()) {
            const Folder at = std::move(folders.front());
            folders.pop_front();
            std::error_code error;
            if (!known.insert(fs::canonical(at.path, error)).second)
                continue;
            fs::directory_iterator each(at.path, error);
            if (error) {
                note("disk.denied", at.path);
                continue;
            }
            if (at.depth <= 2)
                watch(at.path);
            DiskFolder folder;
            folder.path = at.path;
            std::vector<fs::path> below;
            for (const fs::directory_iterator end; !error && each != end && !stopped();
                 each.increment(error)) {
                if (++seen > maxEntries) {
                    noteCut(place.path);
                    folders.clear();
                    below.clear();
                    break;
                }
                std::error_code ignored;
                std::string name = each->path().filename().string();
                if (each->is_directory(ignored)) {
                    if (at.depth < maxDepth && !name.starts_with('.') && !cachedRepositoryName(name))
                        below.push_back(each->path());
                } else {
                    takeFile(*each, std::move(name), folder);
                }
            }
            std::sort(folder.files.begin(), folder.files.end(),
                      [](const ListedFile &a, const ListedFile &b) { return a.path < b.path; });
            addFolder(place, folder);
            const bool pipeline =
                std::any_of(folder.files.begin(), folder.files.end(),
                            [](const ListedFile &file) { return file.path == "model_index.json"; });
            if (pipeline) // its parts are no models of their own
                continue;
            std::sort(below.begin(), below.end());
            for (fs::path &path : below)
                folders.push_back({std::move(path), at.depth + 1});
        }
    }

    static void takeFile(const fs::directory_entry &entry, std::string name, DiskFolder &folder)
    {
        std::error_code error;
        if (entry.status(error).type() != fs::file_type::regular) {
            if (isModelName(name))
                folder.missing.push_back(std::move(name));
            return;
        }
        if (isUnfinishedName(name)) {
            if (isModelName(name))
                folder.unfinished.push_back(std::move(name));
            return;
        }
        const std::uintmax_t bytes = entry.file_size(error);
        if (!error)
            folder.files.push_back({std::move(name), bytes});
    }

    void addFolder(const DiskPlace &place, const DiskFolder &folder)
    {
        std::vector<FolderCheckpoint> found = checkpointsOf(folder);
        if (found.empty())
            return;
        const fs::path relative = folder.path.lexically_relative(place.path);
        const bool top = relative == ".";
        const std::map<std::string, std::string> repositories = place.kind == DiskPlaceKind::LlamaCppCache
                                                                    ? llamaCppRepositories(folder)
                                                                    : std::map<std::string, std::string>();
        std::map<std::string, int>
            uses; // of a quantization: where two have the same, the file tells them apart
        for (const FolderCheckpoint &each : found)
            ++uses[each.checkpoint.quantization];
        for (FolderCheckpoint &each : found) {
            std::string name = top ? folder.path.filename().string() : relative.generic_string();
            if (name.empty())
                name = folder.path.parent_path().filename().string();
            const auto repository =
                std::find_if(repositories.begin(), repositories.end(),
                             [&each](const auto &known) { return each.stem.starts_with(known.first); });
            if (repository != repositories.end())
                name = repository->second;
            else if (!each.stem.empty() && (top || uses[each.checkpoint.quantization] > 1))
                name = top ? each.stem : name + '/' + each.stem;
            add(place, std::move(each.checkpoint), name);
        }
    }

    /// "org_name_" to "org/name", from files called "manifest=org=name=tag.json": what llama.cpp's older builds put
    /// before the name of a file. Source: llama.cpp common/download.cpp and common/arg.cpp of 2025.
    static std::map<std::string, std::string> llamaCppRepositories(const DiskFolder &folder)
    {
        std::map<std::string, std::string> repositories;
        constexpr std::string_view beginning = "manifest=";
        for (const ListedFile &file : folder.files) {
            if (!file.path.starts_with(beginning) || !file.path.ends_with(".json"))
                continue;
            const std::string_view rest = std::string_view(file.path).substr(beginning.size());
            const std::size_t first = rest.find('=');
            const std::size_t second = first == std::string_view::npos ? first : rest.find('=', first + 1);
            if (second == std::string_view::npos)
                continue;
            const std::string owner(rest.substr(0, first));
            const std::string name(rest.substr(first + 1, second - first - 1));
            repositories[owner + '_' + name + '_'] = owner + '/' + name;
        }
        return repositories;
    }

    std::stop_token m_stop;
    DiskListing m_out;
    std::set<fs::path> m_watched;
    bool m_full = false;
};

} // namespace

DiskListing listDisk(std::span<const DiskPlace> places, std::stop_token stop)
{
    return Lister(std::move(stop)).run(places);
}

} // namespace weir

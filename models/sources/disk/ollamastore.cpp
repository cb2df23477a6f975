// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/ollamastore.h"

#include "models/base/sha256.h"
#include "models/base/units.h"
#include "models/sources/disk/ollamafiles.h"
#include "models/sources/localfile.h"

#include <algorithm>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t maxEntries = 100'000;

bool isFolder(const fs::path &path)
{
    std::error_code error;
    return fs::is_directory(path, error);
}

/// A regular file, not by a link.
bool isPlainFile(const fs::path &path)
{
    std::error_code error;
    return fs::symlink_status(path, error).type() == fs::file_type::regular;
}

fs::path blobPath(const fs::path &store, const OllamaLayer &layer)
{
    return store / "blobs" / ollamaBlobName(layer);
}

Result<CheckpointPtr> finished(Result<Checkpoint> read, const fs::path &path)
{
    if (!read)
        return std::unexpected(read.error());
    read->id = path.string();
    return std::make_shared<const Checkpoint>(*std::move(read));
}

} // namespace

bool isOllamaStore(const fs::path &folder)
{
    return isFolder(folder / "manifests") && isFolder(folder / "blobs");
}

std::optional<fs::path> ollamaStoreOf(const fs::path &path)
{
    std::error_code error;
    fs::path at = fs::absolute(path, error).lexically_normal();
    if (error)
        return std::nullopt;
    if (at.filename().empty())
        at = at.parent_path();
    // manifests/host/namespace/model/tag
    for (int depth = 0; depth <= 4 && at.has_relative_path(); ++depth, at = at.parent_path()) {
        if (at.filename() == "manifests" && isOllamaStore(at.parent_path()))
            return at.parent_path();
    }
    return std::nullopt;
}

Result<std::vector<OllamaEntry>> listOllamaManifests(const fs::path &store, const fs::path &folder,
                                                     std::size_t limit, const std::stop_token &stop,
                                                     bool &cut)
{
    cut = false;
    std::vector<OllamaEntry> entries;
    std::error_code error;
    const fs::directory_iterator probe(folder, error); // without leave to skip: it must open
    if (error)
        return fail("file.denied", ErrorKind::Unreadable, folder.string());
    const fs::path manifests = fs::absolute(store, error).lexically_normal() / "manifests";
    fs::recursive_directory_iterator each(fs::absolute(folder, error).lexically_normal(),
                                          fs::directory_options::skip_permission_denied, error);
    std::size_t seen = 0;
    for (const fs::recursive_directory_iterator end; !error && each != end; each.increment(error)) {
        if (stop.stop_requested())
            break;
        if (++seen > limit) {
            cut = true;
            break;
        }
        if (each.depth() >= 4)
            each.disable_recursion_pending();
        if (!isPlainFile(each->path()))
            continue;
        if (auto name = ollamaNameOfPath(each->path().lexically_relative(manifests).generic_string()))
            entries.push_back({*std::move(name), each->path()});
    }
    std::sort(entries.begin(), entries.end(), [](const OllamaEntry &a, const OllamaEntry &b) {
        return a.name.shortest() < b.name.shortest();
    });
    return entries;
}

Result<OllamaModel> openOllamaModel(const fs::path &store, const OllamaEntry &entry)
{
    const Result<std::string> text = readTextFile(entry.manifest, maxOllamaManifestBytes);
    if (!text)
        return std::unexpected(text.error());
    Result<OllamaManifest> manifest = readOllamaManifest(*text, entry.manifest.string());
    if (!manifest)
        return std::unexpected(manifest.error());
    OllamaModel model{*std::move(manifest), {}, sha256Hex(*text)};
    if (!model.manifest.config.digest.empty()) {
        const std::string name = entry.name.shortest();
        if (const Result<void> blob = checkOllamaBlob(store, model.manifest.config, name); !blob)
            return std::unexpected(blob.error());
        const fs::path file = blobPath(store, model.manifest.config);
        const Result<std::string> config = readTextFile(file, maxOllamaConfigBytes);
        if (!config)
            return std::unexpected(config.error());
        Result<OllamaConfig> parsed = readOllamaConfig(*config, file.string());
        if (!parsed)
            return std::unexpected(parsed.error());
        model.config = *std::move(parsed);
        if (!model.config.remoteHost.empty())
            return fail("ollama.remote", ErrorKind::Unreadable, name, {{"host", model.config.remoteHost}});
    }
    return model;
}

Result<void> checkOllamaBlob(const fs::path &store, const OllamaLayer &layer, const std::string &model)
{
    const fs::path file = blobPath(store, layer);
    const Result<std::uint64_t> size = regularFileSize(file);
    if (!size && size.error().id == "file.not-found") {
        std::error_code error;
        const bool unfinished = fs::exists(file.string() + "-partial", error);
        return fail(unfinished ? "ollama.blob-unfinished" : "ollama.blob-missing", ErrorKind::NotFound,
                    file.string(), {{"model", model}});
    }
    if (!size)
        return std::unexpected(size.error());
    if (*size != layer.bytes) {
        return fail("ollama.blob-size", ErrorKind::Unreadable, file.string(),
                    {{"found", Bytes{*size}}, {"expected", Bytes{layer.bytes}}});
    }
    return {};
}

Result<Checkpoint> readOllamaModel(const fs::path &store, const OllamaEntry &entry,
                                   const std::stop_token &stop, const ProgressCallback &progress)
{
    const Result<OllamaModel> model = openOllamaModel(store, entry);
    if (!model)
        return std::unexpected(model.error());
    const std::string name = entry.name.shortest();
    std::vector<ListedFile> blobs;
    for (const OllamaLayer &layer : model->manifest.layers) {
        if (layer.kind == OllamaLayerKind::Other)
            continue;
        if (const Result<void> blob = checkOllamaBlob(store, layer, name); !blob)
            return std::unexpected(blob.error());
        blobs.push_back({ollamaBlobName(layer), layer.bytes});
    }
    std::sort(blobs.begin(), blobs.end(),
              [](const ListedFile &a, const ListedFile &b) { return a.path < b.path; });
    FolderFiles files(store / "blobs", std::move(blobs));
    Result<Checkpoint> read =
        readOllamaLayers(files, model->manifest, model->config, entry.manifest.string(), stop, progress);
    if (!read)
        return read;
    read->source = Source::Ollama;
    read->revision = "sha256:" + model->digest;
    read->ollama = name;
    read->name = printable(entry.name.model + ':' + entry.name.tag, 120);
    return read;
}

std::optional<Result<CheckpointPtr>> readOllamaPath(const fs::path &path, const std::stop_token &stop,
                                                    const ProgressCallback &progress)
{
    std::optional<fs::path> store;
    fs::path folder = path;
    if (isOllamaStore(path)) {
        store = path;
        folder = path / "manifests";
    } else if (isOllamaStore(path / "models")) { // ~/.ollama
        store = path / "models";
        folder = *store / "manifests";
    } else {
        store = ollamaStoreOf(path);
    }
    if (!store)
        return std::nullopt;
    std::error_code error;
    if (!isFolder(folder)) {
        const fs::path absolute = fs::absolute(path, error).lexically_normal();
        auto name = ollamaNameOfPath(absolute.lexically_relative(*store / "manifests").generic_string());
        if (!name)
            return fail("ollama.not-a-manifest", ErrorKind::Unreadable, path.string());
        return finished(readOllamaModel(*store, {*std::move(name), path}, stop, progress), path);
    }
    bool cut = false;
    const Result<std::vector<OllamaEntry>> entries =
        listOllamaManifests(*store, folder, maxEntries, stop, cut);
    if (!entries)
        return std::unexpected(entries.error());
    if (stop.stop_requested())
        return fail("cancelled", ErrorKind::Unreadable, path.string());
    if (entries->empty())
        return fail("ollama.empty-store", ErrorKind::NotFound, path.string());
    if (entries->size() == 1)
        return finished(readOllamaModel(*store, entries->front(), stop, progress), path);
    std::vector<std::string> names;
    for (const OllamaEntry &each : *entries)
        names.push_back("ollama:" + each.name.shortest());
    return fail("ollama.several", ErrorKind::Unreadable, path.string(),
                {{"count", std::uint64_t{entries->size()}}, {"names", someNames(names)}});
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/open.h"

#include "models/base/ascii.h"
#include "models/base/units.h"
#include "models/checkpoint/quantlabel.h"
#include "models/sources/catalog.h"
#include "models/sources/disk/hubcachepath.h"
#include "models/sources/disk/ollama.h"
#include "models/sources/disk/ollamamanifest.h"
#include "models/sources/disk/ollamastore.h"
#include "models/sources/gguffile.h"
#include "models/sources/hub/hub.h"
#include "models/sources/hub/hubchoice.h"
#include "models/sources/hub/hubreference.h"
#include "models/sources/localfile.h"
#include "models/sources/loneconfig.h"
#include "models/sources/picklefolder.h"
#include "models/sources/repository.h"
#include "models/sources/safetensorsfolder.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

Result<CheckpointPtr> named(Result<CheckpointPtr> read, const fs::path &path)
{
    if (!read)
        return read;
    Checkpoint checkpoint = **read;
    checkpoint.id = path.string();
    fs::path name = path.lexically_normal();
    if (name.filename().empty())
        name = name.parent_path();
    if (name == "." || name == "..") {
        std::error_code error;
        name = fs::absolute(path, error).lexically_normal();
        if (name.filename().empty())
            name = name.parent_path();
    }
    std::string text = name.filename().string();
    if (text.ends_with(".gguf")) {
        const auto part = ggufPartName(text);
        text = part ? part->prefix : text.substr(0, text.size() - 5);
    }
    checkpoint.name = printable(text, 120);
    noteContradictedName(text, checkpoint);
    return std::make_shared<const Checkpoint>(std::move(checkpoint));
}

/// Projectors and other companions in the folder of a GGUF, sorted by name.
std::vector<ListedFile> companionsBeside(const fs::path &file)
{
    constexpr int mostEntries = 10'000;
    std::vector<ListedFile> beside;
    std::error_code error;
    int entries = 0;
    for (fs::directory_iterator each(file.has_parent_path() ? file.parent_path() : fs::path("."), error), end;
         !error && each != end && ++entries <= mostEntries; each.increment(error)) {
        const std::string name = each->path().filename().string();
        std::error_code ignored;
        if (name.ends_with(".gguf") && isGgufCompanion(name) && each->path().filename() != file.filename()
            && fs::status(each->path(), ignored).type() == fs::file_type::regular)
            beside.push_back({name, fs::file_size(each->path(), ignored)});
    }
    std::sort(beside.begin(), beside.end(), [](const auto &a, const auto &b) { return a.path < b.path; });
    return beside;
}

/// One GGUF, with the parts beside it that belong to it.
Result<CheckpointPtr> readGgufFile(const fs::path &file, std::stop_token stop,
                                   const ProgressCallback &progress)
{
    std::vector<ListedFile> listing;
    if (const auto name = ggufPartName(file.filename().string())) {
        for (const std::string &part : ggufPartNames(*name)) {
            std::error_code error;
            const fs::path path = file.parent_path() / part;
            if (fs::exists(path, error))
                listing.push_back({part, fs::file_size(path, error)});
        }
    }
    FolderFiles files(file.parent_path(), std::move(listing));
    const auto parts = ggufParts(files, file.filename().string());
    if (!parts)
        return std::unexpected(parts.error());
    const Result<CheckpointPtr> read = readGguf(files, *parts, std::move(stop), progress);
    const std::vector<ListedFile> beside = companionsBeside(file);
    if (!read || beside.empty())
        return read;
    Checkpoint checkpoint = **read;
    checkpoint.companions = companionsOf(beside, checkpoint);
    noteProjector(checkpoint);
    return std::make_shared<const Checkpoint>(std::move(checkpoint));
}

Result<CheckpointPtr> readFolder(const fs::path &folder, std::stop_token stop,
                                 const ProgressCallback &progress, const std::string &preferred)
{
    Result<std::vector<ListedFile>> listing = listFolder(folder);
    if (!listing)
        return std::unexpected(listing.error());
    FolderFiles files(folder, std::move(*listing));
    if (auto other = otherKindOf(files, stop))
        return std::unexpected(*std::move(other));
    if (!hasTopLevel(files, ".safetensors")) {
        const std::vector<std::string> models = ggufModels(files.listing());
        if (models.size() == 1)
            return readGgufFile(folder / models.front(), std::move(stop), progress);
        if (models.size() > 1) {
            if (!preferred.empty()) {
                const std::vector<HubChoice> choices = choicesOf(files.listing());
                if (const HubChoice *chosen = findChoice(choices, preferred))
                    return readGgufFile(folder / chosen->files.front(), std::move(stop), progress);
            }
            return fail("folder.several-gguf", ErrorKind::Unreadable, folder.string(),
                        {{"count", static_cast<std::uint64_t>(models.size())}, {"names", someNames(models)}});
        }
    }
    if (const auto companion = loneCompanion(files))
        return readGgufFile(folder / *companion, std::move(stop), progress);
    if (files.find("config.json") == nullptr && !hasTopLevel(files, ".safetensors")) {
        const auto &all = files.listing();
        const bool weights = std::any_of(all.begin(), all.end(), [](const ListedFile &file) {
            return file.path.find('/') == std::string::npos && isPickleFile(file.path);
        });
        return fail(weights ? "folder.no-config" : "folder.no-model", ErrorKind::Unreadable, folder.string());
    }
    const bool pickles = !pickleModel(files).empty();
    const bool alone = isLoneConfig(files.listing()) || pickles;
    Result<CheckpointPtr> read = pickles ? readPickles(files, stop)
                                 : alone ? readLoneConfig(files, stop)
                                         : readSafetensors(files, {}, stop, progress);
    if (!read)
        return std::unexpected(withFacts(read.error(), files, stop));
    return alone ? read : comparedWithConfig(*read, files, stop);
}

/// One safetensors file: the whole model if the folder's index names it or it is a shard, else itself.
Result<CheckpointPtr> readOneSafetensors(const fs::path &file, std::stop_token stop,
                                         const ProgressCallback &progress)
{
    if (const Result<std::uint64_t> size = regularFileSize(file); !size)
        return std::unexpected(size.error());
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    Result<std::vector<ListedFile>> listing = listFolder(folder);
    if (!listing)
        return std::unexpected(listing.error());
    FolderFiles files(folder, std::move(*listing));
    const std::string name = file.filename().string();
    if (name.starts_with("adapter_model")
        || (files.find("adapter_config.json") != nullptr && files.find("config.json") == nullptr)) {
        return std::unexpected(adapterError(file.string(), files, stop));
    }
    const bool shard = name.find("-of-") != std::string::npos;
    return readSafetensors(files, shard ? std::string() : name, std::move(stop), progress);
}

/// A model by its name in Ollama: what is on this disk, then what the catalog knows, then the registry.
Result<CheckpointPtr> openOllama(std::string_view argument, const OpenContext &context, std::stop_token stop,
                                 const ProgressCallback &progress)
{
    const auto name = parseOllamaName(argument);
    if (!name && (context.forced || context.ollama != nullptr))
        return fail("ollama.bad-name", ErrorKind::Usage, std::string(argument));
    if (name && context.ollama != nullptr) {
        if (auto read = context.ollama->readLocal(*name, stop, progress))
            return *std::move(read);
    }
    if (!context.forced) {
        if (const CatalogEntry *entry = context.catalog.find(argument))
            return context.catalog.load(*entry);
    }
    if (context.ollama == nullptr)
        return fail("open.unknown", ErrorKind::NotFound, std::string(argument));
    if (context.hub == nullptr || context.hub->settings().offline)
        return fail("ollama.not-here", ErrorKind::NotFound, name->shortest());
    if (name->host == "hf.co" || name->host == "huggingface.co") { // the Hub acting as a registry
        HubReference reference;
        reference.repository = name->space + '/' + name->model;
        if (name->tag != OllamaName{}.tag)
            reference.choice = name->tag;
        return context.hub->read(reference, std::move(stop), progress, context.preferredQuantization);
    }
    return context.ollama->readRegistry(*name, std::move(stop), progress);
}

fs::path expandHome(std::string_view argument)
{
    if (argument == "~" || argument.starts_with("~/")) {
        if (const char *home = std::getenv("HOME"); home != nullptr)
            return fs::path(home) / std::string(argument.substr(std::min<std::size_t>(2, argument.size())));
    }
    return fs::path(std::string(argument));
}

} // namespace

Result<CheckpointPtr> readPath(const fs::path &path, std::stop_token stop, const ProgressCallback &progress,
                               const std::string &preferred)
{
    if (auto read = readOllamaPath(path, stop, progress))
        return *std::move(read);
    if (auto read = readHubCachePath(path, stop, progress, preferred))
        return *std::move(read);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found || error) {
        const Result<std::uint64_t> size = regularFileSize(path);
        return size ? fail("file.denied", ErrorKind::Unreadable, path.string())
                    : std::unexpected(size.error());
    }
    if (status.type() == fs::file_type::directory)
        return named(readFolder(path, std::move(stop), progress, preferred), path);
    if (status.type() != fs::file_type::regular)
        return fail("file.not-regular", ErrorKind::Unreadable, path.string());

    const std::string name = path.filename().string();
    // A blob of Ollama's has no ending, and tells what it is by its first bytes.
    if (name.ends_with(".gguf")
        || (name.starts_with("sha256-") && isSha256(std::string_view(name).substr(7))))
        return named(readGgufFile(path, std::move(stop), progress), path);
    if (name.ends_with(".safetensors"))
        return named(readOneSafetensors(path, std::move(stop), progress), path);
    if (name == "config.json" || name == "adapter_config.json" || name == "model_index.json"
        || name.ends_with(".safetensors.index.json") || name == "pytorch_model.bin.index.json"
        || isPickleFile(name)) {
        const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
        return named(readFolder(folder, std::move(stop), progress, preferred), folder);
    }
    if (const Result<std::uint64_t> size = regularFileSize(path); size && *size == 0)
        return fail("file.empty", ErrorKind::Unreadable, path.string());
    if (name.ends_with(".json")) // a config under another name
        return named(readConfigFile(path), path);
    return fail("file.unknown-kind", ErrorKind::Unreadable, path.string());
}

bool isPathArgument(std::string_view argument)
{
    if (argument.starts_with("/") || argument.starts_with("./") || argument.starts_with("../")
        || argument.starts_with("~") || argument == "." || argument == "..")
        return true;
    std::error_code error;
    return fs::exists(fs::path(std::string(argument)), error);
}

bool isChosenQuantization(const Checkpoint &checkpoint, std::string_view quantization)
{
    if (checkpoint.format != Format::Gguf || quantization.empty())
        return false;
    if (checkpoint.source == Source::Ollama) // its files have digests for names
        return asciiLower(checkpoint.quantization) == asciiLower(quantization);
    std::vector<ListedFile> files;
    for (const RepositoryFile &file : checkpoint.files) {
        if (file.counted)
            files.push_back({file.path, file.bytes});
    }
    return findChoice(choicesOf(files), quantization) != nullptr;
}

Result<CheckpointPtr> openCheckpoint(std::string_view argument, const OpenContext &context,
                                     std::stop_token stop, const ProgressCallback &progress)
{
    if (argument.empty())
        return fail("open.empty", ErrorKind::Usage, {});
    const auto may = [&context](Source source) { return !context.forced || context.forced == source; };
    const bool mayBePath = may(Source::Folder) || may(Source::File) || may(Source::Config);
    if (mayBePath && (context.forced || isPathArgument(argument)))
        return readPath(expandHome(argument), std::move(stop), progress, context.preferredQuantization);
    if (context.forced == Source::Ollama || (argument.starts_with("ollama:") && may(Source::Ollama)))
        return openOllama(argument, context, std::move(stop), progress);
    if (may(Source::Catalog)) {
        if (const CatalogEntry *entry = context.catalog.find(argument))
            return context.catalog.load(*entry);
        if (context.forced)
            return fail("open.not-in-catalog", ErrorKind::NotFound, std::string(argument));
    }
    if (context.hub != nullptr && may(Source::Hub)) {
        const auto reference = parseHubReference(argument, context.hub->settings().endpoint);
        if (!reference && context.forced)
            return fail("hub.bad-reference", ErrorKind::Usage, std::string(argument));
        // A single word is more often a mistyped id than a repository from before there were owners.
        const bool isName = argument.find('/') != std::string_view::npos || context.forced;
        const bool isFile =
            argument.ends_with(".gguf") || argument.ends_with(".safetensors") || argument.ends_with(".json");
        if (reference && isName && (!isFile || !reference->choice.empty() || context.forced)) {
            const Result<CheckpointPtr> read =
                context.hub->read(*reference, std::move(stop), progress, context.preferredQuantization);
            return read ? context.catalog.comparedWithEntry(*read) : read;
        }
    }
    if (argument.ends_with(".gguf") || argument.ends_with(".safetensors"))
        return readPath(expandHome(argument), std::move(stop), progress);
    return fail("open.unknown", ErrorKind::NotFound, std::string(argument));
}

} // namespace weir

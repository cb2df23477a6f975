// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/open.h"

#include "models/base/units.h"
#include "models/sources/catalog.h"
#include "models/sources/gguffile.h"
#include "models/sources/localfile.h"
#include "models/sources/loneconfig.h"
#include "models/sources/safetensorsfolder.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

bool has(const std::vector<ListedFile> &listing, std::string_view path)
{
    return std::any_of(listing.begin(), listing.end(),
                       [path](const ListedFile &file) { return file.path == path; });
}

bool hasTopLevel(const std::vector<ListedFile> &listing, std::string_view ending)
{
    return std::any_of(listing.begin(), listing.end(), [ending](const ListedFile &file) {
        return file.path.find('/') == std::string::npos && file.path.ends_with(ending);
    });
}

/// Repositories that hold something else than a decoder language model, by the files they are made of.
std::string_view otherKind(const std::vector<ListedFile> &listing)
{
    if (has(listing, "model_index.json"))
        return "folder.diffusion";
    const bool wholeModel =
        has(listing, "config.json")
        && (has(listing, "model.safetensors") || hasTopLevel(listing, ".safetensors.index.json"));
    if (has(listing, "adapter_config.json") && !wholeModel)
        return "folder.adapter";
    if (has(listing, "modules.json") && has(listing, "1_Pooling/config.json"))
        return "folder.embedding";
    return {};
}

Error withFacts(Error error, const std::vector<ListedFile> &listing)
{
    if (error.kind == ErrorKind::NotLanguageModel) {
        std::uint64_t bytes = 0;
        for (const ListedFile &file : listing)
            bytes += file.bytes;
        error.arguments.emplace_back("files", static_cast<std::uint64_t>(listing.size()));
        error.arguments.emplace_back("bytes", Bytes{bytes});
    }
    return error;
}

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
    return std::make_shared<const Checkpoint>(std::move(checkpoint));
}

Result<CheckpointPtr> readFolder(const fs::path &folder, std::stop_token stop,
                                 const ProgressCallback &progress)
{
    Result<std::vector<ListedFile>> listing = listFolder(folder);
    if (!listing)
        return std::unexpected(listing.error());
    if (const std::string_view kind = otherKind(*listing); !kind.empty()) {
        return std::unexpected(
            withFacts(Error{std::string(kind), ErrorKind::NotLanguageModel, folder.string(), {}}, *listing));
    }
    if (!hasTopLevel(*listing, ".safetensors")) {
        const std::vector<std::string> models = ggufModels(*listing);
        if (models.size() == 1)
            return readGgufFile(folder / models.front(), std::move(stop), progress);
        if (models.size() > 1) {
            constexpr std::size_t named = 8;
            std::string names;
            for (std::size_t i = 0; i < std::min(models.size(), named); ++i)
                names += (i == 0 ? "" : ", ") + printable(models[i], 120);
            if (models.size() > named)
                names += " …";
            return fail("folder.several-gguf", ErrorKind::Unreadable, folder.string(),
                        {{"count", static_cast<std::uint64_t>(models.size())}, {"names", names}});
        }
    }
    if (!has(*listing, "config.json") && hasTopLevel(*listing, ".gguf")) {
        // Nothing but companions (a projector): reading one says what it is.
        const auto companion = std::find_if(listing->begin(), listing->end(), [](const ListedFile &file) {
            return file.path.ends_with(".gguf") && file.path.find('/') == std::string::npos;
        });
        return readGgufFile(folder / companion->path, std::move(stop), progress);
    }
    if (!has(*listing, "config.json") && !hasTopLevel(*listing, ".safetensors"))
        return fail("folder.no-model", ErrorKind::Unreadable, folder.string());
    const bool alone = isLoneConfig(*listing);
    Result<CheckpointPtr> read = alone
                                     ? readLoneConfig(folder, *listing)
                                     : readSafetensorsFolder(folder, *listing, {}, std::move(stop), progress);
    if (!read)
        return std::unexpected(withFacts(read.error(), *listing));
    return alone ? read : comparedWithConfig(*read, folder / "config.json");
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
    const std::string name = file.filename().string();
    if (name.starts_with("adapter_model")
        || (has(*listing, "adapter_config.json") && !has(*listing, "config.json"))) {
        return std::unexpected(
            withFacts(Error{"folder.adapter", ErrorKind::NotLanguageModel, file.string(), {}}, *listing));
    }
    const bool shard = name.find("-of-") != std::string::npos;
    return readSafetensorsFolder(folder, *listing, shard ? std::string() : name, std::move(stop), progress);
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

Result<CheckpointPtr> readPath(const fs::path &path, std::stop_token stop, const ProgressCallback &progress)
{
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
        return std::unexpected(regularFileSize(path).error());
    if (error)
        return fail("file.denied", ErrorKind::Unreadable, path.string());
    if (status.type() == fs::file_type::directory)
        return named(readFolder(path, std::move(stop), progress), path);
    if (status.type() != fs::file_type::regular)
        return fail("file.not-regular", ErrorKind::Unreadable, path.string());

    const std::string name = path.filename().string();
    if (name.ends_with(".gguf"))
        return named(readGgufFile(path, std::move(stop), progress), path);
    if (name.ends_with(".safetensors"))
        return named(readOneSafetensors(path, std::move(stop), progress), path);
    if (name == "config.json" || name == "adapter_config.json" || name == "model_index.json"
        || name.ends_with(".safetensors.index.json")) {
        const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
        return named(readFolder(folder, std::move(stop), progress), folder);
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

Result<CheckpointPtr> openCheckpoint(std::string_view argument, const Catalog &catalog, std::stop_token stop,
                                     const ProgressCallback &progress)
{
    if (argument.empty())
        return fail("open.empty", ErrorKind::Usage, {});
    if (isPathArgument(argument))
        return readPath(expandHome(argument), std::move(stop), progress);
    if (const CatalogEntry *entry = catalog.find(argument))
        return catalog.load(*entry);
    return fail("open.unknown", ErrorKind::NotFound, std::string(argument));
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/repository.h"

#include <algorithm>

namespace weir {

bool hasTopLevel(const RepositoryFiles &files, std::string_view ending)
{
    return std::any_of(files.listing().begin(), files.listing().end(), [ending](const ListedFile &file) {
        return file.path.find('/') == std::string::npos && file.path.ends_with(ending);
    });
}

std::optional<Error> otherKindOf(const RepositoryFiles &files)
{
    const auto has = [&files](std::string_view path) { return files.find(path) != nullptr; };
    const auto is = [&files](std::string id) {
        return withFacts(Error{std::move(id), ErrorKind::NotLanguageModel, files.subject({}), {}}, files);
    };
    if (has("model_index.json"))
        return is("folder.diffusion");
    const bool wholeModel =
        has("config.json") && (has("model.safetensors") || hasTopLevel(files, ".safetensors.index.json"));
    if (has("adapter_config.json") && !wholeModel)
        return is("folder.adapter");
    if (has("modules.json") && has("1_Pooling/config.json"))
        return is("folder.embedding");
    return std::nullopt;
}

Error adapterError(const std::string &subject, const RepositoryFiles &files)
{
    return withFacts(Error{"folder.adapter", ErrorKind::NotLanguageModel, subject, {}}, files);
}

std::optional<std::string> loneCompanion(const RepositoryFiles &files)
{
    if (files.find("config.json") != nullptr)
        return std::nullopt;
    for (const ListedFile &file : files.listing()) {
        if (file.path.ends_with(".gguf") && file.path.find('/') == std::string::npos)
            return file.path;
    }
    return std::nullopt;
}

Error withFacts(Error error, const RepositoryFiles &files)
{
    if (error.kind == ErrorKind::NotLanguageModel) {
        std::uint64_t bytes = 0;
        for (const ListedFile &file : files.listing())
            bytes += file.bytes;
        error.arguments.emplace_back("files", static_cast<std::uint64_t>(files.listing().size()));
        error.arguments.emplace_back("bytes", Bytes{bytes});
    }
    return error;
}

} // namespace weir

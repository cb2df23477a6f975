// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/repository.h"

#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/checkpoint/configreader.h"
#include "models/checkpoint/safetensors.h"
#include "models/checkpoint/tensorset.h"
#include "models/sources/configfiles.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace weir {

namespace {

using nlohmann::json;

/// Headers of this many files are read to tell what something else is; a pipeline has about five.
constexpr std::size_t maxFiles = 32;
constexpr std::uint64_t maxHeaderBytes = 32U << 20U;

/// What headers say of weights that are not assessed.
struct Totals
{
    std::uint64_t tensors = 0;
    std::uint64_t parameters = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rank = 0; ///< the largest first dimension of a LoRA's `A`
};

bool addHeader(RepositoryFiles &files, const std::string &path, const std::stop_token &stop, Totals &totals)
{
    Result<std::unique_ptr<RepositoryStream>> opened = files.open(path, stop);
    if (!opened)
        return false;
    RepositoryStream &file = **opened;
    std::array<std::uint8_t, 8> length{};
    file.stream().read(reinterpret_cast<char *>(length.data()), 8); // bytes as bytes
    if (!file.stream())
        return false;
    const Result<std::uint64_t> header =
        safetensorsHeaderLength(length, file.fileBytes(), files.subject(path));
    if (!header || *header > maxHeaderBytes)
        return false;
    std::string text(static_cast<std::size_t>(*header), '\0');
    file.stream().read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.stream())
        return false;
    const auto visit = [&totals](const HeaderTensor &tensor) {
        ++totals.tensors;
        totals.bytes = saturatingAdd(totals.bytes, tensor.bytes);
        totals.parameters = saturatingAdd(totals.parameters, elementCount(tensor.shape));
        if (tensor.name.find(".lora_A.") != std::string_view::npos && tensor.shape.size() == 2)
            totals.rank = std::max(totals.rank, tensor.shape.front());
        return true;
    };
    return readSafetensorsHeader(text, file.fileBytes() - 8 - *header, files.subject(path), visit)
        .has_value();
}

/// Of all these files; empty if one of them cannot be read.
std::optional<Totals> totalsOf(RepositoryFiles &files, const std::vector<std::string> &paths,
                               const std::stop_token &stop)
{
    if (paths.empty() || paths.size() > maxFiles)
        return std::nullopt;
    Totals totals;
    for (const std::string &path : paths) {
        if (!addHeader(files, path, stop, totals))
            return std::nullopt;
    }
    return totals;
}

/// The weights of the parts of a pipeline, one precision of each; else those at the top.
std::vector<std::string> weightPaths(const RepositoryFiles &files)
{
    std::vector<std::string> top;
    std::vector<std::string> parts;
    const auto isVariant = [](std::string_view name) {
        return name.find(".fp16.") != std::string_view::npos || name.find(".bf16.") != std::string_view::npos
               || name.find("non_ema") != std::string_view::npos;
    };
    std::set<std::string> whole; // folders with weights that are no variant
    for (const ListedFile &file : files.listing()) {
        const std::size_t slash = file.path.rfind('/');
        if (file.path.ends_with(".safetensors") && slash != std::string::npos && !isVariant(file.path))
            whole.insert(file.path.substr(0, slash));
    }
    for (const ListedFile &file : files.listing()) {
        if (!file.path.ends_with(".safetensors"))
            continue;
        const std::size_t slash = file.path.rfind('/');
        if (slash == std::string::npos)
            top.push_back(file.path);
        else if (!isVariant(file.path) || !whole.contains(file.path.substr(0, slash)))
            parts.push_back(file.path);
    }
    return files.find("model_index.json") != nullptr && !parts.empty() ? parts : top;
}

void addTotals(Error &error, const std::optional<Totals> &totals)
{
    if (!totals)
        return;
    error.arguments.emplace_back("parameters", totals->parameters);
    error.arguments.emplace_back("tensors", totals->tensors);
    error.arguments.emplace_back("weights", Bytes{totals->bytes});
}

/// A small config of something else; an empty object where it cannot be read.
json smallConfig(RepositoryFiles &files, const std::string &name, const std::stop_token &stop)
{
    std::vector<Message> notes;
    Result<json> parsed = readConfigJson(files, name, stop, notes);
    return parsed && parsed->is_object() ? *std::move(parsed) : json::object();
}

/// "q_proj, v_proj": a list of names, or a regular expression as it stands.
std::string targetsOf(const json &config)
{
    const auto found = config.find("target_modules");
    if (found == config.end())
        return {};
    if (found->is_string())
        return printable(found->get_ref<const std::string &>(), 120);
    std::set<std::string> names;
    if (found->is_array()) {
        for (const json &each : *found) {
            if (each.is_string() && names.size() < 64)
                names.insert(printable(each.get_ref<const std::string &>(), 60));
        }
    }
    std::string text;
    for (const std::string &name : names) {
        if (text.size() > 300)
            return text + " …";
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

} // namespace

bool hasTopLevel(const RepositoryFiles &files, std::string_view ending)
{
    return std::any_of(files.listing().begin(), files.listing().end(), [ending](const ListedFile &file) {
        return file.path.find('/') == std::string::npos && file.path.ends_with(ending);
    });
}

std::optional<Error> otherKindOf(RepositoryFiles &files, const std::stop_token &stop)
{
    const auto has = [&files](std::string_view path) { return files.find(path) != nullptr; };
    const auto is = [&](std::string id, std::string kind, std::string architecture) {
        Error error{std::move(id), ErrorKind::NotLanguageModel, files.subject({}), {}};
        error.arguments.emplace_back("kind", std::move(kind));
        if (!architecture.empty())
            error.arguments.emplace_back("architecture", printable(architecture, 80));
        return withFacts(std::move(error), files, stop);
    };
    if (has("model_index.json"))
        return is("folder.diffusion", "diffusion",
                  ConfigReader(smallConfig(files, "model_index.json", stop)).text({"_class_name"}));
    const bool wholeModel =
        has("config.json") && (has("model.safetensors") || hasTopLevel(files, ".safetensors.index.json"));
    if (has("adapter_config.json") && !wholeModel)
        return adapterError(files.subject({}), files, stop);
    if (has("modules.json") && (has("1_Pooling/config.json") || has("config_sentence_transformers.json"))) {
        const json config = has("config.json") ? smallConfig(files, "config.json", stop) : json::object();
        std::string architecture = ConfigReader(config).text({"model_type"});
        const auto classes = config.find("architectures");
        if (classes != config.end() && classes->is_array() && !classes->empty()
            && classes->front().is_string())
            architecture = classes->front().get<std::string>();
        return is("folder.embedding", "embedding", std::move(architecture));
    }
    return std::nullopt;
}

Error adapterError(const std::string &subject, RepositoryFiles &files, const std::stop_token &stop)
{
    const json config = files.find("adapter_config.json") != nullptr
                            ? smallConfig(files, "adapter_config.json", stop)
                            : json::object();
    ConfigReader reader(config);
    Error error{"folder.adapter-alone", ErrorKind::NotLanguageModel, subject, {}};
    error.arguments.emplace_back("kind", std::string("adapter"));
    const std::string type = reader.text({"peft_type"});
    if (!type.empty())
        error.arguments.emplace_back("architecture", printable(type, 40));
    const std::string base = reader.text({"base_model_name_or_path"});
    std::vector<std::string> weights;
    std::uint64_t bytes = 0;
    for (const ListedFile &file : files.listing()) {
        const std::string_view name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
        if (file.path.find('/') == std::string::npos && name.starts_with("adapter_model")
            && isWeightFile(name)) {
            bytes = saturatingAdd(bytes, file.bytes);
            if (name.ends_with(".safetensors"))
                weights.push_back(file.path);
        }
    }
    const std::optional<Totals> totals = totalsOf(files, weights, stop);
    std::uint64_t rank = reader.number({"r", "rank"}).value_or(0);
    if (rank == 0 && totals)
        rank = totals->rank;
    if (rank > 0)
        error.arguments.emplace_back("rank", rank);
    if (std::string targets = targetsOf(config); !targets.empty())
        error.arguments.emplace_back("targets", std::move(targets));
    const std::uint64_t added = totals ? totals->bytes : bytes;
    if (totals)
        error.arguments.emplace_back("parameters", totals->parameters);
    error.arguments.emplace_back("weights", Bytes{added});
    if (!base.empty()) {
        error.id = "folder.adapter";
        error.arguments.emplace_back("base", printable(base, 200));
    }
    return withFacts(std::move(error), files, stop);
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

Error withFacts(Error error, RepositoryFiles &files, const std::stop_token &stop)
{
    if (error.kind != ErrorKind::NotLanguageModel)
        return error;
    const auto knows = [&error](std::string_view name) {
        return std::any_of(error.arguments.begin(), error.arguments.end(),
                           [name](const auto &argument) { return argument.first == name; });
    };
    if (!knows("parameters") && !knows("weights"))
        addTotals(error, totalsOf(files, weightPaths(files), stop));
    if (knows("files"))
        return error;
    std::uint64_t bytes = 0;
    for (const ListedFile &file : files.listing())
        bytes = saturatingAdd(bytes, file.bytes);
    error.arguments.emplace_back("files", static_cast<std::uint64_t>(files.listing().size()));
    error.arguments.emplace_back("bytes", Bytes{bytes});
    return error;
}

} // namespace weir

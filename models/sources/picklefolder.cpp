// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/picklefolder.h"

#include "models/base/ascii.h"
#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/checkpoint/safetensors.h"
#include "models/sources/configfiles.h"
#include "models/sources/loneconfig.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace weir {

namespace {

constexpr std::string_view indexName = "pytorch_model.bin.index.json";

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool isTop(std::string_view path) { return path.find('/') == std::string_view::npos; }

std::uint64_t sizeOf(const RepositoryFiles &files, const std::vector<std::string> &paths)
{
    std::uint64_t bytes = 0;
    for (const std::string &path : paths) {
        if (const ListedFile *file = files.find(path))
            bytes = saturatingAdd(bytes, file->bytes);
    }
    return bytes;
}

/// The files that the index names; all of them must be there.
Result<std::vector<std::string>> indexedFiles(RepositoryFiles &files, const std::stop_token &stop)
{
    const std::string name(indexName);
    const Result<std::string> text = files.text(name, maxIndexBytes, stop);
    if (!text)
        return std::unexpected(text.error());
    const Result<SafetensorsIndex> index = readSafetensorsIndex(*text, files.subject(name));
    if (!index)
        return std::unexpected(index.error());
    std::vector<std::string> missing;
    for (const std::string &file : index->files) {
        if (files.find(file) == nullptr)
            missing.push_back(file);
    }
    if (!missing.empty()) {
        return fail("folder.missing-shard", ErrorKind::NotFound, files.subject(missing.front()),
                    {{"missing", static_cast<std::uint64_t>(missing.size())},
                     {"total", static_cast<std::uint64_t>(index->files.size())},
                     {"index", name}});
    }
    return index->files;
}

bool isPlain(std::string_view dtype) { return dtype == "BF16" || dtype == "F16" || dtype == "F32"; }

/// The same tensors with those of the model's dtype in another one.
Checkpoint inDtype(Checkpoint checkpoint, const std::string &dtype)
{
    const std::string before = checkpoint.spec.dtype;
    for (TensorGroup &group : checkpoint.groups) {
        if (group.dtype != before || !isPlain(group.dtype))
            continue;
        group.bytes = saturatingMultiply(group.parameters, dtypeBits(dtype) / 8);
        group.dtype = dtype;
    }
    checkpoint.quantization = dtype == "F32" ? "f32" : dtype == "F16" ? "f16" : "bf16";
    finish(checkpoint);
    return checkpoint;
}

/// A zip archive adds some hundred bytes a tensor, and old ones hold buffers besides: masks and rotary tables.
bool fits(const Checkpoint &checkpoint, std::uint64_t listed, std::size_t files)
{
    std::uint64_t tensors = 0;
    for (const ComponentSum &sum : checkpoint.sums)
        tensors = saturatingAdd(tensors, sum.tensors);
    const std::uint64_t bytes = checkpoint.weightBytes();
    const std::uint64_t archive =
        saturatingAdd(saturatingMultiply(tensors, 1024), saturatingMultiply(files, 64U << 10U));
    return listed >= bytes && listed - bytes <= saturatingAdd(archive, bytes / 50);
}

/// The derived tensors at the dtype that the files were written in; empty if none fits their size.
std::optional<Checkpoint> fitted(const Checkpoint &derived, std::uint64_t listed, std::size_t files)
{
    if (fits(derived, listed, files))
        return derived;
    const std::string &label = derived.quantization;
    if (label != "bf16" && label != "f16" && label != "f32")
        return std::nullopt;
    for (const char *dtype : {"F32", "F16"}) {
        Checkpoint other = inDtype(derived, dtype);
        if (dtype != derived.spec.dtype && fits(other, listed, files))
            return other;
    }
    return std::nullopt;
}

void addNotes(Checkpoint &checkpoint, const Checkpoint &derived, bool isFitted, std::uint64_t listed,
              std::size_t files)
{
    const std::uint64_t tensors = checkpoint.weightBytes();
    checkpoint.notes.push_back({"pickle.not-opened",
                                Severity::Warning,
                                {{"files", static_cast<std::uint64_t>(files)},
                                 {"listed", Bytes{listed}},
                                 {"derived", Bytes{tensors}}},
                                {}});
    if (!isFitted) {
        checkpoint.notes.push_back(
            {"pickle.size-differs",
             Severity::Warning,
             {{"listed", Bytes{listed}}, {"derived", Bytes{tensors}}, {"quantization", derived.quantization}},
             {}});
    } else if (checkpoint.quantization != derived.quantization) {
        checkpoint.notes.push_back({"pickle.dtype",
                                    Severity::Warning,
                                    {{"dtype", asciiUpper(checkpoint.quantization)},
                                     {"declared", derived.spec.dtype},
                                     {"derived", Bytes{derived.weightBytes()}}},
                                    {}});
    }
}

} // namespace

bool isPickleFile(std::string_view path)
{
    const std::string_view name = baseName(path);
    static constexpr std::array<std::string_view, 8> others{"training_args", "optimizer",   "scheduler",
                                                            "scaler",        "rng_state",   "adapter_model",
                                                            "random_states", "zero_pp_rank"};
    if (!name.ends_with(".bin") && !name.ends_with(".pt") && !name.ends_with(".pth")
        && !name.ends_with(".ckpt"))
        return false;
    return std::none_of(others.begin(), others.end(),
                        [name](std::string_view other) { return name.starts_with(other); });
}

std::vector<std::string> pickleModel(const RepositoryFiles &files)
{
    if (files.find("config.json") == nullptr)
        return {};
    std::vector<std::string> usual;
    std::vector<std::string> original;
    std::vector<std::string> others;
    for (const ListedFile &file : files.listing()) {
        const std::string_view name = baseName(file.path);
        if (isTop(file.path) && (name.ends_with(".safetensors") || name.ends_with(".gguf"))
            && !name.starts_with("adapter_model"))
            return {};
        if (!isPickleFile(file.path))
            continue;
        if (!isTop(file.path)) {
            if (file.path.starts_with("original/consolidated."))
                original.push_back(file.path);
        } else if (name == "pytorch_model.bin" || name.starts_with("pytorch_model-")) {
            usual.push_back(file.path);
        } else if (name.starts_with("consolidated.")) {
            original.push_back(file.path);
        } else {
            others.push_back(file.path);
        }
    }
    return !usual.empty() ? usual : !original.empty() ? original : others;
}

Result<CheckpointPtr> readPickles(RepositoryFiles &files, std::stop_token stop)
{
    std::vector<std::string> model = pickleModel(files);
    const bool hasIndex = files.find(indexName) != nullptr;
    if (hasIndex) {
        Result<std::vector<std::string>> indexed = indexedFiles(files, stop);
        if (!indexed)
            return std::unexpected(indexed.error());
        model = *std::move(indexed);
    }
    std::vector<Message> notes;
    const Result<nlohmann::json> config = readConfigJson(files, "config.json", stop, notes);
    if (!config)
        return std::unexpected(config.error());
    const auto side = readQuantizationFile(files, stop, notes);
    if (!side)
        return std::unexpected(side.error());
    const std::uint64_t listed = sizeOf(files, model);
    Result<Checkpoint> derived =
        deriveDeclared(*config, *side ? &**side : nullptr, files.subject("config.json"), std::move(notes));
    if (!derived && derived.error().id == "derive.unknown-architecture") {
        return fail(
            "folder.pickle-only", ErrorKind::Unreadable, files.subject({}),
            {{"architecture", derived.error().arguments.empty() ? MessageValue(std::string("unknown"))
                                                                : derived.error().arguments.front().second},
             {"files", static_cast<std::uint64_t>(model.size())},
             {"bytes", Bytes{listed}}});
    }
    if (!derived)
        return std::unexpected(derived.error());
    std::optional<Checkpoint> at = fitted(*derived, listed, model.size());
    Checkpoint checkpoint = at ? *std::move(at) : *derived;
    addNotes(checkpoint, *derived, at.has_value(), listed, model.size());
    if (hasIndex) {
        const Result<void> compared = compareWithIndex(checkpoint, files, std::string(indexName), stop);
        if (!compared)
            return std::unexpected(compared.error());
    }
    if (const std::uint64_t bytes = checkpoint.weightBytes(); listed > bytes) {
        TensorGroup rest;
        rest.pattern = "(rest of the files)";
        rest.role = Role::UnseenRemainder;
        rest.dtype = "pickle";
        rest.count = 1;
        rest.bytes = listed - bytes;
        checkpoint.groups.push_back(std::move(rest));
        finish(checkpoint);
    }
    checkpoint.source = Source::Folder;
    checkpoint.format = Format::Pickle;
    std::uint64_t total = 0;
    for (const ListedFile &file : files.listing()) {
        total = saturatingAdd(total, file.bytes);
        const bool counted = std::binary_search(model.begin(), model.end(), file.path);
        if (counted || isWeightFile(file.path))
            checkpoint.files.push_back({file.path, file.bytes, counted, counted});
    }
    checkpoint.repositoryBytes = total;
    return std::make_shared<const Checkpoint>(std::move(checkpoint));
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/gguffile.h"

#include "models/base/saturating.h"
#include "models/base/texthash.h"
#include "models/base/units.h"
#include "models/checkpoint/classify.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/ggufconfig.h"
#include "models/checkpoint/quantlabel.h"
#include "models/checkpoint/tensorset.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace weir {

namespace {

/// A split has at most this many parts; the field has 16 bits, the largest seen is below 100.
constexpr std::uint64_t maxParts = 1000;

/// The storage type that holds most bytes: names a mix that the metadata does not.
std::string mostUsedType(const Checkpoint &checkpoint)
{
    std::map<std::string, std::uint64_t> bytes;
    for (const TensorGroup &group : checkpoint.groups)
        bytes[group.dtype] += group.bytes;
    const auto most = std::max_element(bytes.begin(), bytes.end(),
                                       [](const auto &a, const auto &b) { return a.second < b.second; });
    return most == bytes.end() ? std::string("unknown") : most->first;
}

/// What a file that is no decoder holds, for those who ask what it is.
Error withFacts(Error error, const GgufHeader &header, const TensorSet &tensors, std::uint64_t fileBytes)
{
    if (error.kind != ErrorKind::NotLanguageModel)
        return error;
    std::uint64_t parameters = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rank = 0;
    for (const RawGroup &group : tensors.groups()) {
        const std::vector<std::uint64_t> &shape = tensors.shapeOf(group);
        parameters = saturatingAdd(parameters, saturatingMultiply(elementCount(shape), group.count));
        bytes = saturatingAdd(bytes, group.bytes);
        if (tensors.patternOf(group).ends_with(".lora_a") && shape.size() >= 2)
            rank = std::max(rank, shape[1]);
    }
    const auto text = [&header](std::string_view key) {
        const auto found = header.metadata.find(key);
        const auto *value =
            found == header.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
        return value == nullptr ? std::string() : printable(*value, 200);
    };
    if (rank > 0)
        error.arguments.emplace_back("rank", rank);
    std::string base = text("general.base_model.0.name");
    if (base.empty() && rank > 0)
        base = text("general.architecture");
    if (!base.empty()) {
        if (rank > 0)
            error.id = "gguf.adapter";
        error.arguments.emplace_back("base", std::move(base));
    }
    if (tensors.tensors() > 0) {
        error.arguments.emplace_back("parameters", parameters);
        error.arguments.emplace_back("tensors", tensors.tensors());
    }
    error.arguments.emplace_back("weights", Bytes{bytes});
    error.arguments.emplace_back("files", std::uint64_t{1});
    error.arguments.emplace_back("bytes", Bytes{fileBytes});
    return error;
}

} // namespace

std::optional<GgufPartName> ggufPartName(std::string_view path)
{
    constexpr std::size_t tail = std::string_view("-00001-of-00001.gguf").size();
    if (path.size() <= tail || !path.ends_with(".gguf"))
        return std::nullopt;
    const std::string_view end = path.substr(path.size() - tail);
    const auto digits = [](std::string_view text) {
        return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    if (end[0] != '-' || end.substr(6, 4) != "-of-" || !digits(end.substr(1, 5))
        || !digits(end.substr(10, 5)))
        return std::nullopt;
    return GgufPartName{std::string(path.substr(0, path.size() - tail)),
                        std::stoul(std::string(end.substr(1, 5))),
                        std::stoul(std::string(end.substr(10, 5)))};
}

std::vector<std::string> ggufPartNames(const GgufPartName &name)
{
    std::vector<std::string> parts;
    for (unsigned long i = 1; name.total <= maxParts && i <= name.total; ++i)
        parts.push_back(fmt::format("{}-{:05}-of-{:05}.gguf", name.prefix, i, name.total));
    return parts;
}

std::vector<std::string> ggufModels(const std::vector<ListedFile> &listing)
{
    std::vector<std::string> models;
    for (const ListedFile &file : listing) {
        if (!file.path.ends_with(".gguf") || isGgufCompanion(file.path))
            continue;
        const auto part = ggufPartName(file.path);
        if (!part || part->number <= 1)
            models.push_back(file.path);
    }
    return models;
}

bool isGgufCompanion(std::string_view path)
{
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.starts_with("mmproj") || name.find("-mmproj") != std::string_view::npos
           || name.find(".mmproj") != std::string_view::npos || name.starts_with("imatrix")
           || name.ends_with("imatrix.gguf") || name.starts_with("mtp-");
}

void noteProjector(Checkpoint &checkpoint)
{
    const auto projector = std::find_if(checkpoint.companions.begin(), checkpoint.companions.end(),
                                        [](const CompanionFile &file) {
                                            return file.needed && file.path.ends_with(".gguf")
                                                   && file.path.find("mmproj") != std::string::npos;
                                        });
    if (projector != checkpoint.companions.end()) {
        checkpoint.notes.push_back(
            {"gguf.projector",
             Severity::Info,
             {{"file", printable(projector->path)}, {"bytes", Bytes{projector->bytes}}},
             {}});
    }
}

Result<std::vector<std::string>> ggufParts(const RepositoryFiles &files, const std::string &path)
{
    const auto name = ggufPartName(path);
    if (!name)
        return std::vector<std::string>{path};
    std::vector<std::string> parts = ggufPartNames(*name);
    if (parts.empty()) {
        return fail("gguf.split-count", ErrorKind::Unreadable, files.subject(path),
                    {{"count", std::uint64_t{name->total}}});
    }
    for (const std::string &part : parts) {
        if (files.find(part) == nullptr) {
            return fail("gguf.missing-part", ErrorKind::NotFound, files.subject(part),
                        {{"total", std::uint64_t{name->total}}});
        }
    }
    return parts;
}

Result<CheckpointPtr> readGguf(RepositoryFiles &repository, const std::vector<std::string> &parts,
                               std::stop_token stop, const ProgressCallback &progress)
{
    const std::string whole = repository.subject(parts.front());
    Checkpoint checkpoint;
    checkpoint.source = Source::File;
    checkpoint.format = Format::Gguf;
    checkpoint.provenance = Provenance::Headers;
    TensorSet tensors;
    std::vector<TensorFile> files;
    HashSet seen;
    GgufHeader first;
    std::uint64_t bytes = 0;
    std::vector<std::unique_ptr<RepositoryStream>> opened; // some ahead: what lies far away is on its way
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
        if (stop.stop_requested())
            return fail("cancelled", ErrorKind::Unreadable, whole);
        const std::string &shown = parts[i];
        if (progress)
            progress({i, parts.size(), shown});
        const std::string subject = repository.subject(shown);
        while (opened.size() < parts.size() && opened.size() < i + repository.parallelReads()) {
            Result<std::unique_ptr<RepositoryStream>> next = repository.open(parts[opened.size()], stop);
            if (!next)
                return std::unexpected(next.error());
            opened.push_back(std::move(*next));
        }
        const std::unique_ptr<RepositoryStream> stream = std::move(opened[i]);
        const std::uint64_t size = stream->fileBytes();
        bool twice = false;
        const auto visit = [&](const GgufTensor &tensor) {
            if (!seen.insert(textHash(tensor.name))) {
                twice = true;
                return false;
            }
            return tensors.add(tensor.name, tensor.type, tensor.shape, tensor.bytes, i);
        };
        Result<GgufHeader> header = readGguf(stream->stream(), size, subject, visit, stop);
        if (auto problem = stream->error())
            return std::unexpected(*std::move(problem));
        if (twice)
            return fail("gguf.duplicate-tensor", ErrorKind::Unreadable, subject, {{"what", shown}});
        if (!header)
            return std::unexpected(header.error());
        const GgufSplit split = ggufSplit(*header);
        if (split.count != parts.size() || split.number != i) {
            return fail("gguf.split-mismatch", ErrorKind::Unreadable, subject,
                        {{"number", split.number + 1},
                         {"count", split.count},
                         {"files", static_cast<std::uint64_t>(parts.size())}});
        }
        if (i == 0)
            first = std::move(*header);
        files.push_back({shown, true});
        checkpoint.files.push_back({shown, size, true, true});
        bytes += size;
    }
    if (progress)
        progress({parts.size(), parts.size(), {}});
    const GgufSplit split = ggufSplit(first);
    if (split.count > 1 && split.tensors > 0 && split.tensors != tensors.tensors()) {
        return fail("gguf.split-tensors", ErrorKind::Unreadable, whole,
                    {{"expected", split.tensors}, {"found", tensors.tensors()}});
    }
    const Result<ModelConfig> config = readGgufConfig(first, whole);
    if (!config)
        return std::unexpected(withFacts(config.error(), first, tensors, bytes));
    if (tensors.empty())
        return fail("gguf.no-tensors", ErrorKind::Unreadable, whole);
    classify(tensors, *config, files, checkpoint);
    if (!first.unknownTypes.empty()) {
        std::string names;
        for (const std::string &type : first.unknownTypes)
            names += (names.empty() ? "" : ", ") + type;
        checkpoint.notes.push_back({"gguf.unknown-types", Severity::Warning, {{"types", names}}, {}});
    }
    if (first.bigEndian)
        checkpoint.notes.push_back({"gguf.big-endian", Severity::Warning, {}, {}});
    checkpoint.repositoryBytes = bytes;
    checkpoint.quantization = ggufMixName(first);
    const std::size_t notes = checkpoint.notes.size();
    noteContradictedName(checkpoint.quantization, checkpoint);
    if (checkpoint.quantization.empty() || checkpoint.notes.size() > notes)
        checkpoint.quantization = mostUsedType(checkpoint);
    return std::make_shared<const Checkpoint>(std::move(checkpoint));
}

} // namespace weir

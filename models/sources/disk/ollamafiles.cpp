// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/ollamafiles.h"

#include "models/base/ascii.h"
#include "models/base/saturating.h"
#include "models/base/tolerantjson.h"
#include "models/base/units.h"
#include "models/sources/gguffile.h"
#include "models/sources/repository.h"
#include "models/sources/safetensorsfolder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace weir {

namespace {

/// A blob holds one tensor, or the experts of one layer: headers are short, and most blobs have one.
constexpr std::uint64_t firstTensorBytes = 16U << 10U;

std::vector<ListedFile> listingOf(const std::vector<OllamaFiles::File> &files)
{
    std::vector<ListedFile> listing;
    for (const OllamaFiles::File &file : files)
        listing.push_back({file.path, file.bytes});
    std::sort(listing.begin(), listing.end(),
              [](const ListedFile &a, const ListedFile &b) { return a.path < b.path; });
    return listing;
}

bool isDraft(const OllamaLayer &layer, const OllamaConfig &config)
{
    return layer.kind == OllamaLayerKind::Draft
           || (layer.kind == OllamaLayerKind::Tensor && !config.draftPrefix.empty()
               && layer.name.starts_with(config.draftPrefix));
}

std::uint64_t bytesOf(const std::vector<OllamaLayer> &layers)
{
    std::uint64_t bytes = 0;
    for (const OllamaLayer &layer : layers)
        bytes = saturatingAdd(bytes, layer.bytes);
    return bytes;
}

/// What lies beside the weights and is loaded with them.
void noteOthers(const OllamaManifest &manifest, const OllamaConfig &config, Checkpoint &checkpoint)
{
    std::vector<OllamaLayer> projectors;
    std::vector<OllamaLayer> drafts;
    std::vector<OllamaLayer> adapters;
    for (const OllamaLayer &layer : manifest.layers) {
        if (layer.kind == OllamaLayerKind::Projector)
            projectors.push_back(layer);
        else if (isDraft(layer, config))
            drafts.push_back(layer);
        else if (layer.kind == OllamaLayerKind::Adapter)
            adapters.push_back(layer);
    }
    const auto bytesOfAll = [](const std::vector<OllamaLayer> &layers) { return Bytes{bytesOf(layers)}; };
    if (!projectors.empty()) {
        checkpoint.notes.push_back(
            {"ollama.projector", Severity::Info, {{"bytes", bytesOfAll(projectors)}}, {}});
    }
    if (!drafts.empty())
        checkpoint.notes.push_back({"ollama.draft", Severity::Info, {{"bytes", bytesOfAll(drafts)}}, {}});
    if (!adapters.empty()) {
        checkpoint.notes.push_back(
            {"ollama.adapter", Severity::Warning, {{"bytes", bytesOfAll(adapters)}}, {}});
    }
    constexpr std::size_t most = 16; // of each: a draft may be a thousand tensors
    for (const std::vector<OllamaLayer> *layers : {&projectors, &drafts, &adapters}) {
        for (std::size_t i = 0; i < std::min(layers->size(), most); ++i)
            checkpoint.companions.push_back({ollamaBlobName((*layers)[i]), (*layers)[i].bytes, true});
    }
}

/// A config with the quantization that the blobs have. Source: ollama x/quant/quant.go (groups and bits by type).
std::string withQuantization(std::string text, std::string_view type)
{
    struct Scheme
    {
        std::string_view type;
        int groupSize;
        int bits;
        const char *mode;
    };
    static constexpr std::array<Scheme, 5> schemes{{{"int4", 64, 4, "affine"},
                                                    {"int8", 64, 8, "affine"},
                                                    {"mxfp4", 32, 4, "mxfp4"},
                                                    {"mxfp8", 32, 8, "mxfp8"},
                                                    {"nvfp4", 16, 4, "nvfp4"}}};
    const auto *scheme = std::find_if(schemes.begin(), schemes.end(),
                                      [type](const Scheme &each) { return each.type == type; });
    if (scheme == schemes.end())
        return text;
    Result<nlohmann::json> config = parseTolerant(text, {});
    if (!config || config->contains("quantization"))
        return text; // what is wrong with it is said by its reader
    config->erase("quantization_config"); // of the files that it was imported from
    (*config)["quantization"] = {
        {"group_size", scheme->groupSize}, {"bits", scheme->bits}, {"mode", scheme->mode}};
    return config->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<CheckpointPtr> readGgufLayers(RepositoryFiles &blobs, const std::vector<OllamaLayer> &layers,
                                     const std::stop_token &stop, const ProgressCallback &progress)
{
    std::vector<std::string> parts;
    for (const OllamaLayer &layer : layers)
        parts.push_back(ollamaBlobName(layer));
    Result<CheckpointPtr> read = readGguf(blobs, parts, stop, progress);
    if (read || parts.size() == 1 || !read.error().id.ends_with("split-mismatch"))
        return read;
    read = readGguf(blobs, {parts.back()}, stop, progress);
    if (!read)
        return read;
    Checkpoint checkpoint = **read;
    checkpoint.notes.push_back(
        {"ollama.several-models", Severity::Warning, {{"count", std::uint64_t{parts.size()}}}, {}});
    return std::make_shared<const Checkpoint>(std::move(checkpoint));
}

/// The files that the readers of safetensors see.
Result<std::vector<OllamaFiles::File>> tensorFiles(const OllamaManifest &manifest, const OllamaConfig &config,
                                                   const std::string &subject)
{
    std::vector<OllamaFiles::File> files;
    for (const OllamaLayer &layer : manifest.layers) {
        if (layer.name.empty() || isDraft(layer, config))
            continue;
        if (layer.kind == OllamaLayerKind::Tensor)
            files.push_back({layer.name + ".safetensors", ollamaBlobName(layer), layer.bytes});
        // The index of the files that it was made from speaks of none of these.
        else if (layer.kind == OllamaLayerKind::Json && layer.name.ends_with(".json")
                 && !layer.name.ends_with(".index.json"))
            files.push_back({layer.name, ollamaBlobName(layer), layer.bytes});
    }
    std::sort(files.begin(), files.end(), [](const auto &a, const auto &b) { return a.path < b.path; });
    const auto twice = std::adjacent_find(files.begin(), files.end(),
                                          [](const auto &a, const auto &b) { return a.path == b.path; });
    if (twice != files.end()) {
        return fail("ollama.bad-layer-name", ErrorKind::Unreadable, subject,
                    {{"name", printable(twice->path, 120)}});
    }
    return files;
}

} // namespace

OllamaFiles::OllamaFiles(RepositoryFiles &blobs, std::string subject, std::vector<File> files,
                         std::string quantization)
    : RepositoryFiles(listingOf(files))
    , m_blobs(blobs)
    , m_subject(std::move(subject))
    , m_quantization(std::move(quantization))
{
    for (File &file : files)
        m_blobOf.emplace(std::move(file.path), std::move(file.blob));
}

const std::string &OllamaFiles::blobOf(const std::string &path) const
{
    const auto found = m_blobOf.find(path);
    return found == m_blobOf.end() ? path : found->second;
}

std::string OllamaFiles::subject(const std::string &path) const
{
    return path.empty() ? m_subject : m_blobs.subject(blobOf(path));
}

Result<std::string> OllamaFiles::text(const std::string &path, std::uint64_t limit, std::stop_token stop)
{
    Result<std::string> text = m_blobs.text(blobOf(path), limit, std::move(stop));
    return text && path == "config.json" ? withQuantization(*std::move(text), m_quantization) : text;
}

void OllamaFiles::read(const std::string &path, std::uint64_t first, std::uint64_t count,
                       std::stop_token stop, BytesCallback done)
{
    if (first == 0)
        count = std::min(count, firstTensorBytes);
    m_blobs.read(blobOf(path), first, count, std::move(stop), std::move(done));
}

Result<std::unique_ptr<RepositoryStream>> OllamaFiles::open(const std::string &path, std::stop_token stop)
{
    return m_blobs.open(blobOf(path), std::move(stop));
}

std::optional<std::string> OllamaFiles::tensorName(std::string_view name) const
{
    for (const auto &[here, there] :
         {std::pair<std::string_view, std::string_view>{".weight.scale", ".scales"},
          {".weight.bias", ".biases"},
          {".weight.global_scale", ".weight_scale_2"}}) {
        if (name.ends_with(here))
            return std::string(name.substr(0, name.size() - here.size())) + std::string(there);
    }
    return std::nullopt;
}

std::vector<OllamaLayer> ollamaWeights(const OllamaManifest &manifest, const OllamaConfig &config)
{
    std::vector<OllamaLayer> weights;
    const auto take = [&](OllamaLayerKind kind) {
        for (const OllamaLayer &layer : manifest.layers) {
            if (layer.kind == kind && !isDraft(layer, config))
                weights.push_back(layer);
        }
    };
    take(OllamaLayerKind::Model);
    if (weights.empty())
        take(OllamaLayerKind::Tensor);
    return weights;
}

Result<Checkpoint> readOllamaLayers(RepositoryFiles &blobs, const OllamaManifest &manifest,
                                    const OllamaConfig &config, const std::string &subject,
                                    const std::stop_token &stop, const ProgressCallback &progress)
{
    const std::vector<OllamaLayer> weights = ollamaWeights(manifest, config);
    if (weights.empty()) {
        return fail("ollama.no-weights", ErrorKind::Unreadable, subject,
                    {{"layers", std::uint64_t{manifest.layers.size()}}});
    }
    Result<CheckpointPtr> read;
    if (weights.front().kind == OllamaLayerKind::Model) {
        read = readGgufLayers(blobs, weights, stop, progress);
    } else {
        Result<std::vector<OllamaFiles::File>> files = tensorFiles(manifest, config, subject);
        if (!files)
            return std::unexpected(files.error());
        OllamaFiles repository(blobs, subject, *std::move(files), asciiLower(config.quantization));
        if (auto other = otherKindOf(repository, stop))
            return std::unexpected(*std::move(other));
        read = readSafetensors(repository, {}, stop, progress);
    }
    if (!read)
        return std::unexpected(read.error());
    Checkpoint checkpoint = **read;
    checkpoint.repositoryBytes = bytesOf(manifest.layers);
    noteOthers(manifest, config, checkpoint);
    return checkpoint;
}

} // namespace weir

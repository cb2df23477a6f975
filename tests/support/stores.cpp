// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/stores.h"

#include "models/base/sha256.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>

namespace weir::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

void writeText(const fs::path &file, std::string_view text)
{
    fs::create_directories(file.parent_path());
    std::ofstream stream(file, std::ios::binary);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!stream)
        throw std::runtime_error("cannot write " + file.string());
}

std::string joined(std::string text, char from, std::string_view to)
{
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, 1, to);
    return text;
}

/// Regular files of a repository, by relative path.
std::vector<std::string> filesOf(const fs::path &repository)
{
    std::vector<std::string> files;
    for (const auto &each : fs::recursive_directory_iterator(repository)) {
        if (each.is_regular_file())
            files.push_back(each.path().lexically_relative(repository).generic_string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// The name of a blob that holds a tensor: all tensors of one module, all experts of one layer.
std::string blobNameOf(const std::string &tensor)
{
    constexpr std::string_view experts = ".experts.";
    if (const std::size_t at = tensor.find(experts); at != std::string::npos)
        return tensor.substr(0, at + experts.size() - 1);
    const std::size_t dot = tensor.rfind('.');
    return dot == std::string::npos ? tensor : tensor.substr(0, dot);
}

Json headerOf(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    std::uint64_t length = 0;
    stream.read(reinterpret_cast<char *>(&length), sizeof length);
    std::string text(static_cast<std::size_t>(length), '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    return Json::parse(text);
}

} // namespace

void layFile(const fs::path &from, const fs::path &to)
{
    fs::create_directories(to.parent_path());
    std::error_code error;
    fs::create_hard_link(from, to, error);
    if (!error)
        return;
    // Another file system: headers are at most some MB, the rest is a hole.
    constexpr std::uintmax_t most = 64U << 20U;
    const std::uintmax_t bytes = fs::file_size(from);
    std::string head(static_cast<std::size_t>(std::min(bytes, most)), '\0');
    std::ifstream(from, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
    writeText(to, head);
    fs::resize_file(to, bytes);
}

std::string madeUpCommit(std::string_view id) { return sha256Hex(id).substr(0, 40); }

fs::path layAsHubCache(const fs::path &cache, const std::string &id, const fs::path &repository)
{
    const fs::path folder = cache / ("models--" + joined(id, '/', "--"));
    const fs::path snapshot = folder / "snapshots" / madeUpCommit(id);
    writeText(folder / "refs" / "main", madeUpCommit(id));
    for (const std::string &file : filesOf(repository)) {
        const fs::path blob = folder / "blobs" / sha256Hex(id + ' ' + file);
        layFile(repository / file, blob);
        const fs::path link = snapshot / file;
        fs::create_directories(link.parent_path());
        fs::create_symlink(blob.lexically_relative(link.parent_path()), link);
    }
    return snapshot;
}

fs::path layAsLmStudio(const fs::path &root, const std::string &id, const fs::path &repository)
{
    for (const std::string &file : filesOf(repository))
        layFile(repository / file, root / id / file);
    return root / id;
}

void layAsLlamaCpp(const fs::path &cache, const std::string &id, const fs::path &repository)
{
    for (const std::string &file : filesOf(repository)) {
        if (file.ends_with(".gguf"))
            layFile(repository / file, cache / (joined(id, '/', "_") + '_' + joined(file, '/', "_")));
    }
    writeText(cache / ("manifest=" + joined(id, '/', "=") + "=latest.json"), R"({"ggufFile":{}})");
}

OllamaStoreMaker::OllamaStoreMaker(fs::path store)
    : m_store(std::move(store))
{
    fs::create_directories(m_store / "blobs");
    fs::create_directories(m_store / "manifests");
}

fs::path OllamaStoreMaker::blob(std::string_view digest) const
{
    return m_store / "blobs" / ("sha256-" + std::string(digest.substr(digest.find(':') + 1)));
}

fs::path OllamaStoreMaker::manifest(std::string_view name, std::string_view tag) const
{
    return m_store / "manifests" / "registry.ollama.ai" / "library" / name / tag;
}

nlohmann::json OllamaStoreMaker::layer(const fs::path &file, std::string_view kind)
{
    const std::string digest = "sha256:" + sha256Hex(file.string() + std::to_string(m_next++));
    layFile(file, blob(digest));
    return {{"mediaType", "application/vnd.ollama.image." + std::string(kind)},
            {"digest", digest},
            {"size", fs::file_size(file)}};
}

nlohmann::json OllamaStoreMaker::textLayer(std::string_view text, std::string_view mediaType)
{
    const std::string digest = "sha256:" + sha256Hex(text);
    writeText(blob(digest), text);
    return {{"mediaType", mediaType}, {"digest", digest}, {"size", text.size()}};
}

void OllamaStoreMaker::write(std::string_view name, std::string_view tag, const nlohmann::json &layers,
                             const nlohmann::json &config)
{
    const nlohmann::json whole{
        {"schemaVersion", 2},
        {"mediaType", "application/vnd.docker.distribution.manifest.v2+json"},
        {"config", textLayer(config.dump(), "application/vnd.docker.container.image.v1+json")},
        {"layers", layers}};
    writeText(manifest(name, tag), whole.dump());
}

void OllamaStoreMaker::addGguf(std::string_view name, std::string_view tag,
                               const std::vector<fs::path> &files, const std::vector<fs::path> &projectors,
                               std::string_view quantization)
{
    nlohmann::json layers = nlohmann::json::array();
    for (const fs::path &file : files)
        layers.push_back(layer(file, "model"));
    for (const fs::path &file : projectors)
        layers.push_back(layer(file, "projector"));
    layers.push_back(textLayer("{{ .Prompt }}", "application/vnd.ollama.image.template"));
    write(name, tag, layers, {{"model_format", "gguf"}, {"file_type", quantization}});
}

OllamaStoreMaker::Tensors OllamaStoreMaker::addSafetensors(std::string_view name, std::string_view tag,
                                                           const fs::path &repository,
                                                           const std::vector<std::string> &files)
{
    struct Blob
    {
        Json header = Json::object();
        std::uint64_t bytes = 0;
    };
    std::map<std::string, Blob> blobs;
    std::set<std::string> seen;
    Json metadata;
    for (const std::string &file : files) {
        const Json header = headerOf(repository / file);
        for (const auto &[tensor, entry] : header.items()) {
            if (tensor == "__metadata__") {
                metadata = entry;
                continue;
            }
            if (!seen.insert(tensor).second)
                continue;
            Blob &blob = blobs[blobNameOf(tensor)];
            const std::uint64_t bytes =
                entry["data_offsets"][1].get<std::uint64_t>() - entry["data_offsets"][0].get<std::uint64_t>();
            blob.header[tensor] = {{"dtype", entry["dtype"]},
                                   {"shape", entry["shape"]},
                                   {"data_offsets", {blob.bytes, blob.bytes + bytes}}};
            blob.bytes += bytes;
        }
    }
    Tensors made;
    nlohmann::json layers = nlohmann::json::array();
    for (auto &[blobName, blob] : blobs) {
        if (metadata.is_object())
            blob.header["__metadata__"] = metadata;
        const std::string text = blob.header.dump();
        const std::uint64_t length = text.size();
        std::string head(sizeof length, '\0');
        std::memcpy(head.data(), &length, sizeof length);
        head += text;
        const std::string digest =
            "sha256:" + sha256Hex(std::string(name) + ':' + std::string(tag) + ' ' + blobName);
        writeText(this->blob(digest), head);
        fs::resize_file(this->blob(digest), head.size() + blob.bytes);
        layers.push_back({{"mediaType", "application/vnd.ollama.image.tensor"},
                          {"digest", digest},
                          {"size", head.size() + blob.bytes},
                          {"name", blobName}});
        made.files.push_back(blobName + ".safetensors");
        made.bytes += head.size() + blob.bytes;
    }
    for (const std::string &file : filesOf(repository)) {
        if (!file.ends_with(".json") || file.find('/') != std::string::npos || file.ends_with(".index.json"))
            continue;
        nlohmann::json config = layer(repository / file, "json");
        config["name"] = file;
        layers.push_back(std::move(config));
    }
    write(name, tag, layers, {{"model_format", "safetensors"}, {"capabilities", {"completion"}}});
    std::sort(made.files.begin(), made.files.end());
    return made;
}

} // namespace weir::test

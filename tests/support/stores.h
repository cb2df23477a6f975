// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Lays a repository's folder out as the programs that keep checkpoints on a disk do. Files are hard links where that
/// works, else copies with holes, so that weights take no room; digests are made up, of the right form.
namespace weir::test {

/// The cache of the Hub's client below `cache`: blobs, refs/main, and links in a snapshot. Returns the snapshot.
std::filesystem::path layAsHubCache(const std::filesystem::path &cache, const std::string &id,
                                    const std::filesystem::path &repository);
/// The commit that layAsHubCache() makes up.
std::string madeUpCommit(std::string_view id);

/// A file as a link or a sparse copy.
void layFile(const std::filesystem::path &from, const std::filesystem::path &to);

/// LM Studio's folder: publisher/model/files, split models in sub-folders too. Returns the model's folder.
std::filesystem::path layAsLmStudio(const std::filesystem::path &root, const std::string &id,
                                    const std::filesystem::path &repository);

/// The cache of llama.cpp's builds of 2025: org_name_file.gguf in one folder, and a manifest.
void layAsLlamaCpp(const std::filesystem::path &cache, const std::string &id,
                   const std::filesystem::path &repository);

/// Ollama's store.
class OllamaStoreMaker
{
public:
    explicit OllamaStoreMaker(std::filesystem::path store);

    const std::filesystem::path &store() const { return m_store; }
    std::filesystem::path blob(std::string_view digest) const;
    std::filesystem::path manifest(std::string_view name, std::string_view tag = "latest") const;

    /// Puts a file into the store. Returns the layer without its kind.
    nlohmann::json layer(const std::filesystem::path &file, std::string_view kind);
    /// Puts a text into the store.
    nlohmann::json textLayer(std::string_view text, std::string_view mediaType);
    /// Writes a manifest.
    void write(std::string_view name, std::string_view tag, const nlohmann::json &layers,
               const nlohmann::json &config);

    /// A GGUF of one or more files, with a projector where the repository has one.
    void addGguf(std::string_view name, std::string_view tag, const std::vector<std::filesystem::path> &files,
                 const std::vector<std::filesystem::path> &projectors, std::string_view quantization);

    /// What was made of a safetensors repository: one blob for each module, one for the experts of each layer.
    struct Tensors
    {
        std::vector<std::string> files; ///< as the reader calls them, sorted
        std::uint64_t bytes = 0;
    };
    /// @param files  weight files in the order in which a tensor's first copy counts
    Tensors addSafetensors(std::string_view name, std::string_view tag,
                           const std::filesystem::path &repository, const std::vector<std::string> &files);

private:
    std::filesystem::path m_store;
    std::uint64_t m_next = 1;
};

} // namespace weir::test

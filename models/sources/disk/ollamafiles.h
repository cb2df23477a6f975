// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/disk/ollamamanifest.h"
#include "models/sources/open.h"
#include "models/sources/repositoryfiles.h"

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// The blobs of a model as a repository: tensors as NAME.safetensors, configs by their names, GGUF by digest.
class OllamaFiles final : public RepositoryFiles
{
public:
    struct File
    {
        std::string path;
        std::string blob; ///< its name in `blobs`
        std::uint64_t bytes = 0;
    };

    /// @param blobs  where the blobs lie, each under ollamaBlobName()
    /// @param files  with paths that differ
    /// @param quantization  as Ollama calls it ("int4", "nvfp4" ...) if it quantized the model; config.json then gets
    ///                      what mlx-lm would have written there, for it tells only of the model that was imported
    OllamaFiles(RepositoryFiles &blobs, std::string subject, std::vector<File> files,
                std::string quantization = {});

    std::string subject(const std::string &path) const override;
    Result<std::string> text(const std::string &path, std::uint64_t limit, std::stop_token stop) override;
    void read(const std::string &path, std::uint64_t first, std::uint64_t count, std::stop_token stop,
              BytesCallback done) override;
    unsigned parallelReads() const override { return m_blobs.parallelReads(); }
    Result<std::unique_ptr<RepositoryStream>> open(const std::string &path, std::stop_token stop) override;
    /// Ollama calls what belongs to a quantized weight W.weight.scale, W.weight.bias; MLX W.scales, W.biases.
    std::optional<std::string> tensorName(std::string_view name) const override;

private:
    const std::string &blobOf(const std::string &path) const;

    RepositoryFiles &m_blobs;
    std::string m_subject;
    std::string m_quantization;
    std::map<std::string, std::string, std::less<>> m_blobOf;
};

/// Reads the model that a manifest is of. What belongs to it and is not counted is noted.
/// @param blobs    holds all blobs of the manifest
/// @param subject  what errors are about
/// Errors: "ollama.no-weights", "ollama.bad-layer-name", and those of the readers.
Result<Checkpoint> readOllamaLayers(RepositoryFiles &blobs, const OllamaManifest &manifest,
                                    const OllamaConfig &config, const std::string &subject,
                                    const std::stop_token &stop, const ProgressCallback &progress);

/// The layers that are the weights of the model itself: those that count, in their order.
std::vector<OllamaLayer> ollamaWeights(const OllamaManifest &manifest, const OllamaConfig &config);

} // namespace weir

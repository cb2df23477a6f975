// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

inline constexpr std::uint64_t maxOllamaManifestBytes = 4U << 20U; ///< the largest seen has 40 kB
inline constexpr std::size_t maxOllamaLayers = 20'000;             ///< one a tensor, at most

/// What a layer of a model is.
enum class OllamaLayerKind : std::uint8_t {
    Model,     ///< GGUF
    Projector, ///< GGUF with a vision or audio tower
    Draft,     ///< GGUF of a draft model
    Adapter,   ///< GGUF or safetensors with a LoRA
    Tensor,    ///< safetensors with a tensor, or with those of one layer's experts
    Json,      ///< config.json and the like, by name
    Other,     ///< template, parameters, licence ...: no weights
};

struct OllamaLayer
{
    OllamaLayerKind kind = OllamaLayerKind::Other;
    std::string digest; ///< 64 hexadecimal digits
    std::uint64_t bytes = 0;
    std::string name; ///< of a tensor or a config: a plain relative path; else mostly empty
};

/// What a model is made of.
struct OllamaManifest
{
    OllamaLayer config; ///< without digest: there is none
    std::vector<OllamaLayer> layers;
};

/// Reads a manifest strictly: JSON without duplicate keys, schema version 2, digests that are SHA-256 (they become
/// names of files), sizes below 2^63, plain names. At most maxOllamaManifestBytes and maxOllamaLayers.
/// Errors: "file.too-large", those of parseTolerant(), "ollama.manifest-duplicate-key", "ollama.not-a-manifest",
/// "ollama.too-many-layers", "ollama.bad-digest", "ollama.bad-size", "ollama.bad-layer-name".
/// Source: ollama manifest/manifest.go, manifest/layer.go, manifest/paths.go.
Result<OllamaManifest> readOllamaManifest(std::string_view text, const std::string &subject);

/// What the config blob of a model says of it.
struct OllamaConfig
{
    std::string format; ///< "gguf", "safetensors"
    std::string quantization; ///< "Q4_K_M", "F16" ...; empty: not said
    std::string remoteHost; ///< not empty: the model runs there and nothing of it is here
    std::string draftPrefix; ///< how names of tensors of a draft model begin; empty: there is none
};

inline constexpr std::uint64_t maxOllamaConfigBytes = 1U << 20U;

/// Reads a config blob. Fields of another type than they should have count as absent.
Result<OllamaConfig> readOllamaConfig(std::string_view text, const std::string &subject);

/// 64 hexadecimal digits in lower or upper case.
bool isSha256(std::string_view text);

/// The name of a layer's file in the folder `blobs`.
inline std::string ollamaBlobName(const OllamaLayer &layer) { return "sha256-" + layer.digest; }

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/message.h"
#include "models/checkpoint/component.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir {

enum class Source : std::uint8_t { Hub, Catalog, Folder, File, Ollama, Config };
std::string_view sourceId(Source source);

enum class Format : std::uint8_t { Safetensors, Gguf, Mlx, Pickle, Unknown };
std::string_view formatId(Format format);
std::optional<Format> formatFromId(std::string_view id);

/// How the bytes of a checkpoint are known.
enum class Provenance : std::uint8_t {
    Headers,       ///< read from the headers of its files
    Config,        ///< shapes and types derived from a config and the naming of a sibling
    Reconstructed, ///< rebuilt from published totals; no header was seen
    Index,         ///< names from the index, shapes from the config
};
std::string_view provenanceId(Provenance provenance);
std::optional<Provenance> provenanceFromId(std::string_view id);

/// Tensors of one name pattern, dtype and shape. Numbers in names become `N`.
struct TensorGroup
{
    std::string pattern;
    Component component = Component::Other;
    Role role = Role::Unspecified;
    LayerKind layerKind = LayerKind::None;
    std::vector<std::uint32_t> layers; ///< sorted, unique; empty outside layers
    std::string dtype;                 ///< storage dtype as the format names it: "BF16", "I32", "Q4_K"
    std::vector<std::uint64_t> shape;  ///< as stored (GGUF: fastest dimension first)
    std::uint64_t count = 0;           ///< tensors
    std::uint64_t bytes = 0;           ///< of all of them together
    std::uint64_t parameters = 0;      ///< logical elements; 0 for quantization side tensors
    bool side = false;                 ///< scale, zero point, map ... of a quantized weight
    std::string file;                  ///< the file, if all of them are in one
    bool listed = true;                ///< false: in a weight file that the index does not list
};

/// One weight (or companion) file of the repository.
struct RepositoryFile
{
    std::string path; ///< relative to the repository
    std::uint64_t bytes = 0;
    bool listed = true;  ///< named by the index, or there is no index
    bool counted = true; ///< its tensors are in the groups
};

/// A file of the repository beside its weights.
struct CompanionFile
{
    std::string path;
    std::uint64_t bytes = 0;
    bool needed = true; ///< belongs to this choice: config, tokenizer, the projector of a GGUF
};

/// Attention layers that keep a KV cache of the same form. Elements are per token and layer.
struct AttentionLayers
{
    LayerKind kind = LayerKind::Attention;
    std::uint32_t layers = 0;
    std::uint64_t kElementsPerToken = 0; ///< MLA: latent + rotary part
    std::uint64_t vElementsPerToken = 0; ///< MLA: 0
    std::uint32_t kvHeads = 0;           ///< 0 where it means nothing (MLA)
    std::uint64_t indexerElementsPerToken = 0; ///< sparse attention: keys of the indexer
    std::optional<std::uint64_t> window; ///< sliding or chunked: at most this many tokens are kept and read
    std::optional<std::uint64_t> topK;   ///< sparse attention: tokens read after selection
};

/// Layers that keep a fixed state per sequence, read and written at every step.
struct StateLayers
{
    LayerKind kind = LayerKind::GatedDeltaNet;
    std::uint32_t layers = 0;
    std::uint64_t convolutionElements = 0; ///< per layer and sequence, in the model's dtype
    std::uint64_t recurrentElements = 0;   ///< per layer and sequence, in the state dtype
};

/// What the config (or the GGUF metadata) says about the decoder. Facts, no formulas.
struct ModelSpec
{
    std::string architecture; ///< class name or GGUF architecture
    std::string family;       ///< the rule set that classified it; "generic" when none knew it
    std::uint32_t layers = 0; ///< decoder layers, draft layers not included
    std::uint32_t moeLayers = 0;
    std::uint64_t hiddenSize = 0;
    std::uint64_t vocabularySize = 0;
    std::uint32_t experts = 0; ///< routed experts a layer; 0 = dense
    std::uint32_t expertsPerToken = 0;
    std::uint64_t maxContextTokens = 0; ///< 0 = unknown
    bool tiedEmbeddings = false;        ///< believed from the tensors: no separate head
    std::string dtype;                  ///< of activations and 16-bit caches: "BF16" ...
    std::string stateDtype;             ///< of recurrent state, e.g. "F32"
    std::optional<std::string> declaredKvDtype; ///< a KV scheme in the quantization config
    /// Elements of the table of rotary factors that a GGUF file of the model has beside its weights (rope scaling
    /// of type "llama3"); 0 = none, or not known.
    std::uint64_t ropeFactors = 0;
    std::vector<AttentionLayers> attention;
    std::vector<StateLayers> state;
};

/// Sums over the groups of one component; made once when a checkpoint is finished.
struct ComponentSum
{
    Component component = Component::Other;
    std::uint64_t bytes = 0;
    std::uint64_t parameters = 0;
    std::uint64_t tensors = 0;
    std::uint64_t unlistedBytes = 0; ///< in files that the index does not list
    std::uint64_t unseenBytes = 0; ///< Role::UnseenRemainder
    /// False: `parameters` leaves out weights whose layout does not tell how many they are.
    bool parametersKnown = true;
    std::map<std::string, std::uint64_t> bytesByDtype;
};

/// Everything known about one checkpoint. A value: made by a reader, shared const afterwards.
struct Checkpoint
{
    std::string id; ///< catalog id, org/name, or the path as given
    std::string name; ///< short name for people
    Source source = Source::Folder;
    std::string revision;
    Format format = Format::Unknown;
    Provenance provenance = Provenance::Headers;
    std::string quantization; ///< vocabulary of --quant: "bf16", "fp8", "gptq-int4", "Q4_K_M" ...
    ModelSpec spec;
    std::vector<TensorGroup> groups;
    std::vector<RepositoryFile> files;
    std::vector<CompanionFile> companions; ///< the rest of the repository, where it was listed
    std::string repository; ///< `org/name` on the Hub; empty: none is known
    std::string ollama; ///< its name in Ollama's registry; empty: none is known
    std::optional<std::uint64_t> repositoryBytes; ///< of all files; empty = unknown
    std::vector<Message> notes;

    std::vector<ComponentSum> sums; ///< in component order, empty components left out

    const ComponentSum *sum(Component component) const;
    std::uint64_t weightBytes() const; ///< distinct tensor data
    std::uint64_t parametersTotal() const; ///< logical elements, side tensors not counted
    /// False: parametersTotal() leaves some out, see ComponentSum.
    bool parametersKnown() const;
    bool isMoe() const { return spec.experts > 0; }
};

/// Fills `sums` from `groups`; to be called once by whoever makes a checkpoint.
void finish(Checkpoint &checkpoint);

using CheckpointPtr = std::shared_ptr<const Checkpoint>;

} // namespace weir

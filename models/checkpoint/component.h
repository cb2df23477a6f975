// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir {

/// What a tensor is for. Every tensor of a checkpoint lands in exactly one component.
/// The order is the order in which charts stack and tables list them.
enum class Component : std::uint8_t {
    RoutedExperts,
    SharedExpert,
    DenseMlp,
    Attention,
    LinearAttention, ///< gated DeltaNet, KDA, Mamba, short convolutions
    Router,
    EmbedTokens,
    LookupTables, ///< per-layer and n-gram embeddings: a few rows are read per token
    LmHead,
    Mtp, ///< the whole draft head
    Vision,
    Audio,
    Norm,
    Other,
};

inline constexpr std::size_t componentCount = 14;

inline constexpr std::array<Component, componentCount> allComponents{Component::RoutedExperts,
                                                                     Component::SharedExpert,
                                                                     Component::DenseMlp,
                                                                     Component::Attention,
                                                                     Component::LinearAttention,
                                                                     Component::Router,
                                                                     Component::EmbedTokens,
                                                                     Component::LookupTables,
                                                                     Component::LmHead,
                                                                     Component::Mtp,
                                                                     Component::Vision,
                                                                     Component::Audio,
                                                                     Component::Norm,
                                                                     Component::Other};

/// The id used in JSON, in data files and in rules: "routed_experts" ...
std::string_view componentId(Component component);
std::optional<Component> componentFromId(std::string_view id);

/// Finer than the component: sharding, draft cost and quantization mixes depend on it.
enum class Role : std::uint8_t {
    Unspecified,
    Query,
    Key,
    Value,
    QueryKeyValue, ///< fused
    AttentionOutput,
    AttentionGate,
    MlaDown, ///< q_a, kv_a: not sharded by tensor parallelism
    MlaUp,   ///< q_b, kv_b, k_b, v_b
    Indexer, ///< of sparse attention
    AttentionSmall, ///< norms, sinks, biases, scales inside attention
    Gate,
    Up,
    GateUp,
    Down,
    LatentProjection, ///< Nemotron fc1/fc2 latent: read for every token
    SharedExpertGate,
    RecurrentInput,
    RecurrentOutput,
    RecurrentSmall, ///< convolution, A, D, dt, norm
    RouterWeight,
    RouterBias,
    Embedding,
    Head,
    MtpProjection, ///< fc, eh_proj
    MtpEmbedding,
    MtpHead,
    MtpExperts,
    MtpAttention,
    MtpRest,
    Tower,
    Projector,
    NormWeight,
    UnseenRemainder, ///< published size minus what is known; see catalog notes. Never streamed.
};

std::string_view roleId(Role role);
std::optional<Role> roleFromId(std::string_view id);

/// What a decoder layer does with the past; decides KV cache, state and the fixed cost of a step.
enum class LayerKind : std::uint8_t {
    None, ///< the tensor is outside the layers
    Attention,
    SlidingAttention,
    Mla,
    GatedDeltaNet,
    Kda,
    Mamba,
    ShortConvolution,
    FeedForward, ///< a layer with neither attention nor state (Nemotron-H `E` and `-`)
};

std::string_view layerKindId(LayerKind kind);
std::optional<LayerKind> layerKindFromId(std::string_view id);

} // namespace weir

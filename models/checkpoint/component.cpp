// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/component.h"

#include <utility>

namespace weir {

namespace {

template <typename Enum, std::size_t N>
std::string_view idOf(const std::array<std::pair<Enum, std::string_view>, N> &table, Enum value)
{
    for (const auto &[key, id] : table) {
        if (key == value)
            return id;
    }
    return {};
}

template <typename Enum, std::size_t N>
std::optional<Enum> valueOf(const std::array<std::pair<Enum, std::string_view>, N> &table,
                            std::string_view id)
{
    for (const auto &[key, name] : table) {
        if (name == id)
            return key;
    }
    return std::nullopt;
}

using enum Component;
constexpr std::array<std::pair<Component, std::string_view>, componentCount> componentIds{{
    {RoutedExperts, "routed_experts"},
    {SharedExpert, "shared_expert"},
    {DenseMlp, "dense_mlp"},
    {Attention, "attention"},
    {LinearAttention, "linear_attention"},
    {Component::Router, "router"},
    {EmbedTokens, "embed_tokens"},
    {LookupTables, "lookup_tables"},
    {LmHead, "lm_head"},
    {Mtp, "mtp"},
    {Vision, "vision"},
    {Audio, "audio"},
    {Norm, "norm"},
    {Other, "other"},
}};

constexpr std::array<std::pair<Role, std::string_view>, 34> roleIds{{
    {Role::Unspecified, "unspecified"},
    {Role::Query, "query"},
    {Role::Key, "key"},
    {Role::Value, "value"},
    {Role::QueryKeyValue, "query_key_value"},
    {Role::AttentionOutput, "attention_output"},
    {Role::AttentionGate, "attention_gate"},
    {Role::MlaDown, "mla_down"},
    {Role::MlaUp, "mla_up"},
    {Role::Indexer, "indexer"},
    {Role::AttentionSmall, "attention_small"},
    {Role::Gate, "gate"},
    {Role::Up, "up"},
    {Role::GateUp, "gate_up"},
    {Role::Down, "down"},
    {Role::LatentProjection, "latent_projection"},
    {Role::SharedExpertGate, "shared_expert_gate"},
    {Role::RecurrentInput, "recurrent_input"},
    {Role::RecurrentOutput, "recurrent_output"},
    {Role::RecurrentSmall, "recurrent_small"},
    {Role::RouterWeight, "router_weight"},
    {Role::RouterBias, "router_bias"},
    {Role::Embedding, "embedding"},
    {Role::Head, "head"},
    {Role::MtpProjection, "mtp_projection"},
    {Role::MtpEmbedding, "mtp_embedding"},
    {Role::MtpHead, "mtp_head"},
    {Role::MtpExperts, "mtp_experts"},
    {Role::MtpAttention, "mtp_attention"},
    {Role::MtpRest, "mtp_rest"},
    {Role::Tower, "tower"},
    {Role::Projector, "projector"},
    {Role::NormWeight, "norm_weight"},
    {Role::UnseenRemainder, "unseen_remainder"},
}};

constexpr std::array<std::pair<LayerKind, std::string_view>, 9> layerKindIds{{
    {LayerKind::None, "none"},
    {LayerKind::Attention, "attention"},
    {LayerKind::SlidingAttention, "sliding_attention"},
    {LayerKind::Mla, "mla"},
    {LayerKind::GatedDeltaNet, "gated_delta_net"},
    {LayerKind::Kda, "kda"},
    {LayerKind::Mamba, "mamba"},
    {LayerKind::ShortConvolution, "short_convolution"},
    {LayerKind::FeedForward, "feed_forward"},
}};

} // namespace

std::string_view componentId(Component component) { return idOf(componentIds, component); }

std::optional<Component> componentFromId(std::string_view id) { return valueOf(componentIds, id); }

std::string_view roleId(Role role) { return idOf(roleIds, role); }

std::optional<Role> roleFromId(std::string_view id) { return valueOf(roleIds, id); }

std::string_view layerKindId(LayerKind kind) { return idOf(layerKindIds, kind); }

std::optional<LayerKind> layerKindFromId(std::string_view id) { return valueOf(layerKindIds, id); }

} // namespace weir

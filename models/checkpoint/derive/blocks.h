// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/derive/builder.h"
#include "models/checkpoint/derive/keys.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::derive {

/// What a decoder family is given to derive from.
struct DecoderModel
{
    Keys &text;
    TensorBuilder &builder;
    std::string prefix; ///< where the token table and the layers hang: "model." ...
    std::string head;   ///< "lm_head", "language_model.lm_head"
    std::size_t layers = 0;
    std::uint64_t hidden = 0;
    std::uint64_t vocabulary = 0;
    bool tied = false;
    std::uint32_t draftLayers = 0; ///< as the config announces them
    bool draftDerived = true;      ///< a family that does not know its draft head clears it

    Scope root() const { return {builder, prefix}; }
    Scope layer(std::size_t number) const { return root().item("layers", number); }
    /// Token table, final norm and, unless tied, the head.
    void tables(std::string_view embedding = "embed_tokens", std::string_view finalNorm = "norm",
                bool normBias = false, bool headBias = false) const;
};

/// Width of one head: `head_dim` if given, else the hidden size shared among the heads.
std::uint64_t headWidth(Keys &keys, std::uint64_t hidden);

/// Key and value heads: as many as heads, if the config leaves them out.
std::uint64_t keyValueHeads(Keys &keys);

/// How many routed experts a layer has, under any of the names for it; 0 = none.
std::uint64_t expertCount(Keys &keys);

enum class HeadNorm : std::uint8_t {
    None,
    Head,    ///< one norm of a head's width for all heads
    Whole,   ///< over all heads together
    PerHead, ///< a matrix: one row a head (Cohere)
    Listed,  ///< one module a head (StableLM)
};

/// Ordinary attention: projections of `heads` and `kvHeads` heads of one width.
struct AttentionForm
{
    std::uint64_t heads = 0;
    std::uint64_t kvHeads = 0;
    std::uint64_t headDim = 0;
    bool inBias = false;
    bool outBias = false;
    HeadNorm headNorm = HeadNorm::None;
    bool fused = false; ///< one `qkv_proj`
    bool gated = false; ///< an output gate in the query projection
    bool sinks = false;
    std::string_view out = "o_proj";
    std::string_view queryNorm = "q_norm";
    std::string_view keyNorm = "k_norm";
};
void attention(const Scope &scope, std::uint64_t hidden, const AttentionForm &form);

/// Multi-head latent attention, and the indexer of sparse attention if `indexed`.
void latentAttention(const Scope &scope, Keys &keys, std::uint64_t hidden, bool indexed);

enum class Feed : std::uint8_t {
    Gated,      ///< gate_proj, up_proj, down_proj
    FusedGated, ///< gate_up_proj, down_proj
    Plain,      ///< up_proj, down_proj
    Numbered,   ///< fc1, fc2
    Convolved,  ///< c_fc, c_proj
    Lettered,   ///< w1, w3, w2
};
void feedForward(const Scope &scope, Feed feed, std::uint64_t hidden, std::uint64_t inner, bool bias = false);

enum class Experts : std::uint8_t {
    Single,   ///< experts.N.gate_proj ...
    Lettered, ///< experts.N.w1 ...
    Plain,    ///< experts.N.up_proj, down_proj
    Stacked,  ///< experts.gate_up_proj of [experts, 2 x inner, hidden]
    Turned,   ///< experts.gate_up_proj of [experts, hidden, 2 x inner]
};
void routedExperts(const Scope &scope, Experts layout, std::uint64_t experts, std::uint64_t hidden,
                   std::uint64_t inner);

/// Gated delta net (Qwen3-Next, Qwen3.5); `split` as Qwen3.5 publishes it: four input projections, with
/// `A_log` and the norm in F32.
void deltaNet(const Scope &scope, Keys &keys, std::uint64_t hidden, bool split);

/// Mamba 2: `inner` channels in `heads` heads.
struct MambaForm
{
    std::uint64_t inner = 0;
    std::uint64_t heads = 0;
    std::uint64_t groups = 0;
    std::uint64_t state = 0;
    std::uint64_t kernel = 0;
    bool convolutionBias = false;
    bool inBias = false;
    bool outBias = false;
    bool norm = true;
    std::string_view stateDtype = {}; ///< of A_log, D and dt_bias; empty = the model's
};
void mamba2(const Scope &scope, std::uint64_t hidden, const MambaForm &form);

/// LFM2's gated short convolution.
void shortConvolution(const Scope &scope, std::uint64_t hidden, std::uint64_t kernel, bool bias);

} // namespace weir::derive

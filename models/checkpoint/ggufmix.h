// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace weir {

/// The types that llama.cpp's quantizer gives to the tensors of one model, by mix: by what a tensor is, by
/// its layer and by the shape of the model. Rows that are no whole number of blocks fall back to a simpler
/// type; vectors, norms, routers and small recurrent parameters stay F32.
/// An importance matrix moves a few tensors: IQ4_XS and IQ4_NL are taken as made with one, as published
/// ones are (without, the first eighth of ffn_down is Q5_K); of Q4_0 and Q5_0 it would lift the first
/// eighth of ffn_down to Q4_1 and Q5_1, which is not done here. Mixes below that need one are left out.
/// Source: llama.cpp src/llama-quant.cpp (llama_tensor_get_type_impl, tensor_allows_quantization,
/// tensor_type_fallback) of August 2026.
class GgufMix
{
public:
    /// The type that a mix gives to an ordinary tensor ("Q4_K_M": "Q4_K"); empty for an unknown mix.
    static std::string_view baseType(std::string_view mix);

    /// @param mix    one that baseType() knows; it has to outlive this object
    /// @param plain  groups with logical shapes, slowest dimension first
    GgufMix(std::string_view mix, const Checkpoint &plain);

    /// The type of a tensor of `group` in `layer`.
    std::string_view typeOf(const TensorGroup &group, std::uint32_t layer) const;

    /// `type`, or what it falls back to for rows of `row` elements.
    static std::string_view fitting(std::string_view type, std::uint64_t row);

    /// True if llama.cpp never quantizes such a tensor.
    static bool staysFloat(const TensorGroup &group);

private:
    enum class Category : std::uint8_t {
        Output,
        TokenEmbedding,
        Query,
        Key,
        ValueLike, ///< attn_v, attn_qkv, attn_kv_b
        AttentionOutput,
        Up,
        Gate,
        Down,
        Rest,
    };
    static Category categoryOf(const TensorGroup &group);
    std::string_view special(Category category, std::uint32_t layer) const;
    std::string_view valueType(std::uint32_t layer) const;
    std::string_view downType(std::uint32_t layer) const;
    bool is(std::string_view mix) const { return m_mix == mix; }
    void measureHeads(const Checkpoint &plain);

    std::string_view m_mix;
    std::string_view m_base;
    bool m_tied = true;
    bool m_eightExperts = false;
    bool m_experts = false;
    bool m_seventyBillion = false;
    std::uint64_t m_layers = 0;           ///< draft layers of a GGUF file included
    std::uint64_t m_headsPerKeyHead = 0;  ///< of layer 0; 0 = it has no attention
    std::map<std::uint32_t, std::uint64_t> m_valueIndex; ///< layer -> how many value tensors stand before
    std::map<std::uint32_t, std::uint64_t> m_downIndex;
};

} // namespace weir

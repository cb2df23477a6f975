// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir {

/// How a scheme lays out the tensors of one linear layer.
enum class Layout : std::uint8_t {
    Plain,        ///< `weight` in `scaleDtype`
    Gptq,         ///< `qweight` I32 [K·b/32, N], `qzeros` I32, `scales`, `g_idx` if asked for
    Awq,          ///< `qweight` I32 [K, N·b/32], `qzeros` I32, `scales`
    PackedInt, ///< compressed-tensors: `weight_packed` I32 [N, K·b/32], `weight_scale`, `weight_shape` I64
    Int8, ///< `weight` I8, `weight_scale` [N, 1]
    Fp8Block, ///< `weight` F8_E4M3, `weight_scale_inv` a block
    Fp8Channel, ///< `weight` F8_E4M3, `weight_scale` [N, 1]
    Fp8Tensor, ///< `weight` F8_E4M3, `weight_scale` and `input_scale` of one element
    Nvfp4, ///< ModelOpt: `weight` U8 [N, K/2], `weight_scale` F8_E4M3 [N, K/16], two F32 scalars
    Nvfp4Packed, ///< compressed-tensors: the same as `weight_packed`
    Mxfp4, ///< `weight_packed` U8 [N, K/2], `weight_scale` U8 [N, K/32]
    Mxfp8, ///< `weight` F8_E4M3, `weight_scale` U8 [N, K/32]
    Bnb4, ///< `weight` U8 [N·K/2, 1], absmax U8 a block of 64, its own absmax F32, maps and state
    Bnb8, ///< `weight` I8, `SCB` F32 [N], `weight_format` U8
    Mlx, ///< `weight` U32 [N, K·b/32], `scales` and `biases` [N, K/g]
    MlxFloat, ///< `weight` U32 and `scales` U8 [N, K/g], no biases
};

struct LinearScheme
{
    Layout layout = Layout::Plain;
    unsigned bits = 4;
    std::uint64_t groupSize = 128; ///< weights of one row that share a scale; 0 = the whole row
    std::uint64_t blockRows = 128; ///< Fp8Block
    std::uint64_t blockColumns = 128;
    bool groupIndex = false; ///< Gptq: with `g_idx`
    bool zeroPoints = false; ///< PackedInt: with zero points
    std::string
        scaleDtype; ///< of scales that are plain floats; empty = F16 for Gptq and Awq, else of the model

    friend bool operator==(const LinearScheme &, const LinearScheme &) = default;
};

/// True if the matrix can be stored so: rows and columns fill whole words and groups.
bool canPack(const TensorGroup &matrix, const LinearScheme &scheme);

/// The tensors of a group of matrices `[N, K]` (or `[E, N, K]`) in the layout of a scheme: the weight with
/// its logical parameters first, then the side tensors with none. A matrix that cannot be packed stays.
/// Sources: vLLM's and compressed-tensors' loaders, AutoGPTQ, AutoAWQ, bitsandbytes, mlx, ModelOpt.
std::vector<TensorGroup> packed(const TensorGroup &matrix, const LinearScheme &scheme);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"
#include "models/checkpoint/packedlinear.h"

#include <optional>
#include <string_view>

namespace weir {

/// The layout that a scheme of QuantKind::Safetensors or Mlx stands for ("gptq": 4 bit, groups of 128,
/// with g_idx); empty for other ids and for "nvfp4-mixed", which is no single layout. `architecture` decides the dtype of FP8 block scales.
std::optional<LinearScheme> layoutOf(std::string_view scheme, std::string_view architecture);

/// How a group of unquantized() is stored in a whole model of this scheme; empty = in its own dtype.
/// What the published checkpoints of each scheme leave alone is left alone. Everywhere: norms, routers, the gate of
/// the shared expert, convolutions and other small parameters, vision and audio. And further:
/// - all but MLX and nvfp4-mixed: embeddings and lm_head; nvfp4-mixed: embeddings; MLX (mlx-lm) quantizes both.
/// - draft heads keep their dtype, but for FP8, where their layers are quantized like others and only the
///   projection in front (`fc`, `eh_proj`) and copies of embeddings and head are not.
/// - fp8: projections of fewer than 128 rows (in_proj_a, in_proj_b), weights_proj of the indexer.
///   Qwen3-30B-A3B-FP8, Qwen3.5-122B-A10B-FP8, DeepSeek-V3. Scales are BF16 as Qwen stores them, F32 for latent attention and
///   MiniMax.
/// - autoround: shared experts. Intel/Qwen3.5-122B-A10B-int4-AutoRound.
/// - nvfp4: all linear layers of Llama, Mistral, Mixtral, Qwen2 and Qwen3 (nvidia/Qwen3-30B-A3B-NVFP4,
///   Qwen3-32B-NVFP4); of DeepSeek and Kimi all experts and MLPs, of DeepSeek o_proj too (DeepSeek-V3.1-NVFP4,
///   Kimi-K2.5-NVFP4); of the rest only routed experts, or the MLP of dense models (Qwen3.5-397B-A17B, MiniMax-M2.5, Gemma-4).
///   The scalars of an FP8 KV cache that some of them hold, 8 bytes a layer, are not there.
/// - nvfp4-mixed: experts, MLPs and lm_head NVFP4, the projections of attention and linear attention FP8 with one F32
///   scale a tensor, the draft head as it is (nvidia/Qwen3.6-35B-A3B-NVFP4, Qwen3.6-27B-NVFP4).
/// - mxfp4: routed experts only, as gpt-oss; all linear layers of dense models.
std::optional<LinearScheme> conventionalLayout(std::string_view scheme, const Checkpoint &plain,
                                               const TensorGroup &group);

/// True for a matrix that a linear layer of the decoder or its draft head multiplies with, routers and heads not
/// included: what quantizers look at.
bool isLinear(const TensorGroup &group);

/// True for any matrix that can be quantized on demand: linear layers, embeddings, heads, routers, towers.
bool isMatrix(const TensorGroup &group);

/// The matrices of a draft layer that are linear layers like those of the decoder.
bool isDraftLinear(const TensorGroup &group);

} // namespace weir

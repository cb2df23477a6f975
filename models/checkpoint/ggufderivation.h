// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <functional>
#include <map>
#include <string_view>
#include <vector>

namespace weir {

/// What becomes of a draft head.
struct GgufDraft
{
    bool kept = false;    ///< one that is not from a GGUF file; those always stay. Only if knowsGgufDraft()
    std::string_view mix; ///< decides its types; empty = the mix of the whole, or an override
};

/// The groups of the GGUF file that llama.cpp makes of a checkpoint at a mix of GgufMix.
/// What its converter does with tensors is done: experts are stacked, MLA's `kv_b` is split into the
/// per-head `k_b` and `v_b`, Qwen3-Next's fused `in_proj_qkvz` into `attn_qkv` and `attn_gate`, norms and
/// biases are widened, `rope_freqs` is made where ModelSpec::ropeFactors says so; vision and audio are left out.
/// @param plain      the result of unquantized()
/// @param overrides  types for what llama.cpp would quantize in single components
std::vector<TensorGroup> ggufGroups(const Checkpoint &plain, std::string_view mix,
                                    const std::map<Component, std::string_view> &overrides = {},
                                    const GgufDraft &draft = {});

/// True if it is known how llama.cpp's converter stores the draft head of this model, or stores one from a GGUF file.
/// - Qwen3.5 and 3.6 (`mtp.*`) and GLM-4.5 to 4.7, Flash too (layers beyond the decoder's): as further blocks, their
///   projection, norms and copies of the token tables as `blk.N.nextn.*`.
/// - DeepSeek, Kimi, Qwen3-Next: the converter drops it. Others: not known here.
/// Source: llama.cpp conversion/qwen.py (_Qwen35MtpMixin), conversion/glm.py, conversion/deepseek.py.
bool knowsGgufDraft(const Checkpoint &plain);

/// The tensors of one group at the types that a mix gives their layers.
std::vector<TensorGroup> ggufGroupsOf(const TensorGroup &group,
                                      const std::function<std::string_view(std::uint32_t)> &typeOfLayer);

} // namespace weir

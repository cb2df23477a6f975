// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <functional>
#include <map>
#include <string_view>
#include <vector>

namespace weir {

/// The groups of the GGUF file that llama.cpp makes of a checkpoint at a mix of GgufMix.
/// What its converter does with tensors is done: experts are stacked, MLA's `kv_b` is split into the
/// per-head `k_b` and `v_b`, Qwen3-Next's fused `in_proj_qkvz` into `attn_qkv` and `attn_gate`, norms and
/// biases are widened; vision, audio and the draft head are left out (a draft head that came from a GGUF file
/// stays). The 256 bytes of `rope_freqs`, which some models get from their config, are not there.
/// @param plain      the result of unquantized()
/// @param overrides  types for what llama.cpp would quantize in single components
std::vector<TensorGroup> ggufGroups(const Checkpoint &plain, std::string_view mix,
                                    const std::map<Component, std::string_view> &overrides = {});

/// The tensors of one group at the types that a mix gives their layers.
std::vector<TensorGroup> ggufGroupsOf(const TensorGroup &group,
                                      const std::function<std::string_view(std::uint32_t)> &typeOfLayer);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/boundedpattern.h"
#include "models/checkpoint/config.h"
#include "models/checkpoint/packedlinear.h"
#include "models/checkpoint/tensorset.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weir {

/// Logical elements of stored tensors: packed words count as the weights they hold. The packing is
/// inferred from the shapes of the scales, zero points and permutations beside the weight; what is declared for
/// the module is the fallback. Sources of the layouts: the loaders of vLLM and transformers, and the packages that
/// write each (GPTQModel, AutoAWQ, compressed-tensors, bitsandbytes, mlx, hqq, exllamav2 and 3, aqlm, bitnet ...).
class LogicalSizes
{
public:
    LogicalSizes(const TensorSet &tensors, const QuantizationConfig &quantization);

    /// Logical elements of all tensors of a group that is no side tensor; empty where the layout does not tell.
    std::optional<std::uint64_t> parameters(const RawGroup &group);

    /// True if `module` has a `.weight` whose dtype is no plain float.
    bool hasPackedWeight(std::string_view module) const;

private:
    struct Words;
    std::optional<std::uint64_t> gptqElements(const Words &words) const;
    std::optional<std::uint64_t> packedElements(const Words &words);
    std::uint64_t mlxElements(const Words &words);
    std::uint64_t byteElements(const Words &words) const;
    std::optional<std::uint64_t> otherElements(const Words &words) const;
    std::optional<LinearScheme> declaredScheme(std::string_view module, std::uint32_t layer);
    const std::vector<std::uint64_t> *shapeOf(std::string_view module, std::string_view leaf,
                                              std::uint32_t layer) const;

    const TensorSet &m_tensors;
    const QuantizationConfig &m_quantization;
    std::unordered_map<std::string, std::uint32_t> m_patterns;
    std::unordered_map<std::uint64_t, std::uint32_t> m_shapes; ///< pattern and layer -> group
    MatchBudget m_budget;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/config.h"
#include "models/checkpoint/tensorset.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace weir {

/// Logical elements of stored tensors: packed words count as the weights they hold. The packing is
/// inferred from the shapes of the scales and zero points beside the weight, the declared bits are the
/// fallback. Source of the layouts: vLLM and compressed-tensors, see docs/formats in the repository of each.
class LogicalSizes
{
public:
    LogicalSizes(const TensorSet &tensors, const QuantizationConfig &quantization);

    /// Logical elements of all tensors of a group that is no side tensor.
    std::uint64_t parameters(const RawGroup &group) const;

    /// True if `module` has a `.weight` whose dtype is no plain float.
    bool hasPackedWeight(std::string_view module) const;

private:
    const std::vector<std::uint64_t> *shapeOf(std::string_view module, std::string_view leaf,
                                              std::uint32_t layer) const;

    const TensorSet &m_tensors;
    const QuantizationConfig &m_quantization;
    std::unordered_map<std::string, std::uint32_t> m_patterns;
    std::unordered_map<std::uint64_t, std::uint32_t> m_shapes; ///< pattern and layer -> group
};

} // namespace weir

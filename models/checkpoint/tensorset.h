// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/indextable.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Tensors with one name pattern, layer, dtype, shape and file: what reading reduces names to.
struct RawGroup
{
    static constexpr std::uint32_t noLayer = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t pattern = 0; ///< index into TensorSet::patterns()
    std::uint32_t layer = noLayer; ///< first number of the name
    std::uint32_t dtype = 0;       ///< index into TensorSet::dtypes()
    std::uint32_t shape = 0;       ///< index into TensorSet::shapes()
    std::uint32_t file = 0;        ///< as given to add()
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

/// Collects tensors of one checkpoint and reduces them while reading: names become interned patterns
/// (segments that are numbers become `N`; the first number is the layer), tensors that differ only in
/// later numbers (experts) are counted together. Memory grows with patterns x layers, not with tensors.
class TensorSet
{
public:
    /// More patterns than any real checkpoint has by three orders of magnitude; a forged header of
    /// random names stops here instead of filling the memory.
    static constexpr std::size_t maxPatterns = 200'000;

    /// False when there are more patterns than `maxPatterns`.
    [[nodiscard]] bool add(std::string_view name, std::string_view dtype,
                           std::span<const std::uint64_t> shape, std::uint64_t bytes, std::uint32_t file);

    /// Adds tensors that another set has reduced already.
    [[nodiscard]] bool addGroup(std::string_view pattern, std::uint32_t layer, std::string_view dtype,
                                std::span<const std::uint64_t> shape, std::uint32_t file, std::uint64_t count,
                                std::uint64_t bytes);

    const std::vector<std::string> &patterns() const { return m_patterns; }
    const std::vector<std::string> &dtypes() const { return m_dtypes; }
    const std::vector<std::vector<std::uint64_t>> &shapes() const { return m_shapes; }
    const std::vector<RawGroup> &groups() const { return m_groups; }
    std::uint64_t tensors() const { return m_tensors; }
    bool empty() const { return m_tensors == 0; }

    const std::string &patternOf(const RawGroup &group) const { return m_patterns[group.pattern]; }
    const std::string &dtypeOf(const RawGroup &group) const { return m_dtypes[group.dtype]; }
    const std::vector<std::uint64_t> &shapeOf(const RawGroup &group) const { return m_shapes[group.shape]; }

private:
    std::uint32_t internPattern(std::string_view text);
    std::uint32_t internDtype(std::string_view text);
    std::uint32_t internShape(std::span<const std::uint64_t> shape);
    std::uint32_t groupOf(std::uint32_t pattern, std::uint32_t layer, std::string_view dtype,
                          std::span<const std::uint64_t> shape, std::uint32_t file);
    void count(std::uint32_t pattern, std::uint32_t layer, std::string_view dtype,
               std::span<const std::uint64_t> shape, std::uint32_t file, std::uint64_t count,
               std::uint64_t bytes);

    std::string m_scratch; ///< the pattern being built
    IndexTable m_patternTable;
    IndexTable m_dtypeTable;
    IndexTable m_shapeTable;
    IndexTable m_groupTable;
    std::vector<std::string> m_patterns;
    std::vector<std::string> m_dtypes;
    std::vector<std::vector<std::uint64_t>> m_shapes;
    std::vector<RawGroup> m_groups;
    std::vector<std::uint32_t> m_lastGroups; ///< of each pattern: where its tensor before this one went
    std::vector<std::uint32_t> m_followers; ///< of each pattern: what came after it the last time
    std::uint32_t m_previous = IndexTable::none; ///< pattern of the tensor before
    std::uint64_t m_tensors = 0;
};

/// Product of the dimensions; saturates at 2^64-1 (readers refuse overflow before).
std::uint64_t elementCount(std::span<const std::uint64_t> shape);

} // namespace weir

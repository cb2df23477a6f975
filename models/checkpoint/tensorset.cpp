// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/tensorset.h"

#include <cstring>

namespace weir {

std::uint64_t elementCount(std::span<const std::uint64_t> shape)
{
    std::uint64_t product = 1;
    for (const std::uint64_t dimension : shape) {
        if (__builtin_mul_overflow(product, dimension, &product))
            return std::numeric_limits<std::uint64_t>::max();
    }
    return product;
}

std::uint32_t TensorSet::intern(Index &index, std::vector<std::string> &values, std::string_view text)
{
    if (const auto found = index.find(text); found != index.end())
        return found->second;
    const auto id = static_cast<std::uint32_t>(values.size());
    values.emplace_back(text);
    index.emplace(values.back(), id);
    return id;
}

std::uint32_t TensorSet::internShape(std::span<const std::uint64_t> shape)
{
    const std::string_view key(reinterpret_cast<const char *>(shape.data()), shape.size_bytes());
    if (const auto found = m_shapeIndex.find(key); found != m_shapeIndex.end())
        return found->second;
    const auto id = static_cast<std::uint32_t>(m_shapes.size());
    m_shapes.emplace_back(shape.begin(), shape.end());
    m_shapeIndex.emplace(std::string(key), id);
    return id;
}

bool TensorSet::add(std::string_view name, std::string_view dtype, std::span<const std::uint64_t> shape,
                    std::uint64_t bytes, std::uint32_t file)
{
    // Segments made of digits alone become N. Up to seven digits: no layer or expert has more, and a
    // longer number is kept as text rather than wrapped.
    m_scratch.clear();
    std::uint32_t layer = RawGroup::noLayer;
    std::size_t start = 0;
    while (start <= name.size()) {
        std::size_t end = name.find('.', start);
        if (end == std::string_view::npos)
            end = name.size();
        const std::size_t length = end - start;
        bool number = length > 0 && length <= 7;
        std::uint32_t value = 0;
        for (std::size_t i = start; number && i < end; ++i) {
            const char c = name[i];
            if (c < '0' || c > '9')
                number = false;
            else
                value = value * 10 + static_cast<std::uint32_t>(c - '0');
        }
        if (start > 0)
            m_scratch += '.';
        if (number) {
            m_scratch += 'N';
            if (layer == RawGroup::noLayer)
                layer = value;
        } else {
            m_scratch.append(name.substr(start, length));
        }
        start = end + 1;
    }

    return addGroup(m_scratch, layer, dtype, shape, file, 1, bytes);
}

bool TensorSet::addGroup(std::string_view name, std::uint32_t layer, std::string_view dtype,
                         std::span<const std::uint64_t> shape, std::uint32_t file, std::uint64_t count,
                         std::uint64_t bytes)
{
    const std::uint32_t pattern = intern(m_patternIndex, m_patterns, name);
    if (m_patterns.size() > maxPatterns)
        return false;
    const std::uint32_t dtypeId = intern(m_dtypeIndex, m_dtypes, dtype);
    const std::uint32_t shapeId = internShape(shape);
    const Key key{(std::uint64_t{pattern} << 32U) | layer, (std::uint64_t{shapeId} << 40U)
                                                               | (std::uint64_t{dtypeId & 0xFFFFU} << 24U)
                                                               | (file & 0xFFFFFFU)};
    const auto [place, isNew] = m_groupIndex.try_emplace(key, static_cast<std::uint32_t>(m_groups.size()));
    if (isNew)
        m_groups.push_back(RawGroup{pattern, layer, dtypeId, shapeId, file, 0, 0});
    RawGroup &group = m_groups[place->second];
    group.count += count;
    group.bytes += bytes;
    m_tensors += count;
    return true;
}

} // namespace weir

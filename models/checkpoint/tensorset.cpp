// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/tensorset.h"

#include "models/base/texthash.h"

#include <algorithm>
#include <array>
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

namespace {

std::uint64_t hashOf(std::span<const std::uint64_t> shape)
{
    return textHash({reinterpret_cast<const char *>(shape.data()), shape.size_bytes()});
}

/// Reduces a name: segments made of digits alone become `N`. Up to seven digits: no layer or expert has more,
/// and a longer number is kept as text rather than wrapped.
/// @return the first number
std::uint32_t reduce(std::string_view name, std::string &pattern)
{
    pattern.resize(name.size()); // never longer
    char *to = pattern.data();
    const char *const end = name.data() + name.size();
    const char *kept = name.data(); // from here on not yet in the pattern
    std::uint32_t layer = RawGroup::noLayer;
    for (const char *at = kept; at != nullptr;) {
        std::uint32_t value = 0;
        const char *digit = at;
        for (; digit != end && *digit >= '0' && *digit <= '9' && digit - at < 8; ++digit)
            value = value * 10 + static_cast<std::uint32_t>(*digit - '0');
        if (digit != at && digit - at <= 7 && (digit == end || *digit == '.')) {
            to = std::copy(kept, at, to);
            *to++ = 'N';
            kept = digit;
            if (layer == RawGroup::noLayer)
                layer = value;
        }
        const void *dot = std::memchr(digit, '.', static_cast<std::size_t>(end - digit));
        at = dot == nullptr ? nullptr : static_cast<const char *>(dot) + 1;
    }
    to = std::copy(kept, end, to);
    pattern.resize(static_cast<std::size_t>(to - pattern.data()));
    return layer;
}

/// Whether `name` reduces to `pattern`, in one walk and without making it. A name with a segment "N" of its own is
/// not found this way and takes the long one.
/// @param layer  receives the first number
bool reducesTo(std::string_view name, std::string_view pattern, std::uint32_t &layer)
{
    layer = RawGroup::noLayer;
    std::size_t at = 0; // in the name
    std::size_t behind = 0; // in the pattern: what is before has been found in the name
    for (std::size_t number = pattern.find('N'); number != std::string_view::npos;
         number = pattern.find('N', number + 1)) {
        const bool whole = (number == 0 || pattern[number - 1] == '.')
                           && (number + 1 == pattern.size() || pattern[number + 1] == '.');
        if (!whole)
            continue;
        const std::size_t text = number - behind;
        if (name.size() - at <= text || name.compare(at, text, pattern, behind, text) != 0)
            return false;
        at += text;
        behind = number + 1;
        const std::size_t first = at;
        std::uint32_t value = 0;
        for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && at - first < 8; ++at)
            value = value * 10 + static_cast<std::uint32_t>(name[at] - '0');
        if (at == first || at - first > 7)
            return false;
        if (layer == RawGroup::noLayer)
            layer = value;
    }
    return name.substr(at) == pattern.substr(behind);
}

} // namespace

std::uint32_t TensorSet::internPattern(std::string_view text)
{
    const std::uint64_t hash = textHash(text);
    std::uint32_t id =
        m_patternTable.find(hash, [&](std::uint32_t each) { return m_patterns[each] == text; });
    if (id == IndexTable::none) {
        id = static_cast<std::uint32_t>(m_patterns.size());
        m_patterns.emplace_back(text);
        m_lastGroups.push_back(IndexTable::none);
        m_followers.push_back(IndexTable::none);
        m_patternTable.insert(hash, id);
    }
    return id;
}

std::uint32_t TensorSet::internDtype(std::string_view text)
{
    const std::uint64_t hash = textHash(text);
    std::uint32_t id = m_dtypeTable.find(hash, [&](std::uint32_t each) { return m_dtypes[each] == text; });
    if (id == IndexTable::none) {
        id = static_cast<std::uint32_t>(m_dtypes.size());
        m_dtypes.emplace_back(text);
        m_dtypeTable.insert(hash, id);
    }
    return id;
}

std::uint32_t TensorSet::internShape(std::span<const std::uint64_t> shape)
{
    const std::uint64_t hash = hashOf(shape);
    std::uint32_t id = m_shapeTable.find(
        hash, [&](std::uint32_t each) { return std::ranges::equal(m_shapes[each], shape); });
    if (id == IndexTable::none) {
        id = static_cast<std::uint32_t>(m_shapes.size());
        m_shapes.emplace_back(shape.begin(), shape.end());
        m_shapeTable.insert(hash, id);
    }
    return id;
}

std::uint32_t TensorSet::groupOf(std::uint32_t pattern, std::uint32_t layer, std::string_view dtype,
                                 std::span<const std::uint64_t> shape, std::uint32_t file)
{
    // Experts follow each other and differ in a later number only.
    if (const std::uint32_t last = m_lastGroups[pattern]; last != IndexTable::none) {
        const RawGroup &group = m_groups[last];
        if (group.layer == layer && group.file == file && m_dtypes[group.dtype] == dtype
            && std::ranges::equal(m_shapes[group.shape], shape))
            return last;
    }
    const RawGroup wanted{pattern, layer, internDtype(dtype), internShape(shape), file, 0, 0};
    const std::array<std::uint32_t, 5> key{pattern, layer, wanted.dtype, wanted.shape, file};
    const std::uint64_t hash = textHash({reinterpret_cast<const char *>(key.data()), sizeof key});
    std::uint32_t id = m_groupTable.find(hash, [&](std::uint32_t each) {
        const RawGroup &group = m_groups[each];
        return group.pattern == pattern && group.layer == layer && group.dtype == wanted.dtype
               && group.shape == wanted.shape && group.file == file;
    });
    if (id == IndexTable::none) {
        id = static_cast<std::uint32_t>(m_groups.size());
        m_groups.push_back(wanted);
        m_groupTable.insert(hash, id);
    }
    return m_lastGroups[pattern] = id;
}

bool TensorSet::add(std::string_view name, std::string_view dtype, std::span<const std::uint64_t> shape,
                    std::uint64_t bytes, std::uint32_t file)
{
    // Layers and experts repeat: what came after a pattern the last time mostly comes again.
    std::uint32_t layer = RawGroup::noLayer;
    const std::uint32_t expected = m_previous == IndexTable::none ? m_previous : m_followers[m_previous];
    if (expected != IndexTable::none && reducesTo(name, m_patterns[expected], layer)) {
        m_previous = expected;
    } else {
        layer = reduce(name, m_scratch);
        const std::uint32_t pattern = internPattern(m_scratch);
        if (m_patterns.size() > maxPatterns)
            return false;
        if (m_previous != IndexTable::none)
            m_followers[m_previous] = pattern;
        m_previous = pattern;
    }
    count(m_previous, layer, dtype, shape, file, 1, bytes);
    return true;
}

bool TensorSet::addGroup(std::string_view name, std::uint32_t layer, std::string_view dtype,
                         std::span<const std::uint64_t> shape, std::uint32_t file, std::uint64_t count,
                         std::uint64_t bytes)
{
    const std::uint32_t pattern = internPattern(name);
    if (m_patterns.size() > maxPatterns)
        return false;
    this->count(pattern, layer, dtype, shape, file, count, bytes);
    return true;
}

void TensorSet::count(std::uint32_t pattern, std::uint32_t layer, std::string_view dtype,
                      std::span<const std::uint64_t> shape, std::uint32_t file, std::uint64_t count,
                      std::uint64_t bytes)
{
    RawGroup &group = m_groups[groupOf(pattern, layer, dtype, shape, file)];
    group.count += count;
    group.bytes += bytes;
    m_tensors += count;
}

} // namespace weir

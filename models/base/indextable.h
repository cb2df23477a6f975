// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weir {

/// Finds the numbers of things that lie in a vector elsewhere by a hash of theirs (`textHash`, so that nobody can
/// prepare things that meet): 16 to 32 bytes each and no allocation for each.
class IndexTable
{
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    /// The number for which `isIt(number)` holds among those put in under this hash; `none` if there is none.
    template <typename IsIt>
    std::uint32_t find(std::uint64_t hash, IsIt &&isIt) const
    {
        if (m_slots.empty())
            return none;
        const auto key = static_cast<std::uint32_t>(hash);
        const std::size_t mask = m_slots.size() - 1;
        for (std::size_t at = key & mask; m_slots[at].index != none; at = (at + 1) & mask) {
            if (m_slots[at].key == key && isIt(m_slots[at].index))
                return m_slots[at].index;
        }
        return none;
    }

    /// Puts in a number that is not there.
    void insert(std::uint64_t hash, std::uint32_t index)
    {
        if ((m_count + 1) * 2 > m_slots.size())
            grow();
        put({static_cast<std::uint32_t>(hash), index});
        ++m_count;
    }

private:
    struct Slot
    {
        std::uint32_t key = 0; ///< lower half of the hash
        std::uint32_t index = none;
    };

    void put(Slot slot)
    {
        const std::size_t mask = m_slots.size() - 1;
        std::size_t at = slot.key & mask;
        while (m_slots[at].index != none)
            at = (at + 1) & mask;
        m_slots[at] = slot;
    }

    void grow()
    {
        constexpr std::size_t least = 16;
        const std::size_t wanted = m_slots.empty() ? least : m_slots.size() * 2;
        for (const std::vector<Slot> before = std::exchange(m_slots, std::vector<Slot>(wanted));
             const Slot &slot : before) {
            if (slot.index != none)
                put(slot);
        }
    }

    std::vector<Slot> m_slots; ///< a power of two of them
    std::size_t m_count = 0;
};

} // namespace weir

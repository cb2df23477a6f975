// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weir {

/// 64 bits that stand for a text. They differ from one run of the program to the next, so that nobody can
/// prepare names that meet; two different texts meet with a chance of about 1 in 2^64.
std::uint64_t textHash(std::string_view text);

/// A set of such hashes, 16 to 32 bytes each, without an allocation for each.
class HashSet
{
public:
    HashSet() = default;
    /// With room for so many.
    explicit HashSet(std::size_t count) { reserve(count); }

    void reserve(std::size_t count);
    /// False if it was there already.
    bool insert(std::uint64_t hash);
    bool contains(std::uint64_t hash) const;
    std::size_t size() const { return m_count; }
    /// Lets the place of a hash set out for the processor's cache; asked for or inserted a little later.
    void prefetch(std::uint64_t hash) const
    {
        if (!m_slots.empty())
            __builtin_prefetch(&m_slots[static_cast<std::size_t>(hash) & (m_slots.size() - 1)]);
    }

private:
    /// The place of a hash, or the free one that it would take.
    std::size_t place(std::uint64_t hash) const;

    std::vector<std::uint64_t> m_slots; ///< a power of two of them, 0: free
    std::size_t m_count = 0;
};

} // namespace weir

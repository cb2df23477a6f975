// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/texthash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <utility>

namespace weir {

namespace {

__extension__ using Wide = unsigned __int128;

/// Secret of this run of the program.
struct Secret
{
    std::array<std::uint64_t, 4> words{};
    Secret()
    {
        std::random_device device;
        for (std::uint64_t &word : words)
            word = (std::uint64_t{device()} << 32U) | device() | 1U;
    }
};

const std::array<std::uint64_t, 4> &secret()
{
    static const Secret one;
    return one.words;
}

/// Both halves of the product: every bit of either factor reaches the middle.
std::uint64_t mix(std::uint64_t a, std::uint64_t b)
{
    const Wide product = Wide{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t load(const char *from, std::size_t bytes)
{
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    return word;
}

/// Free places are zeros.
std::uint64_t marked(std::uint64_t hash) { return hash == 0 ? 1 : hash; }

} // namespace

std::uint64_t textHash(std::string_view text)
{
    const auto &key = secret();
    std::uint64_t hash = key[0] ^ text.size();
    const char *at = text.data();
    std::size_t left = text.size();
    for (; left > 16; left -= 16, at += 16)
        hash = mix(load(at, 8) ^ key[1], load(at + 8, 8) ^ hash);
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    if (left > 8) { // the two overlap, the length tells which bytes are there
        first = load(at, 8);
        second = load(at + left - 8, 8);
    } else if (left >= 4) {
        first = load(at, 4);
        second = load(at + left - 4, 4);
    } else if (left > 0) {
        first = load(at, left);
    }
    return mix(key[2], mix(first ^ key[3], second ^ hash));
}

void HashSet::reserve(std::size_t count)
{
    constexpr std::size_t least = 16;
    const std::size_t wanted = std::bit_ceil(std::max(count * 2, least));
    if (wanted <= m_slots.size())
        return;
    const std::vector<std::uint64_t> before = std::exchange(m_slots, std::vector<std::uint64_t>(wanted));
    for (const std::uint64_t hash : before) {
        if (hash != 0)
            m_slots[place(hash)] = hash;
    }
}

std::size_t HashSet::place(std::uint64_t hash) const
{
    const std::size_t mask = m_slots.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash) & mask;
    while (m_slots[at] != 0 && m_slots[at] != hash)
        at = (at + 1) & mask;
    return at;
}

bool HashSet::insert(std::uint64_t hash)
{
    hash = marked(hash);
    if ((m_count + 1) * 2 > m_slots.size())
        reserve((m_count + 1) * 2);
    std::uint64_t &slot = m_slots[place(hash)];
    if (slot == hash)
        return false;
    slot = hash;
    ++m_count;
    return true;
}

bool HashSet::contains(std::uint64_t hash) const
{
    return !m_slots.empty() && m_slots[place(marked(hash))] != 0;
}

} // namespace weir

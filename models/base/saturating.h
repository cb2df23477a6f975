// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>

namespace weir {

/// Byte arithmetic on numbers that strangers' files decide: stops at 2^63-1 instead of wrapping.
inline constexpr std::uint64_t saturated = std::numeric_limits<std::int64_t>::max();

constexpr std::uint64_t saturatingAdd(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) || sum > saturated ? saturated : sum;
}

constexpr std::uint64_t saturatingMultiply(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) || product > saturated ? saturated : product;
}

/// a x b / c, exact in between, rounded down; c > 0.
constexpr std::uint64_t multiplyDivide(std::uint64_t a, std::uint64_t b, std::uint64_t c)
{
    __extension__ using Wide = unsigned __int128;
    const Wide value = static_cast<Wide>(a) * b / c;
    return value > saturated ? saturated : static_cast<std::uint64_t>(value);
}

} // namespace weir

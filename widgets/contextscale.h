// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace weir {

/// The scale of the context slider: octaves from 256 to 1,048,576 tokens, each cut into sixteen equal
/// steps, so that every position is a round number and powers of two are hit exactly.
namespace ContextScale {

inline constexpr int stepsPerOctave = 16;
inline constexpr int octaves = 12;
inline constexpr int maximumPosition = stepsPerOctave * octaves;
inline constexpr std::uint64_t minimumTokens = 256;

/// Tokens at a position; positions outside the scale count as its ends.
std::uint64_t tokensAt(int position);
/// The position nearest to a number of tokens; values outside stand at the ends.
int positionOf(std::uint64_t tokens);

} // namespace ContextScale

} // namespace weir

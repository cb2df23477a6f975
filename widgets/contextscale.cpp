// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/contextscale.h"

#include <algorithm>
#include <bit>

namespace weir::ContextScale {

std::uint64_t tokensAt(int position)
{
    const int inside = std::clamp(position, 0, maximumPosition);
    const auto octave = static_cast<unsigned>(inside / stepsPerOctave);
    const auto step = static_cast<std::uint64_t>(inside % stepsPerOctave);
    const std::uint64_t base = minimumTokens << octave;
    return base + base / stepsPerOctave * step;
}

int positionOf(std::uint64_t tokens)
{
    if (tokens <= minimumTokens)
        return 0;
    const int octave = static_cast<int>(std::bit_width(tokens / minimumTokens)) - 1;
    if (octave >= octaves)
        return maximumPosition;
    const std::uint64_t base = minimumTokens << static_cast<unsigned>(octave);
    const std::uint64_t width = base / stepsPerOctave;
    // A value that rounds up to the next octave lands on its first step.
    return octave * stepsPerOctave + static_cast<int>((tokens - base + width / 2) / width);
}

} // namespace weir::ContextScale

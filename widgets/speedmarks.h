// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/pin.h"

#include <optional>
#include <vector>

namespace weir {

/// A point of the speed plot. Bytes and speeds are finite and positive.
struct SpeedMark
{
    enum class Kind : std::uint8_t {
        Predicted, ///< at the workload in force
        Measured,  ///< at its own context
        Claim,     ///< as Measured, but only claimed
        Ghost,     ///< where the resident bytes would be: the classic mistake
    };
    Kind kind = Kind::Predicted;
    std::size_t pin = 0;      ///< index into the pins
    std::size_t measured = 0; ///< index into the pin's measured points
    double bytesPerStep = 0;
    double tokensPerSecond = 0;
    std::optional<double> low;
    std::optional<double> high;
};

/// All that the speed plot shows, read off the pins: no drawing, no pixels.
struct SpeedMarks
{
    std::vector<SpeedMark> marks;
    /// Bytes per second; 0 = not known, no line.
    double datasheet = 0;
    double effective = 0;
    bool isAsymptote = false;       ///< a fixed cost keeps points below the effective line
    bool enginesDiffer = false;     ///< the effective line is that of one engine among several
    std::string effectiveEngine;
    std::optional<std::size_t> selected; ///< index of the selected pin
    int dropped = 0;   ///< points left out because a number was not finite or not positive
    int withoutSpeed = 0; ///< checkpoints without a prediction
    double readFraction = 0; ///< of what the selected checkpoint holds, what a token reads

    /// Whether a mark lies above the datasheet line: then an input is wrong.
    bool isImpossible(const SpeedMark &mark) const
    {
        return datasheet > 0 && mark.bytesPerStep * mark.tokensPerSecond > datasheet * (1 + 1e-9);
    }
};

/// Collects the marks, in the order in which keys walk them: by pin, predicted before measured before
/// ghost.
SpeedMarks collectSpeedMarks(const Pins &pins);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/decode/assessment.h"

#include <QString>

namespace weir {

/// What the badges say. The order is that of "how good": sorting and filtering go by it.
enum class Fit : std::uint8_t {
    Unknown,    ///< not assessed yet
    CannotLoad, ///< the engine does not run it on this machine
    TooBig,     ///< more than the machine shows, reserve included
    Tight,      ///< fits with less than a twentieth of the visible memory to spare
    Fits,
};

/// Reads the answer off an assessment; makes no numbers of its own but the threshold of "tight".
Fit fitOf(const Assessment &assessment);

/// The word on a badge: "Fits", "Tight", "Too big", "Cannot load".
QString fitText(Fit fit);

} // namespace weir

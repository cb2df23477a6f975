// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stablerange.h"

#include "widgets/ladder.h"

#include <cmath>

namespace weir {

bool StableRange::fit(double low, double high, double lowMargin, double highMargin, double decades)
{
    double wantedLow = low / lowMargin;
    double wantedHigh = high * highMargin;
    const double missing = decades - std::log10(wantedHigh / wantedLow);
    if (missing > 0) {
        const double half = std::pow(10.0, missing / 2);
        wantedLow /= half;
        wantedHigh *= half;
    }
    wantedLow = ladderFloor(wantedLow);
    wantedHigh = ladderCeil(wantedHigh);

    const double oldLow = m_low;
    const double oldHigh = m_high;
    if (!(m_low > 0) || wantedLow < m_low || wantedLow >= ladderMove(m_low, 2))
        m_low = wantedLow;
    if (!(m_high > 0) || wantedHigh > m_high || wantedHigh <= ladderMove(m_high, -2))
        m_high = wantedHigh;
    return m_low != oldLow || m_high != oldHigh;
}

} // namespace weir

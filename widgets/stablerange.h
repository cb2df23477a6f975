// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace weir {

/// The range of a logarithmic axis that does not jitter while a slider moves: it ends on rungs of the
/// 1-2-5 ladder, grows as soon as a value leaves it and shrinks only when an end has become two rungs
/// too generous.
class StableRange
{
public:
    /// Fits the range around [low, high], both positive, with a margin (a factor) at either end and at
    /// least `decades` wide. Returns whether the range changed.
    bool fit(double low, double high, double lowMargin, double highMargin, double decades);
    /// Forgets the range, so that the next fit is tight.
    void reset() { m_low = m_high = 0; }

    double low() const { return m_low; }
    double high() const { return m_high; }

private:
    double m_low = 0;
    double m_high = 0;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace weir {

/// The 1-2-5 ladder: the largest rung not above a positive value, the smallest not below it.
double ladderFloor(double value);
double ladderCeil(double value);
/// Rungs up or down from a rung.
double ladderMove(double rung, int rungs);

/// The step of a linear scale from 0 to `end` with at most `most` steps.
double ladderStep(double end, int most);
/// Ticks of a logarithmic scale within [low, high], thinned to at most `most`: 1-2-5, else the powers
/// of ten, else every second power and so on.
std::vector<double> ladderTicks(double low, double high, int most);

} // namespace weir

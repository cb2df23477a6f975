// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ladder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weir {

namespace {

constexpr std::array<double, 3> rungs{1.0, 2.0, 5.0};
constexpr double tolerance = 1e-9;

/// Rung number of the ladder: 0 is 1, 1 is 2, 2 is 5, 3 is 10, -1 is 0.5.
double rung(int number)
{
    const int decade = number >= 0 ? number / 3 : -((2 - number) / 3);
    const int place = number - decade * 3;
    const double base = rungs.at(static_cast<std::size_t>(place));
    // 5 / 100 is the nearest double to 0.05, 5 * 0.01 is not.
    return decade >= 0 ? base * std::pow(10.0, decade) : base / std::pow(10.0, -decade);
}

int floorNumber(double value)
{
    int number = static_cast<int>(std::floor(std::log10(value))) * 3 - 1;
    while (rung(number + 1) <= value * (1 + tolerance))
        ++number;
    return number;
}

} // namespace

double ladderFloor(double value) { return rung(floorNumber(value)); }

double ladderCeil(double value)
{
    const int number = floorNumber(value);
    return rung(number) >= value * (1 - tolerance) ? rung(number) : rung(number + 1);
}

double ladderMove(double from, int count) { return rung(floorNumber(from) + count); }

double ladderStep(double end, int most)
{
    if (!(end > 0) || !std::isfinite(end))
        return 1;
    return ladderCeil(end / std::max(1, most));
}

std::vector<double> ladderTicks(double low, double high, int most)
{
    std::vector<double> ticks;
    if (!(low > 0) || !(high > low) || !std::isfinite(high))
        return ticks;
    const int first = floorNumber(low);
    const int last = floorNumber(high);
    for (int every = 1;; every = every == 1 ? 3 : every + 3) {
        ticks.clear();
        for (int number = first; number <= last; ++number) {
            if (number % every == 0 && rung(number) >= low * (1 - tolerance))
                ticks.push_back(rung(number));
        }
        if (static_cast<int>(ticks.size()) <= std::max(2, most))
            return ticks;
    }
}

} // namespace weir

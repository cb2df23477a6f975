// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/decode/assessment.h"
#include "models/measure/measurement.h"

#include <QString>

#include <memory>
#include <vector>

namespace weir {

/// A measured row as the speed plot shows it: at its own bytes per step, its own engine.
struct MeasuredPoint
{
    double bytesPerStep = 0; ///< of an assessment at the row's own context
    double tokensPerSecond = 0;
    Measurement row;
};

/// One checkpoint that the charts show: the selected one or a pinned one, with its assessment for the
/// workload and machine in force.
struct Pin
{
    QString id;
    QString shortName; ///< "122B-A10B"
    bool selected = false;
    std::shared_ptr<const Assessment> assessment;
    std::vector<MeasuredPoint> measured;
};
using Pins = std::vector<Pin>;

} // namespace weir

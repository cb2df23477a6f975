// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/decode/assessment.h"
#include "widgets/assumptionspanel.h"
#include "widgets/verdictbar.h"

#include <QString>

#include <vector>

namespace weir {

class Wording;

/// The verdict of an assessment in words. Takes every number from it and makes none.
Verdict verdictOf(const Assessment &assessment, ByteUnit unit, const Wording &wording);

/// What stands in the place of a verdict while there is none.
Verdict emptyVerdict(bool catalogIsEmpty);

/// Warnings first, then what speed, routing, draft head and bytes rest on.
std::vector<Assumption> assumptionsOf(const Assessment &assessment, const Engine *engine, ByteUnit unit,
                                      const Wording &wording);

/// Where the default of the memory kept free comes from: "15 % of visible memory".
QString reserveRule(const Machine &machine);

/// "Qwen3.5-122B-A10B int4 AutoRound": a checkpoint in a title.
QString checkpointTitle(const Checkpoint &checkpoint);

} // namespace weir

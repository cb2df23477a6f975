// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/decode/assessment.h"

#include <optional>

namespace weir {

/// Fixed seconds of one step: per step, and per layer by kind (kernel launches and synchronisation that no
/// byte explains).
double fixedSeconds(const ModelSpec &spec, const SpeedConstants &constants);

/// One decode step: seconds = bytes / (efficiency x datasheet bandwidth) + fixedSeconds. Empty where the
/// machine's bandwidth or constants are unknown.
/// Source of the form: docs/speed-constants.md.
std::optional<DecodeAssessment> assessDecode(const Checkpoint &checkpoint, const Machine &machine,
                                             const Engine &engine, const Workload &workload);

} // namespace weir

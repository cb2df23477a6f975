// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/decode/assessment.h"

namespace weir {

/// Bytes of weights as an engine loads them: draft heads and unlisted files only where it does so, a second
/// copy of a tied table where it makes one.
std::uint64_t loadedWeightBytes(const Checkpoint &checkpoint, const Engine &engine);

/// Does the workload fit, and how far could context and concurrency go? `workload.reserveBytes` must be set.
/// total = weights + KV + state + activation + runtime + reserve, compared with what the machine shows.
MemoryAssessment assessMemory(const Checkpoint &checkpoint, const Machine &machine, const Engine &engine,
                              const Workload &workload);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"

#include <cstdint>

namespace weir {

/// Bytes of a component that one plain decode step (one sequence, context 0) reads: routed experts k/E,
/// tables, towers and draft heads nothing, the rest whole. With tied tables the head reads the whole token
/// table: ask with Component::LmHead, which then has no sum of its own.
std::uint64_t streamedBytes(const Checkpoint &checkpoint, Component component);

/// Parameters read per plain token: as streamedBytes, in logical elements.
std::uint64_t streamedParameters(const Checkpoint &checkpoint, Component component);

/// Expected number of distinct experts of `experts` that `positions` token positions wake up when each picks
/// `active` of them uniformly and independently: E (1 - (1 - k/E)^n). An upper bound: real routing is
/// correlated. 0 for a dense model.
double distinctExperts(std::uint32_t experts, std::uint32_t active, std::uint64_t positions);

/// Weights that one step of `positions` sequences reads: experts as above, everything else once.
std::uint64_t streamedWeightBytes(const Checkpoint &checkpoint, std::uint64_t positions);

} // namespace weir

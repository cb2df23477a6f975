// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"

namespace weir::fuzz {

/// Does with a checkpoint that came of hostile input what the program does with every checkpoint: sums,
/// other quantizations, fit and speed, the report.
void exercise(Checkpoint checkpoint);

} // namespace weir::fuzz

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <string>
#include <string_view>

namespace weir {

/// Writes a checkpoint as a catalog group file ("weir.groups/1"): one tensor group a line.
std::string writeGroupFile(const Checkpoint &checkpoint);

/// Reads a group file; every field is checked, sums are made anew.
Result<Checkpoint> readGroupFile(std::string_view text, const std::string &subject);

} // namespace weir

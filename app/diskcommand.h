// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace weir {

/// `weir disk`: what lies on this disk, as a table or as JSON (weir.disk/1). What could not be looked through is said
/// to `err`.
/// @param added  folders to look through beside the usual places
/// @return the exit status
int listCheckpointsOnDisk(const std::vector<std::string> &added, bool json, std::ostream &out,
                          std::ostream &err);

} // namespace weir

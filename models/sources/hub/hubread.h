// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/hub/hubtypes.h"
#include "models/sources/open.h"
#include "models/sources/repositoryfiles.h"

#include <stop_token>
#include <string>

namespace weir {

/// Reads one choice of a repository, wherever its files lie. What it was and what else there is, is noted.
Result<Checkpoint> readChoice(RepositoryFiles &files, const HubReference &reference,
                              const std::string &preferred, const std::stop_token &stop,
                              const ProgressCallback &progress);

} // namespace weir

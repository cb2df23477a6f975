// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <filesystem>

namespace weir {

/// The folder of shipped, read-only data: `WEIR_DATA_DIR` if set, else `../share/weir` beside the
/// binary, else the installed place. An error names where it was looked for.
Result<std::filesystem::path> dataDirectory();

} // namespace weir

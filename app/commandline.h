// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

namespace weir {

/// What is left to do after the command line was read.
struct CommandOutcome
{
    /// Exit status; empty: no command was given, the window is to be opened.
    std::optional<int> exitStatus;

    // for the window
    std::string checkpoint;
    std::optional<std::filesystem::path> screenshot;
    int width = 0;
    int height = 0;
    std::string theme;
};

/// Exit status of an error: 2 usage, 3 not found or unreadable, 4 network, 5 access, 7 no language model.
int exitStatusOf(ErrorKind kind);

/// Reads the arguments and runs a command, writing results to `out` and one plain sentence an error to `err`
/// (with --json also {"error": …} to `out`). Opens no window.
CommandOutcome runCommandLine(int argc, const char *const *argv, std::ostream &out, std::ostream &err);

} // namespace weir

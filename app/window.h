// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace weir {

/// How the window is started.
struct WindowOptions
{
    std::string checkpointArgument; ///< what to open; empty = what was selected last
    /// Take a picture of the first window, with default settings, write it there as PNG, and quit.
    std::optional<std::filesystem::path> screenshot;
    int width = 0; ///< 0 = as it was last
    int height = 0;
    std::string theme; ///< "light", "dark", "system"; empty = as set
};

/// Runs the window until it is closed; returns the exit status of the program.
int runWindow(int argc, char **argv, const WindowOptions &options);

} // namespace weir

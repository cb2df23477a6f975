// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commandline.h"

#ifdef WEIR_WITH_WINDOW
#include "app/window.h"
#endif

#include <iostream>

int main(int argc, char **argv)
{
    const weir::CommandOutcome outcome = weir::runCommandLine(argc, argv, std::cout, std::cerr);
    if (outcome.exitStatus)
        return *outcome.exitStatus;
#ifdef WEIR_WITH_WINDOW
    weir::WindowOptions options;
    options.checkpointArgument = outcome.checkpoint;
    options.screenshot = outcome.screenshot;
    options.width = outcome.width;
    options.height = outcome.height;
    options.theme = outcome.theme;
    return weir::runWindow(argc, argv, options);
#else
    std::cerr << "This build of weir has no window: see “weir --help” for the commands.\n";
    return 2;
#endif
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commandline.h"

#include "models/base/units.h"

#ifdef WEIR_WITH_WINDOW
#include "app/window.h"
#endif

#include <cstdlib>
#include <iostream>

int main(int argc, char **argv)
{
    const weir::CommandOutcome outcome = weir::runCommandLine(argc, argv, std::cout, std::cerr);
    if (outcome.exitStatus) {
        // A full disk or a closed pipe must not look like an answer.
        if (!std::cout.flush()) {
            std::cerr << "The answer could not be written: check the disk or the pipe.\n";
            return 3;
        }
        return *outcome.exitStatus;
    }
#ifdef WEIR_WITH_WINDOW
#if defined(__linux__)
    // Qt would abort: say it in a sentence instead.
    const auto isSet = [](const char *name) {
        const char *value = std::getenv(name);
        return value != nullptr && *value != '\0';
    };
    if (!isSet("DISPLAY") && !isSet("WAYLAND_DISPLAY") && !isSet("QT_QPA_PLATFORM")) {
        std::cerr << "There is no display here, so no window opens: use a command such as “weir assess "
                  << (outcome.checkpoint.empty() ? std::string("CHECKPOINT")
                                                 : weir::printable(outcome.checkpoint))
                  << "” (see “weir --help”).\n";
        return 2;
    }
#endif
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

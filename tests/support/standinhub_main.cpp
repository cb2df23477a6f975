// SPDX-License-Identifier: GPL-3.0-or-later
//
// The stand-in Hub as a program, to try things by hand: HF_ENDPOINT=<what it prints> weir assess org/name
#include "tests/support/standinhub.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

int main(int argc, char **argv)
{
    long latency = 0;
    long port = 0;
    bool log = false;
    const char *root = nullptr;
    bool good = true;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if ((argument == "--latency" || argument == "--port") && i + 1 < argc)
            (argument == "--port" ? port : latency) = std::strtol(argv[++i], nullptr, 10);
        else if (argument == "--log")
            log = true;
        else if (root == nullptr && !argument.starts_with("-"))
            root = argv[i];
        else
            good = false;
    }
    if (!good || root == nullptr || port < 0 || port > 65535 || latency < 0) {
        std::fputs("usage: weir-standin-hub ROOT [--latency MS] [--port P] [--log]\n", stderr);
        return 2;
    }
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, nullptr); // before threads are made, so that they inherit it
    try {
        weir::test::StandInHub hub(root, static_cast<std::uint16_t>(port));
        hub.setLatency(std::chrono::milliseconds(latency));
        std::printf("%s\n", hub.endpoint().c_str());
        std::fflush(stdout);
        int signal = 0;
        sigwait(&ending, &signal);
        if (log) {
            for (const weir::test::SeenRequest &seen : hub.requests()) {
                std::printf("%s %s %s %s\n", seen.cdn ? "cdn" : "hub", seen.method.c_str(),
                            seen.target.c_str(), seen.header("range").c_str());
            }
            std::printf("most at once: hub %u, cdn %u\n", hub.hub().mostAtOnce(), hub.cdn().mostAtOnce());
        }
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "weir-standin-hub: %s\n", problem.what());
        return 1;
    }
    return 0;
}

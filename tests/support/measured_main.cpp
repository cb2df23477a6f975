// SPDX-License-Identifier: GPL-3.0-or-later
//
// weir-measured SECONDS MEBIBYTES REPORT COMMAND...: runs a command and writes what it took to REPORT, one line of
// "exit STATUS" or "signal NUMBER", seconds, and the most memory that it held, in KiB. Ends it after SECONDS; it may
// not have more than MEBIBYTES of address space (0: any). A program of its own, since a process begins with the peak
// of the one that it was forked from.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int count, char **values)
{
    if (count < 5)
        return 2;
    const double most = std::strtod(values[1], nullptr);
    const rlim_t bytes = std::strtoull(values[2], nullptr, 10) << 20U;
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit memory{bytes, bytes};
        if (bytes > 0)
            ::setrlimit(RLIMIT_AS, &memory);
        const rlimit cores{0, 0};
        ::setrlimit(RLIMIT_CORE, &cores);
        ::execv(values[4], values + 4);
        ::_exit(126);
    }
    int status = 0;
    rusage usage{};
    while (::wait4(child, &status, WNOHANG, &usage) == 0) {
        if (seconds() > most)
            ::kill(child, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::FILE *report = std::fopen(values[3], "w");
    if (report == nullptr)
        return 2;
    const bool ended = WIFEXITED(status);
    std::fprintf(report, "%s %d %.3f %ld\n", ended ? "exit" : "signal",
                 ended ? WEXITSTATUS(status) : WTERMSIG(status), seconds(), usage.ru_maxrss);
    std::fclose(report);
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ctime>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir::test {

inline double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// Milliseconds that something takes.
template <typename Work>
double millisecondsOf(Work &&work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Milliseconds of processor time that something takes in this process: what others do on the machine meanwhile
/// counts less.
template <typename Work>
double processorMillisecondsOf(Work &&work)
{
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    };
    const double begin = now();
    work();
    return now() - begin;
}

/// One way of doing something, measured beside others.
struct Contender
{
    std::string name;
    std::function<void()> work;
    std::vector<double> milliseconds = {};
};

/// Every contender once a round, forth and back, so that what disturbs the machine disturbs all of them.
inline void alternate(std::vector<Contender> &contenders, int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            Contender &one = contenders[round % 2 == 0 ? i : contenders.size() - 1 - i];
            one.milliseconds.push_back(processorMillisecondsOf(one.work));
        }
    }
}

/// Bytes of a line of /proc/self/status ("VmHWM:", "VmRSS:"); 0 where there is none.
inline std::uint64_t statusBytes(const std::string &key)
{
    std::uint64_t bytes = 0;
    if (std::FILE *file = std::fopen("/proc/self/status", "r")) {
        char line[256];
        while (std::fgets(line, sizeof line, file) != nullptr) {
            const std::string text = line;
            if (text.starts_with(key))
                bytes = std::stoull(text.substr(key.size())) << 10U;
        }
        std::fclose(file);
    }
    return bytes;
}

/// What a fork of this process takes in addition while it works: the highest resident memory less that before.
/// Empty where the system does not tell.
inline std::optional<std::uint64_t> peakExtraBytes(const std::function<void()> &work)
{
    malloc_trim(0);
    int ends[2];
    if (pipe(ends) != 0)
        return std::nullopt;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const std::uint64_t before = statusBytes("VmRSS:");
        work();
        const std::uint64_t peak = statusBytes("VmHWM:");
        const std::uint64_t extra = before == 0 || peak < before ? 0 : peak - before;
        const ssize_t written = write(ends[1], &extra, sizeof extra);
        _exit(written == sizeof extra ? 0 : 1);
    }
    close(ends[1]);
    std::uint64_t extra = 0;
    const bool told = child > 0 && read(ends[0], &extra, sizeof extra) == sizeof extra && extra > 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, nullptr, 0);
    return told ? std::optional(extra) : std::nullopt;
}

} // namespace weir::test

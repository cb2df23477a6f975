// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace weir::fuzz {

using Function = void (*)(std::string_view input);

struct Target
{
    const char *name;
    Function run;
};

/// Every target of this program; one under libFuzzer, all of them when the corpus is replayed.
inline std::vector<Target> &targets()
{
    static std::vector<Target> all;
    return all;
}

struct Registration
{
    Registration(const char *name, Function run) { targets().push_back({name, run}); }
};

/// What must hold whatever the input: ends the program as a crash does.
inline void require(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

/// Inputs of several parts: cuts off and returns what stands before the next record separator (0x1E).
inline std::string_view takePart(std::string_view &input)
{
    const std::size_t end = input.find('\x1E');
    const std::string_view part = input.substr(0, end);
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
    return part;
}

} // namespace weir::fuzz

/// The body of a target that is named NAME: what is done with one input. A parser of outside data may refuse
/// it, and may do nothing else wrong.
#ifdef WEIR_LIBFUZZER
#define WEIR_FUZZ_TARGET(NAME)                                                                               \
    static void fuzz_##NAME(std::string_view input);                                                         \
    extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);                       \
    extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)                        \
    {                                                                                                        \
        fuzz_##NAME({reinterpret_cast<const char *>(data), size});                                           \
        return 0;                                                                                            \
    }                                                                                                        \
    static void fuzz_##NAME(std::string_view input)
#else
#define WEIR_FUZZ_TARGET(NAME)                                                                               \
    static void fuzz_##NAME(std::string_view input);                                                         \
    static const weir::fuzz::Registration registration_##NAME(#NAME, fuzz_##NAME);                           \
    static void fuzz_##NAME(std::string_view input)
#endif

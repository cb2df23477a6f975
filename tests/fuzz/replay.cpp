// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fuzz targets without libFuzzer, for any compiler:
//   weir-fuzz-replay CORPUS              every file of CORPUS/TARGET once, in the target of that name
//   weir-fuzz-replay CORPUS --mutate N   and N damaged variants of each, always the same ones
//   weir-fuzz-replay --one TARGET FILE   a single input
#include "tests/fuzz/fuzztarget.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace fs = std::filesystem;
using namespace weir::fuzz;

namespace {

constexpr double maxSeconds = 10;              ///< of one input, in a debug build
constexpr std::size_t maxMutatedBytes = 65'536; ///< larger seeds are replayed and not mutated

std::array<char, 512> current{}; ///< what is being run, for the handler

extern "C" void onCrash(int number)
{
    constexpr std::string_view text = "crashed in ";
    static_cast<void>(!::write(2, text.data(), text.size()));
    static_cast<void>(!::write(2, current.data(), std::strlen(current.data())));
    static_cast<void>(!::write(2, "\n", 1));
    std::signal(number, SIG_DFL);
    std::raise(number);
}

std::string contentOf(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Runs one input; false if it took too long.
bool timed(const Target &target, const std::string &input, const std::string &label)
{
    current.fill('\0');
    std::copy_n(label.begin(), std::min(label.size(), current.size() - 1), current.begin());
    const auto start = std::chrono::steady_clock::now();
    target.run(input);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds <= maxSeconds)
        return true;
    std::fprintf(stderr, "%s took %.1f s\n", label.c_str(), seconds);
    return false;
}

/// Small damage of the kinds that forgers and broken downloads make.
std::string mutated(std::string text, const std::string &other, std::mt19937 &random)
{
    const auto below = [&random](std::size_t limit) {
        return limit == 0 ? std::size_t{0} : std::size_t{random()} % limit;
    };
    static constexpr std::array<std::string_view, 14> tokens{"\"",
                                                             "{",
                                                             "[",
                                                             "-1",
                                                             "1e308",
                                                             "18446744073709551615",
                                                             "9223372036854775808",
                                                             "null",
                                                             "\\u0000",
                                                             "\xFF",
                                                             "../",
                                                             "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F",
                                                             "]",
                                                             "}"};
    for (std::size_t rounds = 1 + below(4); rounds > 0; --rounds) {
        const std::size_t at = below(text.size() + 1);
        switch (below(6)) {
        case 0: text.resize(at); break;
        case 1: text.insert(at, tokens[below(tokens.size())]); break;
        case 2: text.erase(at, below(16)); break;
        case 3:
            if (at < text.size())
                text[at] = static_cast<char>(random() & 0xFFU);
            break;
        case 4:
            if (!other.empty()) {
                const std::size_t from = below(other.size());
                text.replace(at, std::min(below(64), text.size() - at), other.substr(from, below(256)));
            }
            break;
        default: text.insert(at, text.substr(below(text.size() + 1), below(64))); break;
        }
    }
    return text;
}

int replay(const fs::path &corpus, unsigned mutations)
{
    bool good = true;
    for (const Target &target : targets()) {
        std::vector<fs::path> files;
        for (const auto &each : fs::directory_iterator(corpus / target.name))
            files.push_back(each.path());
        std::sort(files.begin(), files.end());
        std::vector<std::string> inputs;
        for (const fs::path &file : files) {
            inputs.push_back(contentOf(file));
            good = timed(target, inputs.back(), file.string()) && good;
        }
        std::size_t made = 0;
        std::mt19937 random(20'260'101); // NOLINT: the same inputs in every run
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            for (unsigned n = 0; n < mutations && inputs[i].size() <= maxMutatedBytes; ++n, ++made) {
                const std::string input =
                    mutated(inputs[i], inputs[std::size_t{random()} % inputs.size()], random);
                const std::string label = files[i].string() + ", variant " + std::to_string(n);
                good = timed(target, input, label) && good;
            }
        }
        std::printf("%-12s %4zu inputs, %6zu variants\n", target.name, inputs.size(), made);
        if (inputs.empty()) {
            std::fprintf(stderr, "%s has no seeds\n", target.name);
            good = false;
        }
    }
    return good ? 0 : 1;
}

} // namespace

int main(int count, char **values)
{
    const std::vector<std::string> arguments(values + 1, values + count);
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        std::signal(number, onCrash);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit memory{rlim_t{2} << 30U, rlim_t{2} << 30U};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    if (arguments.size() == 3 && arguments[0] == "--one") {
        for (const Target &target : targets()) {
            if (arguments[1] == target.name)
                return timed(target, contentOf(arguments[2]), arguments[2]) ? 0 : 1;
        }
    } else if (arguments.size() == 1) {
        return replay(arguments[0], 0);
    } else if (arguments.size() == 3 && arguments[1] == "--mutate") {
        return replay(arguments[0], static_cast<unsigned>(std::strtoul(arguments[2].c_str(), nullptr, 10)));
    }
    std::fputs("usage: weir-fuzz-replay CORPUS [--mutate N] | --one TARGET FILE\n", stderr);
    return 2;
}

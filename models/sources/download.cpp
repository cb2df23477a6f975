// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/download.h"

#include "models/base/saturating.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir {

namespace {

constexpr std::size_t maxPatterns = 8; ///< more make a command that nobody reads

bool isPlain(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')
           || (letter >= '0' && letter <= '9')
           || std::string_view("%+,-./:=@_").find(letter) != std::string_view::npos;
}

bool isControl(char letter)
{
    const auto code = static_cast<unsigned char>(letter);
    return code < 0x20 || code == 0x7F;
}

/// Characters that a pattern would take for its own stand in brackets. A control character, which a terminal
/// might act on when the command is pasted, is matched by `?`.
std::string escapedGlob(std::string_view path)
{
    std::string escaped;
    for (const char letter : path) {
        if (letter == '*' || letter == '?' || letter == '[')
            escaped += std::string("[") + letter + "]";
        else
            escaped += isControl(letter) ? '?' : letter;
    }
    return escaped;
}

/// "model-00003-of-00014.safetensors" -> "model-*-of-00014.safetensors"; empty if it is no numbered part.
std::string shardPattern(std::string_view path)
{
    const std::size_t of = path.rfind("-of-");
    if (of == std::string_view::npos)
        return {};
    std::size_t first = of;
    while (first > 0 && path[first - 1] >= '0' && path[first - 1] <= '9')
        --first;
    if (first == of)
        return {};
    return escapedGlob(path.substr(0, first)) + "*" + escapedGlob(path.substr(of));
}

using Paths = std::vector<std::string>;

bool matchesAny(const std::string &path, const Paths &patterns)
{
    return std::any_of(patterns.begin(), patterns.end(),
                       [&path](const std::string &pattern) { return matchesGlob(path, pattern); });
}

bool matchesNone(const Paths &paths, const std::string &pattern)
{
    return std::none_of(paths.begin(), paths.end(),
                        [&pattern](const std::string &path) { return matchesGlob(path, pattern); });
}

/// A short list of patterns that match all of `wanted` and none of `others`; empty if there is none.
Paths patternsFor(const Paths &wanted, const Paths &others)
{
    Paths patterns;
    for (const std::string &path : wanted) {
        if (matchesAny(path, patterns))
            continue;
        Paths candidates;
        if (const std::size_t slash = path.find('/'); slash != std::string::npos)
            candidates.push_back(escapedGlob(path.substr(0, slash + 1)) + "*");
        if (std::string pattern = shardPattern(path); !pattern.empty())
            candidates.push_back(std::move(pattern));
        candidates.push_back(escapedGlob(path));
        const auto fitting =
            std::find_if(candidates.begin(), candidates.end(),
                         [&others](const std::string &pattern) { return matchesNone(others, pattern); });
        if (fitting == candidates.end() || patterns.size() == maxPatterns)
            return {};
        patterns.push_back(*fitting);
    }
    return patterns;
}

/// Patterns by ending ("*.json"), for the many small files beside a model.
Paths patternsByEnding(const Paths &wanted, const Paths &others)
{
    Paths patterns;
    Paths rest;
    for (const std::string &path : wanted) {
        if (matchesAny(path, patterns))
            continue;
        const std::size_t dot = path.rfind('.');
        const std::string pattern =
            dot == std::string::npos ? std::string() : "*" + escapedGlob(path.substr(dot));
        if (!pattern.empty() && matchesNone(others, pattern))
            patterns.push_back(pattern);
        else
            rest.push_back(path);
    }
    if (!rest.empty()) {
        const Paths more = patternsFor(rest, others);
        if (more.empty())
            return {};
        patterns.insert(patterns.end(), more.begin(), more.end());
    }
    return patterns.size() > maxPatterns ? Paths() : patterns;
}

/// `--include=…`: one word, so that a file whose name begins with a dash is no option.
std::string withOptions(std::string command, const char *option, const Paths &patterns)
{
    for (const std::string &pattern : patterns)
        command += " " + shellQuoted(std::string(option) + "=" + pattern);
    return command;
}

std::string hubCommand(const Checkpoint &checkpoint, const Paths &wanted, const Paths &others)
{
    std::string command = "hf download " + shellQuoted(checkpoint.repository);
    if (checkpoint.source == Source::Hub && !checkpoint.revision.empty())
        command += " " + shellQuoted("--revision=" + checkpoint.revision);
    if (others.empty())
        return command;
    const Paths excluded = patternsFor(others, wanted);
    const Paths included = patternsFor(wanted, others);
    if (!included.empty() && (excluded.empty() || included.size() <= excluded.size()))
        return withOptions(std::move(command), "--include", included);
    if (!excluded.empty())
        return withOptions(std::move(command), "--exclude", excluded);
    if (const Paths byEnding = patternsByEnding(wanted, others); !byEnding.empty())
        return withOptions(std::move(command), "--include", byEnding);
    // No short way: every file by name.
    Paths names;
    for (const std::string &path : wanted)
        names.push_back(escapedGlob(path));
    return withOptions(std::move(command), "--include", names);
}

} // namespace

DownloadPlan downloadPlan(const Checkpoint &checkpoint)
{
    DownloadPlan plan;
    const auto isClean = [](const std::string &name) {
        return std::none_of(name.begin(), name.end(), isControl);
    };
    if (checkpoint.repository.empty() && checkpoint.ollama.empty())
        return plan;
    Paths wanted;
    Paths others;
    const auto take = [&](const std::string &path, std::uint64_t bytes, bool needed) {
        (needed ? wanted : others).push_back(path);
        if (needed) {
            plan.files.push_back({path, bytes});
            plan.bytes = saturatingAdd(plan.bytes.value_or(0), bytes);
        }
    };
    // A listing has companions; without one, only some of the files may be known.
    if (!checkpoint.companions.empty() || checkpoint.source == Source::Hub) {
        for (const RepositoryFile &file : checkpoint.files)
            take(file.path, file.bytes, file.counted);
        for (const CompanionFile &file : checkpoint.companions)
            take(file.path, file.bytes, file.needed);
        plan.exact = true;
    } else {
        plan.bytes = checkpoint.weightBytes();
    }
    std::sort(plan.files.begin(), plan.files.end(),
              [](const DownloadFile &a, const DownloadFile &b) { return a.path < b.path; });
    if (!checkpoint.repository.empty() && isClean(checkpoint.repository) && isClean(checkpoint.revision)) {
        plan.command = hubCommand(checkpoint, wanted, others);
    } else if (!checkpoint.ollama.empty() && isClean(checkpoint.ollama)) {
        plan.command = "ollama pull " + shellQuoted(checkpoint.ollama);
        plan.byOllama = true;
    }
    return plan;
}

double downloadSeconds(std::uint64_t bytes, double bitsPerSecond)
{
    return bitsPerSecond > 0 ? static_cast<double>(bytes) * 8 / bitsPerSecond
                             : std::numeric_limits<double>::infinity();
}

std::string shellQuoted(std::string_view word)
{
    if (!word.empty() && std::all_of(word.begin(), word.end(), isPlain))
        return std::string(word);
    std::string quoted = "'";
    for (const char letter : word) {
        if (letter == '\'')
            quoted += "'\\''";
        else
            quoted += letter;
    }
    return quoted + "'";
}

bool matchesGlob(std::string_view name, std::string_view pattern)
{
    // One bracket expression at `at` against a letter: {matches, position behind it}; {false, 0} if it is none.
    const auto bracket = [pattern](std::size_t at, char letter) -> std::pair<bool, std::size_t> {
        std::size_t i = at + 1;
        const bool negated = i < pattern.size() && pattern[i] == '!';
        if (negated)
            ++i;
        const std::size_t close = pattern.find(']', i + 1);
        if (close == std::string_view::npos)
            return {false, 0};
        bool found = false;
        while (i < close) {
            if (i + 2 < close && pattern[i + 1] == '-') {
                found = found || (letter >= pattern[i] && letter <= pattern[i + 2]);
                i += 3;
            } else {
                found = found || pattern[i] == letter;
                ++i;
            }
        }
        return {found != negated, close + 1};
    };
    std::size_t n = 0;
    std::size_t p = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (n < name.size()) {
        std::size_t next = std::string_view::npos;
        if (p < pattern.size()) {
            if (pattern[p] == '*') {
                star = p++;
                resume = n;
                continue;
            }
            if (pattern[p] == '[') {
                const auto [matches, behind] = bracket(p, name[n]);
                if (behind == 0 ? name[n] == '[' : matches)
                    next = behind == 0 ? p + 1 : behind;
            } else if (pattern[p] == '?' || pattern[p] == name[n]) {
                next = p + 1;
            }
        }
        if (next != std::string_view::npos) {
            p = next;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/modulenames.h"

#include <array>

namespace weir {

namespace {

constexpr std::array<std::string_view, 8> prefixes{"model.language_model.",
                                                   "language_model.model.",
                                                   "language_model.",
                                                   "thinker.model.",
                                                   "model.model.",
                                                   "model.",
                                                   "backbone.",
                                                   "transformer."};

std::string_view withoutPrefix(std::string_view name)
{
    for (const std::string_view prefix : prefixes) {
        if (name.starts_with(prefix))
            return name.substr(prefix.size());
    }
    return name;
}

/// The name without its last segment; empty at the end.
std::string_view parentOf(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

} // namespace

bool ModuleNames::add(std::string_view name, std::size_t value)
{
    if (name.starts_with("re:"))
        return addRegex(name.substr(3), value);
    if (name.empty() || name.size() > maxName)
        return true; // names nothing
    if (name.find_first_of("*?") != std::string_view::npos) {
        if (m_globs.size() <= maxPatterns)
            m_globs.emplace_back(withoutPrefix(name), value);
        return m_globs.size() <= maxPatterns;
    }
    while (name.ends_with('.'))
        name.remove_suffix(1);
    const std::string_view tail = withoutPrefix(name);
    // What was written with its place is one module; "gate" means every one of that name.
    Names &names = tail.size() == name.size() ? m_parts : m_anchored;
    names.emplace(tail, value);
    return m_anchored.size() + m_parts.size() <= maxNames;
}

bool ModuleNames::addRegex(std::string_view pattern, std::size_t value)
{
    if (m_regexes.size() > maxRegexes)
        return false;
    if (auto regex = BoundedRegex::compile(pattern))
        m_regexes.emplace_back(*std::move(regex), value);
    else
        ++m_unsupported;
    return m_regexes.size() <= maxRegexes;
}

std::size_t ModuleNames::find(std::string_view module, MatchBudget &budget) const
{
    const std::string_view tail = withoutPrefix(module);
    for (std::string_view part = tail; !part.empty(); part = parentOf(part)) {
        if (const auto found = m_anchored.find(part); found != m_anchored.end())
            return found->second;
    }
    if (!m_parts.empty()) {
        // Every run of segments, longest first for each end.
        for (std::string_view end = tail; !end.empty(); end = parentOf(end)) {
            std::string_view part = end;
            while (!part.empty()) {
                if (const auto found = m_parts.find(part); found != m_parts.end())
                    return found->second;
                const std::size_t dot = part.find('.');
                part = dot == std::string_view::npos ? std::string_view() : part.substr(dot + 1);
            }
        }
    }
    const std::string whole = "model." + std::string(tail);
    for (const auto &[glob, value] : m_globs) {
        // "model.layers.*.self_attn" means what is below it, too.
        const std::string_view name = glob.starts_with('*') ? std::string_view(whole) : tail;
        if (matchesGlob(glob, name, budget) || matchesGlob(glob + ".*", name, budget))
            return value;
    }
    if (!m_regexes.empty()) {
        const std::array<std::string, 4> names{std::string(tail), whole,
                                               "model.language_model." + std::string(tail),
                                               "language_model.model." + std::string(tail)};
        for (const auto &[regex, value] : m_regexes) {
            for (const std::string &name : names) {
                if (regex.matchesStart(name, budget))
                    return value;
            }
        }
    }
    return none;
}

} // namespace weir

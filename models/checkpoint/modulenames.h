// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/boundedpattern.h"
#include "models/base/texthash.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir {

/// Names of modules as quantization configs list them, each with a number the caller chose: whole names, parts
/// of names ("gate", "self_attn"), shell patterns, and `re:` with a regular expression. Prefixes that a rename adds
/// or takes away ("model.language_model.", "language_model.model.", "backbone." ...) do not count.
class ModuleNames
{
public:
    static constexpr std::size_t maxNames = 500'000;
    static constexpr std::size_t maxPatterns = 4'096;
    static constexpr std::size_t maxRegexes = 256;
    static constexpr std::size_t maxName = 1'024;
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    /// False when there are more names or patterns than any checkpoint lists. A regular expression that cannot be
    /// matched in bounded time matches nothing and is counted in unsupported().
    [[nodiscard]] bool add(std::string_view name, std::size_t value = 0);
    /// A regular expression without the `re:` in front.
    [[nodiscard]] bool addRegex(std::string_view pattern, std::size_t value = 0);

    /// The value of what names the module or something it is a part of: names before patterns, the longest name
    /// and the first pattern first; `none` if nothing does.
    std::size_t find(std::string_view module, MatchBudget &budget) const;

    std::size_t unsupported() const { return m_unsupported; }
    bool empty() const
    {
        return m_anchored.empty() && m_parts.empty() && m_globs.empty() && m_regexes.empty();
    }

private:
    struct TextHash
    {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept
        {
            return static_cast<std::size_t>(textHash(text));
        }
    };
    using Names = std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>>;

    Names m_anchored; ///< whole names and parents, without prefix
    Names m_parts; ///< anywhere between dots
    std::vector<std::pair<std::string, std::size_t>> m_globs;
    std::vector<std::pair<BoundedRegex, std::size_t>> m_regexes;
    std::size_t m_unsupported = 0;
};

} // namespace weir

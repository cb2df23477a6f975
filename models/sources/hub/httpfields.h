// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir {

/// Digits and nothing else.
inline std::optional<std::uint64_t> wholeNumber(std::string_view text)
{
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// True if the value of a Content-Range begins with "bytes " in any case (it may be written so).
inline bool hasRangeUnit(std::string_view text)
{
    static constexpr std::string_view unit = "bytes ";
    if (text.size() < unit.size())
        return false;
    for (std::size_t i = 0; i < unit.size(); ++i) {
        const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
        if (c != unit[i])
            return false;
    }
    return true;
}

/// "bytes 0-99/1000" taken apart; the whole is empty for `*`.
struct ContentRange
{
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::optional<std::uint64_t> whole;
};

inline std::optional<ContentRange> contentRange(std::string_view text)
{
    const std::size_t dash = text.find('-');
    const std::size_t slash = text.find('/');
    if (!hasRangeUnit(text) || dash == std::string_view::npos || slash == std::string_view::npos
        || slash < dash)
        return std::nullopt;
    const auto first = wholeNumber(text.substr(6, dash - 6));
    const auto last = wholeNumber(text.substr(dash + 1, slash - dash - 1));
    if (!first || !last || *last < *first)
        return std::nullopt;
    ContentRange range{*first, *last, wholeNumber(text.substr(slash + 1))};
    if (range.whole && *range.whole <= range.last)
        return std::nullopt;
    return range;
}

} // namespace weir

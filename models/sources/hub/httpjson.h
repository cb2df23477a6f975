// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

inline constexpr unsigned maxAnswerDepth = 64;
inline constexpr std::size_t maxAnswerValues = 1'000'000; ///< of a text that is held as a document

/// Bytes of the character at `at` by the table of well-formed UTF-8 (Unicode, table 3-7); 0: it is none.
inline std::size_t utf8Bytes(std::string_view text, std::size_t at)
{
    const auto byte = [text](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto isNext = [](unsigned value, unsigned least = 0x80, unsigned most = 0xBF) {
        return value >= least && value <= most;
    };
    const unsigned first = byte(at);
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return isNext(byte(at + 1)) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool good = isNext(byte(at + 1), first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
        return good && isNext(byte(at + 2)) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool good = isNext(byte(at + 1), first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
        return good && isNext(byte(at + 2)) && isNext(byte(at + 3)) ? 4 : 0;
    }
    return 0;
}

/// The value of `\uXXXX` at `at`; none of it: 0x10000.
inline unsigned escapedUnit(std::string_view text, std::size_t at)
{
    constexpr unsigned none = 0x10000;
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u')
        return none;
    unsigned value = 0;
    for (std::size_t i = at + 2; i < at + 6; ++i) {
        const char c = text[i];
        unsigned digit = 0;
        if (c >= '0' && c <= '9')
            digit = static_cast<unsigned>(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = static_cast<unsigned>(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            digit = static_cast<unsigned>(c - 'A') + 10;
        else
            return none;
        value = value * 16 + digit;
    }
    return value;
}

/// Prepares a stranger's JSON for the parser, which builds whatever it is given and refuses a whole text for
/// one bad character. Bytes of strings that are no UTF-8 and halves of surrogate pairs become the control
/// character DEL, which no name may hold; `text` is then a view of `storage`.
/// @return false if it is nested deeper than maxAnswerDepth, holds a NUL, or more values than allowed
inline bool guardJson(std::string_view &text, std::string &storage, std::size_t maxValues = maxAnswerValues)
{
    const std::string_view given = text;
    const auto replace = [&](std::size_t at, std::string_view by) {
        if (storage.empty())
            storage.assign(given);
        storage.replace(at, by.size(), by);
    };
    storage.clear();
    std::size_t values = 0;
    unsigned depth = 0;
    bool inString = false;
    for (std::size_t i = 0; i < given.size();) {
        const char c = given[i];
        if (!inString) {
            ++i;
            if (c == '"') {
                inString = true;
            } else if (c == '[' || c == '{') {
                if (++depth > maxAnswerDepth)
                    return false;
                ++values;
            } else if (c == ']' || c == '}') {
                depth -= depth > 0 ? 1 : 0;
            } else if (c == ',') {
                ++values;
            }
            if (c == '\0' || values > maxValues)
                return false;
            continue;
        }
        if (c == '"') {
            inString = false;
            ++i;
        } else if (const unsigned unit = escapedUnit(given, i); unit < 0x10000) {
            const unsigned next = unit >= 0xD800 && unit < 0xDC00 ? escapedUnit(given, i + 6) : 0;
            const bool pair = next >= 0xDC00 && next < 0xE000;
            if (unit >= 0xD800 && unit < 0xE000 && !pair)
                replace(i, "\\u007f");
            i += pair ? 12 : 6;
        } else if (c == '\\') {
            i += 2;
        } else if (const std::size_t bytes = utf8Bytes(given, i); bytes > 0) {
            i += bytes;
        } else {
            replace(i, "\x7F");
            ++i;
        }
    }
    if (!storage.empty())
        text = storage;
    return true;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/jsoncursor.h"

#include <simdjson.h>

#include <bit>
#include <cstring>

namespace weir {

namespace {

constexpr std::uint64_t ones = 0x0101010101010101ULL;
constexpr std::uint64_t highs = 0x8080808080808080ULL;

std::uint64_t load(const char *from)
{
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
}

/// Bytes that end the plain part of a text: a quote, a backslash, a control character.
bool isSpecial(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

/// The high bits of bytes that are special; above the first of them, and for bytes that are not ASCII, bits
/// may be set that mean nothing.
std::uint64_t specials(std::uint64_t word)
{
    const std::uint64_t quote = word ^ (ones * '"');
    const std::uint64_t backslash = word ^ (ones * '\\');
    return ((quote - ones) | (backslash - ones) | (word - ones * 0x20)) & ~word & highs;
}

/// Passes what is plain; `seen` collects the bits of all bytes.
const char *passPlain(const char *at, const char *end, std::uint64_t &seen)
{
    while (end - at >= 8) {
        const std::uint64_t word = load(at);
        const std::uint64_t found = specials(word);
        if (found != 0) {
            if constexpr (std::endian::native == std::endian::little) {
                const int before = std::countr_zero(found) / 8;
                seen |= word & ((std::uint64_t{1} << (before * 8)) - 1);
                return at + before;
            }
            break;
        }
        seen |= word;
        at += 8;
    }
    while (at != end && !isSpecial(*at))
        seen |= static_cast<unsigned char>(*at++);
    return at;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

} // namespace

bool JsonCursor::string(std::string_view &text, std::string &store)
{
    if (!take('"'))
        return false;
    const char *begin = m_at;
    std::uint64_t seen = 0;
    m_at = passPlain(m_at, m_end, seen);
    if (m_at == m_end)
        return false;
    if (*m_at == '"') {
        text = std::string_view(begin, static_cast<std::size_t>(m_at - begin));
    } else {
        store.assign(begin, m_at);
        while (m_at != m_end && *m_at == '\\') {
            ++m_at;
            if (!unescape(store))
                return false;
            const char *plain = m_at;
            m_at = passPlain(m_at, m_end, seen);
            store.append(plain, m_at);
        }
        if (m_at == m_end || *m_at != '"') // a control character
            return false;
        text = store;
    }
    ++m_at;
    return (seen & highs) == 0 || simdjson::validate_utf8(text.data(), text.size());
}

/// What follows a backslash.
bool JsonCursor::unescape(std::string &store)
{
    if (m_at == m_end)
        return false;
    switch (*m_at++) {
    case '"': store += '"'; return true;
    case '\\': store += '\\'; return true;
    case '/': store += '/'; return true;
    case 'b': store += '\b'; return true;
    case 'f': store += '\f'; return true;
    case 'n': store += '\n'; return true;
    case 'r': store += '\r'; return true;
    case 't': store += '\t'; return true;
    case 'u': return codePoint(store);
    default: return false;
    }
}

bool JsonCursor::fourDigits(std::uint32_t &value)
{
    if (m_end - m_at < 4)
        return false;
    value = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = *m_at++;
        const char lower = static_cast<char>(c | 0x20);
        if (isDigit(c))
            value = value * 16 + static_cast<std::uint32_t>(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            value = value * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
        else
            return false;
    }
    return true;
}

/// What follows `\u`: one unit of UTF-16, or the two of a pair; halves of pairs are no characters.
bool JsonCursor::codePoint(std::string &store)
{
    std::uint32_t code = 0;
    if (!fourDigits(code) || (code >= 0xDC00 && code <= 0xDFFF))
        return false;
    if (code >= 0xD800 && code <= 0xDBFF) {
        std::uint32_t second = 0;
        if (m_end - m_at < 2 || m_at[0] != '\\' || m_at[1] != 'u')
            return false;
        m_at += 2;
        if (!fourDigits(second) || second < 0xDC00 || second > 0xDFFF)
            return false;
        code = 0x10000 + ((code - 0xD800) << 10U) + (second - 0xDC00);
    }
    const auto tail = [&](unsigned shift) { store += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
    if (code < 0x80) {
        store += static_cast<char>(code);
    } else if (code < 0x800) {
        store += static_cast<char>(0xC0U | (code >> 6U));
        tail(0);
    } else if (code < 0x10000) {
        store += static_cast<char>(0xE0U | (code >> 12U));
        tail(6);
        tail(0);
    } else {
        store += static_cast<char>(0xF0U | (code >> 18U));
        tail(12);
        tail(6);
        tail(0);
    }
    return true;
}

bool JsonCursor::number(std::uint64_t &value)
{
    passBlanks();
    if (m_at == m_end || !isDigit(*m_at))
        return false;
    std::uint64_t sum = static_cast<std::uint64_t>(*m_at++ - '0');
    const bool zero = sum == 0;
    if (m_at != m_end && isDigit(*m_at)) {
        if (zero)
            return false;
        const char *begin = m_at;
        for (; m_at != m_end && isDigit(*m_at) && m_at - begin < 18; ++m_at)
            sum = sum * 10 + static_cast<std::uint64_t>(*m_at - '0'); // 19 digits fit
        if (m_at != m_end && isDigit(*m_at)) {
            if (__builtin_mul_overflow(sum, std::uint64_t{10}, &sum)
                || __builtin_add_overflow(sum, static_cast<std::uint64_t>(*m_at++ - '0'), &sum))
                return false;
        }
    }
    if (m_at != m_end && (isDigit(*m_at) || *m_at == '.' || *m_at == 'e' || *m_at == 'E'))
        return false;
    value = sum;
    return true;
}

} // namespace weir

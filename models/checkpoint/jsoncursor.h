// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

/// Walks a JSON text from its beginning to its end, as the headers of safetensors files are written: objects,
/// texts and whole numbers. It copies nothing, allocates nothing (but for texts with escapes) and needs no
/// padding behind the text; it is as strict as RFC 8259, and the caller decides what may come where.
class JsonCursor
{
public:
    explicit JsonCursor(std::string_view text)
        : m_begin(text.data())
        , m_at(text.data())
        , m_end(text.data() + text.size())
    {}

    /// Passes blanks and, if it comes next, this one character of the grammar.
    bool take(char wanted)
    {
        passBlanks();
        if (m_at == m_end || *m_at != wanted)
            return false;
        ++m_at;
        return true;
    }

    /// True if only blanks are left.
    bool atEnd()
    {
        passBlanks();
        return m_at == m_end;
    }

    /// A text in quotes, sound UTF-8, without its escapes. `text` points into the JSON or, where there are
    /// escapes, into `store`. False if it is malformed or something else comes next.
    bool string(std::string_view &text, std::string &store);

    /// A whole number without sign, fraction, exponent or leading zeros, below 2^64. False if something else
    /// comes next.
    bool number(std::uint64_t &value);

    /// Bytes passed so far; `JsonCursor(text.substr(place))` goes on from there.
    std::size_t place() const { return static_cast<std::size_t>(m_at - m_begin); }

private:
    void passBlanks()
    {
        while (m_at != m_end && (*m_at == ' ' || *m_at == '\n' || *m_at == '\r' || *m_at == '\t'))
            ++m_at;
    }
    bool unescape(std::string &store);
    bool codePoint(std::string &store);
    bool fourDigits(std::uint32_t &value);

    const char *m_begin;
    const char *m_at;
    const char *m_end;
};

} // namespace weir

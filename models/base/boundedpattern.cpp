// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/boundedpattern.h"

#include <algorithm>
#include <utility>

namespace weir {

bool matchesGlob(std::string_view pattern, std::string_view text, MatchBudget &budget)
{
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    std::uint64_t steps = 0;
    // Only the last star needs to be tried again: what an earlier one took is never too little.
    while (t < text.size()) {
        ++steps;
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            budget.take(steps);
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return budget.take(steps + 1) && p == pattern.size();
}

/// Recursive descent into relative code; every rule returns a program that stands on its own.
class RegexCompiler
{
public:
    using Set = BoundedRegex::Set;
    using Op = BoundedRegex::Op;
    using Program = BoundedRegex::Program;

    RegexCompiler(std::string_view pattern, std::vector<Set> &sets)
        : m_rest(pattern)
        , m_sets(sets)
    {}

    std::optional<Program> whole()
    {
        auto program = alternatives(0);
        return program && m_rest.empty() ? program : std::nullopt;
    }

private:
    static constexpr int maxDepth = 32;

    bool next(char wanted)
    {
        if (m_rest.empty() || m_rest.front() != wanted)
            return false;
        m_rest.remove_prefix(1);
        return true;
    }

    std::optional<Program> alternatives(int depth)
    {
        if (depth > maxDepth)
            return std::nullopt;
        auto left = sequence(depth);
        while (left && next('|')) {
            const auto right = sequence(depth);
            if (!right)
                return std::nullopt;
            Program both;
            both.push_back({Op::Split, 1, size(*left) + 2, 0});
            append(both, *left);
            both.push_back({Op::Jump, size(*right) + 1, 0, 0});
            append(both, *right);
            left = bounded(std::move(both));
        }
        return left;
    }

    std::optional<Program> sequence(int depth)
    {
        Program all;
        while (!m_rest.empty() && m_rest.front() != '|' && m_rest.front() != ')') {
            const auto one = repeated(depth);
            if (!one)
                return std::nullopt;
            append(all, *one);
            if (all.size() > BoundedRegex::maxProgram)
                return std::nullopt;
        }
        return all;
    }

    std::optional<Program> repeated(int depth)
    {
        auto one = single(depth);
        if (!one)
            return std::nullopt;
        while (true) {
            if (next('*'))
                one = times(*one, 0, std::nullopt);
            else if (next('+'))
                one = times(*one, 1, std::nullopt);
            else if (next('?'))
                one = times(*one, 0, 1);
            else if (!m_rest.empty() && m_rest.front() == '{')
                one = counted(*one);
            else
                return one;
            if (!one)
                return std::nullopt;
            next('?'); // lazy: which of the matches is found first does not matter
        }
    }

    std::optional<Program> counted(const Program &one)
    {
        m_rest.remove_prefix(1);
        const auto least = number();
        if (!least)
            return std::nullopt;
        std::optional<std::uint32_t> most = least;
        if (next(',')) {
            const bool open = !m_rest.empty() && m_rest.front() == '}';
            most = open ? std::nullopt : number();
            if (!open && (!most || *most < *least))
                return std::nullopt;
        }
        return next('}') ? times(one, *least, most) : std::nullopt;
    }

    std::optional<std::uint32_t> number()
    {
        std::uint32_t value = 0;
        std::size_t digits = 0;
        while (!m_rest.empty() && m_rest.front() >= '0' && m_rest.front() <= '9' && digits++ < 4) {
            value = value * 10 + static_cast<std::uint32_t>(m_rest.front() - '0');
            m_rest.remove_prefix(1);
        }
        return digits > 0 ? std::optional(value) : std::nullopt;
    }

    static std::optional<Program> times(const Program &one, std::uint32_t least,
                                        std::optional<std::uint32_t> most)
    {
        const std::size_t copies = std::size_t{most ? *most : least} + 1;
        if (copies * (one.size() + 2) > BoundedRegex::maxProgram)
            return std::nullopt;
        Program all;
        for (std::uint32_t i = 0; i < least; ++i)
            append(all, one);
        if (!most) {
            all.push_back({Op::Split, 1, size(one) + 2, 0});
            append(all, one);
            all.push_back({Op::Jump, -(size(one) + 1), 0, 0});
        } else {
            for (std::uint32_t i = least; i < *most; ++i) {
                all.push_back({Op::Split, 1, size(one) + 1, 0});
                append(all, one);
            }
        }
        return bounded(std::move(all));
    }

    std::optional<Program> single(int depth)
    {
        if (m_rest.empty())
            return std::nullopt;
        const char letter = m_rest.front();
        m_rest.remove_prefix(1);
        switch (letter) {
        case '(': {
            if (next('?') && !next(':')) // look-around, names, flags
                return std::nullopt;
            auto inner = alternatives(depth + 1);
            return inner && next(')') ? inner : std::nullopt;
        }
        case '[': return characterClass();
        case '.': return characters(~Set());
        case '^': return Program{{Op::Begin, 0, 0, 0}};
        case '$': return Program{{Op::End, 0, 0, 0}};
        case '*':
        case '+':
        case '?':
        case '{': return std::nullopt;
        case '\\': {
            const auto set = escaped();
            return set ? std::optional(characters(*set)) : std::nullopt;
        }
        default: return characters(only(letter));
        }
    }

    static Set only(char letter)
    {
        Set set;
        set.set(static_cast<unsigned char>(letter));
        return set;
    }
    static Set range(char from, char to)
    {
        Set set;
        for (unsigned value = static_cast<unsigned char>(from); value <= static_cast<unsigned char>(to);
             ++value)
            set.set(value);
        return set;
    }

    /// What stands after a backslash; empty for back-references and word boundaries.
    std::optional<Set> escaped()
    {
        if (m_rest.empty())
            return std::nullopt;
        const char letter = m_rest.front();
        m_rest.remove_prefix(1);
        const Set digits = range('0', '9');
        const Set words = digits | range('a', 'z') | range('A', 'Z') | only('_');
        const Set spaces = only(' ') | only('\t') | only('\n') | only('\r') | only('\f') | only('\v');
        switch (letter) {
        case 'd': return digits;
        case 'D': return ~digits;
        case 'w': return words;
        case 'W': return ~words;
        case 's': return spaces;
        case 'S': return ~spaces;
        default: break;
        }
        if (words.test(static_cast<unsigned char>(letter)) && letter != '_')
            return std::nullopt;
        return only(letter);
    }

    std::optional<Program> characterClass()
    {
        const bool opposite = next('^');
        Set set;
        bool first = true;
        while (true) {
            if (m_rest.empty())
                return std::nullopt;
            char letter = m_rest.front();
            m_rest.remove_prefix(1);
            if (letter == ']' && !first)
                break;
            first = false;
            if (letter == '\\') {
                const auto part = escaped();
                if (!part)
                    return std::nullopt;
                set |= *part;
                continue;
            }
            if (m_rest.size() >= 2 && m_rest[0] == '-' && m_rest[1] != ']') {
                const char last = m_rest[1];
                m_rest.remove_prefix(2);
                if (last == '\\' || static_cast<unsigned char>(last) < static_cast<unsigned char>(letter))
                    return std::nullopt;
                set |= range(letter, last);
            } else {
                set |= only(letter);
            }
        }
        return characters(opposite ? ~set : set);
    }

    Program characters(const Set &set)
    {
        const auto known = std::find(m_sets.begin(), m_sets.end(), set);
        const auto index = static_cast<std::uint32_t>(known - m_sets.begin());
        if (known == m_sets.end())
            m_sets.push_back(set);
        return {{Op::Characters, 0, 0, index}};
    }

    static std::int32_t size(const Program &program) { return static_cast<std::int32_t>(program.size()); }
    static void append(Program &to, const Program &from) { to.insert(to.end(), from.begin(), from.end()); }
    static std::optional<Program> bounded(Program program)
    {
        if (program.size() > BoundedRegex::maxProgram)
            return std::nullopt;
        return program;
    }

    std::string_view m_rest;
    std::vector<Set> &m_sets;
};

std::optional<BoundedRegex> BoundedRegex::compile(std::string_view pattern)
{
    if (pattern.size() > maxPattern)
        return std::nullopt;
    BoundedRegex regex;
    auto program = RegexCompiler(pattern, regex.m_sets).whole();
    if (!program)
        return std::nullopt;
    regex.m_program = *std::move(program);
    return regex;
}

bool BoundedRegex::matchesStart(std::string_view text, MatchBudget &budget) const
{
    // One bit an instruction: which of them could come next at this place of the text.
    const std::size_t end = m_program.size();
    std::vector<std::size_t> current{0};
    std::vector<std::size_t> following;
    std::vector<std::size_t> open;
    std::vector<bool> seen(end + 1);
    for (std::size_t place = 0; place <= text.size(); ++place) {
        std::fill(seen.begin(), seen.end(), false);
        following.clear();
        open.assign(current.rbegin(), current.rend());
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            if (at == end)
                return true;
            if (seen[at])
                continue;
            seen[at] = true;
            if (!budget.take(1))
                return false;
            const Instruction &step = m_program[at];
            const auto to = [at](std::int32_t by) {
                return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at) + by);
            };
            switch (step.op) {
            case Op::Split:
                open.push_back(to(step.second));
                open.push_back(to(step.first));
                break;
            case Op::Jump: open.push_back(to(step.first)); break;
            case Op::Begin:
                if (place == 0)
                    open.push_back(at + 1);
                break;
            case Op::End:
                if (place == text.size())
                    open.push_back(at + 1);
                break;
            case Op::Characters:
                if (place < text.size() && m_sets[step.set].test(static_cast<unsigned char>(text[place])))
                    following.push_back(at + 1);
                break;
            }
        }
        if (following.empty())
            return false;
        std::swap(current, following);
    }
    return false;
}

} // namespace weir

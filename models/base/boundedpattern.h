// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weir {

/// Work that matching strangers' patterns may still cost; matching takes off what it does and says no once
/// nothing is left.
struct MatchBudget
{
    std::uint64_t steps = 50'000'000;
    bool exhausted() const { return steps == 0; }
    /// False when there was not that much left.
    bool take(std::uint64_t amount)
    {
        const bool enough = amount < steps;
        steps = enough ? steps - amount : 0;
        return enough;
    }
};

/// True if `*` (any run of characters) and `?` (any one) of a shell pattern can stand for the text.
/// Time: text times pattern at worst, nothing is tried twice.
bool matchesGlob(std::string_view pattern, std::string_view text, MatchBudget &budget);

/// The regular expressions that exclusion lists are written in, without backtracking: all alternatives are
/// followed at once, so time is at most text times expression. Literals, `.`, classes, `\d \w \s` and their
/// opposites, groups, `|`, `* + ? {m,n}` (lazy or not), `^` and `$`. Look-around and back-references are
/// not known: they cannot be matched so.
class BoundedRegex
{
public:
    static constexpr std::size_t maxPattern = 1024;  ///< characters
    static constexpr std::size_t maxProgram = 4096;  ///< instructions after repetitions are written out

    /// Empty for what is malformed, not supported or too long.
    static std::optional<BoundedRegex> compile(std::string_view pattern);

    /// True if the expression matches a beginning of the text (Python's re.match).
    bool matchesStart(std::string_view text, MatchBudget &budget) const;

private:
    friend class RegexCompiler;
    using Set = std::bitset<256>;
    enum class Op : std::uint8_t { Characters, Split, Jump, Begin, End };
    /// Jumps are relative to the instruction.
    struct Instruction
    {
        Op op = Op::Characters;
        std::int32_t first = 0;
        std::int32_t second = 0;
        std::uint32_t set = 0;
    };
    using Program = std::vector<Instruction>;

    Program m_program;
    std::vector<Set> m_sets;
};

} // namespace weir

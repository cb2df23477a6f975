// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/measure/measurement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace weir {

namespace {

constexpr std::string_view prefix = "data.measurements";
constexpr std::uintmax_t largestFile = 64'000'000;
/// More fields in one line than any table of this kind has; a stray quote makes such lines.
constexpr std::size_t mostFields = 1000;

std::string errorId(std::string_view what) { return std::string(prefix) + '.' + std::string(what); }

/// One record of the file and the line it begins on, counted from 1.
struct Record
{
    std::vector<std::string> fields;
    std::uint64_t line = 0;
};

/// RFC 4180: fields in quotes may hold commas, line breaks and doubled quotes. Lines may end in LF,
/// CR LF or CR; a byte order mark is skipped, and so are empty lines.
class CsvReader
{
public:
    CsvReader(std::string_view text, std::string file)
        : m_text(text)
        , m_file(std::move(file))
    {
        constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
        if (m_text.starts_with(byteOrderMark)) {
            m_position = byteOrderMark.size();
        }
    }

    /// The next record that is not an empty line; empty at the end.
    Result<std::optional<Record>> next()
    {
        while (m_position < m_text.size()) {
            Record record;
            record.line = m_line;
            bool quoted = false;
            if (std::optional<Error> error = read(record, quoted)) {
                return std::unexpected(*std::move(error));
            }
            if (record.fields.size() > 1 || quoted || !record.fields.front().empty()) {
                return record;
            }
        }
        return std::nullopt;
    }

private:
    std::optional<Error> read(Record &record, bool &quoted)
    {
        while (true) {
            std::string field;
            if (peek() == '"') {
                quoted = true;
                if (!readQuoted(field)) {
                    return error("bad-quote", record);
                }
            } else {
                while (!atEndOfField()) {
                    if (m_text[m_position] == '"') {
                        return error("bad-quote", record);
                    }
                    field += m_text[m_position++];
                }
            }
            record.fields.push_back(std::move(field));
            if (record.fields.size() > mostFields) {
                return error("too-many-fields", record);
            }
            if (peek() != ',') {
                skipLineEnd();
                return std::nullopt;
            }
            ++m_position;
        }
    }

    /// False if the quote is not closed, or something other than an end of the field follows it.
    bool readQuoted(std::string &field)
    {
        ++m_position;
        while (m_position < m_text.size()) {
            const char c = m_text[m_position++];
            if (c != '"') {
                // CR LF is one line end, LF and CR alone are one each.
                if (c == '\n' || (c == '\r' && peek() != '\n')) {
                    ++m_line;
                }
                field += c;
            } else if (peek() == '"') {
                field += '"';
                ++m_position;
            } else {
                return atEndOfField();
            }
        }
        return false;
    }

    char peek() const { return m_position < m_text.size() ? m_text[m_position] : '\0'; }

    bool atEndOfField() const
    {
        return m_position >= m_text.size() || m_text[m_position] == ',' || m_text[m_position] == '\n'
               || m_text[m_position] == '\r';
    }

    void skipLineEnd()
    {
        if (m_position >= m_text.size()) {
            return;
        }
        if (m_text[m_position] == '\r') {
            ++m_position;
            if (peek() == '\n') {
                ++m_position;
            }
        } else {
            ++m_position;
        }
        ++m_line;
    }

    Error error(std::string_view what, const Record &record) const
    {
        return Error{errorId(what), ErrorKind::Unreadable, m_file, {{"line", record.line}}};
    }

    std::string_view m_text;
    std::string m_file;
    std::size_t m_position = 0;
    std::uint64_t m_line = 1;
};

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

template <typename T>
std::optional<T> parsed(std::string_view text)
{
    T value{};
    const char *begin = text.data();
    const char *end = begin + text.size();
    const auto [stop, code] = std::from_chars(begin, end, value);
    if (code != std::errc{} || stop != end) {
        return std::nullopt;
    }
    return value;
}

/// What went wrong with a field; empty = nothing.
using Problem = std::string_view;
constexpr Problem badNumber = "bad-number";
constexpr Problem badValue = "bad-value";

using Setter = std::function<Problem(Measurement &, std::string_view)>;

Setter text(std::string Measurement::*member)
{
    return [member](Measurement &row, std::string_view value) {
        row.*member = std::string(value);
        return Problem{};
    };
}

/// A whole number of at least `low`.
template <typename T>
Setter whole(std::optional<T> Measurement::*member, T low)
{
    return [member, low](Measurement &row, std::string_view value) -> Problem {
        if (value.empty()) {
            return {};
        }
        const std::optional<T> number = parsed<T>(value);
        if (!number || *number < low) {
            return badNumber;
        }
        row.*member = number;
        return {};
    };
}

/// A number above zero (or from zero, for times); absurd values are refused.
Setter real(std::optional<double> Measurement::*member, bool mayBeZero)
{
    return [member, mayBeZero](Measurement &row, std::string_view value) -> Problem {
        if (value.empty()) {
            return {};
        }
        constexpr double largest = 1e9;
        const std::optional<double> number = parsed<double>(value);
        if (!number || !std::isfinite(*number) || *number > largest || *number < 0
            || (*number == 0 && !mayBeZero)) {
            return badNumber;
        }
        row.*member = number;
        return {};
    };
}

Problem setNodes(Measurement &row, std::string_view value)
{
    if (value.empty()) {
        return {};
    }
    const std::optional<std::uint32_t> number = parsed<std::uint32_t>(value);
    if (!number || *number == 0) {
        return badNumber;
    }
    row.nodes = *number;
    return {};
}

Problem setKind(Measurement &row, std::string_view value)
{
    if (!value.empty() && value != "measured" && value != "claim") {
        return badValue;
    }
    row.isClaim = value == "claim";
    return {};
}

const std::map<std::string, Setter, std::less<>> &columns()
{
    using M = Measurement;
    static const std::map<std::string, Setter, std::less<>> table{
        {"machine", text(&M::machine)},
        {"nodes", setNodes},
        {"engine", text(&M::engine)},
        {"engine_version", text(&M::engineVersion)},
        {"checkpoint", text(&M::checkpoint)},
        {"quant", text(&M::quantization)},
        {"context_tokens", whole<std::uint64_t>(&M::contextTokens, 0)},
        {"prompt_tokens", whole<std::uint64_t>(&M::promptTokens, 0)},
        {"cached_tokens", whole<std::uint64_t>(&M::cachedTokens, 0)},
        {"output_tokens", whole<std::uint64_t>(&M::outputTokens, 0)},
        {"concurrency", whole<std::uint32_t>(&M::concurrency, 1)},
        {"k_dtype", text(&M::kDtype)},
        {"v_dtype", text(&M::vDtype)},
        {"draft_method", text(&M::draftMethod)},
        {"draft_tokens", whole<std::uint32_t>(&M::draftTokens, 0)},
        {"tokens_per_step", real(&M::tokensPerStep, false)},
        {"decode_tok_s", real(&M::decodeTokensPerSecond, false)},
        {"aggregate_tok_s", real(&M::aggregateTokensPerSecond, false)},
        {"prefill_tok_s", real(&M::prefillTokensPerSecond, false)},
        {"ttft_s", real(&M::secondsToFirstToken, true)},
        {"wall_s", real(&M::wallSeconds, true)},
        {"flags", text(&M::flags)},
        {"kind", setKind},
        {"date", text(&M::date)},
        {"source", text(&M::source)},
        {"note", text(&M::note)},
    };
    return table;
}

/// A column of the file: its name, and what to do with its fields (nothing for unknown ones).
struct Column
{
    std::string name;
    const Setter *setter = nullptr;
};

Result<std::vector<Column>> readHeader(const Record &record, const std::string &file)
{
    std::vector<Column> header;
    bool anyKnown = false;
    for (const std::string &field : record.fields) {
        Column column{.name = std::string(trimmed(field))};
        const auto known = columns().find(column.name);
        if (known != columns().end()) {
            column.setter = &known->second;
            anyKnown = true;
            if (std::ranges::any_of(header, [&](const Column &c) { return c.name == column.name; })) {
                return fail(errorId("repeated-column"), ErrorKind::Unreadable, file,
                            {{"line", record.line}, {"column", column.name}});
            }
        }
        header.push_back(std::move(column));
    }
    if (!anyKnown) {
        return fail(errorId("no-known-column"), ErrorKind::Unreadable, file, {{"line", record.line}});
    }
    return header;
}

Result<std::string> readFile(const std::filesystem::path &file)
{
    const std::string name = file.string();
    std::error_code code;
    if (!std::filesystem::is_regular_file(file, code)) {
        return fail(errorId("not-found"), ErrorKind::NotFound, name);
    }
    const std::uintmax_t size = std::filesystem::file_size(file, code);
    if (code || size > largestFile) {
        return fail(errorId("too-large"), ErrorKind::Unreadable, name, {{"limit", Bytes{largestFile}}});
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        return fail(errorId("not-found"), ErrorKind::NotFound, name);
    }
    return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

} // namespace

std::optional<std::uint64_t> Measurement::depthTokens() const
{
    if (contextTokens) {
        return contextTokens;
    }
    if (promptTokens && outputTokens) {
        return *promptTokens + *outputTokens / 2;
    }
    return std::nullopt;
}

bool Measurement::isPlainDecode() const
{
    return decodeTokensPerSecond && nodes == 1 && concurrency.value_or(1) == 1
           && (draftMethod.empty() || draftMethod == "none") && draftTokens.value_or(0) == 0
           && tokensPerStep.value_or(1) <= 1;
}

Result<std::vector<Measurement>> readMeasurements(const std::filesystem::path &file)
{
    const std::string name = file.string();
    const Result<std::string> content = readFile(file);
    if (!content) {
        return std::unexpected(content.error());
    }
    CsvReader reader(*content, name);
    Result<std::optional<Record>> record = reader.next();
    if (!record) {
        return std::unexpected(std::move(record.error()));
    }
    if (!*record) {
        return fail(errorId("empty"), ErrorKind::Unreadable, name);
    }
    const Result<std::vector<Column>> header = readHeader(**record, name);
    if (!header) {
        return std::unexpected(header.error());
    }

    std::vector<Measurement> rows;
    while (true) {
        record = reader.next();
        if (!record) {
            return std::unexpected(std::move(record.error()));
        }
        if (!*record) {
            return rows;
        }
        const std::vector<std::string> &fields = (*record)->fields;
        if (fields.size() > header->size()) {
            return fail(errorId("too-many-fields"), ErrorKind::Unreadable, name, {{"line", (*record)->line}});
        }
        Measurement row;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const Column &column = (*header)[i];
            if (column.setter == nullptr) {
                continue;
            }
            const Problem problem = (*column.setter)(row, trimmed(fields[i]));
            if (!problem.empty()) {
                return fail(errorId(problem), ErrorKind::Unreadable, name,
                            {{"line", (*record)->line}, {"column", column.name}, {"value", fields[i]}});
            }
        }
        rows.push_back(std::move(row));
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/tolerantjson.h"

#include <nlohmann/json.hpp>

#include <set>

namespace weir {

namespace {

enum class Shape : std::uint8_t { Good, TooDeep, TooMany };

/// Replaces the three words outside strings and measures depth and number of values on the way.
Shape replaceNonFinite(std::string_view text, std::string &out)
{
    out.clear();
    out.reserve(text.size());
    int depth = 0;
    std::size_t values = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString) {
            out += c;
            if (c == '\\' && i + 1 < text.size())
                out += text[++i];
            else if (c == '"')
                inString = false;
            continue;
        }
        if ((c == ',' || c == '{' || c == '[') && ++values > maxConfigValues)
            return Shape::TooMany;
        if (c == '"') {
            inString = true;
        } else if (c == '{' || c == '[') {
            if (++depth > maxConfigDepth)
                return Shape::TooDeep;
        } else if (c == '}' || c == ']') {
            --depth;
        } else if (c == 'I' || c == 'N' || c == '-') {
            for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
                if (text.substr(i, word.size()) == word) {
                    out += "null";
                    i += word.size() - 1;
                    break;
                }
                if (word == "NaN")
                    out += c;
            }
            continue;
        }
        out += c;
    }
    return Shape::Good;
}

/// Names keys that one object holds twice. A pass of its own: the callback of the parser that builds the
/// document searches the parent again at every object's end, which takes hours on a config of some MB.
class KeyWatcher final : public nlohmann::json::json_sax_t
{
public:
    explicit KeyWatcher(std::vector<std::string> &duplicates)
        : m_duplicates(duplicates)
    {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t &) override { return true; }
    bool string(string_t &) override { return true; }
    bool binary(binary_t &) override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool start_object(std::size_t) override
    {
        m_keys.emplace_back();
        return true;
    }
    bool end_object() override
    {
        m_keys.pop_back();
        return true;
    }
    bool key(string_t &name) override
    {
        if (!m_keys.back().insert(name).second && m_duplicates.size() < 16)
            m_duplicates.push_back(name);
        return true;
    }
    bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &) override
    {
        return false;
    }

private:
    std::vector<std::string> &m_duplicates;
    std::vector<std::set<std::string>> m_keys;
};

std::string_view trimmed(std::string_view text)
{
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    return start == std::string_view::npos ? std::string_view{} : text.substr(start);
}

} // namespace

std::string_view impostorError(std::string_view firstBytes)
{
    const std::string_view start = trimmed(firstBytes.substr(0, 512));
    if (start.starts_with("version https://git-lfs"))
        return "json.lfs-pointer";
    if (start.starts_with("<!DOCTYPE") || start.starts_with("<!doctype") || start.starts_with("<html")
        || start.starts_with("<HTML") || start.starts_with("<?xml"))
        return "json.html";
    return {};
}

Result<nlohmann::json> parseTolerant(std::string_view text, const std::string &subject,
                                     std::vector<std::string> *duplicates)
{
    if (text.size() > maxConfigBytes)
        return fail("json.too-large", ErrorKind::Unreadable, subject, {{"limit", Bytes{maxConfigBytes}}});
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    if (trimmed(text).empty())
        return fail("file.empty", ErrorKind::Unreadable, subject);
    if (const std::string_view impostor = impostorError(text); !impostor.empty())
        return fail(std::string(impostor), ErrorKind::Unreadable, subject);

    std::string clean;
    const Shape shape = replaceNonFinite(text, clean);
    if (shape == Shape::TooDeep)
        return fail("json.too-deep", ErrorKind::Unreadable, subject);
    if (shape == Shape::TooMany) {
        return fail("json.too-many-values", ErrorKind::Unreadable, subject,
                    {{"limit", static_cast<std::uint64_t>(maxConfigValues)}});
    }

    if (clean.find('\0') != std::string::npos) // the parser would take it for the end
        return fail("json.invalid", ErrorKind::Unreadable, subject);

    if (duplicates != nullptr) {
        KeyWatcher watcher(*duplicates);
        if (!nlohmann::json::sax_parse(clean, &watcher))
            return fail("json.invalid", ErrorKind::Unreadable, subject);
    }
    nlohmann::json parsed = nlohmann::json::parse(clean, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_discarded())
        return fail("json.invalid", ErrorKind::Unreadable, subject);
    if (!parsed.is_object())
        return fail("json.not-object", ErrorKind::Unreadable, subject);
    return parsed;
}

} // namespace weir

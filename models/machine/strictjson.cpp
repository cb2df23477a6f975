// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/machine/strictjson.h"

#include "models/machine/machine.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace weir {

namespace {

using Json = nlohmann::json;

/// Data files are some tens of kilobytes; anything much larger is not one of them.
constexpr std::uintmax_t largestFile = 16U << 20U;

bool inRange(double value, NumberRange range)
{
    return std::isfinite(value) && value >= range.low && value <= range.high;
}

} // namespace

Result<Json> readStrictJson(const std::filesystem::path &file, std::string_view prefix)
{
    const auto id = [prefix](std::string_view what) { return fmt::format("{}.{}", prefix, what); };
    const std::string name = file.string();

    std::error_code code;
    if (!std::filesystem::is_regular_file(file, code)) {
        return fail(id("not-found"), ErrorKind::NotFound, name);
    }
    const std::uintmax_t size = std::filesystem::file_size(file, code);
    if (code || size > largestFile) {
        return fail(id("too-large"), ErrorKind::Unreadable, name, {{"limit", Bytes{largestFile}}});
    }
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (!stream.good() && !stream.eof()) {
        return fail(id("not-found"), ErrorKind::NotFound, name);
    }

    std::vector<std::set<std::string>> open;
    std::string repeated;
    const auto watch = [&](int, Json::parse_event_t event, Json &parsed) {
        if (event == Json::parse_event_t::object_start) {
            open.emplace_back();
        } else if (event == Json::parse_event_t::object_end && !open.empty()) {
            open.pop_back();
        } else if (event == Json::parse_event_t::key && !open.empty()) {
            const auto &key = parsed.get_ref<const std::string &>();
            if (!open.back().insert(key).second && repeated.empty()) {
                repeated = key;
            }
        }
        return true;
    };
    Json value = Json::parse(text, watch, /*allow_exceptions=*/false);
    if (value.is_discarded()) {
        return fail(id("not-json"), ErrorKind::Unreadable, name);
    }
    if (!repeated.empty()) {
        return fail(id("repeated-field"), ErrorKind::Unreadable, name, {{"field", repeated}});
    }
    return value;
}

StrictObject::StrictObject(const Json &value, std::string prefix, std::string file, std::string entry)
    : m_value(&value)
    , m_prefix(std::move(prefix))
    , m_file(std::move(file))
    , m_entry(std::move(entry))
{
    if (!value.is_object()) {
        reject("", "bad-type");
    }
}

void StrictObject::reject(std::string_view field, std::string_view what)
{
    if (m_error) {
        return;
    }
    m_error = Error{fmt::format("{}.{}", m_prefix, what),
                    ErrorKind::Unreadable,
                    m_file,
                    {{"entry", m_entry}, {"field", std::string(field)}}};
}

void StrictObject::adopt(const StrictObject &nested)
{
    if (!m_error) {
        m_error = nested.m_error;
    }
}

const Json *StrictObject::member(std::string_view field)
{
    m_read.emplace(field);
    if (m_error) {
        return nullptr;
    }
    const auto found = m_value->find(field);
    if (found == m_value->end()) {
        reject(field, "missing-field");
        return nullptr;
    }
    return &*found;
}

std::string StrictObject::text(std::string_view field, bool mayBeEmpty)
{
    const Json *value = member(field);
    if (value == nullptr) {
        return {};
    }
    if (!value->is_string()) {
        reject(field, "bad-type");
        return {};
    }
    const auto &string = value->get_ref<const std::string &>();
    if (string.empty() && !mayBeEmpty) {
        reject(field);
    }
    return string;
}

std::optional<std::string> StrictObject::textOrNull(std::string_view field)
{
    const Json *value = member(field);
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    return text(field);
}

std::vector<std::string> StrictObject::texts(std::string_view field)
{
    std::vector<std::string> result;
    const Json *value = array(field);
    if (value == nullptr) {
        return result;
    }
    for (const Json &element : *value) {
        if (!element.is_string()) {
            reject(field, "bad-type");
            return {};
        }
        const auto &string = element.get_ref<const std::string &>();
        if (string.empty()) {
            reject(field);
            return {};
        }
        result.push_back(string);
    }
    return result;
}

bool StrictObject::flag(std::string_view field)
{
    const Json *value = member(field);
    if (value == nullptr) {
        return false;
    }
    if (!value->is_boolean()) {
        reject(field, "bad-type");
        return false;
    }
    return value->get<bool>();
}

std::uint64_t StrictObject::integer(std::string_view field, NumberRange range)
{
    const Json *value = member(field);
    if (value == nullptr) {
        return 0;
    }
    if (!value->is_number_integer()) {
        reject(field, "bad-type");
        return 0;
    }
    if (!value->is_number_unsigned() || !inRange(value->get<double>(), range)) {
        reject(field);
        return 0;
    }
    return value->get<std::uint64_t>();
}

double StrictObject::number(std::string_view field, NumberRange range)
{
    const Json *value = member(field);
    if (value == nullptr) {
        return 0;
    }
    if (!value->is_number()) {
        reject(field, "bad-type");
        return 0;
    }
    const auto number = value->get<double>();
    if (!inRange(number, range)) {
        reject(field);
        return 0;
    }
    return number;
}

std::optional<double> StrictObject::numberOrNull(std::string_view field, NumberRange range)
{
    const Json *value = member(field);
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    return number(field, range);
}

Sourced StrictObject::readSourced(std::string_view field, const Json &value, std::string_view valueField,
                                  NumberRange range, bool whole)
{
    StrictObject nested(value, m_prefix, m_file, fmt::format("{}, {}", m_entry, field));
    Sourced result;
    result.value =
        whole ? static_cast<double>(nested.integer(valueField, range)) : nested.number(valueField, range);
    result.source = nested.text("source");
    nested.finish();
    adopt(nested);
    return result;
}

Sourced StrictObject::sourced(std::string_view field, std::string_view valueField, NumberRange range,
                              bool whole)
{
    const Json *value = member(field);
    return value == nullptr ? Sourced{} : readSourced(field, *value, valueField, range, whole);
}

std::optional<Sourced> StrictObject::sourcedOrNull(std::string_view field, std::string_view valueField,
                                                   NumberRange range, bool whole)
{
    const Json *value = member(field);
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    return readSourced(field, *value, valueField, range, whole);
}

const Json *StrictObject::array(std::string_view field)
{
    const Json *value = member(field);
    if (value != nullptr && !value->is_array()) {
        reject(field, "bad-type");
        return nullptr;
    }
    return value;
}

const Json *StrictObject::object(std::string_view field)
{
    const Json *value = member(field);
    if (value != nullptr && !value->is_object()) {
        reject(field, "bad-type");
        return nullptr;
    }
    return value;
}

std::optional<Error> StrictObject::finish()
{
    if (!m_error) {
        for (const auto &item : m_value->items()) {
            if (!m_read.contains(item.key())) {
                reject(item.key(), "unknown-field");
                break;
            }
        }
    }
    return m_error;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/derive/keys.h"

namespace weir::derive {

using nlohmann::json;

const json *Keys::find(const char *key) const
{
    if (!m_object->is_object())
        return nullptr;
    const auto found = m_object->find(key);
    return found == m_object->end() || found->is_null() ? nullptr : &*found;
}

bool Keys::has(const char *key) const { return find(key) != nullptr; }

std::optional<std::uint64_t> Keys::maybe(const char *key, std::uint64_t limit)
{
    const json *value = find(key);
    if (value == nullptr)
        return std::nullopt;
    const std::optional<std::uint64_t> number = ConfigReader::scalar(*value, limit);
    if (!number)
        complain(key);
    return number;
}

std::uint64_t Keys::number(const char *key, std::uint64_t limit)
{
    const std::uint64_t value = maybe(key, limit).value_or(0);
    if (value == 0) {
        complain(key);
        return 1;
    }
    return value;
}

std::uint64_t Keys::perLayer(const char *key, std::size_t layer, std::size_t layers)
{
    const json *value = find(key);
    if (value == nullptr || !value->is_array())
        return number(key);
    const std::optional<std::uint64_t> one =
        value->size() == layers ? ConfigReader::scalar((*value)[layer], ConfigReader::maxDimension)
                                : std::nullopt;
    if (!one)
        complain(key);
    return one.value_or(1);
}

bool Keys::flagOr(const char *key, bool fallback)
{
    const json *value = find(key);
    if (value == nullptr)
        return fallback;
    if (value->is_boolean())
        return value->get<bool>();
    complain(key);
    return fallback;
}

std::string Keys::text(const char *key) const
{
    const json *value = find(key);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::vector<std::string> Keys::words(const char *key, std::size_t layers)
{
    std::vector<std::string> words;
    const json *value = find(key);
    if (value == nullptr)
        return words;
    if (!value->is_array() || value->size() != layers) {
        complain(key);
        return words;
    }
    words.reserve(layers);
    for (const json &each : *value) {
        if (!each.is_string())
            complain(key);
        words.push_back(each.is_string() ? each.get<std::string>() : std::string());
    }
    return words;
}

std::vector<std::uint64_t> Keys::numbers(const char *key, std::uint64_t limit, std::size_t most)
{
    std::vector<std::uint64_t> numbers;
    const json *value = find(key);
    if (value == nullptr)
        return numbers;
    if (!value->is_array() || value->size() > most) {
        complain(key);
        return numbers;
    }
    for (const json &each : *value) {
        const std::optional<std::uint64_t> number = ConfigReader::scalar(each, limit);
        if (!number)
            complain(key);
        numbers.push_back(number.value_or(0));
    }
    return numbers;
}

} // namespace weir::derive

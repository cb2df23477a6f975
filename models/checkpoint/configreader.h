// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// Typed, bounded access to a config object. A key that is present with a wrong or absurd value is
/// remembered as a problem instead of being taken for absent.
class ConfigReader
{
public:
    /// No width, head or expert count of a model comes near; three of them multiply without overflow.
    static constexpr std::uint64_t maxDimension = 1U << 20U;
    static constexpr std::uint64_t maxTokens = 1'000'000'000;

    explicit ConfigReader(const nlohmann::json &object)
        : m_object(&object)
    {}

    /// First of the keys that is present and not null; of a list the largest value (Hunyuan gives one a layer).
    std::optional<std::uint64_t> number(std::initializer_list<const char *> keys,
                                        std::uint64_t limit = maxDimension)
    {
        for (const char *key : keys) {
            const auto found = m_object->find(key);
            if (found == m_object->end() || found->is_null())
                continue;
            if (found->is_array() && !found->empty()) {
                std::uint64_t largest = 0;
                bool sound = true;
                for (const auto &each : *found) {
                    const auto one = scalar(each, limit);
                    sound = sound && one.has_value();
                    largest = std::max(largest, one.value_or(0));
                }
                if (sound)
                    return largest;
            } else if (const auto one = scalar(*found, limit)) {
                return one;
            }
            if (m_problem.empty())
                m_problem = key;
        }
        return std::nullopt;
    }

    std::uint64_t numberOr(std::initializer_list<const char *> keys, std::uint64_t fallback)
    {
        return number(keys).value_or(fallback);
    }

    std::string text(std::initializer_list<const char *> keys) const
    {
        for (const char *key : keys) {
            const auto found = m_object->find(key);
            if (found != m_object->end() && found->is_string())
                return found->get<std::string>();
        }
        return {};
    }

    std::optional<bool> flag(const char *key) const
    {
        const auto found = m_object->find(key);
        if (found == m_object->end() || !found->is_boolean())
            return std::nullopt;
        return found->get<bool>();
    }

    const nlohmann::json *object(const char *key) const { return child(key, &nlohmann::json::is_object); }
    const nlohmann::json *array(const char *key) const { return child(key, &nlohmann::json::is_array); }
    bool has(const char *key) const
    {
        const auto found = m_object->find(key);
        return found != m_object->end() && !found->is_null();
    }

    /// The first key with a value that no model can have; empty when all were sound.
    const std::string &problem() const { return m_problem; }

    static std::optional<std::uint64_t> scalar(const nlohmann::json &value, std::uint64_t limit)
    {
        if (value.is_number_unsigned()) {
            const auto number = value.get<std::uint64_t>();
            return number <= limit ? std::optional(number) : std::nullopt;
        }
        if (value.is_number_float()) { // 4096.0, as some exporters write
            const auto number = value.get<double>();
            if (number >= 0 && number <= static_cast<double>(limit)
                && number == static_cast<double>(static_cast<std::uint64_t>(number)))
                return static_cast<std::uint64_t>(number);
        }
        return std::nullopt;
    }

private:
    const nlohmann::json *child(const char *key, bool (nlohmann::json::*is)() const noexcept) const
    {
        const auto found = m_object->find(key);
        return found != m_object->end() && ((*found).*is)() ? &*found : nullptr;
    }

    const nlohmann::json *m_object;
    std::string m_problem;
};

} // namespace weir

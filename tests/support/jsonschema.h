// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <utility>

namespace weir::test {

/// A validator for the part of JSON Schema that the schemas of this repository use: $ref into #/$defs,
/// type, enum, const, oneOf, properties, required, additionalProperties, minProperties, maxProperties,
/// items, minItems, minLength, pattern, minimum, maximum. Any other keyword is itself a complaint, so
/// that no rule is ever written and not checked.
class JsonSchema
{
public:
    using Json = nlohmann::json;

    explicit JsonSchema(Json schema)
        : m_schema(std::move(schema))
    {}

    /// Empty if the value keeps to the schema, else where and why it does not.
    std::string complaint(const Json &value) const { return check(value, m_schema, "$"); }

private:
    static bool hasType(const Json &value, const std::string &type)
    {
        return (type == "null" && value.is_null()) || (type == "boolean" && value.is_boolean())
               || (type == "string" && value.is_string()) || (type == "array" && value.is_array())
               || (type == "object" && value.is_object()) || (type == "number" && value.is_number())
               || (type == "integer" && value.is_number_integer());
    }

    std::string check(const Json &value, const Json &schema, const std::string &at) const
    {
        for (const auto &item : schema.items()) {
            if (std::string text = checkKeyword(value, schema, item.key(), item.value(), at); !text.empty()) {
                return text;
            }
        }
        return {};
    }

    std::string checkKeyword(const Json &value, const Json &schema, const std::string &keyword,
                             const Json &rule, const std::string &at) const
    {
        if (keyword.starts_with("$") && keyword != "$ref") {
            return {};
        }
        if (keyword == "title" || keyword == "description") {
            return {};
        }
        if (keyword == "$ref") {
            return check(value, m_schema.at(Json::json_pointer(rule.get<std::string>().substr(1))), at);
        }
        if (keyword == "type") {
            bool any = false;
            for (const Json &type : rule.is_array() ? rule : Json::array({rule})) {
                any = any || hasType(value, type.get<std::string>());
            }
            return any ? "" : at + ": not of type " + rule.dump();
        }
        if (keyword == "enum") {
            return std::find(rule.begin(), rule.end(), value) != rule.end()
                       ? ""
                       : at + ": not one of " + rule.dump();
        }
        if (keyword == "const") {
            return value == rule ? "" : at + ": not " + rule.dump();
        }
        if (keyword == "oneOf") {
            int matching = 0;
            std::string texts;
            for (const Json &option : rule) {
                const std::string text = check(value, option, at);
                matching += text.empty() ? 1 : 0;
                texts += text + "; ";
            }
            return matching == 1 ? ""
                                 : at + ": fits " + std::to_string(matching) + " of the choices: " + texts;
        }
        if (value.is_object()) {
            if (keyword == "required") {
                for (const Json &name : rule) {
                    if (!value.contains(name.get<std::string>())) {
                        return at + ": lacks " + name.dump();
                    }
                }
                return {};
            }
            if (keyword == "properties") {
                for (const auto &item : rule.items()) {
                    if (value.contains(item.key())) {
                        if (std::string text =
                                check(value.at(item.key()), item.value(), at + "." + item.key());
                            !text.empty()) {
                            return text;
                        }
                    }
                }
                return {};
            }
            if (keyword == "additionalProperties") {
                for (const auto &item : value.items()) {
                    if (schema.contains("properties") && schema.at("properties").contains(item.key())) {
                        continue;
                    }
                    if (rule == false) {
                        return at + ": does not know " + item.key();
                    }
                    if (std::string text = check(item.value(), rule, at + "." + item.key()); !text.empty()) {
                        return text;
                    }
                }
                return {};
            }
            if (keyword == "minProperties") {
                return value.size() >= rule.get<std::size_t>() ? "" : at + ": too few members";
            }
            if (keyword == "maxProperties") {
                return value.size() <= rule.get<std::size_t>() ? "" : at + ": too many members";
            }
        }
        if (value.is_array()) {
            if (keyword == "items") {
                for (std::size_t i = 0; i < value.size(); ++i) {
                    if (std::string text = check(value.at(i), rule, at + "[" + std::to_string(i) + "]");
                        !text.empty()) {
                        return text;
                    }
                }
                return {};
            }
            if (keyword == "minItems") {
                return value.size() >= rule.get<std::size_t>() ? "" : at + ": too few elements";
            }
        }
        if (value.is_string()) {
            const auto &text = value.get_ref<const std::string &>();
            if (keyword == "minLength") {
                return text.size() >= rule.get<std::size_t>() ? "" : at + ": too short";
            }
            if (keyword == "pattern") {
                return std::regex_search(text, std::regex(rule.get<std::string>()))
                           ? ""
                           : at + ": not like " + rule.dump();
            }
        }
        if (value.is_number()) {
            if (keyword == "minimum") {
                return value.get<double>() >= rule.get<double>() ? "" : at + ": below " + rule.dump();
            }
            if (keyword == "maximum") {
                return value.get<double>() <= rule.get<double>() ? "" : at + ": above " + rule.dump();
            }
        }
        static const std::set<std::string> known{"required",      "properties",    "additionalProperties",
                                                 "minProperties", "maxProperties", "items",
                                                 "minItems",      "minLength",     "pattern",
                                                 "minimum",       "maximum"};
        // A rule for another type of value says nothing about this one.
        return known.contains(keyword) ? "" : at + ": the schema uses " + keyword + ", which is not checked";
    }

    Json m_schema;
};

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

struct Sourced;

/// What a field of a data file may hold, for the range checks of StrictObject.
struct NumberRange
{
    double low = 0;
    double high = 0;
};

/// Reads one JSON data file whole: refuses a missing or oversized file, what is no JSON, and keys that
/// occur twice. `prefix` begins every error id: "data.machines" gives "data.machines.not-json" ...
Result<nlohmann::json> readStrictJson(const std::filesystem::path &file, std::string_view prefix);

/// One object of a data file, read field by field. The first thing that is wrong is kept as the error
/// and later reads return nothing, so that a caller reads all fields and asks once, with `finish()`,
/// which also refuses keys that nobody asked for.
///
/// Errors carry the arguments `entry` (which entry of the file) and `field`; ids are the prefix and
/// `.missing-field`, `.unknown-field`, `.bad-type`, `.bad-value` or `.no-source`.
class StrictObject
{
public:
    StrictObject(const nlohmann::json &value, std::string prefix, std::string file, std::string entry);

    std::string text(std::string_view field, bool mayBeEmpty = false);
    /// Empty where the field is null.
    std::optional<std::string> textOrNull(std::string_view field);
    std::vector<std::string> texts(std::string_view field);
    bool flag(std::string_view field);
    std::uint64_t integer(std::string_view field, NumberRange range);
    double number(std::string_view field, NumberRange range);
    std::optional<double> numberOrNull(std::string_view field, NumberRange range);
    /// `{ "<valueField>": number, "source": text }`; only `whole` numbers if asked.
    Sourced sourced(std::string_view field, std::string_view valueField, NumberRange range, bool whole);
    std::optional<Sourced> sourcedOrNull(std::string_view field, std::string_view valueField,
                                         NumberRange range, bool whole);
    /// The member itself if it has the asked type, for nested reading; null otherwise.
    const nlohmann::json *array(std::string_view field);
    const nlohmann::json *object(std::string_view field);

    /// For checks between fields: keeps the first error only.
    void reject(std::string_view field, std::string_view what = "bad-value");
    /// Takes over the error of a nested object.
    void adopt(const StrictObject &nested);
    void setEntry(std::string entry) { m_entry = std::move(entry); }

    bool ok() const { return !m_error; }
    /// Refuses keys that were not read; the error, if there was any.
    std::optional<Error> finish();

private:
    const nlohmann::json *member(std::string_view field);
    Sourced readSourced(std::string_view field, const nlohmann::json &value, std::string_view valueField,
                        NumberRange range, bool whole);

    const nlohmann::json *m_value;
    std::string m_prefix;
    std::string m_file;
    std::string m_entry;
    std::set<std::string, std::less<>> m_read;
    std::optional<Error> m_error;
};

} // namespace weir

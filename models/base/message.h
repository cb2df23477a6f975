// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace weir {

/// A byte count inside a message; the catalogue of words prints it in the unit in force.
struct Bytes
{
    std::uint64_t value = 0;
    friend bool operator==(const Bytes &, const Bytes &) = default;
};

/// One argument of a message: text is shown as it is (control characters escaped), numbers by locale.
using MessageValue = std::variant<std::string, std::uint64_t, double, Bytes>;
using MessageArguments = std::vector<std::pair<std::string, MessageValue>>;

enum class Severity : std::uint8_t { Info, Warning, Error };

/// Something worth telling about a checkpoint or an assessment. `models/` never words it: the id is
/// looked up in the catalogue of `app/words.cpp`, which is also what gets translated.
struct Message
{
    std::string id;
    Severity severity = Severity::Info;
    MessageArguments arguments;
    std::string source; ///< where the statement comes from (file, publication), empty = computed here
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/message.h"
#include "models/decode/assessment.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace weir {

/// How a report gets its words: `models/` holds none.
struct ReportWords
{
    std::function<std::string(const Message &)> title;
    std::function<std::string(const Message &)> detail;
    std::function<std::string(Component)> componentLabel;
};

/// The object of `assess --json` ("weir.assessment/1", docs/assessment.schema.json): integers are bytes
/// unless named otherwise, null is unknown.
nlohmann::ordered_json assessmentJson(const Assessment &assessment, const ReportWords &words);

/// `machines|engines --json`: { schema, items }.
nlohmann::ordered_json machineJson(const Machine &machine);
nlohmann::ordered_json engineJson(const Engine &engine);

} // namespace weir

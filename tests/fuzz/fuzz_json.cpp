// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/tolerantjson.h"
#include "tests/fuzz/fuzztarget.h"

#include <nlohmann/json.hpp>

using namespace weir;

WEIR_FUZZ_TARGET(json)
{
    std::vector<std::string> duplicates;
    const Result<nlohmann::json> object = parseTolerant(input, "file", &duplicates);
    static_cast<void>(impostorError(input));
    if (!object)
        return;
    fuzz::require(object->is_object(), "a config is an object");
    const std::string text = object->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    fuzz::require(parseTolerant(text, "again").has_value() || text.size() > maxConfigBytes,
                  "what is written can be read");
}

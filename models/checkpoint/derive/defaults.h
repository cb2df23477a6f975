// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

namespace weir::derive {

/// The model types of the table: "qwen3_moe", "gemma3_text", "pixtral" ...
std::vector<std::string_view> typesWithDefaults();

/// Gives `config` (an object) the sizes that its model type assumes for absent keys. A key that is there
/// stays, also when it is null.
void fillDefaults(nlohmann::json &config, std::string_view modelType);

} // namespace weir::derive

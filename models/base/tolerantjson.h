// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Largest config that is read; the largest seen (MiniMax-M3-NVFP4) has 3 MB.
inline constexpr std::size_t maxConfigBytes = 16U << 20U;
inline constexpr int maxConfigDepth = 64;
/// Values in one config: each takes up to a hundred times the room of its text. The most seen are some ten thousand.
inline constexpr std::size_t maxConfigValues = 1'000'000;

/// Reads a JSON object as Python's json module writes it: `Infinity`, `-Infinity` and `NaN` become null;
/// of duplicate keys the last wins and their names are added to `duplicates`. Comments, trailing
/// commas, deep nesting (> 64) and anything that is no object are refused.
/// Errors: "file.empty", "json.html" (an error page saved as a file), "json.lfs-pointer", "json.invalid",
/// "json.too-deep", "json.too-large", "json.too-many-values", "json.not-object". No exception leaves.
Result<nlohmann::json> parseTolerant(std::string_view text, const std::string &subject,
                                     std::vector<std::string> *duplicates = nullptr);

/// What a file that should be something else really is, by its first bytes: the id of an error about
/// an HTML page or a Git LFS pointer, empty for anything else.
std::string_view impostorError(std::string_view firstBytes);

} // namespace weir

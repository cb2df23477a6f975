// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/sources/repositoryfiles.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// The largest index that is read; the largest seen has 60 MB.
inline constexpr std::uint64_t maxIndexBytes = 256U << 20U;

/// Weights in any format, by the ending of the name.
bool isWeightFile(std::string_view path);

/// Parses the text of a config. A key that stands twice is noted ("config.duplicate-keys").
/// @param subject  what errors are about
/// @param name     what the note calls the file
Result<nlohmann::json> parsedConfig(const Result<std::string> &text, const std::string &subject,
                                    std::string_view name, std::vector<Message> &notes);

/// The same for a file of a repository.
Result<nlohmann::json> readConfigJson(RepositoryFiles &files, const std::string &name, std::stop_token stop,
                                      std::vector<Message> &notes);

/// The file beside config.json that declares a quantization, as ModelOpt, GPTQ and AWQ tools name it, with its
/// method filled in where only the name of the file tells. Empty without one; one that is damaged is noted
/// ("config.side-file-unreadable") and left out, as the headers decide bytes. Errors are about the way to it.
Result<std::optional<nlohmann::json>> readQuantizationFile(RepositoryFiles &files, std::stop_token stop,
                                                           std::vector<Message> &notes);

} // namespace weir

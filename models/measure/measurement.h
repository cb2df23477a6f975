// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// One measurement record (`docs/data.md`, CSV header as in `data/measurements.csv`). Empty = unknown.
struct Measurement
{
    std::string machine;
    std::uint32_t nodes = 1;
    std::string engine;
    std::string engineVersion;
    std::string checkpoint; ///< catalog id, org/name or path
    std::string quantization;
    std::optional<std::uint64_t> contextTokens; ///< mean depth of the generated tokens
    std::optional<std::uint64_t> promptTokens;
    std::optional<std::uint64_t> cachedTokens;
    std::optional<std::uint64_t> outputTokens;
    std::optional<std::uint32_t> concurrency;
    std::string kDtype;
    std::string vDtype;
    std::string draftMethod; ///< empty = not stated, "none" = no speculation
    std::optional<std::uint32_t> draftTokens;
    std::optional<double> tokensPerStep;
    std::optional<double> decodeTokensPerSecond;
    std::optional<double> aggregateTokensPerSecond;
    std::optional<double> prefillTokensPerSecond;
    std::optional<double> secondsToFirstToken;
    std::optional<double> wallSeconds;
    std::string flags;
    bool isClaim = false;
    std::string date;
    std::string source;
    std::string note;

    /// Mean tokens of context while the answer is written: context_tokens, else prompt + output / 2.
    std::optional<std::uint64_t> depthTokens() const;
    /// One stream, no speculation, one machine: may stand on the bandwidth plot as it is.
    bool isPlainDecode() const;
};

/// Reads records; unknown columns are kept out of the struct but are no error, missing ones are empty.
Result<std::vector<Measurement>> readMeasurements(const std::filesystem::path &file);

} // namespace weir

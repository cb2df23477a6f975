// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir {

struct DownloadFile
{
    std::string path;
    std::uint64_t bytes = 0;
};

/// What downloading one checkpoint means, before it starts. Facts and shell words, no sentences.
struct DownloadPlan
{
    std::vector<DownloadFile> files; ///< empty when the files are not known
    std::optional<std::uint64_t> bytes; ///< empty: unknown
    std::string command;                ///< safe to paste into a POSIX shell; empty: there is none
};

/// The files of this choice with what belongs beside them (config, tokenizer; of a GGUF repository only the
/// chosen quantization and its projector), and the command that gets exactly those.
DownloadPlan downloadPlan(const Checkpoint &checkpoint);

/// Seconds at a stated link speed (bits per second, decimal).
double downloadSeconds(std::uint64_t bytes, double bitsPerSecond);

/// One word of a POSIX shell, quoted if it needs to be, whatever it holds (control characters included).
std::string shellQuoted(const std::string &word);

} // namespace weir

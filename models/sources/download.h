// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
    std::vector<DownloadFile> files;    ///< empty when the files are not known
    std::optional<std::uint64_t> bytes; ///< empty: unknown
    bool exact = false;                 ///< bytes of files that were listed; else the weights alone
    std::string command;                ///< safe to paste into a POSIX shell; empty: there is none
    bool byOllama = false;              ///< the command is Ollama's, which keeps a store of its own
};

/// The files of this choice with what belongs beside them (config, tokenizer; of a GGUF repository only the
/// chosen quantization and its projector), and the command that gets exactly those: patterns are checked
/// against the listing with the rules of the official client (fnmatch, `*` also matches `/`).
/// Source: huggingface_hub src/huggingface_hub/cli/download.py, utils/_paths.py.
DownloadPlan downloadPlan(const Checkpoint &checkpoint);

/// Seconds at a stated link speed (bits per second, decimal).
double downloadSeconds(std::uint64_t bytes, double bitsPerSecond);

/// One word of a POSIX shell, quoted if it needs to be: any bytes but NUL, which no shell can pass on.
std::string shellQuoted(std::string_view word);

/// Whether a name matches a pattern as Python's fnmatch.fnmatchcase() decides it: `*`, `?`, `[abc]`, `[!a-c]`.
/// Time is bounded by the product of both lengths.
bool matchesGlob(std::string_view name, std::string_view pattern);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace weir::test {

/// Makes the repositories that the tests of the Hub's section look at, below ROOT/ORG/NAME:
/// `tiny/Llama-One` and `tiny/Llama-Two` (safetensors, the first also at revision v2), `tiny/Llama-GGUF`
/// (Q4_K_M, Q8_0, and BF16 in two files), `closed/Llama-Gated`, `huge/Llama-Huge` (300 GB, all holes), and
/// `crowd/Model-00` to `crowd/Model-39`.
void writeHubModels(const std::filesystem::path &root);

} // namespace weir::test

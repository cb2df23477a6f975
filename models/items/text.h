// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"

#include <QString>

#include <string_view>

namespace weir {

/// Text of the models (UTF-8) as Qt holds it.
QString toText(std::string_view text);

/// Bytes with one decimal, for lists and sentences: "72.4 GB", "0.3 GB", below that as formatBytes().
QString shortBytes(quint64 bytes, ByteUnit unit);

/// "27 tok/s": the speed of one stream. Whoever shows it shows the context beside it.
QString speedText(double tokensPerSecond);

/// A name short enough for a label in a chart: "Qwen3.5-122B-A10B" is "122B-A10B", "Llama-3.1-70B-Instruct"
/// is "Llama-3.1-70B".
QString shortModelName(const QString &name);

/// What all quantizations of one model share of their names, folded for comparison: publisher, format and
/// quantization go ("nvidia/Qwen3-30B-A3B-NVFP4" and "Qwen3-30B-A3B-GGUF" are "qwen3-30b-a3b").
QString modelFamily(const QString &name);

/// Lines for a tooltip: never taken for markup, whatever a file of a stranger is named.
QString plainToolTip(const QString &lines);

/// A quantization id as people write it: "int4-autoround" is "int4 AutoRound", "Q4_K_M" stays.
QString quantizationText(std::string_view id);

} // namespace weir

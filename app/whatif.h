// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <QString>

#include <optional>

namespace weir {

/// A checkpoint imagined at another quantization, by name: the one that is there, and the recipe of --quant.
struct WhatIf
{
    QString base;
    QString recipe;
};

/// The id of a what-if; also what `weir assess` takes when it is pasted there.
QString whatIfId(const QString &base, const QString &recipe);
/// Empty if the id names a checkpoint as it is.
std::optional<WhatIf> whatIfOf(const QString &id);
/// The id without a what-if: what has to be read to imagine it.
QString baseId(const QString &id);

/// Derives `base` at a recipe, under the id of the what-if. Well under a millisecond for most, no I/O.
Result<CheckpointPtr> deriveWhatIf(const QString &baseId, const Checkpoint &base, const QString &recipe);

} // namespace weir

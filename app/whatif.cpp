// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/whatif.h"

#include "models/checkpoint/requantize.h"

#include <utility>

namespace weir {

namespace {

const QString &separator()
{
    static const QString text = QStringLiteral(" --quant ");
    return text;
}

} // namespace

QString whatIfId(const QString &base, const QString &recipe)
{
    return recipe.isEmpty() ? base : QString(base + separator() + recipe);
}

std::optional<WhatIf> whatIfOf(const QString &id)
{
    const qsizetype at = id.lastIndexOf(separator());
    if (at <= 0)
        return std::nullopt;
    const QString recipe = id.mid(at + separator().size()).trimmed();
    if (recipe.isEmpty())
        return std::nullopt;
    return WhatIf{id.left(at).trimmed(), recipe};
}

QString baseId(const QString &id)
{
    const std::optional<WhatIf> whatIf = whatIfOf(id);
    return whatIf ? whatIf->base : id;
}

Result<CheckpointPtr> deriveWhatIf(const QString &baseId, const Checkpoint &base, const QString &recipe)
{
    const Result<QuantRecipe> parsed = parseQuantRecipe(recipe.toStdString());
    if (!parsed)
        return std::unexpected(parsed.error());
    Result<Checkpoint> derived = requantize(base, *parsed);
    if (!derived)
        return std::unexpected(derived.error());
    derived->id = whatIfId(baseId, recipe).toStdString();
    return std::make_shared<const Checkpoint>(std::move(*derived));
}

} // namespace weir

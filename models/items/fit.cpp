// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/fit.h"

#include <QCoreApplication>

namespace weir {

Fit fitOf(const Assessment &assessment)
{
    if (!assessment.load.canLoad)
        return Fit::CannotLoad;
    if (!assessment.memory.fits)
        return Fit::TooBig;
    const auto margin = static_cast<std::uint64_t>(assessment.memory.marginBytes);
    return margin < assessment.memory.usableBytes / 20 ? Fit::Tight : Fit::Fits;
}

QString fitText(Fit fit)
{
    switch (fit) {
    case Fit::Unknown: return {};
    case Fit::CannotLoad: return QCoreApplication::translate("weir::fit", "Cannot load");
    case Fit::TooBig: return QCoreApplication::translate("weir::fit", "Too big");
    case Fit::Tight: return QCoreApplication::translate("weir::fit", "Tight");
    case Fit::Fits: return QCoreApplication::translate("weir::fit", "Fits");
    }
    return {};
}

} // namespace weir

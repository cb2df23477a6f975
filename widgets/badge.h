// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/items/fit.h"

#include <QFont>
#include <QPointF>

class QColor;
class QPainter;

namespace weir {

struct Theme;

/// Paints the pill of a list's row, its right end in the middle of its height at `rightMiddle`, and returns
/// the x of its left end. Empty words paint nothing.
double paintBadge(QPainter &painter, const Theme &theme, const QFont &small, const QPointF &rightMiddle,
                  Fit fit, const QString &word);

/// The arrow of a row that unfolds: down where it is open, else to the right.
void paintArrow(QPainter &painter, const QPointF &center, bool down, const QColor &color);

} // namespace weir

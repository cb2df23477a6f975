// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/badge.h"

#include "widgets/theme.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPolygonF>

namespace weir {

namespace {

struct BadgeColors
{
    QColor text;
    QColor surface;
};

BadgeColors badgeColors(const Theme &theme, Fit fit)
{
    switch (fit) {
    case Fit::Fits: return {theme.fits, theme.fitsSurface};
    case Fit::Tight: return {theme.tight, theme.tightSurface};
    case Fit::TooBig: return {theme.no, theme.noSurface};
    case Fit::CannotLoad:
    case Fit::Unknown: break;
    }
    return {theme.mutedText, theme.hoverSurface};
}

} // namespace

double paintBadge(QPainter &painter, const Theme &theme, const QFont &small, const QPointF &rightMiddle,
                  Fit fit, const QString &word)
{
    if (word.isEmpty())
        return rightMiddle.x();
    const BadgeColors colors = badgeColors(theme, fit);
    QFont font = small;
    font.setWeight(QFont::DemiBold);
    const double width = QFontMetricsF(font).horizontalAdvance(word) + 14;
    const double height = QFontMetricsF(small).height() + 4;
    const QRectF pill(rightMiddle.x() - width, rightMiddle.y() - height / 2, width, height);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colors.surface);
    painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2);
    painter.setPen(colors.text);
    painter.setFont(font);
    painter.drawText(pill, Qt::AlignCenter, word);
    return pill.left();
}

void paintArrow(QPainter &painter, const QPointF &center, bool down, const QColor &color)
{
    constexpr double reach = 3.5;
    QPolygonF line;
    if (down)
        line << QPointF(-reach, -reach / 2) << QPointF(0, reach / 2) << QPointF(reach, -reach / 2);
    else
        line << QPointF(-reach / 2, -reach) << QPointF(reach / 2, 0) << QPointF(-reach / 2, reach);
    painter.setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line.translated(center));
}

} // namespace weir

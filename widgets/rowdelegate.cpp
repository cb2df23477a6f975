// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/rowdelegate.h"

#include "models/items/fit.h"
#include "models/items/rowroles.h"
#include "widgets/badge.h"
#include "widgets/theme.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

namespace weir {

namespace {

constexpr double sideMargin = 6; ///< of the selection's rectangle
constexpr double choiceLeft = 42;
constexpr double textRight = 16;
constexpr double verticalPadding = 7;
constexpr double choicePadding = 5;
constexpr double lineGap = 3;

bool isChoice(const QModelIndex &index) { return index.parent().isValid(); }

void paintLock(QPainter &painter, const QColor &color, const QPointF &center)
{
    painter.save();
    painter.translate(center);
    painter.setPen(QPen(color, 1.3));
    painter.setBrush(Qt::NoBrush);
    QPainterPath bow(QPointF(-2.4, -0.5));
    bow.lineTo(-2.4, -2.4);
    bow.arcTo(QRectF(-2.4, -4.8, 4.8, 4.8), 180, -180);
    bow.lineTo(2.4, -0.5);
    painter.drawPath(bow);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawRoundedRect(QRectF(-4, -0.7, 8, 5.7), 1.2, 1.2);
    painter.restore();
}

} // namespace

RowDelegate::RowDelegate(QObject *parent)
    : QStyledItemDelegate(parent)
{}

QSize RowDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const double strong = QFontMetricsF(textFont(option.font, TextSize::Strong)).height();
    const double small = QFontMetricsF(textFont(option.font, TextSize::Small)).height();
    const double height = isChoice(index) ? 2 * choicePadding + strong + lineGap + small + 2
                                          : 2 * verticalPadding + strong + 2 * (lineGap + small) + 2;
    return {120, qRound(height)};
}

void RowDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const Theme &theme = Theme::of(option.widget);
    const bool choice = isChoice(index);
    const QFont strongFont = textFont(option.font, TextSize::Strong);
    const QFont small = textFont(option.font, TextSize::Small);
    const QFontMetricsF strongMetrics(strongFont);
    const QFontMetricsF smallMetrics(small);

    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF row = option.rect;
    painter->fillRect(row, theme.card);
    const QRectF surface = row.adjusted(sideMargin, 1, -sideMargin, -1);
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    if (selected || option.state.testFlag(QStyle::State_MouseOver)) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(selected ? theme.accentSurface : theme.hoverSurface);
        painter->drawRoundedRect(surface, 6, 6);
    }
    if (option.state.testFlag(QStyle::State_HasFocus)
        && option.state.testFlag(QStyle::State_KeyboardFocusChange)) {
        painter->setPen(QPen(theme.accent, 1.5));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(surface.adjusted(0.75, 0.75, -0.75, -0.75), 6, 6);
    }

    const double left = row.left() + (choice ? choiceLeft : gutterWidth);
    const double right = row.right() - textRight;
    const double top = row.top() + 1 + (choice ? choicePadding : verticalPadding);
    const QRectF first(left, top, right - left, strongMetrics.height());
    const QRectF second(left, first.bottom() + lineGap, right - left, smallMetrics.height());
    const QRectF third = second.translated(0, smallMetrics.height() + lineGap);
    const double gutter = row.left() + 17;

    if (choice) {
        painter->setPen(QPen(theme.divider, 1));
        painter->drawLine(QPointF(gutter, row.top()), QPointF(gutter, row.bottom()));
    }
    if (index.data(FoldableRole).toBool())
        paintArrow(*painter, {gutter, first.center().y()}, option.state.testFlag(QStyle::State_Open),
                   theme.mutedText);
    if (index.data(GatedRole).toBool())
        paintLock(*painter, theme.mutedText, {gutter, third.center().y()});

    const auto fit = static_cast<Fit>(index.data(FitRole).toInt());
    double nameRight = right;
    const QString badge = index.data(BadgeRole).toString();
    if (!badge.isEmpty()) {
        nameRight = paintBadge(*painter, theme, small, {right, first.center().y()}, fit, badge) - 8;
    } else if (index.data(PendingRole).toBool()) {
        // Three dots where the badge is going to be.
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.axis);
        for (int dot = 0; dot < 3; ++dot)
            painter->drawEllipse(QPointF(right - 4 - 6.0 * dot, first.center().y()), 1.6, 1.6);
        nameRight = right - 26;
    }

    painter->setFont(strongFont);
    painter->setPen(theme.text);
    painter->drawText(
        QRectF(left, first.top(), nameRight - left, first.height()), Qt::AlignLeft | Qt::AlignVCenter,
        strongMetrics.elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideMiddle, nameRight - left));

    painter->setFont(small);
    double subtitleRight = right;
    const QString speed = index.data(SpeedTextRole).toString();
    if (!speed.isEmpty()) {
        painter->drawText(second, Qt::AlignRight | Qt::AlignVCenter, speed);
        subtitleRight -= smallMetrics.horizontalAdvance(speed) + 8;
    }
    painter->setPen(theme.mutedText);
    painter->drawText(
        QRectF(left, second.top(), subtitleRight - left, second.height()), Qt::AlignLeft | Qt::AlignVCenter,
        smallMetrics.elidedText(index.data(SubtitleRole).toString(), Qt::ElideRight, subtitleRight - left));
    if (!choice)
        painter->drawText(
            third, Qt::AlignLeft | Qt::AlignVCenter,
            smallMetrics.elidedText(index.data(DetailRole).toString(), Qt::ElideRight, third.width()));
    painter->restore();
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/catalogdelegate.h"

#include "models/items/catalogfilter.h"
#include "models/items/catalogmodel.h"
#include "widgets/badge.h"
#include "widgets/theme.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

namespace weir {

namespace {

constexpr double sideMargin = 6;   ///< of the selection's rectangle
constexpr double textLeft = 28;    ///< leaves room for the dot
constexpr double textRight = 16;
constexpr double verticalPadding = 7;
constexpr double lineGap = 3;
constexpr double childIndent = 14;
constexpr double markCenter = 17; ///< of the dot and of the arrow

double sectionHeight(const QFontMetricsF &metrics) { return metrics.height() + 14; }

/// Small text with figures and badges; kept readable with small desktop fonts.
QFont smallFont(const QFont &base) { return textFont(base, TextSize::Small); }

} // namespace

CatalogDelegate::CatalogDelegate(QObject *parent)
    : QStyledItemDelegate(parent)
{}

bool CatalogDelegate::isOnArrow(const QRect &row, const QPoint &point, const QModelIndex &index)
{
    return index.data(CatalogFilter::SiblingsRole).toInt() > 1 && row.contains(point)
           && point.x() - row.left() < textLeft;
}

QSize CatalogDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const QFontMetricsF strong(textFont(option.font, TextSize::Strong));
    const QFontMetricsF small(smallFont(option.font));
    double height = 2 * verticalPadding + strong.height() + lineGap + small.height() + 2;
    if (!index.data(CatalogFilter::SectionRole).toString().isEmpty())
        height += sectionHeight(small);
    return {120, qRound(height)};
}

void CatalogDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                            const QModelIndex &index) const
{
    const Theme &theme = Theme::of(option.widget);
    const QFont strongFont = textFont(option.font, TextSize::Strong);
    const QFont small = smallFont(option.font);
    const QFontMetricsF strongMetrics(strongFont);
    const QFontMetricsF smallMetrics(small);

    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->fillRect(option.rect, theme.card);

    QRectF row = option.rect;
    const QString section = index.data(CatalogFilter::SectionRole).toString();
    if (!section.isEmpty()) {
        const double height = sectionHeight(smallMetrics);
        painter->setFont(small);
        painter->setPen(theme.mutedText);
        painter->drawText(QRectF(row.left() + 16, row.top(), row.width() - 32, height - 3),
                          Qt::AlignLeft | Qt::AlignBottom, section);
        row.setTop(row.top() + height);
    }

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

    const bool isChild = index.data(CatalogFilter::ChildRole).toBool();
    const int siblings = index.data(CatalogFilter::SiblingsRole).toInt();
    const double indent = isChild ? childIndent : 0;
    const double left = row.left() + textLeft + indent;
    const double right = row.right() - textRight;
    const QRectF first(left, row.top() + 1 + verticalPadding, right - left, strongMetrics.height());
    const QRectF second(left, first.bottom() + lineGap, right - left, smallMetrics.height());

    const QPointF mark(row.left() + markCenter + indent, first.center().y());
    if (index.data(CatalogModel::PinnedRole).toBool()) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.accent);
        painter->drawEllipse(mark, 3.5, 3.5);
    } else if (index.data(CatalogFilter::HiddenPinRole).toBool()) {
        painter->setPen(QPen(theme.accent, 1.5));
        painter->setBrush(Qt::NoBrush);
        painter->drawEllipse(mark, 2.75, 2.75);
    }
    if (siblings > 1) {
        paintArrow(*painter, QPointF(mark.x(), second.center().y()),
                   index.data(CatalogFilter::UnfoldedRole).toBool(), theme.mutedText);
    }

    double nameRight = right;
    const QString badge = index.data(CatalogModel::BadgeRole).toString();
    if (!badge.isEmpty()) {
        const auto fit = static_cast<Fit>(index.data(CatalogModel::FitRole).toInt());
        nameRight = paintBadge(*painter, theme, small, {right, first.center().y()}, fit, badge) - 8;
    }

    // Below its model's name a sibling is called by its quantization.
    const QString quantization = index.data(CatalogModel::QuantizationRole).toString();
    const bool byQuantization = isChild && !quantization.isEmpty();
    QString more = siblings > 1 && !index.data(CatalogFilter::UnfoldedRole).toBool()
                       ? QStringLiteral("+%1").arg(siblings - 1)
                       : QString();
    if (index.data(CatalogModel::ImaginedRole).toBool())
        more = tr("what if");
    if (!more.isEmpty())
        nameRight -= smallMetrics.horizontalAdvance(more) + 5;
    const QString name =
        strongMetrics.elidedText(byQuantization ? quantization : index.data(Qt::DisplayRole).toString(),
                                 Qt::ElideRight, nameRight - left);
    painter->setFont(strongFont);
    painter->setPen(theme.text);
    painter->drawText(QRectF(left, first.top(), nameRight - left, first.height()),
                      Qt::AlignLeft | Qt::AlignVCenter, name);
    painter->setFont(small);
    if (!more.isEmpty()) {
        painter->setPen(theme.mutedText);
        painter->drawText(
            QPointF(left + strongMetrics.horizontalAdvance(name) + 5,
                    first.top() + (first.height() - strongMetrics.height()) / 2 + strongMetrics.ascent()),
            more);
        painter->setPen(theme.text);
    }

    double subtitleRight = right;
    const QString speed = index.data(CatalogModel::SpeedTextRole).toString();
    if (!speed.isEmpty()) {
        painter->drawText(second, Qt::AlignRight | Qt::AlignVCenter, speed);
        subtitleRight -= smallMetrics.horizontalAdvance(speed) + 8;
    }
    painter->setPen(theme.mutedText);
    painter->drawText(
        QRectF(left, second.top(), subtitleRight - left, second.height()), Qt::AlignLeft | Qt::AlignVCenter,
        smallMetrics.elidedText(
            index.data(byQuantization ? CatalogModel::DetailRole : CatalogModel::SubtitleRole).toString(),
            Qt::ElideRight, subtitleRight - left));
    painter->restore();
}

} // namespace weir

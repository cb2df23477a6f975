// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace weir {

/// Paints a row of the catalog from its roles: a dot for what is pinned, name and badge, below them what
/// it is and how fast. A row that stands for its siblings has an arrow and their number; unfolded ones are
/// indented. Names that do not fit are elided; the tooltip has them in full. Colours come from the theme
/// of the view's palette.
class CatalogDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    explicit CatalogDelegate(QObject *parent = nullptr);

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    /// Whether a point of the view is on the arrow of a row that has one.
    static bool isOnArrow(const QRect &row, const QPoint &point, const QModelIndex &index);
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;
};

} // namespace weir

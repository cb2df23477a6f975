// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace weir {

/// Paints a hit of the Hub, or below it one of its choices, from its roles. In the gutter on the left: a
/// chevron where there is something to unfold, a lock where terms have to be accepted first. What does not
/// fit is elided; the tooltip has it in full.
class RowDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    /// From the left edge of a hit: what is clicked to fold.
    static constexpr int gutterWidth = 28;

    explicit RowDelegate(QObject *parent = nullptr);

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/items/fit.h"

#include <QHash>
#include <QSet>
#include <QSortFilterProxyModel>
#include <QStringList>

class QTimer;

namespace weir {

/// Which rows of a CatalogModel are shown and in which order. Opened checkpoints stay on top whatever
/// the order; what is not assessed yet passes the fit filter, so that a list never flickers empty.
/// Siblings (the quantizations of one model) are one row, the first of them in the order, until that is
/// unfolded; a text to search for unfolds all that have it.
class CatalogFilter : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    enum class Order : std::uint8_t { Catalog, Name, Size, Speed };
    Q_ENUM(Order)

    /// QString: the heading above the first row of a section, else empty. "Opened here", "Catalog";
    /// none as long as the catalog is all there is.
    static constexpr int SectionRole = Qt::UserRole + 100;
    /// int: how many siblings that pass the filter a row stands for, itself included; 1 without any.
    static constexpr int SiblingsRole = Qt::UserRole + 101;
    /// bool: the row is the first of its siblings and the others are shown below it.
    static constexpr int UnfoldedRole = Qt::UserRole + 102;
    /// bool: a sibling shown below the first one.
    static constexpr int ChildRole = Qt::UserRole + 103;
    /// bool: a sibling that is not shown is pinned.
    static constexpr int HiddenPinRole = Qt::UserRole + 104;

    explicit CatalogFilter(QObject *parent = nullptr);

    void setSourceModel(QAbstractItemModel *model) override;

    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;

    /// Words that must all occur, in any order and case.
    void setText(const QString &text);
    QString text() const { return m_text; }
    /// Hides what is worse than this; Fit::Unknown shows all.
    void setMinimumFit(Fit fit);
    Fit minimumFit() const { return m_minimumFit; }
    void setOrder(Order order);
    Order order() const { return m_order; }

    /// Shows or hides the siblings of a row; rows without siblings are left as they are.
    void setUnfolded(const QModelIndex &row, bool unfolded);
    /// Makes a row of the source visible if only its siblings hide it.
    void reveal(const QModelIndex &sourceRow);
    /// The row that its siblings are folded into; the row itself if it is that one or has none.
    QModelIndex headOf(const QModelIndex &row) const;

protected:
    bool filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

private:
    /// The siblings of one model that pass the filter.
    struct Siblings
    {
        int head = -1; ///< source row of the first one in the order
        int count = 0;
        int pinned = 0;
    };

    bool passes(const QModelIndex &sourceIndex) const;
    bool isBefore(const QModelIndex &left, const QModelIndex &right) const;
    bool isUnfolded(const QString &family) const;
    QString familyOf(const QModelIndex &sourceIndex) const;
    const Siblings &siblingsOf(const QModelIndex &sourceIndex) const;
    void countSiblings() const;
    void regroup();

    mutable QHash<QString, Siblings> m_siblings;
    mutable bool m_counted = false;
    QSet<QString> m_unfolded;
    QPersistentModelIndex m_revealed;
    QTimer *m_regroup = nullptr;
    QString m_text;
    QStringList m_words;
    Fit m_minimumFit = Fit::Unknown;
    Order m_order = Order::Catalog;
};

} // namespace weir

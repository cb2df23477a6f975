// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/items/fit.h"

#include <QSortFilterProxyModel>
#include <QStringList>

namespace weir {

/// Which rows of a CatalogModel are shown and in which order. Opened checkpoints stay on top whatever
/// the order; what is not assessed yet passes the fit filter, so that a list never flickers empty.
class CatalogFilter : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    enum class Order : std::uint8_t { Catalog, Name, Size, Speed };
    Q_ENUM(Order)

    /// QString: the heading above the first row of a section, else empty. "Opened here", "Catalog";
    /// none as long as the catalog is all there is.
    static constexpr int SectionRole = Qt::UserRole + 100;

    explicit CatalogFilter(QObject *parent = nullptr);

    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;

    /// Words that must all occur, in any order and case.
    void setText(const QString &text);
    QString text() const { return m_text; }
    /// Hides what is worse than this; Fit::Unknown shows all.
    void setMinimumFit(Fit fit);
    Fit minimumFit() const { return m_minimumFit; }
    void setOrder(Order order);
    Order order() const { return m_order; }

protected:
    bool filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

private:
    QString m_text;
    QStringList m_words;
    Fit m_minimumFit = Fit::Unknown;
    Order m_order = Order::Catalog;
};

} // namespace weir

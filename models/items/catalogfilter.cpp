// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/catalogfilter.h"

#include "models/items/catalogmodel.h"

#include <algorithm>

namespace weir {

CatalogFilter::CatalogFilter(QObject *parent)
    : QSortFilterProxyModel(parent)
{
    setDynamicSortFilter(true);
    sort(0);
}

QVariant CatalogFilter::data(const QModelIndex &index, int role) const
{
    if (role != SectionRole || !index.isValid())
        return QSortFilterProxyModel::data(index, role);
    const bool opened = index.data(CatalogModel::OpenedRole).toBool();
    if (index.row() == 0)
        return opened ? QVariant(tr("Opened here")) : QVariant();
    const bool previous = index.siblingAtRow(index.row() - 1).data(CatalogModel::OpenedRole).toBool();
    return previous && !opened ? QVariant(tr("Catalog")) : QVariant();
}

void CatalogFilter::setText(const QString &text)
{
    if (m_text == text)
        return;
    m_text = text;
    m_words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void CatalogFilter::setMinimumFit(Fit fit)
{
    if (m_minimumFit == fit)
        return;
    m_minimumFit = fit;
    invalidateFilter();
}

void CatalogFilter::setOrder(Order order)
{
    if (m_order == order)
        return;
    m_order = order;
    invalidate();
}

bool CatalogFilter::filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const
{
    const QModelIndex index = sourceModel()->index(sourceRow, 0, sourceParent);
    const auto fit = static_cast<Fit>(index.data(CatalogModel::FitRole).toInt());
    if (fit != Fit::Unknown && fit < m_minimumFit)
        return false;
    if (m_words.isEmpty())
        return true;
    const QString searched = index.data(CatalogModel::SearchRole).toString();
    return std::ranges::all_of(
        m_words, [&searched](const QString &word) { return searched.contains(word, Qt::CaseInsensitive); });
}

bool CatalogFilter::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    const bool leftOpened = left.data(CatalogModel::OpenedRole).toBool();
    if (leftOpened != right.data(CatalogModel::OpenedRole).toBool())
        return leftOpened;
    switch (m_order) {
    case Order::Catalog: break;
    case Order::Name: {
        const int compared = QString::localeAwareCompare(left.data().toString(), right.data().toString());
        if (compared != 0)
            return compared < 0;
        break;
    }
    case Order::Size: {
        const auto a = left.data(CatalogModel::SizeSortRole).toULongLong();
        const auto b = right.data(CatalogModel::SizeSortRole).toULongLong();
        if (a != b)
            return a < b;
        break;
    }
    case Order::Speed: {
        const double a = left.data(CatalogModel::SpeedSortRole).toDouble();
        const double b = right.data(CatalogModel::SpeedSortRole).toDouble();
        if (a < b || b < a)
            return b < a; // the fastest first
        break;
    }
    }
    return left.data(CatalogModel::OrderRole).toInt() < right.data(CatalogModel::OrderRole).toInt();
}

} // namespace weir

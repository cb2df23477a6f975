// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/catalogfilter.h"

#include "models/items/catalogmodel.h"

#include <QTimer>

#include <algorithm>

namespace weir {

CatalogFilter::CatalogFilter(QObject *parent)
    : QSortFilterProxyModel(parent)
    , m_regroup(new QTimer(this))
{
    // Which row stands for its siblings depends on all of them: badges and sizes may change that.
    m_regroup->setSingleShot(true);
    m_regroup->setInterval(0);
    connect(m_regroup, &QTimer::timeout, this, &CatalogFilter::regroup);
    setDynamicSortFilter(true);
    sort(0);
}

void CatalogFilter::setSourceModel(QAbstractItemModel *model)
{
    if (sourceModel() != nullptr)
        sourceModel()->disconnect(this);
    m_counted = false;
    // Connected before the base class does: what it asks for is counted anew.
    const auto stale = [this] {
        m_counted = false;
        m_regroup->start();
    };
    if (model != nullptr) {
        connect(model, &QAbstractItemModel::dataChanged, this, stale);
        connect(model, &QAbstractItemModel::rowsInserted, this, stale);
        connect(model, &QAbstractItemModel::rowsRemoved, this, stale);
        connect(model, &QAbstractItemModel::modelReset, this, stale);
    }
    QSortFilterProxyModel::setSourceModel(model);
}

void CatalogFilter::regroup()
{
    m_counted = false;
    if (m_revealed.isValid() && passes(m_revealed) && siblingsOf(m_revealed).head != m_revealed.row())
        m_unfolded.insert(familyOf(m_revealed));
    m_revealed = QPersistentModelIndex();
    invalidateFilter(); // rows go and come
    invalidate();       // and all are put in order
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, 0), {SiblingsRole, ChildRole, HiddenPinRole});
}

QVariant CatalogFilter::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    if (role >= SiblingsRole && role <= HiddenPinRole) {
        const QModelIndex source = mapToSource(index);
        const Siblings &siblings = siblingsOf(source);
        const bool isHead = siblings.head == source.row();
        const bool unfolded = isUnfolded(familyOf(source));
        switch (role) {
        case SiblingsRole: return isHead ? siblings.count : 1;
        case UnfoldedRole: return isHead && siblings.count > 1 && unfolded;
        case ChildRole: return !isHead;
        default: {
            const int own = source.data(CatalogModel::PinnedRole).toBool() ? 1 : 0;
            return isHead && !unfolded && siblings.pinned > own;
        }
        }
    }
    if (role != SectionRole)
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
    regroup();
}

void CatalogFilter::setMinimumFit(Fit fit)
{
    if (m_minimumFit == fit)
        return;
    m_minimumFit = fit;
    regroup();
}

void CatalogFilter::setOrder(Order order)
{
    if (m_order == order)
        return;
    m_order = order;
    regroup();
}

void CatalogFilter::setUnfolded(const QModelIndex &row, bool unfolded)
{
    const QModelIndex source = mapToSource(row);
    const QString family = familyOf(source);
    if (!source.isValid() || siblingsOf(source).count < 2 || m_unfolded.contains(family) == unfolded)
        return;
    if (unfolded)
        m_unfolded.insert(family);
    else
        m_unfolded.remove(family);
    regroup();
}

void CatalogFilter::reveal(const QModelIndex &sourceRow)
{
    if (!sourceRow.isValid() || mapFromSource(sourceRow).isValid())
        return;
    // Later: this may be called while rows come and go.
    m_revealed = sourceRow;
    m_regroup->start();
}

QModelIndex CatalogFilter::headOf(const QModelIndex &row) const
{
    const QModelIndex source = mapToSource(row);
    if (!source.isValid())
        return {};
    return mapFromSource(sourceModel()->index(siblingsOf(source).head, 0));
}

QString CatalogFilter::familyOf(const QModelIndex &sourceIndex) const
{
    // What was opened here stands apart from the catalog, and so do its siblings.
    return sourceIndex.data(CatalogModel::OpenedRole).toBool()
               ? QString(QLatin1Char('/') + sourceIndex.data(CatalogModel::FamilyRole).toString())
               : sourceIndex.data(CatalogModel::FamilyRole).toString();
}

bool CatalogFilter::isUnfolded(const QString &family) const
{
    return !m_words.isEmpty() || m_unfolded.contains(family);
}

void CatalogFilter::countSiblings() const
{
    m_siblings.clear();
    m_counted = true;
    const int rows = sourceModel() != nullptr ? sourceModel()->rowCount() : 0;
    for (int row = 0; row < rows; ++row) {
        const QModelIndex source = sourceModel()->index(row, 0);
        if (!passes(source))
            continue;
        Siblings &siblings = m_siblings[familyOf(source)];
        ++siblings.count;
        siblings.pinned += source.data(CatalogModel::PinnedRole).toBool() ? 1 : 0;
        if (siblings.head < 0 || isBefore(source, sourceModel()->index(siblings.head, 0)))
            siblings.head = row;
    }
}

const CatalogFilter::Siblings &CatalogFilter::siblingsOf(const QModelIndex &sourceIndex) const
{
    static const Siblings none;
    if (!m_counted)
        countSiblings();
    const auto found = m_siblings.constFind(familyOf(sourceIndex));
    return found == m_siblings.constEnd() ? none : *found;
}

bool CatalogFilter::filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const
{
    const QModelIndex index = sourceModel()->index(sourceRow, 0, sourceParent);
    if (!passes(index))
        return false;
    return isUnfolded(familyOf(index)) || siblingsOf(index).head == sourceRow;
}

bool CatalogFilter::passes(const QModelIndex &index) const
{
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
    // Siblings follow their first one, wherever they would stand themselves.
    const int leftHead = siblingsOf(left).head;
    const int rightHead = siblingsOf(right).head;
    if (leftHead != rightHead && leftHead >= 0 && rightHead >= 0)
        return isBefore(sourceModel()->index(leftHead, 0), sourceModel()->index(rightHead, 0));
    return isBefore(left, right);
}

bool CatalogFilter::isBefore(const QModelIndex &left, const QModelIndex &right) const
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/hubfilter.h"

#include "models/items/fit.h"
#include "models/items/hubmodel.h"

namespace weir {

HubFilter::HubFilter(QObject *parent)
    : QSortFilterProxyModel(parent)
{
    setDynamicSortFilter(true);
}

void HubFilter::setLargestBytes(quint64 bytes)
{
    if (m_largestBytes == bytes)
        return;
    m_largestBytes = bytes;
    invalidateFilter();
}

void HubFilter::setFittingOnly(bool only)
{
    if (m_fittingOnly == only)
        return;
    m_fittingOnly = only;
    invalidateFilter();
}

bool HubFilter::filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const
{
    const QModelIndex index = sourceModel()->index(sourceRow, 0, sourceParent);
    if (m_largestBytes > 0) {
        const QVariant bytes = index.data(HubModel::SmallestBytesRole);
        if (bytes.isValid() && bytes.toULongLong() > m_largestBytes)
            return false;
    }
    if (!m_fittingOnly)
        return true;
    const auto fit = static_cast<Fit>(index.data(HubModel::FitRole).toInt());
    return fit == Fit::Unknown || fit >= Fit::Tight;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/twolevelmodel.h"

namespace weir {

QModelIndex TwoLevelModel::index(int row, int column, const QModelIndex &parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : quintptr{0});
}

QModelIndex TwoLevelModel::parent(const QModelIndex &child) const
{
    if (!child.isValid() || isUpper(child))
        return {};
    return createIndex(upperRow(child), 0, quintptr{0});
}

int TwoLevelModel::columnCount(const QModelIndex &) const { return 1; }

int TwoLevelModel::upperRow(const QModelIndex &index) const
{
    if (!index.isValid() || index.model() != this)
        return -1;
    return isUpper(index) ? index.row() : static_cast<int>(index.internalId() - 1);
}

void TwoLevelModel::emitAllChanged()
{
    for (int row = 0; row < rowCount(); ++row) {
        const QModelIndex upper = index(row, 0);
        emit dataChanged(upper, upper);
        if (const int below = rowCount(upper); below > 0)
            emit dataChanged(index(0, 0, upper), index(below - 1, 0, upper));
    }
}

} // namespace weir

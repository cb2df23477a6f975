// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractItemModel>

namespace weir {

/// Rows with rows below them and nothing deeper, in one column: what the lists beside the catalog are made of.
/// Internal ids are 0 for the upper rows, and the upper row + 1 for those below it. GUI thread.
class TwoLevelModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    using QAbstractItemModel::QAbstractItemModel;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &child) const override;
    int columnCount(const QModelIndex &parent = {}) const override;

protected:
    /// Of an index of this model.
    static bool isUpper(const QModelIndex &index) { return index.internalId() == 0; }
    /// The upper row that an index is, or lies below; -1 for an index of another model.
    int upperRow(const QModelIndex &index) const;
    /// All rows, for what changes in each of them.
    void emitAllChanged();
};

} // namespace weir

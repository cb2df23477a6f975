// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QModelIndexList>
#include <QString>
#include <QTreeView>

class QLineEdit;
class QTimer;

namespace weir {

/// The list of a section of the left column: rows with rows below them, painted by RowDelegate. It reports by a
/// timer when what is on screen has come to rest. GUI thread.
class RowTree : public QTreeView
{
    Q_OBJECT

public:
    /// @param settling  started by whatever changes what is on screen
    RowTree(QAbstractItemModel *model, QTimer *settling, QWidget *parent = nullptr);

    /// Rows on screen, from above.
    QModelIndexList visibleRows() const;
};

/// What Escape and Down do in the field above a list: clear it, go down. True if the key was one of these.
bool handleFilterKey(QLineEdit *field, QWidget *list, int key);

} // namespace weir

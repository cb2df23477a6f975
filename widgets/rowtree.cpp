// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/rowtree.h"

#include "widgets/rowdelegate.h"

#include <QLineEdit>
#include <QScrollBar>
#include <QTimer>

namespace weir {

RowTree::RowTree(QAbstractItemModel *model, QTimer *settling, QWidget *parent)
    : QTreeView(parent)
{
    setFrameShape(QFrame::NoFrame);
    setHeaderHidden(true);
    setRootIsDecorated(false);
    setIndentation(0);
    setExpandsOnDoubleClick(false);
    setModel(model);
    setItemDelegate(new RowDelegate(this));
    setSelectionMode(QAbstractItemView::SingleSelection);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    verticalScrollBar()->setSingleStep(16);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMouseTracking(true);

    const auto settle = qOverload<>(&QTimer::start);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, settling, settle);
    connect(verticalScrollBar(), &QScrollBar::rangeChanged, settling, settle);
    connect(this, &QTreeView::expanded, settling, settle);
    connect(this, &QTreeView::collapsed, settling, settle);
    connect(model, &QAbstractItemModel::rowsInserted, settling, settle);
    connect(model, &QAbstractItemModel::rowsRemoved, settling, settle);
    connect(model, &QAbstractItemModel::modelReset, settling, settle);
}

QModelIndexList RowTree::visibleRows() const
{
    QModelIndexList rows;
    const int bottom = viewport()->rect().bottom();
    for (QModelIndex index = indexAt({1, 1}); index.isValid() && visualRect(index).top() <= bottom;
         index = indexBelow(index))
        rows << index;
    return rows;
}

bool handleFilterKey(QLineEdit *field, QWidget *list, int key)
{
    if (key == Qt::Key_Escape && !field->text().isEmpty()) {
        field->clear();
        return true;
    }
    if (key == Qt::Key_Down) {
        list->setFocus(Qt::TabFocusReason);
        return true;
    }
    return false;
}

} // namespace weir

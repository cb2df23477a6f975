// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/items/catalogfilter.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QListView;
class QStackedWidget;

namespace weir {

class CatalogModel;

/// The list of checkpoints with its filter and order. Clicking a row or walking to it with the arrow keys
/// selects it, Space pins it; the arrow of a row, or Right and Left, unfold and fold the quantizations of
/// one model. Filtering never changes the selection. GUI thread.
class CatalogView : public QWidget
{
    Q_OBJECT

public:
    explicit CatalogView(CatalogModel *model, QWidget *parent = nullptr);

    /// Marks a checkpoint as selected without telling anybody.
    void setSelected(const QString &id);
    /// The context that the speeds in the list stand for.
    void setSpeedContext(quint64 contextTokens);

    void setOrder(CatalogFilter::Order order);
    CatalogFilter::Order order() const;
    void setMinimumFit(Fit fit);
    Fit minimumFit() const;

    void focusFilter();

signals:
    void selected(const QString &id);
    void pinToggled(const QString &id);
    void filterChanged();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void setupControls();
    void setupList(CatalogModel *model);
    void setUnfolded(const QModelIndex &row, bool unfolded);
    void restoreCurrent();
    void showContextMenu(const QPoint &position);
    void updateEmptyState();

    CatalogModel *m_model = nullptr;
    CatalogFilter *m_filter = nullptr;
    QLineEdit *m_text = nullptr;
    QComboBox *m_show = nullptr;
    QComboBox *m_order = nullptr;
    QLabel *m_caption = nullptr;
    QStackedWidget *m_pages = nullptr;
    QListView *m_list = nullptr;
    QLabel *m_empty = nullptr;
    QString m_selected;
    bool m_updating = false;
};

} // namespace weir

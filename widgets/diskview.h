// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/items/diskmodel.h"

#include <QStringList>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QTimer;
class QToolButton;

namespace weir {

class RowTree;

/// The checkpoints on this disk, by the places they lie in. It reports by signals what the user wants; whoever
/// listens looks through the disk and fills the model. Clicking a row or Enter opens it, Space pins what is
/// open, a folder dropped on the list is added. GUI thread.
class DiskView : public QWidget
{
    Q_OBJECT

public:
    explicit DiskView(DiskModel *model, QWidget *parent = nullptr);

    /// Shows the rows, or while there are none a sentence instead.
    void showRows();
    void showSentence(const QString &sentence);
    /// While the disk is looked through.
    void setScanning(bool scanning);
    /// One line below the list; empty hides it.
    void setFooter(const QString &text);
    /// The context that the speeds in the list stand for.
    void setSpeedContext(quint64 contextTokens);
    void setSelected(const QString &reference);
    void focusFilter();

    void setOrder(DiskFilter::Order order);
    DiskFilter::Order order() const { return m_filter->order(); }

signals:
    void activated(const QString &reference);
    void pinToggled(const QString &reference);
    void folderAsked(); ///< a folder is to be chosen and added
    void folderDropped(const QString &path);
    void removeRequested(const QString &path);
    void showInFolderRequested(const QString &path);
    void refreshRequested();
    void visibleChanged(const QStringList &references);
    void orderChanged();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    void setupControls();
    void setupList(DiskModel *model);
    void activate(const QModelIndex &index);
    void showContextMenu(const QPoint &position);
    void restoreRows();
    void reportVisible();

    DiskModel *m_model = nullptr;
    DiskFilter *m_filter = nullptr;
    QLineEdit *m_text = nullptr;
    QComboBox *m_order = nullptr;
    QToolButton *m_refresh = nullptr;
    QLabel *m_caption = nullptr;
    QStackedWidget *m_pages = nullptr;
    RowTree *m_list = nullptr;
    QLabel *m_sentence = nullptr;
    QLabel *m_footer = nullptr;
    QPushButton *m_add = nullptr;
    QTimer *m_settling = nullptr; ///< until what is visible is reported
    QString m_selected;
    QStringList m_folded; ///< places that the user folded
    bool m_restoring = false;
};

} // namespace weir

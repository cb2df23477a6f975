// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>

class QCompleter;
class QLabel;
class QMimeData;

namespace weir {

class CatalogModel;

/// Takes a name out of the catalog, a repository of the Hub, the path of a folder or file, or a file dropped
/// on it. Enter opens;
/// Escape clears. What is typed is passed on as it is: whoever opens it decides what it means. GUI thread.
class OpenField : public QLineEdit
{
    Q_OBJECT

public:
    explicit OpenField(CatalogModel *catalog, QWidget *parent = nullptr);

    /// Shown inside the empty field, at its right end: the keys that lead here.
    void setShortcutHint(const QString &hint);

    /// The first local path of a drag, or empty.
    static QString pathOf(const QMimeData *data);

signals:
    void openRequested(const QString &argument);

protected:
    void changeEvent(QEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void open();
    void placeHint();

    QCompleter *m_completer = nullptr;
    QLabel *m_hint = nullptr;
    QString m_shortcut;
    bool m_opensFromHub = false;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QTimer;
class QToolButton;

namespace weir {

/// Progress of reading a checkpoint, with Cancel beside it. Appears only when reading takes long enough
/// to be noticed. GUI thread.
class ReadingBar : public QWidget
{
    Q_OBJECT

public:
    explicit ReadingBar(QWidget *parent = nullptr);

    void start(const QString &what);
    /// `total` 0 = not known yet: the bar is busy.
    void setProgress(int done, int total, const QString &file);
    void finish();

signals:
    void cancelRequested();

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QLabel *m_text = nullptr;
    QProgressBar *m_bar = nullptr;
    QToolButton *m_cancel = nullptr;
    QTimer *m_delay = nullptr;
    QString m_what;
};

} // namespace weir

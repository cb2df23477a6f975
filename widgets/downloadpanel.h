// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/sources/download.h"

#include <QWidget>

#include <optional>

class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QTableWidget;
class QToolButton;

namespace weir {

/// What the panel shows of one checkpoint; sentences come worded.
struct DownloadFacts
{
    DownloadPlan plan;
    QString state; ///< why there is nothing to download or no command: "These files are on this disk."
    QString folder; ///< where the command puts the files
};

/// Before the download: how many bytes in which files, how long at a stated speed of the link, whether the
/// disk has room, and the command to copy. GUI thread.
class DownloadPanel : public QWidget
{
    Q_OBJECT

public:
    explicit DownloadPanel(QWidget *parent = nullptr);

    void setFacts(const DownloadFacts &facts, ByteUnit unit);
    /// Free bytes of the disk that `folder` is on; empty: unknown.
    void setFreeBytes(const QString &folder, std::optional<quint64> bytes);

    void setLinkMegabits(double megabitsPerSecond);
    double linkMegabits() const;

signals:
    void linkChanged(double megabitsPerSecond);
    void commandCopied();

private:
    void showSummary();
    void showFiles();
    void showRoom();

    DownloadFacts m_facts;
    ByteUnit m_unit = ByteUnit::Gigabytes;
    std::optional<quint64> m_freeBytes;

    QLabel *m_summary = nullptr;
    QDoubleSpinBox *m_link = nullptr;
    QLabel *m_linkLabel = nullptr;
    QLabel *m_time = nullptr;
    QLabel *m_room = nullptr;
    QLabel *m_state = nullptr;
    QLineEdit *m_command = nullptr;
    QToolButton *m_copy = nullptr;
    QTableWidget *m_files = nullptr;
};

/// "about 19 min", "about 1 h 40 min", "less than a minute".
QString durationText(double seconds);

} // namespace weir

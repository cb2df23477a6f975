// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace weir {

class DownloadPanel;
class Session;
class Settings;

/// Keeps the panel of the download at the selected checkpoint, asks for the free disk on a thread of its own, and
/// remembers the speed of the link. GUI thread; everything passed in outlives it.
class DownloadController : public QObject
{
    Q_OBJECT

public:
    DownloadController(Session &session, Settings &settings, DownloadPanel *panel);

private:
    void update();
    void askFreeBytes(const QString &folder);

    Session &m_session;
    DownloadPanel *m_panel;
};

} // namespace weir

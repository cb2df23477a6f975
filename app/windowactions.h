// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"

#include <QObject>
#include <QString>

class QAction;
class QActionGroup;
class QMenu;
class QUndoStack;
class QWidget;

namespace weir {

/// Every command of the window, once: name, text, shortcut, tip. Buttons, menus and shortcuts all use
/// these; whoever knows what to do connects to them.
class WindowActions : public QObject
{
    Q_OBJECT

public:
    WindowActions(QUndoStack *undoStack, QWidget *window);

    QAction *focusOpenField = nullptr;
    QAction *openFile = nullptr;
    QAction *openFolder = nullptr;
    QAction *cancelReading = nullptr;
    QAction *focusFilter = nullptr;
    QAction *searchHub = nullptr;
    QAction *hubAccount = nullptr;
    QAction *showDisk = nullptr;
    QAction *addFolder = nullptr;
    QAction *workOffline = nullptr;
    QAction *pin = nullptr;
    QAction *whatIf = nullptr;
    QAction *undo = nullptr;
    QAction *redo = nullptr;
    QAction *exportMemory = nullptr;
    QAction *exportResident = nullptr;
    QAction *exportSpeed = nullptr;
    QAction *exportTime = nullptr;
    QAction *copyComponents = nullptr;
    QAction *copyMeasurements = nullptr;
    QAction *copyComparison = nullptr;
    QAction *themeSystem = nullptr;
    QAction *themeLight = nullptr;
    QAction *themeDark = nullptr;
    QAction *unitGigabytes = nullptr;
    QAction *unitGibibytes = nullptr;
    QAction *toggleUnit = nullptr;
    QAction *restoreLayout = nullptr;
    QAction *showMenu = nullptr;
    QAction *about = nullptr;
    QAction *quit = nullptr;

    QMenu *exportMenu = nullptr;
    QMenu *mainMenu = nullptr;
    QMenu *recentMenu = nullptr;

    /// Checks the entry of a unit or of a theme ("system", "light", "dark") without triggering it.
    void showUnit(ByteUnit unit);
    void showTheme(const QString &choice);
    /// Commands that need an assessment on screen.
    void setHasAssessment(bool has);

private:
    QAction *add(const char *name, const QString &text, const QString &tip, const QString &shortcut = {});
    void makeExportMenu();
    void makeMainMenu();

    QWidget *m_window;
};

} // namespace weir

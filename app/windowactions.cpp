// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/windowactions.h"

#include <QAction>
#include <QActionGroup>
#include <QMenu>
#include <QUndoStack>
#include <QWidget>

namespace weir {

WindowActions::WindowActions(QUndoStack *undoStack, QWidget *window)
    : QObject(window)
    , m_window(window)
{
    focusOpenField = add("focusOpenField", tr("Open by Name or Path"),
                         tr("Go to the field that opens checkpoints"), QStringLiteral("Ctrl+K"));
    focusOpenField->setShortcuts(
        {QKeySequence(QStringLiteral("Ctrl+K")), QKeySequence(QStringLiteral("Ctrl+L"))});
    openFile = add("openFile", tr("Open File…"), tr("Read a .gguf, a .safetensors or a config.json"),
                   QStringLiteral("Ctrl+O"));
    openFolder =
        add("openFolder", tr("Open Folder…"), tr("Read a model folder"), QStringLiteral("Ctrl+Shift+O"));
    cancelReading = add("cancelReading", tr("Cancel Reading"), tr("Stop reading the checkpoint"),
                        QStringLiteral("Ctrl+."));
    cancelReading->setShortcuts({QKeySequence(QStringLiteral("Ctrl+.")), QKeySequence(Qt::Key_Escape)});
    cancelReading->setEnabled(false);
    focusFilter = add("focusFilter", tr("Filter Checkpoints"), tr("Go to the filter of the list"),
                      QStringLiteral("Ctrl+F"));
    searchHub = add("searchHub", tr("Search the Hub"), tr("Go to the search of the Hub"),
                    QStringLiteral("Ctrl+Shift+F"));
    showDisk = add("showDisk", tr("This Disk"), tr("Go to the checkpoints on this disk"),
                   QStringLiteral("Ctrl+Shift+D"));
    addFolder = add("addFolder", tr("Add Folder to This Disk…"),
                    tr("List the checkpoints below a folder and keep looking there"));
    hubAccount = add("hubAccount", tr("Hub Account…"), tr("Enter or remove the access token of the Hub"));
    workOffline = add("workOffline", tr("Work Offline"),
                      tr("Make no connection: checkpoints of the Hub come from the caches alone"));
    workOffline->setCheckable(true);
    pin = add("pin", tr("Pin"), tr("Keep this checkpoint in the charts, beside whatever is selected"),
              QStringLiteral("Ctrl+D"));
    pin->setCheckable(true);
    pin->setEnabled(false);

    whatIf = add("whatIf", tr("What If…"), tr("Imagine this checkpoint at another quantization"),
                 QStringLiteral("Ctrl+I"));

    undo = undoStack->createUndoAction(this, tr("Undo"));
    undo->setObjectName(QStringLiteral("undo"));
    undo->setShortcut(QKeySequence::Undo);
    redo = undoStack->createRedoAction(this, tr("Redo"));
    redo->setObjectName(QStringLiteral("redo"));
    redo->setShortcuts(
        {QKeySequence(QStringLiteral("Ctrl+Shift+Z")), QKeySequence(QStringLiteral("Ctrl+Y"))});
    m_window->addActions({undo, redo});

    exportMemory = add("exportMemory", tr("Memory…"), tr("Write this chart as PNG, SVG or PDF"));
    exportResident =
        add("exportResident", tr("Resident and Streamed…"), tr("Write this chart as PNG, SVG or PDF"));
    exportSpeed = add("exportSpeed", tr("Speed and the Bandwidth Line…"),
                      tr("Write this chart as PNG, SVG or PDF"), QStringLiteral("Ctrl+E"));
    exportTime = add("exportTime", tr("Where the Time Goes…"), tr("Write this chart as PNG, SVG or PDF"));
    copyComponents = add("copyComponents", tr("Copy Component Table"),
                         tr("Copy the table as tab-separated text"), QStringLiteral("Ctrl+Shift+C"));
    copyMeasurements =
        add("copyMeasurements", tr("Copy Measurements"), tr("Copy the table as tab-separated text"));

    copyComparison =
        add("copyComparison", tr("Copy Comparison"), tr("Copy the rows in sight as tab-separated text"));

    themeSystem = add("themeSystem", tr("As the Desktop"), tr("Light or dark as the desktop prefers"));
    themeLight = add("themeLight", tr("Light"), tr("Always light"));
    themeDark = add("themeDark", tr("Dark"), tr("Always dark"));
    auto *themes = new QActionGroup(this);
    for (QAction *theme : {themeSystem, themeLight, themeDark}) {
        theme->setCheckable(true);
        themes->addAction(theme);
    }

    unitGigabytes = add("unitGigabytes", tr("GB = 10⁹ bytes"), tr("Show bytes in GB"));
    unitGibibytes = add("unitGibibytes", tr("GiB = 2³⁰ bytes"), tr("Show bytes in GiB"));
    auto *units = new QActionGroup(this);
    for (QAction *unit : {unitGigabytes, unitGibibytes}) {
        unit->setCheckable(true);
        units->addAction(unit);
    }
    toggleUnit =
        add("toggleUnit", tr("Switch Unit"), tr("Switch between GB and GiB"), QStringLiteral("Ctrl+U"));

    restoreLayout =
        add("restoreLayout", tr("Restore Default Layout"), tr("Put the columns back where they were"));
    showMenu = add("showMenu", tr("Menu"), tr("Open the menu"), QStringLiteral("F10"));
    about = add("about", tr("About Weir"), tr("What this program is"));
    quit = add("quit", tr("Quit"), tr("Close the window"));
    quit->setShortcut(QKeySequence(QStringLiteral("Ctrl+Q")));
    quit->setMenuRole(QAction::QuitRole);

    makeExportMenu();
    makeMainMenu();
}

QAction *WindowActions::add(const char *name, const QString &text, const QString &tip,
                            const QString &shortcut)
{
    auto *action = new QAction(text, this);
    action->setObjectName(QString::fromLatin1(name));
    action->setStatusTip(tip);
    if (shortcut.isEmpty()) {
        action->setToolTip(tip);
    } else {
        const QKeySequence sequence(shortcut);
        action->setShortcut(sequence);
        action->setToolTip(tr("%1 (%2)").arg(tip, sequence.toString(QKeySequence::NativeText)));
    }
    // Shortcuts work wherever the focus is, whether or not a menu shows the action.
    m_window->addAction(action);
    return action;
}

void WindowActions::makeExportMenu()
{
    exportMenu = new QMenu(tr("Export"), m_window);
    exportMenu->setObjectName(QStringLiteral("exportMenu"));
    exportMenu->addActions({exportMemory, exportResident, exportSpeed, exportTime});
    exportMenu->addSeparator();
    exportMenu->addActions({copyComponents, copyMeasurements, copyComparison});
}

void WindowActions::makeMainMenu()
{
    mainMenu = new QMenu(tr("Menu"), m_window);
    mainMenu->setObjectName(QStringLiteral("mainMenu"));
    mainMenu->addActions({focusOpenField, openFile, openFolder});
    recentMenu = mainMenu->addMenu(tr("Open Recent"));
    recentMenu->setObjectName(QStringLiteral("recentMenu"));
    mainMenu->addAction(cancelReading);
    mainMenu->addSeparator();
    mainMenu->addActions({undo, redo, pin, whatIf, focusFilter});
    mainMenu->addSeparator();
    mainMenu->addActions({showDisk, addFolder});
    mainMenu->addSeparator();
    mainMenu->addActions({searchHub, hubAccount, workOffline});
    mainMenu->addSeparator();
    QMenu *theme = mainMenu->addMenu(tr("Theme"));
    theme->setObjectName(QStringLiteral("themeMenu"));
    theme->addActions({themeSystem, themeLight, themeDark});
    QMenu *unit = mainMenu->addMenu(tr("Unit of Bytes"));
    unit->setObjectName(QStringLiteral("unitMenu"));
    unit->addActions({unitGigabytes, unitGibibytes, toggleUnit});
    mainMenu->addAction(restoreLayout);
    mainMenu->addSeparator();
    mainMenu->addActions({about, quit});
}

void WindowActions::showUnit(ByteUnit unit)
{
    (unit == ByteUnit::Gibibytes ? unitGibibytes : unitGigabytes)->setChecked(true);
}

void WindowActions::showTheme(const QString &choice)
{
    QAction *theme = themeSystem;
    if (choice == QLatin1String("light"))
        theme = themeLight;
    else if (choice == QLatin1String("dark"))
        theme = themeDark;
    theme->setChecked(true);
}

void WindowActions::setHasAssessment(bool has)
{
    for (QAction *action : {exportMemory, exportResident, exportSpeed, exportTime, copyComponents})
        action->setEnabled(has);
}

} // namespace weir

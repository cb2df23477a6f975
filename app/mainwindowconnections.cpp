// SPDX-License-Identifier: GPL-3.0-or-later
// The connections of MainWindow, apart from its layout: they change for other reasons.
#include "app/filedialog.h"
#include "app/loader.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/systemtheme.h"
#include "app/verdictwords.h"
#include "app/windowactions.h"
#include "app/windowwording.h"
#include "models/items/text.h"
#include "widgets/catalogview.h"
#include "widgets/componenttable.h"
#include "widgets/measurementtable.h"
#include "widgets/memorybar.h"
#include "widgets/messagebar.h"
#include "widgets/openfield.h"
#include "widgets/readingbar.h"
#include "widgets/residentchart.h"
#include "widgets/speedplot.h"
#include "widgets/timebreakdown.h"
#include "widgets/topbar.h"
#include "widgets/workloadpanel.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileInfo>
#include <QMenu>
#include <QTabWidget>
#include <QToolButton>

namespace weir {

void MainWindow::connectActions()
{
    connect(m_actions->focusOpenField, &QAction::triggered, this,
            [this] { m_topBar->openField()->setFocus(Qt::ShortcutFocusReason); });
    connect(m_actions->openFile, &QAction::triggered, this, [this] {
        const QString path = FileDialog::openFile(this, tr("Open a Checkpoint"),
                                                  m_settings.value(Setting::OpenFolder).toString());
        if (path.isEmpty())
            return;
        m_settings.setValue(Setting::OpenFolder, QFileInfo(path).absolutePath());
        openPath(path);
    });
    connect(m_actions->openFolder, &QAction::triggered, this, [this] {
        const QString path = FileDialog::openFolder(this, tr("Open a Model Folder"),
                                                    m_settings.value(Setting::OpenFolder).toString());
        if (path.isEmpty())
            return;
        m_settings.setValue(Setting::OpenFolder, QFileInfo(path).absolutePath());
        openPath(path);
    });
    connect(m_actions->cancelReading, &QAction::triggered, &m_loader, &Loader::cancel);
    connect(m_actions->pin, &QAction::triggered, this,
            [this] { m_session.togglePin(m_session.selectedId()); });

    connect(m_actions->exportMemory, &QAction::triggered, m_memory, &Chart::exportImage);
    connect(m_actions->exportResident, &QAction::triggered, m_resident, &Chart::exportImage);
    connect(m_actions->exportSpeed, &QAction::triggered, m_speed, &Chart::exportImage);
    connect(m_actions->exportTime, &QAction::triggered, m_time, &Chart::exportImage);
    for (Chart *chart : std::initializer_list<Chart *>{m_memory, m_resident, m_speed, m_time})
        connectChart(chart);
    Chart::setFileChooser([this](QWidget *parent, const QString &suggestion) {
        const QDir folder(m_settings.value(Setting::ExportFolder).toString());
        const QString path =
            FileDialog::saveFile(parent, tr("Export Chart"), folder.filePath(suggestion),
                                 tr("PNG picture (*.png);;SVG drawing (*.svg);;PDF page (*.pdf)"));
        if (!path.isEmpty())
            m_settings.setValue(Setting::ExportFolder, QFileInfo(path).absolutePath());
        return path;
    });
    connect(m_actions->copyComponents, &QAction::triggered, m_components, &ComponentTable::copySelection);
    connect(m_actions->copyMeasurements, &QAction::triggered, this,
            [this] { QApplication::clipboard()->setText(m_measurements->asText(false)); });

    for (const auto &[action, choice] : {std::pair{m_actions->themeSystem, QStringLiteral("system")},
                                         std::pair{m_actions->themeLight, QStringLiteral("light")},
                                         std::pair{m_actions->themeDark, QStringLiteral("dark")}}) {
        connect(action, &QAction::triggered, this, [this, chosen = choice] {
            m_settings.setValue(Setting::ThemeChoice, chosen);
            applyThemeChoice(chosen);
        });
    }
    connect(m_systemTheme, &SystemTheme::isDarkChanged, this,
            [this] { applyThemeChoice(m_settings.value(Setting::ThemeChoice).toString()); });

    connect(m_actions->unitGigabytes, &QAction::triggered, this,
            [this] { m_session.setUnit(ByteUnit::Gigabytes); });
    connect(m_actions->unitGibibytes, &QAction::triggered, this,
            [this] { m_session.setUnit(ByteUnit::Gibibytes); });
    connect(m_actions->toggleUnit, &QAction::triggered, this, [this] {
        m_session.setUnit(m_session.unit() == ByteUnit::Gigabytes ? ByteUnit::Gibibytes
                                                                  : ByteUnit::Gigabytes);
    });
    connect(m_unit, &QToolButton::clicked, m_actions->toggleUnit, &QAction::trigger);
    connect(m_actions->restoreLayout, &QAction::triggered, this, [this] {
        m_settings.forgetWindowLayout();
        restoreDefaultLayout();
    });
    connect(m_actions->showMenu, &QAction::triggered, this, [this] {
        if (auto *button = m_topBar->findChild<QToolButton *>(QStringLiteral("mainMenuButton")))
            m_actions->mainMenu->popup(button->mapToGlobal(QPoint(0, button->height())));
    });
    connect(m_actions->about, &QAction::triggered, this, &MainWindow::showAbout);
    connect(m_actions->quit, &QAction::triggered, this, &QWidget::close);
}

void MainWindow::connectViews()
{
    connect(m_topBar->openField(), &OpenField::openRequested, this, &MainWindow::openPath);
    connect(m_topBar, &TopBar::machineChosen, &m_session, &Session::setMachine);
    connect(m_topBar, &TopBar::engineChosen, &m_session, &Session::setEngineChoice);
    connect(m_catalog, &CatalogView::selected, &m_session, &Session::select);
    connect(m_catalog, &CatalogView::pinToggled, &m_session, &Session::togglePin);
    connect(m_catalog, &CatalogView::filterChanged, this, [this] {
        m_settings.setValue(Setting::CatalogOrder, static_cast<int>(m_catalog->order()));
        m_settings.setValue(Setting::CatalogMinimumFit, static_cast<int>(m_catalog->minimumFit()));
    });
    connect(m_workload, &WorkloadPanel::workloadChanged, &m_session, &Session::setWorkload);
}

void MainWindow::connectSession()
{
    connect(&m_session, &Session::selectionChanged, this, &MainWindow::updateSelection);
    connect(&m_session, &Session::pinsChanged, this, &MainWindow::updatePin);
    connect(&m_session, &Session::engineChanged, this, &MainWindow::updateEngines);
    connect(&m_session, &Session::assessmentsChanged, this, &MainWindow::updateAssessments);
    connect(&m_session, &Session::badgesChanged, m_catalog, &CatalogView::setSpeedContext);
    connect(&m_session, &Session::machineChanged, this, [this] {
        const Machine *machine = m_session.machine();
        if (machine == nullptr)
            return;
        m_topBar->setMachine(toText(machine->id));
        m_workload->setReserveDefault(machine->defaultReserveBytes(), reserveRule(*machine));
        updateTitle();
    });
    connect(&m_session, &Session::workloadChanged, this,
            [this] { m_workload->setWorkload(m_session.workload()); });
    connect(&m_session, &Session::unitChanged, this, [this] {
        m_wording.setUnit(m_session.unit());
        updateStatus();
        updateAssessments();
    });
    connect(&m_session, &Session::problemFound, this,
            [this](const Error &error) { showMessage(m_wording.sentence(error), Severity::Error); });
}

void MainWindow::connectLoader()
{
    connect(&m_loader, &Loader::started, this, [this](const QString &argument) {
        m_readingBar->start(argument);
        m_actions->cancelReading->setEnabled(true);
    });
    connect(&m_loader, &Loader::progress, m_readingBar, &ReadingBar::setProgress);
    const auto finished = [this] {
        m_readingBar->finish();
        m_actions->cancelReading->setEnabled(false);
    };
    connect(&m_loader, &Loader::opened, this, [this, finished] {
        finished();
        m_topBar->openField()->clear();
        updateRecentMenu();
    });
    connect(&m_loader, &Loader::cancelled, this, [this, finished] {
        finished();
        m_catalog->setSelected(m_session.selectedId());
    });
    connect(&m_loader, &Loader::failed, this, [this, finished](const QString &argument, const Error &error) {
        finished();
        // The list may have moved to a row that cannot be read.
        m_catalog->setSelected(m_session.selectedId());
        showFailure(argument, error);
    });
    connect(m_readingBar, &ReadingBar::cancelRequested, &m_loader, &Loader::cancel);
}

void MainWindow::connectChart(Chart *chart)
{
    connect(chart, &Chart::messageRaised, this, [this](const QString &sentence, bool failed) {
        showMessage(sentence, failed ? Severity::Error : Severity::Info);
    });
}

} // namespace weir

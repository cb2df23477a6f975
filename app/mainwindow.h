// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/base/message.h"

#include <QMainWindow>

class QLabel;
class QSplitter;
class QTabWidget;
class QToolButton;

namespace weir {

class AssumptionsPanel;
class CatalogView;
class Chart;
class ComparisonTable;
class ComponentTable;
class DiskController;
class DiskModel;
class DiskView;
class DownloadPanel;
class HubAccount;
class HubBridge;
class HubController;
class HubModel;
class HubView;
class Loader;
class MeasurementTable;
class MemoryBar;
class MessageBar;
class ReadingBar;
class ResidentChart;
class Session;
class Settings;
class SourceBar;
class SpeedPlot;
class SystemTheme;
class TimeBreakdown;
class TopBar;
class VerdictBar;
class WindowActions;
class WhatIfController;
class WindowWording;
class WorkloadPanel;

/// The window: three columns around one session. It lays out, connects, and words what the session
/// says; it decides nothing about models. Everything passed in outlives it. GUI thread.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    MainWindow(Session &session, Loader &loader, HubBridge &hub, HubAccount &account, Settings &settings,
               WindowWording &wording, QWidget *parent = nullptr);
    ~MainWindow() override;

    WindowActions *commands() const { return m_actions; }

    void showMessage(const QString &sentence, Severity severity);

    static constexpr QSize firstSize{1440, 900};

protected:
    void closeEvent(QCloseEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    QWidget *makeLeftColumn();
    QWidget *makeMiddleColumn();
    QWidget *makeRightColumn();
    void makeStatusBar();
    void restoreSettings();
    void restoreDefaultLayout();
    /// Widths are meant for the usual letters; larger ones take more.
    int scaled(int pixels) const;

    void connectActions();
    void connectViews();
    void connectSession();
    void connectLoader();
    void connectHub();
    void connectDisk();
    void connectDetails();
    void connectChart(Chart *chart);

    void updateMachines();
    void updateEngines();
    void updatePin();
    void updateSelection();
    void updateAssessments();
    void updateMeasurements();
    void updateComparison();
    void updateRecentMenu();
    void updateStatus();
    void updateTitle();

    void openPath(const QString &path);
    void addDiskFolder();
    void addSection(const QString &id, const QString &title, QWidget *section);
    bool isSection(const QString &id) const;
    void showFailure(const QString &argument, const Error &error);
    void showTokenDialog();
    void applyThemeChoice(const QString &choice);
    void showAbout();

    bool m_registryAsked = false;
    bool m_columnsAreDefault = false; ///< until the window is shown, and has its size
    Session &m_session;
    Loader &m_loader;
    HubBridge &m_bridge;
    HubAccount &m_account;
    Settings &m_settings;
    WindowWording &m_wording;
    WindowActions *m_actions = nullptr;
    SystemTheme *m_systemTheme = nullptr;

    TopBar *m_topBar = nullptr;
    ReadingBar *m_readingBar = nullptr;
    QSplitter *m_columns = nullptr;
    QTabWidget *m_sections = nullptr;
    CatalogView *m_catalog = nullptr;
    HubModel *m_hubModel = nullptr;
    HubView *m_hub = nullptr;
    HubController *m_hubController = nullptr;
    DiskModel *m_diskModel = nullptr;
    DiskView *m_disk = nullptr;
    DiskController *m_diskController = nullptr;
    MessageBar *m_messages = nullptr;
    SourceBar *m_source = nullptr;
    VerdictBar *m_verdict = nullptr;
    MemoryBar *m_memory = nullptr;
    ResidentChart *m_resident = nullptr;
    SpeedPlot *m_speed = nullptr;
    QTabWidget *m_tabs = nullptr;
    ComponentTable *m_components = nullptr;
    MeasurementTable *m_measurements = nullptr;
    ComparisonTable *m_comparison = nullptr;
    DownloadPanel *m_download = nullptr;
    WhatIfController *m_whatIf = nullptr;
    WorkloadPanel *m_workload = nullptr;
    TimeBreakdown *m_time = nullptr;
    AssumptionsPanel *m_assumptions = nullptr;
    QLabel *m_status = nullptr;
    QToolButton *m_unit = nullptr;
};

} // namespace weir

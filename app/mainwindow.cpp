// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mainwindow.h"

#include "app/filedialog.h"
#include "app/loader.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/systemtheme.h"
#include "app/verdictwords.h"
#include "app/windowactions.h"
#include "app/windowwording.h"
#include "models/items/text.h"
#include "widgets/assumptionspanel.h"
#include "widgets/catalogview.h"
#include "widgets/columnbody.h"
#include "widgets/columnscroll.h"
#include "widgets/comparisontable.h"
#include "widgets/componenttable.h"
#include "widgets/downloadpanel.h"
#include "widgets/measurementtable.h"
#include "widgets/memorybar.h"
#include "widgets/messagebar.h"
#include "widgets/openfield.h"
#include "widgets/readingbar.h"
#include "widgets/residentchart.h"
#include "widgets/sidepanel.h"
#include "widgets/sourcebar.h"
#include "widgets/speedplot.h"
#include "widgets/theme.h"
#include "widgets/timebreakdown.h"
#include "widgets/topbar.h"
#include "widgets/verdictbar.h"
#include "widgets/workloadpanel.h"

#include <QAction>
#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QSplitter>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolButton>

#include <utility>

namespace weir {

namespace {

constexpr int leftWidth = 264;
constexpr int rightWidth = 252;
constexpr int gap = 8;

QFrame *makeDivider(QWidget *parent)
{
    auto *line = new QFrame(parent);
    line->setFrameShape(QFrame::HLine);
    line->setFrameShadow(QFrame::Plain);
    line->setForegroundRole(QPalette::Midlight);
    return line;
}

} // namespace

MainWindow::MainWindow(Session &session, Loader &loader, HubBridge &hub, HubAccount &account,
                       Settings &settings, WindowWording &wording, QWidget *parent)
    : QMainWindow(parent)
    , m_session(session)
    , m_loader(loader)
    , m_bridge(hub)
    , m_account(account)
    , m_settings(settings)
    , m_wording(wording)
    , m_actions(new WindowActions(session.undoStack(), this))
    , m_systemTheme(new SystemTheme(this))
{
    setObjectName(QStringLiteral("mainWindow"));
    // Before the first child: fonts and colours reach those made later only.
    applyThemeChoice(settings.value(Setting::ThemeChoice).toString());
    setAcceptDrops(true);

    m_topBar = new TopBar(session.catalogModel(), this);
    m_topBar->addButton(m_actions->pin);
    m_topBar->addMenuButton(tr("Export"), m_actions->exportMenu);
    m_topBar->addMenuButton(tr("Menu"), m_actions->mainMenu);
    m_topBar->openField()->setShortcutHint(
        m_actions->focusOpenField->shortcut().toString(QKeySequence::NativeText));
    m_readingBar = new ReadingBar(this);

    m_columns = new QSplitter(Qt::Horizontal, this);
    m_columns->setObjectName(QStringLiteral("columns"));
    m_columns->setChildrenCollapsible(false);
    m_columns->setHandleWidth(1);
    m_columns->addWidget(makeLeftColumn());
    m_columns->addWidget(makeMiddleColumn());
    m_columns->addWidget(makeRightColumn());
    m_columns->setStretchFactor(0, 0);
    m_columns->setStretchFactor(1, 1);
    m_columns->setStretchFactor(2, 0);

    auto *central = new QWidget(this);
    auto *layout = new QVBoxLayout(central);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_topBar);
    layout->addWidget(m_readingBar);
    layout->addWidget(m_columns, 1);
    setCentralWidget(central);
    makeStatusBar();

    connectActions();
    connectViews();
    connectSession();
    connectLoader();
    connectHub();
    connectDisk();
    connectDetails();

    restoreSettings();
    updateMachines();
    updateEngines();
    updateSelection();
    updateAssessments();
    updateStatus();
    updateRecentMenu();
    m_catalog->setFocus();
}

MainWindow::~MainWindow() = default;

QWidget *MainWindow::makeMiddleColumn()
{
    auto *column = new ColumnBody(this);
    column->setObjectName(QStringLiteral("middleColumn"));

    m_messages = new MessageBar(column);
    m_source = new SourceBar(column);
    m_verdict = new VerdictBar(column);
    m_memory = new MemoryBar(column);
    m_resident = new ResidentChart(m_wording, column);
    m_speed = new SpeedPlot(column);
    m_memory->setObjectName(QStringLiteral("memoryBar"));
    m_resident->setObjectName(QStringLiteral("residentChart"));
    m_speed->setObjectName(QStringLiteral("speedPlot"));

    m_components = new ComponentTable(m_wording, column);
    m_components->setObjectName(QStringLiteral("componentTable"));
    m_measurements = new MeasurementTable(column);
    m_tabs = new QTabWidget(column);
    m_tabs->setObjectName(QStringLiteral("detailTabs"));
    m_tabs->setAccessibleName(tr("Details"));
    m_tabs->addTab(m_components, tr("Components"));
    m_tabs->addTab(m_measurements, tr("Measurements"));
    m_comparison = new ComparisonTable(column);
    m_tabs->addTab(m_comparison, tr("Compare"));
    m_download = new DownloadPanel(column);
    m_tabs->addTab(m_download, tr("Download"));

    auto *tabCard = new QFrame(column);
    tabCard->setObjectName(QStringLiteral("detailCard"));
    tabCard->setProperty("card", true);
    auto *tabLayout = new QVBoxLayout(tabCard);
    tabLayout->setContentsMargins(8, 3, 8, 6);
    tabLayout->addWidget(m_tabs);

    auto *charts = new QHBoxLayout;
    charts->setSpacing(gap);
    charts->addWidget(m_resident, 9);
    charts->addWidget(m_speed, 11);

    auto *layout = new QVBoxLayout(column);
    layout->setContentsMargins(10, 10, 10, 10);
    layout->setSpacing(gap);
    layout->addWidget(m_messages);
    layout->addWidget(m_source);
    layout->addWidget(m_verdict);
    layout->addWidget(m_memory);
    layout->addLayout(charts, 5);
    layout->addWidget(tabCard, 3);
    // With large letters the column is scrolled rather than squeezed.
    const int line = fontMetrics().height();
    m_resident->setMinimumHeight(19 * line);
    tabCard->setMinimumHeight(10 * line);

    auto *scroll = new ColumnScroll(this);
    scroll->setObjectName(QStringLiteral("middleScroll"));
    scroll->setWidget(column);
    return scroll;
}

QWidget *MainWindow::makeRightColumn()
{
    auto *panel = new SidePanel(Qt::LeftEdge, this);
    panel->setObjectName(QStringLiteral("rightColumn"));
    panel->setMaximumWidth(scaled(420));

    auto *contents = new QWidget(panel);
    contents->setObjectName(QStringLiteral("rightContents"));
    m_workload = new WorkloadPanel(contents);
    m_time = new TimeBreakdown(contents);
    m_time->setObjectName(QStringLiteral("timeBreakdown"));
    m_time->setFramed(false);
    m_assumptions = new AssumptionsPanel(contents);
    auto *inner = new QVBoxLayout(contents);
    inner->setContentsMargins(16, 12, 16, 12);
    inner->setSpacing(12);
    inner->addWidget(m_workload);
    inner->addWidget(makeDivider(contents));
    inner->addWidget(m_time);
    inner->addWidget(makeDivider(contents));
    inner->addWidget(m_assumptions);
    inner->addStretch();

    auto *scroll = new ColumnScroll(panel);
    scroll->setObjectName(QStringLiteral("rightScroll"));
    scroll->setWidget(contents);
    // The column's own surface shows through.
    scroll->viewport()->setAutoFillBackground(false);
    contents->setAutoFillBackground(false);
    auto *layout = new QVBoxLayout(panel);
    layout->setContentsMargins(1, 0, 0, 0);
    layout->addWidget(scroll);
    return panel;
}

void MainWindow::makeStatusBar()
{
    m_status = new QLabel(this);
    m_status->setObjectName(QStringLiteral("statusText"));
    m_status->setProperty("role", QStringLiteral("muted"));
    m_unit = new QToolButton(this);
    m_unit->setObjectName(QStringLiteral("unitButton"));
    m_unit->setAccessibleName(tr("Unit of bytes"));
    m_unit->setAutoRaise(true);
    m_unit->setFocusPolicy(Qt::StrongFocus);
    statusBar()->setObjectName(QStringLiteral("statusBar"));
    statusBar()->setSizeGripEnabled(false);
    statusBar()->setContentsMargins(8, 0, 8, 0);
    statusBar()->addWidget(m_status);
    statusBar()->addPermanentWidget(m_unit);
}

void MainWindow::restoreSettings()
{
    m_catalog->setOrder(static_cast<CatalogFilter::Order>(m_settings.value(Setting::CatalogOrder).toInt()));
    m_catalog->setMinimumFit(static_cast<Fit>(m_settings.value(Setting::CatalogMinimumFit).toInt()));
    m_tabs->setCurrentIndex(m_settings.value(Setting::DetailTab).toInt());
    for (int section = 0; section < m_sections->count(); ++section) {
        if (m_sections->widget(section)->property("section") == m_settings.value(Setting::LeftSection))
            m_sections->setCurrentIndex(section);
    }
    m_actions->showTheme(m_settings.value(Setting::ThemeChoice).toString());
    if (!restoreGeometry(m_settings.windowGeometry()))
        resize(firstSize.boundedTo(screen()->availableSize()));
    m_columnsAreDefault = !m_columns->restoreState(m_settings.windowColumns());
    // A stored state brings its own handle width.
    m_columns->setHandleWidth(1);
    m_columns->setChildrenCollapsible(false);
}

int MainWindow::scaled(int pixels) const
{
    constexpr int usualLine = 15;
    return pixels * std::max(fontMetrics().height(), usualLine) / usualLine;
}

void MainWindow::restoreDefaultLayout()
{
    // Most of a small window belongs to the middle; no column is narrower than what it holds.
    const int left = std::min(scaled(leftWidth), width() * 22 / 100);
    const int right = std::min(scaled(rightWidth), width() * 21 / 100);
    m_columns->setSizes({left, std::max(width() - left - right, 100), right});
}

void MainWindow::showMessage(const QString &sentence, Severity severity)
{
    m_messages->showMessage(sentence, severity);
}

void MainWindow::updateMachines()
{
    std::vector<TopBar::Choice> choices;
    for (const Machine &machine : m_session.library().machines) {
        QStringList lines{toText(machine.name)};
        lines << tr("Memory: %1 nominal").arg(toText(formatBytesExactly(machine.memoryBytes)));
        if (machine.usableBytes)
            lines << tr("Visible to the system: %1")
                         .arg(toText(
                             formatBytesExactly(static_cast<std::uint64_t>(machine.usableBytes->value))));
        if (machine.bandwidthBytesPerSecond)
            lines << tr("Datasheet bandwidth: %1 GB/s")
                         .arg(QLocale::c().toString(machine.bandwidthBytesPerSecond->value / 1e9, 'f', 0));
        choices.push_back(
            {toText(machine.id), toText(machine.name), plainToolTip(lines.join(QLatin1Char('\n')))});
    }
    m_topBar->setMachines(choices);
    if (m_session.machine() != nullptr)
        m_topBar->setMachine(toText(m_session.machine()->id));
}

void MainWindow::updateEngines()
{
    const CheckpointPtr checkpoint = m_session.selectedCheckpoint();
    m_topBar->setEngineEnabled(checkpoint != nullptr);
    std::vector<TopBar::Choice> choices;
    const Engine *automatic = checkpoint ? m_session.automaticEngineFor(*checkpoint) : nullptr;
    choices.push_back({QString(),
                       automatic != nullptr ? tr("auto: %1").arg(toText(automatic->name)) : tr("auto"),
                       tr("The engine that goes with the format of the checkpoint")});
    for (const Engine &engine : m_session.library().engines)
        choices.push_back({toText(engine.id), toText(engine.name), toText(engine.name)});
    m_topBar->setEngines(choices);
    m_topBar->setEngine(m_session.engineChoice());

    const Engine *engine = checkpoint ? m_session.engineFor(*checkpoint) : nullptr;
    if (engine != nullptr)
        m_workload->setKvDtypes(engine->kvDtypes);
}

void MainWindow::updatePin()
{
    const QString id = m_session.selectedId();
    const bool pinned = m_session.isPinned(id);
    m_actions->pin->setEnabled(!id.isEmpty());
    m_actions->pin->setChecked(pinned);
    m_actions->pin->setText(pinned ? tr("Unpin") : tr("Pin"));
}

void MainWindow::updateSelection()
{
    m_catalog->setSelected(m_session.selectedId());
    updateEngines();
    updatePin();
    updateMeasurements();
    updateTitle();
}

void MainWindow::updateAssessments()
{
    const ByteUnit unit = m_session.unit();
    const std::shared_ptr<const Assessment> assessment = m_session.selectedAssessment();
    m_memory->setAssessment(assessment, unit);
    m_resident->setPins(m_session.pins(), unit);
    m_speed->setPins(m_session.pins(), unit);
    m_components->setAssessment(assessment, unit);
    m_time->setAssessment(assessment, unit);
    m_workload->setAssessment(assessment, unit);
    m_workload->setKvNote(m_session.hasKvFallback()
                              ? tr("Pinned checkpoints whose engine has no such type keep 16 bit.")
                              : QString());
    if (assessment) {
        m_verdict->setVerdict(verdictOf(*assessment, unit, m_wording));
        m_assumptions->setAssumptions(
            assumptionsOf(*assessment, m_session.engineFor(*assessment->checkpoint), unit, m_wording));
    } else {
        m_verdict->setVerdict(emptyVerdict(m_session.library().catalog->entries().empty()));
        m_assumptions->setAssumptions({});
    }
    m_actions->setHasAssessment(assessment != nullptr);
    updateComparison();
}

void MainWindow::updateMeasurements()
{
    m_measurements->setRows(m_session.measurementRows());
    const int rows = m_measurements->rowCount();
    m_tabs->setTabText(m_tabs->indexOf(m_measurements),
                       rows > 0 ? tr("Measurements %1").arg(rows) : tr("Measurements"));
    m_actions->copyMeasurements->setEnabled(rows > 0);
}

void MainWindow::updateTitle()
{
    const CheckpointPtr checkpoint = m_session.selectedCheckpoint();
    if (!checkpoint || m_session.machine() == nullptr)
        setWindowTitle(tr("Weir"));
    else // the system adds the program's name
        setWindowTitle(tr("%1 on %2").arg(checkpointTitle(*checkpoint), toText(m_session.machine()->name)));
}

void MainWindow::openPath(const QString &path)
{
    m_messages->hide();
    m_session.open(path);
}

void MainWindow::applyThemeChoice(const QString &choice)
{
    ThemeMode mode = m_systemTheme->isDark() ? ThemeMode::Dark : ThemeMode::Light;
    if (choice == QLatin1String("light"))
        mode = ThemeMode::Light;
    else if (choice == QLatin1String("dark"))
        mode = ThemeMode::Dark;
    applyTheme(*qApp, mode);
}

void MainWindow::showAbout()
{
    QMessageBox::about(
        this, tr("About Weir"),
        tr("<p><b>Weir %1</b>, the model-fit explorer</p>"
           "<p>Does a checkpoint fit, how fast will it decode, and why? A weir holds a reservoir and "
           "lets a stream over its wall; a model holds resident weights and streams a few of them for "
           "each token.</p><p>It is about inference; memory for training is out of its scope. Only what "
           "is looked for on the Hub is sent to the Hub, and nothing anywhere else.</p><p>Free software "
           "under the GNU General Public License, version 3 or "
           "later.</p>")
            .arg(QCoreApplication::applicationVersion()));
}

void MainWindow::showEvent(QShowEvent *event)
{
    if (std::exchange(m_columnsAreDefault, false))
        restoreDefaultLayout();
    QMainWindow::showEvent(event);
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    m_settings.setWindowLayout(saveGeometry(), m_columns->saveState());
    m_settings.setValue(Setting::DetailTab, m_tabs->currentIndex());
    m_settings.setValue(Setting::LeftSection, m_sections->currentWidget()->property("section"));
    m_loader.cancel();
    QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    if (!OpenField::pathOf(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent *event)
{
    const QString path = OpenField::pathOf(event->mimeData());
    if (path.isEmpty())
        return;
    event->acceptProposedAction();
    openPath(path);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
// The left column with its sections, and what the window does about the Hub.
#include "app/diskcontroller.h"
#include "app/hubaccount.h"
#include "app/hubbridge.h"
#include "app/hubcontroller.h"
#include "app/hubtokendialog.h"
#include "app/loader.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/windowactions.h"
#include "app/windowwording.h"
#include "models/items/diskmodel.h"
#include "models/items/hubmodel.h"
#include "models/items/text.h"
#include "widgets/catalogview.h"
#include "widgets/diskview.h"
#include "widgets/hubview.h"
#include "widgets/messagebar.h"
#include "widgets/sidepanel.h"
#include "widgets/sourcebar.h"

#include <QAction>
#include <QDesktopServices>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

namespace weir {

QWidget *MainWindow::makeLeftColumn()
{
    auto *panel = new SidePanel(Qt::RightEdge, this);
    panel->setObjectName(QStringLiteral("leftColumn"));
    // As wide as a line of the list is easily read.
    panel->setMaximumWidth(scaled(420));
    auto *title = new QLabel(tr("Checkpoints"), panel);
    title->setObjectName(QStringLiteral("leftTitle"));
    title->setProperty("role", QStringLiteral("title"));
    title->setContentsMargins(14, 12, 14, 2);

    m_sections = new QTabWidget(panel);
    m_sections->setObjectName(QStringLiteral("sections"));
    m_sections->setAccessibleName(tr("Where checkpoints come from"));
    m_sections->setProperty("sections", true);
    m_sections->tabBar()->setObjectName(QStringLiteral("sectionTabs"));
    m_sections->tabBar()->setAccessibleName(m_sections->accessibleName());
    m_sections->tabBar()->setExpanding(false);

    m_catalog = new CatalogView(m_session.catalogModel(), panel);
    m_hubModel = new HubModel(this);
    m_hub = new HubView(m_hubModel, panel);
    addSection(QStringLiteral("catalog"), tr("Catalog"), m_catalog);
    m_diskModel = new DiskModel(this);
    m_disk = new DiskView(m_diskModel, panel);
    addSection(QStringLiteral("hub"), tr("Hub"), m_hub);
    addSection(QStringLiteral("disk"), tr("This disk"), m_disk);

    auto *layout = new QVBoxLayout(panel);
    layout->setContentsMargins(0, 0, 1, 0);
    layout->setSpacing(0);
    layout->addWidget(title);
    layout->addWidget(m_sections, 1);
    return panel;
}

void MainWindow::addSection(const QString &id, const QString &title, QWidget *section)
{
    section->setProperty("section", id);
    m_sections->addTab(section, title);
}

bool MainWindow::isSection(const QString &id) const
{
    return m_sections->currentWidget()->property("section").toString() == id;
}

void MainWindow::connectHub()
{
    // What the environment says is not for the window to undo.
    if (m_bridge.isOffline()) {
        m_actions->workOffline->setEnabled(false);
        m_actions->workOffline->setToolTip(
            tr("The environment asks for it: unset HF_HUB_OFFLINE to go online"));
    } else if (m_settings.value(Setting::WorkOffline).toBool()) {
        m_bridge.setOffline(true);
    }
    m_actions->workOffline->setChecked(m_bridge.isOffline());

    m_hubController = new HubController(m_session, m_bridge, m_hubModel, m_hub, m_source, m_wording, this);
    connect(m_hubController, &HubController::failed, this, &MainWindow::showFailure);
    connect(m_hubController, &HubController::pageRequested, this,
            [](const QString &address) { QDesktopServices::openUrl(QUrl(address)); });
    connect(m_hub, &HubView::activated, m_messages, &QWidget::hide);
    // By hand only: a section that is remembered from the last time asks nothing by itself.
    connect(m_sections->tabBar(), &QTabBar::tabBarClicked, this, [this](int index) {
        if (index >= 0 && m_sections->widget(index) == m_hub)
            m_hubController->enter();
    });
    connect(m_sections, &QTabWidget::currentChanged, this, [this] {
        if (isVisible() && isSection(QStringLiteral("hub")))
            m_hubController->enter();
    });

    connect(m_actions->searchHub, &QAction::triggered, this, [this] {
        m_sections->setCurrentWidget(m_hub);
        m_hub->focusSearch();
    });
    connect(m_actions->focusFilter, &QAction::triggered, this, [this] {
        if (isSection(QStringLiteral("hub")))
            m_hub->focusSearch();
        else if (isSection(QStringLiteral("disk")))
            m_disk->focusFilter();
        else
            m_catalog->focusFilter();
    });
    connect(m_actions->hubAccount, &QAction::triggered, this, &MainWindow::showTokenDialog);
    connect(m_actions->workOffline, &QAction::triggered, this, [this](bool offline) {
        m_settings.setValue(Setting::WorkOffline, offline);
        m_bridge.setOffline(offline);
    });
    connect(&m_bridge, &HubBridge::offlineChanged, this, [this](bool offline) {
        m_actions->workOffline->setChecked(offline);
        m_settings.setValue(Setting::WorkOffline, offline);
        updateStatus();
    });
    connect(&m_bridge, &HubBridge::used, this, &MainWindow::updateStatus);
    connect(&m_account, &HubAccount::changed, m_hubController, [this] {
        if (!m_account.isBusy())
            m_hubController->retry();
    });
}

void MainWindow::showFailure(const QString &argument, const Error &error)
{
    std::vector<MessageBar::Action> actions;
    const std::optional<HubReference> reference = parseHubReference(argument.toStdString());
    const bool ofHub = error.id.starts_with("hub.") && reference;
    const auto again = [this, reference] { m_session.openFromHub(*reference); };
    if (ofHub && (error.kind == ErrorKind::Access || error.id == "hub.missing-or-private")) {
        actions.push_back({tr("Open Model Page"), [this, reference] {
                               QDesktopServices::openUrl(
                                   QUrl(m_bridge.pageAddress(toText(reference->repository))));
                           }});
        actions.push_back({tr("Set Token…"), [this] { showTokenDialog(); }});
    } else if (ofHub && error.kind == ErrorKind::Network && m_bridge.isOffline()) {
        if (m_actions->workOffline->isEnabled())
            actions.push_back({tr("Go Online"), [this, again] {
                                   m_bridge.setOffline(false);
                                   again();
                               }});
    } else if (ofHub && error.kind == ErrorKind::Network) {
        actions.push_back({tr("Try Again"), again});
        actions.push_back({tr("Work Offline"), [this, again] {
                               m_bridge.setOffline(true);
                               again();
                           }});
    }
    // A folder that holds several checkpoints, or some further down.
    if ((error.id == "folder.no-model" || error.id == "folder.several-gguf") && QFileInfo(argument).isDir()) {
        actions.push_back({tr("List It under This Disk"), [this, argument] {
                               m_sections->setCurrentWidget(m_disk);
                               m_diskController->addFolder(argument);
                           }});
    }
    QString text = m_wording.sentence(error);
    if (const QString facts = m_wording.facts(error); !facts.isEmpty())
        text += QLatin1Char('\n') + facts;
    m_messages->showMessage(text, Severity::Error, actions);
}

void MainWindow::showTokenDialog()
{
    auto *dialog = new HubTokenDialog(m_account, m_wording, m_bridge.hubName(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::updateRecentMenu()
{
    m_actions->recentMenu->clear();
    const QStringList paths = m_settings.recentPaths();
    for (const QString &path : paths) {
        // An ampersand in a name is no shortcut.
        QAction *action =
            m_actions->recentMenu->addAction(QString(path).replace(QLatin1Char('&'), QLatin1String("&&")));
        connect(action, &QAction::triggered, this, [this, path] {
            m_messages->hide();
            m_session.reopen(path);
        });
    }
    m_actions->recentMenu->setEnabled(!paths.isEmpty());
}

void MainWindow::updateStatus()
{
    const Catalog &catalog = *m_session.library().catalog;
    const int entries = static_cast<int>(catalog.entries().size());
    const QString catalogText =
        entries == 0 ? tr("No catalog")
                     : tr("Catalog of %1 · %n checkpoints", nullptr, entries).arg(toText(catalog.date()));
    QString network = tr("no network was used yet");
    if (m_bridge.isOffline())
        network = tr("working offline");
    else if (m_bridge.wasUsed())
        network = tr("%1 is asked for what you look for there").arg(m_bridge.hubName());
    else if (m_registryAsked)
        network = tr("a registry of Ollama's was asked");
    m_status->setText(catalogText + QStringLiteral(" · ") + network);
    const bool binary = m_session.unit() == ByteUnit::Gibibytes;
    m_unit->setText(binary ? m_actions->unitGibibytes->text() : m_actions->unitGigabytes->text());
    m_unit->setToolTip(binary ? tr("Show bytes in GB") : tr("Show bytes in GiB"));
    m_actions->showUnit(m_session.unit());
}

} // namespace weir

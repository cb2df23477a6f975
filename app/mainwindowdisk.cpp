// SPDX-License-Identifier: GPL-3.0-or-later
// What the window does about the checkpoints on this disk.
#include "app/diskcontroller.h"
#include "app/filedialog.h"
#include "app/loader.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/windowactions.h"
#include "app/windowwording.h"
#include "models/items/diskmodel.h"
#include "widgets/diskview.h"
#include "widgets/messagebar.h"

#include <QAction>
#include <QFileInfo>
#include <QTabWidget>
#include <QTimer>

namespace weir {

void MainWindow::connectDisk()
{
    m_diskController = new DiskController(DiskController::processCalls(m_session.library().catalog),
                                          m_session, m_settings, m_diskModel, m_disk, m_wording, this);
    m_disk->setOrder(static_cast<DiskFilter::Order>(m_settings.value(Setting::DiskOrder).toInt()));
    connect(m_disk, &DiskView::orderChanged, this,
            [this] { m_settings.setValue(Setting::DiskOrder, static_cast<int>(m_disk->order())); });
    connect(m_disk, &DiskView::activated, m_messages, &QWidget::hide);
    connect(&m_loader, &Loader::registryNeeded, this, [this] {
        m_registryAsked = true;
        updateStatus();
    });
    connect(m_disk, &DiskView::folderAsked, this, &MainWindow::addDiskFolder);
    connect(m_diskController, &DiskController::messageRaised, this,
            [this](const QString &sentence) { showMessage(sentence, Severity::Warning); });
    connect(m_sections, &QTabWidget::currentChanged, this, [this] {
        if (isVisible() && isSection(QStringLiteral("disk")))
            m_diskController->enter();
    });
    // Shown from the start: after the first paint.
    QTimer::singleShot(0, this, [this] {
        if (isVisible() && isSection(QStringLiteral("disk")))
            m_diskController->enter();
    });
    connect(m_actions->showDisk, &QAction::triggered, this, [this] {
        m_sections->setCurrentWidget(m_disk);
        m_diskController->enter();
        m_disk->focusFilter();
    });
    connect(m_actions->addFolder, &QAction::triggered, this, &MainWindow::addDiskFolder);
}

void MainWindow::addDiskFolder()
{
    const QString path = FileDialog::openFolder(this, tr("Add a Folder with Checkpoints"),
                                                m_settings.value(Setting::OpenFolder).toString());
    if (path.isEmpty())
        return;
    m_settings.setValue(Setting::OpenFolder, QFileInfo(path).absolutePath());
    m_sections->setCurrentWidget(m_disk);
    m_diskController->addFolder(path);
}

} // namespace weir

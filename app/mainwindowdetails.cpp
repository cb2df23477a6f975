// SPDX-License-Identifier: GPL-3.0-or-later
// What the window does about other quantizations, the comparison and the download.
#include "app/downloadcontroller.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/whatifcontroller.h"
#include "app/windowactions.h"
#include "app/windowwording.h"
#include "widgets/comparisontable.h"
#include "widgets/downloadpanel.h"
#include "widgets/topbar.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QTabWidget>

namespace weir {

void MainWindow::connectDetails()
{
    m_whatIf = new WhatIfController(m_session, m_wording, m_topBar->weightsBox(), this);
    connect(m_actions->whatIf, &QAction::triggered, m_whatIf, &WhatIfController::openDialog);
    connect(m_whatIf, &WhatIfController::failed, this,
            [this](const QString &sentence) { showMessage(sentence, Severity::Error); });
    new DownloadController(m_session, m_settings, m_download);

    connect(m_comparison, &ComparisonTable::selected, &m_session, &Session::select);
    connect(m_comparison, &ComparisonTable::pinToggled, &m_session, &Session::togglePin);
    connect(m_tabs, &QTabWidget::currentChanged, this, &MainWindow::updateComparison);
    // More siblings are there, or their numbers are new.
    connect(&m_session, &Session::badgesChanged, this, &MainWindow::updateComparison);
    connect(m_actions->copyComparison, &QAction::triggered, this,
            [this] { QApplication::clipboard()->setText(m_comparison->asText()); });
}

void MainWindow::updateComparison()
{
    // Assesses every sibling: not while nobody looks, nor twice for one step of a slider.
    if (m_tabs->currentWidget() == m_comparison)
        m_comparison->setModels(m_session.comparison(), m_session.unit(), m_session.workload().contextTokens);
}

} // namespace weir

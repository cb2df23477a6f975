// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/downloadcontroller.h"

#include "app/session.h"
#include "app/settings.h"
#include "app/whatif.h"
#include "models/items/text.h"
#include "models/sources/hub/hubsettings.h"
#include "widgets/downloadpanel.h"

#include <QApplication>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>

#include <cstdlib>

namespace weir {

namespace {

/// Where Ollama's own server keeps its models, unless it is told otherwise.
QString ollamaFolder()
{
    if (const char *folder = std::getenv("OLLAMA_MODELS"); folder != nullptr && *folder != '\0')
        return QString::fromLocal8Bit(folder);
    const char *home = std::getenv("HOME");
    return home == nullptr ? QString() : QString::fromLocal8Bit(home) + QStringLiteral("/.ollama/models");
}

QString stateOf(const Checkpoint &checkpoint, const DownloadPlan &plan, bool imagined)
{
    if (imagined)
        return DownloadController::tr(
            "This quantization is imagined: nobody may have published it. Its bytes are "
            "those of the weights; look on the Hub for one like it.");
    if (checkpoint.source == Source::Folder || checkpoint.source == Source::File)
        return DownloadController::tr("These files are on this disk.");
    if (checkpoint.source == Source::Config)
        return DownloadController::tr(
            "Only the config is here: where its weights are published is not known.");
    if (plan.command.empty())
        return DownloadController::tr(
            "Where this is published is not known here: look for its name on the Hub.");
    if (!plan.exact && !plan.byOllama)
        return DownloadController::tr(
                   "The bytes are those of the weights: open “%1” from the Hub to see the files.")
            .arg(toText(printable(checkpoint.repository)));
    return {};
}

} // namespace

DownloadController::DownloadController(Session &session, Settings &settings, DownloadPanel *panel)
    : QObject(panel)
    , m_session(session)
    , m_panel(panel)
{
    panel->setLinkMegabits(settings.value(Setting::LinkMegabits).toDouble());
    connect(panel, &DownloadPanel::linkChanged, this,
            [&settings](double megabits) { settings.setValue(Setting::LinkMegabits, megabits); });
    connect(&session, &Session::selectionChanged, this, &DownloadController::update);
    connect(&session, &Session::unitChanged, this, &DownloadController::update);
    update();
}

void DownloadController::update()
{
    DownloadFacts facts;
    if (const CheckpointPtr checkpoint = m_session.selectedCheckpoint()) {
        facts.plan = downloadPlan(*checkpoint);
        facts.state = stateOf(*checkpoint, facts.plan, whatIfOf(m_session.selectedId()).has_value());
        if (facts.plan.bytes) {
            facts.folder = facts.plan.byOllama
                               ? ollamaFolder()
                               : QString::fromStdString(hubSettings(processEnvironment()).hubCache.string());
        }
    }
    m_panel->setFacts(facts, m_session.unit());
    if (!facts.folder.isEmpty())
        askFreeBytes(facts.folder);
}

void DownloadController::askFreeBytes(const QString &folder)
{
    // A disk that sleeps or hangs behind a network answers when it does.
    QThreadPool::globalInstance()->start([panel = QPointer<DownloadPanel>(m_panel), folder] {
        const std::optional<std::uint64_t> bytes = freeBytes(folder.toStdString());
        QMetaObject::invokeMethod(
            qApp,
            [panel, folder, bytes] {
                if (panel)
                    panel->setFreeBytes(folder, bytes);
            },
            Qt::QueuedConnection);
    });
}

} // namespace weir

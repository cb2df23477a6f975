// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/diskcontroller.h"

#include "app/loader.h"
#include "app/session.h"
#include "app/settings.h"
#include "models/items/diskmodel.h"
#include "models/items/text.h"
#include "models/sources/catalog.h"
#include "models/sources/open.h"
#include "widgets/diskview.h"
#include "widgets/wording.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QFileSystemWatcher>
#include <QMetaObject>
#include <QTimer>
#include <QUndoCommand>
#include <QUrl>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace weir {

namespace {

constexpr auto changeRest = std::chrono::milliseconds(600);
constexpr qsizetype mostKept = 4000;
constexpr qsizetype mostFolders = 64;

std::vector<std::filesystem::path> pathsOf(const QStringList &folders)
{
    std::vector<std::filesystem::path> paths;
    for (const QString &folder : folders)
        paths.emplace_back(folder.toStdString());
    return paths;
}

} // namespace

/// Adding and removing a folder of the list.
class DiskController::FoldersCommand : public QUndoCommand
{
public:
    FoldersCommand(DiskController *controller, const QString &text, QStringList before, QStringList after)
        : QUndoCommand(text)
        , m_controller(controller)
        , m_before(std::move(before))
        , m_after(std::move(after))
    {}

    void redo() override { m_controller->setFolders(m_after); }
    void undo() override { m_controller->setFolders(m_before); }

private:
    DiskController *m_controller;
    QStringList m_before;
    QStringList m_after;
};

DiskController::Calls DiskController::processCalls(std::shared_ptr<const Catalog> catalog)
{
    Calls calls;
    calls.places = [](const std::vector<std::filesystem::path> &folders) {
        return diskPlaces(DiskEnvironment::fromProcess(), folders);
    };
    calls.list = [](const std::vector<DiskPlace> &places, std::stop_token stop) {
        return listDisk(places, std::move(stop));
    };
    calls.read = [catalog = std::move(catalog)](const std::string &argument, std::stop_token stop) {
        return diskOpener()(argument, *catalog, std::move(stop), {});
    };
    return calls;
}

DiskController::DiskController(Calls calls, Session &session, Settings &settings, DiskModel *model,
                               DiskView *view, const Wording &wording, QObject *parent)
    : QObject(parent)
    , m_calls(std::move(calls))
    , m_session(session)
    , m_settings(settings)
    , m_model(model)
    , m_view(view)
    , m_wording(wording)
    , m_watcher(new QFileSystemWatcher(this))
    , m_settling(new QTimer(this))
{
    m_model->setHome(QDir::homePath());
    m_settling->setSingleShot(true);
    m_settling->setInterval(changeRest);
    connect(m_settling, &QTimer::timeout, this, [this] {
        if (m_view->isVisible())
            refresh();
        else
            m_stale = true;
    });
    connect(m_watcher, &QFileSystemWatcher::directoryChanged, m_settling, qOverload<>(&QTimer::start));

    connect(view, &DiskView::activated, &session, &Session::open);
    connect(view, &DiskView::pinToggled, this, [this](const QString &reference) {
        if (m_session.selectedId() == reference)
            m_session.togglePin(reference);
        else
            m_session.open(reference);
    });
    connect(view, &DiskView::refreshRequested, this, &DiskController::refresh);
    connect(view, &DiskView::removeRequested, this, &DiskController::removeFolder);
    connect(view, &DiskView::folderDropped, this, [this](const QString &path) {
        if (QFileInfo(path).isDir())
            addFolder(path);
        else
            m_session.open(path);
    });
    connect(view, &DiskView::showInFolderRequested, this, [](const QString &path) {
        const QFileInfo file(path);
        QDesktopServices::openUrl(
            QUrl::fromLocalFile(file.isDir() ? file.absoluteFilePath() : file.absolutePath()));
    });
    connect(view, &DiskView::visibleChanged, this, &DiskController::want);

    connect(&session, &Session::selectionChanged, this,
            [this] { m_view->setSelected(m_session.selectedId()); });
    connect(&session, &Session::badgesChanged, this, [this](quint64 context) {
        m_view->setSpeedContext(context);
        applyAll();
    });
    connect(&session, &Session::unitChanged, this, [this] { m_model->setUnit(m_session.unit()); });
    m_model->setUnit(session.unit());
    m_view->setSpeedContext(session.workload().contextTokens);
}

DiskController::~DiskController() = default;

QStringList DiskController::folders() const { return m_settings.value(Setting::DiskFolders).toStringList(); }

void DiskController::enter()
{
    if (!m_scanned || std::exchange(m_stale, false))
        refresh();
}

void DiskController::refresh()
{
    m_jobs.stop(m_scan);
    m_view->setScanning(true);
    if (!m_scanned)
        m_view->showSentence(tr("Looking for checkpoints on this disk…"));
    m_scan = m_jobs.start(
        [this, calls = m_calls, folders = pathsOf(folders())](const std::stop_token &stop, quint64 number) {
            std::vector<DiskPlace> places;
            DiskListing listing;
            try {
                places = calls.places(folders);
                listing = calls.list(places, stop);
            } catch (const std::exception &problem) {
                listing.notes.push_back(
                    {"disk.failed", Severity::Error, {{"reason", std::string(problem.what())}}, {}});
            }
            QMetaObject::invokeMethod(
                this,
                [this, number, places = std::move(places), listing = std::move(listing)] {
                    onScanned(number, places, listing);
                },
                Qt::QueuedConnection);
        });
}

void DiskController::onScanned(quint64 number, const std::vector<DiskPlace> &places,
                               const DiskListing &listing)
{
    if (number != m_scan)
        return; // superseded
    m_scan = 0;
    m_scanned = true;
    m_view->setScanning(false);
    watch(listing.watched);

    // What changed is read anew; of the rest what is known stays.
    QHash<QString, Known> known;
    for (const DiskCheckpoint &checkpoint : listing.checkpoints) {
        const QString reference = toText(checkpoint.argument);
        const DiskCheckpoint *before = m_model->checkpoint(m_model->indexOf(reference));
        const auto found = m_known.constFind(reference);
        if (before != nullptr && *before == checkpoint && found != m_known.constEnd())
            known.insert(reference, *found);
    }
    m_known = std::move(known);
    m_model->setListing(places, folders(), listing);
    applyAll();
    m_view->setSelected(m_session.selectedId());

    QStringList lines;
    for (const Message &note : listing.notes)
        lines << m_wording.detail(note);
    m_view->setFooter(lines.join(QLatin1Char('\n')));
    if (m_model->checkpointCount() == 0 && m_model->rowCount() == 0) {
        m_view->showSentence(
            tr("No checkpoint was found in the places where the Hugging Face client, Ollama, LM "
               "Studio and llama.cpp keep theirs. Add the folder where yours are."));
    } else {
        m_view->showRows();
    }
    emit scanned();
}

void DiskController::watch(const std::vector<std::filesystem::path> &folders)
{
    QStringList wanted;
    for (const std::filesystem::path &folder : folders)
        wanted << QString::fromStdString(folder.string());
    QStringList gone;
    for (const QString &folder : m_watcher->directories()) {
        if (!wanted.removeOne(folder))
            gone << folder;
    }
    if (!gone.isEmpty())
        m_watcher->removePaths(gone);
    if (!wanted.isEmpty())
        m_watcher->addPaths(wanted); // what cannot be watched is seen at the next refresh
}

void DiskController::addFolder(const QString &path)
{
    const QString folder = QDir::cleanPath(QFileInfo(path).absoluteFilePath());
    const QStringList before = folders();
    if (before.contains(folder)) {
        refresh();
        return;
    }
    if (before.size() >= mostFolders) {
        emit messageRaised(tr("The list holds %1 folders already: remove one first.").arg(mostFolders));
        return;
    }
    m_session.undoStack()->push(
        new FoldersCommand(this, tr("Add Folder"), before, before + QStringList{folder}));
}

void DiskController::removeFolder(const QString &path)
{
    const QStringList before = folders();
    QStringList after = before;
    after.removeAll(path);
    if (after != before)
        m_session.undoStack()->push(new FoldersCommand(this, tr("Remove Folder"), before, after));
}

void DiskController::setFolders(const QStringList &folders)
{
    m_settings.setValue(Setting::DiskFolders, folders);
    refresh();
}

void DiskController::want(const QStringList &references)
{
    m_queue.clear();
    for (const auto &[number, reference] : m_reading) {
        if (!references.contains(reference))
            m_jobs.stop(number);
    }
    for (const QString &reference : references) {
        const bool isRead =
            std::ranges::find(m_reading, reference, &std::pair<quint64, QString>::second) != m_reading.end();
        const DiskCheckpoint *checkpoint = m_model->checkpoint(m_model->indexOf(reference));
        if (!isRead && !m_known.contains(reference) && checkpoint != nullptr && checkpoint->complete
            && !checkpoint->problem) {
            m_queue << reference;
            m_model->setPending(reference, true);
        }
    }
    readNext();
}

void DiskController::readNext()
{
    while (!m_queue.isEmpty() && m_reading.size() < parallelReads) {
        const QString reference = m_queue.takeFirst();
        const quint64 number = m_jobs.start([this, reference,
                                             read = m_calls.read](const std::stop_token &stop, quint64 own) {
            const std::string argument = reference.toStdString();
            Result<CheckpointPtr> result;
            try {
                result = read(argument, stop);
            } catch (const std::exception &problem) {
                result = fail("read.failed", ErrorKind::Unreadable, argument,
                              {{"reason", std::string(problem.what())}});
            }
            QMetaObject::invokeMethod(
                this, [this, own, reference, result = std::move(result)] { onRead(own, reference, result); },
                Qt::QueuedConnection);
        });
        m_reading.emplace_back(number, reference);
    }
}

void DiskController::onRead(quint64 number, const QString &reference, const Result<CheckpointPtr> &result)
{
    std::erase_if(m_reading, [number](const auto &job) { return job.first == number; });
    m_model->setPending(reference, false);
    const bool stopped = !result && result.error().id == "cancelled"; // it left the screen
    if (!stopped) {
        if (m_known.size() >= mostKept)
            m_known.clear();
        Known &known = m_known[reference];
        if (result)
            known.checkpoint = *result;
        else
            known.failure = result.error();
        apply(reference);
    }
    readNext();
}

void DiskController::apply(const QString &reference)
{
    CatalogResult result;
    const auto known = m_known.constFind(reference);
    const DiskCheckpoint *facts = m_model->checkpoint(m_model->indexOf(reference));
    if (facts == nullptr)
        return;
    if (known != m_known.constEnd() && known->checkpoint)
        result = m_session.resultOf(known->checkpoint);
    else if (known != m_known.constEnd() && known->failure)
        result.why = m_wording.sentence(*known->failure);
    else if (facts->problem)
        result.why = m_wording.detail(*facts->problem);
    m_model->setResult(reference, result);
}

void DiskController::applyAll()
{
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QModelIndex place = m_model->index(row, 0);
        for (int child = 0; child < m_model->rowCount(place); ++child)
            apply(m_model->index(child, 0, place).data(ReferenceRole).toString());
    }
}

} // namespace weir

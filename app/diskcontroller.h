// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/jobs.h"
#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <QHash>
#include <QObject>
#include <QStringList>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

class QFileSystemWatcher;
class QTimer;

namespace weir {

class Catalog;
struct DiskListing;
struct DiskPlace;
class DiskModel;
class DiskView;
class Session;
class Settings;
class Wording;

/// Fills the section "This disk": looks through the disk on a thread when the section is shown, when one of the
/// folders changes, and when asked to; reads the headers of what is on screen for its badge; keeps the folders
/// that the user added. Nothing is looked at before the section is shown. What is passed in outlives it. GUI thread.
class DiskController : public QObject
{
    Q_OBJECT

public:
    /// Checkpoints whose headers are read for badges alone.
    static constexpr int parallelReads = 2;

    /// Looks through the disk; tests put another in its place.
    struct Calls
    {
        std::function<std::vector<DiskPlace>(const std::vector<std::filesystem::path> &folders)> places;
        std::function<DiskListing(const std::vector<DiskPlace> &places, std::stop_token stop)> list;
        /// Reads a checkpoint of this disk without asking any network.
        std::function<Result<CheckpointPtr>(const std::string &argument, std::stop_token stop)> read;
    };
    static Calls processCalls(std::shared_ptr<const Catalog> catalog);

    DiskController(Calls calls, Session &session, Settings &settings, DiskModel *model, DiskView *view,
                   const Wording &wording, QObject *parent = nullptr);
    ~DiskController() override;

    /// The section is shown: looks through the disk unless that was done and is watched.
    void enter();
    void refresh();
    /// Adds a folder to the list; can be undone.
    void addFolder(const QString &path);
    void removeFolder(const QString &path);

    QStringList folders() const;
    bool isIdle() const { return m_scan == 0 && m_reading.empty() && m_queue.isEmpty(); }

signals:
    /// The list is that of the disk as it is now.
    void scanned();
    void messageRaised(const QString &sentence);

private:
    class FoldersCommand;

    void setFolders(const QStringList &folders);
    void onScanned(quint64 number, const std::vector<DiskPlace> &places, const DiskListing &listing);
    void watch(const std::vector<std::filesystem::path> &folders);
    void want(const QStringList &references);
    void readNext();
    void onRead(quint64 number, const QString &reference, const Result<CheckpointPtr> &result);
    void apply(const QString &reference);
    void applyAll();

    struct Known
    {
        CheckpointPtr checkpoint;
        std::optional<Error> failure;
    };

    Calls m_calls;
    Session &m_session;
    Settings &m_settings;
    DiskModel *m_model;
    DiskView *m_view;
    const Wording &m_wording;
    QFileSystemWatcher *m_watcher = nullptr;
    QTimer *m_settling = nullptr; ///< a change comes in many parts
    quint64 m_scan = 0; ///< the look whose answer counts; 0: none runs
    bool m_scanned = false;
    bool m_stale = false; ///< something changed while the section was hidden
    QHash<QString, Known> m_known;
    QStringList m_queue;
    std::vector<std::pair<quint64, QString>> m_reading;
    Jobs m_jobs; ///< last: its threads end before what they use
};

} // namespace weir

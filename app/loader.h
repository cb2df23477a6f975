// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/jobs.h"
#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/hub/hubtypes.h"
#include "models/sources/open.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <stop_token>

namespace weir {

class Catalog;
class Hub;

/// The one bridge between blocking readers and the window: runs them on threads of its own and turns
/// what they say into signals on the GUI thread, where it lives. A new request to open supersedes the
/// one before; what that still delivers is dropped by its number. The destructor cancels and joins.
class Loader : public QObject
{
    Q_OBJECT

public:
    /// As openCheckpoint(); tests put a slow or a failing one in its place.
    using Opener =
        std::function<Result<CheckpointPtr>(std::string_view argument, const Catalog &catalog,
                                            std::stop_token stop, const ProgressCallback &progress)>;

    explicit Loader(std::shared_ptr<const Catalog> catalog, QObject *parent = nullptr);
    ~Loader() override;

    /// Reads a checkpoint of the Hub.
    using HubReader = std::function<Result<CheckpointPtr>(const HubReference &reference, std::stop_token stop,
                                                          const ProgressCallback &progress)>;

    void setOpener(Opener opener) { m_opener = std::move(opener); }
    /// Asked where the opener says "ollama.not-here": see registryOpener(). None: no registry is asked.
    void setRegistryOpener(Opener opener) { m_registryOpener = std::move(opener); }
    /// `cached` reads from the caches alone. Without readers nothing of the Hub opens.
    void setHubReaders(HubReader live, HubReader cached);

    /// Reads what the user named. Ends in exactly one of opened, failed or cancelled, unless superseded.
    void open(const QString &argument);
    /// The same from this disk and the catalog alone: what was open the last time asks no network.
    void openFromDisk(const QString &argument);
    /// The same for a checkpoint of the Hub, even where the catalog has one of that name; its argument is
    /// hubReferenceText().
    void openFromHub(const HubReference &reference);
    void cancel();
    bool isOpening() const { return m_opening; }

    /// Reads catalog entries one after the other, in this order, beside whatever is being opened.
    void loadEntries(const QStringList &ids);
    /// Reads what was open the last time out of the caches, without the network and beside all the rest.
    void restoreFromHub(const QStringList &references);

signals:
    /// The Hub is about to be asked.
    void hubNeeded();
    /// A registry of Ollama's is being asked.
    void registryNeeded();
    void started(const QString &argument);
    /// `total` is 0 as long as it is unknown.
    void progress(int done, int total, const QString &file);
    void opened(const QString &argument, const weir::CheckpointPtr &checkpoint);
    void failed(const QString &argument, const weir::Error &error);
    void cancelled(const QString &argument);

    void entryLoaded(const QString &id, const weir::CheckpointPtr &checkpoint);
    void entryFailed(const QString &id, const weir::Error &error);
    void entriesFinished();
    void restored(const QString &reference, const weir::CheckpointPtr &checkpoint);
    void restoreFailed(const QString &reference, const weir::Error &error);
    void restoreFinished();

private:
    using Read = std::function<Result<CheckpointPtr>(std::stop_token stop, const ProgressCallback &progress)>;

    void startOpening(const QString &argument, Read read);
    void finishOpening(quint64 number, const QString &argument, const Result<CheckpointPtr> &result);

    std::shared_ptr<const Catalog> m_catalog;
    Opener m_opener;
    Opener m_registryOpener;
    HubReader m_hubReader;
    HubReader m_hubCacheReader;
    quint64 m_openNumber = 0; ///< the request whose answer counts
    bool m_opening = false;
    QString m_argument;
    Jobs m_jobs; ///< last: its threads end before what they use
};

/// Opens from this disk, from the catalog, and Ollama's names from the stores on this disk.
Loader::Opener diskOpener();
/// Opens Ollama's names from their registry (those that mean the Hub from there), unless the Hub's client is offline.
Loader::Opener registryOpener(std::shared_ptr<Hub> hub);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/open.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace weir {

class Catalog;

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

    void setOpener(Opener opener) { m_opener = std::move(opener); }

    /// Reads what the user named. Ends in exactly one of opened, failed or cancelled, unless superseded.
    void open(const QString &argument);
    void cancel();
    bool isOpening() const { return m_opening; }

    /// Reads catalog entries one after the other, in this order, beside whatever is being opened.
    void loadEntries(const QStringList &ids);

signals:
    void started(const QString &argument);
    /// `total` is 0 as long as it is unknown.
    void progress(int done, int total, const QString &file);
    void opened(const QString &argument, const weir::CheckpointPtr &checkpoint);
    void failed(const QString &argument, const weir::Error &error);
    void cancelled(const QString &argument);

    void entryLoaded(const QString &id, const weir::CheckpointPtr &checkpoint);
    void entryFailed(const QString &id, const weir::Error &error);
    void entriesFinished();

private:
    struct Job
    {
        quint64 number = 0;
        std::jthread thread;
    };

    void startJob(std::function<void(std::stop_token, quint64)> work);
    void reap(quint64 number);
    void finishOpening(quint64 number, const QString &argument, const Result<CheckpointPtr> &result);

    std::shared_ptr<const Catalog> m_catalog;
    Opener m_opener;
    std::vector<Job> m_jobs;
    quint64 m_lastNumber = 0;
    quint64 m_openNumber = 0; ///< the request whose answer counts
    bool m_opening = false;
    QString m_argument;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/jobs.h"
#include "models/base/error.h"
#include "models/sources/hub/hubsettings.h"
#include "models/sources/hub/hubtypes.h"
#include "models/sources/open.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace weir {

class Hub;
class Loader;

/// What the window asks a Hub client for. Calls may block and may run at the same time, as those of `Hub`
/// do; tests put others in their place.
struct HubCalls
{
    std::function<Result<HubPage>(const HubQuery &, std::stop_token)> search;
    std::function<Result<HubPage>(const HubPage &, std::stop_token)> more;
    std::function<Result<HubRepository>(const HubReference &, std::stop_token)> list;
    std::function<Result<std::vector<std::string>>(const std::string &repository, std::stop_token)> revisions;
    std::function<Result<CheckpointPtr>(const HubReference &, std::stop_token, const ProgressCallback &)>
        read;
    /// As `read`, from the caches alone.
    std::function<Result<CheckpointPtr>(const HubReference &, std::stop_token, const ProgressCallback &)>
        readCached;
    std::function<HubSettings()> settings;
    std::function<void(std::string token, std::string origin)> setToken;
    std::function<void(bool)> setOffline;
};

/// Those of a client.
HubCalls hubCalls(std::shared_ptr<Hub> hub);

/// The bridge between a blocking Hub client and the window: searches, listings and revisions on threads, as
/// signals on the GUI thread, where it lives. A new search supersedes the one before, which is stopped, and
/// what it still delivers is dropped by its number. Checkpoints are opened by the Loader.
class HubBridge : public QObject
{
    Q_OBJECT

public:
    explicit HubBridge(HubCalls calls, QObject *parent = nullptr);
    ~HubBridge() override;

    const HubCalls &calls() const { return m_calls; }
    /// Lets a loader open checkpoints of the Hub; the bridge outlives it.
    void serve(Loader &loader);

    /// Run once, before the first request of all: the token of the keyring is fetched then.
    void setPreparation(std::function<void()> prepare) { m_prepare = std::move(prepare); }
    /// Blocking calls wait for this on their thread before they begin; it returns soon after a stop.
    void setGate(std::function<void(std::stop_token)> gate) { m_gate = std::move(gate); }

    bool isOffline() const;
    void setOffline(bool offline);
    /// "huggingface.co", or host and port of another endpoint.
    QString hubName() const;
    /// The page of a repository, for a browser.
    QString pageAddress(const QString &repository) const;
    /// True once anything was asked that is not answered from caches alone.
    bool wasUsed() const { return m_used; }

    /// Answered by exactly one pageFound or searchFailed of the number returned, unless superseded.
    quint64 search(const HubQuery &query);
    /// The page after `page`; answered the same way.
    quint64 more(const HubPage &page);
    void cancelSearch();
    bool isSearching() const { return m_searchNumber != 0; }

    /// Answered by listed or listFailed. A reference that is being listed is not asked for again.
    void list(const HubReference &reference);
    /// Answered by revisionsFound or revisionsFailed.
    void revisions(const QString &repository);

    /// Makes ready for a request that somebody else is about to start.
    void prepare();
    /// `calls()` for threads, behind the gate. prepare() has to be called first, here.
    HubCalls gatedCalls() const;

signals:
    void pageFound(quint64 number, const weir::HubPage &page);
    void searchFailed(quint64 number, const weir::Error &error);
    void listed(const weir::HubReference &reference, const weir::HubRepository &repository);
    void listFailed(const weir::HubReference &reference, const weir::Error &error);
    void revisionsFound(const QString &repository, const QStringList &revisions);
    void revisionsFailed(const QString &repository, const weir::Error &error);
    void offlineChanged(bool offline);
    /// The first request of all is about to be made.
    void used();

private:
    quint64 startSearch(std::function<Result<HubPage>(std::stop_token)> ask);

    HubCalls m_calls;
    std::function<void()> m_prepare;
    std::function<void(std::stop_token)> m_gate;
    bool m_used = false;
    quint64 m_searchNumber = 0; ///< the request whose answer counts; 0: none runs
    QStringList m_listing;
    Jobs m_jobs; ///< last: its threads end before what they use
};

} // namespace weir

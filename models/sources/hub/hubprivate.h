// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/hub/http.h"
#include "models/sources/hub/hub.h"
#include "models/sources/hub/hubapi.h"
#include "models/sources/hub/hubcache.h"
#include "models/sources/hub/hubchoice.h"
#include "models/sources/hub/hubstore.h"
#include "models/sources/repositoryfiles.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir {

/// What a revision is, and whether the Hub said so just now.
struct HubState
{
    HubInfo info;
    bool asked = true;
};

class Hub::Private
{
public:
    explicit Private(HubSettings given);

    HubSettings settings() const;
    void setToken(std::string token, std::string origin)
    {
        const std::lock_guard lock(m_mutex);
        m_settings.token = std::move(token);
        m_settings.tokenOrigin = std::move(origin);
    }
    void setOffline(bool offline)
    {
        const std::lock_guard lock(m_mutex);
        m_settings.offline = offline;
    }

    static Result<void> checkUsable(const HubSettings &settings, const std::string &subject, bool network);

    /// One answer of the API with status 200.
    Result<HttpResponse> ask(const HubSettings &settings, const std::string &url, const HubSubject &subject,
                             std::stop_token stop);
    /// The commit of a revision: from the Hub, or as it was last where the Hub cannot be asked.
    Result<HubState> state(const HubSettings &settings, const HubReference &reference,
                           const std::stop_token &stop);
    Result<std::vector<HubFile>> tree(const HubSettings &settings, const HubInfo &info,
                                      const HubReference &reference, std::stop_token stop);
    Result<HubPage> page(const HubSettings &settings, const std::string &url, const std::string &text,
                         std::stop_token stop);

    Result<CheckpointPtr> read(const HubReference &reference, const std::string &preferred,
                               const std::stop_token &stop, const ProgressCallback &progress);

    /// Writes to the cache beside what goes on; one such work at a time.
    void saveLater(std::function<void()> work);
    void finishSaving();

    mutable std::mutex m_mutex; ///< of settings and the making of the client
    HubSettings m_settings;
    HubCache m_cache;
    std::unique_ptr<HttpClient> m_client; ///< made when first needed
    std::mutex m_savingMutex;
    std::jthread m_saving;

private:
    HttpClient &client();
    Result<HubInfo> info(const HubSettings &settings, const HubReference &reference, std::stop_token stop);
    static Result<std::string> nextPage(const HubSettings &settings, const std::string &url,
                                        const HttpResponse &response, const std::string &subject);
    Result<Checkpoint> readFrom(const HubSettings &settings, const HubState &state,
                                const HubReference &reference, const std::string &preferred,
                                const std::stop_token &stop, const ProgressCallback &progress);
};

} // namespace weir

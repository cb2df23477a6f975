// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/hub/hubsettings.h"
#include "models/sources/hub/hubtypes.h"
#include "models/sources/open.h"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace weir {

/// A read-only client of the Hub's metadata over one connection pool (one thread runs it). Calls block, may
/// come from any thread and at the same time, and end soon after a stop is requested (error "cancelled").
/// Errors say which of: gated, private or missing, renamed, revision missing, bad token, rate limited,
/// offline, unreachable, too slow, broken answer (ErrorKind Access, NotFound or Network; ids "hub.…").
class Hub
{
public:
    explicit Hub(HubSettings settings);
    ~Hub();
    Hub(const Hub &) = delete;
    Hub &operator=(const Hub &) = delete;

    /// A copy, because the window may change token and offline mode while requests run.
    HubSettings settings() const;
    void setToken(std::string token, std::string origin);
    void setOffline(bool offline);

    Result<HubPage> search(const HubQuery &query, std::stop_token stop);
    /// The page after `page`; its `next` must be of the same origin.
    Result<HubPage> more(const HubPage &page, std::stop_token stop);

    /// Files and choices of one revision.
    Result<HubRepository> list(const HubReference &reference, std::stop_token stop);
    /// Branches and tags.
    Result<std::vector<std::string>> revisions(const std::string &repository, std::stop_token stop);

    /// Reads config, index and the headers of all weight files of the choice (GGUF repositories with several
    /// quantizations and no choice: the preferred one, Q4_K_M, else the first, with a note that names the others).
    Result<CheckpointPtr> read(const HubReference &reference, std::stop_token stop,
                               const ProgressCallback &progress = {}, const std::string &preferred = {});

private:
    class Private;
    std::unique_ptr<Private> d;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"
#include "models/sources/hub/hubapi.h"
#include "models/sources/hub/hubcache.h"
#include "models/sources/hub/hubtypes.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// What of the Hub is kept, and as what: a thin layer of types over HubCache. All of it but the state of a branch
/// is true for ever, since it is kept by commit.
class HubStore
{
public:
    HubStore(HubCache &cache, std::string endpoint)
        : m_cache(cache)
        , m_endpoint(std::move(endpoint))
    {}

    /// What a revision was when it was last asked for.
    std::optional<HubInfo> info(const std::string &repository, const std::string &revision);
    void keepInfo(const std::string &repository, const std::string &revision, const HubInfo &info);

    std::optional<std::vector<HubFile>> listing(const HubInfo &info);
    void keepListing(const HubInfo &info, const std::vector<HubFile> &files);

    /// Beginnings of files and small texts, as they were read.
    using Bytes = std::map<std::string, std::string>;
    Bytes bytes(const HubInfo &info, const char *kind, const std::string &choice);
    void keepBytes(const HubInfo &info, const char *kind, const std::string &choice, const Bytes &bytes);

    /// The finished checkpoint; only that of the program that wrote it, since another may sort tensors otherwise.
    std::optional<Checkpoint> checkpoint(const HubInfo &info, const std::string &choice);
    void keepCheckpoint(const HubInfo &info, const std::string &choice, const Checkpoint &checkpoint);

private:
    HubCache &m_cache;
    const std::string m_endpoint;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/standinserver.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weir::test {

/// A stand-in for Ollama's registry: serves the manifests and blobs of a store, the blobs by a redirect (307) to a
/// second server on another port, in parts. Keeps what was asked.
class StandInRegistry
{
public:
    explicit StandInRegistry(std::filesystem::path store);

    std::string endpoint() const { return m_registry->origin(); }
    std::string blobsEndpoint() const { return m_blobs->origin(); }
    /// "127.0.0.1:port", as in a model's name.
    std::string host() const { return endpoint().substr(std::string("http://").size()); }

    /// From now on every request is answered with this; 0: as it should be. `retryAfter` in seconds, -1: none.
    void setStatus(int status, int retryAfter = -1);
    /// Where blobs are said to be, instead of at the second server.
    void setBlobsAt(std::string url);
    /// What a manifest is, instead of the true one.
    void setManifest(std::string text);

    std::vector<SeenRequest> requests() const;
    std::uint64_t bytesSent() const;

private:
    void answer(const SeenRequest &request, StandInServer::Connection &connection, bool blobs);
    StandInResponse respond(const SeenRequest &request, bool blobs);
    StandInResponse blob(const SeenRequest &request, const std::string &hex) const;

    std::filesystem::path m_store;
    mutable std::mutex m_mutex;
    int m_status = 0;
    int m_retryAfter = -1;
    std::string m_blobsAt;
    std::string m_manifest;
    std::vector<SeenRequest> m_seen;
    std::uint64_t m_sent = 0;
    std::unique_ptr<StandInServer> m_registry;
    std::unique_ptr<StandInServer> m_blobs;
};

} // namespace weir::test

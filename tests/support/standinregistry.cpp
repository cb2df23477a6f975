// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/standinregistry.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace weir::test {

namespace fs = std::filesystem;

StandInRegistry::StandInRegistry(fs::path store)
    : m_store(std::move(store))
    , m_registry(std::make_unique<StandInServer>(
          [this](const SeenRequest &request, StandInServer::Connection &connection) {
              answer(request, connection, false);
          }))
    , m_blobs(std::make_unique<StandInServer>(
          [this](const SeenRequest &request, StandInServer::Connection &connection) {
              answer(request, connection, true);
          }))
{}

void StandInRegistry::setStatus(int status, int retryAfter)
{
    const std::lock_guard lock(m_mutex);
    m_status = status;
    m_retryAfter = retryAfter;
}

void StandInRegistry::setBlobsAt(std::string url)
{
    const std::lock_guard lock(m_mutex);
    m_blobsAt = std::move(url);
}

void StandInRegistry::setManifest(std::string text)
{
    const std::lock_guard lock(m_mutex);
    m_manifest = std::move(text);
}

std::vector<SeenRequest> StandInRegistry::requests() const
{
    const std::lock_guard lock(m_mutex);
    return m_seen;
}

std::uint64_t StandInRegistry::bytesSent() const
{
    const std::lock_guard lock(m_mutex);
    return m_sent;
}

void StandInRegistry::answer(const SeenRequest &request, StandInServer::Connection &connection, bool blobs)
{
    StandInResponse response;
    {
        const std::lock_guard lock(m_mutex);
        m_seen.push_back(request);
        m_seen.back().cdn = blobs;
        response = respond(request, blobs);
        m_sent += response.length();
    }
    connection.send(request, response);
}

StandInResponse StandInRegistry::respond(const SeenRequest &request, bool blobs)
{
    StandInResponse response;
    if (m_status != 0) {
        response.status = m_status;
        if (m_retryAfter >= 0)
            response.set("Retry-After", std::to_string(m_retryAfter));
        response.body = R"({"errors":[{"code":"NO"}]})";
        return response;
    }
    const std::string path = request.path();
    if (blobs)
        return blob(request, path.substr(1));
    response.status = 404;
    if (!path.starts_with("/v2/"))
        return response;
    const std::string name = path.substr(4);
    if (const std::size_t at = name.find("/manifests/"); at != std::string::npos) {
        const fs::path file = m_store / "manifests" / "registry.ollama.ai" / name.substr(0, at)
                              / name.substr(at + std::string("/manifests/").size());
        if (!fs::is_regular_file(file))
            return response;
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        response.status = 200;
        response.body = m_manifest.empty() ? text.str() : m_manifest;
        response.set("Content-Type", request.header("accept"));
        return response;
    }
    if (const std::size_t at = name.find("/blobs/sha256:"); at != std::string::npos) {
        response.status = 307;
        const std::string hex = name.substr(at + std::string("/blobs/sha256:").size());
        response.set("Location", m_blobsAt.empty() ? m_blobs->origin() + '/' + hex : m_blobsAt);
    }
    return response;
}

StandInResponse StandInRegistry::blob(const SeenRequest &request, const std::string &hex) const
{
    StandInResponse response;
    const fs::path file = m_store / "blobs" / ("sha256-" + hex);
    if (hex.find('/') != std::string::npos || !fs::is_regular_file(file)) {
        response.status = 404;
        return response;
    }
    response.file = file;
    response.bytes = fs::file_size(file);
    const std::string range = request.header("range");
    if (!range.starts_with("bytes="))
        return response;
    const std::uint64_t whole = response.bytes;
    const std::uint64_t first = std::strtoull(range.c_str() + 6, nullptr, 10);
    const std::uint64_t last =
        std::min(whole - 1, std::uint64_t{std::strtoull(range.c_str() + range.find('-') + 1, nullptr, 10)});
    response.status = 206;
    response.offset = first;
    response.bytes = last - first + 1;
    response.set("Content-Range",
                 "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' + std::to_string(whole));
    return response;
}

} // namespace weir::test

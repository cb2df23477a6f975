// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace weir {

/// How the Hub is reached. Made from the environment as the official client reads it, changed by the window.
struct HubSettings
{
    std::string endpoint = "https://huggingface.co"; ///< no slash at the end
    std::string token;                               ///< empty: anonymous. Never logged, never stored by us
    std::string tokenOrigin;                         ///< where it came from, for people: "HF_TOKEN", a path
    bool offline = false;                            ///< caches only, no connection is made
    std::filesystem::path hubCache;                  ///< the official client's cache; read, never written
    std::filesystem::path metadataCache;             ///< our own, of headers and listings; empty: none
    std::string caBundle;                            ///< PEM file or folder; empty: the system's
    std::string httpProxy;                           ///< for http:// addresses; empty: none
    std::string httpsProxy;                          ///< for https:// addresses
    std::string noProxy;                             ///< hosts that are reached without one
    std::string userAgent;
    std::chrono::milliseconds connectTimeout{10'000};
    std::chrono::milliseconds stallTimeout{10'000}; ///< no byte for this long: the request has failed
    unsigned connections = 20;
    unsigned tries = 5; ///< of a request that may be repeated; 1 s doubling to 8 s between them
    std::chrono::milliseconds retryDelay{1'000};
    std::uint64_t cacheBytes = 512U << 20U; ///< what the metadata cache may hold
    std::string problem;                    ///< why the endpoint cannot be used; empty: it can
};

/// Looks up a variable; tests pass a map.
using Environment = std::function<std::optional<std::string>(const char *name)>;
Environment processEnvironment();

/// Reads HF_ENDPOINT, HF_TOKEN (HUGGING_FACE_HUB_TOKEN, HF_TOKEN_PATH, token file), HF_HOME, HF_HUB_CACHE,
/// HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE, HF_HUB_DISABLE_IMPLICIT_TOKEN, the CA bundle and the proxy variables
/// with the meaning and the order of the official client.
HubSettings hubSettings(const Environment &environment);

} // namespace weir

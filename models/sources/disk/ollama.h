// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/disk/ollamaname.h"
#include "models/sources/hub/hubsettings.h"
#include "models/sources/open.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace weir {

class HttpClient;

struct OllamaSettings
{
    std::vector<std::filesystem::path> stores; ///< looked through in this order
    std::string registry = "https://registry.ollama.ai"; ///< of names without a host; no slash at the end
    HubSettings connection; ///< proxies, certificates, times; its token is sent nowhere
};

/// The stores of DiskEnvironment, and the registry of WEIR_OLLAMA_REGISTRY if that is set.
OllamaSettings ollamaSettings(const Environment &environment);

/// Models by Ollama's names: from the stores on this disk, or the headers of what a registry holds. Calls block and
/// may come from any thread.
class Ollama
{
public:
    explicit Ollama(OllamaSettings settings);
    ~Ollama();
    Ollama(const Ollama &) = delete;
    Ollama &operator=(const Ollama &) = delete;

    const OllamaSettings &settings() const { return m_settings; }

    /// From the first store that has a manifest of that name; empty if none has.
    std::optional<Result<CheckpointPtr>> readLocal(const OllamaName &name, std::stop_token stop,
                                                   const ProgressCallback &progress) const;

    /// From a registry, over https (over http if the host is this machine): the manifest and the beginnings of the
    /// blobs, no weights. Errors: "ollama.registry-missing", "-denied", "-busy", "-failed", "-unreachable", "ollama.bad-registry",
    /// "ollama.remote" and those of HttpClient.
    Result<CheckpointPtr> readRegistry(const OllamaName &name, std::stop_token stop,
                                       const ProgressCallback &progress);

private:
    HttpClient &client();

    const OllamaSettings m_settings;
    std::mutex m_mutex;
    std::unique_ptr<HttpClient> m_client; ///< made when first needed
};

} // namespace weir

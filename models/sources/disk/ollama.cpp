// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/ollama.h"

#include "models/base/ascii.h"
#include "models/base/sha256.h"
#include "models/base/units.h"
#include "models/sources/disk/disk.h"
#include "models/sources/disk/ollamafiles.h"
#include "models/sources/disk/ollamastore.h"
#include "models/sources/hub/http.h"
#include "models/sources/hub/hubapi.h"
#include "models/sources/hub/hubfiles.h"
#include "models/sources/hub/weburl.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view manifestType = "application/vnd.docker.distribution.manifest.v2+json";

/// What an answer of a registry that is no success means.
Error registryError(const HttpResponse &response, const std::string &subject, const std::string &host)
{
    const auto status = static_cast<std::uint64_t>(response.status);
    switch (response.status) {
    case 401:
    case 403:
        return Error{
            "ollama.registry-denied", ErrorKind::Access, subject, {{"host", host}, {"status", status}}};
    case 404: return Error{"ollama.registry-missing", ErrorKind::NotFound, subject, {{"host", host}}};
    case 429:
        if (response.waitSeconds) {
            return Error{"ollama.registry-busy-until",
                         ErrorKind::Network,
                         subject,
                         {{"host", host}, {"seconds", *response.waitSeconds}}};
        }
        return Error{"ollama.registry-busy", ErrorKind::Network, subject, {{"host", host}}};
    default: break;
    }
    return Error{"ollama.registry-failed", ErrorKind::Network, subject, {{"host", host}, {"status", status}}};
}

bool isUsable(const std::string &registry)
{
    return webOrigin(registry).has_value() && !schemeOf(registry).empty()
           && registry.find_first_of("?#") == std::string::npos;
}

} // namespace

OllamaSettings ollamaSettings(const Environment &environment)
{
    OllamaSettings settings;
    settings.stores = DiskEnvironment::from(environment).ollamaStores;
    settings.connection = hubSettings(environment);
    if (auto registry = environment("WEIR_OLLAMA_REGISTRY"); registry && !registry->empty()) {
        while (registry->ends_with('/'))
            registry->pop_back();
        settings.registry = *std::move(registry);
    }
    return settings;
}

Ollama::Ollama(OllamaSettings settings)
    : m_settings(std::move(settings))
{}

Ollama::~Ollama() = default;

HttpClient &Ollama::client()
{
    const std::lock_guard lock(m_mutex);
    if (!m_client)
        m_client = std::make_unique<HttpClient>(httpOptions(m_settings.connection));
    return *m_client;
}

std::optional<Result<CheckpointPtr>> Ollama::readLocal(const OllamaName &name, std::stop_token stop,
                                                       const ProgressCallback &progress) const
{
    for (const fs::path &store : m_settings.stores) {
        const fs::path manifest = store / "manifests" / name.path();
        std::error_code error;
        if (!fs::exists(fs::symlink_status(manifest, error)))
            continue;
        Result<Checkpoint> read = readOllamaModel(store, {name, manifest}, stop, progress);
        if (!read)
            return std::unexpected(read.error());
        read->id = "ollama:" + name.shortest();
        return std::make_shared<const Checkpoint>(*std::move(read));
    }
    return std::nullopt;
}

Result<CheckpointPtr> Ollama::readRegistry(const OllamaName &name, std::stop_token stop,
                                           const ProgressCallback &progress)
{
    std::string base = m_settings.registry;
    if (asciiLower(name.host) != OllamaName::defaultHost) {
        const auto origin = webOrigin("http://" + name.host);
        const bool own = origin && isPrivateHost(origin->host)
                         && (origin->host == "localhost" || origin->host.starts_with("127."));
        base = (own ? "http://" : "https://") + name.host;
    }
    if (!isUsable(base))
        return fail("ollama.bad-registry", ErrorKind::Usage, base);
    const std::string subject = name.shortest();
    const std::string host = schemeOf(base) + "://" + webOrigin(base)->host;
    const std::string root = fmt::format("{}/v2/{}/{}", base, urlQuoted(name.space), urlQuoted(name.model));

    HttpRequest request;
    request.url = root + "/manifests/" + urlQuoted(name.tag);
    request.accept = manifestType;
    request.limit = maxOllamaManifestBytes;
    request.subject = subject;
    const Result<HttpResponse> answer = client().get(std::move(request), stop);
    if (!answer) {
        // What the client advises for these two is about the Hub.
        const std::string &id = answer.error().id;
        if (!id.ends_with(".dns") && !id.ends_with(".unreachable"))
            return std::unexpected(answer.error());
        return fail("ollama.registry-unreachable", ErrorKind::Network, subject, {{"host", host}});
    }
    if (answer->status != 200)
        return std::unexpected(registryError(*answer, subject, host));
    const Result<OllamaManifest> manifest = readOllamaManifest(answer->body, subject);
    if (!manifest)
        return std::unexpected(manifest.error());

    std::vector<ListedFile> blobs;
    for (const OllamaLayer &layer : manifest->layers) {
        if (layer.kind != OllamaLayerKind::Other)
            blobs.push_back({ollamaBlobName(layer), layer.bytes});
    }
    if (!manifest->config.digest.empty())
        blobs.push_back({ollamaBlobName(manifest->config), manifest->config.bytes});
    std::sort(blobs.begin(), blobs.end(),
              [](const ListedFile &a, const ListedFile &b) { return a.path < b.path; });
    HubPlace place;
    place.endpoint = base;
    place.repository = subject;
    place.address = [root](const std::string &blob) { // "sha256-…"
        return root + "/blobs/sha256:" + blob.substr(std::min<std::size_t>(blob.size(), 7));
    };
    place.refusal = [host](const HttpResponse &response, const std::string &what) {
        return registryError(response, what, host);
    };
    HubFiles files(client(), std::move(place), std::move(blobs));

    OllamaConfig config;
    if (!manifest->config.digest.empty()) {
        const std::string blob = ollamaBlobName(manifest->config);
        const Result<std::string> text = files.text(blob, maxOllamaConfigBytes, stop);
        if (!text)
            return std::unexpected(text.error());
        Result<OllamaConfig> parsed = readOllamaConfig(*text, subject);
        if (!parsed)
            return std::unexpected(parsed.error());
        config = *std::move(parsed);
    }
    if (!config.remoteHost.empty())
        return fail("ollama.remote", ErrorKind::Unreadable, subject, {{"host", config.remoteHost}});
    Result<Checkpoint> read = readOllamaLayers(files, *manifest, config, subject, stop, progress);
    if (!read)
        return std::unexpected(read.error());
    read->source = Source::Ollama;
    read->revision = "sha256:" + sha256Hex(answer->body);
    read->ollama = subject;
    read->id = "ollama:" + subject;
    read->name = printable(name.model + ':' + name.tag, 120);
    return std::make_shared<const Checkpoint>(*std::move(read));
}

} // namespace weir

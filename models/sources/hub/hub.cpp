// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hub.h"

#include "models/sources/hub/hubprivate.h"

#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/sources/hub/hubreference.h"
#include "models/sources/hub/weburl.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir {

namespace {

constexpr std::uint64_t maxPageBytes = 16U << 20U;
constexpr unsigned maxTreePages = 200;

std::vector<ListedFile> plainListing(const std::vector<HubFile> &files)
{
    std::vector<ListedFile> listing;
    listing.reserve(files.size());
    for (const HubFile &file : files)
        listing.push_back({file.path, file.bytes});
    return listing;
}

} // namespace

HttpOptions httpOptions(const HubSettings &settings)
{
    HttpOptions options;
    options.userAgent = settings.userAgent;
    options.caBundle = settings.caBundle;
    options.httpProxy = settings.httpProxy;
    options.httpsProxy = settings.httpsProxy;
    options.noProxy = settings.noProxy;
    options.connectTimeout = settings.connectTimeout;
    options.stallTimeout = settings.stallTimeout;
    options.retryDelay = settings.retryDelay;
    options.perHost = std::max(1U, settings.connections);
    options.tries = std::max(1U, settings.tries);
    return options;
}

Hub::Private::Private(HubSettings given)
    : m_settings(std::move(given))
    , m_cache(m_settings.metadataCache, m_settings.cacheBytes)
{}

HubSettings Hub::Private::settings() const
{
    const std::lock_guard lock(m_mutex);
    return m_settings;
}

HttpClient &Hub::Private::client()
{
    const std::lock_guard lock(m_mutex);
    if (!m_client)
        m_client = std::make_unique<HttpClient>(httpOptions(m_settings));
    return *m_client;
}

Result<void> Hub::Private::checkUsable(const HubSettings &settings, const std::string &subject, bool network)
{
    if (!settings.problem.empty())
        return fail("hub.bad-endpoint", ErrorKind::Usage, settings.problem);
    if (network && settings.offline)
        return fail("hub.offline", ErrorKind::Network, subject);
    return {};
}

Result<HttpResponse> Hub::Private::ask(const HubSettings &settings, const std::string &url,
                                       const HubSubject &subject, std::stop_token stop)
{
    HttpRequest request;
    request.url = url;
    request.token = settings.token;
    request.limit = maxPageBytes;
    request.subject = subject.text();
    request.first = true;
    Result<HttpResponse> response = client().get(std::move(request), std::move(stop));
    if (response && response->status != 200)
        return std::unexpected(hubError(*response, subject));
    return response;
}

Result<HubInfo> Hub::Private::info(const HubSettings &settings, const HubReference &reference,
                                   std::stop_token stop)
{
    const HubSubject subject{reference.repository, reference.revision, {}, settings.token.empty()};
    std::string url =
        fmt::format("{}/api/models/{}", settings.endpoint, urlQuoted(reference.repository, true));
    if (reference.revision != "main")
        url += "/revision/" + urlQuoted(reference.revision);
    const Result<HttpResponse> response = ask(settings, url, subject, std::move(stop));
    if (!response)
        return std::unexpected(response.error());
    auto info = parseInfo(response->body);
    if (!info || !isRepositoryName(info->id)) {
        return std::unexpected(
            brokenAnswer(subject.text(), settings.endpoint, std::string(kindOfText(response->body))));
    }
    if (info->isDisabled)
        return fail("hub.disabled", ErrorKind::Access, subject.text());
    return *std::move(info);
}

Result<std::vector<HubFile>> Hub::Private::tree(const HubSettings &settings, const HubInfo &info,
                                                const HubReference &reference, std::stop_token stop)
{
    HubStore store(m_cache, settings.endpoint);
    if (auto known = store.listing(info))
        return *std::move(known);
    const HubSubject subject{info.id, reference.revision, {}, settings.token.empty()};
    const std::string &at = info.commit.empty() ? reference.revision : info.commit;
    std::string url = fmt::format("{}/api/models/{}/tree/{}?recursive=true", settings.endpoint,
                                  urlQuoted(info.id, true), urlQuoted(at));
    TreeReader reader;
    for (unsigned page = 0; !url.empty(); ++page) {
        if (page == maxTreePages)
            return fail("hub.too-many-files", ErrorKind::Unreadable, info.id);
        const Result<HttpResponse> response = ask(settings, url, subject, stop);
        if (!response)
            return std::unexpected(response.error());
        switch (reader.read(response->body)) {
        case TreeReader::Page::Good: break;
        case TreeReader::Page::TooMany: return fail("hub.too-many-files", ErrorKind::Unreadable, info.id);
        case TreeReader::Page::BadSize:
            return fail("hub.broken-listing", ErrorKind::Network, info.id,
                        {{"file", printable(reader.badFile())}});
        case TreeReader::Page::NoListing:
            return std::unexpected(
                brokenAnswer(info.id, settings.endpoint, std::string(kindOfText(response->body))));
        }
        const Result<std::string> next = nextPage(settings, url, *response, info.id);
        if (!next)
            return std::unexpected(next.error());
        url = *next;
    }
    std::vector<HubFile> files = reader.take();
    std::sort(files.begin(), files.end(), [](const HubFile &a, const HubFile &b) { return a.path < b.path; });
    files.erase(std::unique(files.begin(), files.end(),
                            [](const HubFile &a, const HubFile &b) { return a.path == b.path; }),
                files.end());
    store.keepListing(info, files);
    return files;
}

Result<std::string> Hub::Private::nextPage(const HubSettings &settings, const std::string &url,
                                           const HttpResponse &response, const std::string &subject)
{
    const std::string link = nextLink(response.headers.get("link"));
    if (link.empty())
        return std::string();
    const auto next = resolvedUrl(url, link);
    const auto origin = next ? webOrigin(*next) : std::nullopt;
    if (!origin || origin != webOrigin(settings.endpoint) || *next == url)
        return std::unexpected(brokenAnswer(subject, settings.endpoint, "a next page at another address"));
    return *next;
}

Result<HubState> Hub::Private::state(const HubSettings &settings, const HubReference &reference,
                                     const std::stop_token &stop)
{
    HubStore store(m_cache, settings.endpoint);
    const auto known = store.info(reference.repository, reference.revision);
    if (known && known->commit == reference.revision) // a commit does not change
        return HubState{*known, true};
    std::optional<Error> problem;
    if (!settings.offline) {
        Result<HubInfo> info = this->info(settings, reference, stop);
        if (info) {
            store.keepInfo(reference.repository, reference.revision, *info);
            return HubState{*std::move(info), true};
        }
        // A Hub that takes no more requests, or answers nonsense, is as good as none.
        if (info.error().kind != ErrorKind::Network)
            return std::unexpected(info.error());
        problem = info.error();
    }
    if (known)
        return HubState{*known, false};
    return std::unexpected(problem ? *problem
                                   : Error{"hub.offline", ErrorKind::Network, reference.repository, {}});
}

Hub::Hub(HubSettings settings)
    : d(std::make_unique<Private>(std::move(settings)))
{}

Hub::~Hub() = default;

HubSettings Hub::settings() const { return d->settings(); }

void Hub::setToken(std::string token, std::string origin)
{
    d->setToken(std::move(token), std::move(origin));
}

void Hub::setOffline(bool offline) { d->setOffline(offline); }

Result<HubPage> Hub::search(const HubQuery &query, std::stop_token stop)
{
    const HubSettings settings = d->settings();
    std::string url = settings.endpoint + "/api/models?";
    if (!query.text.empty())
        url += "search=" + urlQuoted(query.text) + '&';
    switch (query.sort) {
    case HubSort::Trending: url += "sort=trendingScore"; break;
    case HubSort::Downloads: url += "sort=downloads"; break;
    case HubSort::Modified: url += "sort=lastModified"; break;
    }
    if (query.format == Format::Safetensors)
        url += "&filter=safetensors";
    else if (query.format == Format::Gguf)
        url += "&filter=gguf";
    else if (query.format == Format::Mlx)
        url += "&filter=mlx";
    url += fmt::format("&limit={}", std::clamp(query.limit, 1U, 500U));
    for (const char *field : {"safetensors", "gguf", "gated", "private", "downloads", "likes", "lastModified",
                              "pipeline_tag", "library_name", "tags", "config"})
        url += fmt::format("&expand={}", field);
    return d->page(settings, url, query.text, std::move(stop));
}

Result<HubPage> Hub::more(const HubPage &page, std::stop_token stop)
{
    if (page.next.empty())
        return HubPage{};
    const HubSettings settings = d->settings();
    if (const auto origin = webOrigin(page.next); !origin || origin != webOrigin(settings.endpoint))
        return std::unexpected(brokenAnswer({}, settings.endpoint, "a next page at another address"));
    return d->page(settings, page.next, {}, std::move(stop));
}

Result<HubPage> Hub::Private::page(const HubSettings &settings, const std::string &url,
                                   const std::string &text, std::stop_token stop)
{
    if (const Result<void> usable = checkUsable(settings, text, true); !usable)
        return std::unexpected(usable.error());
    const HubSubject subject{text, {}, {}, settings.token.empty()};
    const Result<HttpResponse> response = ask(settings, url, subject, std::move(stop));
    if (!response)
        return std::unexpected(response.error());
    HubPage page;
    if (!parseHits(response->body, page.hits)) {
        return std::unexpected(
            brokenAnswer(text, settings.endpoint, std::string(kindOfText(response->body))));
    }
    std::erase_if(page.hits, [](const HubHit &hit) { return !isRepositoryName(hit.id); });
    const Result<std::string> next = nextPage(settings, url, *response, text);
    if (!next)
        return std::unexpected(next.error());
    page.next = *next;
    return page;
}

Result<HubRepository> Hub::list(const HubReference &reference, std::stop_token stop)
{
    const HubSettings settings = d->settings();
    if (const Result<void> usable = Private::checkUsable(settings, reference.repository, false); !usable)
        return std::unexpected(usable.error());
    const Result<HubState> state = d->state(settings, reference, stop);
    if (!state)
        return std::unexpected(state.error());
    if (!state->asked && !HubStore(d->m_cache, settings.endpoint).listing(state->info))
        return fail("hub.offline", ErrorKind::Network, reference.repository);
    Result<std::vector<HubFile>> files = d->tree(settings, state->info, reference, std::move(stop));
    if (!files)
        return std::unexpected(files.error());
    HubRepository repository;
    repository.id = state->info.id;
    repository.revision = reference.revision;
    repository.commit = state->info.commit;
    repository.gate = state->info.gate;
    repository.isPrivate = state->info.isPrivate;
    repository.files = *std::move(files);
    repository.choices = choicesOf(plainListing(repository.files));
    for (const HubFile &file : repository.files)
        repository.bytes = saturatingAdd(repository.bytes, file.bytes);
    return repository;
}

Result<std::vector<std::string>> Hub::revisions(const std::string &repository, std::stop_token stop)
{
    const HubSettings settings = d->settings();
    if (const Result<void> usable = Private::checkUsable(settings, repository, true); !usable)
        return std::unexpected(usable.error());
    const HubSubject subject{repository, {}, {}, settings.token.empty()};
    const std::string url =
        fmt::format("{}/api/models/{}/refs", settings.endpoint, urlQuoted(repository, true));
    const Result<HttpResponse> response = d->ask(settings, url, subject, std::move(stop));
    if (!response)
        return std::unexpected(response.error());
    std::vector<std::string> names;
    if (!parseRefs(response->body, names)) {
        return std::unexpected(
            brokenAnswer(repository, settings.endpoint, std::string(kindOfText(response->body))));
    }
    std::erase_if(names, [&repository](const std::string &name) {
        return !parseHubReference(repository + '@' + name);
    });
    return names;
}

} // namespace weir

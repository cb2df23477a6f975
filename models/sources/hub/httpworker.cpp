// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/httpworker.h"

#include "models/base/units.h"
#include "models/sources/hub/httpfields.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir {

namespace {

constexpr unsigned maxHops = 5;
constexpr std::int64_t leastBytesPerSecond = 1024; ///< of a body, over three stall times

bool isRedirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool isTransient(int status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

void initialize()
{
    static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(once);
}

} // namespace

HttpClient::Worker::Worker(HttpOptions options)
    : m_options(std::move(options))
{
    initialize();
    m_multi = curl_multi_init();
    curl_multi_setopt(m_multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(m_multi, CURLMOPT_MAXCONNECTS, static_cast<long>(4 * m_options.perHost));
    m_thread = std::jthread([this](const std::stop_token &ending) { run(ending); });
}

HttpClient::Worker::~Worker()
{
    m_thread.request_stop();
    curl_multi_wakeup(m_multi);
    m_thread.join();
    curl_multi_cleanup(m_multi);
}

void HttpClient::Worker::start(HttpRequest request, std::stop_token stop, Done done)
{
    auto job = std::make_unique<Job>();
    job->request = std::move(request);
    job->stop = std::move(stop);
    job->done = std::move(done);
    job->wake.emplace(job->stop, [multi = m_multi] { curl_multi_wakeup(multi); });
    {
        const std::lock_guard lock(m_mutex);
        m_new.push_back(std::move(job));
    }
    curl_multi_wakeup(m_multi);
}

void HttpClient::Worker::run(const std::stop_token &ending)
{
    while (!ending.stop_requested()) {
        takeNew();
        endStopped();
        const Clock::time_point now = Clock::now();
        endStalled(now);
        startRunnable(now);
        int left = 0;
        curl_multi_perform(m_multi, &left);
        bool finished = false;
        int queued = 0;
        while (const CURLMsg *message = curl_multi_info_read(m_multi, &queued)) {
            if (message->msg != CURLMSG_DONE)
                continue;
            const auto job = std::find_if(m_jobs.begin(), m_jobs.end(), [message](const auto &each) {
                return each->easy == message->easy_handle;
            });
            if (job != m_jobs.end()) {
                const CURLcode code = message->data.result;
                finishHop(**job, code);
            }
            finished = true;
        }
        std::erase_if(m_jobs, [](const auto &job) { return !job->done; });
        if (finished)
            continue;
        std::chrono::milliseconds pause{m_jobs.empty() ? 60'000 : 100};
        for (const auto &job : m_jobs) {
            if (job->easy == nullptr && job->due > now) {
                pause = std::min(pause, std::chrono::duration_cast<std::chrono::milliseconds>(job->due - now)
                                            + std::chrono::milliseconds(1));
            }
        }
        curl_multi_poll(m_multi, nullptr, 0, static_cast<int>(pause.count()), nullptr);
    }
    takeNew();
    for (const auto &job : m_jobs) {
        stopHop(*job);
        deliver(*job, std::unexpected(errorOf(*job, "cancelled")));
    }
    m_jobs.clear();
}

void HttpClient::Worker::takeNew()
{
    Jobs fresh;
    {
        const std::lock_guard lock(m_mutex);
        fresh.swap(m_new);
    }
    for (auto &job : fresh) {
        const auto home = webOrigin(job->request.url);
        if (!home) {
            deliver(*job, std::unexpected(errorOf(*job, "hub.bad-address")));
            continue;
        }
        job->home = *home;
        job->homePrivate = isPrivateHost(home->host);
        restart(*job);
        if (job->request.first)
            m_jobs.push_front(std::move(job));
        else
            m_jobs.push_back(std::move(job));
    }
}

void HttpClient::Worker::endStopped()
{
    for (const auto &job : m_jobs) {
        if (!job->stop.stop_requested())
            continue;
        stopHop(*job);
        deliver(*job, std::unexpected(errorOf(*job, "cancelled")));
    }
    std::erase_if(m_jobs, [](const auto &job) { return !job->done; });
}

void HttpClient::Worker::endStalled(Clock::time_point now)
{
    for (const auto &job : m_jobs) {
        if (job->easy == nullptr || !job->connected)
            continue;
        // One byte now and then is no progress either: header lines have a time to be complete in, a
        // body has a least speed.
        const auto patience = 3 * m_options.stallTimeout;
        bool stalled = now - job->lastByte > m_options.stallTimeout;
        if (!job->headDone) {
            stalled = stalled || now - job->ready > patience;
        } else if (const auto window = now - job->windowStart; !stalled && window > patience) {
            const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(window).count();
            stalled = job->windowBytes < static_cast<std::uint64_t>(leastBytesPerSecond * time / 1000);
            job->windowStart = now;
            job->windowBytes = 0;
        }
        if (stalled) {
            stopHop(*job);
            failed(*job, CURLE_OPERATION_TIMEDOUT);
        }
    }
}

void HttpClient::Worker::startRunnable(Clock::time_point now)
{
    std::vector<std::pair<WebOrigin, unsigned>> running; // few origins, many requests
    const auto count = [&running](const WebOrigin &origin) -> unsigned & {
        const auto found = std::find_if(running.begin(), running.end(),
                                        [&origin](const auto &each) { return each.first == origin; });
        return found != running.end() ? found->second : running.emplace_back(origin, 0U).second;
    };
    for (const auto &job : m_jobs) {
        if (job->easy != nullptr)
            ++count(job->origin);
    }
    // Signed addresses expire: redirects go on before anything else begins.
    for (const bool redirecting : {true, false}) {
        for (const auto &job : m_jobs) {
            if (!job->done || job->easy != nullptr || job->redirecting != redirecting || job->due > now)
                continue;
            unsigned &here = count(job->origin);
            if (here >= m_options.perHost)
                continue;
            ++here;
            if (!startHop(*job))
                deliver(*job, std::unexpected(errorOf(*job, "hub.bad-address")));
        }
    }
    std::erase_if(m_jobs, [](const auto &job) { return !job->done; });
}

std::string HttpClient::Worker::proxyOf(const WebOrigin &origin) const
{
    const std::string &proxy = origin.scheme == "https" ? m_options.httpsProxy : m_options.httpProxy;
    return proxy.empty() || bypassesProxy(origin.host, m_options.noProxy) ? std::string() : proxy;
}

void HttpClient::Worker::restart(Job &job)
{
    job.url = job.request.url;
    job.origin = job.home;
    job.left = false;
    job.redirecting = false;
    job.hops = 0;
    job.response.meta.clear();
}

void HttpClient::Worker::deliver(Job &job, Result<HttpResponse> result)
{
    stopHop(job);
    job.wake.reset();
    const Done done = std::exchange(job.done, nullptr);
    if (done)
        done(std::move(result));
}

Error HttpClient::Worker::errorOf(const Job &job, std::string id, const std::string &reason) const
{
    Error error{std::move(id), ErrorKind::Network, job.request.subject, {}};
    if (error.id == "cancelled")
        error.kind = ErrorKind::Unreadable;
    const std::string &token = job.request.token;
    error.arguments.emplace_back("host", printable(withoutSecrets(job.origin.host, token), 200));
    if (!reason.empty())
        error.arguments.emplace_back("reason", printable(withoutSecrets(reason, token), 300));
    if (error.id == "hub.too-large")
        error.arguments.emplace_back("limit", Bytes{job.request.limit});
    return error;
}

bool HttpClient::Worker::again(Job &job, unsigned tries, std::optional<std::uint64_t> seconds)
{
    if (++job.tries >= tries)
        return false;
    job.delay =
        job.delay.count() == 0 ? m_options.retryDelay : std::min(2 * job.delay, 8 * m_options.retryDelay);
    job.due = Clock::now() + (seconds ? std::chrono::seconds(*seconds) : job.delay);
    restart(job);
    return true;
}

void HttpClient::Worker::finishHop(Job &job, CURLcode code)
{
    if (job.response.status == 0 && code == CURLE_OK)
        code = CURLE_WEIRD_SERVER_REPLY;
    curl_easy_getinfo(job.easy, CURLINFO_HTTP_CONNECTCODE, &job.connectStatus);
    stopHop(job);
    switch (job.verdict) {
    case Verdict::TooLarge: deliver(job, std::unexpected(errorOf(job, "hub.too-large"))); return;
    case Verdict::WrongRange:
        deliver(job, std::unexpected(
                         errorOf(job, "hub.broken-answer", "another part of the file than asked for")));
        return;
    case Verdict::Encoded:
        deliver(job, std::unexpected(errorOf(job, "hub.broken-answer", "a compressed answer")));
        return;
    case Verdict::HeadTooLarge:
        deliver(job, std::unexpected(errorOf(job, "hub.broken-answer", "too many header lines")));
        return;
    case Verdict::Refused:
        deliver(job, std::unexpected(errorOf(job, "hub.refused-redirect", "a private address")));
        return;
    case Verdict::Enough: answered(job); return;
    case Verdict::None: break;
    }
    if (code == CURLE_OK)
        answered(job);
    else
        failed(job, code);
}

void HttpClient::Worker::answered(Job &job)
{
    HttpResponse &response = job.response;
    if (!job.left)
        response.meta.prepend(response.headers);
    const std::string location(response.headers.get("location"));
    if (isRedirect(response.status) && !location.empty()) {
        redirected(job, location);
        return;
    }
    response.elsewhere = job.left;
    if (response.status >= 400)
        response.secret = job.request.token;
    if (job.left && response.status == 403 && !job.renewed) { // the signed address has expired
        job.renewed = true;
        restart(job);
        job.redirecting = true;
        return;
    }
    if (response.status == 407 && job.proxied) {
        deliver(job, std::unexpected(errorOf(job, "hub.proxy", "it refused with status 407")));
        return;
    }
    if (isTransient(response.status)) {
        const auto seconds = retryAfterSeconds(response.headers, std::chrono::system_clock::now());
        const bool tooLong = seconds && std::chrono::seconds(*seconds) > m_options.longestWait;
        if (!tooLong && again(job, m_options.tries, seconds))
            return;
        response.waitSeconds = seconds;
    }
    if (response.status == 206) {
        if (const auto range = contentRange(response.headers.get("content-range")))
            response.total = range->whole;
    } else if (response.status == 200) {
        response.total = wholeNumber(response.headers.get("content-length"));
    } else if (const std::string_view range = response.headers.get("content-range");
               response.status == 416 && hasRangeUnit(range) && range.substr(6).starts_with("*/")) {
        response.total = wholeNumber(range.substr(8));
    }
    deliver(job, std::move(response));
}

void HttpClient::Worker::redirected(Job &job, const std::string &location)
{
    const auto refuse = [&](const std::string &reason) {
        deliver(job, std::unexpected(errorOf(job, "hub.refused-redirect", reason)));
    };
    if (++job.hops > maxHops) {
        refuse("a chain that does not end");
        return;
    }
    const std::string scheme = schemeOf(location);
    if (!scheme.empty() && scheme != "http" && scheme != "https") {
        refuse(scheme + ":");
        return;
    }
    const auto target = resolvedUrl(job.url, location);
    const auto origin = target ? webOrigin(*target) : std::nullopt;
    if (!origin) {
        refuse("an address that cannot be read");
        return;
    }
    if (job.origin.scheme == "https" && origin->scheme == "http") {
        refuse("http: from https:");
        return;
    }
    if (*origin != job.home) // once left, the token does not come back
        job.left = true;
    if (job.left && !job.homePrivate && isPrivateHost(origin->host)) {
        refuse("a private address");
        return;
    }
    job.url = *target;
    job.origin = *origin;
    job.redirecting = true;
    job.due = {};
}

void HttpClient::Worker::failed(Job &job, CURLcode code)
{
    std::string reason = job.reason[0] != '\0' ? job.reason.data() : curl_easy_strerror(code);
    // libcurl names a proxy that it cannot read with the password in it, whatever that is made of.
    const std::string proxy = proxyOf(job.origin);
    for (std::size_t at = 0; !proxy.empty() && (at = reason.find(proxy, at)) != std::string::npos;)
        reason.replace(at, proxy.size(), "***");
    std::string id = "hub.broken-answer";
    unsigned tries = 1;
    // What cannot be connected to now will not be in a few seconds; one more try tells a hiccup.
    const unsigned few = std::min(2U, m_options.tries);
    if (job.proxied && !job.connected && job.connectStatus >= 300) { // it will say so again
        reason = fmt::format("it refused with status {}", job.connectStatus);
        code = CURLE_PROXY;
    }
    // So libcurl calls a line that is longer than it holds.
    if (job.connected && !job.headDone && code == CURLE_OUT_OF_MEMORY)
        reason = "a header line that does not end";
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        id = "hub.dns";
        tries = few;
        break;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY: id = "hub.proxy"; break;
    case CURLE_COULDNT_CONNECT:
        id = job.proxied ? "hub.proxy" : "hub.unreachable";
        tries = few;
        break;
    case CURLE_OPERATION_TIMEDOUT:
        id = job.connected ? "hub.too-slow" : "hub.unreachable";
        tries = few;
        break;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        id = "hub.interrupted";
        tries = m_options.tries;
        if (job.proxied && !job.connected && job.origin.scheme == "https") { // cut off while asked for a way
            id = "hub.proxy";
            tries = few;
        }
        break;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_USE_SSL_FAILED: id = "hub.tls"; break;
    default: break;
    }
    if (!again(job, tries, std::nullopt))
        deliver(job, std::unexpected(errorOf(job, std::move(id), reason)));
}

} // namespace weir

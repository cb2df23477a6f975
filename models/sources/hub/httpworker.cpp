// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/httpworker.h"

#include "models/base/units.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

namespace weir {

namespace {

constexpr unsigned maxHops = 5;
constexpr std::size_t maxHeadBytes = 256U << 10U;
constexpr std::uint64_t maxErrorBytes = 64U << 10U; ///< of the body of a redirect or an error
constexpr std::uint64_t maxReserveBytes = 16U << 20U; ///< on a server's word alone
constexpr std::uint64_t windowMinimum = 512;        ///< less than this in three stall times is no progress

bool isRedirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool isTransient(int status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

std::optional<std::uint64_t> wholeNumber(std::string_view text)
{
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// "bytes 0-99/1000" taken apart; the whole is empty for `*`.
struct ContentRange
{
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::optional<std::uint64_t> whole;
};

std::optional<ContentRange> contentRange(std::string_view text)
{
    const std::size_t dash = text.find('-');
    const std::size_t slash = text.find('/');
    if (!text.starts_with("bytes ") || dash == std::string_view::npos || slash == std::string_view::npos
        || slash < dash)
        return std::nullopt;
    const auto first = wholeNumber(text.substr(6, dash - 6));
    const auto last = wholeNumber(text.substr(dash + 1, slash - dash - 1));
    if (!first || !last || *last < *first)
        return std::nullopt;
    ContentRange range{*first, *last, wholeNumber(text.substr(slash + 1))};
    if (range.whole && *range.whole <= range.last)
        return std::nullopt;
    return range;
}

std::string addressText(const sockaddr &address)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void *bytes = nullptr;
    if (address.sa_family == AF_INET)
        bytes = &reinterpret_cast<const sockaddr_in &>(address).sin_addr;
    else if (address.sa_family == AF_INET6)
        bytes = &reinterpret_cast<const sockaddr_in6 &>(address).sin6_addr;
    if (bytes == nullptr || inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr)
        return {};
    return text.data();
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ')
        text.remove_prefix(1);
    while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ')
        text.remove_suffix(1);
    return text;
}

void initialize()
{
    static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(once);
}

} // namespace

bool isUnreachable(const Error &error)
{
    return error.id == "hub.dns" || error.id == "hub.unreachable" || error.id == "hub.proxy"
           || error.id == "hub.too-slow" || error.id == "hub.interrupted";
}

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
        bool stalled = now - job->lastByte > m_options.stallTimeout;
        if (!stalled && now - job->windowStart > 3 * m_options.stallTimeout) {
            stalled = job->windowBytes < windowMinimum;
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

bool HttpClient::Worker::startHop(Job &job)
{
    job.easy = curl_easy_init();
    if (job.easy == nullptr)
        return false;
    job.response.headers.clear();
    job.response.body.clear();
    job.verdict = Verdict::None;
    job.headBytes = 0;
    job.connected = false;
    job.reason[0] = '\0';
    ++job.response.requests;

    CURL *easy = job.easy;
    const auto line = [&job](const std::string &text) {
        job.lines = curl_slist_append(job.lines, text.c_str());
    };
    line("Accept: */*");
    line("Accept-Encoding: identity"); // a compressed answer would lose its length and its ranges
    if (!job.left && !job.request.token.empty())
        line("Authorization: Bearer " + job.request.token);
    if (!job.left && !job.request.ifNoneMatch.empty())
        line("If-None-Match: " + job.request.ifNoneMatch);
    if (job.request.range) {
        const HttpRange &range = *job.request.range;
        line("Range: bytes=" + std::to_string(range.first) + '-'
             + std::to_string(range.first + std::max<std::uint64_t>(1, range.count) - 1));
    }
    const std::string proxy = proxyOf(job.origin);
    job.proxied = !proxy.empty();

    curl_easy_setopt(easy, CURLOPT_URL, job.url.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, job.lines);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, m_options.userAgent.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 131'072L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, job.origin.scheme == "https" ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(m_options.connectTimeout.count()));
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, proxy.c_str()); // an empty one keeps libcurl from the environment
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    if (!m_options.caBundle.empty()) {
        std::error_code ignored;
        const bool folder = std::filesystem::is_directory(m_options.caBundle, ignored);
        curl_easy_setopt(easy, folder ? CURLOPT_CAPATH : CURLOPT_CAINFO, m_options.caBundle.c_str());
    }
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, job.reason.data());
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, onHeader);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &job);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, onBody);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &job);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, onReady);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, &job);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, onSocket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &job);
    return curl_multi_add_handle(m_multi, easy) == CURLM_OK;
}

void HttpClient::Worker::stopHop(Job &job)
{
    if (job.easy != nullptr) {
        curl_multi_remove_handle(m_multi, job.easy);
        curl_easy_cleanup(job.easy);
        job.easy = nullptr;
    }
    curl_slist_free_all(job.lines);
    job.lines = nullptr;
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
    error.arguments.emplace_back("host", printable(job.origin.host, 200));
    if (!reason.empty())
        error.arguments.emplace_back("reason", printable(reason, 300));
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
    if (job.left && response.status == 403 && !job.renewed) { // the signed address has expired
        job.renewed = true;
        restart(job);
        job.redirecting = true;
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
               response.status == 416 && range.starts_with("bytes */")) {
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
    const std::string reason = job.reason[0] != '\0' ? job.reason.data() : curl_easy_strerror(code);
    std::string id = "hub.broken-answer";
    unsigned tries = 1;
    // What cannot be connected to now will not be in a few seconds; one more try tells a hiccup.
    const unsigned few = std::min(2U, m_options.tries);
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

bool HttpClient::Worker::allowed(Job &job, std::string_view address)
{
    if (job.proxied) // the address is the proxy's
        return true;
    const bool isPrivate = isPrivateAddress(address);
    if (!job.left) {
        job.homePrivate = job.homePrivate || isPrivate;
        return true;
    }
    if (isPrivate && !job.homePrivate)
        job.verdict = Verdict::Refused;
    return job.verdict != Verdict::Refused;
}

int HttpClient::Worker::onReady(void *data, char *address, char *, int, int)
{
    Job &job = *static_cast<Job *>(data);
    job.connected = true;
    job.lastByte = job.windowStart = Clock::now();
    job.windowBytes = 0;
    return allowed(job, address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

curl_socket_t HttpClient::Worker::onSocket(void *data, curlsocktype, curl_sockaddr *address)
{
    Job &job = *static_cast<Job *>(data);
    if (job.left && !allowed(job, addressText(address->addr)))
        return CURL_SOCKET_BAD;
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t HttpClient::Worker::onHeader(char *data, std::size_t size, std::size_t count, void *userData)
{
    Job &job = *static_cast<Job *>(userData);
    const std::size_t bytes = size * count;
    job.lastByte = Clock::now();
    job.windowBytes += bytes;
    job.headBytes += bytes;
    if (job.headBytes > maxHeadBytes) {
        job.verdict = Verdict::HeadTooLarge;
        return 0;
    }
    const std::string_view line = trimmed(std::string_view(data, bytes));
    if (std::string_view(data, bytes).starts_with("HTTP/")) {
        job.response.headers.clear();
        job.response.status = 0;
        if (const std::size_t blank = line.find(' '); blank != std::string_view::npos) {
            const auto status = wholeNumber(line.substr(blank + 1, 3));
            job.response.status = status && *status >= 100 ? static_cast<int>(*status) : 0;
        }
    } else if (line.empty()) {
        return endOfHead(job) ? bytes : 0;
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
        std::string name(line.substr(0, colon));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        job.response.headers.add(std::move(name), std::string(trimmed(line.substr(colon + 1))));
    }
    return bytes;
}

bool HttpClient::Worker::endOfHead(Job &job)
{
    const HttpResponse &response = job.response;
    const std::string_view encoding = response.headers.get("content-encoding");
    job.limit = job.request.limit;
    job.cutAtLimit = false;
    if (response.status < 200)
        return true;
    if (response.status != 200 && response.status != 206) { // an excerpt is enough
        job.limit = maxErrorBytes;
        job.cutAtLimit = true;
        return true;
    }
    if (!encoding.empty() && encoding != "identity") {
        job.verdict = Verdict::Encoded;
        return false;
    }
    if (const auto &range = job.request.range) {
        job.limit = std::min(job.limit, range->count);
        if (response.status == 206) {
            const auto told = contentRange(response.headers.get("content-range"));
            if (!told || told->first != range->first || told->last - told->first >= range->count)
                job.verdict = Verdict::WrongRange;
        } else if (range->first == 0) {
            job.cutAtLimit = true; // the whole file comes; its beginning is what was asked for
        } else {
            job.verdict = Verdict::WrongRange;
        }
    } else if (const auto length = wholeNumber(response.headers.get("content-length"));
               response.status == 206 || (length && *length > job.limit)) {
        job.verdict = response.status == 206 ? Verdict::WrongRange : Verdict::TooLarge;
    }
    if (const auto length = wholeNumber(response.headers.get("content-length")))
        job.response.body.reserve(static_cast<std::size_t>(std::min({*length, job.limit, maxReserveBytes})));
    return job.verdict == Verdict::None;
}

std::size_t HttpClient::Worker::onBody(char *data, std::size_t size, std::size_t count, void *userData)
{
    Job &job = *static_cast<Job *>(userData);
    const std::size_t bytes = size * count;
    job.lastByte = Clock::now();
    job.windowBytes += bytes;
    std::string &body = job.response.body;
    const std::uint64_t room = job.limit - std::min<std::uint64_t>(job.limit, body.size());
    const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(room, bytes));
    body.append(data, taken);
    if (taken == bytes && !(job.cutAtLimit && body.size() == job.limit))
        return bytes;
    if (taken == bytes) { // exactly full: whether more would come does not matter
        job.verdict = Verdict::Enough;
        return 0;
    }
    job.verdict = job.cutAtLimit ? Verdict::Enough : Verdict::TooLarge;
    return 0;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
//
// One hop of a request: what libcurl is told before, and what it tells while bytes arrive.
#include "models/sources/hub/httpfields.h"
#include "models/sources/hub/httpworker.h"

#include "models/base/ascii.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace weir {

namespace {

constexpr std::size_t maxHeadBytes = 256U << 10U;
constexpr std::uint64_t maxErrorBytes = 64U << 10U; ///< of the body of a redirect or an error
constexpr std::uint64_t maxReserveBytes = 16U << 20U; ///< on a server's word alone

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

} // namespace

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
    job.headDone = false;
    job.connectStatus = 0;
    job.reason[0] = '\0';
    ++job.response.requests;

    CURL *easy = job.easy;
    const auto line = [&job](const std::string &text) {
        job.lines = curl_slist_append(job.lines, text.c_str());
    };
    line("Accept: " + job.request.accept);
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
    job.lastByte = job.ready = Clock::now();
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
        job.response.headers.add(asciiLower(line.substr(0, colon)),
                                 std::string(trimmed(line.substr(colon + 1))));
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
    if (!job.headDone) { // lines after the body come here again
        job.headDone = true;
        job.windowStart = Clock::now();
        job.windowBytes = 0;
    }
    if (response.status != 200 && response.status != 206) { // an excerpt is enough
        job.limit = maxErrorBytes;
        job.cutAtLimit = true;
        return true;
    }
    // libcurl would unpack what is compressed for the transfer alone.
    const std::string transfer = asciiLower(response.headers.get("transfer-encoding"));
    const bool packed = !transfer.empty() && transfer != "chunked" && transfer != "identity";
    if (packed || (!encoding.empty() && encoding != "identity")) {
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

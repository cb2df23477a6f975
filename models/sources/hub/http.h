// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Header lines of one answer; names in lower case.
class HttpHeaders
{
public:
    void add(std::string name, std::string value) { m_lines.emplace_back(std::move(name), std::move(value)); }
    void clear() { m_lines.clear(); }
    /// The lines of a later answer, to be found before those that are here.
    void prepend(const HttpHeaders &later)
    {
        m_lines.insert(m_lines.begin(), later.m_lines.begin(), later.m_lines.end());
    }
    /// The first of that name (given in lower case); empty if there is none.
    std::string_view get(std::string_view name) const;

private:
    std::vector<std::pair<std::string, std::string>> m_lines;
};

/// `count` bytes from `first`.
struct HttpRange
{
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// One GET.
struct HttpRequest
{
    std::string url;
    std::string token; ///< sent as bearer to the origin of `url` and to no other
    std::optional<HttpRange> range;
    std::uint64_t limit = 16U << 20U; ///< of the body; a longer one is the error "hub.too-large"
    std::string ifNoneMatch;          ///< an ETag; a 304 is then an answer
    std::string accept = "*/*";       ///< kinds of content that are asked for
    std::string subject;              ///< what errors are about
    bool first = false;               ///< goes before what is queued
};

/// The answer after redirects and repetitions, whatever its status.
struct HttpResponse
{
    int status = 0;
    HttpHeaders headers; ///< of the last answer
    HttpHeaders meta;    ///< of the first answer that was no redirect within the origin: X-Repo-Commit ...
    std::string body;
    std::optional<std::uint64_t> total; ///< size of the whole file, if the answer tells
    bool elsewhere = false;             ///< the last answer came from another origin than asked
    unsigned requests = 0;              ///< sent for it
    std::string secret; ///< the token that was sent for it: an answer may repeat it, a message must not
    std::optional<std::uint64_t> waitSeconds; ///< 429: when to come back, if it was too long to wait for
};

struct HttpOptions
{
    std::string userAgent;
    std::string caBundle; ///< file or folder; empty: the system's
    std::string httpProxy;
    std::string httpsProxy;
    std::string noProxy;
    std::chrono::milliseconds connectTimeout{10'000};
    std::chrono::milliseconds stallTimeout{10'000};
    std::chrono::milliseconds retryDelay{1'000}; ///< before the second try; doubles, eight times this at most
    std::chrono::milliseconds longestWait{10'000}; ///< a server that asks for more gets its answer returned
    unsigned perHost = 20; ///< requests in hand at one origin
    unsigned tries = 5;
};

/// GET requests over kept connections, run by one thread; may be used from any.
///
/// Redirects (at most five) are followed by hand: the token stays with the origin that was asked, nothing goes
/// from https to http, to another scheme, or from a public to a private address. No cookies, no netrc.
/// Statuses 408, 429, 500, 502, 503, 504 and broken connections are tried again; an answer of another origin
/// that says 403 (a signed address that expired) is asked for anew once.
///
/// Errors: "cancelled", "hub.unreachable", "hub.dns", "hub.tls", "hub.proxy", "hub.too-slow",
/// "hub.interrupted", "hub.broken-answer", "hub.too-large", "hub.refused-redirect", "hub.bad-address".
class HttpClient
{
public:
    using Done = std::function<void(Result<HttpResponse>)>;

    explicit HttpClient(HttpOptions options);
    /// Ends what is running with "cancelled".
    ~HttpClient();
    HttpClient(const HttpClient &) = delete;
    HttpClient &operator=(const HttpClient &) = delete;

    /// Returns at once; `done` is called on the client's thread exactly once and must be quick.
    void start(HttpRequest request, std::stop_token stop, Done done);
    /// Waits for the answer.
    Result<HttpResponse> get(HttpRequest request, std::stop_token stop);

private:
    class Worker;
    std::unique_ptr<Worker> m_worker;
};

/// Seconds that a 429 asks to wait: `RateLimit` with nothing left, else `Retry-After` (seconds or a date).
std::optional<std::uint64_t> retryAfterSeconds(const HttpHeaders &headers,
                                               std::chrono::system_clock::time_point now);

} // namespace weir

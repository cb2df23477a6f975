// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/hub/http.h"
#include "models/sources/hub/weburl.h"

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace weir {

/// The thread behind HttpClient: one multi handle, its connections, and the requests in hand.
class HttpClient::Worker
{
public:
    explicit Worker(HttpOptions options);
    ~Worker();
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    void start(HttpRequest request, std::stop_token stop, Done done);

private:
    using Clock = std::chrono::steady_clock;

    /// Why a transfer was broken off from within.
    enum class Verdict : std::uint8_t { None, Enough, TooLarge, WrongRange, Encoded, Refused, HeadTooLarge };

    struct Job
    {
        HttpRequest request;
        std::stop_token stop;
        Done done;
        std::optional<std::stop_callback<std::function<void()>>> wake;

        // the hop in hand
        CURL *easy = nullptr;
        curl_slist *lines = nullptr;
        std::string url;
        WebOrigin origin;
        std::array<char, CURL_ERROR_SIZE> reason{};
        Verdict verdict = Verdict::None;
        std::size_t headBytes = 0;
        std::uint64_t limit = 0; ///< of the body of this answer
        bool cutAtLimit = false; ///< what is beyond the limit is left, not an error
        bool connected = false;
        bool headDone = false;   ///< the header lines are complete, its body comes
        bool proxied = false;
        long connectStatus = 0;  ///< what the proxy said to CONNECT, 0: nothing
        Clock::time_point lastByte;
        Clock::time_point ready; ///< when the request could go out
        Clock::time_point windowStart;
        std::uint64_t windowBytes = 0;

        // all of it
        WebOrigin home;
        HttpResponse response;
        bool left = false;        ///< the origin was left: no token any more
        bool homePrivate = false; ///< the first answer came from a private address
        bool renewed = false;
        bool redirecting = false; ///< goes before what has not begun
        unsigned hops = 0;
        unsigned tries = 0;
        std::chrono::milliseconds delay{0};
        Clock::time_point due; ///< not before
    };
    using Jobs = std::list<std::unique_ptr<Job>>;

    void run(const std::stop_token &ending);
    void takeNew();
    void endStopped();
    void endStalled(Clock::time_point now);
    void startRunnable(Clock::time_point now);
    bool startHop(Job &job);
    void stopHop(Job &job);
    void finishHop(Job &job, CURLcode code);
    void answered(Job &job);
    void redirected(Job &job, const std::string &location);
    void failed(Job &job, CURLcode code);
    bool again(Job &job, unsigned tries, std::optional<std::uint64_t> seconds);
    void restart(Job &job);
    void deliver(Job &job, Result<HttpResponse> result);
    Error errorOf(const Job &job, std::string id, const std::string &reason = {}) const;
    std::string proxyOf(const WebOrigin &origin) const;

    static std::size_t onHeader(char *data, std::size_t size, std::size_t count, void *job);
    static std::size_t onBody(char *data, std::size_t size, std::size_t count, void *job);
    static int onReady(void *job, char *address, char *own, int port, int ownPort);
    static curl_socket_t onSocket(void *job, curlsocktype purpose, curl_sockaddr *address);
    static bool endOfHead(Job &job);
    static bool allowed(Job &job, std::string_view address);

    HttpOptions m_options;
    CURLM *m_multi = nullptr;
    Jobs m_jobs; ///< in the order they came; touched by the thread alone
    std::mutex m_mutex;
    Jobs m_new;
    std::jthread m_thread;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/http.h"

#include "models/sources/hub/httpworker.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <future>

namespace weir {

std::string_view HttpHeaders::get(std::string_view name) const
{
    for (const auto &[key, value] : m_lines) {
        if (key == name)
            return value;
    }
    return {};
}

std::optional<std::uint64_t> retryAfterSeconds(const HttpHeaders &headers,
                                               std::chrono::system_clock::time_point now)
{
    const auto number = [](std::string_view text) -> std::optional<std::uint64_t> {
        std::uint64_t value = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        return read.ec == std::errc{} ? std::optional(value) : std::nullopt;
    };
    // RateLimit: "resolvers";r=0;t=172
    const std::string_view limit = headers.get("ratelimit");
    const auto field = [&](std::string_view key) -> std::optional<std::uint64_t> {
        const std::size_t at = limit.find(key);
        return at == std::string_view::npos ? std::nullopt : number(limit.substr(at + key.size()));
    };
    if (field(";r=") == 0U) {
        if (const auto left = field(";t="))
            return std::min<std::uint64_t>(*left, 1'000'000) + 1;
    }
    const std::string_view after = headers.get("retry-after");
    if (after.empty())
        return std::nullopt;
    if (const auto seconds = number(after))
        return std::min<std::uint64_t>(*seconds, 1'000'000);
    const std::time_t when = curl_getdate(std::string(after).c_str(), nullptr);
    if (when < 0)
        return std::nullopt;
    const std::time_t current = std::chrono::system_clock::to_time_t(now);
    return when > current ? static_cast<std::uint64_t>(when - current) : 0U;
}

HttpClient::HttpClient(HttpOptions options)
    : m_worker(std::make_unique<Worker>(std::move(options)))
{}

HttpClient::~HttpClient() = default;

void HttpClient::start(HttpRequest request, std::stop_token stop, Done done)
{
    m_worker->start(std::move(request), std::move(stop), std::move(done));
}

Result<HttpResponse> HttpClient::get(HttpRequest request, std::stop_token stop)
{
    std::promise<Result<HttpResponse>> promise;
    std::future<Result<HttpResponse>> future = promise.get_future();
    start(std::move(request), std::move(stop),
          [&promise](Result<HttpResponse> result) { promise.set_value(std::move(result)); });
    return future.get();
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/weburl.h"

#include "models/base/ascii.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>
#include <utility>

namespace weir {

namespace {

struct UrlCleanup
{
    void operator()(CURLU *url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlCleanup>;

std::optional<std::string> part(const Url &url, CURLUPart which, unsigned flags = 0)
{
    char *text = nullptr;
    if (curl_url_get(url.get(), which, &text, flags) != CURLUE_OK)
        return std::nullopt;
    std::string copy(text);
    curl_free(text);
    return copy;
}

/// The bytes of an address: four or sixteen, of mapped IPv4 four; none for a name.
std::string addressBytes(std::string_view address)
{
    if (const std::size_t zone = address.find('%'); zone != std::string_view::npos)
        address = address.substr(0, zone);
    const std::string text(address);
    std::array<char, 16> bytes{};
    if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1)
        return {bytes.data(), 4};
    if (inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1)
        return {};
    static constexpr std::string_view mapped("\0\0\0\0\0\0\0\0\0\0\xFF\xFF", 12);
    if (std::string_view(bytes.data(), 12) == mapped)
        return {bytes.data() + 12, 4};
    return {bytes.data(), 16};
}

bool hasPrefix(std::string_view bytes, std::string_view prefix, unsigned bits)
{
    if (bytes.size() != prefix.size() || bits > 8 * bytes.size())
        return false;
    for (std::size_t i = 0; i < bytes.size() && bits > 0; ++i) {
        const unsigned here = std::min(bits, 8U);
        const unsigned mask = 0xFFU & (0xFFU << (8 - here));
        if (((static_cast<unsigned char>(bytes[i]) ^ static_cast<unsigned char>(prefix[i])) & mask) != 0)
            return false;
        bits -= here;
    }
    return true;
}

constexpr std::string_view hidden = "***";

bool isWordCharacter(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (std::isalnum(byte) != 0 || c == '_');
}

bool isDelimiter(char c)
{
    return static_cast<unsigned char>(c) <= ' '
           || std::string_view("'\"<>()[]{}|`,;").find(c) != std::string_view::npos;
}

/// Replaces what `length(lowerText, at)` says is secret where `key` stands in the lower-case text.
template <typename Length>
std::string replaced(const std::string &text, std::string_view key, const Length &length)
{
    const std::string low = asciiLower(text);
    std::string out;
    std::size_t done = 0;
    for (std::size_t at = low.find(key); at != std::string::npos;
         at = low.find(key, std::max(done, at + 1))) {
        const auto [begin, end] = length(low, at);
        if (begin >= end || begin < done)
            continue;
        out.append(text, done, begin - done).append(hidden);
        done = end;
    }
    return out.append(text, done, std::string::npos);
}

/// `http://user:word@host` and `user:word@host` without what stands before the host.
std::string withoutUsers(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        std::size_t end = 0;
        while (end < text.size() && !isDelimiter(text[end]))
            ++end;
        std::string_view word = text.substr(0, end);
        const std::size_t scheme = word.find("://");
        const std::size_t start = scheme == std::string_view::npos ? 0 : scheme + 3;
        const std::size_t last = word.rfind('@');
        if (last != std::string_view::npos && last >= start
            && (scheme != std::string_view::npos || word.find(':') < last)) {
            out.append(word.substr(0, start));
            word.remove_prefix(last + 1);
        }
        out.append(word);
        if (end < text.size())
            out += text[end++];
        text.remove_prefix(end);
    }
    return out;
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

} // namespace

std::optional<WebOrigin> webOrigin(const std::string &url)
{
    const Url parsed(curl_url());
    if (!parsed
        || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_DISALLOW_USER | CURLU_URLENCODE)
               != CURLUE_OK)
        return std::nullopt;
    const auto scheme = part(parsed, CURLUPART_SCHEME);
    const auto host = part(parsed, CURLUPART_HOST);
    const auto port = part(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    if (!scheme || !host || !port || host->empty())
        return std::nullopt;
    WebOrigin origin{asciiLower(*scheme), asciiLower(*host), 0};
    if (origin.scheme != "http" && origin.scheme != "https")
        return std::nullopt;
    if (origin.host.size() > 2 && origin.host.front() == '[' && origin.host.back() == ']')
        origin.host = origin.host.substr(1, origin.host.size() - 2);
    const auto read = std::from_chars(port->data(), port->data() + port->size(), origin.port);
    if (read.ec != std::errc{} || origin.port == 0)
        return std::nullopt;
    return origin;
}

std::optional<std::string> resolvedUrl(const std::string &base, const std::string &location)
{
    const Url parsed(curl_url());
    // libcurl takes `http:///x` and `http:/x` for a host x; nothing good means to write that.
    const std::string scheme = schemeOf(location);
    const std::string_view rest = std::string_view(location).substr(scheme.empty() ? 0 : scheme.size() + 1);
    const bool namesHost = !scheme.empty() || rest.starts_with("//");
    if (namesHost
        && (!rest.starts_with("//") || rest.size() == 2
            || std::string_view("/\\?#").find(rest[2]) != std::string_view::npos))
        return std::nullopt;
    if (!parsed || location.empty() || location.size() > 8192
        || curl_url_set(parsed.get(), CURLUPART_URL, base.c_str(), CURLU_URLENCODE) != CURLUE_OK
        || curl_url_set(parsed.get(), CURLUPART_URL, location.c_str(),
                        CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME)
               != CURLUE_OK)
        return std::nullopt;
    return part(parsed, CURLUPART_URL);
}

std::string schemeOf(std::string_view url)
{
    const std::size_t colon = url.find(':');
    if (colon == std::string_view::npos || colon == 0 || url.find_first_of("/?#") < colon)
        return {};
    const std::string_view scheme = url.substr(0, colon);
    const bool plain = std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
        return (c < 0x80 && std::isalnum(c) != 0) || c == '+' || c == '-' || c == '.';
    });
    return plain ? asciiLower(scheme) : std::string();
}

std::string urlQuoted(std::string_view text, bool keepSlash)
{
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (byte < 0x80 && std::isalnum(byte) != 0) || c == '-' || c == '_' || c == '.'
                           || c == '~' || (keepSlash && c == '/');
        if (plain)
            out += c;
        else
            (out += '%').append({digits[byte >> 4U], digits[byte & 15U]});
    }
    return out;
}

std::string withoutSecrets(std::string_view text, std::string_view secret)
{
    using Span = std::pair<std::size_t, std::size_t>;
    std::string out(text);
    if (secret.size() >= 4) {
        out = replaced(out, asciiLower(secret), [&secret](const std::string &, std::size_t at) {
            return Span{at, at + secret.size()};
        });
    }
    out = replaced(out, "hf_", [](const std::string &low, std::size_t at) {
        std::size_t end = at + 3;
        while (end < low.size() && isWordCharacter(low[end]))
            ++end;
        return end - at >= 11 ? Span{at, end} : Span{at, at};
    });
    out = replaced(out, "bearer", [](const std::string &low, std::size_t at) {
        std::size_t begin = at + 6;
        while (begin < low.size() && (low[begin] == ' ' || low[begin] == '\t'))
            ++begin;
        std::size_t end = begin;
        while (end < low.size() && !isDelimiter(low[end]))
            ++end;
        return begin > at + 6 ? Span{begin, end} : Span{at, at};
    });
    return withoutUsers(out);
}

bool isPrivateAddress(std::string_view address)
{
    const std::string bytes = addressBytes(address);
    struct Network
    {
        std::string_view prefix;
        unsigned bits;
    };
    static constexpr std::array<Network, 11> fourBytes{{{{"\0\0\0\0", 4}, 8},
                                                        {{"\x0A\0\0\0", 4}, 8},
                                                        {{"\x64\x40\0\0", 4}, 10},
                                                        {{"\x7F\0\0\0", 4}, 8},
                                                        {{"\xA9\xFE\0\0", 4}, 16},
                                                        {{"\xAC\x10\0\0", 4}, 12},
                                                        {{"\xC0\0\0\0", 4}, 24},
                                                        {{"\xC0\xA8\0\0", 4}, 16},
                                                        {{"\xC6\x12\0\0", 4}, 15},
                                                        {{"\xE0\0\0\0", 4}, 4},
                                                        {{"\xF0\0\0\0", 4}, 4}}};
    static constexpr std::array<Network, 4> sixteenBytes{
        {{{"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, 96}, // unspecified, loopback, old compatible forms
         {{"\xFC\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, 7},
         {{"\xFE\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, 10},
         {{"\xFF\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, 8}}};
    const auto within = [&bytes](const Network &network) {
        return hasPrefix(bytes, network.prefix, network.bits);
    };
    return std::any_of(fourBytes.begin(), fourBytes.end(), within)
           || std::any_of(sixteenBytes.begin(), sixteenBytes.end(), within);
}

bool isPrivateHost(std::string_view host)
{
    const std::string name = asciiLower(host);
    return name == "localhost" || name == "localhost." || name.ends_with(".localhost")
           || isPrivateAddress(name);
}

bool bypassesProxy(std::string_view host, std::string_view noProxy)
{
    const std::string name = asciiLower(host);
    const std::string address = addressBytes(name);
    while (!noProxy.empty()) {
        const std::string_view item = noProxy.substr(0, noProxy.find(','));
        noProxy.remove_prefix(std::min(noProxy.size(), item.size() + 1));
        std::string rule = asciiLower(trimmed(item));
        if (rule == "*")
            return true;
        if (rule.starts_with("*."))
            rule.erase(0, 1);
        if (const std::size_t slash = rule.find('/'); slash != std::string::npos && !address.empty()) {
            unsigned bits = 0;
            const auto read = std::from_chars(rule.data() + slash + 1, rule.data() + rule.size(), bits);
            if (read.ec == std::errc{}
                && hasPrefix(address, addressBytes(std::string_view(rule).substr(0, slash)), bits))
                return true;
            continue;
        }
        const std::string bare = rule.starts_with('.') ? rule.substr(1) : rule;
        if (!bare.empty() && (name == bare || name.ends_with('.' + bare)))
            return true;
    }
    return false;
}

} // namespace weir

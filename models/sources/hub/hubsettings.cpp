// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubsettings.h"

#include "models/base/ascii.h"
#include "models/sources/hub/weburl.h"
#include "models/sources/localfile.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t maxTokenFileBytes = 4096;

std::string trimmed(std::string_view text)
{
    const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!text.empty() && blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && blank(text.back()))
        text.remove_suffix(1);
    return std::string(text);
}

/// A raw line break would begin a header line of its own: such a token is none.
std::string cleanToken(const std::string &text)
{
    std::string token = trimmed(text);
    std::erase_if(token, [](char c) { return c == '\n' || c == '\r'; });
    const bool printable =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7F; });
    return printable ? token : std::string();
}

class Variables
{
public:
    explicit Variables(const Environment &environment)
        : m_environment(environment)
    {}

    /// The first of these that is set and not empty.
    std::string first(std::initializer_list<const char *> names) const
    {
        for (const char *name : names) {
            const auto value = m_environment(name);
            if (value && !trimmed(*value).empty())
                return trimmed(*value);
        }
        return {};
    }

    bool isTrue(const char *name) const
    {
        const std::string value = asciiUpper(first({name}));
        return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
    }

    fs::path path(const char *name, const fs::path &fallback) const
    {
        const std::string value = first({name});
        return value.empty() ? fallback : expanded(value);
    }

    fs::path expanded(const std::string &text) const
    {
        if (text == "~" || text.starts_with("~/"))
            return home() / text.substr(std::min<std::size_t>(2, text.size()));
        return text;
    }

    fs::path home() const { return first({"HOME"}); }

private:
    const Environment &m_environment;
};

void readToken(const Variables &variables, const fs::path &home, HubSettings &settings)
{
    // As in the official client: neither from the environment nor from the file unless it is asked for.
    if (variables.isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN"))
        return;
    for (const char *name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
        settings.token = cleanToken(variables.first({name}));
        if (!settings.token.empty()) {
            settings.tokenOrigin = name;
            return;
        }
    }
    const fs::path file = variables.path("HF_TOKEN_PATH", home.empty() ? fs::path() : home / "token");
    if (file.empty())
        return;
    if (const Result<std::string> text = readTextFile(file, maxTokenFileBytes)) {
        settings.token = cleanToken(*text);
        if (!settings.token.empty())
            settings.tokenOrigin = file.string();
    }
}

} // namespace

Environment processEnvironment()
{
    return [](const char *name) -> std::optional<std::string> {
        const char *value = std::getenv(name);
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
}

HubSettings hubSettings(const Environment &environment)
{
    const Variables variables(environment);
    HubSettings settings;
    if (std::string endpoint = variables.first({"HF_ENDPOINT"}); !endpoint.empty()) {
        while (endpoint.ends_with('/'))
            endpoint.pop_back();
        settings.endpoint = std::move(endpoint);
    }
    if (!webOrigin(settings.endpoint) || schemeOf(settings.endpoint).empty()
        || settings.endpoint.find_first_of("?#") != std::string::npos)
        settings.problem = settings.endpoint;

    const fs::path userHome = variables.home();
    const fs::path cacheHome =
        variables.path("XDG_CACHE_HOME", userHome.empty() ? fs::path() : userHome / ".cache");
    const fs::path home =
        variables.path("HF_HOME", cacheHome.empty() ? fs::path() : cacheHome / "huggingface");
    settings.hubCache = variables.path("HUGGINGFACE_HUB_CACHE", home.empty() ? fs::path() : home / "hub");
    settings.hubCache = variables.path("HF_HUB_CACHE", settings.hubCache);
    settings.metadataCache = cacheHome.empty() ? fs::path() : cacheHome / "weir" / "hub";
    readToken(variables, home, settings);
    settings.offline = variables.isTrue("HF_HUB_OFFLINE") || variables.isTrue("TRANSFORMERS_OFFLINE");
    settings.caBundle =
        variables.first({"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"});

    // A web server puts a request's Proxy header into HTTP_PROXY; it is believed where there is none.
    const bool isCgi = !variables.first({"REQUEST_METHOD"}).empty();
    const std::string any = variables.first({"all_proxy", "ALL_PROXY"});
    settings.httpProxy =
        isCgi ? variables.first({"http_proxy"}) : variables.first({"http_proxy", "HTTP_PROXY"});
    settings.httpsProxy = variables.first({"https_proxy", "HTTPS_PROXY"});
    if (settings.httpProxy.empty())
        settings.httpProxy = any;
    if (settings.httpsProxy.empty())
        settings.httpsProxy = any;
    settings.noProxy = variables.first({"no_proxy", "NO_PROXY"});
    settings.userAgent = "weir; model-fit explorer";
    return settings;
}

} // namespace weir

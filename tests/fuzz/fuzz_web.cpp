// SPDX-License-Identifier: GPL-3.0-or-later
//
// Addresses, header lines, and what is typed where a repository is named.
#include "models/sources/hub/http.h"
#include "models/sources/hub/httpfields.h"
#include "models/sources/hub/hubapi.h"
#include "models/sources/hub/hubreference.h"
#include "models/sources/hub/weburl.h"
#include "tests/fuzz/fuzztarget.h"

using namespace weir;

WEIR_FUZZ_TARGET(web)
{
    const std::string first(fuzz::takePart(input));
    const std::string second(input);
    if (const auto origin = webOrigin(first)) {
        fuzz::require(origin->scheme == "http" || origin->scheme == "https", "an origin is of the web");
        static_cast<void>(isPrivateHost(origin->host));
    }
    for (const char *base : {"https://example.org/a/b?c", "http://127.0.0.1:8080/"}) {
        if (const auto url = resolvedUrl(base, first); url && !schemeOf(first).empty())
            fuzz::require(!schemeOf(*url).empty(), "an absolute address stays one");
    }
    static_cast<void>(resolvedUrl(first, second));
    static_cast<void>(isPrivateAddress(first));
    static_cast<void>(bypassesProxy(first, second));
    const std::string shown = withoutSecrets(first + second, "secret-word");
    fuzz::require(shown.find("secret-word") == std::string::npos, "a token is not shown");
    static_cast<void>(urlQuoted(first));

    for (const auto &reference :
         {parseHubReference(first), parseHubReference(first, "https://hub.example.org")}) {
        if (!reference)
            continue;
        fuzz::require(isRepositoryName(reference->repository), "a reference names a repository");
        fuzz::require(reference->repository.find("..") == std::string::npos, "a name stays in its folder");
        const auto again = parseHubReference(hubReferenceText(*reference));
        fuzz::require(again && *again == *reference, "a reference is read back");
    }
    if (const auto range = contentRange(first))
        fuzz::require(range->last >= range->first && (!range->whole || *range->whole > range->last),
                      "a range lies in its file");
    static_cast<void>(nextLink(first));
    HttpHeaders headers;
    headers.add("ratelimit", first);
    headers.add("retry-after", second);
    static_cast<void>(retryAfterSeconds(headers, std::chrono::system_clock::time_point{}));
}

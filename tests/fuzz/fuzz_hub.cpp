// SPDX-License-Identifier: GPL-3.0-or-later
//
// Answers of the Hub: every reader is given every text.
#include "models/checkpoint/safetensors.h"
#include "models/sources/hub/hubapi.h"
#include "models/sources/hub/hubchoice.h"
#include "models/sources/hub/hubreference.h"
#include "tests/fuzz/fuzztarget.h"

#include <algorithm>

using namespace weir;

namespace {

void listing(std::string_view text)
{
    TreeReader reader;
    if (reader.read(text) != TreeReader::Page::Good)
        return;
    static_cast<void>(reader.read(text)); // the same page again, as a server that pages in a circle sends it
    std::vector<HubFile> files = reader.take();
    std::vector<ListedFile> listed;
    for (const HubFile &file : files) {
        fuzz::require(isPlainRelativePath(file.path), "files stay in the repository");
        listed.push_back({file.path, file.bytes});
    }
    std::sort(listed.begin(), listed.end(),
              [](const ListedFile &a, const ListedFile &b) { return a.path < b.path; });
    const std::vector<HubChoice> choices = choicesOf(listed);
    static_cast<void>(otherLabels(choices, defaultChoice(choices, "Q4_K_M")));
    for (const HubChoice &choice : choices) {
        fuzz::require(!choice.files.empty(), "a choice has files");
        fuzz::require(findChoice(choices, choice.files.front()) != nullptr, "a choice is found by its file");
    }
}

} // namespace

WEIR_FUZZ_TARGET(hub)
{
    if (const auto info = parseInfo(input))
        fuzz::require(info->commit.empty() || isCommit(info->commit), "a commit is a hash");
    listing(input);
    std::vector<HubHit> hits;
    if (parseHits(input, hits)) {
        for (const HubHit &hit : hits)
            fuzz::require(isRepositoryName(hit.id), "a hit can be asked for");
    }
    std::vector<std::string> names;
    static_cast<void>(parseRefs(input, names));
    static_cast<void>(kindOfText(input));
    HttpResponse response;
    response.status = 403;
    response.body = input.substr(0, 4096);
    response.headers.add("x-error-message", std::string(input.substr(0, 200)));
    response.headers.add("x-error-code", std::string(input.substr(0, 10)));
    const HubSubject subject{"org/name", "main", "", false};
    for (const int status : {401, 403, 404, 429, 500}) {
        response.status = status;
        static_cast<void>(hubError(response, subject));
    }
}

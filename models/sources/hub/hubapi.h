// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/sources/hub/http.h"
#include "models/sources/hub/hubsettings.h"
#include "models/sources/hub/hubtypes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {

/// What the words of an error need to know about a request.
struct HubSubject
{
    std::string repository; ///< org/name; empty for a search
    std::string revision;
    std::string file; ///< empty: about the repository
    bool anonymous = true;

    std::string text() const { return file.empty() ? repository : repository + '/' + file; }
};

/// How requests are made with these settings.
HttpOptions httpOptions(const HubSettings &settings);

/// What an answer that is no success means (section by section as the Hub's own client reads it).
Error hubError(const HttpResponse &response, const HubSubject &subject);

/// An answer that cannot be what it should be; `reason` says what it was instead.
Error brokenAnswer(const std::string &subject, const std::string &host, std::string reason);

/// What an unexpected text is, for people: "a web page", "not the JSON that it should be".
std::string_view kindOfText(std::string_view text);

/// The head of a repository's page.
struct HubInfo
{
    std::string id;
    std::string commit; ///< empty: the Hub did not say
    Gate gate = Gate::Open;
    bool isPrivate = false;
    bool isDisabled = false;
};
/// Empty if it is no such page, or names what can be no repository.
std::optional<HubInfo> parseInfo(std::string_view text);

inline constexpr std::size_t maxTreeEntries = 200'000;     ///< of all pages of one listing
inline constexpr std::uint64_t maxTreeBytes = 64U << 20U; ///< of their text

/// Reads the pages of one listing, one after the other; holds no more than the files.
class TreeReader
{
public:
    /// What a page was. TooMany: its entries or its text are beyond what is read of one repository.
    enum class Page : std::uint8_t { Good, NoListing, BadSize, TooMany };

    /// Adds the files of a page. Names that cannot be asked for, broken characters among them, are left out.
    Page read(std::string_view text);
    /// After BadSize: the file whose size is missing, no whole number, negative or beyond 2^63.
    const std::string &badFile() const { return m_badFile; }
    std::vector<HubFile> take() { return std::move(m_files); }

private:
    class Events;

    std::vector<HubFile> m_files;
    std::size_t m_entries = 0;
    std::uint64_t m_bytes = 0;
    std::string m_badFile;
};

/// A listing in one page, added to `files`. False if it is none.
bool parseTree(std::string_view text, std::vector<HubFile> &files);

/// Hits of a search; those that cannot be asked for by their name are left out. False if it is none.
bool parseHits(std::string_view text, std::vector<HubHit> &hits);

/// Branches and tags, `main` first. False if it is none.
bool parseRefs(std::string_view text, std::vector<std::string> &names);

/// The `rel="next"` of a Link header; empty if there is none.
std::string nextLink(std::string_view header);

} // namespace weir

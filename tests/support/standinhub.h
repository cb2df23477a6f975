// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/standinserver.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::test {

/// Something that goes wrong with requests whose decoded path holds `path`.
struct Fault
{
    enum class Kind {
        Delay,         ///< `time` passes before the answer
        Drop,          ///< the connection ends after `bytes` of the body
        Refuse,        ///< the connection ends without an answer
        Stall,         ///< nothing more comes after `bytes` of the body, for `time`
        Status,        ///< `status` with `text` as the error
        RateLimit, ///< 429, its window ends in `seconds` (RateLimit header), or Retry-After if `text` says so
        IgnoreRange, ///< 200 and the whole file for a range
        WrongRange, ///< 206 with a Content-Range that begins elsewhere
        Html, ///< 200 with a web page
        CutJson, ///< 200 with the first half of the true body, as if it were all
        Endless, ///< a body that never ends
        RedirectLoop, ///< 302 to itself
        RedirectTo, ///< 302 to `text`
        Expired ///< 403, as a signed address answers after its time
    };
    enum class Where { Hub, Cdn, Both };

    Kind kind = Kind::Status;
    std::string path = "/"; ///< part of the decoded path; for the CDN, of the file's path in its repository
    int times = -1; ///< so many requests, then fine; -1: all
    Where where = Where::Both;
    int status = 500;
    std::string text = {};
    std::uint64_t bytes = 0;
    unsigned seconds = 0;
    std::chrono::milliseconds time{60'000};
};

/// What is special about one repository.
struct StandInRepository
{
    enum class Access { Open, Gated, GatedNotGranted, Private, Disabled, NoScope };
    Access access = Access::Open;
    bool gatedManually = false;
    std::string renamedTo; ///< answers 307 to this id
    nlohmann::json fields = nlohmann::json::object(); ///< merged into what the API says of it
};

/// A stand-in for the Hub, made after its protocol and not after this program's client. It serves a tree
/// ROOT/ORG/NAME of model folders; `NAME@REVISION` beside `NAME` is another revision of it (its `/` written
/// as `%2F`). Weights come by redirect from a second server on another port, small files by a relative one.
/// Everything may be changed while it runs, from any thread.
class StandInHub
{
public:
    explicit StandInHub(std::filesystem::path root, std::uint16_t port = 0);
    ~StandInHub();

    std::string endpoint() const { return m_hub->origin(); }
    std::string cdnEndpoint() const { return m_cdn->origin(); }
    StandInServer &hub() { return *m_hub; }
    StandInServer &cdn() { return *m_cdn; }

    /// Time of a round trip: waited before every answer, and once more for a new connection.
    void setLatency(std::chrono::milliseconds time);
    /// The one token that is good; empty: any is.
    void setToken(const std::string &token);
    void setRepository(const std::string &id, const StandInRepository &repository);
    void addFault(const Fault &fault);
    /// Answers in the place of the stand-in where it returns true; called first, on any thread.
    using Hook = std::function<bool(const SeenRequest &, StandInServer::Connection &)>;
    void setHook(Hook hook);
    void clearFaults();
    /// Entries of a page of a tree, 1000 on the Hub.
    void setTreePage(std::size_t entries);
    /// A new commit of every repository, as if something had been pushed.
    void advanceCommits();

    std::vector<SeenRequest> requests() const;
    /// How many received requests hold this text in their decoded path.
    std::size_t count(std::string_view path) const;
    void clearRequests();

    /// The commit of a revision, as the stand-in makes it up.
    std::string commitOf(const std::string &id, const std::string &revision = "main") const;

private:
    struct Place ///< a repository at a revision
    {
        std::string id;
        std::string revision;
        std::string commit;
        std::filesystem::path folder;
    };
    struct File
    {
        std::string path;
        std::uint64_t bytes = 0;
        bool large = false;
        std::string etag;
    };

    void answerHub(const SeenRequest &request, StandInServer::Connection &connection);
    void answerCdn(const SeenRequest &request, StandInServer::Connection &connection);
    StandInResponse respond(const SeenRequest &request);
    StandInResponse api(const SeenRequest &request, std::string_view rest);
    StandInResponse search(const SeenRequest &request);
    StandInResponse info(const SeenRequest &request, const Place &place);
    StandInResponse tree(const SeenRequest &request, const Place &place, const std::string &below);
    StandInResponse refs(const std::string &id) const;
    StandInResponse resolve(const Place &place, const std::string &path) const;
    StandInResponse content(const SeenRequest &request, const std::filesystem::path &file,
                            const std::string &etag) const;

    std::optional<StandInResponse> denied(const SeenRequest &request, const std::string &id, bool file) const;
    std::optional<Place> place(const std::string &id, const std::string &revision) const;
    std::vector<std::string> revisionsOf(const std::string &id) const;
    std::vector<File> filesOf(const Place &place) const;
    File fileOf(const Place &place, const std::string &path) const;
    nlohmann::json describe(const Place &place) const;
    StandInRepository repository(const std::string &id) const;

    /// Handles the first fault that applies; true if the request is answered by it.
    bool meddle(const SeenRequest &request, const std::string &path, StandInServer::Connection &connection,
                StandInResponse &response);
    void record(const SeenRequest &request, bool cdn);
    bool hooked(const SeenRequest &request, StandInServer::Connection &connection);

    std::filesystem::path m_root;
    mutable std::mutex m_mutex;
    std::chrono::milliseconds m_latency{0};
    std::string m_token;
    std::size_t m_treePage = 1000;
    unsigned m_generation = 0;
    unsigned m_apiLeft = 500;
    unsigned m_resolversLeft = 3000;
    std::map<std::string, StandInRepository> m_repositories;
    std::vector<Fault> m_faults;
    Hook m_hook;
    std::vector<SeenRequest> m_seen;
    mutable std::map<std::string, nlohmann::json> m_described;
    std::unique_ptr<StandInServer> m_hub;
    std::unique_ptr<StandInServer> m_cdn;
};

} // namespace weir::test

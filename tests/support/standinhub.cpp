// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/standinhub.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace weir::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

/// Letters of a hash of the text: nothing depends on which hash it is.
std::string fakeHash(std::string_view text, std::size_t digits)
{
    static constexpr std::string_view hex = "0123456789abcdef";
    std::string out;
    std::uint64_t state = 0xCBF29CE484222325ULL;
    for (std::size_t round = 0; out.size() < digits; ++round) {
        state ^= round;
        for (const char c : text)
            state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
        for (unsigned shift = 0; shift < 64 && out.size() < digits; shift += 4)
            out += hex[(state >> shift) & 15U];
    }
    return out;
}

bool isHex40(const std::string &text)
{
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

StandInResponse jsonAnswer(const Json &body, int status = 200)
{
    StandInResponse response;
    response.status = status;
    response.body = body.dump();
    response.set("Content-Type", "application/json; charset=utf-8");
    return response;
}

StandInResponse error(int status, const std::string &code, const std::string &message)
{
    StandInResponse response = jsonAnswer({{"error", message}}, status);
    if (!code.empty())
        response.set("X-Error-Code", code);
    response.set("X-Error-Message", message);
    return response;
}

StandInResponse redirect(int status, const std::string &location)
{
    StandInResponse response;
    response.status = status;
    response.body = "Redirecting to " + location;
    response.set("Location", location);
    return response;
}

bool inside(const fs::path &path) // no `..` leads out of a repository
{
    return std::none_of(path.begin(), path.end(), [](const fs::path &part) { return part == ".."; });
}

/// The text between a beginning and an end, if it has both.
std::optional<std::string> between(std::string_view text, std::string_view begin, std::string_view end)
{
    if (!text.starts_with(begin) || !text.ends_with(end) || text.size() < begin.size() + end.size())
        return std::nullopt;
    return std::string(text.substr(begin.size(), text.size() - begin.size() - end.size()));
}

/// The parts of a target's path, each with its percent signs resolved: `refs%2Fpr%2F1` stays one part.
std::vector<std::string> partsOf(const SeenRequest &request)
{
    std::vector<std::string> parts;
    std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::string_view part = path.substr(0, path.find('/'));
        parts.push_back(percentDecoded(part));
        path.remove_prefix(part.size());
    }
    return parts;
}

std::string joined(const std::vector<std::string> &parts, std::size_t from, std::size_t to)
{
    std::string text;
    for (std::size_t i = from; i < std::min(to, parts.size()); ++i)
        text += (i == from ? "" : "/") + parts[i];
    return text;
}

} // namespace

StandInHub::StandInHub(fs::path root, std::uint16_t port)
    : m_root(std::move(root))
{
    m_cdn = std::make_unique<StandInServer>(
        [this](const SeenRequest &request, StandInServer::Connection &connection) {
            answerCdn(request, connection);
        });
    m_hub = std::make_unique<StandInServer>(
        [this](const SeenRequest &request, StandInServer::Connection &connection) {
            answerHub(request, connection);
        },
        port);
}

StandInHub::~StandInHub()
{
    m_hub->stop();
    m_cdn->stop();
}

void StandInHub::setLatency(std::chrono::milliseconds time)
{
    const std::lock_guard lock(m_mutex);
    m_latency = time;
    m_hub->setHandshake(time);
    m_cdn->setHandshake(time);
}

void StandInHub::setToken(const std::string &token)
{
    const std::lock_guard lock(m_mutex);
    m_token = token;
}

void StandInHub::setRepository(const std::string &id, const StandInRepository &repository)
{
    const std::lock_guard lock(m_mutex);
    m_repositories[id] = repository;
    m_described.erase(id);
}

void StandInHub::addFault(const Fault &fault)
{
    const std::lock_guard lock(m_mutex);
    m_faults.push_back(fault);
}

void StandInHub::clearFaults()
{
    const std::lock_guard lock(m_mutex);
    m_faults.clear();
}

void StandInHub::setTreePage(std::size_t entries)
{
    const std::lock_guard lock(m_mutex);
    m_treePage = entries;
}

void StandInHub::advanceCommits()
{
    const std::lock_guard lock(m_mutex);
    ++m_generation;
}

std::vector<SeenRequest> StandInHub::requests() const
{
    const std::lock_guard lock(m_mutex);
    return m_seen;
}

std::size_t StandInHub::count(std::string_view path) const
{
    const std::lock_guard lock(m_mutex);
    return static_cast<std::size_t>(
        std::count_if(m_seen.begin(), m_seen.end(), [path](const SeenRequest &seen) {
            return seen.path().find(path) != std::string::npos;
        }));
}

void StandInHub::clearRequests()
{
    const std::lock_guard lock(m_mutex);
    m_seen.clear();
}

void StandInHub::record(const SeenRequest &request, bool cdn)
{
    const std::lock_guard lock(m_mutex);
    m_seen.push_back(request);
    m_seen.back().cdn = cdn;
}

StandInRepository StandInHub::repository(const std::string &id) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_repositories.find(id);
    return found == m_repositories.end() ? StandInRepository{} : found->second;
}

std::vector<std::string> StandInHub::revisionsOf(const std::string &id) const
{
    std::vector<std::string> revisions;
    const fs::path folder = (m_root / id).parent_path();
    const std::string name = fs::path(id).filename().string();
    std::error_code ignored;
    for (const auto &each : fs::directory_iterator(folder, ignored)) {
        const std::string found = each.path().filename().string();
        if (found == name)
            revisions.emplace_back("main");
        else if (found.starts_with(name + '@'))
            revisions.push_back(percentDecoded(found.substr(name.size() + 1)));
    }
    std::sort(revisions.begin(), revisions.end());
    return revisions;
}

std::string StandInHub::commitOf(const std::string &id, const std::string &revision) const
{
    const std::lock_guard lock(m_mutex);
    return fakeHash(id + '@' + revision + '#' + std::to_string(m_generation), 40);
}

std::optional<StandInHub::Place> StandInHub::place(const std::string &id, const std::string &revision) const
{
    if (!inside(id))
        return std::nullopt;
    for (const std::string &each : revisionsOf(id)) {
        const std::string commit = commitOf(id, each);
        if (each != revision && commit != revision)
            continue;
        const std::string suffix = each == "main" ? std::string() : '@' + percentEncoded(each);
        return Place{id, each, commit, m_root / (id + suffix)};
    }
    return std::nullopt;
}

StandInHub::File StandInHub::fileOf(const Place &place, const std::string &path) const
{
    std::error_code failed;
    File file;
    file.path = path;
    file.bytes = fs::file_size(place.folder / path, failed);
    static constexpr std::string_view endings[] = {".safetensors", ".gguf", ".bin",
                                                   ".pth",         ".pt",   "tokenizer.json"};
    file.large = file.bytes >= 10'000'000
                 || std::any_of(std::begin(endings), std::end(endings),
                                [&path](std::string_view ending) { return path.ends_with(ending); });
    file.etag = fakeHash(place.id + path + std::to_string(file.bytes), file.large ? 64 : 40);
    return file;
}

std::vector<StandInHub::File> StandInHub::filesOf(const Place &place) const
{
    std::vector<File> files;
    std::error_code ignored;
    for (const auto &each : fs::recursive_directory_iterator(place.folder, ignored)) {
        if (each.is_regular_file(ignored))
            files.push_back(fileOf(place, fs::relative(each.path(), place.folder).generic_string()));
    }
    std::sort(files.begin(), files.end(), [](const File &a, const File &b) { return a.path < b.path; });
    return files;
}

std::optional<StandInResponse> StandInHub::denied(const SeenRequest &request, const std::string &id,
                                                  bool file) const
{
    const std::string sent = request.header("authorization");
    std::string good;
    {
        const std::lock_guard lock(m_mutex);
        good = m_token;
    }
    if (!sent.empty() && (!sent.starts_with("Bearer ") || (!good.empty() && sent != "Bearer " + good)))
        return error(401, "", "Invalid credentials in Authorization header");
    if (id.empty())
        return std::nullopt;
    using Access = StandInRepository::Access;
    const StandInRepository special = repository(id);
    const bool anonymous = sent.empty();
    const bool missing = revisionsOf(id).empty() && special.renamedTo.empty();
    if (missing || (special.access == Access::Private && anonymous)) {
        return anonymous ? error(401, "RepoNotFound", "Invalid username or password.")
                         : error(404, "RepoNotFound", "Repository not found");
    }
    if (special.access == Access::Disabled)
        return error(403, "", "Access to this resource is disabled.");
    if (special.access == Access::NoScope && !anonymous)
        return error(403, "", "This token lacks the permission to read this repository.");
    const bool gated = special.access == Access::Gated || special.access == Access::GatedNotGranted;
    if (file && gated && anonymous) {
        return error(401, "GatedRepo",
                     "Access to model " + id
                         + " is restricted. You must have access to it and be authenticated "
                           "to access it. Please log in.");
    }
    if (file && special.access == Access::GatedNotGranted) {
        return error(403, "GatedRepo",
                     "Access to model " + id + " is restricted and you are not in the authorized list.");
    }
    return std::nullopt;
}

StandInResponse StandInHub::respond(const SeenRequest &request)
{
    if (request.method != "GET" && request.method != "HEAD")
        return error(404, "", "Not found");
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path.starts_with("/api/"))
        return api(request, std::string_view(path).substr(5));

    // ORG/NAME/resolve/REV/PATH, or NAME/resolve/REV/PATH
    const std::vector<std::string> parts = partsOf(request);
    for (std::size_t i = 1; i <= 2 && i + 2 < parts.size(); ++i) {
        if (parts[i] != "resolve")
            continue;
        const std::string id = joined(parts, 0, i);
        if (auto refusal = denied(request, id, true))
            return *std::move(refusal);
        if (const StandInRepository special = repository(id); !special.renamedTo.empty())
            return redirect(307, '/' + special.renamedTo + request.target.substr(1 + id.size()));
        const auto at = place(id, parts[i + 1]);
        if (!at)
            return error(404, "RevisionNotFound", "Invalid rev id: " + parts[i + 1]);
        return resolve(*at, joined(parts, i + 2, parts.size()));
    }
    return error(404, "", "Sorry, we can't find the page you are looking for.");
}

StandInResponse StandInHub::api(const SeenRequest &request, std::string_view rest)
{
    if (rest == "models") {
        if (auto refusal = denied(request, {}, false))
            return *std::move(refusal);
        return search(request);
    }
    const std::vector<std::string> parts = partsOf(request);
    if (parts.size() > 5 && parts[1] == "resolve-cache" && parts[2] == "models") {
        // models/ORG/NAME/COMMIT/PATH: where small files lie
        for (std::size_t i = 4; i <= 5; ++i) {
            const std::string id = joined(parts, 3, i);
            if (!isHex40(parts[i]))
                continue;
            if (auto refusal = denied(request, id, true))
                return *std::move(refusal);
            if (const auto at = place(id, parts[i])) {
                const std::string path = joined(parts, i + 1, parts.size());
                if (!inside(path) || !fs::is_regular_file(at->folder / path))
                    return error(404, "EntryNotFound", "Entry not found");
                StandInResponse response = content(request, at->folder / path, fileOf(*at, path).etag);
                response.set("X-Repo-Commit", at->commit);
                return response;
            }
        }
        return error(404, "", "Not found");
    }
    if (parts.size() < 3 || parts[1] != "models")
        return error(404, "", "Not found");

    // The id has one or two parts; what follows it tells.
    static constexpr std::string_view verbs[] = {"revision", "tree", "refs"};
    const auto isVerb = [](const std::string &part) {
        return std::find(std::begin(verbs), std::end(verbs), part) != std::end(verbs);
    };
    const std::size_t end = parts.size() == 3 || isVerb(parts[3]) ? 3 : 4;
    const std::string id = joined(parts, 2, end);
    if (auto refusal = denied(request, id, false))
        return *std::move(refusal);
    if (const StandInRepository special = repository(id); !special.renamedTo.empty()) {
        std::string target = request.target;
        return redirect(307, target.replace(target.find(id), id.size(), special.renamedTo));
    }
    const std::string verb = end < parts.size() ? parts[end] : std::string();
    if (verb == "refs")
        return refs(id);
    const std::string revision = end + 1 < parts.size() ? parts[end + 1] : std::string("main");
    const auto at = place(id, revision);
    if (!at)
        return error(404, "RevisionNotFound", "Invalid rev id: " + revision);
    if (verb == "tree")
        return tree(request, *at, joined(parts, end + 2, parts.size()));
    if (verb.empty() || verb == "revision")
        return info(request, *at);
    return error(404, "", "Not found");
}

StandInResponse StandInHub::refs(const std::string &id) const
{
    Json branches = Json::array();
    Json tags = Json::array();
    for (const std::string &each : revisionsOf(id)) {
        const bool tag = each.starts_with("v");
        (tag ? tags : branches)
            .push_back({{"name", each},
                        {"ref", (tag ? "refs/tags/" : "refs/heads/") + each},
                        {"targetCommit", commitOf(id, each)}});
    }
    return jsonAnswer({{"branches", branches}, {"tags", tags}, {"converts", Json::array()}});
}

StandInResponse StandInHub::tree(const SeenRequest &request, const Place &place, const std::string &below)
{
    const bool recursive = request.parameter("recursive") == "true";
    const std::string prefix = below.empty() ? std::string() : below + '/';
    std::vector<Json> entries;
    std::vector<std::string> folders;
    for (const File &file : filesOf(place)) {
        if (!file.path.starts_with(prefix))
            continue;
        for (std::size_t slash = file.path.find('/', prefix.size()); slash != std::string::npos;
             slash = recursive ? file.path.find('/', slash + 1) : std::string::npos) {
            const std::string folder = file.path.substr(0, slash);
            if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
                folders.push_back(folder);
                entries.push_back(
                    {{"type", "directory"}, {"oid", fakeHash(folder, 40)}, {"size", 0}, {"path", folder}});
            }
        }
        if (!recursive && file.path.find('/', prefix.size()) != std::string::npos)
            continue;
        Json entry{{"type", "file"},
                   {"oid", file.large ? fakeHash(file.etag, 40) : file.etag},
                   {"size", file.bytes},
                   {"path", file.path}};
        if (file.large) {
            entry["lfs"] = {{"oid", file.etag}, {"size", file.bytes}, {"pointerSize", 135}};
            entry["xetHash"] = fakeHash("xet" + file.etag, 64);
        }
        entries.push_back(std::move(entry));
    }
    std::size_t start = 0;
    const std::string cursor = request.parameter("cursor");
    std::from_chars(cursor.data(), cursor.data() + cursor.size(), start);
    std::size_t page = 0;
    {
        const std::lock_guard lock(m_mutex);
        page = m_treePage;
    }
    const std::size_t stop = std::min(entries.size(), start + page);
    Json body = Json::array();
    for (std::size_t i = start; i < stop; ++i)
        body.push_back(entries[i]);
    StandInResponse response = jsonAnswer(body);
    if (stop < entries.size()) {
        response.set("Link", '<' + endpoint() + request.target.substr(0, request.target.find('?'))
                                 + "?recursive=" + (recursive ? "true" : "false")
                                 + "&cursor=" + std::to_string(stop) + ">; rel=\"next\"");
    }
    response.set("ETag", "W/\"" + fakeHash(response.body + place.commit, 27) + '"');
    return response;
}

StandInResponse StandInHub::resolve(const Place &place, const std::string &path) const
{
    if (!inside(path) || !fs::is_regular_file(place.folder / path)) {
        StandInResponse response = error(404, "EntryNotFound", "Entry not found");
        response.set("X-Repo-Commit", place.commit);
        return response;
    }
    const File file = fileOf(place, path);
    std::string location;
    if (file.large) {
        location = m_cdn->origin() + "/repos/" + file.etag.substr(0, 2) + '/' + file.etag + "?path="
                   + percentEncoded(place.folder.lexically_relative(m_root).generic_string() + "//" + path)
                   + "&X-Amz-Expires=3600&X-Amz-Signature=" + fakeHash("signed" + file.etag, 64);
    } else {
        location = "/api/resolve-cache/models/" + place.id + '/' + place.commit + '/'
                   + percentEncoded(path, true) + "?%2F" + percentEncoded(place.id) + "%2Fresolve%2F"
                   + percentEncoded(place.revision) + "%2F" + percentEncoded(path) + "=&etag=%22" + file.etag
                   + "%22";
    }
    StandInResponse response = redirect(file.large ? 302 : 307, location);
    response.set("X-Repo-Commit", place.commit);
    response.set("X-Linked-Size", std::to_string(file.bytes));
    response.set("X-Linked-ETag", '"' + file.etag + '"');
    response.set("Accept-Ranges", "bytes");
    response.set("Vary", "Origin, Accept");
    if (file.large)
        response.set("X-Xet-Hash", fakeHash("xet" + file.etag, 64));
    return response;
}

StandInResponse StandInHub::content(const SeenRequest &request, const fs::path &file,
                                    const std::string &etag) const
{
    StandInResponse response;
    response.file = file;
    response.bytes = fs::file_size(file);
    response.set("ETag", '"' + etag + '"');
    response.set("Content-Type", "application/octet-stream");
    response.set("Accept-Ranges", "bytes");
    if (request.header("if-none-match").find(etag) != std::string::npos) {
        response.status = 304;
        response.bytes = 0;
        return response;
    }
    const auto range = between(request.header("range"), "bytes=", "");
    if (!range)
        return response;
    const std::size_t dash = range->find('-');
    std::uint64_t first = 0;
    std::uint64_t last = response.bytes == 0 ? 0 : response.bytes - 1;
    const char *end = range->data() + range->size();
    std::from_chars(range->data(), end, first);
    if (dash != std::string::npos && dash + 1 < range->size())
        std::from_chars(range->data() + dash + 1, end, last);
    if (first >= response.bytes) {
        response.status = 416;
        response.set("Content-Range", "bytes */" + std::to_string(response.bytes));
        response.bytes = 0;
        return response;
    }
    last = std::min(last, response.bytes - 1);
    response.status = 206;
    response.set("Content-Range", "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/'
                                      + std::to_string(response.bytes));
    response.offset = first;
    response.bytes = last - first + 1;
    return response;
}

void StandInHub::setHook(Hook hook)
{
    const std::lock_guard lock(m_mutex);
    m_hook = std::move(hook);
}

bool StandInHub::hooked(const SeenRequest &request, StandInServer::Connection &connection)
{
    Hook hook;
    {
        const std::lock_guard lock(m_mutex);
        hook = m_hook;
    }
    return hook && hook(request, connection);
}

void StandInHub::answerHub(const SeenRequest &request, StandInServer::Connection &connection)
{
    record(request, false);
    if (hooked(request, connection))
        return;
    std::chrono::milliseconds latency{};
    bool isApi = false;
    unsigned left = 0;
    {
        const std::lock_guard lock(m_mutex);
        latency = m_latency;
        isApi = request.target.starts_with("/api/") && !request.target.starts_with("/api/resolve-cache/");
        unsigned &bucket = isApi ? m_apiLeft : m_resolversLeft;
        left = bucket > 1 ? --bucket : bucket = (isApi ? 500 : 3000);
    }
    if (!connection.wait(latency))
        return;
    StandInResponse response = respond(request);
    const std::string name = isApi ? "\"api\"" : "\"resolvers\"";
    response.set("RateLimit", name + ";r=" + std::to_string(left) + ";t=172");
    response.set("RateLimit-Policy", "\"fixed window\";" + name + (isApi ? ";q=500;w=300" : ";q=3000;w=300"));
    response.set("X-Request-Id", "Root=1-" + fakeHash(request.target, 24));
    if (meddle(request, request.path(), connection, response))
        return;
    connection.send(request, response);
}

void StandInHub::answerCdn(const SeenRequest &request, StandInServer::Connection &connection)
{
    record(request, true);
    if (hooked(request, connection))
        return;
    std::chrono::milliseconds latency{};
    {
        const std::lock_guard lock(m_mutex);
        latency = m_latency;
    }
    if (!connection.wait(latency))
        return;
    const std::string name = request.parameter("path"); // FOLDER//PATH
    const fs::path file = m_root / name;
    StandInResponse response;
    if (!request.header("authorization").empty() || !request.header("cookie").empty()) {
        response.status = 400;
        response.body = "<Error><Code>InvalidArgument</Code><Message>Only one auth mechanism "
                        "allowed</Message></Error>";
    } else if (request.parameter("X-Amz-Signature").empty()) {
        response.status = 403;
        response.body = "<Error><Code>AccessDenied</Code></Error>";
    } else if (name.empty() || !inside(name) || !fs::is_regular_file(file)) {
        response.status = 404;
        response.body = "<Error><Code>NoSuchKey</Code></Error>";
    } else {
        const std::string path = request.path();
        response = content(request, file, path.substr(path.rfind('/') + 1));
    }
    if (meddle(request, '/' + name, connection, response))
        return;
    connection.send(request, response);
}

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the stand-in says of repositories (search and the page of one), and how it misbehaves when told to.
#include "tests/support/standinhub.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <set>

namespace weir::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

std::string beginningOf(const fs::path &file, std::size_t bytes)
{
    std::string text(bytes, '\0');
    std::ifstream stream(file, std::ios::binary);
    stream.read(text.data(), static_cast<std::streamsize>(bytes));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

std::uint64_t littleEndian(std::string_view bytes)
{
    std::uint64_t value = 0;
    for (std::size_t i = std::min<std::size_t>(8, bytes.size()); i-- > 0;)
        value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
    return value;
}

/// Elements by dtype of one safetensors file, by looking for what every entry has.
void countElements(const fs::path &file, std::map<std::string, std::uint64_t> &elements)
{
    const std::uint64_t length = littleEndian(beginningOf(file, 8));
    if (length > 100'000'000)
        return;
    const std::string text = beginningOf(file, 8 + static_cast<std::size_t>(length));
    std::size_t at = 0;
    while ((at = text.find("\"dtype\"", at)) != std::string::npos) {
        const std::size_t open = text.find('"', at + 7);
        const std::size_t close = text.find('"', open + 1);
        const std::size_t shape = text.find('[', close);
        if (shape == std::string::npos)
            return;
        std::uint64_t count = 1;
        const char *place = text.data() + shape + 1;
        const char *end = text.data() + text.size();
        while (place < end && *place != ']') {
            std::uint64_t dimension = 0;
            const auto read = std::from_chars(place, end, dimension);
            if (read.ec == std::errc{})
                count *= dimension;
            place = read.ptr + (read.ec == std::errc{} ? 0 : 1);
        }
        elements[text.substr(open + 1, close - open - 1)] += count;
        at = shape;
    }
}

/// The architecture that a GGUF file names, one of its first keys.
std::string ggufArchitecture(const fs::path &file)
{
    const std::string text = beginningOf(file, 4096);
    static constexpr std::string_view key = "general.architecture";
    const std::size_t at = text.find(key);
    if (at == std::string::npos || at + key.size() + 12 > text.size())
        return {};
    const std::size_t start = at + key.size() + 4;
    const std::uint64_t length = littleEndian(std::string_view(text).substr(start, 8));
    return length < 64 ? text.substr(start + 8, static_cast<std::size_t>(length)) : std::string();
}

std::uint64_t numberFrom(std::string_view text)
{
    std::uint64_t value = 7;
    for (const char c : text)
        value = value * 31 + static_cast<unsigned char>(c);
    return value;
}

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

} // namespace

Json StandInHub::describe(const Place &place) const
{
    {
        const std::lock_guard lock(m_mutex);
        const auto known = m_described.find(place.id);
        if (known != m_described.end() && known->second["sha"] == place.commit)
            return known->second;
    }
    const std::vector<File> files = filesOf(place);
    std::map<std::string, std::uint64_t> elements;
    Json siblings = Json::array();
    std::uint64_t used = 0;
    std::string firstGguf;
    for (const File &file : files) {
        Json sibling{{"rfilename", file.path}, {"size", file.bytes}};
        if (file.large)
            sibling["lfs"] = {{"sha256", file.etag}, {"size", file.bytes}, {"pointerSize", 135}};
        else
            sibling["blobId"] = file.etag;
        siblings.push_back(std::move(sibling));
        used += file.bytes;
        if (file.path.ends_with(".safetensors") && file.path.find('/') == std::string::npos)
            countElements(place.folder / file.path, elements);
        if (file.path.ends_with(".gguf") && firstGguf.empty())
            firstGguf = file.path;
    }
    std::ifstream stream(place.folder / "config.json");
    const Json config = stream ? Json::parse(stream, nullptr, false) : Json();
    const StandInRepository special = repository(place.id);
    const bool gated = special.access == StandInRepository::Access::Gated
                       || special.access == StandInRepository::Access::GatedNotGranted;
    const std::uint64_t number = numberFrom(place.id);
    Json tags = Json::array({"text-generation", "license:apache-2.0", "region:us"});
    if (!elements.empty())
        tags.push_back("safetensors");
    if (!firstGguf.empty())
        tags.push_back("gguf");
    if (place.id.starts_with("mlx-"))
        tags.push_back("mlx");

    Json out{{"_id", std::to_string(number)},
             {"id", place.id},
             {"modelId", place.id},
             {"author", place.id.substr(0, place.id.find('/'))},
             {"sha", place.commit},
             {"private", special.access == StandInRepository::Access::Private},
             {"disabled", false},
             {"gated", gated ? Json(special.gatedManually ? "manual" : "auto") : Json(false)},
             {"downloads", number % 1'000'000},
             {"likes", number % 9'973},
             {"trendingScore", number % 997},
             {"createdAt", "2025-04-28T08:00:00.000Z"},
             {"lastModified", "2026-0" + std::to_string(1 + number % 9) + "-1" + std::to_string(number % 10)
                                  + "T10:00:00.000Z"},
             {"pipeline_tag", "text-generation"},
             {"library_name", firstGguf.empty() ? "transformers" : "gguf"},
             {"tags", tags},
             {"siblings", siblings},
             {"usedStorage", used}};
    if (config.is_object()) {
        Json reduced = Json::object();
        for (const char *key : {"architectures", "model_type"}) {
            if (config.contains(key))
                reduced[key] = config[key];
        }
        out["config"] = std::move(reduced);
    }
    if (!elements.empty()) {
        std::uint64_t total = 0;
        for (const auto &[dtype, count] : elements)
            total += count;
        out["safetensors"] = {{"parameters", elements}, {"total", total}};
    }
    if (!firstGguf.empty())
        out["gguf"] = {{"architecture", ggufArchitecture(place.folder / firstGguf)},
                       {"context_length", 32768}};
    out.update(special.fields);
    const std::lock_guard lock(m_mutex);
    return m_described[place.id] = out;
}

StandInResponse StandInHub::search(const SeenRequest &request)
{
    const std::string text = lower(request.parameter("search"));
    const std::string author = request.parameter("author");
    const std::vector<std::string> filters = request.parameters("filter");
    std::vector<std::string> expand = request.parameters("expand");
    if (!expand.empty() && (request.parameter("full") == "true" || request.parameter("config") == "true")) {
        StandInResponse response;
        response.status = 400;
        response.body = R"({"error":"expand cannot be combined with full or config"})";
        return response;
    }
    std::vector<std::string> ids;
    std::error_code ignored;
    for (const auto &owner : fs::directory_iterator(m_root, ignored)) {
        for (const auto &each : fs::directory_iterator(owner.path(), ignored)) {
            const std::string id = owner.path().filename().string() + '/' + each.path().filename().string();
            if (!each.is_directory() || id.find('@') != std::string::npos
                || lower(id).find(text) == std::string::npos
                || (!author.empty() && !id.starts_with(author + '/')))
                continue;
            if (repository(id).access == StandInRepository::Access::Private
                && request.header("authorization").empty())
                continue;
            ids.push_back(id);
        }
    }
    std::vector<Json> hits;
    for (const std::string &id : ids) {
        const auto at = place(id, "main");
        if (!at)
            continue;
        Json hit = describe(*at);
        const bool wanted = std::all_of(filters.begin(), filters.end(), [&hit](const std::string &filter) {
            return std::find(hit["tags"].begin(), hit["tags"].end(), Json(filter)) != hit["tags"].end();
        });
        if (wanted)
            hits.push_back(std::move(hit));
    }
    const std::string sort = request.parameter("sort").empty() ? "trendingScore" : request.parameter("sort");
    std::stable_sort(hits.begin(), hits.end(), [&sort](const Json &a, const Json &b) {
        const Json first = a.value(sort, Json());
        const Json second = b.value(sort, Json());
        return first != second ? first > second : a["id"] < b["id"];
    });

    std::size_t limit = 1000;
    std::size_t start = 0;
    const std::string asked = request.parameter("limit");
    const std::string cursor = request.parameter("cursor");
    std::from_chars(asked.data(), asked.data() + asked.size(), limit);
    std::from_chars(cursor.data(), cursor.data() + cursor.size(), start);
    static const std::set<std::string> usual{"_id",          "id",           "modelId",   "likes",
                                             "private",      "downloads",    "tags",      "gated",
                                             "pipeline_tag", "library_name", "createdAt", "trendingScore"};
    std::set<std::string> keys = usual;
    if (!expand.empty()) {
        keys = {"_id", "id", "modelId"};
        keys.insert(expand.begin(), expand.end());
    }
    Json body = Json::array();
    const std::size_t stop = std::min(hits.size(), start + std::clamp<std::size_t>(limit, 1, 1000));
    for (std::size_t i = start; i < stop; ++i) {
        Json hit = Json::object();
        for (const auto &[key, value] : hits[i].items()) {
            if (keys.contains(key))
                hit[key] = value;
        }
        body.push_back(std::move(hit));
    }
    StandInResponse response;
    response.body = body.dump();
    response.set("Content-Type", "application/json; charset=utf-8");
    if (stop < hits.size()) {
        std::string target = request.target;
        if (const std::size_t old = target.find("&cursor="); old != std::string::npos)
            target.erase(old, target.find('&', old + 1) - old);
        response.set("Link", '<' + endpoint() + target + (target.find('?') == std::string::npos ? '?' : '&')
                                 + "cursor=" + std::to_string(stop) + ">; rel=\"next\"");
    }
    return response;
}

StandInResponse StandInHub::info(const SeenRequest &request, const Place &place)
{
    Json body = describe(place);
    body["sha"] = place.commit;
    if (request.parameter("blobs") != "true") {
        for (Json &sibling : body["siblings"])
            sibling = {{"rfilename", sibling["rfilename"]}};
    }
    if (const std::vector<std::string> expand = request.parameters("expand"); !expand.empty()) {
        Json reduced{{"_id", body["_id"]}, {"id", body["id"]}};
        for (const std::string &key : expand) {
            if (body.contains(key))
                reduced[key] = body[key];
        }
        body = std::move(reduced);
    }
    StandInResponse response;
    response.body = body.dump();
    response.set("Content-Type", "application/json; charset=utf-8");
    response.set("ETag", "W/\"" + place.commit.substr(0, 20) + '"');
    return response;
}

bool StandInHub::meddle(const SeenRequest &request, const std::string &path,
                        StandInServer::Connection &connection, StandInResponse &response)
{
    std::optional<Fault> fault;
    {
        const std::lock_guard lock(m_mutex);
        for (Fault &each : m_faults) {
            const bool here = each.where == Fault::Where::Both
                              || (each.where == Fault::Where::Cdn) == (&connection.server() == m_cdn.get());
            if (!here || each.times == 0 || path.find(each.path) == std::string::npos)
                continue;
            each.times -= each.times > 0 ? 1 : 0;
            fault = each;
            break;
        }
    }
    if (!fault)
        return false;
    const auto answer = [&](int status, const std::string &body) {
        response = StandInResponse();
        response.status = status;
        response.body = body;
    };
    switch (fault->kind) {
    case Fault::Kind::Delay: return !connection.wait(fault->time);
    case Fault::Kind::Drop: connection.sendCut(response, fault->bytes); return true;
    case Fault::Kind::Refuse: connection.close(); return true;
    case Fault::Kind::Stall:
        connection.sendCut(response, fault->bytes);
        connection.wait(fault->time);
        return true;
    case Fault::Kind::Status:
        answer(fault->status, Json{{"error", fault->text}}.dump());
        response.set("Content-Type", "application/json; charset=utf-8");
        if (!fault->text.empty())
            response.set("X-Error-Message", fault->text);
        return false;
    case Fault::Kind::RateLimit:
        answer(429, R"({"error":"We had to rate limit you."})");
        if (fault->text == "Retry-After") {
            response.set("Retry-After", std::to_string(fault->seconds));
        } else {
            response.set("RateLimit", "\"resolvers\";r=0;t=" + std::to_string(fault->seconds));
            response.set("RateLimit-Policy", "\"fixed window\";\"resolvers\";q=3000;w=300");
        }
        return false;
    case Fault::Kind::IgnoreRange:
        if (response.status == 206) {
            response.status = 200;
            std::erase_if(response.headers, [](const auto &each) { return each.first == "Content-Range"; });
            response.offset = 0;
            response.bytes = fs::file_size(response.file);
        }
        return false;
    case Fault::Kind::WrongRange:
        for (auto &[name, value] : response.headers) {
            if (name == "Content-Range")
                value.replace(0, value.find('-'), "bytes 4096");
        }
        return false;
    case Fault::Kind::Html:
        answer(200, "<!DOCTYPE html><html><head><title>Sign in to the network</title></head></html>");
        response.set("Content-Type", "text/html; charset=utf-8");
        return false;
    case Fault::Kind::CutJson: {
        std::string body = response.body;
        if (!response.file.empty())
            body = beginningOf(response.file, static_cast<std::size_t>(response.bytes));
        answer(200, body.substr(0, body.size() / 2));
        response.set("Content-Type", "application/json; charset=utf-8");
        return false;
    }
    case Fault::Kind::Endless: {
        connection.raw(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n");
        const std::string chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
        while (connection.raw(chunk) && connection.wait(std::chrono::milliseconds(0))) {
        }
        connection.close();
        return true;
    }
    case Fault::Kind::RedirectLoop:
        answer(302, {});
        response.set("Location", request.target);
        return false;
    case Fault::Kind::RedirectTo:
        answer(302, {});
        response.set("Location", fault->text);
        return false;
    case Fault::Kind::Expired:
        answer(403, "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>");
        return false;
    }
    return false;
}

} // namespace weir::test

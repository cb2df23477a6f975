// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubstore.h"

#include "models/checkpoint/safetensors.h"
#include "models/sources/catalogformat.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

namespace weir {

namespace {

using nlohmann::json;

constexpr std::uint64_t maxKeptBytes = 128U << 20U;

/// Which build of which program runs: changes with every new one.
const std::string &programStamp()
{
    static const std::string stamp = [] {
        struct stat status{};
        if (::stat("/proc/self/exe", &status) != 0)
            return std::string("unknown");
        return fmt::format("{}-{}-{}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    }();
    return stamp;
}

std::string dumped(const json &value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

} // namespace

std::optional<HubInfo> HubStore::info(const std::string &repository, const std::string &revision)
{
    const auto text = m_cache.get(HubCache::key({m_endpoint, "info", repository, revision}));
    return text ? parseInfo(*text) : std::nullopt;
}

void HubStore::keepInfo(const std::string &repository, const std::string &revision, const HubInfo &info)
{
    if (info.commit.empty())
        return;
    const json object{{"id", info.id},
                      {"sha", info.commit},
                      {"gated", info.gate == Gate::Open        ? json(false)
                                : info.gate == Gate::Automatic ? json("auto")
                                                               : json("manual")},
                      {"private", info.isPrivate}};
    const std::string key = HubCache::key({m_endpoint, "info", repository, revision});
    const std::string text = dumped(object);
    if (m_cache.get(key) != text)
        m_cache.put(key, text);
}

std::optional<std::vector<HubFile>> HubStore::listing(const HubInfo &info)
{
    const auto text = m_cache.get(HubCache::key({m_endpoint, "listing", info.id, info.commit}));
    std::vector<HubFile> files;
    if (!text || !parseTree(*text, files))
        return std::nullopt;
    return files;
}

void HubStore::keepListing(const HubInfo &info, const std::vector<HubFile> &files)
{
    if (info.commit.empty())
        return;
    json entries = json::array();
    for (const HubFile &file : files)
        entries.push_back({{"path", file.path}, {"size", file.bytes}, {"oid", file.etag}});
    m_cache.put(HubCache::key({m_endpoint, "listing", info.id, info.commit}), dumped(entries));
}

HubStore::Bytes HubStore::bytes(const HubInfo &info, const char *kind, const std::string &choice)
{
    Bytes bytes;
    const auto text = m_cache.get(HubCache::key({m_endpoint, kind, info.id, info.commit, choice}));
    if (!text)
        return bytes;
    // PATHBYTES CONTENTBYTES\n, path, content, and so on
    std::string_view rest = *text;
    while (!rest.empty()) {
        std::size_t nameBytes = 0;
        std::size_t contentBytes = 0;
        const char *end = rest.data() + std::min<std::size_t>(rest.size(), 64);
        const auto first = std::from_chars(rest.data(), end, nameBytes);
        if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ' ')
            return {};
        const auto second = std::from_chars(first.ptr + 1, end, contentBytes);
        if (second.ec != std::errc{} || second.ptr == end || *second.ptr != '\n')
            return {};
        rest.remove_prefix(static_cast<std::size_t>(second.ptr + 1 - rest.data()));
        if (nameBytes > rest.size() || contentBytes > rest.size() - nameBytes)
            return {};
        bytes.emplace(rest.substr(0, nameBytes), rest.substr(nameBytes, contentBytes));
        rest.remove_prefix(nameBytes + contentBytes);
    }
    return bytes;
}

void HubStore::keepBytes(const HubInfo &info, const char *kind, const std::string &choice, const Bytes &bytes)
{
    std::uint64_t total = 0;
    for (const auto &[path, content] : bytes)
        total += path.size() + content.size() + 64;
    if (info.commit.empty() || bytes.empty() || total > maxKeptBytes)
        return;
    std::string text;
    text.reserve(static_cast<std::size_t>(total));
    for (const auto &[path, content] : bytes) {
        text += fmt::format("{} {}\n", path.size(), content.size());
        text += path;
        text += content;
    }
    m_cache.put(HubCache::key({m_endpoint, kind, info.id, info.commit, choice}), text);
}

std::optional<Checkpoint> HubStore::checkpoint(const HubInfo &info, const std::string &choice)
{
    const std::string key =
        HubCache::key({m_endpoint, "checkpoint", programStamp(), info.id, info.commit, choice});
    const auto text = m_cache.get(key);
    if (!text)
        return std::nullopt;
    Result<Checkpoint> checkpoint = readGroupFile(*text, info.id);
    if (!checkpoint) {
        m_cache.remove(key);
        return std::nullopt;
    }
    return std::move(*checkpoint);
}

void HubStore::keepCheckpoint(const HubInfo &info, const std::string &choice, const Checkpoint &checkpoint)
{
    if (info.commit.empty())
        return;
    m_cache.put(HubCache::key({m_endpoint, "checkpoint", programStamp(), info.id, info.commit, choice}),
                writeGroupFile(checkpoint));
}

} // namespace weir

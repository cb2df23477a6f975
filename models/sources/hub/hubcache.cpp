// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubcache.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>
#include <vector>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view magic = "weir.hub-cache/1 ";
constexpr std::uint64_t maxEntryBytes = 160U << 20U;
constexpr std::string_view ending = ".entry";
constexpr std::time_t touchAfterSeconds = 600;

/// FNV-1a over words: it is damage that must be noticed, not malice.
std::uint64_t checksum(std::string_view text, std::uint64_t state = 0xCBF29CE484222325ULL)
{
    while (text.size() >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), 8);
        state = (state ^ word) * 0x100000001B3ULL;
        state ^= state >> 32U;
        text.remove_prefix(8);
    }
    for (const char c : text)
        state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    return state ^ (state >> 29U);
}

/// A file that is closed again.
class File
{
public:
    explicit File(int number)
        : m_number(number)
    {}
    ~File()
    {
        if (m_number >= 0)
            ::close(m_number);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    int number() const { return m_number; }
    bool isOpen() const { return m_number >= 0; }

private:
    int m_number;
};

bool writeAll(int file, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// "weir.hub-cache/1 KEYBYTES CONTENTBYTES CHECKSUM\n", then key and content.
std::string headOf(std::string_view key, std::string_view content)
{
    return fmt::format("{}{} {} {:016x}\n", magic, key.size(), content.size(),
                       checksum(content, checksum(key)));
}

/// The content of an entry, if it is whole and of this key.
std::optional<std::string> contentOf(std::string text, std::string_view key)
{
    const std::size_t end = text.find('\n');
    if (end == std::string::npos || end > 200 || !text.starts_with(magic))
        return std::nullopt;
    const std::size_t begin = end + 1;
    if (text.size() - begin < key.size() || std::string_view(text).substr(begin, key.size()) != key)
        return std::nullopt;
    const std::string_view content = std::string_view(text).substr(begin + key.size());
    if (std::string_view(text).substr(0, begin) != headOf(key, content))
        return std::nullopt;
    text.erase(0, begin + key.size());
    return text;
}

} // namespace

HubCache::HubCache(fs::path folder, std::uint64_t limitBytes)
    : m_folder(std::move(folder))
    , m_limit(limitBytes)
{}

std::string HubCache::key(std::initializer_list<std::string_view> parts)
{
    std::string text;
    for (const std::string_view part : parts)
        text += fmt::format("{}:{}\n", part.size(), part);
    return text;
}

fs::path HubCache::fileOf(const std::string &key) const
{
    return m_folder
           / fmt::format("{:016x}{:016x}{}", checksum(key), checksum(key, 0x9E3779B97F4A7C15ULL), ending);
}

std::optional<std::string> HubCache::get(const std::string &key)
{
    if (m_folder.empty())
        return std::nullopt;
    const fs::path path = fileOf(key);
    std::string text;
    {
        const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        struct stat status{};
        if (!file.isOpen() || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
            return std::nullopt;
        if (status.st_size > 0 && static_cast<std::uint64_t>(status.st_size) <= maxEntryBytes) {
            text.resize(static_cast<std::size_t>(status.st_size));
            std::size_t done = 0;
            while (done < text.size()) {
                const ssize_t got = ::read(file.number(), text.data() + done, text.size() - done);
                if (got <= 0)
                    break;
                done += static_cast<std::size_t>(got);
            }
            text.resize(done);
        }
        if (::time(nullptr) - status.st_mtime > touchAfterSeconds)
            ::futimens(file.number(), nullptr); // the longest unused goes first
    }
    auto content = contentOf(std::move(text), key);
    if (!content)
        remove(key);
    return content;
}

void HubCache::put(const std::string &key, std::string_view content)
{
    if (m_folder.empty() || content.size() + key.size() + 200 > std::min(maxEntryBytes, m_limit))
        return;
    std::error_code error;
    if (!fs::is_directory(m_folder, error)) {
        fs::create_directories(m_folder.parent_path(), error);
        if (::mkdir(m_folder.c_str(), 0700) != 0 && !fs::is_directory(m_folder, error))
            return;
    }
    ::chmod(m_folder.c_str(), 0700); // private repositories are kept as well
    const fs::path temporary = m_folder / fmt::format(".new-{}-{}", ::getpid(), ++m_number);
    {
        const File file(
            ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!file.isOpen())
            return;
        if (!writeAll(file.number(), headOf(key, content)) || !writeAll(file.number(), key)
            || !writeAll(file.number(), content)) {
            ::unlink(temporary.c_str());
            return;
        }
    }
    if (::rename(temporary.c_str(), fileOf(key).c_str()) != 0) {
        ::unlink(temporary.c_str());
        return;
    }
    makeRoom(content.size());
}

void HubCache::remove(const std::string &key)
{
    if (!m_folder.empty())
        ::unlink(fileOf(key).c_str());
}

void HubCache::makeRoom(std::uint64_t added)
{
    const std::lock_guard lock(m_mutex);
    if (m_total && *m_total + added <= m_limit) {
        *m_total += added;
        return;
    }
    struct Entry
    {
        fs::path path;
        fs::file_time_type used;
        std::uint64_t bytes;
    };
    std::vector<Entry> entries;
    std::uint64_t total = 0;
    std::error_code error;
    for (fs::directory_iterator each(m_folder, error), end; !error && each != end; each.increment(error)) {
        std::error_code ignored;
        const std::string name = each->path().filename().string();
        const auto used = each->last_write_time(ignored);
        if (name.starts_with(".new-")) { // left by a program that was killed
            if (fs::file_time_type::clock::now() - used > std::chrono::hours(1))
                fs::remove(each->path(), ignored);
            continue;
        }
        if (!name.ends_with(ending) || !each->is_regular_file(ignored))
            continue;
        const std::uintmax_t bytes = each->file_size(ignored);
        if (ignored)
            continue;
        entries.push_back({each->path(), used, bytes});
        total += bytes;
    }
    if (total > m_limit) {
        std::sort(entries.begin(), entries.end(),
                  [](const Entry &a, const Entry &b) { return a.used < b.used; });
        for (const Entry &entry : entries) {
            if (total <= m_limit / 10 * 9)
                break;
            std::error_code ignored;
            if (fs::remove(entry.path, ignored))
                total -= entry.bytes;
        }
    }
    m_total = total;
}

} // namespace weir

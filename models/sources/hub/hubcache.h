// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// What was read from the Hub, kept on the disk: one checked file an entry, readable by its owner alone, written
/// in one step. What is damaged or cut off is thrown away when it is met; the longest unused goes first when the
/// whole grows beyond its limit. May be used from any thread, by several programs at a time. A folder that cannot
/// be written makes a cache that is always empty.
class HubCache
{
public:
    /// @param folder  empty: no cache
    HubCache(std::filesystem::path folder, std::uint64_t limitBytes);

    /// One text of all parts; no part can be mistaken for two.
    static std::string key(std::initializer_list<std::string_view> parts);

    std::optional<std::string> get(const std::string &key);
    void put(const std::string &key, std::string_view content);
    void remove(const std::string &key);

    /// Where an entry lies, for tests that damage it.
    std::filesystem::path fileOf(const std::string &key) const;

private:
    void makeRoom(std::uint64_t added);

    const std::filesystem::path m_folder;
    const std::uint64_t m_limit;
    std::mutex m_mutex;
    std::optional<std::uint64_t> m_total; ///< bytes, as far as this program knows
    std::atomic<unsigned> m_number = 0;
};

} // namespace weir

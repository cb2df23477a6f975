// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/safetensors.h"
#include "models/checkpoint/tensorset.h"
#include "models/sources/repositoryfiles.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace weir {

/// The header of one safetensors file, read and reduced.
struct ParsedHeader
{
    std::uint64_t fileBytes = 0;
    std::string json; ///< as read, without its length
    TensorSet tensors; ///< of those that the filter let through, all as file 0
    std::vector<std::uint64_t> names; ///< hashes of the names of these
    std::string formatTag;
};

/// Reads the headers of many files: several in hand at a time, parsed by a few threads as they arrive, given
/// out in order. Headers of more than 256 MiB in sum are the error "folder.headers-too-large". A header takes one read if the guess of its size was good, two otherwise.
class HeaderQueue
{
public:
    struct File
    {
        std::string path;
        std::uint64_t guess = 0; ///< bytes of length and header
    };
    /// Whether a tensor of a file counts; called on several threads.
    using Filter = std::function<bool(std::size_t file, std::string_view tensor)>;

    HeaderQueue(RepositoryFiles &repository, std::vector<File> files, Filter filter, std::stop_token stop);
    /// Ends and waits for what is in hand.
    ~HeaderQueue();
    HeaderQueue(const HeaderQueue &) = delete;
    HeaderQueue &operator=(const HeaderQueue &) = delete;

    /// The next file's header, in the order given.
    Result<ParsedHeader> next();

private:
    struct Slot
    {
        FileBytes bytes;
        std::optional<Result<ParsedHeader>> result;
        std::uint64_t held = 0;
        bool late = false; ///< a header too large to be read ahead
    };

    bool mayBegin() const;
    Result<ParsedHeader> tooLarge() const;
    void begin(std::size_t file);
    void arrived(std::size_t file, std::uint64_t first, Result<FileBytes> part);
    void work();
    /// Bytes of length and header by what has been read; an error if they cannot be.
    Result<std::uint64_t> needed(std::size_t file, const FileBytes &bytes) const;
    Result<ParsedHeader> parse(std::size_t file, FileBytes bytes) const;
    Result<ParsedHeader> readLate(std::size_t file, FileBytes bytes);

    RepositoryFiles &m_repository;
    const std::vector<File> m_files;
    const Filter m_filter;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::stop_token m_outerStop;
    std::stop_source m_stop;
    std::stop_callback<std::function<void()>> m_forward; ///< may be called while this is made

    std::vector<Slot> m_slots;
    std::deque<std::size_t> m_ready; ///< whole headers that wait to be parsed
    std::size_t m_begun = 0;
    std::size_t m_given = 0;
    std::size_t m_reading = 0; ///< callbacks that are still to come
    std::uint64_t m_held = 0; ///< bytes that are here and have not been given out
    std::uint64_t m_sum = 0; ///< bytes of the headers that are known of
    bool m_ending = false;
    std::vector<std::jthread> m_threads;
};

} // namespace weir

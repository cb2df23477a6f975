// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/headerqueue.h"

#include "models/base/saturating.h"
#include "models/base/texthash.h"
#include "models/base/tolerantjson.h"
#include "models/base/units.h"

#include <algorithm>
#include <exception>
#include <future>
#include <utility>

namespace weir {

namespace {

/// Larger headers are read when it is their turn, one at a time: this bounds the memory.
constexpr std::uint64_t maxAheadBytes = 4U << 20U;
constexpr std::uint64_t maxHeldBytes = 64U << 20U;
/// The largest repositories seen have headers of 60 MB.
constexpr std::uint64_t maxSumBytes = 256U << 20U;
constexpr unsigned maxThreads = 8;

std::span<const std::uint8_t> asBytes(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

} // namespace

HeaderQueue::HeaderQueue(RepositoryFiles &repository, std::vector<File> files, Filter filter,
                         std::stop_token stop)
    : m_repository(repository)
    , m_files(std::move(files))
    , m_filter(std::move(filter))
    , m_outerStop(std::move(stop))
    , m_forward(m_outerStop,
                [this] {
                    m_stop.request_stop();
                    m_changed.notify_all();
                })
    , m_slots(m_files.size())
{
    const auto threads = static_cast<unsigned>(std::min<std::size_t>(
        std::clamp(std::thread::hardware_concurrency(), 1U, maxThreads), m_files.size()));
    for (unsigned i = 0; i < threads; ++i)
        m_threads.emplace_back([this] { work(); });
}

HeaderQueue::~HeaderQueue()
{
    m_stop.request_stop();
    m_repository.expectNoMore();
    {
        std::unique_lock lock(m_mutex);
        m_ending = true;
        m_changed.notify_all();
        m_changed.wait(lock, [this] { return m_reading == 0; });
    }
    m_threads.clear(); // joins
}

/// Whatever is waited for may always begin, so that a full store cannot stop everything.
bool HeaderQueue::mayBegin() const
{
    return m_begun < m_files.size() && m_sum <= maxSumBytes
           && (m_begun < m_given || (m_reading < m_repository.parallelReads() && m_held < maxHeldBytes));
}

void HeaderQueue::begin(std::size_t file)
{
    const std::uint64_t count = std::clamp<std::uint64_t>(m_files[file].guess, 64, maxAheadBytes);
    m_repository.read(m_files[file].path, 0, count, m_stop.get_token(),
                      [this, file](Result<FileBytes> part) { arrived(file, 0, std::move(part)); });
}

void HeaderQueue::arrived(std::size_t file, std::uint64_t first, Result<FileBytes> part)
{
    std::uint64_t missing = 0;
    std::uint64_t have = 0;
    if (part) {
        std::unique_lock lock(m_mutex);
        Slot &slot = m_slots[file];
        if (first == 0)
            slot.bytes = std::move(*part);
        else
            slot.bytes.bytes += part->bytes;
        const Result<std::uint64_t> whole = needed(file, slot.bytes);
        have = slot.bytes.bytes.size();
        m_held += have - slot.held;
        slot.held = have;
        if (first == 0 && whole)
            m_sum = saturatingAdd(m_sum, *whole);
        if (m_sum > maxSumBytes) {
            m_held -= std::exchange(slot.held, 0);
            slot.bytes = {};
            slot.result = tooLarge();
        } else if (!whole) {
            slot.result = std::unexpected(whole.error());
        } else if (have >= *whole) {
            m_ready.push_back(file);
        } else if (first > 0) {
            slot.result = fail("safetensors.too-short", ErrorKind::Unreadable,
                               m_repository.subject(m_files[file].path));
        } else if (*whole > maxAheadBytes) {
            slot.late = true;
        } else {
            missing = *whole - have;
        }
    }
    if (missing > 0) {
        m_repository.read(
            m_files[file].path, have, missing, m_stop.get_token(),
            [this, file, have](Result<FileBytes> more) { arrived(file, have, std::move(more)); });
        return;
    }
    const std::lock_guard lock(m_mutex);
    if (!part)
        m_slots[file].result = std::unexpected(part.error());
    --m_reading;
    m_changed.notify_all();
}

Result<std::uint64_t> HeaderQueue::needed(std::size_t file, const FileBytes &bytes) const
{
    const std::string subject = m_repository.subject(m_files[file].path);
    // A web page or a pointer in the place of weights begins like text; the format begins with a length.
    const std::string_view text = bytes.bytes;
    if (text.size() >= 16 && (text[0] == '<' || text[0] == 'v' || text[0] == '\n')) {
        if (const std::string_view impostor = impostorError(text.substr(0, 128)); !impostor.empty())
            return fail(std::string(impostor), ErrorKind::Unreadable, subject);
    }
    const Result<std::uint64_t> length =
        safetensorsHeaderLength(asBytes(text.substr(0, 8)), bytes.fileBytes, subject);
    if (!length)
        return std::unexpected(length.error());
    return *length + 8;
}

Result<ParsedHeader> HeaderQueue::parse(std::size_t file, FileBytes bytes) const
{
    const std::string subject = m_repository.subject(m_files[file].path);
    const Result<std::uint64_t> whole = needed(file, bytes);
    if (!whole)
        return std::unexpected(whole.error());
    ParsedHeader header;
    header.fileBytes = bytes.fileBytes;
    bytes.bytes.resize(static_cast<std::size_t>(*whole));
    header.json = std::move(bytes.bytes);
    header.json.erase(0, 8);
    const auto visit = [&](const HeaderTensor &tensor) {
        if (!m_filter(file, tensor.name))
            return true;
        const std::optional<std::string> other = m_repository.tensorName(tensor.name);
        const std::string_view name = other ? std::string_view(*other) : tensor.name;
        header.names.push_back(other ? textHash(name) : tensor.hash);
        return header.tensors.add(name, tensor.dtype, tensor.shape, tensor.bytes, 0);
    };
    const Result<void> read =
        readSafetensorsHeader(header.json, header.fileBytes - *whole, subject, visit, &header.formatTag);
    if (!read)
        return std::unexpected(read.error());
    return header;
}

void HeaderQueue::work()
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_ending || mayBegin() || !m_ready.empty(); });
        if (m_ending)
            return;
        if (mayBegin()) { // before parsing: what is far away is to be on its way
            const std::size_t next = m_begun++;
            ++m_reading;
            lock.unlock();
            begin(next);
            lock.lock();
            continue;
        }
        const std::size_t file = m_ready.front();
        m_ready.pop_front();
        FileBytes bytes = std::move(m_slots[file].bytes);
        lock.unlock();
        std::optional<Result<ParsedHeader>> result;
        try {
            result = parse(file, std::move(bytes));
        } catch (const std::exception &problem) { // of memory: it must not end the program from a thread
            result = fail("read.failed", ErrorKind::Unreadable, m_repository.subject(m_files[file].path),
                          {{"reason", std::string(problem.what())}});
        }
        lock.lock();
        m_slots[file].result = std::move(result);
        m_changed.notify_all();
    }
}

Result<ParsedHeader> HeaderQueue::tooLarge() const
{
    return fail("folder.headers-too-large", ErrorKind::Unreadable, m_repository.subject({}),
                {{"limit", Bytes{maxSumBytes}}});
}

Result<ParsedHeader> HeaderQueue::readLate(std::size_t file, FileBytes bytes)
{
    const Result<std::uint64_t> whole = needed(file, bytes);
    if (!whole)
        return std::unexpected(whole.error());
    const std::uint64_t have = bytes.bytes.size();
    std::promise<Result<FileBytes>> promise;
    std::future<Result<FileBytes>> future = promise.get_future();
    m_repository.read(m_files[file].path, have, *whole - have, m_stop.get_token(),
                      [&promise](Result<FileBytes> more) { promise.set_value(std::move(more)); });
    Result<FileBytes> more = future.get();
    if (!more)
        return std::unexpected(more.error());
    bytes.bytes += more->bytes;
    if (bytes.bytes.size() < *whole) {
        return fail("safetensors.too-short", ErrorKind::Unreadable, m_repository.subject(m_files[file].path));
    }
    return parse(file, std::move(bytes));
}

Result<ParsedHeader> HeaderQueue::next()
{
    std::unique_lock lock(m_mutex);
    const std::size_t file = m_given++;
    Slot &slot = m_slots[file];
    m_changed.notify_all();
    m_changed.wait(
        lock, [&] { return slot.result || slot.late || m_stop.stop_requested() || m_sum > maxSumBytes; });
    if (m_outerStop.stop_requested())
        return fail("cancelled", ErrorKind::Unreadable, m_repository.subject({}));
    if (m_sum > maxSumBytes)
        return tooLarge();
    const bool late = !slot.result;
    std::optional<Result<ParsedHeader>> result = std::exchange(slot.result, std::nullopt);
    FileBytes bytes = std::move(slot.bytes);
    m_held -= slot.held;
    m_changed.notify_all();
    lock.unlock();
    return late ? readLate(file, std::move(bytes)) : *std::move(result);
}

} // namespace weir

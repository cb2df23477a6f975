// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubfiles.h"

#include "models/base/saturating.h"
#include "models/base/tolerantjson.h"
#include "models/checkpoint/gguf.h"
#include "models/sources/gguffile.h"
#include "models/sources/hub/weburl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <streambuf>

namespace weir {

namespace {

constexpr std::uint64_t firstGgufBytes = 2U << 20U;       ///< headers with a tokenizer have 2 to 12 MB
constexpr std::uint64_t firstPartBytes = 256U << 10U;     ///< later parts of a split hold no tokenizer
constexpr std::uint64_t maxPrefetchBytes = 64U << 20U;
constexpr std::uint64_t maxAheadBytes = 64U << 20U;    ///< of beginnings that nobody has read yet
constexpr std::uint64_t maxKeptHeadBytes = 32U << 20U; ///< the headers of a trillion parameters have 25 MB
constexpr unsigned maxAnswersOfARange = 16;

/// The length of a safetensors header and the header; all that there is if it is longer.
std::string_view safetensorsHead(std::string_view bytes)
{
    std::uint64_t length = 0;
    if (bytes.size() < sizeof length)
        return bytes;
    std::memcpy(&length, bytes.data(), sizeof length);
    return bytes.substr(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), saturatingAdd(length, 8))));
}

/// The beginning of a far file as a stream: grows by doubling, each step one request.
class FarStream final : public RepositoryStream, private std::streambuf
{
public:
    FarStream(HubFiles &files, std::string path, std::uint64_t bytes, std::stop_token stop)
        : m_files(files)
        , m_path(std::move(path))
        , m_bytes(bytes)
        , m_stream(this)
    {
        m_forward.emplace(std::move(stop), [this] { m_stop.request_stop(); });
        const auto part = ggufPartName(m_path);
        ask(std::min(m_bytes, part && part->number > 1 ? firstPartBytes : firstGgufBytes));
    }
    ~FarStream() override
    {
        m_stop.request_stop();
        if (m_coming.valid())
            m_coming.wait();
    }
    std::istream &stream() override { return m_stream; }
    std::uint64_t fileBytes() const override { return m_bytes; }
    std::optional<Error> error() const override { return m_error; }

private:
    void ask(std::uint64_t count)
    {
        auto promise = std::make_shared<std::promise<Result<FileBytes>>>();
        m_coming = promise->get_future();
        m_files.read(m_path, m_data.size(), count, m_stop.get_token(),
                     [promise](Result<FileBytes> part) { promise->set_value(std::move(part)); });
    }

    /// Waits until `end` bytes are here; false if they will not be.
    bool reach(std::uint64_t end)
    {
        while (m_data.size() < end) {
            if (m_error || end > m_bytes)
                return false;
            if (!m_coming.valid()) {
                if (end > maxGgufHeaderBytes) {
                    m_error = Error{"hub.header-too-large",
                                    ErrorKind::Unreadable,
                                    m_files.subject(m_path),
                                    {{"limit", Bytes{maxGgufHeaderBytes}}}};
                    return false;
                }
                const std::uint64_t wanted = std::max<std::uint64_t>(2 * m_data.size(), end);
                ask(std::min({wanted, m_bytes, maxGgufHeaderBytes}) - m_data.size());
            }
            Result<FileBytes> part = m_coming.get();
            if (!part) {
                m_error = part.error();
                return false;
            }
            if (part->bytes.empty()) {
                m_error = brokenAnswer(m_files.subject(m_path), {}, "nothing");
                return false;
            }
            m_data += part->bytes;
        }
        return true;
    }

    int_type underflow() override
    {
        const std::size_t place = static_cast<std::size_t>(gptr() - eback());
        if (!reach(place + 1))
            return traits_type::eof();
        show(place);
        return traits_type::to_int_type(*gptr());
    }

    pos_type seekpos(pos_type position, std::ios_base::openmode) override
    {
        const auto place = static_cast<std::uint64_t>(static_cast<off_type>(position));
        if (static_cast<off_type>(position) < 0 || !reach(place))
            return pos_type(off_type(-1));
        show(static_cast<std::size_t>(place));
        return position;
    }

    pos_type seekoff(off_type offset, std::ios_base::seekdir direction, std::ios_base::openmode mode) override
    {
        if (direction == std::ios_base::cur)
            offset += static_cast<off_type>(gptr() - eback());
        else if (direction == std::ios_base::end)
            return pos_type(off_type(-1));
        return seekpos(pos_type(offset), mode);
    }

    void show(std::size_t place)
    {
        char *begin = m_data.data();
        setg(begin, begin + place, begin + m_data.size());
    }

    HubFiles &m_files;
    std::string m_path;
    std::uint64_t m_bytes;
    std::stop_source m_stop;
    std::optional<std::stop_callback<std::function<void()>>> m_forward;
    std::future<Result<FileBytes>> m_coming;
    std::string m_data;
    std::optional<Error> m_error;
    std::istream m_stream;
};

} // namespace

std::string resolveUrl(const HubPlace &place, const std::string &path)
{
    if (place.address)
        return place.address(path);
    return fmt::format("{}/{}/resolve/{}/{}", place.endpoint, urlQuoted(place.repository, true),
                       urlQuoted(place.commit), urlQuoted(path, true));
}

std::future<Result<HttpResponse>> fetchText(HttpClient &client, const HubPlace &place,
                                            const std::string &path, std::stop_token stop)
{
    HttpRequest request;
    request.url = resolveUrl(place, path);
    request.token = place.token;
    request.subject = place.repository + '/' + path;
    request.limit = maxPrefetchBytes;
    request.first = true;
    auto promise = std::make_shared<std::promise<Result<HttpResponse>>>();
    std::future<Result<HttpResponse>> coming = promise->get_future();
    client.start(std::move(request), std::move(stop),
                 [promise](Result<HttpResponse> response) { promise->set_value(std::move(response)); });
    return coming;
}

HubFiles::HubFiles(HttpClient &client, HubPlace place, std::vector<ListedFile> listing)
    : RepositoryFiles(std::move(listing))
    , m_client(client)
    , m_place(std::move(place))
{}

HubFiles::~HubFiles()
{
    m_stop.request_stop();
    expectNoMore();
    std::unique_lock lock(m_mutex);
    m_aheadEnded.wait(lock, [this] { return m_aheadAsked == 0; });
}

std::string HubFiles::subject(const std::string &path) const
{
    return path.empty() ? m_place.repository : m_place.repository + '/' + path;
}

Error HubFiles::refusal(const HttpResponse &response, const std::string &path) const
{
    if (m_place.refusal)
        return m_place.refusal(response, subject(path));
    return hubError(response, {m_place.repository, m_place.revision, path, m_place.token.empty()});
}

HttpRequest HubFiles::request(const std::string &path) const
{
    HttpRequest request;
    request.url = resolveUrl(m_place, path);
    request.token = m_place.token;
    request.subject = subject(path);
    return request;
}

void HubFiles::prefetch(const std::vector<std::string> &paths)
{
    for (const std::string &path : paths) {
        const ListedFile *file = find(path);
        if (file == nullptr || file->bytes > maxPrefetchBytes || m_texts.contains(path)
            || m_coming.contains(path))
            continue;
        m_coming[path] = fetchText(m_client, m_place, path, m_stop.get_token());
    }
}

Result<std::string> HubFiles::text(const std::string &path, std::uint64_t limit, std::stop_token stop)
{
    if (const auto known = m_texts.find(path); known != m_texts.end())
        return known->second;
    const ListedFile *file = find(path);
    if (file != nullptr && file->bytes > limit) {
        return fail("file.too-large", ErrorKind::Unreadable, subject(path),
                    {{"size", Bytes{file->bytes}}, {"limit", Bytes{limit}}});
    }
    Result<std::string> text;
    if (const auto coming = m_coming.find(path); coming != m_coming.end()) {
        const std::stop_callback forward(stop, [this] { m_stop.request_stop(); });
        text = checkedText(path, coming->second.get());
        m_coming.erase(coming);
    } else {
        HttpRequest wanted = request(path);
        wanted.limit = limit;
        wanted.first = true;
        text = checkedText(path, m_client.get(std::move(wanted), std::move(stop)));
    }
    if (text) {
        m_fetched = true;
        m_texts[path] = *text;
    }
    return text;
}

Result<std::string> HubFiles::checkedText(const std::string &path, Result<HttpResponse> response) const
{
    if (!response)
        return std::unexpected(response.error());
    if (response->status != 200)
        return std::unexpected(refusal(*response, path));
    const ListedFile *file = find(path);
    if (file != nullptr && file->bytes > 0 && file->bytes != response->body.size()) {
        const bool page = !impostorError(response->body).empty();
        return std::unexpected(
            brokenAnswer(subject(path), m_place.endpoint,
                         page ? std::string("a web page")
                              : fmt::format("{} bytes instead of {}", response->body.size(), file->bytes)));
    }
    return std::move(response->body);
}

void HubFiles::read(const std::string &path, std::uint64_t first, std::uint64_t count, std::stop_token stop,
                    BytesCallback done)
{
    const ListedFile *file = find(path);
    if (file != nullptr && file->bytes > 0)
        count = std::min(count, file->bytes - std::min(first, file->bytes));
    if (file == nullptr || file->bytes == 0 || count == 0) { // nothing there to ask for
        done(FileBytes{{}, file == nullptr ? 0 : file->bytes});
        return;
    }
    std::optional<Result<FileBytes>> known;
    {
        const std::lock_guard lock(m_mutex);
        const auto head = m_heads.find(path);
        const auto ahead = first == 0 ? m_ahead.find(path) : m_ahead.end();
        if (ahead != m_ahead.end() && ahead->second.asked && !ahead->second.part) {
            ahead->second.reader = std::move(done);
            return;
        }
        if (ahead != m_ahead.end()) {
            known = std::move(ahead->second.part);
            if (known)
                m_aheadBytes -= ahead->second.bytes;
            m_ahead.erase(ahead);
        } else if (head != m_heads.end() && first < head->second.size()) {
            known = FileBytes{
                head->second.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                file->bytes};
        }
    }
    if (known) {
        askAhead();
        done(*std::move(known));
        return;
    }
    ask(std::make_shared<Ask>(Ask{path, first, count, std::move(stop), std::move(done), {}, 0}));
}

void HubFiles::expectHeads(std::vector<FileHead> heads)
{
    {
        const std::lock_guard lock(m_mutex);
        for (FileHead &head : heads) {
            const ListedFile *file = find(head.path);
            if (file == nullptr || file->bytes == 0 || m_heads.contains(head.path))
                continue;
            if (m_ahead.try_emplace(head.path, Ahead{std::min(head.bytes, file->bytes), false, {}, {}})
                    .second)
                m_aheadNext.push_back(std::move(head.path));
        }
    }
    askAhead();
}

void HubFiles::expectNoMore()
{
    std::stop_source stop;
    {
        const std::lock_guard lock(m_mutex);
        m_aheadNext.clear();
        std::erase_if(m_ahead, [this](const auto &entry) {
            if (entry.second.part)
                m_aheadBytes -= entry.second.bytes;
            return entry.second.part || !entry.second.asked;
        });
        std::swap(stop, m_aheadStop); // what is expected after this is another matter
    }
    stop.request_stop();
}

/// Asks for what is expected next, as far as there is room for it. A read of what was not yet asked for asks
/// itself, so nobody waits for room.
void HubFiles::askAhead()
{
    while (true) {
        auto next = std::make_shared<Ask>();
        {
            const std::lock_guard lock(m_mutex);
            while (!m_aheadNext.empty() && !m_ahead.contains(m_aheadNext.front()))
                m_aheadNext.pop_front();
            if (m_aheadNext.empty())
                return;
            Ahead &ahead = m_ahead[m_aheadNext.front()];
            if (m_aheadBytes + ahead.bytes > maxAheadBytes)
                return;
            next->path = std::move(m_aheadNext.front());
            m_aheadNext.pop_front();
            ahead.asked = true;
            m_aheadBytes += ahead.bytes;
            ++m_aheadAsked;
            next->count = ahead.bytes;
            next->stop = m_aheadStop.get_token();
        }
        next->done = [this, path = next->path](Result<FileBytes> part) {
            arrivedAhead(path, std::move(part));
        };
        ask(std::move(next));
    }
}

void HubFiles::arrivedAhead(const std::string &path, Result<FileBytes> part)
{
    BytesCallback reader;
    {
        const std::lock_guard lock(m_mutex);
        const auto ahead = m_ahead.find(path);
        reader = std::move(ahead->second.reader);
        if (reader || (!part && part.error().id == "cancelled")) {
            m_aheadBytes -= ahead->second.bytes;
            m_ahead.erase(ahead);
        } else {
            ahead->second.part = std::move(part);
        }
    }
    if (reader) {
        askAhead();
        reader(std::move(part));
    }
    const std::lock_guard lock(m_mutex);
    --m_aheadAsked;
    m_aheadEnded.notify_all();
}

void HubFiles::ask(std::shared_ptr<Ask> ask)
{
    m_fetched = true;
    const std::uint64_t have = ask->bytes.size();
    HttpRequest wanted = request(ask->path);
    wanted.range = HttpRange{ask->first + have, ask->count - have};
    wanted.limit = ask->count - have;
    std::stop_token stop = ask->stop;
    m_client.start(
        std::move(wanted), std::move(stop),
        [this, ask = std::move(ask)](Result<HttpResponse> response) { answered(ask, std::move(response)); });
}

/// Takes an answer; where a server gives less at a time than asked for, asks for the rest.
void HubFiles::answered(const std::shared_ptr<Ask> &ask, Result<HttpResponse> response)
{
    if (const Result<void> good = checkPart(*ask, response); !good) {
        ask->done(std::unexpected(good.error()));
        return;
    }
    if (ask->bytes.empty())
        ask->bytes = std::move(response->body);
    else
        ask->bytes += response->body;
    if (ask->bytes.size() < ask->count) {
        ++ask->answers;
        this->ask(ask);
        return;
    }
    FileBytes part{std::move(ask->bytes), find(ask->path)->bytes};
    // More than the header is of no use to anyone.
    if (ask->first == 0 && ask->path.ends_with(".safetensors"))
        part.bytes.resize(safetensorsHead(part.bytes).size());
    keepHead(ask->path, ask->first, part.bytes);
    ask->done(std::move(part));
}

Result<void> HubFiles::checkPart(const Ask &ask, const Result<HttpResponse> &response) const
{
    if (!response)
        return std::unexpected(response.error());
    const ListedFile *file = find(ask.path);
    const auto sizeError = [&](std::uint64_t found) {
        return fail("hub.size-differs", ErrorKind::Network, subject(ask.path),
                    {{"listed", Bytes{file->bytes}}, {"found", Bytes{found}}});
    };
    if (response->status == 416)
        return sizeError(response->total.value_or(0));
    if (response->status != 206 && response->status != 200)
        return std::unexpected(refusal(*response, ask.path));
    const std::uint64_t have = ask.bytes.size();
    if (ask.first + have == 0 && !impostorError(response->body).empty() && response->total != file->bytes)
        return std::unexpected(brokenAnswer(subject(ask.path), m_place.endpoint, "a web page"));
    if (response->total && *response->total != file->bytes)
        return sizeError(*response->total);
    const std::uint64_t bytes = have + response->body.size();
    const bool goesOn =
        response->status == 206 && !response->body.empty() && ask.answers + 1 < maxAnswersOfARange;
    if (bytes < ask.count && !goesOn) {
        return std::unexpected(brokenAnswer(subject(ask.path), m_place.endpoint,
                                            fmt::format("{} bytes instead of {}", bytes, ask.count)));
    }
    return {};
}

void HubFiles::keepHead(const std::string &path, std::uint64_t first, const std::string &bytes)
{
    const std::lock_guard lock(m_mutex);
    if (!m_keepsHeads)
        return;
    std::string &head = m_heads[path];
    if (head.size() != first)
        return;
    m_headBytes += bytes.size();
    if (m_headBytes > maxKeptHeadBytes) {
        m_keepsHeads = false; // a part of them would be of no use
        m_heads.clear();
        return;
    }
    head += bytes;
}

Result<std::unique_ptr<RepositoryStream>> HubFiles::open(const std::string &path, std::stop_token stop)
{
    const ListedFile *file = find(path);
    if (file == nullptr)
        return fail("hub.file-missing", ErrorKind::NotFound, subject(path));
    return std::make_unique<FarStream>(*this, path, file->bytes, std::move(stop));
}

} // namespace weir

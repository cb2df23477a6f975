// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/hub/http.h"
#include "models/sources/hub/hubapi.h"
#include "models/sources/repositoryfiles.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace weir {

/// Where the files of one repository are asked for.
struct HubPlace
{
    std::string endpoint;
    std::string token;
    std::string repository;
    std::string revision; ///< as the user named it, for messages
    std::string commit;   ///< asked for instead, so that all files are of one state

    // For what is laid out otherwise than the Hub (a registry); else empty.
    /// Where a file lies.
    std::function<std::string(const std::string &path)> address = {};
    /// What an answer that is no success means.
    std::function<Error(const HttpResponse &response, const std::string &subject)> refusal = {};
};

std::string resolveUrl(const HubPlace &place, const std::string &path);

/// Begins to fetch a small file.
std::future<Result<HttpResponse>> fetchText(HttpClient &client, const HubPlace &place,
                                            const std::string &path, std::stop_token stop);

/// A repository on the Hub at one commit: headers come by range requests.
class HubFiles final : public RepositoryFiles
{
public:
    HubFiles(HttpClient &client, HubPlace place, std::vector<ListedFile> listing);
    /// Ends what was prefetched and waits for it; reads must have ended before.
    ~HubFiles() override;

    /// Begins to fetch small files that will be asked for as texts.
    void prefetch(const std::vector<std::string> &paths);
    /// Takes over a fetch that began before the listing was known.
    void adopt(const std::string &path, std::future<Result<HttpResponse>> coming)
    {
        m_coming[path] = std::move(coming);
    }
    /// Texts that were read, to be kept; they are not here any more.
    std::map<std::string, std::string> takeTexts() { return std::exchange(m_texts, {}); }
    /// Beginnings of files that were read, to be kept: of safetensors the headers. Not while reads are in hand.
    /// None at all where they are more than is worth it.
    std::map<std::string, std::string> takeHeads() { return std::exchange(m_heads, {}); }
    /// Gives what need not be fetched.
    void setKnown(std::map<std::string, std::string> texts, std::map<std::string, std::string> heads)
    {
        m_texts = std::move(texts);
        m_heads = std::move(heads);
    }
    bool hasFetched() const { return m_fetched; }

    std::string subject(const std::string &path) const override;
    Result<std::string> text(const std::string &path, std::uint64_t limit, std::stop_token stop) override;
    void read(const std::string &path, std::uint64_t first, std::uint64_t count, std::stop_token stop,
              BytesCallback done) override;
    void expectHeads(std::vector<FileHead> heads) override;
    void expectNoMore() override;
    /// Twenty requests at the Hub and as many where its redirects lead.
    unsigned parallelReads() const override { return 40; }
    Result<std::unique_ptr<RepositoryStream>> open(const std::string &path, std::stop_token stop) override;

private:
    /// A beginning that is on its way, or here and not yet read.
    struct Ahead
    {
        std::uint64_t bytes = 0; ///< asked for
        bool asked = false;
        std::optional<Result<FileBytes>> part;
        BytesCallback reader; ///< waits for it
    };
    /// A range that may come in several answers.
    struct Ask
    {
        std::string path;
        std::uint64_t first = 0;
        std::uint64_t count = 0;
        std::stop_token stop;
        BytesCallback done;
        std::string bytes; ///< of it, so far
        unsigned answers = 0;
    };

    HttpRequest request(const std::string &path) const;
    Error refusal(const HttpResponse &response, const std::string &path) const;
    void askAhead();
    void arrivedAhead(const std::string &path, Result<FileBytes> part);
    void ask(std::shared_ptr<Ask> ask);
    void answered(const std::shared_ptr<Ask> &ask, Result<HttpResponse> response);
    Result<void> checkPart(const Ask &ask, const Result<HttpResponse> &response) const;
    void keepHead(const std::string &path, std::uint64_t first, const std::string &bytes);
    Result<std::string> checkedText(const std::string &path, Result<HttpResponse> response) const;

    HttpClient &m_client;
    const HubPlace m_place;
    std::stop_source m_stop; ///< of what was prefetched
    std::map<std::string, std::future<Result<HttpResponse>>> m_coming;
    std::map<std::string, std::string> m_texts;
    std::mutex m_mutex; ///< of what answers touch
    std::map<std::string, std::string> m_heads;
    std::uint64_t m_headBytes = 0;
    bool m_keepsHeads = true;
    std::stop_source m_aheadStop;
    std::map<std::string, Ahead> m_ahead;
    std::deque<std::string> m_aheadNext; ///< to be asked for
    std::uint64_t m_aheadBytes = 0; ///< on their way or here
    unsigned m_aheadAsked = 0; ///< callbacks that are still to come
    std::condition_variable m_aheadEnded;
    std::atomic<bool> m_fetched = false;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace weir::test {

/// A request as it came over the wire. Names of headers are in lower case.
struct SeenRequest
{
    std::string method;
    std::string target; ///< path and query as sent
    std::map<std::string, std::string> headers;
    std::string body;
    bool cdn = false; ///< received by the second server

    /// The target before `?`, percent signs resolved.
    std::string path() const;
    /// All values of one parameter of the query, percent signs and plus resolved.
    std::vector<std::string> parameters(std::string_view name) const;
    std::string parameter(std::string_view name) const;
    std::string header(const std::string &name) const;
};

/// What is answered: a text, or a part of a file that is read while sending.
struct StandInResponse
{
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    std::filesystem::path file; ///< if set, `bytes` from `offset` of it instead of `body`
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;

    std::uint64_t length() const { return file.empty() ? body.size() : bytes; }
    void set(const std::string &name, const std::string &value) { headers.emplace_back(name, value); }
};

/// A loopback HTTP/1.1 server with kept connections, a thread for each. The destructor ends all of them.
class StandInServer
{
public:
    /// One connection, for handlers that do more (or less) than answer properly.
    class Connection
    {
    public:
        Connection(StandInServer &server, int socket)
            : m_server(server)
            , m_socket(socket)
        {}
        /// Sends head and body (no body for HEAD); false when the peer is gone.
        bool send(const SeenRequest &request, const StandInResponse &response);
        /// The same, but ends the connection after so many bytes of the body.
        void sendCut(const StandInResponse &response, std::uint64_t bodyBytes);
        bool raw(std::string_view bytes);
        /// False if the server ends before the time is over.
        bool wait(std::chrono::milliseconds time);
        /// No further request is read from this connection.
        void close() { m_closing = true; }
        bool isClosing() const { return m_closing; }
        const StandInServer &server() const { return m_server; }

    private:
        bool sendBody(const StandInResponse &response, std::uint64_t bytes);

        StandInServer &m_server;
        int m_socket;
        bool m_closing = false;
    };
    using Handler = std::function<void(const SeenRequest &, Connection &)>;

    /// Listens on 127.0.0.1; port 0 takes a free one.
    StandInServer(Handler handler, std::uint16_t port = 0);
    ~StandInServer();
    StandInServer(const StandInServer &) = delete;
    StandInServer &operator=(const StandInServer &) = delete;

    std::uint16_t port() const { return m_port; }
    std::string origin() const;
    /// Connections accepted so far.
    unsigned accepted() const { return m_accepted; }
    /// The most requests that were in hand at one time.
    unsigned mostAtOnce() const { return m_most; }
    /// Waited once before the first answer of a connection: what shaking hands takes.
    void setHandshake(std::chrono::milliseconds time) { m_handshake = time; }
    /// Ends: connections are closed, nothing is accepted any more.
    void stop();

private:
    struct Client
    {
        int socket = -1;
        std::thread thread;
        std::atomic<bool> done = false;
    };

    void accept();
    void serve(Client &client);

    Handler m_handler;
    int m_listener = -1;
    std::uint16_t m_port = 0;
    std::atomic<bool> m_stopping = false;
    std::atomic<unsigned> m_accepted = 0;
    std::atomic<unsigned> m_busy = 0;
    std::atomic<unsigned> m_most = 0;
    std::atomic<std::chrono::milliseconds> m_handshake{std::chrono::milliseconds(0)};
    std::mutex m_mutex;
    std::condition_variable m_stopped;
    std::list<Client> m_clients;
    std::thread m_thread;
};

/// `%41` becomes `A`; with `plus` also `+` a blank.
std::string percentDecoded(std::string_view text, bool plus = false);
/// Everything but letters, digits and `-_.~` (and `/` if kept) becomes `%XX`.
std::string percentEncoded(std::string_view text, bool keepSlash = false);

} // namespace weir::test

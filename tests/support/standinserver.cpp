// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/standinserver.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace weir::test {

namespace {

constexpr std::size_t maxHeadBytes = 65'536;
constexpr std::size_t maxBodyBytes = 1U << 20U;

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::string trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
        text.remove_suffix(1);
    return std::string(text);
}

std::optional<SeenRequest> parseHead(std::string_view head)
{
    SeenRequest request;
    std::size_t end = head.find("\r\n");
    const std::string_view first = head.substr(0, end);
    const std::size_t blank = first.find(' ');
    const std::size_t last = first.rfind(' ');
    if (blank == std::string_view::npos || last == blank)
        return std::nullopt;
    request.method = first.substr(0, blank);
    request.target = first.substr(blank + 1, last - blank - 1);
    while (end != std::string_view::npos) {
        head.remove_prefix(end + 2);
        end = head.find("\r\n");
        const std::string_view line = head.substr(0, end);
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos)
            request.headers[lower(std::string(line.substr(0, colon)))] = trimmed(line.substr(colon + 1));
    }
    return request;
}

std::string_view reason(int status)
{
    switch (status) {
    case 200: return "OK";
    case 206: return "Partial Content";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 416: return "Range Not Satisfiable";
    case 429: return "Too Many Requests";
    case 503: return "Service Unavailable";
    default: return "Status";
    }
}

} // namespace

std::string percentDecoded(std::string_view text, bool plus)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()
            && std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0
            && std::isxdigit(static_cast<unsigned char>(text[i + 2])) != 0) {
            out += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
            i += 2;
        } else {
            out += plus && text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

std::string percentEncoded(std::string_view text, bool keepSlash)
{
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (byte < 0x80 && std::isalnum(byte) != 0) || c == '-' || c == '_' || c == '.'
                           || c == '~' || (keepSlash && c == '/');
        if (plain)
            out += c;
        else
            (out += '%').append({digits[byte >> 4U], digits[byte & 15U]});
    }
    return out;
}

std::string SeenRequest::path() const { return percentDecoded(target.substr(0, target.find('?'))); }

std::vector<std::string> SeenRequest::parameters(std::string_view name) const
{
    std::vector<std::string> values;
    const std::size_t question = target.find('?');
    if (question == std::string::npos)
        return values;
    std::string_view query = std::string_view(target).substr(question + 1);
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        const std::size_t equals = pair.find('=');
        if (percentDecoded(pair.substr(0, equals), true) == name) {
            values.push_back(equals == std::string_view::npos
                                 ? std::string()
                                 : percentDecoded(pair.substr(equals + 1), true));
        }
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
    }
    return values;
}

std::string SeenRequest::parameter(std::string_view name) const
{
    const std::vector<std::string> values = parameters(name);
    return values.empty() ? std::string() : values.front();
}

std::string SeenRequest::header(const std::string &name) const
{
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
}

StandInServer::StandInServer(Handler handler, std::uint16_t port)
    : m_handler(std::move(handler))
{
    m_listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(m_listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t size = sizeof address;
    auto *plain = reinterpret_cast<sockaddr *>(&address);
    if (m_listener < 0 || ::bind(m_listener, plain, size) != 0 || ::listen(m_listener, 128) != 0
        || ::getsockname(m_listener, plain, &size) != 0)
        throw std::runtime_error("no port to listen on");
    m_port = ntohs(address.sin_port);
    m_thread = std::thread([this] { accept(); });
}

StandInServer::~StandInServer() { stop(); }

void StandInServer::stop()
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_stopping.exchange(true))
            return;
        for (const Client &client : m_clients)
            ::shutdown(client.socket, SHUT_RDWR);
    }
    m_stopped.notify_all();
    m_thread.join();
    for (Client &client : m_clients) {
        client.thread.join();
        ::close(client.socket);
    }
    m_clients.clear();
    ::close(m_listener);
}

std::string StandInServer::origin() const { return "http://127.0.0.1:" + std::to_string(m_port); }

void StandInServer::accept()
{
    while (!m_stopping) {
        pollfd waiting{m_listener, POLLIN, 0};
        if (::poll(&waiting, 1, 50) <= 0)
            continue;
        const int socket = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0)
            continue;
        const int yes = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        ++m_accepted;
        const std::lock_guard lock(m_mutex);
        m_clients.remove_if([](Client &client) {
            if (!client.done)
                return false;
            client.thread.join();
            ::close(client.socket);
            return true;
        });
        if (m_stopping) {
            ::close(socket);
            return;
        }
        Client &client = m_clients.emplace_back();
        client.socket = socket;
        client.thread = std::thread([this, &client] {
            serve(client);
            ::shutdown(client.socket, SHUT_RDWR);
            client.done = true;
        });
    }
}

void StandInServer::serve(Client &client)
{
    Connection connection(*this, client.socket);
    std::string buffer;
    std::array<char, 16'384> chunk{};
    bool first = true;
    while (!m_stopping && !connection.isClosing()) {
        std::size_t end = buffer.find("\r\n\r\n");
        while (end == std::string::npos) {
            const ssize_t got = ::recv(client.socket, chunk.data(), chunk.size(), 0);
            if (got <= 0 || buffer.size() > maxHeadBytes)
                return;
            buffer.append(chunk.data(), static_cast<std::size_t>(got));
            end = buffer.find("\r\n\r\n");
        }
        std::optional<SeenRequest> request = parseHead(std::string_view(buffer).substr(0, end));
        buffer.erase(0, end + 4);
        if (!request)
            return;
        const std::size_t length = std::strtoul(request->header("content-length").c_str(), nullptr, 10);
        while (buffer.size() < length) {
            const ssize_t got = ::recv(client.socket, chunk.data(), chunk.size(), 0);
            if (got <= 0 || length > maxBodyBytes)
                return;
            buffer.append(chunk.data(), static_cast<std::size_t>(got));
        }
        request->body = buffer.substr(0, length);
        buffer.erase(0, length);
        if (std::exchange(first, false) && !connection.wait(m_handshake.load()))
            return;
        const unsigned busy = ++m_busy;
        for (unsigned most = m_most; busy > most && !m_most.compare_exchange_weak(most, busy);) {
        }
        m_handler(*request, connection);
        --m_busy;
        if (lower(request->header("connection")) == "close")
            return;
    }
}

bool StandInServer::Connection::wait(std::chrono::milliseconds time)
{
    if (time.count() <= 0)
        return !m_server.m_stopping;
    std::unique_lock lock(m_server.m_mutex);
    return !m_server.m_stopped.wait_for(lock, time, [this] { return m_server.m_stopping.load(); });
}

bool StandInServer::Connection::raw(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t sent = ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            m_closing = true;
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool StandInServer::Connection::sendBody(const StandInResponse &response, std::uint64_t bytes)
{
    if (response.file.empty())
        return raw(std::string_view(response.body).substr(0, static_cast<std::size_t>(bytes)));
    const int file = ::open(response.file.c_str(), O_RDONLY | O_CLOEXEC);
    std::vector<char> chunk(1U << 18U);
    std::uint64_t done = 0;
    bool good = file >= 0;
    while (good && done < bytes) {
        const std::size_t part =
            static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), bytes - done));
        const ssize_t got = ::pread(file, chunk.data(), part, static_cast<off_t>(response.offset + done));
        good = got > 0 && raw({chunk.data(), static_cast<std::size_t>(got)});
        done += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    }
    if (file >= 0)
        ::close(file);
    if (!good)
        m_closing = true;
    return good;
}

namespace {

std::string headOf(const StandInResponse &response)
{
    std::string head =
        "HTTP/1.1 " + std::to_string(response.status) + ' ' + std::string(reason(response.status)) + "\r\n";
    bool hasLength = false;
    for (const auto &[name, value] : response.headers) {
        head += name + ": " + value + "\r\n";
        hasLength = hasLength || lower(name) == "content-length" || lower(name) == "transfer-encoding";
    }
    if (!hasLength && response.status != 304)
        head += "Content-Length: " + std::to_string(response.length()) + "\r\n";
    return head + "\r\n";
}

} // namespace

bool StandInServer::Connection::send(const SeenRequest &request, const StandInResponse &response)
{
    const bool bodyless = request.method == "HEAD" || response.status == 304;
    // Small answers go out in one piece, as a real server's would.
    if (response.file.empty() && !bodyless)
        return raw(headOf(response) + response.body);
    return raw(headOf(response)) && (bodyless || sendBody(response, response.length()));
}

void StandInServer::Connection::sendCut(const StandInResponse &response, std::uint64_t bodyBytes)
{
    if (raw(headOf(response)))
        sendBody(response, std::min(bodyBytes, response.length()));
    m_closing = true;
}

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/http.h"
#include "models/sources/hub/weburl.h"
#include "tests/support/standinserver.h"
#include "tests/support/testsupport.h"

#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <latch>
#include <mutex>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

HttpOptions quick()
{
    HttpOptions options;
    options.userAgent = "weir-test";
    options.connectTimeout = 2s;
    options.stallTimeout = 1s;
    options.retryDelay = 10ms;
    options.longestWait = 1s;
    return options;
}

HttpRequest to(const std::string &url)
{
    HttpRequest request;
    request.url = url;
    request.subject = "it";
    return request;
}

/// A server that remembers what it was sent and answers as told.
class Server
{
public:
    using Answer = std::function<StandInResponse(const SeenRequest &)>;

    explicit Server(Answer answer)
        : m_server([this, answer = std::move(answer)](const SeenRequest &request,
                                                      StandInServer::Connection &connection) {
            {
                const std::lock_guard lock(m_mutex);
                m_seen.push_back(request);
            }
            connection.send(request, answer(request));
        })
    {}
    std::string origin() const { return m_server.origin(); }
    std::vector<SeenRequest> seen()
    {
        const std::lock_guard lock(m_mutex);
        return m_seen;
    }
    StandInServer &server() { return m_server; }

private:
    std::mutex m_mutex;
    std::vector<SeenRequest> m_seen;
    StandInServer m_server;
};

StandInResponse text(std::string body, int status = 200)
{
    StandInResponse response;
    response.status = status;
    response.body = std::move(body);
    return response;
}

StandInResponse redirect(const std::string &location, int status = 302)
{
    StandInResponse response = text("moved", status);
    response.set("Location", location);
    return response;
}

StandInResponse withHeader(StandInResponse response, const std::string &name, const std::string &value)
{
    response.set(name, value);
    return response;
}

QString reasonOf(const Result<HttpResponse> &result)
{
    return result ? QString() : argumentText(result.error().arguments, "reason");
}

} // namespace

class HttpTest : public QObject
{
    Q_OBJECT

private slots:
    void urls();
    void privateAddresses();
    void proxyRules();
    void gets();
    void tokenStaysHome();
    void metadataOfTheFirstAnswer();
    void refusedRedirects_data();
    void refusedRedirects();
    void endlessRedirects();
    void ranges();
    void ignoredRange();
    void wrongRange();
    void limits();
    void retries();
    void noRetries_data();
    void noRetries();
    void waitsAsAsked();
    void doesNotWaitLong();
    void retryAfter();
    void expiredAddress();
    void stalls();
    void drips_data();
    void drips();
    void slowIsFine();
    void proxyRefuses_data();
    void proxyRefuses();
    void secrets();
    void secretsOfProxies_data();
    void secretsOfProxies();
    void breaksOff();
    void unreachable();
    void cancels();
    void cancelsWhileWaiting();
    void keepsConnections();
    void noMoreThanAllowedAtOnce();
    void compressedIsRefused();
    void noHttp();
};

void HttpTest::urls()
{
    QCOMPARE(webOrigin("HTTPS://Example.org/a").value(), (WebOrigin{"https", "example.org", 443}));
    QCOMPARE(webOrigin("http://127.0.0.1:8080").value(), (WebOrigin{"http", "127.0.0.1", 8080}));
    QCOMPARE(webOrigin("http://[::1]:8080/").value(), (WebOrigin{"http", "::1", 8080}));
    for (const char *bad : {"", "huggingface", "file:///etc/passwd", "http://", "http://u:p@example.org/",
                            "ftp://example.org/", "http://example.org:0/"})
        QVERIFY2(!webOrigin(bad), bad);
    QCOMPARE(q(resolvedUrl("https://a.org/x/y?q", "/z?a=%20").value()), u"https://a.org/z?a=%20"_s);
    QCOMPARE(q(resolvedUrl("https://a.org/x/y", "https://b.org/c d").value()), u"https://b.org/c%20d"_s);
    QVERIFY(!resolvedUrl("https://a.org/", ""));
    QCOMPARE(q(schemeOf("gopher:x")), u"gopher"_s);
    QVERIFY(schemeOf("/a:b").empty());
    QCOMPARE(q(urlQuoted("refs/pr/1")), u"refs%2Fpr%2F1"_s);
    QCOMPARE(q(urlQuoted("a b/ü#?", true)), u"a%20b/%C3%BC%23%3F"_s);
}

void HttpTest::privateAddresses()
{
    for (const char *each :
         {"127.0.0.1", "127.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
          "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1",
          "localhost", "LOCALHOST", "a.localhost"})
        QVERIFY2(isPrivateHost(each), each);
    for (const char *each : {"8.8.8.8", "172.32.0.1", "192.169.0.1", "2001:4860:4860::8888", "huggingface.co",
                             "10.example.org", "::ffff:8.8.8.8"})
        QVERIFY2(!isPrivateHost(each), each);
}

void HttpTest::proxyRules()
{
    QVERIFY(bypassesProxy("a.example.org", "example.org"));
    QVERIFY(bypassesProxy("a.example.org", "x, .example.org"));
    QVERIFY(bypassesProxy("example.org", ".example.org"));
    QVERIFY(bypassesProxy("Example.ORG", "*.example.org"));
    QVERIFY(bypassesProxy("10.1.2.3", "10.0.0.0/8"));
    QVERIFY(!bypassesProxy("11.1.2.3", "10.0.0.0/8"));
    QVERIFY(bypassesProxy("anything", "*"));
    QVERIFY(!bypassesProxy("badexample.org", "example.org"));
    QVERIFY(!bypassesProxy("example.org", ""));
}

void HttpTest::gets()
{
    Server server([](const SeenRequest &) { return text("hello"); });
    HttpClient client(quick());
    HttpRequest request = to(server.origin() + "/a?b=c");
    request.token = "secret";
    const Result<HttpResponse> response = client.get(request, {});
    QVERIFY2(response, qPrintable(outcome(response)));
    QCOMPARE(response->status, 200);
    QCOMPARE(q(response->body), u"hello"_s);
    QCOMPARE(response->requests, 1U);
    QCOMPARE(response->total.value(), 5U);
    QVERIFY(!response->elsewhere);
    const SeenRequest seen = server.seen().at(0);
    QCOMPARE(q(seen.target), u"/a?b=c"_s);
    QCOMPARE(q(seen.header("authorization")), u"Bearer secret"_s);
    QCOMPARE(q(seen.header("accept-encoding")), u"identity"_s);
    QCOMPARE(q(seen.header("user-agent")), u"weir-test"_s);
    QVERIFY(seen.header("cookie").empty());
}

void HttpTest::tokenStaysHome()
{
    Server away([](const SeenRequest &) { return withHeader(text("data"), "Set-Cookie", "a=b"); });
    Server home([&](const SeenRequest &request) {
        if (request.target == "/relative")
            return withHeader(redirect("/next", 307), "Set-Cookie", "session=1");
        if (request.target == "/next")
            return redirect(away.origin() + "/file?sig=1");
        return text("?");
    });
    Server back([&](const SeenRequest &) { return redirect(home.origin() + "/end"); });
    Server start([&](const SeenRequest &request) {
        return request.target == "/end" ? text("end") : redirect(back.origin() + "/x");
    });
    HttpClient client(quick());
    HttpRequest request = to(home.origin() + "/relative");
    request.token = "secret";
    const Result<HttpResponse> response = client.get(request, {});
    QVERIFY2(response, qPrintable(outcome(response)));
    QCOMPARE(q(response->body), u"data"_s);
    QVERIFY(response->elsewhere);
    QCOMPARE(response->requests, 3U);
    QCOMPARE(q(home.seen().at(1).header("authorization")), u"Bearer secret"_s);
    QVERIFY(!away.seen().at(0).headers.contains("authorization"));
    QVERIFY(!away.seen().at(0).headers.contains("cookie"));
    QVERIFY(!home.seen().at(1).headers.contains("cookie"));

    // Once it has left, it does not get the token back.
    request.url = start.origin() + "/begin";
    QVERIFY(client.get(request, {}));
    QVERIFY(!back.seen().at(0).headers.contains("authorization"));
    QVERIFY(!home.seen().back().headers.contains("authorization"));
}

void HttpTest::metadataOfTheFirstAnswer()
{
    Server away([](const SeenRequest &) { return withHeader(text("data"), "X-Repo-Commit", "forged"); });
    Server home([&](const SeenRequest &request) {
        if (request.target == "/old")
            return redirect("/new", 307);
        return withHeader(withHeader(redirect(away.origin() + "/f"), "X-Repo-Commit", "abc"), "X-Linked-Size",
                          "4");
    });
    HttpClient client(quick());
    const Result<HttpResponse> response = client.get(to(home.origin() + "/old"), {});
    QVERIFY(response);
    QCOMPARE(q(response->meta.get("x-repo-commit")), u"abc"_s);
    QCOMPARE(q(response->meta.get("x-linked-size")), u"4"_s);
}

void HttpTest::refusedRedirects_data()
{
    QTest::addColumn<QString>("location");
    QTest::newRow("file") << u"file:///etc/passwd"_s;
    QTest::newRow("FILE") << u"FILE:///etc/passwd"_s;
    QTest::newRow("ftp") << u"ftp://127.0.0.1/x"_s;
    QTest::newRow("gopher") << u"gopher://127.0.0.1:1/x"_s;
    QTest::newRow("javascript") << u"javascript:alert(1)"_s;
    QTest::newRow("user") << u"http://user:word@127.0.0.1:1/"_s;
    QTest::newRow("no host") << u"http://"_s;
    QTest::newRow("three slashes") << u"http:///x"_s;
    QTest::newRow("one slash") << u"http:/127.0.0.1:1/"_s;
    QTest::newRow("no slash") << u"http:127.0.0.1:1"_s;
    QTest::newRow("three slashes, no scheme") << u"///127.0.0.1:1/"_s;
}

void HttpTest::refusedRedirects()
{
    QFETCH(const QString, location);
    Server server([&](const SeenRequest &) { return redirect(s(location)); });
    HttpClient client(quick());
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QCOMPARE(outcome(response), u"hub.refused-redirect"_s);
    QCOMPARE(response.error().kind, ErrorKind::Network);
    QCOMPARE(server.seen().size(), std::size_t{1});
}

void HttpTest::endlessRedirects()
{
    Server server([](const SeenRequest &request) { return redirect(request.target + "x"); });
    HttpClient client(quick());
    QCOMPARE(outcome(client.get(to(server.origin() + "/"), {})), u"hub.refused-redirect"_s);
    QCOMPARE(server.seen().size(), std::size_t{6});
}

void HttpTest::ranges()
{
    Server server([](const SeenRequest &request) {
        if (request.header("range") == "bytes=90-109") {
            StandInResponse response = text(std::string(10, 'e'), 206);
            response.set("Content-Range", "bytes 90-99/100");
            return response;
        }
        if (request.header("range") == "bytes=50-59")
            return withHeader(text(std::string(10, 'm'), 206), "Content-Range", "Bytes 50-59/100");
        if (request.header("range") == "bytes=200-209")
            return withHeader(text({}, 416), "Content-Range", "bytes */100");
        if (request.header("range") == "bytes=300-309")
            return withHeader(text({}, 416), "Content-Range", "BYTES */100");
        return text("unexpected " + request.header("range"), 500);
    });
    HttpClient client(quick());
    HttpRequest request = to(server.origin() + "/");
    request.range = HttpRange{90, 20};
    const Result<HttpResponse> end = client.get(request, {});
    QVERIFY2(end, qPrintable(outcome(end)));
    QCOMPARE(end->status, 206);
    QCOMPARE(end->body.size(), std::size_t{10});
    QCOMPARE(end->total.value(), 100U);
    request.range = HttpRange{200, 10};
    const Result<HttpResponse> beyond = client.get(request, {});
    QVERIFY(beyond);
    QCOMPARE(beyond->status, 416);
    QCOMPARE(beyond->total.value(), 100U);
    request.range = HttpRange{300, 10}; // the unit may be written in any case
    QCOMPARE(client.get(request, {}).value().total.value(), 100U);
    request.range = HttpRange{50, 10};
    QCOMPARE(client.get(request, {}).value().total.value(), 100U);
}

void HttpTest::ignoredRange()
{
    Server server([](const SeenRequest &) { return text(std::string(5'000'000, 'x')); });
    HttpClient client(quick());
    HttpRequest request = to(server.origin() + "/");
    request.range = HttpRange{0, 1000};
    request.limit = 1000;
    const Result<HttpResponse> beginning = client.get(request, {});
    QVERIFY2(beginning, qPrintable(outcome(beginning)));
    QCOMPARE(beginning->body.size(), std::size_t{1000});
    QCOMPARE(beginning->total.value(), 5'000'000U);
    request.range = HttpRange{10, 1000};
    QCOMPARE(outcome(client.get(request, {})), u"hub.broken-answer"_s);
}

void HttpTest::wrongRange()
{
    const std::vector<std::string> answers{
        "bytes 0-9/100", "bytes 11-20/100", "bytes 10-20/100", "bytes 10-19/15", "",
        "10-19",         "bytes 10-9/100",  "bytes x-19/100",  "bytes 10-19/*"};
    Server server([&](const SeenRequest &request) {
        const auto number = static_cast<std::size_t>(std::stoi(request.target.substr(1)));
        return withHeader(text(std::string(10, 'e'), 206), "Content-Range", answers.at(number));
    });
    HttpClient client(quick());
    HttpRequest request = to({});
    request.range = HttpRange{10, 10};
    for (std::size_t i = 0; i + 1 < answers.size(); ++i) {
        request.url = server.origin() + '/' + std::to_string(i);
        QCOMPARE(outcome(client.get(request, {})), u"hub.broken-answer"_s);
    }
    request.url = server.origin() + '/' + std::to_string(answers.size() - 1);
    const Result<HttpResponse> unknown = client.get(request, {});
    QVERIFY(unknown);
    QVERIFY(!unknown->total);
}

void HttpTest::limits()
{
    Server server([](const SeenRequest &request) {
        StandInResponse response = text(std::string(100'000, 'x'), request.target == "/error" ? 404 : 200);
        return response;
    });
    HttpClient client(quick());
    HttpRequest request = to(server.origin() + "/");
    request.limit = 99'999;
    const Result<HttpResponse> response = client.get(request, {});
    QCOMPARE(outcome(response), u"hub.too-large"_s);
    QCOMPARE(argumentText(response.error().arguments, "limit"), u"99999"_s);
    request.limit = 100'000;
    QVERIFY(client.get(request, {}));
    // Of an error an excerpt is enough.
    request.url = server.origin() + "/error";
    request.limit = 10;
    const Result<HttpResponse> error = client.get(request, {});
    QVERIFY(error);
    QCOMPARE(error->body.size(), std::size_t{65'536});

    StandInServer endless([](const SeenRequest &, StandInServer::Connection &connection) {
        connection.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        const std::string chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
        while (connection.raw(chunk)) {
        }
    });
    request.url = endless.origin();
    request.limit = 1'000'000;
    QCOMPARE(outcome(client.get(request, {})), u"hub.too-large"_s);
}

void HttpTest::retries()
{
    std::atomic<int> left = 3;
    std::atomic<int> status = 503;
    Server server([&](const SeenRequest &) { return left-- > 0 ? text("busy", status) : text("ok"); });
    HttpClient client(quick());
    for (const int each : {408, 429, 500, 502, 503, 504}) {
        left = 3;
        status = each;
        const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
        QVERIFY(response);
        QCOMPARE(response->status, 200);
        QCOMPARE(response->requests, 4U);
    }
    left = 100;
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QVERIFY(response);
    QCOMPARE(response->status, 504);
    QCOMPARE(response->requests, 5U);
}

void HttpTest::noRetries_data()
{
    QTest::addColumn<int>("status");
    for (const int status : {400, 401, 403, 404, 410, 501})
        QTest::addRow("%d", status) << status;
}

void HttpTest::noRetries()
{
    QFETCH(const int, status);
    Server server([&](const SeenRequest &) { return text("no", status); });
    HttpClient client(quick());
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QVERIFY(response);
    QCOMPARE(response->status, status);
    QCOMPARE(server.seen().size(), std::size_t{1});
}

void HttpTest::waitsAsAsked()
{
    std::atomic<int> left = 1;
    Server server([&](const SeenRequest &) {
        return left-- > 0 ? withHeader(text("slow down", 429), "Retry-After", "1") : text("ok");
    });
    HttpClient client(quick());
    QElapsedTimer timer;
    timer.start();
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QVERIFY(response);
    QCOMPARE(response->status, 200);
    QVERIFY2(timer.elapsed() >= 1000, qPrintable(QString::number(timer.elapsed())));
}

void HttpTest::doesNotWaitLong()
{
    Server server([](const SeenRequest &) {
        StandInResponse response = text("slow down", 429);
        response.set("RateLimit", "\"resolvers\";r=0;t=172");
        response.set("Retry-After", "1");
        return response;
    });
    HttpClient client(quick());
    QElapsedTimer timer;
    timer.start();
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QVERIFY(response);
    QCOMPARE(response->status, 429);
    QCOMPARE(response->waitSeconds.value(), 173U);
    QCOMPARE(server.seen().size(), std::size_t{1});
    QVERIFY(timer.elapsed() < 1000);
}

void HttpTest::retryAfter()
{
    const auto now = std::chrono::system_clock::from_time_t(784'111'777); // Sun, 06 Nov 1994 08:49:37 GMT
    const auto seconds = [&](const char *name, const char *value) {
        HttpHeaders headers;
        headers.add(name, value);
        return retryAfterSeconds(headers, now);
    };
    QCOMPARE(seconds("retry-after", "120").value(), 120U);
    QCOMPARE(seconds("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT").value(), 30U);
    QCOMPARE(seconds("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT").value(), 0U);
    QCOMPARE(seconds("ratelimit", "\"api\";r=0;t=55").value(), 56U);
    QVERIFY(!seconds("ratelimit", "\"api\";r=12;t=55"));
    QVERIFY(!seconds("retry-after", "soon"));
    QCOMPARE(seconds("retry-after", "99999999999").value(), 1'000'000U);
}

void HttpTest::expiredAddress()
{
    std::atomic<int> expired = 1;
    Server away([&](const SeenRequest &) { return expired-- > 0 ? text("expired", 403) : text("data"); });
    Server home([&](const SeenRequest &) { return redirect(away.origin() + "/f"); });
    HttpClient client(quick());
    const Result<HttpResponse> response = client.get(to(home.origin() + "/"), {});
    QVERIFY(response);
    QCOMPARE(q(response->body), u"data"_s);
    QCOMPARE(home.seen().size(), std::size_t{2});
    expired = 100;
    const Result<HttpResponse> never = client.get(to(home.origin() + "/"), {});
    QVERIFY(never);
    QCOMPARE(never->status, 403);
    QVERIFY(never->elsewhere);
    QCOMPARE(home.seen().size(), std::size_t{4});
}

void HttpTest::stalls()
{
    std::atomic<int> requests = 0;
    StandInServer server([&](const SeenRequest &, StandInServer::Connection &connection) {
        ++requests;
        connection.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab");
        connection.wait(20s);
    });
    HttpClient client(quick());
    QElapsedTimer timer;
    timer.start();
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QCOMPARE(outcome(response), u"hub.too-slow"_s);
    QVERIFY(timer.elapsed() < 6000);
    QCOMPARE(requests.load(), 2);
}

void HttpTest::drips_data()
{
    QTest::addColumn<QString>("beginning");
    QTest::addColumn<QString>("drop");
    QTest::newRow("body") << u"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"_s << u"x"_s;
    QTest::newRow("body of an error") << u"HTTP/1.1 404 No\r\nContent-Length: 100000\r\n\r\n"_s << u"x"_s;
    QTest::newRow("header lines") << u"HTTP/1.1 200 OK\r\n"_s << u"X-Filler: 1\r\n"_s;
    QTest::newRow("one header line") << u"HTTP/1.1 200 OK\r\nX-Filler: "_s << u"1"_s;
    QTest::newRow("interim answers") << QString() << u"HTTP/1.1 100 Continue\r\n\r\n"_s;
}

void HttpTest::drips()
{
    QFETCH(const QString, beginning);
    QFETCH(const QString, drop);
    StandInServer server([&](const SeenRequest &, StandInServer::Connection &connection) {
        connection.raw(s(beginning));
        while (connection.raw(s(drop)) && connection.wait(50ms)) {
        }
    });
    HttpOptions options = quick();
    options.stallTimeout = 300ms;
    HttpClient client(options);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(client.get(to(server.origin() + "/"), {})), u"hub.too-slow"_s);
    QVERIFY2(timer.elapsed() < 4000, qPrintable(QString::number(timer.elapsed()))); // two tries of 0.9 s
    QCOMPARE(server.accepted(), 2U);
}

void HttpTest::slowIsFine()
{
    // 4 KB/s for longer than three stall times.
    StandInServer server([](const SeenRequest &, StandInServer::Connection &connection) {
        connection.raw("HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n");
        for (int i = 0; i < 30 && connection.raw(std::string(200, 'x')); ++i)
            connection.wait(50ms);
    });
    HttpOptions options = quick();
    options.stallTimeout = 300ms;
    HttpClient client(options);
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QVERIFY2(response, qPrintable(outcome(response)));
    QCOMPARE(response->body.size(), std::size_t{6000});
    QCOMPARE(response->requests, 1U);
}

void HttpTest::proxyRefuses_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("url");
    for (const int status : {407, 403, 404, 502, 503})
        QTest::addRow("CONNECT %d", status) << status << u"https://name.invalid/"_s;
    QTest::newRow("plain 407") << 407 << u"http://name.invalid/"_s;
}

void HttpTest::proxyRefuses()
{
    QFETCH(const int, status);
    QFETCH(const QString, url);
    Server proxy([&](const SeenRequest &) { return text("no", status); });
    HttpOptions options = quick();
    options.httpProxy = options.httpsProxy = proxy.origin();
    options.retryDelay = 1s;
    HttpClient client(options);
    QElapsedTimer timer;
    timer.start();
    const Result<HttpResponse> response = client.get(to(s(url)), {});
    QCOMPARE(outcome(response), u"hub.proxy"_s);
    QCOMPARE(reasonOf(response), u"it refused with status %1"_s.arg(status));
    QCOMPARE(proxy.seen().size(), std::size_t{1});
    QVERIFY2(timer.elapsed() < 900, qPrintable(QString::number(timer.elapsed())));

    StandInServer cut([](const SeenRequest &, StandInServer::Connection &connection) { connection.close(); });
    options.httpsProxy = cut.origin();
    options.retryDelay = 1ms;
    HttpClient other(options);
    QCOMPARE(outcome(other.get(to("https://name.invalid/"), {})), u"hub.proxy"_s);
    QCOMPARE(cut.accepted(), 2U);
}

void HttpTest::secrets()
{
    const auto shown = [](const char *text, const char *secret = "") {
        return q(withoutSecrets(text, secret));
    };
    QCOMPARE(shown("bad token abcd1234!", "abcd1234"), u"bad token ***!"_s);
    QCOMPARE(shown("twice ABCD1234abcd1234", "abcd1234"), u"twice ******"_s);
    QCOMPARE(shown("abc stays", "abc"), u"abc stays"_s);
    QCOMPARE(shown("x hf_AbCdEfGh_9 y, hf_hub"), u"x *** y, hf_hub"_s);
    QCOMPARE(shown("hf_hf_hf_abcdefgh"), u"***"_s);
    QCOMPARE(shown("Authorization: bearer  a.b-c/d= end"), u"Authorization: bearer  *** end"_s);
    QCOMPARE(shown("Bearer"), u"Bearer"_s);
    QCOMPARE(shown("Bearer "), u"Bearer "_s);
    QCOMPARE(shown("at 'http://u:p@ss@host:1/x@y' and https://u@host"), u"at 'http://y' and https://host"_s);
    QCOMPARE(shown("u:word@host:3128, name@host"), u"host:3128, name@host"_s);
    QCOMPARE(shown("org/name@rev:Q4_K_M"), u"org/name@rev:Q4_K_M"_s);
    QCOMPARE(shown(""), QString());
}

void HttpTest::secretsOfProxies_data()
{
    QTest::addColumn<QString>("proxy");
    QTest::newRow("unknown scheme") << u"nonsense://user:PaSsWoRd@127.0.0.1:1"_s;
    QTest::newRow("bad port") << u"http://user:PaSsWoRd@127.0.0.1:port"_s;
    QTest::newRow("blank") << u"http://user:PaSs WoRd,PaSsWoRd@127.0.0.1:1"_s;
    QTest::newRow("slash") << u"http://user:a/PaSsWoRd@127.0.0.1:1"_s;
    QTest::newRow("no scheme") << u"user:PaSsWoRd@127.0.0.1:port"_s;
    QTest::newRow("nothing there") << u"http://user:PaSsWoRd@127.0.0.1:1"_s;
}

void HttpTest::secretsOfProxies()
{
    QFETCH(const QString, proxy);
    HttpOptions options = quick();
    options.httpProxy = options.httpsProxy = s(proxy);
    HttpClient client(options);
    const Result<HttpResponse> response = client.get(to("https://name.invalid/"), {});
    QVERIFY(!response);
    QVERIFY2(!reasonOf(response).contains("PaSs"_L1), qPrintable(reasonOf(response)));
    QCOMPARE(outcome(response), u"hub.proxy"_s);
}

void HttpTest::breaksOff()
{
    std::atomic<int> broken = 2;
    StandInServer server([&](const SeenRequest &request, StandInServer::Connection &connection) {
        const StandInResponse response = text("0123456789");
        if (broken-- > 0)
            connection.sendCut(response, 4);
        else
            connection.send(request, response);
    });
    HttpClient client(quick());
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QVERIFY2(response, qPrintable(outcome(response)));
    QCOMPARE(q(response->body), u"0123456789"_s);
    broken = 100;
    QCOMPARE(outcome(client.get(to(server.origin() + "/"), {})), u"hub.interrupted"_s);
}

void HttpTest::unreachable()
{
    std::string origin;
    {
        const StandInServer gone([](const SeenRequest &, StandInServer::Connection &) {});
        origin = gone.origin();
    }
    HttpClient client(quick());
    HttpRequest request = to(origin + "/secret-path?token=1");
    request.token = "secret";
    const Result<HttpResponse> response = client.get(request, {});
    QCOMPARE(outcome(response), u"hub.unreachable"_s);
    QCOMPARE(argumentText(response.error().arguments, "host"), u"127.0.0.1"_s);
    QVERIFY(!reasonOf(response).contains("secret"_L1));
    QCOMPARE(outcome(client.get(to("http://name.invalid/"), {})), u"hub.dns"_s);
    QCOMPARE(outcome(client.get(to("file:///etc/passwd"), {})), u"hub.bad-address"_s);
    QCOMPARE(outcome(client.get(to(""), {})), u"hub.bad-address"_s);
}

void HttpTest::cancels()
{
    StandInServer server(
        [](const SeenRequest &, StandInServer::Connection &connection) { connection.wait(20s); });
    HttpOptions options = quick();
    options.stallTimeout = 20s;
    HttpClient client(options);
    std::stop_source stop;
    std::jthread later([&stop] {
        std::this_thread::sleep_for(100ms);
        stop.request_stop();
    });
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(client.get(to(server.origin() + "/"), stop.get_token())), u"cancelled"_s);
    QVERIFY2(timer.elapsed() < 400, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(outcome(client.get(to(server.origin() + "/"), stop.get_token())), u"cancelled"_s);
}

void HttpTest::cancelsWhileWaiting()
{
    Server server([](const SeenRequest &) { return withHeader(text("busy", 503), "Retry-After", "9"); });
    HttpOptions options = quick();
    options.longestWait = 10s;
    HttpClient client(options);
    std::stop_source stop;
    std::jthread later([&stop] {
        std::this_thread::sleep_for(200ms);
        stop.request_stop();
    });
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(client.get(to(server.origin() + "/"), stop.get_token())), u"cancelled"_s);
    QVERIFY(timer.elapsed() < 1000);
}

void HttpTest::keepsConnections()
{
    Server server([](const SeenRequest &) { return text("ok"); });
    HttpClient client(quick());
    for (int i = 0; i < 20; ++i)
        QVERIFY(client.get(to(server.origin() + "/"), {}));
    QCOMPARE(server.server().accepted(), 1U);
}

void HttpTest::noMoreThanAllowedAtOnce()
{
    StandInServer server([](const SeenRequest &request, StandInServer::Connection &connection) {
        connection.wait(20ms);
        connection.send(request, text("ok"));
    });
    HttpOptions options = quick();
    options.perHost = 7;
    HttpClient client(options);
    constexpr int count = 60;
    std::latch done(count);
    std::atomic<int> good = 0;
    for (int i = 0; i < count; ++i) {
        client.start(to(server.origin() + "/"), {}, [&](Result<HttpResponse> response) {
            good += response && response->status == 200 ? 1 : 0;
            done.count_down();
        });
    }
    done.wait();
    QCOMPARE(good.load(), count);
    QVERIFY2(server.mostAtOnce() <= 7 && server.mostAtOnce() > 1,
             qPrintable(QString::number(server.mostAtOnce())));
    QVERIFY(server.accepted() <= 7);
}

void HttpTest::compressedIsRefused()
{
    Server server(
        [](const SeenRequest &) { return withHeader(text("\x1F\x8B"), "Content-Encoding", "gzip"); });
    HttpClient client(quick());
    QCOMPARE(outcome(client.get(to(server.origin() + "/"), {})), u"hub.broken-answer"_s);
}

void HttpTest::noHttp()
{
    StandInServer server([](const SeenRequest &, StandInServer::Connection &connection) {
        connection.raw("220 mail.example.org ESMTP\r\n");
        connection.close();
    });
    HttpClient client(quick());
    const Result<HttpResponse> response = client.get(to(server.origin() + "/"), {});
    QCOMPARE(outcome(response), u"hub.broken-answer"_s);

    StandInServer heads([](const SeenRequest &, StandInServer::Connection &connection) {
        connection.raw("HTTP/1.1 200 OK\r\n");
        while (connection.raw("X-Filler: " + std::string(1000, 'x') + "\r\n")) {
        }
    });
    QCOMPARE(outcome(client.get(to(heads.origin() + "/"), {})), u"hub.broken-answer"_s);
}

QTEST_GUILESS_MAIN(HttpTest)
#include "tst_http.moc"

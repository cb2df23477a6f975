// SPDX-License-Identifier: GPL-3.0-or-later
//
// A hostile Hub, and a hostile network before it, met by the program as it is started. Each row shows the sentence,
// the time and the memory beyond that of a run that reads nothing.
#include "tests/support/hostilerun.h"
#include "tests/support/standinhub.h"
#include "tests/support/tinymodel.h"

#include <fmt/format.h>

#include <QTemporaryDir>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

using Connection = StandInServer::Connection;
using Hook = StandInHub::Hook;
using Setup = std::function<void(StandInHub &)>;

constexpr const char *token = "hf_aVerySecretTokenOfSomebody";

struct Row
{
    const char *name;
    const char *repository;
    Setup setup;
    int status;
    std::string sentence; ///< `{hub}` and `{cdn}` are the stand-in's addresses
    const char *shown = "";
    double mebibytes = 32;
    double seconds = maxHostileSeconds;
};

/// Answers requests whose path holds a text.
Setup where(std::string part, std::function<void(const SeenRequest &, Connection &)> answer)
{
    return [=](StandInHub &hub) {
        hub.setHook([=](const SeenRequest &request, Connection &connection) {
            if (request.path().find(part) == std::string::npos)
                return false;
            answer(request, connection);
            return true;
        });
    };
}

Setup fault(Fault::Kind kind, std::string path, std::string text = {}, Fault::Where at = Fault::Where::Both)
{
    return [=](StandInHub &hub) {
        Fault fault;
        fault.kind = kind;
        fault.path = path;
        fault.text = text;
        fault.where = at;
        hub.addFault(fault);
    };
}

/// One fixed answer.
Setup answer(std::string part, std::string body,
             std::vector<std::pair<std::string, std::string>> headers = {}, int status = 200)
{
    return where(std::move(part), [=](const SeenRequest &request, Connection &connection) {
        StandInResponse response;
        response.status = status;
        response.body = body;
        response.headers = headers;
        response.set("Content-Type", "application/json");
        connection.send(request, response);
    });
}

/// A gigabyte of zeros in a megabyte, as gzip members that follow each other.
std::string gzipBomb()
{
    const QByteArray zeros(64 << 20, '\0');
    const QByteArray packed = qCompress(zeros, 9).mid(6); // without Qt's length and zlib's head
    std::string member("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10);
    member += packed.left(packed.size() - 4).toStdString() + std::string(8, '\0');
    std::string bomb;
    for (int i = 0; i < 16; ++i)
        bomb += member;
    return bomb;
}

/// The head of an answer, then the same bytes for ever.
void endless(Connection &connection, const std::string &head, const std::string &piece)
{
    if (connection.raw(head)) {
        while (connection.raw(piece) && connection.wait(std::chrono::milliseconds(0))) {
        }
    }
    connection.close();
}

std::string treeEntries(std::size_t first, std::size_t count)
{
    std::string text = "[";
    for (std::size_t i = first; i < first + count; ++i)
        text += fmt::format(R"({}{{"type":"file","oid":"0","size":1,"path":"f{:07}.bin"}})",
                            i == first ? "" : ",", i);
    return text + ']';
}

/// Pages of a listing, each with an address of a next one.
void endlessPages(const SeenRequest &request, Connection &connection)
{
    const std::string cursor = request.parameter("cursor");
    const std::size_t number = cursor.empty() ? 0 : std::stoul(cursor);
    StandInResponse response;
    response.body = treeEntries(1000 * number, 1000);
    response.set("Link",
                 fmt::format("<http://{}{}?recursive=true&cursor={}>; rel=\"next\"", request.header("host"),
                             request.target.substr(0, request.target.find('?')), number + 1));
    connection.send(request, response);
}

void redirectChain(const SeenRequest &request, Connection &connection)
{
    const std::string step = request.parameter("step");
    StandInResponse response;
    response.status = 302;
    response.set("Location", fmt::format("{}?step={}", request.target.substr(0, request.target.find('?')),
                                         step.empty() ? 1 : std::stoi(step) + 1));
    connection.send(request, response);
}

void echo(const SeenRequest &request, Connection &connection)
{
    StandInResponse response;
    response.status = 403;
    response.body = R"({"error":"no: )" + request.header("authorization") + "\"}";
    response.set("X-Error-Message", "sent was " + request.header("authorization"));
    connection.send(request, response);
}

std::vector<Row> rows()
{
    const std::string gzip = gzipBomb();
    const std::string endlessHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string zeros = "10000\r\n" + std::string(0x10000, '\0') + "\r\n";
    const auto bomb = [&](const char *part, const char *encoding) {
        return answer(part, gzip, {{"Content-Encoding", encoding}});
    };
    const auto ignoresRange = [](const SeenRequest &request, Connection &connection) {
        static_cast<void>(request);
        endless(connection, "HTTP/1.1 200 OK\r\nContent-Length: 70000000000\r\n\r\n",
                std::string(1U << 18U, '\0'));
    };
    return {
        {"gzip-bomb-answer", "org/tiny", bomb("/api/models/org/tiny/tree", "gzip"), 4,
         "127.0.0.1 answered the request for org/tiny with something else (a compressed answer): check that "
         "no proxy or sign-in page stands between, then try again."},
        {"gzip-bomb-config", "org/tiny", bomb("config.json", "gzip"), 4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (a compressed answer): "
         "check that no proxy or sign-in page stands between, then try again."},
        {"gzip-bomb-weights", "org/tiny", bomb("/repos/", "gzip"), 4,
         "127.0.0.1 answered the request for org/tiny/model-00001-of-00003.safetensors with something else "
         "(a compressed answer): check that no proxy or sign-in page stands between, then try again."},
        {"brotli", "org/tiny", bomb("config.json", "br"), 4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (a compressed answer): "
         "check that no proxy or sign-in page stands between, then try again."},
        {"zstd", "org/tiny", bomb("config.json", "zstd"), 4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (a compressed answer): "
         "check that no proxy or sign-in page stands between, then try again."},
        {"gzip-as-transfer", "org/tiny",
         answer("config.json", fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", gzip.size(), gzip),
                {{"Transfer-Encoding", "gzip, chunked"}}),
         4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (a compressed answer): "
         "check that no proxy or sign-in page stands between, then try again."},
        {"endless-answer", "org/tiny", fault(Fault::Kind::Endless, "/tree/"), 4,
         "127.0.0.1 sends more than the 0.02 GB that the answer about org/tiny can have: it was broken off.",
         "", 64},
        {"endless-config", "org/tiny", fault(Fault::Kind::Endless, "config.json"), 4,
         "127.0.0.1 sends more than the 0.07 GB that the answer about org/tiny/config.json can have: it was "
         "broken off.",
         "", 96},
        {"endless-error", "org/tiny",
         where("config.json",
               [=](const SeenRequest &, Connection &connection) {
                   endless(connection, "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n", zeros);
               }),
         3, "org/tiny/config.json is not in the repository at this revision: check the name of the file."},
        {"endless-headers", "org/tiny",
         where("config.json",
               [=](const SeenRequest &, Connection &connection) {
                   endless(connection, "HTTP/1.1 200 OK\r\n", "X-More: " + std::string(1000, 'x') + "\r\n");
               }),
         4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (too many header "
         "lines): check that no proxy or sign-in page stands between, then try again."},
        {"endless-header-line", "org/tiny",
         where("config.json",
               [=](const SeenRequest &, Connection &connection) {
                   endless(connection, "HTTP/1.1 200 OK\r\nX-More: ", std::string(1000, 'x'));
               }),
         4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (a header line that "
         "does not end): check that no proxy or sign-in page stands between, then try again."},
        {"endless-interim", "org/tiny",
         where("config.json",
               [=](const SeenRequest &, Connection &connection) {
                   endless(connection, "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n");
               }),
         4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (too many header "
         "lines): check that no proxy or sign-in page stands between, then try again."},
        {"endless-trailers", "org/tiny",
         where("config.json",
               [=](const SeenRequest &, Connection &connection) {
                   endless(connection, endlessHead + "0\r\n", "X-More: " + std::string(1000, 'x') + "\r\n");
               }),
         4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (too many header "
         "lines): check that no proxy or sign-in page stands between, then try again."},
        {"redirect-loop", "org/tiny", fault(Fault::Kind::RedirectLoop, "config.json"), 4,
         "127.0.0.1 wanted to send the request for org/tiny/config.json on to a chain that does not end, "
         "which is not followed: check HF_ENDPOINT and the proxy."},
        {"redirect-chain", "org/tiny", where("config.json", redirectChain), 4,
         "127.0.0.1 wanted to send the request for org/tiny/config.json on to a chain that does not end, "
         "which is not followed: check HF_ENDPOINT and the proxy."},
        {"redirect-file", "org/tiny", fault(Fault::Kind::RedirectTo, "config.json", "file:///etc/passwd"), 4,
         "127.0.0.1 wanted to send the request for org/tiny/config.json on to file:, which is not followed: "
         "check HF_ENDPOINT and the proxy."},
        {"redirect-gopher", "org/tiny",
         fault(Fault::Kind::RedirectTo, "config.json", "gopher://127.0.0.1:70/"), 4,
         "127.0.0.1 wanted to send the request for org/tiny/config.json on to gopher:, which is not "
         "followed: check HF_ENDPOINT and the proxy."},
        {"redirect-nonsense", "org/tiny", fault(Fault::Kind::RedirectTo, "config.json", "http://[::1"), 4,
         "127.0.0.1 wanted to send the request for org/tiny/config.json on to an address that cannot be "
         "read, which is not followed: check HF_ENDPOINT and the proxy."},
        {"ignores-range-70-gb", "org/tiny", where("/repos/", ignoresRange), 4,
         "org/tiny/model-00001-of-00003.safetensors is listed with 65.9 kB but is 70.00 GB large: try again; "
         "if it stays, the upload is incomplete.",
         "", 64},
        {"ignores-range-gguf", "org/gguf", where("/repos/", ignoresRange), 4,
         "org/gguf/model-Q4_K_M.gguf is listed with 96.9 kB but is 70.00 GB large: try again; if it stays, "
         "the upload is incomplete.",
         "", 160},
        {"wrong-range", "org/tiny", fault(Fault::Kind::WrongRange, "model-", {}, Fault::Where::Cdn), 4,
         "127.0.0.1 answered the request for org/tiny/model-00001-of-00003.safetensors with something else "
         "(another part of the file than asked for): check that no proxy or sign-in page stands between, "
         "then try again."},
        {"listing-million", "org/tiny", answer("/tree/", treeEntries(0, 1'000'000)), 4,
         "127.0.0.1 sends more than the 0.02 GB that the answer about org/tiny can have: it was broken off.",
         "", 64},
        {"listing-endless", "org/tiny", where("/tree/", endlessPages), 3,
         "The listing of org/tiny is longer than is read here (200,000 entries, 200 pages or 64 MiB of "
         "text): open a clone of it as a folder.",
         "", 128},
        {"listing-nested", "org/tiny", answer("/tree/", std::string(100'000, '[')), 4,
         "{hub} answered the request for org/tiny with something else (not the JSON that it should be): "
         "check that no proxy "
         "or sign-in page stands between, then try again."},
        {"listing-names", "org/tiny",
         answer(
             "/tree/",
             R"([{"type":"file","size":1,"path":"../../config.json"},{"type":"file","size":1,"path":"/etc/passwd"},)"
             R"({"type":"file","size":1,"path":"a\u0000.safetensors"},{"type":"file","size":1,"path":"a\\b"}])"),
         3,
         "org/tiny holds no checkpoint (no config.json, no .safetensors, no .gguf): choose a model folder."},
        {"listing-duplicate-keys", "org/tiny",
         answer("/tree/", R"([{"type":"file","size":1,"path":"a","path":"../b.safetensors","size":2}])"), 3,
         "org/tiny holds no checkpoint (no config.json, no .safetensors, no .gguf): choose a model folder."},
        {"listing-sizes", "org/tiny",
         answer("/tree/", R"([{"type":"file","size":1e300,"path":"config.json"}])"), 4,
         "The listing of org/tiny is broken: it gives no size, or none that can be, for config.json; try "
         "again later, or open a clone of it as a folder."},
        {"info-names", "org/tiny",
         answer("/models/org/tiny",
                R"({"id":"../../etc","sha":"../../../0000000000000000000000000000000000"})"),
         4,
         "{hub} answered the request for org/tiny with something else (not the JSON that it should be): "
         "check that no proxy or sign-in page stands between, then try again."},
        {"info-nul", "org/tiny", answer("/models/org/tiny", std::string("{\"id\":\"a\0b\"}", 12)), 4,
         "{hub} answered the request for org/tiny with something else (not the JSON that it should be): "
         "check that no proxy or sign-in page stands between, then try again."},
        {"token-echoed", "org/tiny", where("config.json", echo), 5,
         "The access token does not allow reading org/tiny: give it read access to this repository on "
         "huggingface.co (Settings, Access Tokens)."},
        {"web-page", "org/tiny", fault(Fault::Kind::Html, "/api/"), 4,
         "{hub} answered the request for org/tiny with something else (a web page): check that no proxy or "
         "sign-in page stands between, then try again."},
        {"not-http", "org/tiny",
         where("config.json",
               [](const SeenRequest &, Connection &connection) {
                   connection.raw("SSH-2.0-OpenSSH_9.2\r\n");
                   connection.close();
               }),
         4,
         "127.0.0.1 answered the request for org/tiny/config.json with something else (Received HTTP/0.9 "
         "when not allowed): check that no proxy or sign-in page stands between, then try again."},
        {"gguf-broken-name", "org/broken", [](StandInHub &) {}, 0, "", "other"},
    };
}

} // namespace

class HostileHubTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void answers_data();
    void answers();
    void publicToPrivate_data();
    void publicToPrivate();
    void drip();

private:
    QProcessEnvironment environment(const QTemporaryDir &scratch, const std::string &endpoint) const;

    QTemporaryDir m_root;
    HostileRun m_idle;
    std::vector<Row> m_rows;
};

void HostileHubTest::initTestCase()
{
    const fs::path root = s(m_root.path());
    writeTinyModel(root / "org" / "tiny");
    tinyGguf().write(root / "org" / "gguf" / "model-Q4_K_M.gguf");
    // A name that is no UTF-8 is shown, and kept in the cache, none the less.
    tinyGguf().tensor("a\xFF", "F32", {8}).write(root / "org" / "broken" / "model-Q4_K_M.gguf");
    m_rows = rows();
    // What reading a sound repository takes is no fault of a hostile one.
    const QTemporaryDir scratch;
    StandInHub hub(root);
    m_idle = runWeir(scratch.path(), {u"assess"_s, u"org/tiny"_s}, environment(scratch, hub.endpoint()));
    QCOMPARE(m_idle.err, QString());
    QCOMPARE(m_idle.status, 0);
    qInfo("beyond the %.1f MiB of a run that reads a small repository", m_idle.mebibytes);
}

QProcessEnvironment HostileHubTest::environment(const QTemporaryDir &scratch,
                                                const std::string &endpoint) const
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char *name :
         {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HOME", "HF_HUB_CACHE", "http_proxy", "HTTP_PROXY",
          "all_proxy", "ALL_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"})
        environment.remove(QString::fromLatin1(name));
    environment.insert(u"HF_ENDPOINT"_s, q(endpoint));
    environment.insert(u"HF_TOKEN"_s, QString::fromLatin1(token));
    environment.insert(u"HF_HOME"_s, scratch.filePath(u"hf"_s));
    environment.insert(u"XDG_CACHE_HOME"_s, scratch.filePath(u"cache"_s));
    return environment;
}

void HostileHubTest::answers_data()
{
    QTest::addColumn<int>("row");
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        QTest::newRow(m_rows[i].name) << static_cast<int>(i);
}

void HostileHubTest::answers()
{
    QFETCH(const int, row);
    const Row &each = m_rows[static_cast<std::size_t>(row)];
    const QTemporaryDir scratch;
    StandInHub hub(s(m_root.path()));
    each.setup(hub);
    const HostileRun run = runWeir(scratch.path(), {u"assess"_s, QString::fromLatin1(each.repository)},
                                   environment(scratch, hub.endpoint()));
    Expected expected;
    expected.status = each.status;
    expected.sentence = q(each.sentence).replace(u"{hub}"_s, q(hub.endpoint()));
    expected.shown = QString::fromLatin1(each.shown);
    expected.mebibytes = each.mebibytes;
    expected.seconds = each.seconds;
    QVERIFY2(!run.err.contains(QLatin1String(token)) && !run.out.contains(QLatin1String(token)),
             "a token is shown");
    checkHostile(each.name, run, m_idle, expected);
}

void HostileHubTest::publicToPrivate_data()
{
    QTest::addColumn<QString>("location");
    QTest::newRow("private") << u"http://10.0.0.1/x"_s;
    QTest::newRow("loopback") << u"http://127.0.0.1:1/x"_s;
    QTest::newRow("loopback-name") << u"http://localhost/x"_s;
    QTest::newRow("loopback-6") << u"http://[::1]/x"_s;
    QTest::newRow("mapped-6") << u"http://[::ffff:192.168.0.1]/x"_s;
    QTest::newRow("metadata") << u"http://169.254.169.254/latest/meta-data/"_s;
    QTest::newRow("hexadecimal") << u"http://0x7f000001/x"_s;
    QTest::newRow("octal") << u"http://0177.0.0.1/x"_s;
    QTest::newRow("number") << u"http://2130706433/x"_s;
}

/// A Hub with a public name, reached through a proxy so that nothing need be resolved.
void HostileHubTest::publicToPrivate()
{
    QFETCH(const QString, location);
    const QTemporaryDir scratch;
    std::atomic<int> others = 0;
    StandInServer proxy([&](const SeenRequest &request, Connection &connection) {
        others += request.target.starts_with("http://hub.example.org/") ? 0 : 1;
        StandInResponse response;
        response.status = 302;
        response.set("Location", s(location));
        connection.send(request, response);
    });
    QProcessEnvironment surroundings = environment(scratch, "http://hub.example.org");
    surroundings.insert(u"http_proxy"_s, q(proxy.origin()));
    const HostileRun run = runWeir(scratch.path(), {u"assess"_s, u"org/tiny"_s}, surroundings);
    Expected expected;
    expected.status = 4;
    expected.sentence =
        u"hub.example.org wanted to send the request for org/tiny on to a private address, which is "
        "not followed: check HF_ENDPOINT and the proxy."_s;
    checkHostile(QTest::currentDataTag(), run, m_idle, expected);
    QCOMPARE(others.load(), 0);
}

/// A byte a second is given up after three times ten seconds, twice.
void HostileHubTest::drip()
{
    const QTemporaryDir scratch;
    StandInHub hub(s(m_root.path()));
    where("config.json", [](const SeenRequest &, Connection &connection) {
        connection.raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        while (connection.raw(" ") && connection.wait(std::chrono::seconds(1))) {
        }
        connection.close();
    })(hub);
    const HostileRun run =
        runWeir(scratch.path(), {u"assess"_s, u"org/tiny"_s}, environment(scratch, hub.endpoint()));
    Expected expected;
    expected.status = 4;
    expected.sentence =
        u"127.0.0.1 stopped sending, or sent too slowly, while org/tiny/config.json was read: check the network connection and try again."_s;
    expected.seconds = std::max(80.0, maxHostileSeconds);
    checkHostile("drip", run, m_idle, expected);
}

QTEST_GUILESS_MAIN(HostileHubTest)
#include "tst_hostilehub.moc"

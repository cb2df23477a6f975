// SPDX-License-Identifier: GPL-3.0-or-later
//
// `weir assess org/name` as a user runs it: everything comes from the environment.
#include "app/commandline.h"
#include "tests/support/standinhub.h"
#include "tests/support/testsupport.h"
#include "tests/support/tinymodel.h"

#include <nlohmann/json.hpp>

#include <QTemporaryDir>
#include <QTest>

#include <sstream>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

struct Run
{
    int status = -1;
    std::string out;
    std::string err;
    nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

Run assessed(const std::vector<std::string> &arguments)
{
    std::vector<const char *> pointers{"weir", "assess", "--json"};
    for (const std::string &argument : arguments)
        pointers.push_back(argument.c_str());
    std::ostringstream out;
    std::ostringstream err;
    const CommandOutcome outcome =
        runCommandLine(static_cast<int>(pointers.size()), pointers.data(), out, err);
    return {outcome.exitStatus.value_or(-1), out.str(), err.str()};
}

} // namespace

class HubCommandTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void assesses();
    void exitStatus_data();
    void exitStatus();
    void sentencesAreWhole();

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<StandInHub> m_hub;
};

void HubCommandTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    const fs::path root = fs::path(s(m_folder->path())) / "root";
    writeTinyModel(root / "org" / "tiny");
    writeTinyModel(root / "org" / "gated");
    writeFile(root / "org" / "lora" / "adapter_config.json", "{}");
    m_hub = std::make_unique<StandInHub>(root);
    m_hub->setToken("hf_test");
    StandInRepository gated;
    gated.access = StandInRepository::Access::GatedNotGranted;
    m_hub->setRepository("org/gated", gated);
    qputenv("HF_ENDPOINT", QByteArray::fromStdString(m_hub->endpoint()));
    qputenv("HF_TOKEN", "hf_test\n");
    qputenv("XDG_CACHE_HOME", m_folder->filePath(u"cache"_s).toUtf8());
    for (const char *name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HOME", "HF_HUB_CACHE",
                             "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"})
        qunsetenv(name);
}

void HubCommandTest::cleanup()
{
    qunsetenv("HF_HUB_OFFLINE");
    m_hub.reset();
}

void HubCommandTest::assesses()
{
    const Run run = assessed({"org/tiny@main"});
    QCOMPARE(q(run.err), QString());
    QCOMPARE(run.status, 0);
    const nlohmann::json checkpoint = run.json()["checkpoint"];
    QCOMPARE(q(checkpoint["id"].get<std::string>()), u"org/tiny"_s);
    QCOMPARE(q(checkpoint["source"].get<std::string>()), u"hub"_s);
    QCOMPARE(q(checkpoint["revision"].get<std::string>()), q(m_hub->commitOf("org/tiny")));
    QCOMPARE(checkpoint["weight_bytes"].get<std::uint64_t>(), tinyWeightBytes);
    QCOMPARE(checkpoint["files"].size(), std::size_t{3});
    QCOMPARE(q(m_hub->requests().at(0).header("authorization")), u"Bearer hf_test"_s);
    m_hub->clearRequests();
    qputenv("HF_HUB_OFFLINE", "1");
    const Run offline = assessed({"org/tiny"});
    QCOMPARE(offline.status, 0);
    QCOMPARE(offline.json()["checkpoint"]["weight_bytes"].get<std::uint64_t>(), tinyWeightBytes);
    QCOMPARE(m_hub->requests().size(), std::size_t{0});
}

void HubCommandTest::exitStatus_data()
{
    QTest::addColumn<QString>("argument");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("id");
    QTest::newRow("missing") << u"org/none"_s << 3 << u"hub.missing"_s;
    QTest::newRow("revision") << u"org/tiny@none"_s << 3 << u"hub.revision-missing"_s;
    QTest::newRow("choice") << u"org/tiny:Q4_K_M"_s << 3 << u"hub.choice-missing"_s;
    QTest::newRow("gated") << u"org/gated"_s << 5 << u"hub.not-granted"_s;
    QTest::newRow("adapter") << u"org/lora"_s << 7 << u"folder.adapter-alone"_s;
    QTest::newRow("word") << u"tiny"_s << 3 << u"open.unknown"_s;
}

void HubCommandTest::exitStatus()
{
    QFETCH(const QString, argument);
    QFETCH(const int, status);
    QFETCH(const QString, id);
    const Run run = assessed({s(argument)});
    QCOMPARE(q(run.json()["error"]["id"].get<std::string>()), id);
    QCOMPARE(run.status, status);
}

void HubCommandTest::sentencesAreWhole()
{
    m_hub->hub().stop();
    const Run unreachable = assessed({"org/tiny"});
    QCOMPARE(unreachable.status, 4);
    QCOMPARE(q(unreachable.json()["error"]["id"].get<std::string>()), u"hub.unreachable"_s);
    QVERIFY2(!q(unreachable.err).contains(u'{'), unreachable.err.c_str());
    QCOMPARE(std::ranges::count(unreachable.err, '\n'), 1);
    qputenv("HF_HUB_OFFLINE", "yes");
    QCOMPARE(assessed({"org/tiny"}).status, 4);
    qputenv("HF_ENDPOINT", "nonsense");
    QCOMPARE(assessed({"org/tiny"}).status, 2);
    QCOMPARE(assessed({"--source", "nowhere", "org/tiny"}).status, 2);
    QCOMPARE(assessed({"--source", "catalog", "org/tiny"}).status, 3);
}

QTEST_GUILESS_MAIN(HubCommandTest)
#include "tst_hubcommand.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// A repository of 163 shards and 92 thousand tensors, 50 ms away: how long does it take to read, and how long to
// open again from the cache?
#include "models/sources/hub/hub.h"
#include "tests/support/safetensorsbuilder.h"
#include "tests/support/standinhub.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QElapsedTimer>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

double milliseconds(const QElapsedTimer &timer) { return static_cast<double>(timer.nsecsElapsed()) / 1e6; }

/// As large as the real one, where that is not at hand: 163 shards of 560 tensors.
void synthesize(const fs::path &folder)
{
    nlohmann::json map;
    for (int shard = 1; shard <= 163; ++shard) {
        const std::string number = std::to_string(1'000'000 + shard).substr(2);
        const std::string name = "model-" + number + "-of-000163.safetensors";
        SafetensorsBuilder builder;
        for (int i = 0; i < 560; ++i) {
            const int at = shard * 560 + i;
            const std::string tensor =
                "model.layers." + std::to_string(at / 1536) + ".mlp.experts." + std::to_string(at % 256) + '.'
                + std::vector<std::string>{"gate", "up", "down"}[static_cast<std::size_t>(at / 256 % 3)]
                + "_proj.weight" + (at / 768 % 2 == 0 ? "" : "_scale_inv");
            builder.add(tensor, "F8_E4M3", {2048, 7168});
            map[tensor] = name;
        }
        builder.write(folder / name);
    }
    writeFile(folder / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
    writeFile(folder / "config.json", nlohmann::json{{"architectures", {"DeepseekV3ForCausalLM"}},
                                                     {"model_type", "deepseek_v3"},
                                                     {"hidden_size", 7168},
                                                     {"num_hidden_layers", 61},
                                                     {"num_attention_heads", 128},
                                                     {"num_key_value_heads", 128},
                                                     {"kv_lora_rank", 512},
                                                     {"qk_rope_head_dim", 64},
                                                     {"n_routed_experts", 256},
                                                     {"num_experts_per_tok", 8},
                                                     {"vocab_size", 129280}}
                                          .dump());
}

} // namespace

class BenchHub : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void reads();
    void opensFromTheCache();

private:
    HubSettings settings(const std::string &cache) const
    {
        HubSettings settings;
        settings.endpoint = m_hub->endpoint();
        settings.token = "hf_bench";
        settings.metadataCache = fs::path(s(m_folder.path())) / cache;
        return settings;
    }

    QTemporaryDir m_folder;
    std::unique_ptr<StandInHub> m_hub;
    const HubReference m_reference{"deepseek-ai/DeepSeek-V3", "main", ""};
};

void BenchHub::initTestCase()
{
    const fs::path root = fs::path(s(m_folder.path())) / "root";
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (shared && fs::exists(*shared / "oracle" / "expand.py")
        && !QStandardPaths::findExecutable(u"python3"_s).isEmpty()) {
        QProcess process;
        process.start(u"python3"_s, {q((*shared / "oracle" / "expand.py").string()), q(root.string()),
                                     u"deepseek-ai__DeepSeek-V3"_s});
        QVERIFY(process.waitForFinished(120'000));
    } else {
        synthesize(root / m_reference.repository);
    }
    m_hub = std::make_unique<StandInHub>(root);
}

void BenchHub::reads()
{
    m_hub->setLatency(std::chrono::milliseconds(50));
    std::vector<double> times;
    std::size_t most = 0;
    for (int round = 0; round < 7; ++round) {
        m_hub->clearRequests();
        QElapsedTimer timer;
        timer.start();
        Hub hub(settings("cache" + std::to_string(round)));
        const Result<CheckpointPtr> read = hub.read(m_reference, {});
        times.push_back(milliseconds(timer));
        QVERIFY2(read, qPrintable(outcome(read)));
        most = std::max(most, m_hub->count(".safetensors") + m_hub->count("/repos/"));
    }
    std::printf("163 shards, 50 ms a round trip: median %.0f ms, worst %.0f ms; %.2f requests a shard, "
                "%u and %u at once\n",
                median(times), *std::ranges::max_element(times), static_cast<double>(most) / 163,
                m_hub->hub().mostAtOnce(), m_hub->cdn().mostAtOnce());
    QVERIFY(most <= 2 * 163 + 2); // the index is a file of that name as well
#ifdef NDEBUG
    QVERIFY2(median(times) < 1200, "reading takes longer than 1.2 s");
#endif
}

void BenchHub::opensFromTheCache()
{
    m_hub->setLatency(std::chrono::milliseconds(0));
    HubSettings offline = settings("cache0");
    offline.offline = true;
    std::vector<double> times;
    for (int round = 0; round < 15; ++round) {
        QElapsedTimer timer;
        timer.start();
        Hub hub(offline);
        const Result<CheckpointPtr> read = hub.read(m_reference, {});
        times.push_back(milliseconds(timer));
        QVERIFY2(read, qPrintable(outcome(read)));
    }
    std::vector<double> online;
    for (int round = 0; round < 15; ++round) {
        m_hub->clearRequests();
        QElapsedTimer timer;
        timer.start();
        Hub hub(settings("cache0"));
        QVERIFY(hub.read(m_reference, {}));
        online.push_back(milliseconds(timer));
        QCOMPARE(m_hub->requests().size(), std::size_t{1});
    }
    std::printf("from the cache: median %.2f ms offline, %.2f ms with the Hub asked at once beside it\n",
                median(times), median(online));
#ifdef NDEBUG
    QVERIFY2(median(times) < 20, "a cached checkpoint takes longer than 20 ms to open");
#endif
}

QTEST_GUILESS_MAIN(BenchHub)
#include "bench_hub.moc"

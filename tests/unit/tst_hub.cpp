// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/catalog.h"
#include "models/sources/catalogformat.h"
#include "models/sources/hub/hub.h"
#include "models/sources/hub/hubapi.h"
#include "models/sources/safetensorsfolder.h"
#include "tests/support/standinhub.h"
#include "tests/support/testsupport.h"
#include "tests/support/tinymodel.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <thread>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

using Access = StandInRepository::Access;

StandInRepository special(Access access, bool gatedManually = false)
{
    StandInRepository repository;
    repository.access = access;
    repository.gatedManually = gatedManually;
    return repository;
}

QString noteIds(const Checkpoint &checkpoint)
{
    QStringList ids;
    for (const Message &note : checkpoint.notes)
        ids += q(note.id);
    return ids.join(u' ');
}

QString idsOf(const HubPage &page)
{
    QStringList ids;
    for (const HubHit &hit : page.hits)
        ids += q(hit.id);
    return ids.join(u' ');
}

/// Files whose headers are padded to 50 MB each, made when they are read.
class PaddedFiles final : public RepositoryFiles
{
public:
    PaddedFiles(const fs::path &tiny, int files)
        : RepositoryFiles(listing(files))
        , m_folder(tiny, {})
    {}
    std::uint64_t given() const { return m_given; }

    std::string subject(const std::string &path) const override { return "padded/" + path; }
    Result<std::string> text(const std::string &path, std::uint64_t limit, std::stop_token stop) override
    {
        return m_folder.text(path, limit, std::move(stop));
    }
    void read(const std::string &path, std::uint64_t first, std::uint64_t count, std::stop_token,
              BytesCallback done) override
    {
        std::string whole = SafetensorsBuilder::prefixed(
            SafetensorsBuilder()
                .add("model.layers." + path.substr(0, 2) + ".self_attn.q_proj.weight", "BF16", {1})
                .header());
        whole.resize(headerBytes + 8, ' ');
        for (unsigned i = 0; i < 8; ++i)
            whole[i] = static_cast<char>(headerBytes >> (8 * i) & 0xffU);
        m_given += std::min<std::uint64_t>(count, whole.size() - first);
        done(FileBytes{whole.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                       headerBytes + 10});
    }
    unsigned parallelReads() const override { return 4; }
    Result<std::unique_ptr<RepositoryStream>> open(const std::string &path, std::stop_token stop) override
    {
        return m_folder.open(path, std::move(stop));
    }

private:
    static constexpr std::uint64_t headerBytes = 50'000'000;
    static std::vector<ListedFile> listing(int files)
    {
        std::vector<ListedFile> list;
        for (int i = 10; i < 10 + files; ++i)
            list.push_back({std::to_string(i) + ".safetensors", headerBytes + 10});
        list.push_back({"config.json", 100});
        return list;
    }

    FolderFiles m_folder;
    std::atomic<std::uint64_t> m_given = 0;
};

} // namespace

class HubTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void readsSafetensors();
    void findsUnlistedFiles();
    void leavesCopiesOut();
    void readsLargeHeaders();
    void headersSetOutBeforeTheIndex();
    void shortRanges_data();
    void shortRanges();
    void manyFiles();
    void manyHeaderBytes();
    void largeHeadersAreNotKept();
    void readsQuantizations();
    void readsSplits();
    void readsLongGgufHeaders();
    void readsRevisions();
    void oneCommitForAll();
    void otherKinds();
    void lists();
    void listsPages();
    void renamed();
    void access_data();
    void access();
    void tokens();
    void missing();
    void faults_data();
    void faults();
    void faultsThatPass_data();
    void faultsThatPass();
    void limitsNameTheTime();
    void hostileIndex();
    void forgedListing();
    void listingEntries_data();
    void listingEntries();
    void brokenNames();
    void listingBudget_data();
    void listingBudget();
    void deepAnswers();
    void secretsInAnswers();
    void anonymousLimits();
    void cancels();
    void progress();
    void searches();
    void searchFaults();
    void revisions();
    void badEndpoint();
    void manyAtOnce();
    void opensByName();

private:
    HubSettings settings(const std::string &token = "hf_test") const
    {
        HubSettings settings;
        settings.endpoint = m_hub->endpoint();
        settings.token = token;
        settings.retryDelay = 5ms;
        settings.tries = 3;
        settings.stallTimeout = 400ms;
        settings.connectTimeout = 2s;
        return settings;
    }
    Result<CheckpointPtr> read(const std::string &name, const std::string &token = "hf_test") const
    {
        Hub hub(settings(token));
        return hub.read(parseHubReference(name).value(), {});
    }
    bool tokenReachedTheCdn() const
    {
        return std::ranges::any_of(m_hub->requests(), [](const SeenRequest &seen) {
            return seen.cdn && (seen.headers.contains("authorization") || seen.headers.contains("cookie"));
        });
    }
    /// Requests at the Hub for a file with this ending.
    int asked(std::string_view ending) const
    {
        return static_cast<int>(std::ranges::count_if(m_hub->requests(), [ending](const SeenRequest &seen) {
            return !seen.cdn && seen.path().ends_with(ending);
        }));
    }
    fs::path repository(const std::string &id) const { return m_root / id; }

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_root;
    std::unique_ptr<StandInHub> m_hub;
};

void HubTest::init()
{
    m_hub.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    m_root = fs::path(s(m_folder->path())) / "root";
    writeTinyModel(m_root / "org" / "tiny");
    m_hub = std::make_unique<StandInHub>(m_root);
    m_hub->setToken("hf_test");
}

void HubTest::readsSafetensors()
{
    const Result<CheckpointPtr> result = read("org/tiny");
    QVERIFY2(result, qPrintable(outcome(result)));
    const Checkpoint &checkpoint = **result;
    QCOMPARE(checkpoint.weightBytes(), tinyWeightBytes);
    QCOMPARE(q(checkpoint.id), u"org/tiny"_s);
    QCOMPARE(q(checkpoint.name), u"tiny"_s);
    QCOMPARE(q(checkpoint.repository), u"org/tiny"_s);
    QCOMPARE(checkpoint.source, Source::Hub);
    QCOMPARE(checkpoint.format, Format::Safetensors);
    QCOMPARE(checkpoint.provenance, Provenance::Headers);
    QCOMPARE(q(checkpoint.revision), q(m_hub->commitOf("org/tiny")));
    QCOMPARE(checkpoint.files.size(), std::size_t{3});
    std::uint64_t total = 0;
    for (const auto &each : fs::directory_iterator(repository("org/tiny")))
        total += each.file_size();
    QCOMPARE(checkpoint.repositoryBytes.value(), total);
    QCOMPARE(checkpoint.companions.size(), std::size_t{3}); // README, config, index
    QVERIFY(std::ranges::all_of(checkpoint.companions, &CompanionFile::needed));

    // The same as from a folder, but for where it is.
    Checkpoint folder = **readPath(repository("org/tiny"));
    folder.id = checkpoint.id;
    folder.revision = checkpoint.revision;
    folder.companions = checkpoint.companions;
    QCOMPARE(q(writeGroupFile(checkpoint)), q(writeGroupFile(folder)));

    QVERIFY(!tokenReachedTheCdn());
    for (const SeenRequest &seen : m_hub->requests()) {
        QCOMPARE(q(seen.method), u"GET"_s);
        if (!seen.cdn)
            QCOMPARE(q(seen.header("authorization")), u"Bearer hf_test"_s);
    }
    // State, listing, twice config and index, and of each shard one request here and one there.
    QCOMPARE(m_hub->requests().size(), std::size_t{2 + 2 * 2 + 3 * 2});
}

void HubTest::findsUnlistedFiles()
{
    SafetensorsBuilder extra;
    extra.add("mtp.fc.weight", "BF16", {64, 128});
    extra.write(repository("org/tiny") / "model_extra_tensors.safetensors");
    const Result<CheckpointPtr> result = read("org/tiny");
    QVERIFY2(result, qPrintable(outcome(result)));
    QCOMPARE((*result)->weightBytes(), tinyWeightBytes + 64 * 128 * 2);
    QVERIFY(noteIds(**result).contains("folder.unlisted-file"_L1));
    const ComponentSum *mtp = (*result)->sum(Component::Mtp);
    QVERIFY(mtp != nullptr);
    QCOMPARE(mtp->unlistedBytes, 64U * 128 * 2);
}

void HubTest::leavesCopiesOut()
{
    tinyLayer(0).write(repository("org/tiny") / "original" / "model.safetensors");
    tinyLayer(0).write(repository("org/tiny") / "consolidated.safetensors");
    writeSparse(repository("org/tiny") / "metal" / "model.bin", "x", 5000);
    const Result<CheckpointPtr> result = read("org/tiny");
    QVERIFY2(result, qPrintable(outcome(result)));
    QCOMPARE((*result)->weightBytes(), tinyWeightBytes);
    QCOMPARE(m_hub->count("original"), std::size_t{0});
    QCOMPARE(m_hub->count("metal"), std::size_t{0});
    QCOMPARE(m_hub->count("consolidated"), std::size_t{0});
    QVERIFY(noteIds(**result).contains("folder.copies-not-counted"_L1));
}

void HubTest::readsLargeHeaders()
{
    // No index, and a header beyond what is guessed without one: two requests. Of 5 MB: still two.
    for (const int count : {3'000, 40'000}) {
        const std::string id = "org/large" + std::to_string(count);
        SafetensorsBuilder builder = tinyLayer(0);
        std::string header =
            R"({"model.embed_tokens.weight":{"dtype":"BF16","shape":[256,64],"data_offsets":[0,32768]})";
        std::uint64_t end = 32768;
        for (int i = 0; i < count; ++i) {
            header += ",\"model.layers.0.mlp.experts." + std::to_string(i)
                      + ".down_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[1,64],\"data_offsets\":["
                      + std::to_string(end) + ',' + std::to_string(end + 128) + "]}";
            end += 128;
        }
        header += '}';
        const std::string beginning = SafetensorsBuilder::prefixed(header);
        writeSparse(repository(id) / "model.safetensors", beginning, beginning.size() + end);
        nlohmann::json config = tinyConfig();
        config["num_local_experts"] = count;
        config["num_experts_per_tok"] = 2;
        writeFile(repository(id) / "config.json", config.dump());
        m_hub->clearRequests();
        const Result<CheckpointPtr> result = read(id);
        QVERIFY2(result, qPrintable(outcome(result)));
        QCOMPARE((*result)->weightBytes(), end);
        QCOMPARE(asked("/model.safetensors"), 2);
    }
}

void HubTest::headersSetOutBeforeTheIndex()
{
    // Ten shards of 1,500 tensors: the index has more than a megabyte, and here takes its time.
    const std::string id = "org/sharded";
    nlohmann::json map;
    for (int shard = 0; shard < 10; ++shard) {
        SafetensorsBuilder builder = shard == 0 ? tinyLayer(0) : SafetensorsBuilder();
        const std::string name = "model-0000" + std::to_string(shard) + "-of-00010.safetensors";
        for (int i = 0; i < 1500; ++i) {
            builder.add("model.layers.0.mlp.experts." + std::to_string(shard * 1500 + i)
                            + ".down_proj.weight",
                        "BF16", {1, 64});
        }
        builder.write(repository(id) / name);
        const nlohmann::json header = nlohmann::json::parse(builder.header());
        for (const auto &[tensor, entry] : header.items())
            map[tensor] = name;
    }
    // Its index says of one tensor that the copy in the last shard counts.
    SafetensorsBuilder last;
    last.add("lm_head.weight", "BF16", {256, 64}).add("model.layers.0.input_layernorm.weight", "BF16", {64});
    last.write(repository(id) / "model-extra.safetensors");
    map["lm_head.weight"] = "model-extra.safetensors";
    map["model.layers.0.input_layernorm.weight"] = "model-extra.safetensors";
    const std::string index = nlohmann::json{{"weight_map", map}}.dump();
    QVERIFY(index.size() > 1U << 20U);
    writeFile(repository(id) / "model.safetensors.index.json", index);
    nlohmann::json config = tinyConfig();
    config["num_local_experts"] = 15000;
    config["num_experts_per_tok"] = 2;
    writeFile(repository(id) / "config.json", config.dump());
    Fault fault;
    fault.kind = Fault::Kind::Delay;
    fault.path = "index.json";
    fault.time = 3s;
    fault.times = 1;

    HubSettings patient = settings();
    patient.stallTimeout = 10s;
    for (const bool cancelled : {true, false}) {
        m_hub->clearFaults();
        m_hub->addFault(fault);
        m_hub->clearRequests();
        Hub hub(patient);
        std::stop_source stop;
        QElapsedTimer timer;
        timer.start();
        std::future<Result<CheckpointPtr>> coming =
            std::async(std::launch::async, [&] { return hub.read({id, "main", ""}, stop.get_token()); });
        while (timer.elapsed() < 2500 && asked("-of-00010.safetensors") < 10)
            std::this_thread::sleep_for(5ms);
        QVERIFY2(timer.elapsed() < 2500, "the headers waited for the index");
        if (cancelled) {
            stop.request_stop();
            QCOMPARE(outcome(coming.get()), u"cancelled"_s);
            QVERIFY2(timer.elapsed() < 2800, qPrintable(QString::number(timer.elapsed())));
            continue;
        }
        const Result<CheckpointPtr> result = coming.get();
        QVERIFY2(result, qPrintable(outcome(result)));
        QCOMPARE((*result)->weightBytes(),
                 15'000U * 128 + 2 * (256 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 128 * 64 + 2 * 64));
        QCOMPARE(asked("-of-00010.safetensors"), 10); // nothing is asked for twice
        QCOMPARE(asked("model-extra.safetensors"), 1);
        Checkpoint folder = **readPath(repository(id));
        folder.id = (*result)->id;
        folder.revision = (*result)->revision;
        folder.companions = (*result)->companions;
        QCOMPARE(q(writeGroupFile(**result)), q(writeGroupFile(folder)));
    }
}

void HubTest::shortRanges_data()
{
    QTest::addColumn<int>("most");
    QTest::addColumn<QString>("expected");
    QTest::addColumn<int>("requests");
    QTest::newRow("some") << 300 << u"ok"_s << -1;
    QTest::newRow("hardly any") << 1 << u"hub.broken-answer"_s << 16;
}

void HubTest::shortRanges()
{
    // A server that gives only so many bytes at a time.
    QFETCH(const int, most);
    QFETCH(const QString, expected);
    QFETCH(const int, requests);
    const std::string shard = "model-00002-of-00003.safetensors";
    const fs::path file = repository("org/tiny") / shard;
    std::atomic<int> answers = 0;
    StandInServer server([&](const SeenRequest &request, StandInServer::Connection &connection) {
        ++answers;
        const std::string range = request.header("range"); // bytes=FIRST-LAST
        const std::uint64_t first = std::stoull(range.substr(6));
        const std::uint64_t last = std::min<std::uint64_t>(std::stoull(range.substr(range.find('-') + 1)),
                                                           first + static_cast<unsigned>(most) - 1);
        StandInResponse response;
        response.status = 206;
        response.set("Content-Range", "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/'
                                          + std::to_string(fs::file_size(file)));
        response.file = file;
        response.offset = first;
        response.bytes = last - first + 1;
        connection.send(request, response);
    });
    Fault fault;
    fault.kind = Fault::Kind::RedirectTo;
    fault.path = shard;
    fault.where = Fault::Where::Hub;
    fault.text = server.origin() + "/x";
    m_hub->addFault(fault);
    const Result<CheckpointPtr> result = read("org/tiny");
    server.stop();
    QCOMPARE(outcome(result), expected);
    if (result)
        QCOMPARE((*result)->weightBytes(), tinyWeightBytes);
    if (requests > 0)
        QCOMPARE(answers.load(), requests);
    else
        QVERIFY(answers.load() > 2);
}

void HubTest::manyFiles()
{
    const fs::path folder = repository("org/tiny");
    const auto listing = [](int files, int total) {
        std::vector<ListedFile> list{{"config.json", 100}};
        for (int i = 1; i <= files; ++i) {
            list.push_back({"model-" + std::to_string(1'000'000 + i).substr(1) + "-of-"
                                + std::to_string(1'000'000 + total).substr(1) + ".safetensors",
                            1000});
        }
        return list;
    };
    QElapsedTimer timer;
    timer.start();
    FolderFiles tooMany(folder, listing(100'000, 100'000));
    const Result<CheckpointPtr> refused = readSafetensors(tooMany, {}, {}, {});
    QCOMPARE(outcome(refused), u"folder.too-many-files"_s);
    QCOMPARE(argumentText(refused.error().arguments, "files"), u"100000"_s);
    FolderFiles gap(folder, listing(9'999, 10'000));
    QCOMPARE(outcome(readSafetensors(gap, {}, {}, {})), u"folder.shards-incomplete"_s);
    QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
}

void HubTest::manyHeaderBytes()
{
    PaddedFiles files(repository("org/tiny"), 24);
    QCOMPARE(outcome(readSafetensors(files, {}, {}, {})), u"folder.headers-too-large"_s);
    QVERIFY2(files.given() < 300'000'000, qPrintable(QString::number(files.given())));
    PaddedFiles fewer(repository("org/tiny"), 5); // 250 MB: odd, but read
    QVERIFY(readSafetensors(fewer, {}, {}, {}));
}

void HubTest::largeHeadersAreNotKept()
{
    const std::string id = "org/padded";
    writeFile(repository(id) / "config.json", tinyConfig().dump());
    for (int layer = 0; layer < 2; ++layer) {
        std::string header = tinyLayer(layer).header();
        header.resize(20'000'000, ' ');
        const std::string beginning = SafetensorsBuilder::prefixed(header);
        const auto weights = 2 * (2 * 64 * 64 + 2 * 32 * 64 + 3 * 128 * 64 + 2 * 64);
        writeSparse(repository(id) / ("model-" + std::to_string(layer) + ".safetensors"), beginning,
                    beginning.size() + weights);
    }
    HubSettings cached = settings();
    cached.metadataCache = fs::path(s(m_folder->path())) / "cache";
    {
        Hub hub(cached);
        const Result<CheckpointPtr> result = hub.read({id, "main", ""}, {});
        QVERIFY2(result, qPrintable(outcome(result)));
    }
    std::uint64_t bytes = 0;
    for (const auto &entry : fs::recursive_directory_iterator(cached.metadataCache)) {
        if (entry.is_regular_file())
            bytes += entry.file_size();
    }
    QVERIFY2(bytes > 0 && bytes < 1'000'000, qPrintable(QString::number(bytes)));
    cached.offline = true; // what was read is known all the same
    QVERIFY(Hub(cached).read({id, "main", ""}, {}));
}

void HubTest::readsQuantizations()
{
    const fs::path folder = repository("org/gguf");
    tinyGguf(10).write(folder / "m-Q8_0.gguf");
    tinyGguf(20).write(folder / "m-Q4_K_M.gguf");
    tinyGguf(30).write(folder / "m-IQ2_XS.gguf");
    writeSparse(folder / "mmproj-F16.gguf", "GGUF", 1000);
    const Result<CheckpointPtr> usual = read("org/gguf");
    QVERIFY2(usual, qPrintable(outcome(usual)));
    QCOMPARE(q((*usual)->files.at(0).path), u"m-Q4_K_M.gguf"_s);
    QCOMPARE(q((*usual)->id), u"org/gguf"_s);
    const auto note = std::ranges::find((*usual)->notes, "hub.several-quantizations", &Message::id);
    QVERIFY(note != (*usual)->notes.end());
    QCOMPARE(argumentText(note->arguments, "chosen"), u"Q4_K_M"_s);
    QVERIFY(argumentText(note->arguments, "others").contains("IQ2_XS"_L1));
    QVERIFY(argumentText(note->arguments, "others").contains("Q8_0"_L1));
    const auto needed = std::ranges::find((*usual)->companions, true, &CompanionFile::needed);
    QCOMPARE(q(needed->path), u"mmproj-F16.gguf"_s);
    QCOMPARE((*usual)->companions.size(), std::size_t{3});

    for (const char *name : {"org/gguf:Q8_0", "org/gguf:q8_0", "org/gguf:m-Q8_0.gguf"}) {
        const Result<CheckpointPtr> chosen = read(name);
        QVERIFY2(chosen, name);
        QCOMPARE(q((*chosen)->files.at(0).path), u"m-Q8_0.gguf"_s);
        QCOMPARE(q((*chosen)->id), q(name));
        QVERIFY(!noteIds(**chosen).contains("several"_L1));
    }
    Hub hub(settings());
    const Result<CheckpointPtr> preferred = hub.read({"org/gguf", "main", ""}, {}, {}, "IQ2_XS");
    QVERIFY(preferred);
    QCOMPARE(q((*preferred)->files.at(0).path), u"m-IQ2_XS.gguf"_s);
    const Result<CheckpointPtr> none = read("org/gguf:Q5_K_M");
    QCOMPARE(outcome(none), u"hub.choice-missing"_s);
    QCOMPARE(none.error().kind, ErrorKind::NotFound);
    QVERIFY(argumentText(none.error().arguments, "names").contains("Q8_0"_L1));
}

void HubTest::readsSplits()
{
    const fs::path folder = repository("org/split") / "F16";
    GgufBuilder first;
    first.string("general.architecture", "llama")
        .u32("llama.block_count", 1)
        .u32("llama.embedding_length", 256)
        .u32("llama.attention.head_count", 4)
        .u16("split.no", 0)
        .u16("split.count", 2)
        .i32("split.tensors.count", 2);
    first.tensor("token_embd.weight", "Q4_K", {256, 32});
    GgufBuilder second;
    second.u16("split.no", 1).u16("split.count", 2).i32("split.tensors.count", 2);
    second.tensor("blk.0.attn_q.weight", "Q6_K", {256, 256});
    first.write(folder / "m-F16-00001-of-00002.gguf");
    second.write(folder / "m-F16-00002-of-00002.gguf");
    for (const char *name : {"org/split", "org/split:F16", "org/split:F16/m-F16-00002-of-00002.gguf"}) {
        const Result<CheckpointPtr> result = read(name);
        QVERIFY2(result, qPrintable(outcome(result)));
        QCOMPARE((*result)->files.size(), std::size_t{2});
        QCOMPARE(q((*result)->files.at(1).path), u"F16/m-F16-00002-of-00002.gguf"_s);
        QCOMPARE((*result)->weightBytes(), 32U * 144 + 256 * 210);
    }
    fs::remove(folder / "m-F16-00002-of-00002.gguf");
    m_hub->advanceCommits();
    QCOMPARE(outcome(read("org/split")), u"gguf.missing-part"_s);
}

void HubTest::readsLongGgufHeaders()
{
    const GgufBuilder builder = tinyGguf(400'000); // 5.6 MB of tokens
    builder.write(repository("org/long") / "m-Q4_K_M.gguf");
    const Result<CheckpointPtr> result = read("org/long");
    QVERIFY2(result, qPrintable(outcome(result)));
    QCOMPARE((*result)->weightBytes(), 32U * 144 + 256 * 210 + 256 * 144 + 256 * 4);
    QCOMPARE(asked(".gguf"), 3); // 2, 2 and 4 MB
    QVERIFY(!tokenReachedTheCdn());
}

void HubTest::readsRevisions()
{
    writeTinyModel(m_root / "org" / "tiny@dev");
    tinyLayer(5).write(m_root / "org" / "tiny@dev" / "more.safetensors");
    writeTinyModel(m_root / "org" / "tiny@refs%2Fpr%2F1");
    const Result<CheckpointPtr> dev = read("org/tiny@dev");
    QVERIFY2(dev, qPrintable(outcome(dev)));
    QVERIFY((*dev)->weightBytes() > tinyWeightBytes);
    QCOMPARE(q((*dev)->id), u"org/tiny@dev"_s);
    QCOMPARE(q((*dev)->revision), q(m_hub->commitOf("org/tiny", "dev")));
    const Result<CheckpointPtr> request = read("org/tiny@refs/pr/1");
    QVERIFY2(request, qPrintable(outcome(request)));
    QCOMPARE((*request)->weightBytes(), tinyWeightBytes);
    const Result<CheckpointPtr> commit = read("org/tiny@" + m_hub->commitOf("org/tiny", "dev"));
    QVERIFY(commit);
    QCOMPARE((*commit)->weightBytes(), (*dev)->weightBytes());
    const Result<CheckpointPtr> none = read("org/tiny@none");
    QCOMPARE(outcome(none), u"hub.revision-missing"_s);
    QCOMPARE(argumentText(none.error().arguments, "revision"), u"none"_s);
    QCOMPARE(none.error().kind, ErrorKind::NotFound);
}

void HubTest::oneCommitForAll()
{
    QVERIFY(read("org/tiny"));
    const std::string commit = m_hub->commitOf("org/tiny");
    std::size_t pinned = 0;
    for (const SeenRequest &seen : m_hub->requests()) {
        if (!seen.cdn && seen.target != "/api/models/org/tiny") {
            QVERIFY2(seen.target.find(commit) != std::string::npos, seen.target.c_str());
            ++pinned;
        }
    }
    QVERIFY(pinned > 5);
}

void HubTest::otherKinds()
{
    writeFile(m_root / "org" / "diffusion" / "model_index.json", "{}");
    writeFile(m_root / "org" / "lora" / "adapter_config.json",
              R"({"base_model_name_or_path": "a/b", "r": 8})");
    writeFile(m_root / "org" / "lora" / "adapter_model.safetensors", "x");
    writeFile(m_root / "org" / "pickle" / "config.json", tinyConfig().dump());
    writeFile(m_root / "org" / "pickle" / "pytorch_model.bin", "x");
    writeFile(m_root / "org" / "empty" / "README.md", "x");
    QCOMPARE(outcome(read("org/diffusion")), u"folder.diffusion"_s);
    QCOMPARE(outcome(read("org/lora")), u"folder.adapter"_s);
    QCOMPARE(read("org/lora").error().kind, ErrorKind::NotLanguageModel);
    QCOMPARE(outcome(read("org/empty")), u"folder.no-model"_s);
    const Result<CheckpointPtr> pickle = read("org/pickle");
    const Result<CheckpointPtr> folder = readPath(repository("org/pickle"));
    QCOMPARE(outcome(pickle), u"ok"_s);
    QCOMPARE(outcome(folder), u"ok"_s);
    QCOMPARE((*pickle)->format, Format::Pickle);
    QCOMPARE((*pickle)->provenance, Provenance::Config);
    QCOMPARE((*pickle)->weightBytes(), (*folder)->weightBytes());
    QCOMPARE((*pickle)->notes.size(), (*folder)->notes.size());
}

void HubTest::lists()
{
    tinyGguf(10).write(repository("org/gguf") / "m-Q8_0.gguf");
    tinyGguf(2).write(repository("org/gguf") / "m-Q4_K_M.gguf");
    m_hub->setRepository("org/gguf", special(Access::Gated, true));
    Hub hub(settings());
    const Result<HubRepository> listed = hub.list({"org/gguf", "main", ""}, {});
    QVERIFY2(listed, qPrintable(outcome(listed)));
    QCOMPARE(q(listed->id), u"org/gguf"_s);
    QCOMPARE(q(listed->commit), q(m_hub->commitOf("org/gguf")));
    QCOMPARE(listed->gate, Gate::Manual);
    QCOMPARE(listed->files.size(), std::size_t{2});
    QCOMPARE(listed->files[0].bytes, fs::file_size(repository("org/gguf") / "m-Q4_K_M.gguf"));
    QCOMPARE(listed->files[0].etag.size(), std::size_t{64});
    QCOMPARE(listed->choices.size(), std::size_t{2});
    QCOMPARE(q(listed->choices[0].label), u"Q4_K_M"_s);
    QCOMPARE(listed->bytes, listed->files[0].bytes + listed->files[1].bytes);
    QVERIFY(listed->choices[0].bytes <= listed->choices[1].bytes);
}

void HubTest::listsPages()
{
    m_hub->setTreePage(2);
    const Result<CheckpointPtr> result = read("org/tiny");
    QVERIFY2(result, qPrintable(outcome(result)));
    QCOMPARE((*result)->weightBytes(), tinyWeightBytes);
    QCOMPARE(m_hub->count("/tree/"), std::size_t{3});
}

void HubTest::renamed()
{
    StandInRepository old;
    old.renamedTo = "org/tiny";
    m_hub->setRepository("before/tiny", old);
    const Result<CheckpointPtr> result = read("before/tiny");
    QVERIFY2(result, qPrintable(outcome(result)));
    QCOMPARE(q((*result)->id), u"org/tiny"_s);
    const auto note = std::ranges::find((*result)->notes, "hub.renamed", &Message::id);
    QVERIFY(note != (*result)->notes.end());
    QCOMPARE(argumentText(note->arguments, "from"), u"before/tiny"_s);
    QCOMPARE(argumentText(note->arguments, "to"), u"org/tiny"_s);
}

void HubTest::access_data()
{
    QTest::addColumn<int>("access");
    QTest::addColumn<QString>("token");
    QTest::addColumn<QString>("expected");
    QTest::addColumn<int>("kind");
    const auto row = [](const char *name, Access access, const char *token, const char *expected,
                        ErrorKind kind) {
        QTest::newRow(name) << static_cast<int>(access) << QString::fromLatin1(token)
                            << QString::fromLatin1(expected) << static_cast<int>(kind);
    };
    row("open", Access::Open, "", "ok", {});
    row("gated, anonymous", Access::Gated, "", "hub.gated", ErrorKind::Access);
    row("gated, granted", Access::Gated, "hf_test", "ok", {});
    row("gated, not granted", Access::GatedNotGranted, "hf_test", "hub.not-granted", ErrorKind::Access);
    row("private, anonymous", Access::Private, "", "hub.missing-or-private", ErrorKind::NotFound);
    row("private, with token", Access::Private, "hf_test", "ok", {});
    row("bad token", Access::Open, "hf_wrong", "hub.bad-token", ErrorKind::Access);
    row("disabled", Access::Disabled, "hf_test", "hub.disabled", ErrorKind::Access);
    row("scope", Access::NoScope, "hf_test", "hub.token-scope", ErrorKind::Access);
}

void HubTest::access()
{
    QFETCH(const int, access);
    QFETCH(const QString, token);
    QFETCH(const QString, expected);
    QFETCH(const int, kind);
    m_hub->setRepository("org/tiny", special(static_cast<Access>(access)));
    const Result<CheckpointPtr> result = read("org/tiny", s(token));
    QCOMPARE(outcome(result), expected);
    if (!result) {
        QCOMPARE(static_cast<int>(result.error().kind), kind);
        QCOMPARE(q(result.error().subject), u"org/tiny"_s);
        for (const auto &[name, value] : result.error().arguments)
            QVERIFY(!argumentText(result.error().arguments, name).contains(token) || token.isEmpty());
    }
    QVERIFY(!tokenReachedTheCdn());
}

void HubTest::tokens()
{
    m_hub->setRepository("org/tiny", special(Access::Private));
    Hub hub(settings(""));
    QCOMPARE(outcome(hub.read({"org/tiny", "main", ""}, {})), u"hub.missing-or-private"_s);
    hub.setToken("hf_test", "typed");
    QVERIFY(hub.read({"org/tiny", "main", ""}, {}));
    QCOMPARE(q(hub.settings().tokenOrigin), u"typed"_s);
}

void HubTest::missing()
{
    QCOMPARE(outcome(read("org/none", "")), u"hub.missing-or-private"_s);
    const Result<CheckpointPtr> result = read("org/none");
    QCOMPARE(outcome(result), u"hub.missing"_s);
    QCOMPARE(result.error().kind, ErrorKind::NotFound);
    fs::remove(repository("org/tiny") / "model-00002-of-00003.safetensors");
    QCOMPARE(outcome(read("org/tiny")), u"folder.missing-shard"_s);
}

void HubTest::faults_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("expected");
    using Kind = Fault::Kind;
    const auto row = [](const char *name, Kind kind, const char *path, const char *text, int status,
                        const char *expected) {
        QTest::newRow(name) << static_cast<int>(kind) << QString::fromLatin1(path)
                            << QString::fromLatin1(text) << status << QString::fromLatin1(expected);
    };
    const char *shard = "model-00002";
    row("API drops", Kind::Drop, "/api/models/", "", 0, "hub.interrupted");
    row("shard drops", Kind::Drop, shard, "", 0, "hub.interrupted");
    row("refuses", Kind::Refuse, "/tree/", "", 0, "hub.interrupted");
    row("API stalls", Kind::Stall, "/api/models/", "", 0, "hub.too-slow");
    row("shard stalls", Kind::Stall, shard, "", 0, "hub.too-slow");
    row("API 500", Kind::Status, "/api/models/", "", 500, "hub.server-error");
    row("shard 503", Kind::Status, shard, "", 503, "hub.server-error");
    row("config 502", Kind::Status, "config.json", "", 502, "hub.server-error");
    row("401 behind a proxy", Kind::Status, "/tree/", "", 401, "hub.bad-token");
    row("404 of a shard", Kind::Status, shard, "", 404, "hub.file-missing");
    row("400", Kind::Status, "/tree/", "bad request", 400, "hub.refused");
    row("418", Kind::Status, shard, "teapot", 418, "hub.refused");
    row("407", Kind::Status, "/tree/", "", 407, "hub.refused");
    row("429", Kind::Status, shard, "", 429, "hub.rate-limited");
    row("429 for long", Kind::RateLimit, shard, "", 0, "hub.rate-limited-until");
    row("wrong range", Kind::WrongRange, shard, "", 0, "hub.broken-answer");
    row("API answers a web page", Kind::Html, "/api/models/", "", 0, "hub.broken-answer");
    row("listing is a web page", Kind::Html, "/tree/", "", 0, "hub.broken-answer");
    row("config is a web page", Kind::Html, "config.json", "", 0, "hub.broken-answer");
    row("shard is a web page", Kind::Html, shard, "", 0, "hub.broken-answer");
    row("API cut off", Kind::CutJson, "/api/models/org/tiny", "", 0, "hub.broken-answer");
    row("listing cut off", Kind::CutJson, "/tree/", "", 0, "hub.broken-answer");
    row("config cut off", Kind::CutJson, "resolve-cache", "", 0, "hub.broken-answer");
    row("API without end", Kind::Endless, "/api/models/", "", 0, "hub.too-large");
    row("config without end", Kind::Endless, "resolve-cache", "", 0, "hub.too-large");
    row("redirects without end", Kind::RedirectLoop, shard, "", 0, "hub.refused-redirect");
    row("redirect to a file", Kind::RedirectTo, shard, "file:///etc/passwd", 0, "hub.refused-redirect");
    row("redirect to ftp", Kind::RedirectTo, "/tree/", "ftp://127.0.0.1/", 0, "hub.refused-redirect");
    row("redirect to nowhere", Kind::RedirectTo, shard, "http://127.0.0.1:1/", 0, "hub.unreachable");
    row("always expired", Kind::Expired, shard, "", 0, "hub.storage-refused");
}

void HubTest::faults()
{
    QFETCH(const int, kind);
    QFETCH(const QString, path);
    QFETCH(const QString, text);
    QFETCH(const int, status);
    QFETCH(const QString, expected);
    Fault fault;
    fault.kind = static_cast<Fault::Kind>(kind);
    fault.path = s(path);
    fault.text = s(text);
    fault.status = status;
    fault.seconds = 120;
    fault.time = 20s;
    if (path.startsWith("model-"_L1)
        && (fault.kind == Fault::Kind::WrongRange || fault.kind == Fault::Kind::Expired
            || fault.kind == Fault::Kind::Html || fault.kind == Fault::Kind::Drop
            || fault.kind == Fault::Kind::Stall))
        fault.where = Fault::Where::Cdn;
    m_hub->addFault(fault);
    QElapsedTimer timer;
    timer.start();
    const Result<CheckpointPtr> result = read("org/tiny");
    QCOMPARE(outcome(result), expected);
    QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!q(result.error().subject).contains("Signature"_L1));
    for (const auto &[name, value] : result.error().arguments) {
        QVERIFY(!argumentText(result.error().arguments, name).contains("hf_test"_L1));
        QVERIFY(!argumentText(result.error().arguments, name).contains("Signature"_L1));
    }
    QVERIFY(!tokenReachedTheCdn());
    m_hub->clearFaults();
    QVERIFY(read("org/tiny"));
}

void HubTest::faultsThatPass_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("status");
    using Kind = Fault::Kind;
    QTest::newRow("delay") << static_cast<int>(Kind::Delay) << u"/"_s << 0;
    QTest::newRow("503") << static_cast<int>(Kind::Status) << u"/"_s << 503;
    QTest::newRow("429") << static_cast<int>(Kind::Status) << u"/"_s << 429;
    QTest::newRow("drop") << static_cast<int>(Kind::Drop) << u"/"_s << 0;
    QTest::newRow("refuse") << static_cast<int>(Kind::Refuse) << u"model-"_s << 0;
    QTest::newRow("expired") << static_cast<int>(Kind::Expired) << u"model-00001"_s << 0;
}

void HubTest::faultsThatPass()
{
    QFETCH(const int, kind);
    QFETCH(const QString, path);
    QFETCH(const int, status);
    Fault fault;
    fault.kind = static_cast<Fault::Kind>(kind);
    fault.path = s(path);
    fault.status = status;
    fault.times = fault.kind == Fault::Kind::Expired ? 1 : 2;
    fault.time = 50ms;
    if (fault.kind == Fault::Kind::Expired)
        fault.where = Fault::Where::Cdn;
    m_hub->addFault(fault);
    const Result<CheckpointPtr> result = read("org/tiny");
    QVERIFY2(result, qPrintable(outcome(result)));
    QCOMPARE((*result)->weightBytes(), tinyWeightBytes);

    // A server that knows no ranges sends the beginning as well.
    m_hub->clearFaults();
    fault = Fault();
    fault.kind = Fault::Kind::IgnoreRange;
    m_hub->addFault(fault);
    const Result<CheckpointPtr> whole = read("org/tiny");
    QVERIFY2(whole, qPrintable(outcome(whole)));
    QCOMPARE((*whole)->weightBytes(), tinyWeightBytes);
}

void HubTest::limitsNameTheTime()
{
    Fault fault;
    fault.kind = Fault::Kind::RateLimit;
    fault.path = "/api/";
    fault.seconds = 172;
    m_hub->addFault(fault);
    QElapsedTimer timer;
    timer.start();
    const Result<CheckpointPtr> result = read("org/tiny");
    QCOMPARE(outcome(result), u"hub.rate-limited-until"_s);
    QCOMPARE(argumentText(result.error().arguments, "seconds"), u"173"_s);
    QCOMPARE(result.error().kind, ErrorKind::Network);
    QVERIFY(timer.elapsed() < 1000);
    m_hub->clearFaults();
    fault.text = "Retry-After";
    fault.seconds = 1;
    fault.times = 1;
    m_hub->addFault(fault);
    QVERIFY(read("org/tiny"));
    QVERIFY(timer.elapsed() >= 1000);
}

void HubTest::hostileIndex()
{
    for (const char *file : {"../../etc/passwd", "/etc/passwd", "https://example.org/x", "a/../../b"}) {
        writeFile(repository("org/tiny") / "model.safetensors.index.json",
                  nlohmann::json{{"weight_map", {{"a", file}}}}.dump());
        m_hub->advanceCommits();
        m_hub->clearRequests();
        QCOMPARE(outcome(read("org/tiny")), u"index.bad-path"_s);
        QCOMPARE(m_hub->count("passwd"), std::size_t{0});
    }
}

void HubTest::forgedListing()
{
    // The file is smaller than it was when it was listed.
    const fs::path shard = repository("org/tiny") / "model-00002-of-00003.safetensors";
    Hub hub(settings());
    Fault fault;
    fault.kind = Fault::Kind::Delay;
    fault.path = "config.json";
    fault.time = 300ms;
    m_hub->addFault(fault);
    std::jthread later([&shard] {
        std::this_thread::sleep_for(150ms);
        std::error_code ignored;
        fs::resize_file(shard, 4000, ignored);
    });
    QCOMPARE(outcome(hub.read({"org/tiny", "main", ""}, {})), u"hub.size-differs"_s);
}

void HubTest::listingEntries_data()
{
    QTest::addColumn<QString>("entry");
    QTest::addColumn<int>("page");
    QTest::addColumn<qulonglong>("bytes");
    const auto row = [](const char *name, const char *entry, TreeReader::Page page, std::uint64_t bytes = 0) {
        QTest::newRow(name) << QString::fromLatin1(entry) << static_cast<int>(page) << qulonglong{bytes};
    };
    using Page = TreeReader::Page;
    row("plain", R"({"type":"file","path":"a","size":7,"oid":"x"})", Page::Good, 7);
    row("empty", R"({"path":"a","size":0})", Page::Good, 0);
    row("largest", R"({"path":"a","size":9223372036854775807})", Page::Good, INT64_MAX);
    row("LFS", R"({"lfs":{"size":9,"oid":"y","x":[{"size":1}]},"path":"a","size":7})", Page::Good, 9);
    row("LFS alone", R"({"path":"a","lfs":{"size":9}})", Page::Good, 9);
    row("no LFS", R"({"path":"a","size":7,"lfs":null})", Page::Good, 7);
    row("other lists", R"({"path":"a","size":7,"x":{"size":1,"path":"b"},"y":[[2]]})", Page::Good, 7);
    row("missing", R"({"path":"a"})", Page::BadSize);
    row("text", R"({"path":"a","size":"7"})", Page::BadSize);
    row("negative", R"({"path":"a","size":-7})", Page::BadSize);
    row("half", R"({"path":"a","size":1.5})", Page::BadSize);
    row("2^63", R"({"path":"a","size":9223372036854775808})", Page::BadSize);
    row("2^70", R"({"path":"a","size":1180591620717411303424})", Page::BadSize);
    row("null", R"({"path":"a","size":null})", Page::BadSize);
    row("list", R"({"path":"a","size":[7]})", Page::BadSize);
    row("LFS text", R"({"path":"a","size":7,"lfs":{"size":"9"}})", Page::BadSize);
    row("no name", R"({"size":7})", Page::NoListing);
    row("name is a number", R"({"path":5,"size":7})", Page::NoListing);
    row("number", "5", Page::NoListing);
    row("list in a list", R"([{"path":"a","size":7}])", Page::NoListing);
}

void HubTest::listingEntries()
{
    QFETCH(const QString, entry);
    QFETCH(const int, page);
    QFETCH(const qulonglong, bytes);
    TreeReader reader;
    const std::string text = R"([{"type":"directory","path":"d"},)" + s(entry) + ']';
    QCOMPARE(static_cast<int>(reader.read(text)), page);
    if (page == static_cast<int>(TreeReader::Page::Good)) {
        const std::vector<HubFile> files = reader.take();
        QCOMPARE(files.size(), std::size_t{1});
        QCOMPARE(q(files[0].path), u"a"_s);
        QCOMPARE(qulonglong{files[0].bytes}, bytes);
    }
    if (page == static_cast<int>(TreeReader::Page::BadSize))
        QCOMPARE(q(reader.badFile()), u"a"_s);
    for (const char *none : {"", "5", "{}", "[", "null", R"([{"path":"a","size":7}]])", "[]\0"})
        QVERIFY2(TreeReader().read(none) != TreeReader::Page::Good || std::string_view(none) == "[]", none);
}

void HubTest::brokenNames()
{
    // One name that cannot be read leaves the others as they are.
    for (const char *name : {"b\xFF", "\xC3", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xC0\xAF", "b\\ud800",
                             "b\\uDC00.x", "\\ud83d\\ud83d\\ude00", "b\\u0000", "b\\u007f"}) {
        TreeReader reader;
        const std::string text = R"([{"path":"a","size":1},{"path":")" + std::string(name)
                                 + R"(","size":2},{"path":"\ud83d\ude00ü","size":3}])";
        QCOMPARE(static_cast<int>(reader.read(text)), static_cast<int>(TreeReader::Page::Good));
        const std::vector<HubFile> files = reader.take();
        QCOMPARE(files.size(), std::size_t{2});
        QCOMPARE(q(files[0].path), u"a"_s);
        QCOMPARE(q(files[1].path), u"\U0001F600ü"_s);
    }
    QVERIFY(TreeReader().read("[\xFF]") == TreeReader::Page::NoListing);
    const auto info = parseInfo("{\"id\":\"org/tiny\",\"author\":\"\xFF\"}");
    QVERIFY(info);
    QCOMPARE(q(info->id), u"org/tiny"_s);
}

void HubTest::listingBudget_data()
{
    QTest::addColumn<QString>("entry");
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("pages");
    // Pages of 12 MB: the sixth is beyond 64 MiB. Of 60,000 entries: the fourth holds the 200,001st.
    QTest::newRow("text") << u"{\"path\":\"%1\",\"size\":1}"_s.arg(QString(1'000, u'x')) << 12'000 << 6;
    QTest::newRow("entries") << u"{\"type\":\"directory\"}"_s << 60'000 << 4;
    QTest::newRow("files") << u"{\"path\":\"a\",\"size\":1}"_s << 60'000 << 4;
}

void HubTest::listingBudget()
{
    QFETCH(const QString, entry);
    QFETCH(const int, count);
    QFETCH(const int, pages);
    std::string body = "[";
    for (int i = 0; i < count; ++i)
        body += (i > 0 ? "," : "") + s(entry);
    body += "]";
    std::atomic<int> asked = 0;
    StandInServer server([&](const SeenRequest &request, StandInServer::Connection &connection) {
        StandInResponse response;
        if (request.target.find("/tree/") == std::string::npos) {
            response.body = R"({"id":"org/tiny"})";
        } else {
            ++asked;
            response.body = body;
            response.set("Link",
                         "</api/models/org/tiny/tree/main?page=" + std::to_string(asked) + ">; rel=\"next\"");
        }
        connection.send(request, response);
    });
    HubSettings there = settings();
    there.endpoint = server.origin();
    there.stallTimeout = 10s;
    Hub hub(there);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(hub.list({"org/tiny", "main", ""}, {})), u"hub.too-many-files"_s);
    QCOMPARE(asked.load(), pages);
    QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
}

void HubTest::deepAnswers()
{
    const std::string deep(8'000'000, '[');
    const std::string many = "{\"id\":\"org/tiny\",\"x\":[" + std::string(2'000'000, ',') + "]}";
    StandInServer server([&](const SeenRequest &request, StandInServer::Connection &connection) {
        StandInResponse response;
        if (request.target.find("/many") != std::string::npos)
            response.body = many;
        else if (request.target.ends_with("/models/org/tiny"))
            response.body = R"({"id":"org/tiny"})";
        else
            response.body = deep;
        connection.send(request, response);
    });
    HubSettings there = settings();
    there.endpoint = server.origin();
    there.stallTimeout = 10s;
    Hub hub(there);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(hub.list({"org/tiny", "main", ""}, {})), u"hub.broken-answer"_s);
    QCOMPARE(outcome(hub.list({"org/deep", "main", ""}, {})), u"hub.broken-answer"_s);
    QCOMPARE(outcome(hub.list({"org/many", "main", ""}, {})), u"hub.broken-answer"_s);
    QCOMPARE(outcome(hub.search({}, {})), u"hub.broken-answer"_s);
    QCOMPARE(outcome(hub.revisions("org/tiny", {})), u"hub.broken-answer"_s);
    QVERIFY2(timer.elapsed() < 5'000, qPrintable(QString::number(timer.elapsed())));
    const auto nested = [](std::size_t depth) {
        return "{\"id\":\"a/b\",\"x\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + '}';
    };
    QVERIFY(parseInfo(nested(64)));
    QVERIFY(!parseInfo(nested(65)));
    QVERIFY(parseInfo("{\"id\":\"a/b\",\"x\":\"" + std::string(100, '[') + "\"}")); // text does not count
}

void HubTest::secretsInAnswers()
{
    HttpResponse response;
    response.status = 400;
    response.secret = "topsecret";
    const auto reason = [&] {
        return argumentText(hubError(response, {"org/tiny", "main", {}, false}).arguments, "reason");
    };
    QCOMPARE(reason(), u"no reason given"_s);
    response.body = R"({"error":"\u0074opsecret and hf_abcdefgh12 are no good"})";
    QCOMPARE(reason(), u"*** and *** are no good"_s);
    response.body = R"({"error":["Bearer other at http://u:p@proxy:3128/"]})";
    QCOMPARE(reason(), u"Bearer *** at http://proxy:3128/"_s);
    response.headers.add("x-error-message", "no topsecret here");
    QCOMPARE(reason(), u"no *** here"_s);

    Fault fault;
    fault.path = "/tree/";
    fault.status = 400;
    fault.text = "your token hf_test is bad";
    m_hub->addFault(fault);
    const Result<CheckpointPtr> result = read("org/tiny");
    QCOMPARE(outcome(result), u"hub.refused"_s);
    QCOMPARE(argumentText(result.error().arguments, "reason"), u"your token *** is bad"_s);
}

void HubTest::anonymousLimits()
{
    HttpResponse response;
    response.status = 429;
    const auto id = [&](bool anonymous) {
        return q(hubError(response, {"org/tiny", "main", {}, anonymous}).id);
    };
    QCOMPARE(id(true), u"hub.rate-limited-anonymous"_s);
    QCOMPARE(id(false), u"hub.rate-limited"_s);
    response.waitSeconds = 1;
    QCOMPARE(id(true), u"hub.rate-limited-anonymous-until"_s);
    QCOMPARE(id(false), u"hub.rate-limited-until"_s);
}

void HubTest::cancels()
{
    m_hub->setLatency(300ms);
    HubSettings patient = settings();
    patient.stallTimeout = 10s;
    Hub hub(patient);
    for (const int after : {0, 100, 500, 800, 1100}) {
        std::stop_source stop;
        std::jthread later([&stop, after] {
            std::this_thread::sleep_for(std::chrono::milliseconds(after));
            stop.request_stop();
        });
        QElapsedTimer timer;
        timer.start();
        const Result<CheckpointPtr> result = hub.read({"org/tiny", "main", ""}, stop.get_token());
        QCOMPARE(outcome(result), u"cancelled"_s);
        QVERIFY2(timer.elapsed() < after + 200, qPrintable(QString::number(timer.elapsed())));
    }
    std::stop_source stop;
    stop.request_stop();
    QCOMPARE(outcome(hub.search({}, stop.get_token())), u"cancelled"_s);
}

void HubTest::progress()
{
    Hub hub(settings());
    std::vector<ReadProgress> seen;
    QVERIFY(hub.read({"org/tiny", "main", ""}, {}, [&](const ReadProgress &now) { seen.push_back(now); }));
    QVERIFY(seen.size() >= 4);
    std::size_t last = 0;
    for (const ReadProgress &each : seen) {
        QCOMPARE(each.total, std::size_t{3});
        QVERIFY(each.done >= last && each.done <= 3);
        last = each.done;
    }
    QCOMPARE(last, std::size_t{3});
}

void HubTest::searches()
{
    tinyGguf().write(repository("org/quants-GGUF") / "m-Q4_K_M.gguf");
    writeTinyModel(m_root / "mlx-community" / "tiny-4bit");
    writeTinyModel(m_root / "other" / "Tiny-Two");
    StandInRepository tiny = special(Access::Gated);
    tiny.fields = {
        {"downloads", 5'000'000},
        {"likes", 12.0},
        {"lastModified", "2030-01-01T00:00:00.000Z"},
        {"trendingScore", 1000},
        {"tags", {"safetensors", "license:mit", "base_model:org/base", "base_model:quantized:org/base", 7}}};
    m_hub->setRepository("org/tiny", tiny);
    Hub hub(settings());
    const Result<HubPage> all = hub.search({}, {});
    QVERIFY2(all, qPrintable(outcome(all)));
    QCOMPARE(all->hits.size(), std::size_t{4});
    QVERIFY(all->next.empty());
    const HubHit &first = all->hits.front(); // trending
    QCOMPARE(q(first.id), u"org/tiny"_s);
    QCOMPARE(first.gate, Gate::Automatic);
    QCOMPARE(first.format, Format::Safetensors);
    QCOMPARE(first.downloads.value(), 5'000'000U);
    QCOMPARE(first.likes.value(), 12U);
    QCOMPARE(q(first.license), u"mit"_s);
    QCOMPARE(q(first.architecture), u"LlamaForCausalLM"_s);
    QCOMPARE(first.baseModels, std::vector<std::string>{"org/base"});
    QCOMPARE(first.bytes.value(), tinyWeightBytes);
    QCOMPARE(q(first.modified), u"2030-01-01T00:00:00.000Z"_s);

    HubQuery query;
    query.text = "TINY";
    query.sort = HubSort::Downloads;
    query.limit = 1;
    Result<HubPage> page = hub.search(query, {});
    QVERIFY(page);
    QCOMPARE(idsOf(*page), u"org/tiny"_s);
    QStringList ids;
    while (page && !page->hits.empty()) {
        ids += idsOf(*page);
        if (page->next.empty())
            break;
        page = hub.more(*page, {});
    }
    QVERIFY(page);
    ids.sort();
    QCOMPARE(ids.join(u' '), u"mlx-community/tiny-4bit org/tiny other/Tiny-Two"_s);
    query = {};
    query.format = Format::Gguf;
    QCOMPARE(idsOf(hub.search(query, {}).value()), u"org/quants-GGUF"_s);
    QCOMPARE(hub.search(query, {})->hits[0].format, Format::Gguf);
    QCOMPARE(q(hub.search(query, {})->hits[0].architecture), u"llama"_s);
    query.format = Format::Mlx;
    QCOMPARE(idsOf(hub.search(query, {}).value()), u"mlx-community/tiny-4bit"_s);
    query = {};
    query.text = "a b&c=d#%";
    QVERIFY(hub.search(query, {}));
    QCOMPARE(q(m_hub->requests().back().parameter("search")), u"a b&c=d#%"_s);
}

void HubTest::searchFaults()
{
    Hub hub(settings());
    HubPage elsewhere;
    elsewhere.next = m_hub->cdnEndpoint() + "/api/models";
    m_hub->clearRequests();
    QCOMPARE(outcome(hub.more(elsewhere, {})), u"hub.broken-answer"_s);
    QCOMPARE(m_hub->requests().size(), std::size_t{0});
    QVERIFY(hub.more(HubPage{}, {})->hits.empty());
    for (const auto &[kind, expected] : {std::pair{Fault::Kind::Html, u"hub.broken-answer"_s},
                                         {Fault::Kind::CutJson, u"hub.broken-answer"_s},
                                         {Fault::Kind::Endless, u"hub.too-large"_s},
                                         {Fault::Kind::Stall, u"hub.too-slow"_s},
                                         {Fault::Kind::RateLimit, u"hub.rate-limited-until"_s}}) {
        Fault fault;
        fault.kind = kind;
        fault.path = "/api/models";
        fault.seconds = 100;
        fault.time = 5s;
        m_hub->addFault(fault);
        QCOMPARE(outcome(hub.search({}, {})), expected);
        m_hub->clearFaults();
    }
    // Fields of the wrong type are as good as none.
    StandInRepository odd;
    odd.fields = {{"downloads", "many"}, {"likes", -3},          {"tags", "gguf"},      {"gated", nullptr},
                  {"config", 5},         {"safetensors", "yes"}, {"lastModified", 1},   {"pipeline_tag", {1}},
                  {"gguf", {1, 2}},      {"private", "no"},      {"trendingScore", 1.5}};
    m_hub->setRepository("org/tiny", odd);
    const Result<HubPage> page = hub.search({}, {});
    QVERIFY2(page, qPrintable(outcome(page)));
    QCOMPARE(page->hits.size(), std::size_t{1});
    QVERIFY(!page->hits[0].downloads);
    QVERIFY(!page->hits[0].likes);
    QVERIFY(!page->hits[0].bytes);
    QCOMPARE(page->hits[0].gate, Gate::Open);
}

void HubTest::revisions()
{
    writeTinyModel(m_root / "org" / "tiny@dev");
    writeTinyModel(m_root / "org" / "tiny@v1.0");
    Hub hub(settings());
    const Result<std::vector<std::string>> names = hub.revisions("org/tiny", {});
    QVERIFY2(names, qPrintable(outcome(names)));
    QCOMPARE(*names, (std::vector<std::string>{"main", "dev", "v1.0"}));
    QCOMPARE(outcome(hub.revisions("org/none", {})), u"hub.missing"_s);
}

void HubTest::badEndpoint()
{
    HubSettings bad = settings();
    bad.problem = "nonsense";
    Hub hub(bad);
    const Result<CheckpointPtr> result = hub.read({"org/tiny", "main", ""}, {});
    QCOMPARE(outcome(result), u"hub.bad-endpoint"_s);
    QCOMPARE(result.error().kind, ErrorKind::Usage);
    QCOMPARE(outcome(hub.search({}, {})), u"hub.bad-endpoint"_s);
}

void HubTest::manyAtOnce()
{
    Hub hub(settings());
    std::vector<std::jthread> threads;
    std::atomic<int> good = 0;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&hub, &good, i] {
            const bool done = i % 2 == 0 ? hub.read({"org/tiny", "main", ""}, {}).has_value()
                                         : hub.search({}, {}).has_value();
            good += done ? 1 : 0;
        });
    }
    threads.clear();
    QCOMPARE(good.load(), 8);
    QVERIFY(m_hub->hub().mostAtOnce() <= 20);
}

void HubTest::opensByName()
{
    const Catalog catalog;
    Hub hub(settings());
    OpenContext context{catalog, &hub};
    const auto open = [&](const char *name) { return openCheckpoint(name, context); };
    QVERIFY(open("org/tiny"));
    QVERIFY(open("https://huggingface.co/org/tiny"));
    QVERIFY(open((m_hub->endpoint() + "/org/tiny/tree/main").c_str()));
    m_hub->clearRequests();
    QCOMPARE(outcome(open("tiny")), u"open.unknown"_s);
    QCOMPARE(outcome(open("ollama:tiny:latest")), u"open.unknown"_s);
    QCOMPARE(outcome(open("./org/tiny")), u"file.not-found"_s);
    QCOMPARE(outcome(open("folder/model.gguf")), u"file.not-found"_s);
    QCOMPARE(outcome(open("a/b/c")), u"open.unknown"_s);
    QCOMPARE(m_hub->requests().size(), std::size_t{0});
    context.forced = Source::Catalog;
    QCOMPARE(outcome(open("org/tiny")), u"open.not-in-catalog"_s);
    context.forced = Source::Folder;
    QCOMPARE(outcome(open("org/tiny")), u"file.not-found"_s);
    context.forced = Source::Hub;
    QVERIFY(open("org/tiny"));
    QCOMPARE(outcome(open("a/b/c")), u"hub.bad-reference"_s);
    QCOMPARE(outcome(open("tiny")), u"hub.missing"_s);
    context.hub = nullptr;
    context.forced = {};
    QCOMPARE(outcome(open("org/tiny")), u"open.unknown"_s);
}

QTEST_GUILESS_MAIN(HubTest)
#include "tst_hub.moc"

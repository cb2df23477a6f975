// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/catalogformat.h"
#include "models/sources/hub/hub.h"
#include "models/sources/hub/hubcache.h"
#include "tests/support/standinhub.h"
#include "tests/support/testsupport.h"
#include "tests/support/tinymodel.h"

#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

unsigned modeOf(const fs::path &path)
{
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0U;
}

std::string contentOf(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

QString noteIds(const Checkpoint &checkpoint)
{
    QStringList ids;
    for (const Message &note : checkpoint.notes)
        ids += q(note.id);
    return ids.join(u' ');
}

} // namespace

class HubCacheTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void keeps();
    void keysAreApart();
    void isPrivate();
    void noticesDamage_data();
    void noticesDamage();
    void staysSmall();
    void withoutFolder();
    void secondLookAsksOnce();
    void commitsAreNotAskedFor();
    void newCommits();
    void opensOffline();
    void opensWithoutNetwork();
    void damagedEntriesAreReadAgain();
    void officialCache();
    void officialCacheStaysInside();
    void officialCacheInPart();
    void officialCacheSaysWhatItLacks();
    void answersForABusyHub_data();
    void answersForABusyHub();

private:
    HubSettings settings() const
    {
        HubSettings settings;
        settings.endpoint = m_hub->endpoint();
        settings.metadataCache = m_path / "cache";
        settings.hubCache = m_path / "official";
        settings.retryDelay = std::chrono::milliseconds(5);
        settings.tries = 2;
        return settings;
    }
    std::vector<fs::path> entries() const
    {
        std::vector<fs::path> files;
        for (const auto &each : fs::directory_iterator(m_path / "cache"))
            files.push_back(each.path());
        return files;
    }
    /// Puts a repository where the official client would: blobs, and links to them.
    fs::path download(const std::string &name, const std::string &commit) const;

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_path;
    std::unique_ptr<StandInHub> m_hub;
};

void HubCacheTest::init()
{
    m_hub.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    m_path = s(m_folder->path());
    writeTinyModel(m_path / "root" / "org" / "tiny");
    tinyGguf().write(m_path / "root" / "org" / "gguf" / "m-Q4_K_M.gguf");
    tinyGguf(9).write(m_path / "root" / "org" / "gguf" / "m-Q8_0.gguf");
    m_hub = std::make_unique<StandInHub>(m_path / "root");
}

void HubCacheTest::keeps()
{
    HubCache cache(m_path / "a" / "b", 1'000'000);
    const std::string key = HubCache::key({"x", "y"});
    QVERIFY(!cache.get(key));
    cache.put(key, "content");
    QCOMPARE(q(cache.get(key).value()), u"content"_s);
    cache.put(key, "");
    QCOMPARE(q(cache.get(key).value()), QString());
    cache.put(key, std::string("\0\n1", 3));
    QCOMPARE(cache.get(key).value(), std::string("\0\n1", 3));
    HubCache other(m_path / "a" / "b", 1'000'000);
    QCOMPARE(other.get(key).value().size(), std::size_t{3});
    cache.remove(key);
    QVERIFY(!other.get(key));
}

void HubCacheTest::keysAreApart()
{
    QVERIFY(HubCache::key({"a", "bc"}) != HubCache::key({"ab", "c"}));
    QVERIFY(HubCache::key({"a\n1:b"}) != HubCache::key({"a", "b"}));
    HubCache cache(m_path / "c", 1'000'000);
    const std::string one = HubCache::key({"one"});
    const std::string two = HubCache::key({"two"});
    cache.put(one, "1");
    // A file under the name of another key (a collision) is not taken for it.
    fs::copy_file(cache.fileOf(one), cache.fileOf(two));
    QVERIFY(!cache.get(two));
    QCOMPARE(q(cache.get(one).value()), u"1"_s);
}

void HubCacheTest::isPrivate()
{
    HubCache cache(m_path / "c", 1'000'000);
    const std::string key = HubCache::key({"private"});
    cache.put(key, "secret");
    QCOMPARE(modeOf(m_path / "c"), 0700U);
    QCOMPARE(modeOf(cache.fileOf(key)), 0600U);
}

void HubCacheTest::noticesDamage_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("empty") << 0;
    QTest::newRow("cut off") << 1;
    QTest::newRow("one bit of the content") << 2;
    QTest::newRow("one bit of the key") << 3;
    QTest::newRow("one bit of the head") << 4;
    QTest::newRow("longer") << 5;
    QTest::newRow("something else") << 6;
    QTest::newRow("a folder") << 7;
}

void HubCacheTest::noticesDamage()
{
    QFETCH(const int, kind);
    HubCache cache(m_path / "c", 1'000'000);
    const std::string key = HubCache::key({"damaged"});
    cache.put(key, std::string(100, 'x'));
    const fs::path file = cache.fileOf(key);
    std::string text = contentOf(file);
    const std::size_t head = text.find('\n') + 1;
    switch (kind) {
    case 0: text.clear(); break;
    case 1: text.resize(text.size() - 7); break;
    case 2: text.back() ^= 1; break;
    case 3: text[head] ^= 1; break;
    case 4: text[head - 3] ^= 1; break;
    case 5: text += 'x'; break;
    case 6: text = std::string(5000, 'z'); break;
    default: break;
    }
    if (kind == 7) {
        fs::remove(file);
        fs::create_directory(file);
        QVERIFY(!cache.get(key));
        return;
    }
    writeFile(file, text);
    QVERIFY(!cache.get(key));
    QVERIFY(!fs::exists(file));
    cache.put(key, "new");
    QCOMPARE(q(cache.get(key).value()), u"new"_s);
}

void HubCacheTest::staysSmall()
{
    constexpr std::uint64_t limit = 100'000;
    HubCache cache(m_path / "c", limit);
    for (int i = 0; i < 40; ++i) {
        const std::string key = HubCache::key({"entry", std::to_string(i)});
        cache.put(key, std::string(10'000, 'x'));
        fs::last_write_time(cache.fileOf(key),
                            fs::file_time_type::clock::now() - std::chrono::seconds(100 - i));
    }
    std::uint64_t total = 0;
    for (const auto &each : fs::directory_iterator(m_path / "c"))
        total += each.file_size();
    QVERIFY2(total <= limit + 11'000, qPrintable(QString::number(total)));
    QVERIFY(!cache.get(HubCache::key({"entry", "0"})));
    QVERIFY(cache.get(HubCache::key({"entry", "39"})));
    cache.put(HubCache::key({"huge"}), std::string(200'000, 'x'));
    QVERIFY(!cache.get(HubCache::key({"huge"})));
}

void HubCacheTest::withoutFolder()
{
    HubCache none({}, 1'000'000);
    none.put(HubCache::key({"x"}), "y");
    QVERIFY(!none.get(HubCache::key({"x"})));
    writeFile(m_path / "file", "");
    HubCache blocked(m_path / "file" / "c", 1'000'000);
    blocked.put(HubCache::key({"x"}), "y");
    QVERIFY(!blocked.get(HubCache::key({"x"})));
}

void HubCacheTest::secondLookAsksOnce()
{
    for (const char *name : {"org/tiny", "org/gguf", "org/gguf:Q8_0"}) {
        const HubReference reference = parseHubReference(name).value();
        std::string fresh;
        {
            Hub hub(settings());
            const Result<CheckpointPtr> read = hub.read(reference, {});
            QVERIFY2(read, qPrintable(outcome(read)));
            fresh = writeGroupFile(**read);
        }
        m_hub->clearRequests();
        Hub hub(settings());
        const Result<CheckpointPtr> again = hub.read(reference, {});
        QVERIFY2(again, qPrintable(outcome(again)));
        QCOMPARE(q(writeGroupFile(**again)), q(fresh));
        QCOMPARE((*again)->source, Source::Hub);
        QCOMPARE((*again)->repository.empty(), false);
        QCOMPARE(m_hub->requests().size(), std::size_t{1}); // whether the branch has moved
    }
}

void HubCacheTest::commitsAreNotAskedFor()
{
    const std::string commit = m_hub->commitOf("org/tiny");
    Hub hub(settings());
    QVERIFY(hub.read({"org/tiny", commit, ""}, {}));
    m_hub->clearRequests();
    const Result<CheckpointPtr> again = hub.read({"org/tiny", commit, ""}, {});
    QVERIFY(again);
    QCOMPARE(q((*again)->revision), q(commit));
    QCOMPARE(m_hub->requests().size(), std::size_t{0});
}

void HubCacheTest::newCommits()
{
    Hub hub(settings());
    const Result<CheckpointPtr> before = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY(before);
    tinyLayer(7).write(m_path / "root" / "org" / "tiny" / "extra.safetensors");
    m_hub->advanceCommits();
    const Result<CheckpointPtr> after = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY(after);
    QVERIFY((*before)->revision != (*after)->revision);
    QVERIFY((*after)->weightBytes() > (*before)->weightBytes());
}

void HubCacheTest::opensOffline()
{
    {
        Hub hub(settings());
        QVERIFY(hub.read({"org/tiny", "main", ""}, {}));
    }
    m_hub->clearRequests();
    HubSettings offline = settings();
    offline.offline = true;
    Hub hub(offline);
    const Result<CheckpointPtr> read = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY2(read, qPrintable(outcome(read)));
    QCOMPARE((*read)->weightBytes(), tinyWeightBytes);
    QVERIFY(noteIds(**read).contains("hub.not-asked"_L1));
    QVERIFY(hub.list({"org/tiny", "main", ""}, {}));
    const Result<CheckpointPtr> other = hub.read({"org/gguf", "main", ""}, {});
    QCOMPARE(outcome(other), u"hub.offline"_s);
    QCOMPARE(other.error().kind, ErrorKind::Network);
    QCOMPARE(outcome(hub.search({}, {})), u"hub.offline"_s);
    QCOMPARE(outcome(hub.revisions("org/tiny", {})), u"hub.offline"_s);
    QCOMPARE(outcome(hub.list({"org/gguf", "main", ""}, {})), u"hub.offline"_s);
    QCOMPARE(m_hub->requests().size(), std::size_t{0});
    hub.setOffline(false);
    QVERIFY(hub.read({"org/gguf", "main", ""}, {}));
}

void HubCacheTest::opensWithoutNetwork()
{
    Hub hub(settings());
    QVERIFY(hub.read({"org/tiny", "main", ""}, {}));
    m_hub->hub().stop();
    const Result<CheckpointPtr> read = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY2(read, qPrintable(outcome(read)));
    QVERIFY(noteIds(**read).contains("hub.not-asked"_L1));
    QCOMPARE(outcome(hub.read({"org/gguf", "main", ""}, {})), u"hub.unreachable"_s);
}

void HubCacheTest::damagedEntriesAreReadAgain()
{
    Hub hub(settings());
    QVERIFY(hub.read({"org/tiny", "main", ""}, {}));
    for (const fs::path &file : entries()) {
        std::string text = contentOf(file);
        text[text.size() / 2] ^= 4;
        writeFile(file, text);
    }
    const Result<CheckpointPtr> read = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY2(read, qPrintable(outcome(read)));
    QCOMPARE((*read)->weightBytes(), tinyWeightBytes);
    for (const fs::path &file : entries())
        fs::resize_file(file, fs::file_size(file) / 2);
    QVERIFY(hub.read({"org/tiny", "main", ""}, {}));
}

fs::path HubCacheTest::download(const std::string &name, const std::string &commit) const
{
    const fs::path folder = m_path / "official" / "models--org--tiny";
    const fs::path snapshot = folder / "snapshots" / commit;
    fs::create_directories(snapshot);
    fs::create_directories(folder / "blobs");
    for (const auto &each : fs::directory_iterator(m_path / "root" / "org" / name)) {
        const std::string file = each.path().filename().string();
        fs::copy_file(each.path(), folder / "blobs" / file);
        fs::create_symlink(fs::path("../../blobs") / file, snapshot / file);
    }
    writeFile(folder / "refs" / "main", commit + "\n");
    return snapshot;
}

void HubCacheTest::officialCache()
{
    const std::string commit(40, 'a');
    download("tiny", commit);
    HubSettings offline = settings();
    offline.offline = true;
    Hub hub(offline);
    const Result<CheckpointPtr> read = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY2(read, qPrintable(outcome(read)));
    QCOMPARE((*read)->weightBytes(), tinyWeightBytes);
    QCOMPARE((*read)->source, Source::Hub);
    QCOMPARE(q((*read)->id), u"org/tiny"_s);
    QCOMPARE(q((*read)->revision), q(commit));
    QVERIFY(!(*read)->repositoryBytes);
    QVERIFY(hub.read({"org/tiny", commit, ""}, {}));
    QCOMPARE(outcome(hub.read({"org/tiny", "other", ""}, {})), u"hub.offline"_s);
}

void HubCacheTest::officialCacheStaysInside()
{
    const std::string commit(40, 'b');
    const fs::path snapshot = download("tiny", commit);
    writeFile(m_path / "outside.json", tinyConfig().dump());
    fs::remove(snapshot / "config.json");
    fs::create_symlink(m_path / "outside.json", snapshot / "config.json");
    HubSettings offline = settings();
    offline.offline = true;
    Hub hub(offline);
    QCOMPARE(outcome(hub.read({"org/tiny", "main", ""}, {})), u"folder.no-config"_s);
    // A commit that is none is no folder's name either.
    writeFile(m_path / "official" / "models--org--tiny" / "refs" / "main", "../../../etc\n");
    QCOMPARE(outcome(hub.read({"org/tiny", "main", ""}, {})), u"hub.offline"_s);
}

void HubCacheTest::officialCacheInPart()
{
    const std::string commit(40, 'c');
    const fs::path snapshot = download("tiny", commit);
    fs::remove(m_path / "official" / "models--org--tiny" / "blobs" / "model-00002-of-00003.safetensors");
    HubSettings offline = settings();
    offline.offline = true;
    Hub hub(offline);
    QCOMPARE(outcome(hub.read({"org/tiny", "main", ""}, {})), u"folder.missing-shard"_s);
}

void HubCacheTest::officialCacheSaysWhatItLacks()
{
    const std::string commit(40, 'd');
    const fs::path snapshot = download("tiny", commit);
    HubSettings offline = settings();
    offline.offline = true;
    Hub hub(offline);
    // Whatever was never downloaded is not in the snapshot: that is said.
    const Result<CheckpointPtr> whole = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY2(whole, qPrintable(outcome(whole)));
    QVERIFY(noteIds(**whole).contains("hub.snapshot"_L1));
    // A link to a blob that is gone is a file that is known to exist, and here a draft head might be in it.
    fs::create_symlink("../../blobs/gone", snapshot / "model_extra_tensors.safetensors");
    const Result<CheckpointPtr> part = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY2(part, qPrintable(outcome(part)));
    QVERIFY(noteIds(**part).contains("hub.snapshot-partial"_L1));
}

void HubCacheTest::answersForABusyHub_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("429") << static_cast<int>(Fault::Kind::RateLimit);
    QTest::newRow("503") << static_cast<int>(Fault::Kind::Status);
    QTest::newRow("a web page") << static_cast<int>(Fault::Kind::Html);
}

void HubCacheTest::answersForABusyHub()
{
    QFETCH(int, kind);
    Hub hub(settings());
    QVERIFY(hub.read({"org/tiny", "main", ""}, {}));
    Fault fault;
    fault.kind = static_cast<Fault::Kind>(kind);
    fault.status = 503;
    fault.seconds = 300;
    m_hub->addFault(fault);
    const Result<CheckpointPtr> read = hub.read({"org/tiny", "main", ""}, {});
    QVERIFY2(read, qPrintable(outcome(read)));
    QCOMPARE((*read)->weightBytes(), tinyWeightBytes);
    QVERIFY(noteIds(**read).contains("hub.not-asked"_L1));
    // What was never read is told as it is.
    QVERIFY(!hub.read({"org/gguf", "main", ""}, {}));
}

QTEST_GUILESS_MAIN(HubCacheTest)
#include "tst_hubcache.moc"

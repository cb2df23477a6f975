// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/localfile.h"
#include "models/sources/open.h"
#include "tests/support/testsupport.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

QStringList paths(const Result<std::vector<ListedFile>> &listing)
{
    QStringList found;
    if (listing) {
        for (const ListedFile &file : *listing)
            found += q(file.path);
    }
    return found;
}

} // namespace

class LocalFileTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void sizes();
    void links();
    void notRegular_data();
    void notRegular();
    void unreadable();
    void textFiles();
    void lists();
    void listsLinks();
    void levels();
    void cap();
    void listsNothingElse();
    void pathArguments_data();
    void pathArguments();

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_path;
};

void LocalFileTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_path = s(m_folder->path());
}

void LocalFileTest::sizes()
{
    writeFile(m_path / "a", "12345");
    writeFile(m_path / "empty", "");
    writeSparse(m_path / "large", "x", std::uint64_t{1} << 40U);
    QCOMPARE(regularFileSize(m_path / "a").value(), 5U);
    QCOMPARE(regularFileSize(m_path / "empty").value(), 0U);
    QCOMPARE(regularFileSize(m_path / "large").value(), std::uint64_t{1} << 40U);
    const Result<std::uint64_t> absent = regularFileSize(m_path / "absent");
    QCOMPARE(outcome(absent), u"file.not-found"_s);
    QCOMPARE(absent.error().kind, ErrorKind::NotFound);
    QCOMPARE(q(absent.error().subject), q((m_path / "absent").string()));
    QCOMPARE(outcome(regularFileSize(m_path)), u"file.not-regular"_s);
    QCOMPARE(outcome(regularFileSize(m_path / "a" / "b")), u"file.not-found"_s);
    QCOMPARE(outcome(regularFileSize("")), u"file.not-found"_s);
}

void LocalFileTest::links()
{
    writeFile(m_path / "a", "12345");
    fs::create_symlink("a", m_path / "link");
    fs::create_symlink("link", m_path / "second");
    fs::create_symlink("nowhere", m_path / "dangling");
    fs::create_symlink("loop2", m_path / "loop1");
    fs::create_symlink("loop1", m_path / "loop2");
    fs::create_directory(m_path / "folder");
    fs::create_directory_symlink("folder", m_path / "folder-link");
    QCOMPARE(regularFileSize(m_path / "link").value(), 5U);
    QCOMPARE(regularFileSize(m_path / "second").value(), 5U);
    const Result<std::uint64_t> dangling = regularFileSize(m_path / "dangling");
    QCOMPARE(outcome(dangling), u"file.dangling"_s);
    QCOMPARE(dangling.error().kind, ErrorKind::NotFound);
    QCOMPARE(outcome(readPath(m_path / "dangling")), u"file.dangling"_s);
    QVERIFY(!regularFileSize(m_path / "loop1"));
    QCOMPARE(outcome(regularFileSize(m_path / "folder-link")), u"file.not-regular"_s);
    QVERIFY(!readPath(m_path / "loop1"));
    QCOMPARE(outcome(readTextFile(m_path / "link", 10)), u"ok"_s);
}

void LocalFileTest::notRegular_data()
{
    QTest::addColumn<QString>("kind");
    for (const char *kind : {"fifo", "socket", "device", "zero"})
        QTest::newRow(kind) << q(kind);
}

void LocalFileTest::notRegular()
{
    QFETCH(const QString, kind);
    fs::path file = m_path / "model.gguf";
    int socket = -1;
    if (kind == "fifo"_L1) {
        QCOMPARE(::mkfifo(file.c_str(), 0600), 0);
    } else if (kind == "socket"_L1) {
        socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        file.string().copy(address.sun_path, sizeof address.sun_path - 1);
        QCOMPARE(::bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
    } else {
        file = kind == "zero"_L1 ? "/dev/zero" : "/dev/null";
        if (!fs::exists(file))
            QSKIP("no such device here");
    }
    // Refused at once: opening a pipe that nobody writes to would wait for ever.
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(regularFileSize(file)), u"file.not-regular"_s);
    QCOMPARE(outcome(readTextFile(file, 1000)), u"file.not-regular"_s);
    QCOMPARE(outcome(readPath(file)), u"file.not-regular"_s);
    // Within a folder it is left out, but named in the place of a model's file.
    const bool inFolder = file.parent_path() == m_path;
    QCOMPARE(paths(listFolder(m_path)), inFolder ? QStringList{u"model.gguf"_s} : QStringList());
    QCOMPARE(outcome(readPath(m_path)), inFolder ? u"file.not-regular"_s : u"folder.no-model"_s);
    if (kind == "fifo"_L1) {
        QCOMPARE(::mkfifo((m_path / "notes.txt").c_str(), 0600), 0);
        fs::create_directory(m_path / "sub");
        QCOMPARE(::mkfifo((m_path / "sub" / "model.gguf").c_str(), 0600), 0);
        QCOMPARE(paths(listFolder(m_path)), QStringList{u"model.gguf"_s});
        QCOMPARE(::mkfifo((m_path / "config.json").c_str(), 0600), 0);
        QCOMPARE(::mkfifo((m_path / "model.safetensors").c_str(), 0600), 0);
        QCOMPARE(outcome(readPath(m_path)), u"file.not-regular"_s);
        QCOMPARE(outcome(readPath(m_path / "config.json")), u"file.not-regular"_s);
        QCOMPARE(outcome(readPath(m_path / "model.safetensors")), u"file.not-regular"_s);
    }
    QVERIFY(timer.elapsed() < 5000);
    if (socket >= 0)
        ::close(socket);
}

void LocalFileTest::unreadable()
{
    if (::geteuid() == 0)
        QSKIP("the administrator may read everything");
    writeFile(m_path / "a.gguf", "12345");
    fs::permissions(m_path / "a.gguf", fs::perms::none);
    QCOMPARE(outcome(readTextFile(m_path / "a.gguf", 10)), u"file.denied"_s);
    QCOMPARE(outcome(readPath(m_path / "a.gguf")), u"file.denied"_s);
    fs::create_directory(m_path / "closed");
    writeFile(m_path / "closed" / "b", "1");
    fs::permissions(m_path / "closed", fs::perms::none);
    QCOMPARE(outcome(regularFileSize(m_path / "closed" / "b")), u"file.denied"_s);
    // One closed folder does not keep the rest from being listed.
    QCOMPARE(paths(listFolder(m_path)), QStringList{u"a.gguf"_s});
    QCOMPARE(outcome(listFolder(m_path / "closed")), u"file.denied"_s);
    QCOMPARE(outcome(readPath(m_path / "closed")), u"file.denied"_s);
    fs::permissions(m_path / "closed", fs::perms::owner_all);
}

void LocalFileTest::textFiles()
{
    writeFile(m_path / "a", std::string_view("a\0b\r\n", 5));
    QCOMPARE(QByteArray::fromStdString(readTextFile(m_path / "a", 5).value()), QByteArray("a\0b\r\n", 5));
    const Result<std::string> larger = readTextFile(m_path / "a", 4);
    QCOMPARE(outcome(larger), u"file.too-large"_s);
    QCOMPARE(argumentText(larger.error().arguments, "size"), u"5"_s);
    QCOMPARE(argumentText(larger.error().arguments, "limit"), u"4"_s);
    writeFile(m_path / "empty", "");
    QCOMPARE(q(readTextFile(m_path / "empty", 0).value()), QString());
    // Nothing is allocated for a file of a terabyte.
    writeSparse(m_path / "large", "x", std::uint64_t{1} << 40U);
    QCOMPARE(outcome(readTextFile(m_path / "large", 1U << 20U)), u"file.too-large"_s);
}

void LocalFileTest::lists()
{
    writeFile(m_path / "b", "12");
    writeFile(m_path / "a.safetensors", "1");
    writeFile(m_path / "sub" / "c", "123");
    writeFile(m_path / ".hidden", "1");
    writeFile(m_path / ".git" / "objects" / "d", "1");
    writeFile(m_path / ".cache" / "huggingface" / "e", "1");
    const Result<std::vector<ListedFile>> listing = listFolder(m_path);
    QCOMPARE(paths(listing), (QStringList{u".hidden"_s, u"a.safetensors"_s, u"b"_s, u"sub/c"_s}));
    QCOMPARE(listing->at(2).bytes, 2U);
    QCOMPARE(listing->at(3).bytes, 3U);
    // With a slash at the end, and from within.
    QCOMPARE(paths(listFolder(m_path / "")), paths(listing));
    const fs::path before = fs::current_path();
    fs::current_path(m_path);
    QCOMPARE(paths(listFolder(".")), paths(listing));
    fs::current_path(before);
}

void LocalFileTest::listsLinks()
{
    // As the Hugging Face cache is laid out: links to files elsewhere.
    writeFile(m_path / "blobs" / "0123", "12345");
    fs::create_directories(m_path / "snapshot");
    fs::create_symlink("../blobs/0123", m_path / "snapshot" / "model.safetensors");
    fs::create_symlink("nowhere", m_path / "snapshot" / "dangling.safetensors");
    fs::create_symlink("self", m_path / "snapshot" / "self");
    fs::create_directory_symlink("..", m_path / "snapshot" / "up");
    fs::create_directory_symlink(".", m_path / "snapshot" / "here");
    const Result<std::vector<ListedFile>> listing = listFolder(m_path / "snapshot");
    QCOMPARE(paths(listing), (QStringList{u"dangling.safetensors"_s, u"model.safetensors"_s}));
    QCOMPARE(listing->front().bytes, 0U);
    QCOMPARE(listing->back().bytes, 5U);
    writeFile(m_path / "snapshot" / "config.json",
              R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1, "hidden_size": 8})");
    fs::remove(m_path / "snapshot" / "model.safetensors");
    QCOMPARE(outcome(readPath(m_path / "snapshot")), u"file.dangling"_s);
    fs::remove(m_path / "snapshot" / "dangling.safetensors");
    fs::remove(m_path / "snapshot" / "config.json");
    fs::create_symlink("../blobs/0123", m_path / "snapshot" / "model.safetensors");
    // A link to the folder itself is followed.
    fs::create_directory_symlink("snapshot", m_path / "link");
    QCOMPARE(paths(listFolder(m_path / "link")), QStringList{u"model.safetensors"_s});
}

void LocalFileTest::levels()
{
    fs::path deep = m_path;
    for (int level = 0; level < 12; ++level) {
        writeFile(deep / "f", "1");
        deep /= "d";
    }
    const QStringList found = paths(listFolder(m_path));
    QCOMPARE(found.size(), 9); // the folder itself and eight levels
    QVERIFY(found.contains(u"d/d/d/d/d/d/d/d/f"_s));
}

void LocalFileTest::cap()
{
    for (int folder = 0; folder < 101; ++folder) {
        const fs::path sub = m_path / std::to_string(folder);
        fs::create_directory(sub);
        for (int file = 0; file < 1000; ++file) {
            // Links of one file: quicker than files.
            if (file == 0)
                writeFile(sub / "0", "");
            else
                fs::create_hard_link(sub / "0", sub / std::to_string(file));
        }
    }
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(listFolder(m_path)), u"folder.too-large"_s);
    QCOMPARE(outcome(readPath(m_path)), u"folder.too-large"_s);
    QVERIFY2(timer.elapsed() < 30'000, qPrintable(QString::number(timer.elapsed())));
    // Fewer are listed.
    QCOMPARE(listFolder(m_path / "1").value().size(), 1000U);
}

void LocalFileTest::listsNothingElse()
{
    QVERIFY(!listFolder(m_path / "absent"));
    writeFile(m_path / "a", "1");
    QVERIFY(!listFolder(m_path / "a"));
    QCOMPARE(outcome(readPath(m_path / "absent")), u"file.not-found"_s);
}

void LocalFileTest::pathArguments_data()
{
    QTest::addColumn<QString>("argument");
    QTest::addColumn<bool>("isPath");
    for (const char *path : {"/", "/a", "./a", "../a", ".", "..", "~", "~/a", "~user/a", "here"})
        QTest::newRow(path) << q(path) << true;
    for (const char *name : {"", "a", "org/name", "ollama:a:b", ".hidden", "...", "org/name@main"})
        QTest::addRow("not %s", name) << q(name) << false;
}

void LocalFileTest::pathArguments()
{
    QFETCH(const QString, argument);
    QFETCH(const bool, isPath);
    const fs::path before = fs::current_path();
    fs::current_path(m_path);
    writeFile(m_path / "here", "1");
    QCOMPARE(isPathArgument(s(argument)), isPath);
    fs::current_path(before);
}

QTEST_GUILESS_MAIN(LocalFileTest)
#include "tst_localfile.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/diskcontroller.h"
#include "app/filedialog.h"
#include "models/items/diskmodel.h"
#include "models/items/text.h"
#include "tests/gui/hubprogram.h"
#include "tests/support/testsupport.h"
#include "tests/support/tinymodel.h"
#include "widgets/diskview.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDir>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QTemporaryDir>
#include <QToolButton>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

const std::string commit = "0123456789abcdef0123456789abcdef01234567";

std::string blobDigest(char digit) { return "sha256:" + std::string(64, digit); }

fs::path blobFile(const fs::path &store, char digit)
{
    return store / "blobs" / ("sha256-" + std::string(64, digit));
}

/// A model in Ollama's store; its blob is named by one digit.
void writeOllamaModel(const fs::path &store, const std::string &name, const std::string &tag, char digit)
{
    tinyGguf().write(blobFile(store, digit));
    const auto size = fs::file_size(blobFile(store, digit));
    const std::string config = R"({"model_format":"gguf","model_family":"llama","file_type":"Q4_K_M"})";
    writeFile(blobFile(store, 'f'), config);
    const nlohmann::json manifest{{"schemaVersion", 2},
                                  {"mediaType", "application/vnd.docker.distribution.manifest.v2+json"},
                                  {"config",
                                   {{"mediaType", "application/vnd.docker.container.image.v1+json"},
                                    {"digest", blobDigest('f')},
                                    {"size", config.size()}}},
                                  {"layers",
                                   {{{"mediaType", "application/vnd.ollama.image.model"},
                                     {"digest", blobDigest(digit)},
                                     {"size", size}}}}};
    writeFile(store / "manifests" / "registry.ollama.ai" / "library" / name / tag, manifest.dump());
}

} // namespace

/// The section "This disk" in the real window, on stores in a home of its own.
class TestDiskWindow : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void nothingIsLookedAtBeforeTheSectionIsShown();
    void listsEveryStore();
    void badgesCome();
    void rowOpens();
    void ollamaRowOpensTheStoreAndNotTheCatalog();
    void filtersAndOrders();
    void emptyDiskSaysWhatToDo();
    void changesAreSeen();
    void incompleteIsSaid();
    void foldersAreAddedRemovedAndUndone();
    void folderOfSeveralIsOffered();
    void droppedFolderIsListed();
    void isRemembered();
    void slowDiskDoesNotBlock();
    void worksByKeyboard();
    void everythingHasAName();

private:
    fs::path home() const { return m_folder->path().toStdString(); }
    fs::path hubRepository() const { return home() / "hf" / "hub" / "models--tiny--Llama-One"; }
    fs::path ollama() const { return home() / "ollama"; }
    fs::path lmStudio() const { return home() / ".lmstudio" / "models"; }
    void writeStores() const;

    /// A window that asks no network.
    std::unique_ptr<HubProgram> program()
    {
        HubSettings settings = settingsFor("http://127.0.0.1:9", m_folder->path());
        settings.offline = true;
        return std::make_unique<HubProgram>(m_folder->path(), settings, m_keyring);
    }

    static void enter(HubProgram &program)
    {
        auto *tabs = program.find<QTabBar>("sectionTabs");
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(2).center());
        QTRY_VERIFY(program.find<QToolButton>("diskRefresh")->isEnabled());
    }
    static QTreeView *list(HubProgram &program) { return program.find<QTreeView>("diskList"); }
    static QStringList places(HubProgram &program)
    {
        QStringList titles;
        const QAbstractItemModel *model = list(program)->model();
        for (int row = 0; row < model->rowCount(); ++row)
            titles << model->index(row, 0).data().toString();
        return titles;
    }
    static QModelIndex row(HubProgram &program, const QString &name)
    {
        const QAbstractItemModel *model = list(program)->model();
        for (int place = 0; place < model->rowCount(); ++place) {
            const QModelIndex parent = model->index(place, 0);
            for (int child = 0; child < model->rowCount(parent); ++child) {
                const QModelIndex index = model->index(child, 0, parent);
                if (index.data(DiskModel::NameRole).toString().contains(name))
                    return index;
            }
        }
        return {};
    }
    static QStringList names(HubProgram &program, int place)
    {
        QStringList all;
        const QAbstractItemModel *model = list(program)->model();
        const QModelIndex parent = model->index(place, 0);
        for (int child = 0; child < model->rowCount(parent); ++child)
            all << model->index(child, 0, parent).data(DiskModel::NameRole).toString();
        return all;
    }
    static void click(HubProgram &program, const QModelIndex &index)
    {
        list(program)->scrollTo(index);
        QTest::mouseClick(list(program)->viewport(), Qt::LeftButton, {},
                          list(program)->visualRect(index).center());
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    FakeKeyring m_keyring;
};

void TestDiskWindow::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    qputenv("HOME", m_folder->path().toUtf8());
    qputenv("HF_HOME", (home() / "hf").string().c_str());
    qputenv("OLLAMA_MODELS", ollama().string().c_str());
    qputenv("XDG_CACHE_HOME", (home() / ".cache").string().c_str());
    for (const char *name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "LLAMA_CACHE", "LMSTUDIO_HOME"})
        qunsetenv(name);
    FileDialog::setNextAnswer({});
}

void TestDiskWindow::cleanup() { m_folder.reset(); }

void TestDiskWindow::writeStores() const
{
    writeFile(hubRepository() / "refs" / "main", commit);
    writeTinyModel(hubRepository() / "snapshots" / commit);
    writeOllamaModel(ollama(), "tinyllama", "1b", 'a');
    fs::create_directories(lmStudio() / "someone" / "Tiny-GGUF");
    tinyGguf().write(lmStudio() / "someone" / "Tiny-GGUF" / "Tiny-Q4_K_M.gguf");
    fs::create_directories(home() / ".cache" / "llama.cpp");
    tinyGguf().write(home() / ".cache" / "llama.cpp" / "other_Small-GGUF_Small-Q8_0.gguf");
}

void TestDiskWindow::nothingIsLookedAtBeforeTheSectionIsShown()
{
    writeStores();
    const auto program = this->program();
    QTRY_VERIFY(program->session.isSettled());
    QTest::qWait(100);
    QCOMPARE(list(*program)->model()->rowCount(), 0);
    enter(*program);
    QTRY_VERIFY(list(*program)->model()->rowCount() > 0);
}

void TestDiskWindow::listsEveryStore()
{
    writeStores();
    const auto program = this->program();
    enter(*program);
    QTRY_COMPARE(places(*program),
                 (QStringList{u"Hugging Face cache"_s, u"Ollama"_s, u"LM Studio"_s, u"llama.cpp cache"_s}));
    QVERIFY(
        list(*program)->model()->index(0, 0).data(SubtitleRole).toString().startsWith(u"1 checkpoint · "_s));
    const QModelIndex hub = row(*program, u"tiny/Llama-One"_s);
    QVERIFY(hub.isValid());
    QCOMPARE(hub.data().toString(), u"Llama-One"_s);
    // Three shards, headers included.
    quint64 files = 0;
    for (const auto &each : fs::directory_iterator(hubRepository() / "snapshots" / commit)) {
        if (each.path().extension() == ".safetensors")
            files += each.file_size();
    }
    QCOMPARE(hub.data(DiskModel::BytesRole).toULongLong(), files);
    QVERIFY(hub.data(SubtitleRole).toString().contains(u"tiny"_s));
    const QModelIndex ollamaRow = row(*program, u"tinyllama:1b"_s);
    QVERIFY(ollamaRow.isValid());
    QCOMPARE(ollamaRow.data(DiskModel::BytesRole).toULongLong(),
             quint64{fs::file_size(blobFile(ollama(), 'a'))});
    QVERIFY(ollamaRow.data(SubtitleRole).toString().startsWith(u"Q4_K_M"_s));
    QVERIFY(row(*program, u"Tiny"_s).isValid());
    QVERIFY(row(*program, u"Small"_s).isValid());
    QAbstractItemModelTester tester(list(*program)->model());
    program->picture("disk");
}

void TestDiskWindow::badgesCome()
{
    writeStores();
    const auto program = this->program();
    QTRY_VERIFY(program->session.isSettled());
    enter(*program);
    for (const QString &name : {u"tiny/Llama-One"_s, u"tinyllama:1b"_s}) {
        QTRY_COMPARE(row(*program, name).data(DiskModel::BadgeRole).toString(), u"Fits"_s);
        QVERIFY(row(*program, name).data(DiskModel::SpeedTextRole).toString().endsWith(u"tok/s"_s));
    }
    // Nothing was opened for that.
    QCOMPARE(program->session.catalogModel()->openedCount(), 0);
    program->session.setMachine(toText(program->library.machines.back().id));
    QTRY_VERIFY(!row(*program, u"tiny/Llama-One"_s).data(DiskModel::BadgeRole).toString().isEmpty());
}

void TestDiskWindow::rowOpens()
{
    writeStores();
    const auto program = this->program();
    QTRY_VERIFY(program->session.isSettled());
    enter(*program);
    QTRY_VERIFY(row(*program, u"tiny/Llama-One"_s).isValid());
    const QModelIndex index = row(*program, u"tiny/Llama-One"_s);
    const QString reference = index.data(DiskModel::ReferenceRole).toString();
    click(*program, index);
    QTRY_COMPARE(program->session.selectedId(), reference);
    QCOMPARE(program->session.selectedCheckpoint()->weightBytes(), tinyWeightBytes);
    QCOMPARE(program->text("verdictBadge"), u"Fits"_s);
    QCOMPARE(list(*program)->currentIndex().data(DiskModel::ReferenceRole).toString(), reference);
    program->action("undo")->trigger();
    QVERIFY(program->session.selectedId() != reference);
}

void TestDiskWindow::ollamaRowOpensTheStoreAndNotTheCatalog()
{
    // The catalog has one of this name; what lies here is another.
    writeOllamaModel(ollama(), "qwen3.5", "122b", 'b');
    const auto program = this->program();
    QTRY_VERIFY(program->session.isSettled());
    enter(*program);
    QTRY_VERIFY(row(*program, u"qwen3.5:122b"_s).isValid());
    click(*program, row(*program, u"qwen3.5:122b"_s));
    QTRY_VERIFY(program->session.selectedCheckpoint()
                && program->session.selectedCheckpoint()->source == Source::Ollama);
    QCOMPARE(program->session.selectedCheckpoint()->spec.layers, std::uint32_t{2});
    QCOMPARE(program->session.selectedCheckpoint()->provenance, Provenance::Headers);
}

void TestDiskWindow::filtersAndOrders()
{
    writeStores();
    writeOllamaModel(ollama(), "aardvark", "1b", 'c');
    fs::resize_file(blobFile(ollama(), 'c'), fs::file_size(blobFile(ollama(), 'c')));
    const auto program = this->program();
    enter(*program);
    QTRY_COMPARE(names(*program, 1), (QStringList{u"aardvark:1b"_s, u"tinyllama:1b"_s}));
    auto *filter = program->find<QLineEdit>("diskFilter");
    filter->setFocus();
    QTest::keyClicks(filter, u"ollama tinyll"_s);
    QTRY_COMPARE(places(*program), QStringList{u"Ollama"_s});
    QCOMPARE(names(*program, 0), QStringList{u"tinyllama:1b"_s});
    QVERIFY(list(*program)->isExpanded(list(*program)->model()->index(0, 0)));
    QTest::keyClicks(filter, u" nothing"_s);
    QTRY_VERIFY(program->find<QLabel>("diskSentence")->isVisible());
    QVERIFY(program->text("diskSentence").contains(u"nothing"_s));
    QTest::keyClick(filter, Qt::Key_Escape);
    QTRY_COMPARE(places(*program).size(), 4);
    QVERIFY(list(*program)->isVisible());
    QTest::keyClick(&program->window, Qt::Key_F, Qt::ControlModifier);
    QTRY_VERIFY(filter->hasFocus());
}

void TestDiskWindow::emptyDiskSaysWhatToDo()
{
    const auto program = this->program();
    enter(*program);
    QTRY_VERIFY(program->text("diskSentence").contains(u"Add the folder"_s));
    QVERIFY(program->find<QPushButton>("diskAddFolder")->isVisible());
    program->picture("disk-empty");
}

void TestDiskWindow::changesAreSeen()
{
    writeStores();
    const auto program = this->program();
    enter(*program);
    QTRY_VERIFY(row(*program, u"tinyllama:1b"_s).isValid());
    // A place that the user folds stays folded over a change.
    const QModelIndex first = list(*program)->model()->index(0, 0);
    click(*program, first);
    QVERIFY(!list(*program)->isExpanded(list(*program)->model()->index(0, 0)));

    writeOllamaModel(ollama(), "tinyllama", "2b", 'd');
    QTRY_VERIFY_WITH_TIMEOUT(row(*program, u"tinyllama:2b"_s).isValid(), 8000);
    QVERIFY(!list(*program)->isExpanded(list(*program)->model()->index(0, 0)));
    fs::remove(ollama() / "manifests" / "registry.ollama.ai" / "library" / "tinyllama" / "1b");
    QTRY_VERIFY_WITH_TIMEOUT(!row(*program, u"tinyllama:1b"_s).isValid(), 8000);
    fs::create_directories(lmStudio() / "new" / "Other-GGUF");
    tinyGguf().write(lmStudio() / "new" / "Other-GGUF" / "Other-Q8_0.gguf");
    QTRY_VERIFY_WITH_TIMEOUT(row(*program, u"Other"_s).isValid(), 8000);
}

void TestDiskWindow::incompleteIsSaid()
{
    writeOllamaModel(ollama(), "tinyllama", "1b", 'a');
    fs::rename(blobFile(ollama(), 'a'), blobFile(ollama(), 'a').string() + "-partial");
    const auto program = this->program();
    QTRY_VERIFY(program->session.isSettled());
    enter(*program);
    QTRY_VERIFY(row(*program, u"tinyllama:1b"_s).isValid());
    QCOMPARE(row(*program, u"tinyllama:1b"_s).data(DiskModel::BadgeRole).toString(), u"Incomplete"_s);
    const QString before = program->session.selectedId();
    click(*program, row(*program, u"tinyllama:1b"_s));
    QTRY_VERIFY(!program->text("messageText").isEmpty());
    QCOMPARE(program->session.selectedId(), before);
    QVERIFY(!row(*program, u"tinyllama:1b"_s).data(Qt::ToolTipRole).toString().isEmpty());
}

void TestDiskWindow::foldersAreAddedRemovedAndUndone()
{
    writeStores();
    fs::create_directories(home() / "models" / "sub");
    writeTinyModel(home() / "models" / "sub" / "Mine");
    const QString folder = toText((home() / "models").string());
    const auto program = this->program();
    enter(*program);
    QTRY_COMPARE(places(*program).size(), 4);

    FileDialog::setNextAnswer(folder);
    QTest::mouseClick(program->find<QPushButton>("diskAddFolder"), Qt::LeftButton);
    QTRY_COMPARE(places(*program).size(), 5);
    QCOMPARE(places(*program).back(), u"models"_s);
    QVERIFY(row(*program, u"Mine"_s).isValid());
    QCOMPARE(program->settings.value(Setting::DiskFolders).toStringList(), QStringList{folder});

    // Delete takes it off the list, undo brings it back, and no file is touched.
    const QModelIndex place = list(*program)->model()->index(4, 0);
    QVERIFY(place.data(DiskModel::AddedRole).toBool());
    list(*program)->setFocus();
    list(*program)->setCurrentIndex(place);
    QTest::keyClick(list(*program), Qt::Key_Delete);
    QTRY_COMPARE(places(*program).size(), 4);
    QVERIFY(fs::exists(home() / "models" / "sub" / "Mine" / "config.json"));
    program->action("undo")->trigger();
    QTRY_COMPARE(places(*program).size(), 5);

    // What programs keep by themselves is not for the list to remove.
    list(*program)->setCurrentIndex(list(*program)->model()->index(0, 0));
    QTest::keyClick(list(*program), Qt::Key_Delete);
    QTest::qWait(50);
    QCOMPARE(places(*program).size(), 5);

    // A folder without checkpoints stays visible, to be removed again.
    fs::create_directories(home() / "nothing");
    FileDialog::setNextAnswer(toText((home() / "nothing").string()));
    program->action("addFolder")->trigger();
    QTRY_VERIFY(places(*program).contains(u"nothing"_s));
}

void TestDiskWindow::folderOfSeveralIsOffered()
{
    writeTinyModel(home() / "several" / "One");
    writeTinyModel(home() / "several" / "Two");
    const auto program = this->program();
    QTRY_VERIFY(program->session.isSettled());
    auto *field = program->find<QLineEdit>("openField");
    field->setText(toText((home() / "several").string()));
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_VERIFY(!program->text("messageText").isEmpty());
    QToolButton *offer = nullptr;
    for (QToolButton *button : program->window.findChildren<QToolButton *>()) {
        if (button->text() == u"List It under This Disk"_s && button->isVisible())
            offer = button;
    }
    QVERIFY(offer != nullptr);
    QTest::mouseClick(offer, Qt::LeftButton);
    QTRY_VERIFY(row(*program, u"One"_s).isValid());
    QVERIFY(row(*program, u"Two"_s).isValid());
}

void TestDiskWindow::droppedFolderIsListed()
{
    writeTinyModel(home() / "several" / "One");
    const auto program = this->program();
    enter(*program);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(toText((home() / "several").string()))});
    auto *view = program->find<QWidget>("diskView");
    QDragEnterEvent over(QPoint(20, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(view, &over);
    QVERIFY(over.isAccepted());
    QDropEvent drop(QPointF(20, 200), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(view, &drop);
    QTRY_VERIFY(row(*program, u"One"_s).isValid());
}

void TestDiskWindow::isRemembered()
{
    writeStores();
    {
        const auto program = this->program();
        enter(*program);
        auto *order = program->find<QComboBox>("diskOrder");
        order->setCurrentIndex(order->findText(u"Largest"_s));
        QTRY_VERIFY(row(*program, u"tinyllama:1b"_s).isValid());
        click(*program, row(*program, u"tinyllama:1b"_s));
        QTRY_COMPARE(program->session.selectedCheckpoint()->source, Source::Ollama);
        program->window.close();
    }
    const auto program = this->program();
    QTRY_VERIFY(program->session.isSettled());
    QCOMPARE(program->find<QTabWidget>("sections")->currentIndex(), 2);
    QCOMPARE(program->find<QComboBox>("diskOrder")->currentText(), u"Largest"_s);
    QTRY_VERIFY(program->session.selectedCheckpoint()
                && program->session.selectedCheckpoint()->source == Source::Ollama);
    // The section that is shown from the start is filled.
    QTRY_VERIFY(row(*program, u"tinyllama:1b"_s).isValid());
}

void TestDiskWindow::slowDiskDoesNotBlock()
{
    // The window lives on while a look takes its time, and a new look supersedes it.
    const auto program = this->program();
    std::atomic<int> looks = 0;
    DiskController::Calls calls;
    calls.places = [](const auto &) { return std::vector<DiskPlace>{{DiskPlaceKind::Folder, "/slow"}}; };
    calls.list = [&looks](const std::vector<DiskPlace> &, std::stop_token stop) {
        const int number = ++looks;
        for (int i = 0; i < 100 && !stop.stop_requested(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        DiskListing listing;
        listing.stopped = stop.stop_requested();
        listing.checkpoints.push_back({"look " + std::to_string(number),
                                       "/slow/" + std::to_string(number),
                                       DiskPlaceKind::Folder,
                                       "/slow",
                                       Format::Gguf,
                                       "Q8_0",
                                       1000,
                                       1,
                                       true,
                                       {}});
        return listing;
    };
    calls.read = [](const std::string &argument, std::stop_token) -> Result<CheckpointPtr> {
        return fail("file.not-found", ErrorKind::NotFound, argument);
    };
    DiskModel model;
    DiskView view(&model);
    DiskController controller(calls, program->session, program->settings, &model, &view, program->wording);
    controller.enter();
    QVERIFY(!controller.isIdle()); // it came back at once
    QTRY_COMPARE(looks.load(), 1);
    QCOMPARE(model.checkpointCount(), 0);
    controller.refresh();
    QTRY_COMPARE(model.checkpointCount(), 1);
    QCOMPARE(model.index(0, 0, model.index(0, 0)).data(DiskModel::NameRole).toString(), u"look 2"_s);
}

void TestDiskWindow::worksByKeyboard()
{
    writeStores();
    const auto program = this->program();
    QTRY_VERIFY(program->session.isSettled());
    QTest::keyClick(&program->window, Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    auto *filter = program->find<QLineEdit>("diskFilter");
    QTRY_VERIFY(filter->hasFocus());
    QTRY_VERIFY(row(*program, u"tinyllama:1b"_s).isValid());
    QTest::keyClick(filter, Qt::Key_Down);
    QTRY_VERIFY(list(*program)->hasFocus());
    list(*program)->setCurrentIndex(row(*program, u"tinyllama:1b"_s));
    QTest::keyClick(list(*program), Qt::Key_Return);
    QTRY_VERIFY(program->session.selectedCheckpoint()
                && program->session.selectedCheckpoint()->source == Source::Ollama);
    QTest::keyClick(list(*program), Qt::Key_Space);
    QVERIFY(program->session.isPinned(program->session.selectedId()));
}

void TestDiskWindow::everythingHasAName()
{
    writeStores();
    const auto program = this->program();
    enter(*program);
    auto *view = program->find<QWidget>("diskView");
    for (QWidget *widget : view->findChildren<QWidget *>()) {
        if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible()
            || widget->objectName().startsWith(u"qt_"_s))
            continue;
        QVERIFY2(!widget->objectName().isEmpty(), widget->metaObject()->className());
        const bool hasText = !widget->property("text").toString().isEmpty();
        QVERIFY2(hasText || !widget->accessibleName().isEmpty(), qPrintable(widget->objectName()));
    }
    const QAbstractItemModel *model = list(*program)->model();
    QTRY_VERIFY(model->rowCount() > 0);
    QVERIFY(!model->index(0, 0).data(Qt::AccessibleTextRole).toString().isEmpty());
    QVERIFY(!row(*program, u"tinyllama"_s).data(Qt::AccessibleTextRole).toString().isEmpty());
}

QTEST_MAIN(TestDiskWindow)
#include "tst_diskwindow.moc"

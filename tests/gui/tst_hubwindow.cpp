// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/hubfilter.h"
#include "models/items/hubmodel.h"
#include "models/items/text.h"
#include "tests/gui/hubmodels.h"
#include "tests/gui/hubprogram.h"
#include "tests/support/standinhub.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QComboBox>
#include <QDesktopServices>
#include <QDialog>
#include <QFile>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>

#include <chrono>
#include <memory>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;

namespace {

const QString one = u"tiny/Llama-One"_s;
const QString gguf = u"tiny/Llama-GGUF"_s;
const QString gated = u"closed/Llama-Gated"_s;
const QString token = u"hf_secretForTheHubAlone"_s;

/// Takes the addresses that the window would open in a browser.
class Browser : public QObject
{
    Q_OBJECT

public:
    Browser() { QDesktopServices::setUrlHandler(u"http"_s, this, "open"); }
    ~Browser() override { QDesktopServices::unsetUrlHandler(u"http"_s); }

    QStringList opened;

public slots:
    void open(const QUrl &address) { opened << address.toString(); }
};

} // namespace

/// The Hub in the real window, against a stand-in over real sockets.
class TestHubWindow : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();

    void nothingIsAskedBeforeTheSectionIsShown();
    void searchesWhileTyping();
    void pagesFollowTheScrollBar();
    void filters();
    void badgesCome();
    void hitOpens();
    void quantizationIsPicked();
    void revisionIsPicked();
    void slowReadingIsCancelled();
    void offlineAndBack();
    void serverGone();
    void rateLimit();
    void gatedLeadsToTheToken();
    void keyringThatFails();
    void environmentWins();
    void isRemembered();
    void everythingHasAName();
    void modelsHoldTheirContract();

private:
    HubSettings hubSettings() const { return settingsFor(m_hub->endpoint(), m_folder->path()); }
    std::size_t searches() const { return m_hub->count("/api/models") - m_hub->count("/api/models/"); }

    static std::unique_ptr<QTemporaryDir> s_models;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<StandInHub> m_hub;
    FakeKeyring m_keyring;
};

std::unique_ptr<QTemporaryDir> TestHubWindow::s_models;

void TestHubWindow::initTestCase()
{
    s_models = std::make_unique<QTemporaryDir>();
    QVERIFY(s_models->isValid());
    writeHubModels(s_models->path().toStdString());
}

void TestHubWindow::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    m_hub = std::make_unique<StandInHub>(s_models->path().toStdString());
    StandInRepository closed;
    closed.access = StandInRepository::Access::Gated;
    m_hub->setRepository(gated.toStdString(), closed);
    m_hub->setToken(token.toStdString());
    m_keyring.works = true;
    m_keyring.put(m_hub->endpoint(), {});
}

void TestHubWindow::cleanup()
{
    m_hub.reset();
    m_folder.reset();
}

void TestHubWindow::nothingIsAskedBeforeTheSectionIsShown()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    QVERIFY(m_hub->requests().empty());
    QVERIFY(program.text("statusText").contains(u"no network was used yet"_s));
    QVERIFY(!program.find<QWidget>("sourceBar")->isVisible());

    program.enterHub();
    QTRY_VERIFY(program.hitCount() > 0);
    QCOMPARE(searches(), std::size_t{1});
    QVERIFY(!program.text("statusText").contains(u"no network"_s));
    QVERIFY(program.text("statusText").contains(u"127.0.0.1"_s));
    // Twice shown, once asked.
    auto *tabs = program.find<QTabBar>("sectionTabs");
    tabs->setFocus();
    QTest::keyClick(tabs, Qt::Key_Left);
    QTest::keyClick(tabs, Qt::Key_Right);
    QCOMPARE(program.find<QTabWidget>("sections")->currentIndex(), 1);
    QTest::qWait(50);
    QCOMPARE(searches(), std::size_t{1});
}

void TestHubWindow::searchesWhileTyping()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    QTest::keyClick(&program.window, Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(program.find<QLineEdit>("hubSearch")->hasFocus());
    QTRY_VERIFY(program.hitCount() > 0);
    m_hub->clearRequests();

    // Letters in a row make one search, and words in any case find.
    program.type(u"llama"_s);
    QTRY_COMPARE(program.hitCount(), 5);
    QCOMPARE(searches(), std::size_t{1});
    QVERIFY(program.row(one).isValid());
    program.picture("search");

    // A search under way is superseded: what it would have said never shows.
    m_hub->addFault({.kind = Fault::Kind::Delay,
                     .path = "/api/models",
                     .times = 1,
                     .time = std::chrono::milliseconds(1500)});
    m_hub->clearRequests();
    program.type(u"crowd"_s);
    QTRY_COMPARE(searches(), std::size_t{1});
    program.type(u"two"_s);
    QTRY_COMPARE(program.hitCount(), 1);
    QCOMPARE(searches(), std::size_t{2});
    QTest::qWait(1700);
    QCOMPARE(program.hitCount(), 1);
    QVERIFY(program.row(u"tiny/Llama-Two"_s).isValid());

    program.type(u"no such model"_s);
    QTRY_VERIFY(program.find<QLabel>("hubSentence")->isVisible());
    QTRY_VERIFY(program.text("hubSentence").contains(u"“no such model”"_s));
    // Enter does not wait for the rest.
    auto *field = program.find<QLineEdit>("hubSearch");
    field->setText(u"one"_s);
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(program.bridge.isSearching());
    QTRY_COMPARE(program.hitCount(), 1);
    // A page's address names one repository.
    field->setText(u"https://huggingface.co/tiny/Llama-Two/tree/main"_s);
    QTRY_VERIFY(program.row(u"tiny/Llama-Two"_s).isValid());
    QTest::keyClick(field, Qt::Key_Escape);
    QCOMPARE(field->text(), QString());
    QTRY_VERIFY(program.hitCount() > 5);
}

void TestHubWindow::pagesFollowTheScrollBar()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    program.enterHub();
    program.type(u"crowd"_s);
    QTRY_VERIFY(program.shows(30, u"crowd/"_s));
    m_hub->clearRequests();
    QScrollBar *bar = program.hits()->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 0);
    QTest::qWait(300);
    QCOMPARE(program.hitCount(), 30);
    bar->setValue(bar->maximum());
    QTRY_COMPARE(program.hitCount(), 40);
    QCOMPARE(searches(), std::size_t{1});
    QTRY_VERIFY(!program.bridge.isSearching());
    bar->setValue(bar->maximum());
    QTest::qWait(300);
    QCOMPARE(searches(), std::size_t{1}); // that was the last page
}

void TestHubWindow::filters()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    program.enterHub();
    program.type(u"llama"_s);
    QTRY_COMPARE(program.hitCount(), 5);

    auto *format = program.find<QComboBox>("hubFormat");
    format->setCurrentIndex(format->findText(u"GGUF"_s));
    QTRY_COMPARE(program.hitCount(), 1);
    QVERIFY(program.row(gguf).isValid());
    format->setCurrentIndex(0);
    QTRY_COMPARE(program.hitCount(), 5);

    auto *sort = program.find<QComboBox>("hubSort");
    m_hub->clearRequests();
    sort->setCurrentIndex(sort->findText(u"Downloads"_s));
    QTRY_COMPARE(searches(), std::size_t{1});
    QCOMPARE(m_hub->requests().front().parameter("sort"), std::string("downloads"));
    QTRY_VERIFY(!program.bridge.isSearching());

    // Filters of the list ask nothing.
    m_hub->clearRequests();
    auto *size = program.find<QComboBox>("hubSize");
    size->setCurrentIndex(1);
    QTRY_VERIFY(!program.row(u"huge/Llama-Huge"_s).isValid());
    QVERIFY(program.row(one).isValid());
    size->setCurrentIndex(0);
    QVERIFY(program.row(u"huge/Llama-Huge"_s).isValid());
    QTest::mouseClick(program.find<QCheckBox>("hubFitting"), Qt::LeftButton, {}, QPoint(10, 10));
    QVERIFY(!program.row(u"huge/Llama-Huge"_s).isValid());
    QVERIFY(program.row(one).isValid());
    QCOMPARE(searches(), std::size_t{0});

    program.type(u"huge"_s);
    QTRY_VERIFY(program.text("hubFooterText").contains(u"filters"_s));
}

void TestHubWindow::badgesCome()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    program.enterHub();
    program.type(u"llama"_s);
    QTRY_COMPARE(program.hitCount(), 5);
    QTRY_COMPARE(program.row(one).data(HubModel::BadgeRole).toString(), u"Fits"_s);
    QVERIFY(program.row(one).data(HubModel::SpeedTextRole).toString().endsWith(u"tok/s"_s));
    QCOMPARE(program.text("hubCaption"), u"tok/s at 4,096 tokens of context"_s);

    // Too big is known without a header, several quantizations and gated ones stay unknown and say why.
    QCOMPARE(program.row(u"huge/Llama-Huge"_s).data(HubModel::BadgeRole).toString(), u"Too big"_s);
    QCOMPARE(m_hub->count("huge/Llama-Huge/resolve"), std::size_t{0});
    QTRY_VERIFY(program.row(gguf).data(Qt::ToolTipRole).toString().contains(u"3 quantizations"_s));
    QCOMPARE(program.row(gguf).data(HubModel::BadgeRole).toString(), QString());
    QVERIFY(program.row(gated).data(HubModel::GatedRole).toBool());
    QVERIFY(program.row(gated).data(Qt::ToolTipRole).toString().contains(u"token"_s));
    QCOMPARE(m_hub->count("closed/Llama-Gated"), std::size_t{0});

    // Another machine, other badges, and nothing is read again.
    m_hub->clearRequests();
    Workload workload = program.session.workload();
    workload.contextTokens = 8192;
    program.session.setWorkload(workload);
    QTRY_COMPARE(program.text("hubCaption"), u"tok/s at 8,192 tokens of context"_s);
    QVERIFY(m_hub->requests().empty());

    // What is not on screen is not read.
    program.type(u"crowd"_s);
    QTRY_VERIFY(program.shows(30, u"crowd/"_s));
    QTRY_COMPARE(program.row(program.hits()->model()->index(0, 0).data(HubModel::ReferenceRole).toString())
                     .data(HubModel::BadgeRole)
                     .toString(),
                 u"Fits"_s);
    QTest::qWait(600);
    const QModelIndex last = program.hits()->model()->index(29, 0);
    QCOMPARE(last.data(HubModel::BadgeRole).toString(), QString());
}

void TestHubWindow::hitOpens()
{
    Browser browser;
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    program.enterHub();
    program.type(u"one"_s);
    QTRY_COMPARE(program.hitCount(), 1);
    program.click(program.row(one));
    QTRY_COMPARE(program.session.selectedId(), one);
    QCOMPARE(program.session.selectedCheckpoint()->spec.layers, std::uint32_t{2});
    QCOMPARE(program.text("verdictBadge"), u"Fits"_s);

    QVERIFY(program.find<QWidget>("sourceBar")->isVisible());
    QTRY_COMPARE(program.find<QToolButton>("sourcePage")->text(), one); // once it has its width
    QCOMPARE(program.text("sourceState"), u"live"_s);
    QCOMPARE(program.text("sourceCommit"), toText(m_hub->commitOf("tiny/Llama-One")).left(7));
    QVERIFY(!program.find<QComboBox>("sourceChoice")->isVisible());
    QTest::mouseClick(program.find<QToolButton>("sourcePage"), Qt::LeftButton);
    QCOMPARE(browser.opened, QStringList{toText(m_hub->endpoint()) + u"/tiny/Llama-One"_s});
    program.picture("opened");

    // It is in the list of the other section, can be pinned, and undone.
    const CatalogModel *catalog = program.session.catalogModel();
    QCOMPARE(catalog->openedCount(), 1);
    QVERIFY(catalog->indexOf(one).isValid());
    program.action("pin")->trigger();
    QVERIFY(program.session.isPinned(one));
    program.action("undo")->trigger();
    QVERIFY(!program.session.isPinned(one));
    program.action("undo")->trigger();
    QVERIFY(program.session.selectedId() != one);
    QVERIFY(!program.find<QWidget>("sourceBar")->isVisible());
    program.action("redo")->trigger();
    QCOMPARE(program.session.selectedId(), one);

    // Asking again: something was pushed meanwhile.
    m_hub->advanceCommits();
    QTest::mouseClick(program.find<QToolButton>("sourceRefresh"), Qt::LeftButton);
    QTRY_COMPARE(program.text("sourceCommit"), toText(m_hub->commitOf("tiny/Llama-One")).left(7));

    // By name, in the field at the top, with a page's address.
    auto *field = program.find<QLineEdit>("openField");
    field->setFocus();
    QTest::keyClicks(field, u"tiny/Llama-T"_s);
    QVERIFY(program.find<QLabel>("openHint")->isVisible());
    QVERIFY(program.text("openHint").contains(u"Hub"_s));
    program.picture("typed");
    field->clear();
    QTest::keyClicks(field, u"https://huggingface.co/tiny/Llama-Two"_s);
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_COMPARE(program.session.selectedId(), u"tiny/Llama-Two"_s);
}

void TestHubWindow::quantizationIsPicked()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    program.enterHub();
    program.type(u"gguf"_s);
    QTRY_COMPARE(program.hitCount(), 1);
    program.click(program.row(gguf));
    QTRY_VERIFY(program.hits()->isExpanded(program.row(gguf)));
    QCOMPARE(program.hits()->model()->rowCount(program.row(gguf)), 3);
    const QString q8 = gguf + u":Q8_0"_s;
    const QString bf16 = gguf + u":BF16"_s;
    QVERIFY(program.row(bf16).data(HubModel::SubtitleRole).toString().contains(u"2 files"_s));
    QTRY_COMPARE(program.row(q8).data(HubModel::BadgeRole).toString(), u"Fits"_s);
    QVERIFY(program.row(q8).data(HubModel::SpeedTextRole).toString().endsWith(u"tok/s"_s));
    program.picture("unfolded");

    // By keyboard: down to the choice, Enter.
    program.hits()->setFocus();
    program.hits()->setCurrentIndex(program.row(q8));
    QTest::keyClick(program.hits(), Qt::Key_Return);
    QTRY_COMPARE(program.session.selectedId(), q8);
    QCOMPARE(program.session.selectedCheckpoint()->quantization, std::string("Q8_0"));

    // And from the bar above the verdict.
    auto *choice = program.find<QComboBox>("sourceChoice");
    QTRY_VERIFY(choice->isVisible());
    QCOMPARE(choice->count(), 3);
    QVERIFY(choice->currentText().startsWith(u"Q8_0"_s));
    choice->setCurrentIndex(choice->findData(u"BF16"_s));
    emit choice->activated(choice->currentIndex());
    QTRY_COMPARE(program.session.selectedId(), bf16);
    std::size_t parts = 0;
    for (const RepositoryFile &file : program.session.selectedCheckpoint()->files)
        parts += file.counted ? 1 : 0;
    QCOMPARE(parts, std::size_t{2});
    QCOMPARE(program.session.catalogModel()->openedCount(), 2);

    // A hit that is clicked again folds.
    program.click(program.row(gguf));
    QVERIFY(!program.hits()->isExpanded(program.row(gguf)));
}

void TestHubWindow::revisionIsPicked()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring, one);
    QTRY_COMPARE(program.session.selectedId(), one);
    auto *revision = program.find<QComboBox>("sourceRevision");
    QCOMPARE(revision->currentText(), u"main"_s);
    revision->setFocus();
    QTest::keyClick(revision, Qt::Key_Down);
    QTRY_VERIFY(revision->findText(u"v2"_s) >= 0);
    revision->hidePopup();
    revision->setCurrentIndex(revision->findText(u"v2"_s));
    emit revision->activated(revision->currentIndex());
    QTRY_COMPARE(program.session.selectedId(), u"tiny/Llama-One@v2"_s);
    QCOMPARE(program.session.selectedCheckpoint()->spec.layers, std::uint32_t{3});
    QCOMPARE(revision->currentText(), u"v2"_s);

    // A commit is typed.
    const QString commit = toText(m_hub->commitOf("tiny/Llama-One"));
    revision->setFocus();
    revision->lineEdit()->selectAll();
    QTest::keyClicks(revision->lineEdit(), commit);
    QTest::keyClick(revision->lineEdit(), Qt::Key_Return);
    QTRY_COMPARE(program.session.selectedId(), one + u'@' + commit);
    QCOMPARE(program.session.selectedCheckpoint()->spec.layers, std::uint32_t{2});

    // One that does not exist is said, and changes nothing.
    revision->lineEdit()->selectAll();
    QTest::keyClicks(revision->lineEdit(), u"gone"_s);
    QTest::keyClick(revision->lineEdit(), Qt::Key_Return);
    QTRY_VERIFY(program.find<QWidget>("messageBar")->isVisible());
    QVERIFY(program.text("messageText").contains(u"no revision “gone”"_s));
    QCOMPARE(program.session.selectedId(), one + u'@' + commit);
}

void TestHubWindow::slowReadingIsCancelled()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    const QString before = program.session.selectedId();
    program.enterHub();
    program.type(u"crowd"_s);
    QTRY_VERIFY(program.shows(30, u"crowd/"_s));
    m_hub->addFault({.kind = Fault::Kind::Delay, .path = "tiny/Llama-Two", .time = std::chrono::seconds(30)});
    program.session.open(u"tiny/Llama-Two"_s);
    QTRY_VERIFY(program.find<QWidget>("readingBar")->isVisible());
    QVERIFY(program.text("readingText").contains(u"tiny/Llama-Two"_s));
    QElapsedTimer time;
    time.start();
    QTest::keyClick(&program.window, Qt::Key_Escape);
    QVERIFY(!program.find<QWidget>("readingBar")->isVisible());
    QVERIFY(!program.loader.isOpening());
    QCOMPARE(program.session.selectedId(), before);
    QVERIFY(!program.find<QWidget>("messageBar")->isVisible());
    QVERIFY(time.elapsed() < 1000);
    // The window ends at once as well; the destructor joins the thread.
}

void TestHubWindow::offlineAndBack()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    program.enterHub();
    program.type(u"one"_s);
    QTRY_COMPARE(program.hitCount(), 1);
    program.click(program.row(one));
    QTRY_COMPARE(program.session.selectedId(), one);
    QTRY_VERIFY(!program.row(one).data(HubModel::BadgeRole).toString().isEmpty()); // nothing is under way

    program.action("workOffline")->trigger();
    QVERIFY(program.bridge.isOffline());
    QVERIFY(program.text("statusText").contains(u"working offline"_s));
    m_hub->clearRequests();
    // What was read before opens, and says that it is what was read before.
    QTest::mouseClick(program.find<QToolButton>("sourceRefresh"), Qt::LeftButton);
    QTRY_COMPARE(program.text("sourceState"), u"cached"_s);
    QCOMPARE(program.session.selectedId(), one);
    // Searching needs the network.
    program.type(u"two"_s);
    QTRY_VERIFY(program.find<QPushButton>("hubAction")->isVisible());
    QCOMPARE(program.find<QPushButton>("hubAction")->text(), u"Go Online"_s);
    program.picture("offline");
    // So does what was never read.
    program.session.open(u"tiny/Llama-GGUF"_s);
    QTRY_VERIFY(program.find<QWidget>("messageBar")->isVisible());
    QVERIFY(program.text("messageText").contains(u"offline"_s));
    QVERIFY2(m_hub->requests().empty(),
             m_hub->requests().empty() ? "" : m_hub->requests().front().target.c_str());

    QTest::mouseClick(program.find<QPushButton>("hubAction"), Qt::LeftButton);
    QVERIFY(!program.bridge.isOffline());
    QVERIFY(!program.action("workOffline")->isChecked());
    QTRY_COMPARE(program.hitCount(), 1);
    QTest::mouseClick(program.find<QToolButton>("sourceRefresh"), Qt::LeftButton);
    QTRY_COMPARE(program.text("sourceState"), u"live"_s);
}

void TestHubWindow::serverGone()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    program.session.open(one);
    QTRY_COMPARE(program.session.selectedId(), one);
    const std::uint16_t port = QUrl(toText(m_hub->endpoint())).port() > 0
                                   ? static_cast<std::uint16_t>(QUrl(toText(m_hub->endpoint())).port())
                                   : std::uint16_t{0};
    m_hub.reset();
    program.enterHub();
    QTRY_VERIFY_WITH_TIMEOUT(program.find<QPushButton>("hubAction")->isVisible(), 10'000);
    QCOMPARE(program.find<QPushButton>("hubAction")->text(), u"Try Again"_s);
    QVERIFY(program.text("hubSentence").contains(u"cannot be reached"_s));
    program.picture("gone");
    program.session.open(u"tiny/Llama-GGUF"_s);
    QTRY_VERIFY_WITH_TIMEOUT(program.find<QWidget>("messageBar")->isVisible(), 10'000);
    QCOMPARE(program.find<QToolButton>("messageAction0")->text(), u"Try Again"_s);
    QCOMPARE(program.find<QToolButton>("messageAction1")->text(), u"Work Offline"_s);

    m_hub = std::make_unique<StandInHub>(s_models->path().toStdString(), port);
    QTest::mouseClick(program.find<QPushButton>("hubAction"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(program.hitCount() > 0, 10'000);
}

void TestHubWindow::rateLimit()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    m_hub->addFault({.kind = Fault::Kind::RateLimit, .path = "/api/models", .seconds = 73});
    program.enterHub();
    QTRY_VERIFY(program.find<QPushButton>("hubAction")->isVisible());
    QVERIFY2(program.text("hubSentence").contains(u"74 s"_s), qPrintable(program.text("hubSentence")));
    program.picture("limited");
    m_hub->clearFaults();
    QTest::mouseClick(program.find<QPushButton>("hubAction"), Qt::LeftButton);
    QTRY_VERIFY(program.hitCount() > 0);

    // In the background: hits stay, nothing more is asked, one line says why.
    m_hub->addFault({.kind = Fault::Kind::RateLimit, .path = "crowd", .seconds = 41});
    program.type(u"crowd"_s);
    QTRY_VERIFY(program.shows(30, u"crowd/"_s));
    QTRY_VERIFY2(program.text("hubFooterText").contains(u"42 s"_s),
                 qPrintable(program.text("hubFooterText")));
    QTest::qWait(200);
    const std::size_t asked = m_hub->requests().size();
    program.hits()->verticalScrollBar()->setValue(300);
    QTest::qWait(400);
    QCOMPARE(m_hub->requests().size(), asked);
    m_hub->clearFaults();
    QTest::mouseClick(program.find<QToolButton>("hubFooterAction"), Qt::LeftButton);
    QTRY_VERIFY(program.hits()->indexAt({40, 40}).data(HubModel::BadgeRole).toString() == u"Fits"_s);
}

void TestHubWindow::gatedLeadsToTheToken()
{
    Browser browser;
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    program.enterHub();
    program.type(u"gated"_s);
    QTRY_COMPARE(program.hitCount(), 1);
    program.click(program.row(gated));
    QTRY_VERIFY(program.find<QWidget>("messageBar")->isVisible());
    QVERIFY2(program.text("messageText").contains(u"gated"_s), qPrintable(program.text("messageText")));
    program.picture("gated");
    QTest::mouseClick(program.find<QToolButton>("messageAction0"), Qt::LeftButton);
    QCOMPARE(browser.opened, QStringList{toText(m_hub->endpoint()) + u"/closed/Llama-Gated"_s});

    program.click(program.row(gated));
    QTRY_VERIFY(program.find<QWidget>("messageBar")->isVisible());
    QTest::mouseClick(program.find<QToolButton>("messageAction1"), Qt::LeftButton);
    auto *dialog = program.find<QDialog>("hubTokenDialog");
    QTRY_VERIFY(dialog->isVisible());
    auto *state = dialog->findChild<QLabel *>(u"hubTokenState"_s);
    QVERIFY(state->text().startsWith(u"No token"_s));
    auto *entry = dialog->findChild<QLineEdit *>(u"hubTokenEntry"_s);
    auto *save = dialog->findChild<QPushButton *>(u"hubTokenSave"_s);
    QCOMPARE(entry->echoMode(), QLineEdit::Password);
    QVERIFY(!save->isEnabled());
    QTest::keyClicks(entry, token);
    QTest::mouseClick(save, Qt::LeftButton);
    QCOMPARE(entry->text(), QString());
    QTRY_COMPARE(program.account.origin(), HubAccount::Origin::Keyring);
    QTRY_VERIFY(state->text().contains(u"keyring"_s));
    QCOMPARE(m_keyring.token(m_hub->endpoint()), token.toStdString());
    for (const QWidget *widget : dialog->findChildren<QWidget *>())
        QVERIFY(!widget->toolTip().contains(token) && !widget->accessibleName().contains(token));
    QTest::mouseClick(dialog->findChild<QPushButton *>(u"hubTokenClose"_s), Qt::LeftButton);

    // Now it opens, and the token went to the Hub alone.
    program.click(program.row(gated));
    QTRY_COMPARE(program.session.selectedId(), gated);
    bool sent = false;
    for (const SeenRequest &request : m_hub->requests()) {
        if (request.cdn)
            QVERIFY(request.header("authorization").empty());
        else
            sent = sent || request.header("authorization") == "Bearer " + token.toStdString();
    }
    QVERIFY(sent);

    // And it is in no file that was written.
    program.settings.sync();
    program.window.close();
    QFile settings(m_folder->filePath(u"weir.ini"_s));
    QVERIFY(settings.open(QIODevice::ReadOnly));
    QVERIFY(!settings.readAll().contains(token.toUtf8()));

    // Removed again, the Hub is asked anonymously.
    program.account.removeToken();
    QTRY_VERIFY(!program.account.isBusy());
    QCOMPARE(program.account.origin(), HubAccount::Origin::None);
    QVERIFY(program.bridge.calls().settings().token.empty());
    QCOMPARE(m_keyring.token(m_hub->endpoint()), std::string());
}

void TestHubWindow::keyringThatFails()
{
    m_keyring.works = false;
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    program.action("hubAccount")->trigger();
    auto *dialog = program.find<QDialog>("hubTokenDialog");
    auto *note = dialog->findChild<QLabel *>(u"hubTokenNote"_s);
    QTRY_VERIFY2(note->text().contains(u"until the window closes"_s), qPrintable(note->text()));
    QTest::keyClicks(dialog->findChild<QLineEdit *>(u"hubTokenEntry"_s), token);
    QTest::mouseClick(dialog->findChild<QPushButton *>(u"hubTokenSave"_s), Qt::LeftButton);
    QTRY_VERIFY(!program.account.isBusy());
    QCOMPARE(program.account.origin(), HubAccount::Origin::Session);
    QVERIFY(dialog->findChild<QLabel *>(u"hubTokenState"_s)->text().contains(u"not kept"_s));
    QCOMPARE(program.bridge.calls().settings().token, token.toStdString());
    dialog->close();
    program.session.open(gated);
    QTRY_COMPARE(program.session.selectedId(), gated);
}

void TestHubWindow::environmentWins()
{
    HubSettings settings = hubSettings();
    settings.token = token.toStdString();
    settings.tokenOrigin = "HF_TOKEN";
    settings.offline = true;
    m_keyring.put(m_hub->endpoint(), "hf_another");
    HubProgram program(m_folder->path(), settings, m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    QVERIFY(!program.action("workOffline")->isEnabled());
    QVERIFY(program.action("workOffline")->isChecked());
    program.action("hubAccount")->trigger();
    auto *dialog = program.find<QDialog>("hubTokenDialog");
    QVERIFY(dialog->findChild<QLabel *>(u"hubTokenState"_s)->text().contains(u"HF_TOKEN"_s));
    QVERIFY(!dialog->findChild<QLineEdit *>(u"hubTokenEntry"_s)->isEnabled());
    QTest::qWait(50);
    QCOMPARE(program.account.origin(), HubAccount::Origin::Variable);
    QCOMPARE(program.bridge.calls().settings().token, token.toStdString());
    QVERIFY(m_hub->requests().empty());
}

void TestHubWindow::isRemembered()
{
    {
        HubProgram program(m_folder->path(), hubSettings(), m_keyring);
        QTRY_VERIFY(program.session.isSettled());
        program.session.open(gguf + u":Q8_0"_s);
        QTRY_COMPARE(program.session.selectedId(), gguf + u":Q8_0"_s);
        program.session.togglePin(gguf + u":Q8_0"_s);
        program.session.open(one);
        QTRY_COMPARE(program.session.selectedId(), one);
        program.enterHub();
        QTRY_VERIFY(program.hitCount() > 0);
        program.window.close();
    }
    m_hub->clearRequests();
    HubProgram program(m_folder->path(), hubSettings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    QCOMPARE(program.session.selectedId(), one);
    QVERIFY(program.session.isPinned(gguf + u":Q8_0"_s));
    QCOMPARE(program.session.pins().size(), std::size_t{4});
    QCOMPARE(program.text("sourceState"), u"cached"_s);
    // The section too, but it asks nothing by itself, and nothing was asked for the checkpoints.
    QCOMPARE(program.find<QTabWidget>("sections")->currentIndex(), 1);
    QVERIFY(program.text("hubSentence").startsWith(u"No network was used yet"_s));
    QTest::qWait(100);
    QVERIFY(m_hub->requests().empty());
    program.picture("remembered");
    QTest::mouseClick(program.find<QPushButton>("hubAction"), Qt::LeftButton);
    QTRY_VERIFY(program.hitCount() > 0);
}

void TestHubWindow::everythingHasAName()
{
    HubProgram program(m_folder->path(), hubSettings(), m_keyring, gguf);
    QTRY_COMPARE(program.session.selectedId(), gguf);
    program.enterHub();
    QTRY_VERIFY(program.hitCount() > 0);
    for (const char *section : {"hubView", "sourceBar"}) {
        const QList<QWidget *> widgets = program.find<QWidget>(section)->findChildren<QWidget *>();
        for (const QWidget *widget : widgets) {
            if (widget->focusPolicy() == Qt::NoFocus || widget->focusProxy() != nullptr
                || widget->objectName().startsWith(u"qt_"_s))
                continue;
            const bool isInner = widget->parentWidget()->inherits("QComboBox")
                                 || widget->parentWidget()->inherits("QLineEdit")
                                 || widget->parentWidget()->inherits("QAbstractScrollArea")
                                 || widget->window() != &program.window;
            if (isInner)
                continue;
            QVERIFY2(!widget->objectName().isEmpty(), widget->metaObject()->className());
            const auto *button = qobject_cast<const QAbstractButton *>(widget);
            QVERIFY2(!widget->accessibleName().isEmpty() || button != nullptr
                         || qobject_cast<const QLabel *>(widget) != nullptr,
                     qPrintable(widget->objectName()));
        }
    }
    QSet<QString> reached;
    program.find<QWidget>("openField")->setFocus();
    for (int i = 0; i < 80 && QApplication::focusWidget() != nullptr; ++i) {
        reached << QApplication::focusWidget()->objectName();
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    }
    for (const char *name : {"sectionTabs", "hubSearch", "hubSort", "hubFormat", "hubSize", "hubFitting",
                             "hubList", "sourcePage", "sourceRevision", "sourceChoice", "sourceRefresh"})
        QVERIFY2(reached.contains(QString::fromLatin1(name)), name);
}

void TestHubWindow::modelsHoldTheirContract()
{
    HubModel model;
    HubFilter filter;
    filter.setSourceModel(&model);
    const QAbstractItemModelTester modelTester(&model,
                                               QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QAbstractItemModelTester filterTester(&filter,
                                                QAbstractItemModelTester::FailureReportingMode::QtTest);
    HubHit first;
    first.id = "a/One";
    first.bytes = 20'000'000'000;
    first.format = Format::Safetensors;
    first.downloads = 1'234'567;
    first.modified = "2026-10-03T10:00:00.000Z";
    HubHit second;
    second.id = "gpt2";
    second.format = Format::Gguf;
    second.modified = "nonsense";
    model.append({first, second});
    model.append({first}); // pages move: a hit may come twice
    QCOMPARE(model.hitCount(), 2);
    QCOMPARE(model.index(0, 0).data().toString(), u"One"_s);
    QCOMPARE(model.index(0, 0).data(HubModel::SubtitleRole).toString(), u"Safetensors · 20.0 GB"_s);
    QCOMPARE(model.index(0, 0).data(HubModel::DetailRole).toString(), u"a · ↓ 1.2M · 2026-10-03"_s);
    QCOMPARE(model.index(1, 0).data(HubModel::DetailRole).toString(), QString());
    QVERIFY(model.index(1, 0).data(HubModel::FoldableRole).toBool());

    HubRepository repository;
    repository.id = "gpt2";
    repository.choices = {
        {"Q4_K_M", Format::Gguf, {"a.gguf"}, 4'000'000'000},
        {"Q8_0", Format::Gguf, {"b-00001-of-00002.gguf", "b-00002-of-00002.gguf"}, 8'000'000'000}};
    model.setRepository(u"gpt2"_s, repository);
    model.setRepository(u"not there"_s, repository);
    QCOMPARE(model.rowCount(model.index(1, 0)), 2);
    QCOMPARE(model.index(1, 0).data(HubModel::SubtitleRole).toString(), u"GGUF · 4.0 GB – 8.0 GB"_s);
    QCOMPARE(model.indexOf(u"gpt2:Q8_0"_s).data(HubModel::SubtitleRole).toString(), u"8.0 GB · 2 files"_s);
    QCOMPARE(model.reference(model.indexOf(u"gpt2:Q8_0"_s)),
             (std::optional<HubReference>{{"gpt2", "main", "Q8_0"}}));
    CatalogResult tooBig;
    tooBig.fit = Fit::TooBig;
    model.setResult(u"gpt2:Q8_0"_s, tooBig);
    filter.setFittingOnly(true);
    QCOMPARE(filter.rowCount(filter.index(1, 0)), 1);
    filter.setFittingOnly(false);
    filter.setLargestBytes(8'000'000'000);
    QCOMPARE(filter.rowCount(), 1);
    QCOMPARE(filter.rowCount(filter.index(0, 0)), 2);
    filter.setLargestBytes(0);
    model.setUnit(ByteUnit::Gibibytes);
    QCOMPARE(model.index(0, 0).data(HubModel::SubtitleRole).toString(), u"Safetensors · 18.6 GiB"_s);
    QVERIFY(!model.indexOf(u"gpt2:Q2_K"_s).isValid());
    model.clear();
    QCOMPARE(filter.rowCount(), 0);

    QCOMPARE(HubModel::shortCount(7), u"7"_s);
    QCOMPARE(HubModel::shortCount(999), u"999"_s);
    QCOMPARE(HubModel::shortCount(1000), u"1.0k"_s);
    QCOMPARE(HubModel::shortCount(340'400), u"340k"_s);
    QCOMPARE(HubModel::shortCount(999'600), u"1.0M"_s);
    QCOMPARE(HubModel::shortCount(12'345'678), u"12M"_s);
}

QTEST_MAIN(TestHubWindow)
#include "tst_hubwindow.moc"

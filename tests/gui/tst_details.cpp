// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/whatif.h"
#include "app/windowactions.h"
#include "models/items/catalogfilter.h"
#include "models/items/catalogmodel.h"
#include "models/items/text.h"
#include "tests/gui/hubmodels.h"
#include "tests/gui/hubprogram.h"
#include "tests/support/standinhub.h"
#include "widgets/comparisontable.h"
#include "widgets/downloadpanel.h"
#include "widgets/quantdialog.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QListView>
#include <QPushButton>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>

using namespace weir;
using namespace weir::test;

namespace {

const QString reference = QStringLiteral("qwen3.5-122b-a10b-int4-autoround");

QString whatIfIdOf(const QString &recipe) { return whatIfId(reference, recipe); }

void choose(QComboBox *box, const QString &data)
{
    const int index = box->findData(data);
    QVERIFY2(index >= 0, qPrintable(data));
    box->setCurrentIndex(index);
    emit box->activated(index);
}

} // namespace

/// Other quantizations, the comparison and the download, in the real window.
class TestDetails : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void anotherQuantizationFromTheTopBar();
    void byComponentInTheDialog();
    void imaginedPinsAreRemembered();
    void whatCannotBeImaginedIsSaid();
    void comparisonUnfolds();
    void downloadOfTheCatalog();
    void downloadOfTheHub();
    void imaginedOfTheHubFromTheStart();
    void durations_data();
    void durations();

private:
    HubSettings settings() const { return settingsFor(m_hub->endpoint(), m_folder->path()); }
    QTabWidget *tabs(HubProgram &program) { return program.find<QTabWidget>("detailTabs"); }

    std::unique_ptr<QTemporaryDir> m_models;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<StandInHub> m_hub;
    FakeKeyring m_keyring;

private slots:
    void init();
};

void TestDetails::initTestCase()
{
    m_models = std::make_unique<QTemporaryDir>();
    writeHubModels(m_models->path().toStdString());
    m_hub = std::make_unique<StandInHub>(m_models->path().toStdString());
}

void TestDetails::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_hub->clearRequests();
}

void TestDetails::anotherQuantizationFromTheTopBar()
{
    HubProgram program(m_folder->path(), settings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    auto *box = program.find<QComboBox>("weightsBox");
    QCOMPARE(box->currentText(), QStringLiteral("AutoRound"));
    const quint64 before = program.session.selectedAssessment()->residentBytes;

    choose(box, QStringLiteral("Q4_K_M"));
    QCOMPARE(program.session.selectedId(), whatIfIdOf(QStringLiteral("Q4_K_M")));
    QCOMPARE(box->currentText(), QStringLiteral("Q4_K_M"));
    const auto assessment = program.session.selectedAssessment();
    QVERIFY(assessment);
    QCOMPARE(toText(assessment->engineId), QStringLiteral("llama.cpp"));
    QVERIFY(assessment->residentBytes != before);
    // The same to the byte as the catalog's own derivation of that mix.
    QCOMPARE(quint64{assessment->residentBytes}, program.session.catalogModel()
                                                     ->indexOf(QStringLiteral("qwen3.5-122b-q4_k_m"))
                                                     .data(CatalogModel::SizeSortRole)
                                                     .toULongLong());
    program.picture("details-what-if");

    // It stands below its base in the list, marked, and never for its siblings.
    auto *list = program.find<QListView>("catalogList");
    QTRY_VERIFY(list->currentIndex().data(CatalogModel::ImaginedRole).toBool());
    QVERIFY(list->currentIndex().data(CatalogFilter::ChildRole).toBool());

    program.action("undo")->trigger();
    QCOMPARE(program.session.selectedId(), reference);
    QCOMPARE(box->currentText(), QStringLiteral("AutoRound"));
    choose(box, QStringLiteral("nvfp4"));
    QCOMPARE(program.session.selectedRecipe(), QStringLiteral("nvfp4"));
    choose(box, QString());
    QCOMPARE(program.session.selectedId(), reference);
}

void TestDetails::byComponentInTheDialog()
{
    HubProgram program(m_folder->path(), settings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    const double before = program.session.selectedAssessment()->decode->tokensPerSecond;
    QTest::keyClick(&program.window, Qt::Key_I, Qt::ControlModifier);
    auto *dialog = program.window.findChild<QuantDialog *>();
    QVERIFY(dialog != nullptr);
    QVERIFY(QTest::qWaitForWindowExposed(dialog));
    auto *show = dialog->findChild<QPushButton *>(QStringLiteral("quantShow"));
    QVERIFY(!show->isEnabled()); // nothing is changed yet

    auto *head = dialog->findChild<QComboBox *>(QStringLiteral("quant_lm_head"));
    auto *shared = dialog->findChild<QComboBox *>(QStringLiteral("quant_shared_expert"));
    QVERIFY(head != nullptr && shared != nullptr);
    head->setCurrentIndex(head->findData(QStringLiteral("int8")));
    shared->setCurrentIndex(shared->findData(QStringLiteral("fp8")));
    auto *text = dialog->findChild<QLineEdit *>(QStringLiteral("quantRecipe"));
    QCOMPARE(text->text(), QStringLiteral("shared_expert=fp8,lm_head=int8"));
    QVERIFY(show->isEnabled());
    const QString preview = dialog->findChild<QLabel *>(QStringLiteral("quantPreview"))->text();
    QVERIFY2(preview.contains(QStringLiteral("instead of 6.5 GB")), qPrintable(preview));
    QVERIFY2(preview.contains(QStringLiteral("Derived, not measured")), qPrintable(preview));
    if (!qEnvironmentVariable("WEIR_TEST_PICTURES").isEmpty())
        dialog->grab().save(qEnvironmentVariable("WEIR_TEST_PICTURES")
                            + QStringLiteral("/details-dialog.png"));

    // What is typed shows in the boxes, and what is wrong is said.
    text->setText(QStringLiteral("nonsense"));
    QVERIFY(!show->isEnabled());
    QVERIFY(dialog->findChild<QLabel *>(QStringLiteral("quantPreview"))
                ->text()
                .contains(QStringLiteral("nonsense")));
    text->setText(QStringLiteral("lm_head=int8"));
    QCOMPARE(head->currentData().toString(), QStringLiteral("int8"));
    QCOMPARE(shared->currentIndex(), 0);

    // What no box shows, or not under that name, survives a change of another.
    text->setText(QStringLiteral("Q4_K_M,lm_head=Q5_0,router=Q8_0"));
    QCOMPARE(head->currentData().toString(), QStringLiteral("Q5_0"));
    QVERIFY(shared->findData(QStringLiteral("Q6_K")) >= 0 && shared->findData(QStringLiteral("fp8")) < 0);
    shared->setCurrentIndex(shared->findData(QStringLiteral("Q6_K")));
    QCOMPARE(text->text(), QStringLiteral("Q4_K_M,shared_expert=Q6_K,router=Q8_0,lm_head=Q5_0"));
    text->setText(QStringLiteral("lm_head=int8"));

    QTest::mouseClick(show, Qt::LeftButton);
    QCOMPARE(program.session.selectedRecipe(), QStringLiteral("lm_head=int8"));
    const auto assessment = program.session.selectedAssessment();
    QVERIFY(assessment->decode->tokensPerSecond > before);
    // Half of the output matrix, plus a scale for each of its rows.
    const ComponentSum *lmHead = assessment->checkpoint->sum(Component::LmHead);
    QVERIFY(lmHead != nullptr);
    QCOMPARE(quint64{lmHead->bytes}, quint64{248320} * 3072 + lmHead->bytesByDtype.at("BF16"));
}

void TestDetails::imaginedPinsAreRemembered()
{
    const QString imagined = whatIfIdOf(QStringLiteral("Q8_0"));
    {
        HubProgram program(m_folder->path(), settings(), m_keyring);
        QTRY_VERIFY(program.session.isSettled());
        QTest::keyClick(&program.window, Qt::Key_I, Qt::ControlModifier);
        auto *dialog = program.window.findChild<QuantDialog *>();
        dialog->findChild<QLineEdit *>(QStringLiteral("quantRecipe"))->setText(QStringLiteral("Q8_0"));
        QTest::mouseClick(dialog->findChild<QPushButton *>(QStringLiteral("quantPin")), Qt::LeftButton);
        QVERIFY(program.session.isPinned(imagined));
        QCOMPARE(program.session.selectedId(), reference); // only pinned
        QTRY_VERIFY(program.session.isSettled());
    }
    HubProgram again(m_folder->path(), settings(), m_keyring);
    QTRY_VERIFY(again.session.isSettled());
    QVERIFY(again.session.isPinned(imagined));
    const auto found = std::ranges::find(again.session.pins(), imagined, &Pin::id);
    QVERIFY(found != again.session.pins().end());
    QCOMPARE(toText(found->assessment->checkpoint->quantization), QStringLiteral("Q8_0"));
    QVERIFY(m_hub->requests().empty()); // none of this needs the network
}

void TestDetails::whatCannotBeImaginedIsSaid()
{
    HubProgram program(m_folder->path(), settings(), m_keyring,
                       QStringLiteral("qwen2.5-7b-q4_k_m --quant mtp=int8"));
    QTRY_VERIFY(program.session.isSettled());
    // Never half: the checkpoint as it is, and a sentence.
    QTRY_COMPARE(program.session.selectedId(), QStringLiteral("qwen2.5-7b-q4_k_m"));
    auto *message = program.find<QLabel>("messageText");
    QVERIFY(message->isVisible());
    QVERIFY2(message->text().contains(QStringLiteral("mtp")), qPrintable(message->text()));
}

void TestDetails::comparisonUnfolds()
{
    HubProgram program(m_folder->path(), settings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    auto *table = program.find<ComparisonTable>("comparisonTable");
    tabs(program)->setCurrentWidget(table);
    auto *tree = program.find<QTreeWidget>("comparisonRows");
    QCOMPARE(tree->topLevelItemCount(), 3); // the selected one and two pins
    QTreeWidgetItem *first = tree->topLevelItem(0);
    QCOMPARE(first->childCount(), 4);
    QVERIFY(!first->isExpanded());
    QVERIFY(first->text(0).contains(QStringLiteral("+4")));
    // The numbers are those of the assessment.
    QCOMPARE(first->text(1), toText(formatBytes(program.session.selectedAssessment()->residentBytes)));
    tree->setFocus();
    tree->setCurrentItem(first);
    QTest::keyClick(tree, Qt::Key_Right);
    QVERIFY(first->isExpanded());
    program.picture("details-compare");
    QVERIFY(table->asText().contains(QStringLiteral("127.15 GB")));

    // A slider keeps it unfolded; Enter selects, Space pins.
    Workload workload = program.session.workload();
    workload.contextTokens = 32768;
    program.session.setWorkload(workload);
    QVERIFY(tree->topLevelItem(0)->isExpanded());
    QVERIFY(tree->headerItem()->text(5).contains(QStringLiteral("32,768")));
    QTreeWidgetItem *child = tree->topLevelItem(0)->child(0);
    const QString id = child->data(0, Qt::UserRole).toString();
    tree->setCurrentItem(child);
    QTest::keyClick(tree, Qt::Key_Space);
    QVERIFY(program.session.isPinned(id));
    tree->setCurrentItem(tree->topLevelItem(0)->child(1));
    const QString second = tree->currentItem()->data(0, Qt::UserRole).toString();
    QTest::keyClick(tree, Qt::Key_Return);
    QTRY_COMPARE(program.session.selectedId(), second);
}

void TestDetails::downloadOfTheCatalog()
{
    HubProgram program(m_folder->path(), settings(), m_keyring);
    QTRY_VERIFY(program.session.isSettled());
    tabs(program)->setCurrentWidget(program.find<DownloadPanel>("downloadPanel"));
    QCOMPARE(program.text("downloadSummary"), QStringLiteral("72.4 GB"));
    auto *command = program.find<QLineEdit>("downloadCommand");
    QCOMPARE(command->text(), QStringLiteral("hf download Intel/Qwen3.5-122B-A10B-int4-AutoRound"));
    auto *link = program.find<QDoubleSpinBox>("linkSpeed");
    link->setValue(1000);
    QCOMPARE(program.text("downloadTime"), QStringLiteral("about 10 min"));
    QTRY_VERIFY(program.text("downloadRoom").contains(QStringLiteral("free")));
    program.picture("details-download-catalog");

    program.session.select(QStringLiteral("qwen2.5-7b-q4_k_m"));
    QTRY_COMPARE(command->text(), QStringLiteral("ollama pull qwen2.5:7b"));
    QTest::mouseClick(program.find<QToolButton>("copyDownloadCommand"), Qt::LeftButton);
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("ollama pull qwen2.5:7b"));

    // What is imagined has no files.
    QVERIFY(program.session.imagine(QStringLiteral("Q8_0"), false).has_value());
    QVERIFY(!command->isVisible());
    QVERIFY(program.text("downloadState").contains(QStringLiteral("imagined")));

    program.settings.sync();
    HubProgram again(m_folder->path(), settings(), m_keyring);
    QCOMPARE(again.find<QDoubleSpinBox>("linkSpeed")->value(), 1000.0);
}

void TestDetails::downloadOfTheHub()
{
    HubProgram program(m_folder->path(), settings(), m_keyring, QStringLiteral("tiny/Llama-GGUF:BF16"));
    QTRY_VERIFY(program.session.isSettled());
    QTRY_COMPARE(program.session.selectedId(), QStringLiteral("tiny/Llama-GGUF:BF16"));
    tabs(program)->setCurrentWidget(program.find<DownloadPanel>("downloadPanel"));
    auto *files = program.find<QTableWidget>("downloadFiles");
    QCOMPARE(files->rowCount(), 2); // both parts of the split, none of the other quantizations
    const QString command = program.find<QLineEdit>("downloadCommand")->text();
    QVERIFY2(command.startsWith(QStringLiteral("hf download tiny/Llama-GGUF --revision=")),
             qPrintable(command));
    QVERIFY2(command.contains(QStringLiteral("--include=")), qPrintable(command));
    QVERIFY2(!command.contains(QStringLiteral("Q8_0")), qPrintable(command));
    program.picture("details-download-hub");
}

void TestDetails::imaginedOfTheHubFromTheStart()
{
    HubProgram program(m_folder->path(), settings(), m_keyring,
                       QStringLiteral("tiny/Llama-One --quant Q8_0"));
    QTRY_VERIFY(program.session.isSettled());
    QTRY_COMPARE(program.session.selectedId(), QStringLiteral("tiny/Llama-One --quant Q8_0"));
    // Below the one it is imagined of, among those opened here.
    const CatalogModel *model = program.session.catalogModel();
    const QModelIndex base = model->indexOf(QStringLiteral("tiny/Llama-One"));
    const QModelIndex imagined = model->indexOf(program.session.selectedId());
    QCOMPARE(imagined.row(), base.row() + 1);
    QVERIFY(imagined.data(CatalogModel::OpenedRole).toBool());
    QCOMPARE(imagined.data(CatalogModel::FamilyRole), base.data(CatalogModel::FamilyRole));
}

void TestDetails::durations_data()
{
    QTest::addColumn<double>("seconds");
    QTest::addColumn<QString>("text");
    QTest::newRow("short") << 3.0 << QStringLiteral("less than a minute");
    QTest::newRow("minutes") << 600.0 << QStringLiteral("about 10 min");
    QTest::newRow("hours") << 6000.0 << QStringLiteral("about 1 h 40 min");
    QTest::newRow("whole hours") << 7200.0 << QStringLiteral("about 2 h");
    QTest::newRow("days") << 86400.0 * 3 << QStringLiteral("about 3 days");
    QTest::newRow("never") << std::numeric_limits<double>::infinity()
                           << QStringLiteral("longer than anybody waits");
}

void TestDetails::durations()
{
    QFETCH(double, seconds);
    QTEST(durationText(seconds), "text");
}

QTEST_MAIN(TestDetails)
#include "tst_details.moc"

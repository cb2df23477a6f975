// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/filedialog.h"
#include "app/hubaccount.h"
#include "app/library.h"
#include "app/loader.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/windowactions.h"
#include "app/windowwording.h"
#include "models/items/catalogfilter.h"
#include "models/items/catalogmodel.h"
#include "models/items/measurementmodel.h"
#include "models/items/text.h"
#include "tests/support/hubfakes.h"
#include "tests/support/safetensorsbuilder.h"
#include "widgets/contextscale.h"
#include "widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMimeData>
#include <QScrollArea>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

using namespace weir;

namespace {

const QString referenceId = QStringLiteral("qwen3.5-122b-a10b-int4-autoround");
const QString denseId = QStringLiteral("llama3.1-70b-q4_k_m");

/// One window with settings of its own, as a user would start it.
struct Program
{
    explicit Program(const QString &settingsFile, const QString &argument = {})
        : settings(settingsFile)
        , library(Library::read())
        , bridge(test::noHub())
        , account(bridge, keyring.calls())
        , loader(library.catalog)
        , session(library, settings, loader)
        , window(session, loader, bridge, account, settings, wording)
    {
        session.start(argument);
        window.show();
        // Keys reach active windows only; without a window manager nobody else makes it one.
        window.activateWindow();
        if (!QTest::qWaitForWindowActive(&window))
            qWarning("the window did not become active");
    }

    template <typename Widget>
    Widget *find(const char *name)
    {
        auto *widget = window.findChild<Widget *>(QString::fromLatin1(name));
        if (widget == nullptr)
            qFatal("no widget named %s", name);
        return widget;
    }

    QString text(const char *label) { return find<QLabel>(label)->text(); }

    QAction *action(const char *name)
    {
        auto *found = window.findChild<QAction *>(QString::fromLatin1(name));
        if (found == nullptr)
            qFatal("no action named %s", name);
        return found;
    }

    bool dropOn(QWidget *target, const QString &path)
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        const QPoint middle = target->rect().center();
        QDragEnterEvent enter(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(target, &enter);
        if (!enter.isAccepted())
            return false;
        QDropEvent drop(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(target, &drop);
        return drop.isAccepted();
    }

    WindowWording wording;
    Settings settings;
    Library library;
    test::FakeKeyring keyring;
    HubBridge bridge;
    HubAccount account;
    Loader loader;
    Session session;
    MainWindow window;
};

/// A small Llama, complete enough to be read.
void writeModel(const QString &folder)
{
    const std::filesystem::path path = folder.toStdString();
    test::writeFile(path / "config.json",
                    R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256,
                        "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
                        "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 1000, "torch_dtype": "bfloat16",
                        "max_position_embeddings": 8192, "tie_word_embeddings": false})");
    test::SafetensorsBuilder builder;
    builder.add("model.embed_tokens.weight", "BF16", {1000, 256});
    builder.add("lm_head.weight", "BF16", {1000, 256});
    builder.add("model.norm.weight", "BF16", {256});
    for (int layer = 0; layer < 2; ++layer) {
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        builder.add(prefix + "input_layernorm.weight", "BF16", {256});
        builder.add(prefix + "post_attention_layernorm.weight", "BF16", {256});
        builder.add(prefix + "self_attn.q_proj.weight", "BF16", {256, 256});
        builder.add(prefix + "self_attn.k_proj.weight", "BF16", {128, 256});
        builder.add(prefix + "self_attn.v_proj.weight", "BF16", {128, 256});
        builder.add(prefix + "self_attn.o_proj.weight", "BF16", {256, 256});
        builder.add(prefix + "mlp.gate_proj.weight", "BF16", {512, 256});
        builder.add(prefix + "mlp.up_proj.weight", "BF16", {512, 256});
        builder.add(prefix + "mlp.down_proj.weight", "BF16", {256, 512});
    }
    builder.write(path / "model.safetensors");
}

bool isReachable(const QWidget *widget) { return widget->isVisible() && !widget->visibleRegion().isEmpty(); }

} // namespace

class TestWindow : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void firstStartShowsTheArgument();
    void contextSliderChangesTheVerdict();
    void contextIsTyped_data();
    void contextIsTyped();
    void kvTypesAreThoseOfTheEngine();
    void reserveHasADefault();
    void tooBigNamesWhatIsMissing();
    void machineAndEngine();
    void pinAndUndo();
    void selectingInTheListAndUndo();
    void filterKeepsTheSelection();
    void siblingsAreOneRowThatUnfolds();
    void modelFamilies_data();
    void modelFamilies();
    void typedNameOpens();
    void completionOpens();
    void droppedFolderOpens();
    void badInputShowsOneSentence_data();
    void badInputShowsOneSentence();
    void slowReadingCanBeCancelled();
    void lateResultsAreDropped();
    void themeAndUnit();
    void nothingIsClippedAt1280();
    void everythingHasAName();
    void keyboardReachesEverything();
    void actionsFollowTheState();
    void exportAndCopy();
    void settingsAreRemembered();
    void emptyCatalogSaysWhatToDo();
    void catalogModelsHoldTheirContract();

private:
    QString settingsFile() const { return m_folder->filePath(QStringLiteral("weir.ini")); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestWindow::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
}

void TestWindow::cleanup() { m_folder.reset(); }

void TestWindow::firstStartShowsTheArgument()
{
    Program program(settingsFile());
    QTRY_COMPARE(program.session.selectedId(), referenceId);
    QTRY_VERIFY(program.session.isSettled());
    QCOMPARE(program.session.pins().size(), std::size_t{3});
    QCOMPARE(program.text("verdictBadge"), QStringLiteral("Fits"));
    QVERIFY2(program.text("verdictHeadline").endsWith(QStringLiteral(" tok/s")),
             qPrintable(program.text("verdictHeadline")));
    QVERIFY(program.text("verdictContext").contains(QStringLiteral("at 4,096 tokens of context")));
    QCOMPARE(
        program.text("verdictWhy"),
        QStringLiteral("It reads 6.5 of the 72.4 GB it holds for each token: 8 of 256 experts wake up."));
    QVERIFY(program.text("verdictDetail").contains(QStringLiteral("262,144 (the model's own limit)")));
    QVERIFY(program.text("statusText").contains(QStringLiteral("no network was used yet")));
    QVERIFY(program.window.windowTitle().contains(QStringLiteral("Qwen3.5-122B-A10B")));

    // Every row of the catalog has its badge, and the list says for which context.
    const CatalogModel *model = program.session.catalogModel();
    QVERIFY(model->rowCount() >= 30);
    for (int row = 0; row < model->rowCount(); ++row)
        QVERIFY2(!model->index(row).data(CatalogModel::BadgeRole).toString().isEmpty(),
                 qPrintable(model->index(row).data(CatalogModel::IdRole).toString()));
    QCOMPARE(program.text("catalogCaption"), QStringLiteral("tok/s at 4,096 tokens of context"));
    QVERIFY(!program.find<QWidget>("messageBar")->isVisible());
}

void TestWindow::contextSliderChangesTheVerdict()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *slider = program.find<QSlider>("contextSlider");
    QCOMPARE(ContextScale::tokensAt(slider->value()), std::uint64_t{4096});
    const QString before = program.text("verdictHeadline");
    const QString noteBefore = program.text("contextNote");

    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_End);
    QCOMPARE(program.session.workload().contextTokens, std::uint64_t{1048576});
    QVERIFY(program.text("verdictHeadline") != before);
    QVERIFY(program.text("contextNote") != noteBefore);
    // The list follows when the slider rests, and says so.
    QTRY_COMPARE(program.text("catalogCaption"), QStringLiteral("tok/s at 1,048,576 tokens of context"));

    QTest::keyClick(slider, Qt::Key_Home);
    QCOMPARE(program.session.workload().contextTokens, std::uint64_t{256});
    QTest::keyClick(slider, Qt::Key_PageUp);
    QCOMPARE(program.session.workload().contextTokens, std::uint64_t{512});

    auto *streams = program.find<QSlider>("concurrencySlider");
    streams->setFocus();
    QTest::keyClick(streams, Qt::Key_Right);
    QCOMPARE(program.session.workload().concurrency, std::uint32_t{2});
    QVERIFY(program.text("verdictContext").contains(QStringLiteral("each of 2, at")));
    QVERIFY(program.text("verdictDetail").contains(QStringLiteral("together")));
}

void TestWindow::contextIsTyped_data()
{
    QTest::addColumn<QString>("typed");
    QTest::addColumn<qulonglong>("tokens");
    QTest::newRow("plain") << QStringLiteral("32768") << qulonglong{32768};
    QTest::newRow("with commas") << QStringLiteral("32,768") << qulonglong{32768};
    QTest::newRow("in k") << QStringLiteral("32k") << qulonglong{32768};
    QTest::newRow("between steps of the slider") << QStringLiteral("1616") << qulonglong{1616};
    QTest::newRow("none") << QStringLiteral("0") << qulonglong{0};
    QTest::newRow("beyond the slider") << QStringLiteral("2M") << qulonglong{2097152};
}

void TestWindow::contextIsTyped()
{
    QFETCH(QString, typed);
    QFETCH(qulonglong, tokens);
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *entry = program.find<QSpinBox>("contextEntry");
    entry->setFocus();
    entry->selectAll();
    QTest::keyClicks(entry, typed);
    QTest::keyClick(entry, Qt::Key_Return);
    QCOMPARE(qulonglong{program.session.workload().contextTokens}, tokens);
    QVERIFY(program.text("verdictContext").contains(toText(formatCount(tokens))));
}

void TestWindow::kvTypesAreThoseOfTheEngine()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *keys = program.find<QComboBox>("kDtype");
    const Engine *engine = program.session.engineFor(*program.session.selectedCheckpoint());
    QVERIFY(engine != nullptr);
    QCOMPARE(keys->count(), static_cast<int>(engine->kvDtypes.size()));
    const int fp8 = keys->findText(QStringLiteral("FP8"));
    QVERIFY(fp8 > 0);
    const std::uint64_t before = program.session.selectedAssessment()->memory.kvBytes;
    keys->setCurrentIndex(fp8);
    QCOMPARE(program.session.workload().kDtype, std::string("fp8"));
    QVERIFY(program.session.selectedAssessment()->memory.kvBytes < before);
    // The pinned ones run on llama.cpp, which has no such type: that is said.
    QVERIFY(program.session.hasKvFallback());
    QVERIFY(!program.text("kvNote").isEmpty());
}

void TestWindow::reserveHasADefault()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *entry = program.find<QDoubleSpinBox>("reserveEntry");
    auto *standard = program.find<QToolButton>("reserveDefault");
    QVERIFY(!program.session.workload().reserveBytes.has_value());
    QVERIFY(!standard->isVisible());
    const double before = entry->value();
    entry->setFocus();
    entry->selectAll();
    QTest::keyClicks(entry, QStringLiteral("4"));
    QTest::keyClick(entry, Qt::Key_Return);
    QCOMPARE(program.session.workload().reserveBytes.value_or(0), std::uint64_t{4000000000});
    QCOMPARE(program.session.selectedAssessment()->memory.reserveBytes, std::uint64_t{4000000000});
    QVERIFY(standard->isVisible());
    QTest::mouseClick(standard, Qt::LeftButton);
    QVERIFY(!program.session.workload().reserveBytes.has_value());
    QCOMPARE(entry->value(), before);
}

void TestWindow::tooBigNamesWhatIsMissing()
{
    Program program(settingsFile(), QStringLiteral("deepseek-v3.2"));
    QTRY_COMPARE(program.session.selectedId(), QStringLiteral("deepseek-v3.2"));
    QCOMPARE(program.text("verdictBadge"), QStringLiteral("Too big"));
    QVERIFY(program.text("verdictHeadline").endsWith(QStringLiteral("short")));
    QVERIFY(!program.text("verdictHeadline").contains(QStringLiteral("tok/s")));
    QVERIFY(program.text("verdictWhy").contains(QStringLiteral("It needs")));
}

void TestWindow::machineAndEngine()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *machines = program.find<QComboBox>("machineBox");
    const int card = machines->findData(QStringLiteral("rtx-4090"));
    QVERIFY(card >= 0);
    machines->setCurrentIndex(card);
    emit machines->activated(card);
    QCOMPARE(program.session.machine()->id, std::string("rtx-4090"));
    QCOMPARE(program.text("verdictBadge"), QStringLiteral("Too big"));
    QVERIFY(program.window.windowTitle().contains(QStringLiteral("4090")));
    QVERIFY(program.text("reserveNote").contains(QStringLiteral("1 GB")));

    auto *engines = program.find<QComboBox>("engineBox");
    QVERIFY(engines->itemText(0).startsWith(QStringLiteral("auto: ")));
    const int mlx = engines->findData(QStringLiteral("mlx"));
    engines->setCurrentIndex(mlx);
    emit engines->activated(mlx);
    QCOMPARE(program.text("verdictHeadline"), QStringLiteral("Cannot load"));
    QVERIFY(!program.text("verdictWhy").isEmpty());
    // The choice belongs to this checkpoint alone.
    program.session.select(denseId);
    QCOMPARE(program.session.engineChoice(), QString());
    QCOMPARE(engines->currentIndex(), 0);
}

void TestWindow::pinAndUndo()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    QAction *pin = program.action("pin");
    QVERIFY(pin->isEnabled());
    QVERIFY(!pin->isChecked());
    QTest::keyClick(&program.window, Qt::Key_D, Qt::ControlModifier);
    QVERIFY(program.session.isPinned(referenceId));
    QVERIFY(pin->isChecked());
    const CatalogModel *model = program.session.catalogModel();
    QVERIFY(model->indexOf(referenceId).data(CatalogModel::PinnedRole).toBool());

    program.action("undo")->trigger();
    QVERIFY(!program.session.isPinned(referenceId));
    program.action("redo")->trigger();
    QVERIFY(program.session.isPinned(referenceId));

    // Space on a row of the list unpins it.
    auto *list = program.find<QListView>("catalogList");
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Space);
    QVERIFY(!program.session.isPinned(referenceId));
    QCOMPARE(program.session.pins().size(), std::size_t{3});
}

void TestWindow::selectingInTheListAndUndo()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *list = program.find<QListView>("catalogList");
    QCOMPARE(list->currentIndex().data(CatalogModel::IdRole).toString(), referenceId);
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Down);
    const QString second = list->currentIndex().data(CatalogModel::IdRole).toString();
    QVERIFY(second != referenceId);
    QTRY_COMPARE(program.session.selectedId(), second);

    program.action("undo")->trigger();
    QCOMPARE(program.session.selectedId(), referenceId);
    QCOMPARE(list->currentIndex().data(CatalogModel::IdRole).toString(), referenceId);

    const QModelIndex third = list->model()->index(2, 0);
    list->scrollTo(third);
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(third).center());
    QTRY_COMPARE(program.session.selectedId(), third.data(CatalogModel::IdRole).toString());
}

void TestWindow::filterKeepsTheSelection()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *filter = program.find<QLineEdit>("catalogFilter");
    auto *list = program.find<QListView>("catalogList");
    const int all = list->model()->rowCount();
    QTest::keyClick(&program.window, Qt::Key_F, Qt::ControlModifier);
    QTRY_VERIFY(filter->hasFocus());
    QTest::keyClicks(filter, QStringLiteral("gpt oss"));
    QTRY_VERIFY(list->model()->rowCount() < all);
    QVERIFY(list->model()->rowCount() > 0);
    for (int row = 0; row < list->model()->rowCount(); ++row)
        QVERIFY(list->model()->index(row, 0).data().toString().contains(QStringLiteral("gpt-oss")));
    QCOMPARE(program.session.selectedId(), referenceId);

    QTest::keyClicks(filter, QStringLiteral(" nothing like it"));
    QTRY_VERIFY(isReachable(program.find<QLabel>("catalogEmpty")));
    QVERIFY(program.text("catalogEmpty").contains(QStringLiteral("Escape")));
    QTest::keyClick(filter, Qt::Key_Escape);
    QTRY_COMPARE(list->model()->rowCount(), all);
    QTRY_COMPARE(list->currentIndex().data(CatalogModel::IdRole).toString(), referenceId);

    auto *show = program.find<QComboBox>("catalogShow");
    show->setCurrentIndex(1);
    QVERIFY(list->model()->rowCount() < all);
    auto *order = program.find<QComboBox>("catalogOrder");
    order->setCurrentIndex(order->findText(QStringLiteral("Fastest")));
    double last = 1e9;
    for (int row = 0; row < list->model()->rowCount(); ++row) {
        const double speed = list->model()->index(row, 0).data(CatalogModel::SpeedSortRole).toDouble();
        QVERIFY(speed <= last);
        last = speed;
    }
    QCOMPARE(program.session.selectedId(), referenceId);
}

void TestWindow::siblingsAreOneRowThatUnfolds()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *list = program.find<QListView>("catalogList");
    const auto rowOf = [list](const QString &id) {
        for (int row = 0; row < list->model()->rowCount(); ++row) {
            if (list->model()->index(row, 0).data(CatalogModel::IdRole).toString() == id)
                return row;
        }
        return -1;
    };
    // One row a model; the reference stands for its five quantizations.
    QSet<QString> families;
    for (int row = 0; row < list->model()->rowCount(); ++row) {
        const QString family = list->model()->index(row, 0).data(CatalogModel::FamilyRole).toString();
        QVERIFY2(!families.contains(family), qPrintable(family));
        families.insert(family);
    }
    const int folded = list->model()->rowCount();
    const QModelIndex head = list->model()->index(rowOf(referenceId), 0);
    const int siblings = head.data(CatalogFilter::SiblingsRole).toInt();
    QCOMPARE(siblings, 5);
    QVERIFY(!head.data(CatalogFilter::UnfoldedRole).toBool());

    // The arrow at the left of the row, with the mouse; the selection stays.
    const QRect rect = list->visualRect(head);
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, QPoint(rect.left() + 17, rect.center().y()));
    QCOMPARE(list->model()->rowCount(), folded + siblings - 1);
    QCOMPARE(program.session.selectedId(), referenceId);
    const QString fp8 = QStringLiteral("qwen3.5-122b-a10b-fp8");
    QVERIFY(rowOf(fp8) > rowOf(referenceId) && rowOf(fp8) < rowOf(referenceId) + siblings);
    QVERIFY(list->model()->index(rowOf(fp8), 0).data(CatalogFilter::ChildRole).toBool());

    // Folding over a selected sibling hands the selection to the row that stays.
    list->setFocus();
    list->setCurrentIndex(list->model()->index(rowOf(fp8), 0));
    QTRY_COMPARE(program.session.selectedId(), fp8);
    QTest::keyClick(list, Qt::Key_Left);
    QCOMPARE(list->model()->rowCount(), folded);
    QTRY_COMPARE(program.session.selectedId(), referenceId);

    // Selected from elsewhere, a hidden one is shown.
    program.session.select(fp8);
    QTRY_VERIFY(rowOf(fp8) >= 0);
    QTRY_COMPARE(list->currentIndex().row(), rowOf(fp8));
    QTest::keyClick(list, Qt::Key_Right);
    QCOMPARE(list->model()->rowCount(), folded + siblings - 1);

    // A text to search for shows all that have it.
    QTest::keyClick(list, Qt::Key_Left);
    QTest::keyClicks(program.find<QLineEdit>("catalogFilter"), QStringLiteral("30b-a3b fp8"));
    QTRY_COMPARE(list->model()->rowCount(), 1);
    QCOMPARE(list->model()->index(0, 0).data(CatalogModel::IdRole).toString(),
             QStringLiteral("qwen3-30b-a3b-fp8"));
}

void TestWindow::modelFamilies_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("family");
    const auto row = [](const char *name, const char *family) {
        QTest::newRow(name) << QString::fromLatin1(name) << QString::fromLatin1(family);
    };
    row("Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b");
    row("nvidia/Qwen3-30B-A3B-NVFP4", "qwen3-30b-a3b");
    row("mlx-community/Qwen3-30B-A3B-4bit", "qwen3-30b-a3b");
    row("Intel/Qwen3.5-122B-A10B-int4-AutoRound", "qwen3.5-122b-a10b");
    row("ggml-org/Qwen3.6-35B-A3B-MTP-GGUF", "qwen3.6-35b-a3b");
    row("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "llama-3.1-8b-instruct");
    row("Qwen/Qwen3-32B-FP8-Static-PerTensor", "qwen3-32b");
    row("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "llama-3.1-8b-instruct");
    row("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron-3-nano-30b-a3b");
    row("Qwen3-8B-Q4_K_M", "qwen3-8b");
    row("Qwen3-8B-IQ4_XS", "qwen3-8b");
    row("gguf", "gguf");
}

void TestWindow::modelFamilies()
{
    QFETCH(QString, name);
    QTEST(modelFamily(name), "family");
}

void TestWindow::typedNameOpens()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *field = program.find<QLineEdit>("openField");
    QTest::keyClick(&program.window, Qt::Key_K, Qt::ControlModifier);
    QTRY_VERIFY(field->hasFocus());
    QTest::keyClicks(field, QStringLiteral("openai/gpt-oss-20b"));
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_COMPARE(program.session.selectedId(), QStringLiteral("gpt-oss-20b"));
    QVERIFY(!program.find<QWidget>("messageBar")->isVisible());
}

void TestWindow::completionOpens()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *field = program.find<QLineEdit>("openField");
    field->setFocus();
    QTest::keyClicks(field, QStringLiteral("mixtral"));
    auto *popup = qobject_cast<QAbstractItemView *>(QApplication::activePopupWidget());
    QTRY_VERIFY((popup = qobject_cast<QAbstractItemView *>(QApplication::activePopupWidget())) != nullptr);
    QVERIFY(popup->model()->rowCount() >= 1);
    QTest::keyClick(popup, Qt::Key_Down);
    QTest::keyClick(popup, Qt::Key_Return);
    QTRY_VERIFY2(program.session.selectedId().startsWith(QStringLiteral("mixtral")),
                 qPrintable(program.session.selectedId()));
}

void TestWindow::droppedFolderOpens()
{
    const QString folder = m_folder->filePath(QStringLiteral("tiny llama"));
    writeModel(folder);
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());

    QVERIFY(program.dropOn(&program.window, folder));
    QTRY_COMPARE(program.session.selectedCheckpoint()->spec.layers, std::uint32_t{2});
    QVERIFY(program.session.selectedId() != referenceId);
    QCOMPARE(program.session.catalogModel()->openedCount(), 1);
    auto *list = program.find<QListView>("catalogList");
    QCOMPARE(list->model()->index(0, 0).data(CatalogFilter::SectionRole).toString(),
             QStringLiteral("Opened here"));
    QCOMPARE(list->currentIndex().row(), 0);
    QVERIFY(program.text("verdictWhy").contains(QStringLiteral("dense")));

    // The same file dropped on the field, and the file itself.
    QVERIFY(
        program.dropOn(program.find<QWidget>("openField"), folder + QStringLiteral("/model.safetensors")));
    QTRY_VERIFY(!program.loader.isOpening());

    program.action("undo")->trigger();
    QTRY_VERIFY(program.session.selectedId() == referenceId
                || program.session.selectedCheckpoint()->spec.layers == std::uint32_t{2});

    // Text without a file is none of the window's business.
    QMimeData text;
    text.setText(QStringLiteral("hello"));
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &text, Qt::LeftButton, Qt::NoModifier);
    enter.ignore();
    QApplication::sendEvent(&program.window, &enter);
    QVERIFY(!enter.isAccepted());
}

void TestWindow::badInputShowsOneSentence_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("empty gguf") << QStringLiteral("empty.gguf") << QByteArray();
    QTest::newRow("page as config") << QStringLiteral("config.json")
                                    << QByteArray("<!DOCTYPE html><html><body>404</body></html>");
    QTest::newRow("huge header") << QStringLiteral("model.safetensors")
                                 << QByteArray("\x00\x00\x00\x00\x00\x00\x00\x80{}", 10);
    QTest::newRow("diffusion") << QStringLiteral(
        "config.json") << QByteArray(R"({"_class_name": "FluxPipeline", "_diffusers_version": "0.30"})");
    QTest::newRow("missing") << QString() << QByteArray();
}

void TestWindow::badInputShowsOneSentence()
{
    QFETCH(QString, name);
    QFETCH(QByteArray, content);
    QString path = m_folder->filePath(QStringLiteral("no such folder"));
    if (!name.isEmpty()) {
        path = m_folder->filePath(name);
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    auto *field = program.find<QLineEdit>("openField");
    field->setFocus();
    field->setText(path);
    QTest::keyClick(field, Qt::Key_Return);

    auto *bar = program.find<QWidget>("messageBar");
    QTRY_VERIFY(bar->isVisible());
    const QString sentence = program.text("messageText");
    // One sentence, and for what is no language model a line of what is known of it.
    const QStringList lines = sentence.split(QLatin1Char('\n'));
    QVERIFY2(lines.front().size() > 20 && lines.front().endsWith(QLatin1Char('.')), qPrintable(sentence));
    QVERIFY2(lines.size() <= (QLatin1String(QTest::currentDataTag()) == QLatin1String("diffusion") ? 2 : 1),
             qPrintable(sentence));
    QVERIFY(!program.find<QWidget>("readingBar")->isVisible());

    // Still the same window, and usable.
    QCOMPARE(program.session.selectedId(), referenceId);
    QCOMPARE(field->text(), path);
    QTest::mouseClick(program.find<QToolButton>("messageCopy"), Qt::LeftButton);
    QCOMPARE(QApplication::clipboard()->text(), sentence);
    QTest::mouseClick(program.find<QToolButton>("messageClose"), Qt::LeftButton);
    QVERIFY(!bar->isVisible());
    program.session.select(denseId);
    QCOMPARE(program.session.selectedId(), denseId);
}

void TestWindow::slowReadingCanBeCancelled()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    program.loader.setOpener([](std::string_view argument, const Catalog &, std::stop_token stop,
                                const ProgressCallback &progress) -> Result<CheckpointPtr> {
        progress({2, 10, "model-00003-of-00010.safetensors"});
        while (!stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return fail("cancelled", ErrorKind::Unreadable, std::string(argument));
    });
    QSignalSpy cancelled(&program.loader, &Loader::cancelled);
    program.session.open(QStringLiteral("/slow/model"));
    auto *bar = program.find<QWidget>("readingBar");
    QTRY_VERIFY(bar->isVisible());
    QTRY_VERIFY(program.text("readingText").contains(QStringLiteral("2 of 10 files")));
    QVERIFY(program.action("cancelReading")->isEnabled());
    // The window answers meanwhile.
    program.session.select(denseId);
    QCOMPARE(program.session.selectedId(), denseId);
    QTest::mouseClick(program.find<QToolButton>("readingCancel"), Qt::LeftButton);
    QCOMPARE(cancelled.size(), 1);
    QVERIFY(!bar->isVisible());
    QVERIFY(!program.action("cancelReading")->isEnabled());
    QVERIFY(!program.find<QWidget>("messageBar")->isVisible());
    QCOMPARE(program.session.selectedId(), denseId);
}

void TestWindow::lateResultsAreDropped()
{
    const Library library = Library::read();
    std::atomic<bool> release = false;
    QSignalSpy *results = nullptr;
    {
        Loader loader(library.catalog);
        loader.setOpener([&release](std::string_view argument, const Catalog &, std::stop_token,
                                    const ProgressCallback &) -> Result<CheckpointPtr> {
            // Deaf to stop requests, as a reader on a hung file system is.
            while (argument == "/first" && !release)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            auto checkpoint = std::make_shared<Checkpoint>();
            checkpoint->id = argument;
            return checkpoint;
        });
        QSignalSpy opened(&loader, &Loader::opened);
        results = &opened;
        loader.open(QStringLiteral("/first"));
        loader.open(QStringLiteral("/second"));
        QTRY_COMPARE(opened.size(), 1);
        QCOMPARE(opened.at(0).at(0).toString(), QStringLiteral("/second"));
        release = true;
        QTest::qWait(50);
        QCOMPARE(results->size(), 1);
        loader.open(QStringLiteral("/third"));
        // The destructor cancels and joins: nothing runs on.
    }
}

void TestWindow::themeAndUnit()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    program.action("themeDark")->trigger();
    QVERIFY(Theme::of(&program.window).dark);
    const QImage dark = program.window.grab().toImage();
    program.action("themeLight")->trigger();
    QVERIFY(!Theme::of(&program.window).dark);
    const QImage light = program.window.grab().toImage();
    QVERIFY(dark != light);
    const QPoint corner(4, light.height() - 40); // the left column's surface
    QVERIFY(light.pixelColor(corner).lightness() > 200);
    QVERIFY(dark.pixelColor(corner).lightness() < 60);

    QVERIFY(program.text("verdictWhy").contains(QStringLiteral("72.4 GB")));
    QTest::mouseClick(program.find<QToolButton>("unitButton"), Qt::LeftButton);
    QCOMPARE(program.session.unit(), ByteUnit::Gibibytes);
    QVERIFY(program.text("verdictWhy").contains(QStringLiteral("67.4 GiB")));
    QVERIFY(program.find<QToolButton>("unitButton")->text().startsWith(QStringLiteral("GiB")));
    QTest::keyClick(&program.window, Qt::Key_U, Qt::ControlModifier);
    QCOMPARE(program.session.unit(), ByteUnit::Gigabytes);
}

void TestWindow::nothingIsClippedAt1280()
{
    Program program(settingsFile());
    program.window.resize(1280, 800);
    QTRY_VERIFY(program.session.isSettled());
    QCOMPARE(program.window.size(), QSize(1280, 800));
    const QList<QToolButton *> buttons = program.window.findChildren<QToolButton *>();
    for (const QToolButton *button : buttons) {
        if (!button->isVisible())
            continue;
        QVERIFY2(button->width() >= button->sizeHint().width()
                     && button->height() >= button->sizeHint().height(),
                 qPrintable(button->objectName()));
    }
    // Text in one line is shown whole; text that wraps has the height it asks for.
    const QList<QLabel *> labels = program.window.findChildren<QLabel *>();
    for (const QLabel *label : labels) {
        if (!label->isVisible() || label->text().isEmpty())
            continue;
        if (label->wordWrap())
            QTRY_VERIFY2(label->height() >= label->heightForWidth(label->width()),
                         qPrintable(label->objectName())); // a layout asked for a moment ago may be pending
        else if (label->sizePolicy().horizontalPolicy() != QSizePolicy::Ignored)
            QVERIFY2(label->width() >= label->sizeHint().width(), qPrintable(label->text()));
    }
    for (const char *name :
         {"verdictBar", "memoryBar", "residentChart", "speedPlot", "detailTabs", "contextSlider"}) {
        const auto *widget = program.find<QWidget>(name);
        QVERIFY2(widget->visibleRegion().boundingRect().size() == widget->size(), name);
    }
}

void TestWindow::everythingHasAName()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    const QList<QWidget *> widgets = program.window.findChildren<QWidget *>();
    for (const QWidget *widget : widgets) {
        if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible() || widget->focusProxy() != nullptr
            || widget->objectName().startsWith(QStringLiteral("qt_")))
            continue;
        const bool isInner = widget->parentWidget() != nullptr
                             && (widget->parentWidget()->inherits("QAbstractSpinBox")
                                 || widget->parentWidget()->inherits("QComboBox")
                                 || widget->parentWidget()->inherits("QLineEdit")
                                 || widget->parentWidget()->inherits("QTabWidget")
                                 || widget->parentWidget()->inherits("QAbstractScrollArea")
                                 || widget->parentWidget()->inherits("weir::Chart"));
        if (isInner)
            continue;
        QVERIFY2(!widget->objectName().isEmpty(), widget->metaObject()->className());
        const auto *button = qobject_cast<const QAbstractButton *>(widget);
        const bool named = !widget->accessibleName().isEmpty()
                           || (button != nullptr && !button->text().isEmpty())
                           || widget->inherits("QScrollArea")
                           || (qobject_cast<const QLabel *>(widget) != nullptr
                               && !static_cast<const QLabel *>(widget)->text().isEmpty());
        QVERIFY2(named, qPrintable(widget->objectName()));
    }
}

void TestWindow::keyboardReachesEverything()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    QSet<QString> reached;
    QWidget *start = program.find<QWidget>("openField");
    start->setFocus();
    for (int i = 0; i < 80 && QApplication::focusWidget() != nullptr; ++i) {
        reached << QApplication::focusWidget()->objectName();
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        if (QApplication::focusWidget() == start)
            break;
    }
    for (const char *name :
         {"machineBox",       "engineBox",         "pinButton",   "exportMenuButton", "mainMenuButton",
          "sectionTabs",      "catalogFilter",     "catalogShow", "catalogOrder",     "catalogList",
          "memoryBar",        "residentChart",     "speedPlot",   "contextEntry",     "contextSlider",
          "concurrencyEntry", "concurrencySlider", "kDtype",      "vDtype",           "reserveEntry",
          "timeBreakdown",    "unitButton"})
        QVERIFY2(reached.contains(QString::fromLatin1(name)), name);
}

void TestWindow::actionsFollowTheState()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    for (const char *name :
         {"openFile", "openFolder", "pin", "exportSpeed", "exportResident", "exportMemory", "exportTime",
          "copyComponents", "copyMeasurements", "toggleUnit", "themeDark", "quit"})
        QVERIFY2(program.action(name)->isEnabled(), name);
    for (const char *name : {"undo", "redo", "cancelReading"})
        QVERIFY2(!program.action(name)->isEnabled(), name);
    // No two commands share a shortcut.
    QSet<QKeySequence> taken;
    const QList<QAction *> actions = program.window.findChildren<QAction *>();
    for (const QAction *action : actions) {
        if (action->objectName().isEmpty() || action->objectName().startsWith(QLatin1Char('_')))
            continue;
        const QList<QKeySequence> shortcuts = action->shortcuts();
        for (const QKeySequence &shortcut : shortcuts) {
            QVERIFY2(!taken.contains(shortcut), qPrintable(shortcut.toString()));
            taken << shortcut;
        }
    }
}

void TestWindow::exportAndCopy()
{
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    for (const char *name : {"exportSpeed", "exportResident", "exportMemory", "exportTime"}) {
        const QString file = m_folder->filePath(QString::fromLatin1(name) + QStringLiteral(".png"));
        FileDialog::setNextAnswer(file);
        program.action(name)->trigger();
        QVERIFY2(!QImage(file).isNull(), name);
        QVERIFY(program.text("messageText").contains(file));
    }
    FileDialog::setNextAnswer(m_folder->filePath(QStringLiteral("no/such/folder/x.png")));
    program.action("exportSpeed")->trigger();
    QVERIFY(program.text("messageText").startsWith(QStringLiteral("Cannot write")));
    program.action("copyMeasurements")->trigger();
    QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("founding-article-1")));
    program.action("copyComponents")->trigger();
    QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("60246982656"))
            || QApplication::clipboard()->text().contains(QStringLiteral("60,246,982,656")));
}

void TestWindow::settingsAreRemembered()
{
    const QString folder = m_folder->filePath(QStringLiteral("kept"));
    writeModel(folder);
    {
        Program program(settingsFile());
        QTRY_VERIFY(program.session.isSettled());
        program.session.setMachine(QStringLiteral("strix-halo-128"));
        Workload workload = program.session.workload();
        workload.contextTokens = 32768;
        workload.concurrency = 4;
        program.session.setWorkload(workload);
        program.session.setUnit(ByteUnit::Gibibytes);
        program.session.open(folder);
        QTRY_VERIFY(program.session.selectedCheckpoint()->spec.layers == 2);
        program.session.togglePin(denseId);
        program.action("themeDark")->trigger();
        program.window.resize(1500, 860);
        program.window.close();
    }
    Program program(settingsFile());
    QTRY_VERIFY(program.session.isSettled());
    QCOMPARE(program.session.machine()->id, std::string("strix-halo-128"));
    QCOMPARE(program.session.workload().contextTokens, std::uint64_t{32768});
    QCOMPARE(program.session.workload().concurrency, std::uint32_t{4});
    QCOMPARE(program.session.unit(), ByteUnit::Gibibytes);
    QTRY_VERIFY(program.session.selectedCheckpoint() != nullptr);
    QCOMPARE(program.session.selectedCheckpoint()->spec.layers, std::uint32_t{2});
    QVERIFY(!program.session.isPinned(denseId));
    QVERIFY(Theme::of(&program.window).dark);
    QCOMPARE(program.window.size(), QSize(1500, 860));
    program.action("themeLight")->trigger();
}

void TestWindow::emptyCatalogSaysWhatToDo()
{
    const QByteArray before = qgetenv("WEIR_DATA_DIR");
    QTemporaryDir empty;
    qputenv("WEIR_DATA_DIR", empty.path().toUtf8());
    {
        Program program(settingsFile());
        QTRY_VERIFY(program.session.isSettled());
        QVERIFY(isReachable(program.find<QLabel>("catalogEmpty")));
        QVERIFY(program.text("verdictWhy").contains(QStringLiteral("Drop a model folder")));
        QVERIFY(!program.action("pin")->isEnabled());
        QVERIFY(!program.action("exportSpeed")->isEnabled());
        program.window.grab();
    }
    qputenv("WEIR_DATA_DIR", before);
}

void TestWindow::catalogModelsHoldTheirContract()
{
    const Library library = Library::read();
    CatalogModel model;
    CatalogFilter filter;
    filter.setSourceModel(&model);
    const QAbstractItemModelTester modelTester(&model,
                                               QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QAbstractItemModelTester filterTester(&filter,
                                                QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setCatalog(*library.catalog);
    QCOMPARE(model.catalogCount(), model.rowCount());
    Checkpoint opened;
    opened.id = "/models/own";
    opened.name = "own";
    model.addOpened(opened);
    QCOMPARE(model.openedCount(), 1);
    model.addOpened(opened);
    QCOMPARE(model.openedCount(), 1);
    model.setPinned({referenceId});
    CatalogResult result;
    result.fit = Fit::TooBig;
    model.setResults({{referenceId, result}});
    filter.setMinimumFit(Fit::Tight);
    QVERIFY(!filter.mapFromSource(model.indexOf(referenceId)).isValid());
    filter.setMinimumFit(Fit::Unknown);
    filter.setOrder(CatalogFilter::Order::Size);
    filter.setText(QStringLiteral("Q4_K_M qwen2.5"));
    QCOMPARE(filter.rowCount(), 2);
    filter.setText({});
    QCOMPARE(filter.index(0, 0).data(CatalogModel::IdRole).toString(), QStringLiteral("/models/own"));
    model.setCatalog(Catalog());
    QCOMPARE(model.rowCount(), 1);

    MeasurementModel measurements;
    const QAbstractItemModelTester tester(&measurements,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    MeasurementRow row;
    row.measurement.decodeTokensPerSecond = 10.0;
    row.measurement.draftMethod = "mtp";
    row.measurement.draftTokens = 2;
    row.measurement.concurrency = 1;
    row.predicted = 11.0;
    measurements.setRows({row, MeasurementRow()});
    QCOMPARE(measurements.index(0, MeasurementModel::Requests).data().toString(), QStringLiteral("1, MTP-2"));
    QCOMPARE(measurements.index(0, MeasurementModel::Difference).data().toString(),
             QStringLiteral("+10.0 %"));
    QCOMPARE(measurements.index(1, MeasurementModel::Difference).data().toString(), QString());
    QCOMPARE(measurements.index(1, MeasurementModel::Context).data().toString(),
             QStringLiteral("not stated"));
    measurements.setRows({});
    QCOMPARE(measurements.rowCount(), 0);
}

QTEST_MAIN(TestWindow)
#include "tst_window.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "samplepins.h"

#include "models/base/units.h"
#include "models/items/componentmodel.h"
#include "widgets/amount.h"
#include "widgets/componenttable.h"
#include "widgets/labelplacer.h"
#include "widgets/ladder.h"
#include "widgets/memorybar.h"
#include "widgets/residentchart.h"
#include "widgets/speedplot.h"
#include "widgets/timebreakdown.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolTip>

#include <cmath>
#include <limits>

using namespace weir;

namespace {

/// The element of a chart whose text begins with some words; -1 for none.
int elementNamed(const Chart &chart, const QString &words)
{
    for (int i = 0; i < chart.elementCount(); ++i) {
        if (chart.elementText(i).startsWith(words))
            return i;
    }
    return -1;
}

/// No label leaves the frame, covers another one, or covers a point.
bool labelsAreApart(const SpeedLayout &layout, QRectF frame)
{
    const auto &labels = layout.labels();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (!frame.contains(labels[i].rect)) {
            qWarning() << labels[i].text << "leaves the frame";
            return false;
        }
        for (std::size_t j = i + 1; j < labels.size(); ++j) {
            if (labels[i].rect.intersects(labels[j].rect)) {
                qWarning() << labels[i].text << "covers" << labels[j].text;
                return false;
            }
        }
        for (const QPointF &point : layout.points()) {
            if (labels[i].rect.contains(point)) {
                qWarning() << labels[i].text << "covers a point";
                return false;
            }
        }
        for (const SpeedLayout::LineLabel &line : layout.lineLabels()) {
            if (lineMeetsRect(line.axis, labels[i].rect)) {
                qWarning() << labels[i].text << "covers" << line.text;
                return false;
            }
        }
    }
    return true;
}

Pins manyPins()
{
    Pins pins;
    int number = 0;
    for (const double factor : {1.0, 0.97, 1.03, 0.6, 0.5, 1.4, 0.1}) {
        Assessment assessment = number % 2 == 0 ? test::sampleMoe() : test::sampleDense7();
        assessment.decode->bytesPerStep =
            static_cast<std::uint64_t>(static_cast<double>(assessment.decode->bytesPerStep) * factor);
        assessment.decode->tokensPerSecond /= factor;
        Pin pin = test::samplePin(assessment, QStringLiteral("checkpoint-%1").arg(number), number == 0,
                                  assessment.decode->tokensPerSecond * 0.98);
        pin.id = pin.shortName;
        pins.push_back(pin);
        ++number;
    }
    return pins;
}

} // namespace

class TestCharts : public QObject
{
    Q_OBJECT

private slots:
    void ladder();
    void rangeKeepsStill();
    void themeContrast();
    void themeFollowsPalette();
    void memoryMapping();
    void memoryOverBudget();
    void memoryHoverAndKeys();
    void residentMapping();
    void residentHover();
    void residentHoldsStillWithTheContext();
    void speedMapping();
    void speedGhost();
    void speedImpossibleRegion();
    void speedHover();
    void speedDropsWhatIsNoNumber();
    void speedAsymptote();
    void speedLabelsApart_data();
    void speedLabelsApart();
    void speedAxesHoldStill();
    void timeRows();
    void emptyStates();
    void exports_data();
    void exports();
    void exportFails();
    void copyAndMenu();
    void exportIsLight();
    void componentModel();
    void componentTable();
    void accessibility();
    void updateIsFast();

private:
    test::SampleWording m_wording;
};

void TestCharts::ladder()
{
    QCOMPARE(ladderFloor(7.3), 5.0);
    QCOMPARE(ladderCeil(7.3), 10.0);
    QCOMPARE(ladderFloor(5.0), 5.0);
    QCOMPARE(ladderCeil(5.0), 5.0);
    QCOMPARE(ladderFloor(0.07), 0.05);
    QCOMPARE(ladderCeil(0.11), 0.2);
    QCOMPARE(ladderMove(1.0, -1), 0.5);
    QCOMPARE(ladderMove(0.5, 2), 2.0);
    QCOMPARE(ladderStep(137.4, 7), 20.0);
    QCOMPARE(ladderTicks(0.9, 120, 10), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
    QCOMPARE(ladderTicks(0.9, 120, 4), (std::vector<double>{1, 10, 100}));
    QVERIFY(ladderTicks(0, 10, 5).empty());
    QVERIFY(ladderTicks(1, std::numeric_limits<double>::infinity(), 5).empty());
    QCOMPARE(plainTick(0.05), QStringLiteral("0.05"));
    QCOMPARE(plainTick(2000), QStringLiteral("2,000"));
    QCOMPARE(plainAmount(72.38e9, ByteUnit::Gigabytes), QStringLiteral("72.4"));
    QCOMPARE(plainAmount(6.54e9, ByteUnit::Gigabytes), QStringLiteral("6.54"));
    QCOMPARE(plainAmount(130.7e9, ByteUnit::Gibibytes), QStringLiteral("121.7"));
    QCOMPARE(plainAmount(1e6, ByteUnit::Gigabytes), QStringLiteral("<0.01"));
    QCOMPARE(bandwidthText(273e9), QStringLiteral("273 GB/s"));
}

void TestCharts::rangeKeepsStill()
{
    StableRange range;
    QVERIFY(range.fit(4, 40, 1.5, 1.5, 1.0));
    QCOMPARE(range.low(), 2.0);
    QCOMPARE(range.high(), 100.0);
    // Inside: nothing moves.
    QVERIFY(!range.fit(5, 30, 1.5, 1.5, 1.0));
    // A rung less than needed: still nothing.
    QVERIFY(!range.fit(9, 21, 1.5, 1.5, 0.1));
    // Beyond: grows at once.
    QVERIFY(range.fit(4, 90, 1.5, 1.5, 1.0));
    QCOMPARE(range.high(), 200.0);
    // Far too generous: shrinks.
    QVERIFY(range.fit(4, 10, 1.5, 1.5, 0.1));
    QCOMPARE(range.high(), 20.0);
}

void TestCharts::themeContrast()
{
    for (const Theme *theme : {&Theme::day(), &Theme::night()}) {
        for (const QColor &surface :
             {theme->window, theme->card, theme->hoverSurface, theme->accentSurface}) {
            QVERIFY(Theme::contrast(theme->text, surface) >= 4.5);
            QVERIFY2(Theme::contrast(theme->mutedText, surface) >= 4.5,
                     qPrintable(QStringLiteral("%1 on %2: %3")
                                    .arg(theme->mutedText.name(), surface.name())
                                    .arg(Theme::contrast(theme->mutedText, surface))));
        }
        QVERIFY(Theme::contrast(theme->fits, theme->fitsSurface) >= 4.5);
        QVERIFY(Theme::contrast(theme->tight, theme->tightSurface) >= 4.5);
        QVERIFY(Theme::contrast(theme->no, theme->noSurface) >= 4.5);
        QVERIFY(Theme::contrast(theme->accent, theme->card) >= 4.5);
        QVERIFY(Theme::contrast(theme->accentText, theme->accent) >= 4.5);
        QVERIFY(Theme::contrast(theme->impossible, theme->impossibleSurface) >= 4.5);
        QVERIFY(Theme::contrast(theme->mutedText, theme->impossibleSurface) >= 4.5);
        for (const QColor &fill :
             {theme->component(Component::RoutedExperts), theme->reserve, theme->runtime})
            QVERIFY(Theme::contrast(Theme::textOn(fill), fill) >= 4.5);
        QVERIFY(Theme::contrast(theme->mutedText, theme->free) >= 4.5);
    }
    // No two components look the same.
    for (const Theme *theme : {&Theme::day(), &Theme::night()}) {
        for (const Component a : allComponents) {
            for (const Component b : allComponents)
                QVERIFY(a == b || theme->component(a) != theme->component(b));
        }
    }
    QVERIFY(Theme::isHatched(Component::Mtp));
    QVERIFY(!Theme::isHatched(Component::RoutedExperts));
}

void TestCharts::themeFollowsPalette()
{
    MemoryBar bar;
    bar.setPalette(Theme::night().palette());
    QVERIFY(Theme::of(&bar).dark);
    bar.setPalette(Theme::day().palette());
    QVERIFY(!Theme::of(&bar).dark);
}

void TestCharts::memoryMapping()
{
    MemoryBar bar;
    bar.resize(900, bar.sizeHint().height());
    const auto assessment = std::make_shared<const Assessment>(test::sampleMoe());
    bar.setAssessment(assessment, ByteUnit::Gigabytes);
    bar.updateNow();
    QCOMPARE(bar.elementCount(), 7);
    QCOMPARE(bar.elementPart(0), MemoryBar::Part::Weights);
    QCOMPARE(bar.elementPart(6), MemoryBar::Part::Hidden);

    // Widths are in proportion to bytes, and segments touch.
    const double left = bar.elementRect(0).left();
    const double whole = bar.elementRect(6).right() - left;
    const double nominal = static_cast<double>(assessment->machine.memoryBytes);
    QVERIFY(std::abs(bar.elementRect(0).width() / whole - 72.381e9 / nominal) < 1e-4);
    QVERIFY(std::abs(bar.visibleLineX() - left - whole * 130.7e9 / nominal) < 0.01);
    for (int i = 1; i < bar.elementCount(); ++i)
        QVERIFY(std::abs(bar.elementRect(i).left() - bar.elementRect(i - 1).right()) < 0.01);
    QVERIFY(bar.elementRect(6).right() <= bar.width());
}

void TestCharts::memoryOverBudget()
{
    Assessment assessment = test::sampleMoe();
    assessment.memory.weightsBytes = 150'000'000'000;
    assessment.memory.totalBytes += 150'000'000'000 - assessment.residentBytes;
    assessment.memory.fits = false;
    MemoryBar bar;
    bar.resize(900, bar.sizeHint().height());
    bar.setAssessment(std::make_shared<const Assessment>(assessment), ByteUnit::Gigabytes);
    bar.updateNow();
    const int weights = elementNamed(bar, QStringLiteral("Weights"));
    QVERIFY(bar.elementRect(weights).right() > bar.visibleLineX());
    const int last = bar.elementCount() - 1;
    QCOMPARE(bar.elementPart(last), MemoryBar::Part::Reserve);
    QVERIFY(bar.elementRect(last).right() <= bar.width());
    QVERIFY(bar.elementText(weights).contains(QStringLiteral("does not fit")));
    QVERIFY(bar.accessibleDescription().contains(QStringLiteral("Does not fit")));
}

void TestCharts::memoryHoverAndKeys()
{
    MemoryBar bar;
    bar.resize(900, bar.sizeHint().height());
    bar.setAssessment(std::make_shared<const Assessment>(test::sampleMoe()), ByteUnit::Gigabytes);
    bar.show();
    QVERIFY(QTest::qWaitForWindowExposed(&bar));
    const QString text = bar.elementText(bar.elementAt(bar.elementRect(0).center()));
    QVERIFY(text.contains(QStringLiteral("72.38 GB")));
    QVERIFY(text.contains(QStringLiteral("67.41 GiB")));
    QVERIFY(text.contains(QStringLiteral("72,381,000,000 bytes")));
    // The KV cache is a pixel wide and still found.
    const int kv = elementNamed(bar, QStringLiteral("KV cache"));
    QVERIFY(bar.elementRect(kv).width() < 2);
    QCOMPARE(bar.elementAt(bar.elementRect(kv).center()), kv);
    QCOMPARE(bar.elementAt(QPointF(1, 1)), -1);

    QCOMPARE(bar.focusPolicy(), Qt::StrongFocus);
    bar.setFocus();
    QTest::keyClick(&bar, Qt::Key_Right);
    QCOMPARE(bar.currentElement(), 0);
    QVERIFY(QToolTip::isVisible());
    QVERIFY(QToolTip::text().contains(QStringLiteral("Weights")));
    QTest::keyClick(&bar, Qt::Key_Right);
    QCOMPARE(bar.currentElement(), 1);
    QTest::keyClick(&bar, Qt::Key_End);
    QCOMPARE(bar.currentElement(), bar.elementCount() - 1);
    QTest::keyClick(&bar, Qt::Key_Right);
    QCOMPARE(bar.currentElement(), bar.elementCount() - 1);
    QTest::keyClick(&bar, Qt::Key_Home);
    QCOMPARE(bar.currentElement(), 0);
    QTest::keyClick(&bar, Qt::Key_Escape);
    QCOMPARE(bar.currentElement(), -1);
}

void TestCharts::residentMapping()
{
    ResidentChart chart(m_wording);
    chart.resize(420, 380);
    chart.setPins(test::samplePins(), ByteUnit::Gigabytes);
    chart.updateNow();
    // 9 resident and 6 streamed components, 4 and 3, 4 and 3.
    QCOMPARE(chart.elementCount(), 29);
    QCOMPARE(chart.axisMaximum(), 80.0);
    QCOMPARE(chart.legend().size(), std::size_t(10));

    const QRectF routed = chart.elementRect(0);
    const QRectF shared = chart.elementRect(1);
    QVERIFY(std::abs(shared.bottom() - routed.top()) < 0.01);
    QVERIFY(std::abs(routed.height() / shared.height() - 60.247 / 0.908) < 0.5);
    const int streamedRouted = 9;
    QVERIFY(chart.elementRect(streamedRouted).left() > routed.right());
    QVERIFY(std::abs(chart.elementRect(streamedRouted).bottom() - routed.bottom()) < 0.01);
    for (int i = 0; i < chart.elementCount(); ++i)
        QVERIFY(QRectF(chart.rect()).contains(chart.elementRect(i)));

    chart.setPins(test::samplePins(), ByteUnit::Gibibytes);
    chart.updateNow();
    QVERIFY(std::abs(chart.elementRect(0).height() / chart.elementRect(1).height() - 60.247 / 0.908) < 0.5);
}

void TestCharts::residentHover()
{
    ResidentChart chart(m_wording);
    chart.resize(420, 380);
    chart.setPins(test::samplePins(), ByteUnit::Gigabytes);
    chart.updateNow();
    const QString text = chart.elementText(chart.elementAt(chart.elementRect(0).center()));
    QVERIFY(text.startsWith(QStringLiteral("Routed experts of 122B-A10B\n")));
    QVERIFY(text.contains(QStringLiteral("60,247,000,000 bytes")));
    QVERIFY(text.contains(QStringLiteral("83 % of what it holds")));
    QVERIFY(text.contains(QStringLiteral("8 of 256 experts wake per token")));
    QVERIFY(chart.elementText(9).contains(QStringLiteral("29 % of what it reads")));
    QCOMPARE(chart.elementAt(QPointF(2, 2)), -1);
}

void TestCharts::residentHoldsStillWithTheContext()
{
    ResidentChart chart(m_wording);
    chart.resize(420, 380);
    chart.setPins(test::samplePins(), ByteUnit::Gigabytes);
    chart.updateNow();
    const QRectF before = chart.elementRect(0);
    Pins pins = test::samplePins();
    Assessment longer = test::sampleMoe();
    longer.workload.contextTokens = 262144;
    pins[0].assessment = std::make_shared<const Assessment>(longer);
    chart.setPins(pins, ByteUnit::Gigabytes);
    chart.updateNow();
    QCOMPARE(chart.elementRect(0), before);
    // Fewer checkpoints are another picture.
    pins.pop_back();
    chart.setPins(pins, ByteUnit::Gigabytes);
    QCOMPARE(chart.elementCount(), 22);
}

void TestCharts::speedMapping()
{
    SpeedPlot plot;
    plot.resize(480, 380);
    plot.setPins(test::samplePins(), ByteUnit::Gigabytes);
    plot.updateNow();
    const SpeedLayout &layout = plot.layoutOfMarks();
    QCOMPARE(plot.elementCount(), 7); // three predicted, three measured, the ghost
    QCOMPARE(layout.points().size(), std::size_t(7));

    // Log-log: equal factors are equal distances.
    SpeedScale scale;
    scale.frame = QRectF(50, 10, 300, 200);
    scale.xLow = 1;
    scale.xHigh = 1000;
    scale.yLow = 1;
    scale.yHigh = 100;
    QCOMPARE(scale.at(10, 10), QPointF(150, 110));
    QCOMPARE(scale.at(1000, 100), QPointF(350, 10));

    // Points on one line of bandwidth lie on a straight line on screen: the datasheet's ends agree with it.
    QVERIFY(layout.datasheetLine());
    QVERIFY(layout.effectiveLine());
    QVERIFY(std::abs(layout.datasheetLine()->angle() - layout.effectiveLine()->angle()) < 0.2);

    // More bytes are further right, more speed further up; every point is inside its widget.
    for (std::size_t i = 0; i < layout.points().size(); ++i) {
        QVERIFY(QRectF(plot.rect()).contains(plot.elementRect(static_cast<int>(i))));
        for (std::size_t j = 0; j < layout.points().size(); ++j) {
            const SpeedMark &a = plot.marks().marks[i];
            const SpeedMark &b = plot.marks().marks[j];
            if (a.bytesPerStep < b.bytesPerStep)
                QVERIFY(layout.points()[i].x() < layout.points()[j].x());
            if (a.tokensPerSecond > b.tokensPerSecond)
                QVERIFY(layout.points()[i].y() < layout.points()[j].y());
        }
    }
    QVERIFY(plot.xRange().low() <= 4.37 / 2.5);
    QVERIFY(plot.xRange().high() >= 72.4);
}

void TestCharts::speedGhost()
{
    SpeedPlot plot;
    plot.resize(520, 400);
    plot.setPins(test::samplePins(), ByteUnit::Gigabytes);
    plot.updateNow();
    const auto &marks = plot.marks().marks;
    const auto ghost = std::ranges::find(marks, SpeedMark::Kind::Ghost, &SpeedMark::kind);
    QVERIFY(ghost != marks.end());
    QCOMPARE(ghost->bytesPerStep, 72.381e9);
    QCOMPARE(ghost->tokensPerSecond, marks[0].tokensPerSecond);
    QVERIFY(plot.marks().isImpossible(*ghost));
    QStringList words;
    for (const SpeedLayout::Label &label : plot.layoutOfMarks().labels())
        words << label.text;
    QVERIFY2(words.contains(QStringLiteral("resident 72.4")), qPrintable(words.join(QLatin1Char('|'))));
    QVERIFY2(words.contains(QStringLiteral("reads 9 % of what it holds")),
             qPrintable(words.join(QLatin1Char('|'))));
    QVERIFY(words.contains(QStringLiteral("impossible: an input is wrong")));
    for (const char *name : {"122B-A10B", "Llama-70B", "Qwen2.5-7B"})
        QVERIFY(words.contains(QLatin1String(name)));
    const QString text = plot.elementText(static_cast<int>(ghost - marks.begin()));
    QVERIFY(text.contains(QStringLiteral("GB/s")));
    QVERIFY(text.contains(QStringLiteral("an input is wrong")));

    // A dense model has no ghost, and neither has a MoE that is not selected.
    Pins pins = test::samplePins();
    pins[0].selected = false;
    pins[1].selected = true;
    plot.setPins(pins, ByteUnit::Gigabytes);
    QVERIFY(std::ranges::find(plot.marks().marks, SpeedMark::Kind::Ghost, &SpeedMark::kind)
            == plot.marks().marks.end());
}

void TestCharts::speedImpossibleRegion()
{
    SpeedPlot plot;
    plot.resize(480, 380);
    plot.setPins(test::samplePins(), ByteUnit::Gigabytes);
    plot.updateNow();
    const SpeedLayout &layout = plot.layoutOfMarks();
    for (std::size_t i = 0; i < layout.points().size(); ++i) {
        const bool shaded = layout.region().containsPoint(layout.points()[i], Qt::OddEvenFill);
        QCOMPARE(shaded, plot.marks().isImpossible(plot.marks().marks[i]));
    }
    // Without a datasheet there is neither line nor region.
    Pins pins = test::samplePins();
    for (Pin &pin : pins) {
        Assessment assessment = *pin.assessment;
        assessment.machine.bandwidthBytesPerSecond.reset();
        pin.assessment = std::make_shared<const Assessment>(assessment);
    }
    plot.setPins(pins, ByteUnit::Gigabytes);
    plot.updateNow();
    QVERIFY(!plot.layoutOfMarks().datasheetLine());
    QVERIFY(plot.layoutOfMarks().region().isEmpty());
}

void TestCharts::speedHover()
{
    SpeedPlot plot;
    plot.resize(480, 380);
    plot.setPins(test::samplePins(), ByteUnit::Gigabytes);
    plot.updateNow();
    const int predicted = elementNamed(plot, QStringLiteral("Llama-70B, predicted"));
    QCOMPARE(plot.elementAt(plot.elementRect(predicted).center()), predicted);
    const QString text = plot.elementText(predicted);
    QVERIFY(text.startsWith(QStringLiteral("Llama-70B, predicted\n")));
    QVERIFY(text.contains(QStringLiteral("4,096 tokens of context")));
    QVERIFY(text.contains(QStringLiteral("Ollama")));
    QVERIFY(text.contains(QStringLiteral("GiB")));
    const int measured = elementNamed(plot, QStringLiteral("122B-A10B, measured"));
    const QString row = plot.elementText(measured);
    QVERIFY(row.contains(QStringLiteral("27.2 tok/s")));
    QVERIFY(row.contains(QStringLiteral("2,304 tokens of context, vllm 0.21")));
    QVERIFY(row.contains(QStringLiteral("published table")));
    QCOMPARE(plot.elementAt(QPointF(1, 1)), -1);
}

void TestCharts::speedDropsWhatIsNoNumber()
{
    Pins pins = test::samplePins();
    Assessment broken = test::sampleDense70();
    broken.decode->tokensPerSecond = std::numeric_limits<double>::quiet_NaN();
    pins[1].assessment = std::make_shared<const Assessment>(broken);
    pins[1].measured.clear();
    Assessment infinite = test::sampleDense7();
    infinite.decode->high = std::numeric_limits<double>::infinity();
    infinite.decode->effectiveBandwidthBytesPerSecond = -1;
    pins[2].assessment = std::make_shared<const Assessment>(infinite);
    for (const double value :
         {0.0, -3.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        MeasuredPoint point = pins[2].measured[0];
        point.tokensPerSecond = value;
        pins[2].measured.push_back(point);
        point.tokensPerSecond = 10;
        point.bytesPerStep = value;
        pins[2].measured.push_back(point);
    }
    Pin silent = test::samplePin(test::sampleDense7(), QStringLiteral("silent"), false, 0);
    Assessment noSpeed = test::sampleDense7();
    noSpeed.decode.reset();
    silent.assessment = std::make_shared<const Assessment>(noSpeed);
    silent.measured.clear();
    pins.push_back(silent);

    SpeedPlot plot;
    plot.resize(480, 380);
    plot.setPins(pins, ByteUnit::Gigabytes);
    plot.updateNow();
    QCOMPARE(plot.marks().dropped, 9);
    QCOMPARE(plot.marks().withoutSpeed, 1);
    QCOMPARE(plot.elementCount(), 5);
    for (const SpeedMark &mark : plot.marks().marks) {
        QVERIFY(std::isfinite(mark.bytesPerStep) && mark.bytesPerStep > 0);
        QVERIFY(std::isfinite(mark.tokensPerSecond) && mark.tokensPerSecond > 0);
        QVERIFY(!mark.high || std::isfinite(*mark.high));
    }
    QVERIFY(std::isfinite(plot.xRange().high()) && std::isfinite(plot.yRange().high()));
    QVERIFY(plot.accessibleDescription().contains(QStringLiteral("9 points left out")));
    QVERIFY(labelsAreApart(plot.layoutOfMarks(), QRectF(plot.rect())));
}

void TestCharts::speedAsymptote()
{
    SpeedPlot plot;
    plot.resize(560, 420);
    const auto labelOfLine = [&] {
        for (const SpeedLayout::LineLabel &label : plot.layoutOfMarks().lineLabels()) {
            if (!label.isDatasheet)
                return label.text;
        }
        return QString();
    };
    plot.setPins({test::samplePin(test::sampleMoe(), QStringLiteral("MoE"), true, 27.2)},
                 ByteUnit::Gigabytes);
    plot.updateNow();
    QVERIFY(plot.marks().isAsymptote);
    QVERIFY2(labelOfLine().contains(QStringLiteral("asymptote")), qPrintable(labelOfLine()));
    plot.setPins({test::samplePin(test::sampleDense7(), QStringLiteral("dense"), true, 45.3)},
                 ByteUnit::Gigabytes);
    plot.updateNow();
    QVERIFY(!plot.marks().isAsymptote);
    QCOMPARE(labelOfLine(), QStringLiteral("199 GB/s effective"));
}

void TestCharts::speedLabelsApart_data()
{
    QTest::addColumn<int>("count");
    QTest::addColumn<QSize>("size");
    QTest::newRow("first start") << 0 << QSize(480, 380);
    QTest::newRow("first start, small") << 0 << QSize(300, 240);
    QTest::newRow("many") << 7 << QSize(480, 380);
    QTest::newRow("many, small") << 7 << QSize(300, 240);
    QTest::newRow("many, large") << 7 << QSize(1200, 800);
}

void TestCharts::speedLabelsApart()
{
    QFETCH(int, count);
    QFETCH(QSize, size);
    SpeedPlot plot;
    plot.resize(size);
    plot.setPins(count == 0 ? test::samplePins() : manyPins(), ByteUnit::Gigabytes);
    plot.updateNow();
    QVERIFY(!plot.layoutOfMarks().labels().empty());
    QVERIFY(labelsAreApart(plot.layoutOfMarks(), QRectF(plot.rect())));
}

void TestCharts::speedAxesHoldStill()
{
    SpeedPlot plot;
    plot.resize(480, 380);
    plot.setPins(test::samplePins(), ByteUnit::Gigabytes);
    const double high = plot.xRange().high();
    const double low = plot.yRange().low();
    int changes = 0;
    double before = high;
    for (int step = 0; step < 60; ++step) {
        Pins pins = test::samplePins();
        Assessment moved = test::sampleMoe();
        moved.decode->bytesPerStep += static_cast<std::uint64_t>(step) * 50'000'000;
        moved.decode->tokensPerSecond *= 1 - step * 0.005;
        pins[0].assessment = std::make_shared<const Assessment>(moved);
        plot.setPins(pins, ByteUnit::Gigabytes);
        if (plot.xRange().high() != before || plot.yRange().low() != low)
            ++changes;
        before = plot.xRange().high();
    }
    QCOMPARE(changes, 0);
}

void TestCharts::timeRows()
{
    TimeBreakdown chart;
    chart.resize(240, chart.sizeHint().height());
    const auto assessment = std::make_shared<const Assessment>(test::sampleMoe());
    chart.setAssessment(assessment, ByteUnit::Gigabytes);
    chart.resize(240, chart.sizeHint().height());
    chart.updateNow();
    QCOMPARE(chart.elementCount(), 4);
    QVERIFY(chart.elementText(0).startsWith(QStringLiteral("Weights, 6.54 GB\n32.9 ms")));
    QVERIFY(elementNamed(chart, QStringLiteral("State, read and written")) == 1);
    QVERIFY(elementNamed(chart, QStringLiteral("KV cache, 0.10 GB")) == 2);
    QVERIFY(elementNamed(chart, QStringLiteral("Fixed, per layer")) == 3);
    for (int i = 0; i < 4; ++i) {
        QVERIFY(QRectF(chart.rect()).contains(chart.elementRect(i)));
        QCOMPARE(chart.elementAt(chart.elementRect(i).center()), i);
    }
    // The dense model keeps no state and pays no fixed cost.
    chart.setAssessment(std::make_shared<const Assessment>(test::sampleDense7()), ByteUnit::Gigabytes);
    QCOMPARE(chart.elementCount(), 2);
}

void TestCharts::emptyStates()
{
    MemoryBar memory;
    ResidentChart resident(m_wording);
    SpeedPlot speed;
    TimeBreakdown time;
    ComponentTable table(m_wording);
    const std::array<Chart *, 4> charts{&memory, &resident, &speed, &time};
    for (Chart *chart : charts) {
        chart->resize(400, 300);
        QCOMPARE(chart->elementCount(), 0);
        QCOMPARE(chart->elementAt(QPointF(50, 50)), -1);
        chart->show();
        QVERIFY(!chart->grab().isNull());
        QTest::keyClick(chart, Qt::Key_Right);
        QCOMPARE(chart->currentElement(), -1);
        QVERIFY(!chart->accessibleDescription().isEmpty());
    }
    // Back to empty after something was shown.
    resident.setPins(test::samplePins(), ByteUnit::Gigabytes);
    speed.setPins(test::samplePins(), ByteUnit::Gigabytes);
    resident.setCurrentElement(3);
    speed.setCurrentElement(3);
    resident.setPins({}, ByteUnit::Gigabytes);
    speed.setPins({}, ByteUnit::Gigabytes);
    resident.updateNow();
    speed.updateNow();
    QCOMPARE(resident.currentElement(), -1);
    QCOMPARE(speed.currentElement(), -1);
    // A pin without an assessment is no bar and no point.
    Pin bare;
    bare.id = QStringLiteral("bare");
    resident.setPins({bare}, ByteUnit::Gigabytes);
    speed.setPins({bare}, ByteUnit::Gigabytes);
    QCOMPARE(resident.elementCount(), 0);
    QCOMPARE(speed.elementCount(), 0);
    table.setAssessment(nullptr, ByteUnit::Gigabytes);
    QCOMPARE(table.model()->rowCount(), 0);
}

void TestCharts::exports_data()
{
    QTest::addColumn<QString>("suffix");
    QTest::addColumn<QByteArray>("magic");
    QTest::newRow("png") << QStringLiteral("png") << QByteArray("\x89PNG");
    QTest::newRow("svg") << QStringLiteral("svg") << QByteArray("<?xml");
    QTest::newRow("pdf") << QStringLiteral("pdf") << QByteArray("%PDF");
}

void TestCharts::exports()
{
    QFETCH(QString, suffix);
    QFETCH(QByteArray, magic);
    QTemporaryDir folder;
    MemoryBar memory;
    ResidentChart resident(m_wording);
    SpeedPlot speed;
    TimeBreakdown time;
    const auto assessment = std::make_shared<const Assessment>(test::sampleMoe());
    memory.setAssessment(assessment, ByteUnit::Gigabytes);
    time.setAssessment(assessment, ByteUnit::Gigabytes);
    resident.setPins(test::samplePins(), ByteUnit::Gigabytes);
    speed.setPins(test::samplePins(), ByteUnit::Gigabytes);
    const std::array<Chart *, 4> charts{&memory, &resident, &speed, &time};
    for (Chart *chart : charts) {
        // None of them has ever been shown.
        chart->resize(chart->sizeHint());
        const QString path = folder.filePath(chart->objectName() + QLatin1Char('.') + suffix);
        QString error;
        QVERIFY2(chart->exportTo(path, &error), qPrintable(error));
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray bytes = file.readAll();
        QVERIFY(bytes.startsWith(magic));
        QVERIFY(bytes.size() > 1000);
        if (suffix == QLatin1String("svg"))
            QVERIFY(bytes.contains(chart->title().toUtf8()));
        if (suffix == QLatin1String("png"))
            QCOMPARE(QImage(path).size(), chart->size() * 2);
    }
}

void TestCharts::exportFails()
{
    MemoryBar memory;
    QString error;
    QVERIFY(!memory.exportTo(QStringLiteral("/no/such/folder/chart.png"), &error));
    QVERIFY(error.contains(QStringLiteral("/no/such/folder/chart.png")));
    QTemporaryDir folder;
    QVERIFY(!memory.exportTo(folder.filePath(QStringLiteral("chart.bmp")), &error));
    QVERIFY(error.contains(QStringLiteral(".svg")));
    QVERIFY(!QFile::exists(folder.filePath(QStringLiteral("chart.bmp"))));
}

void TestCharts::copyAndMenu()
{
    QTemporaryDir folder;
    SpeedPlot plot;
    plot.resize(480, 380);
    plot.setPins(test::samplePins(), ByteUnit::Gigabytes);
    QSignalSpy messages(&plot, &Chart::messageRaised);
    QTest::keyClick(&plot, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->image().size(), QSize(960, 760));
    QCOMPARE(messages.count(), 1);

    const QString path = folder.filePath(QStringLiteral("speed.svg"));
    QString suggested;
    Chart::setFileChooser([&](QWidget *, const QString &suggestion) {
        suggested = suggestion;
        return path;
    });
    plot.exportImage();
    QVERIFY(suggested.endsWith(QStringLiteral(".png")));
    QVERIFY(QFile::exists(path));
    QCOMPARE(messages.last().at(1).toBool(), false);
    Chart::setFileChooser([](QWidget *, const QString &) { return QStringLiteral("/no/such/folder/a.png"); });
    plot.exportImage();
    QCOMPARE(messages.last().at(1).toBool(), true);
    const qsizetype before = messages.count();
    Chart::setFileChooser([](QWidget *, const QString &) { return QString(); });
    plot.exportImage();
    QCOMPARE(messages.count(), before);
    Chart::setFileChooser({});
}

void TestCharts::exportIsLight()
{
    SpeedPlot plot;
    plot.resize(480, 380);
    plot.setPalette(Theme::night().palette());
    plot.setPins(test::samplePins(), ByteUnit::Gigabytes);
    plot.updateNow();
    const QImage image = plot.toImage(1.0);
    QCOMPARE(image.pixelColor(240, image.height() - 6), Theme::day().card);
    QCOMPARE(image.pixelColor(70, image.height() / 2), Theme::day().card);
    // And the widget is dark again.
    plot.show();
    plot.updateNow();
    QCOMPARE(plot.grab().toImage().pixelColor(240, plot.height() - 6), Theme::night().card);
}

void TestCharts::componentModel()
{
    ComponentModel model({[this](Component component) { return m_wording.componentLabel(component); },
                          [this](const Message &message) { return m_wording.title(message); },
                          [](Component) { return QVariant(); }});
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.rowCount(), 0);
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
    const Assessment moe = test::sampleMoe();
    model.setAssessment(std::make_shared<const Assessment>(moe), ByteUnit::Gigabytes);
    QCOMPARE(model.rowCount(), 10);
    QCOMPARE(resets.count(), 1);
    QCOMPARE(model.index(0, ComponentModel::Name).data().toString(), QStringLiteral("Routed experts"));
    QCOMPARE(model.index(0, ComponentModel::Resident).data().toString(), QStringLiteral("60.25 GB"));
    QCOMPARE(model.index(0, ComponentModel::Streamed).data().toString(), QStringLiteral("1.88 GB"));
    QCOMPARE(model.index(0, ComponentModel::Share).data().toString(), QStringLiteral("29 %"));
    QCOMPARE(model.index(0, ComponentModel::StoredAs).data().toString(), QStringLiteral("I32"));
    QCOMPARE(model.index(5, ComponentModel::Streamed).data().toString(), QStringLiteral("0"));
    QVERIFY(model.index(0, ComponentModel::Resident)
                .data(Qt::ToolTipRole)
                .toString()
                .contains(QStringLiteral("60,247,000,000 bytes")));
    QCOMPARE(model.index(0, ComponentModel::Resident).data(ComponentModel::SortRole).toULongLong(),
             60'247'000'000ULL);
    QVERIFY(model.index(9, 0).data(ComponentModel::TotalRole).toBool());
    QCOMPARE(model.index(9, ComponentModel::Resident).data().toString(), QStringLiteral("72.38 GB"));
    QCOMPARE(model.index(9, ComponentModel::Streamed).data().toString(), QStringLiteral("6.54 GB"));
    QCOMPARE(model.index(9, ComponentModel::Why).data().toString(), QStringLiteral("9.0 % of what it holds"));

    // The same numbers again: nothing to tell. Another unit: data. Other components: a reset.
    model.setAssessment(std::make_shared<const Assessment>(moe), ByteUnit::Gigabytes);
    QCOMPARE(changes.count(), 0);
    model.setAssessment(std::make_shared<const Assessment>(moe), ByteUnit::Gibibytes);
    QCOMPARE(changes.count(), 1);
    QCOMPARE(resets.count(), 1);
    model.setAssessment(std::make_shared<const Assessment>(test::sampleDense7()), ByteUnit::Gigabytes);
    QCOMPARE(resets.count(), 2);
    QCOMPARE(model.rowCount(), 5);
    model.setAssessment(nullptr, ByteUnit::Gigabytes);
    QCOMPARE(model.rowCount(), 0);
}

void TestCharts::componentTable()
{
    ComponentTable table(m_wording);
    table.resize(820, 200);
    table.setAssessment(std::make_shared<const Assessment>(test::sampleMoe()), ByteUnit::Gigabytes);
    table.show();
    auto *rows = table.findChild<QTableView *>(QStringLiteral("componentRows"));
    auto *total = table.findChild<QTableView *>(QStringLiteral("componentTotal"));
    QVERIFY(rows != nullptr && total != nullptr);
    QCOMPARE(rows->model()->rowCount(), 9);
    QCOMPARE(total->model()->rowCount(), 1);
    QAbstractItemModelTester tester(rows->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);

    // The total stays below whatever the order.
    const auto name = [&](int row) {
        return rows->model()->index(row, ComponentModel::Name).data().toString();
    };
    QCOMPARE(name(0), QStringLiteral("Routed experts"));
    rows->sortByColumn(ComponentModel::Resident, Qt::AscendingOrder);
    QCOMPARE(name(0), QStringLiteral("Router"));
    rows->sortByColumn(ComponentModel::Resident, Qt::DescendingOrder);
    QCOMPARE(name(0), QStringLiteral("Routed experts"));
    QCOMPARE(name(1), QStringLiteral("MTP head"));
    QCOMPARE(total->model()->index(0, 0).data().toString(), QStringLiteral("Total"));
    for (int column = 0; column < ComponentModel::ColumnCount; ++column)
        QCOMPARE(total->columnWidth(column), rows->columnWidth(column));

    // Without a selection everything is copied; with one, its rows.
    QCOMPARE(table.selectionAsText().count(QLatin1Char('\n')), 11);
    rows->selectRow(1);
    table.copySelection();
    const QStringList lines = QApplication::clipboard()->text().split(QLatin1Char('\n'));
    QCOMPARE(lines.size(), 3);
    QCOMPARE(lines[0], QStringLiteral(
                           "Component\tResident (bytes)\tStreamed per token (bytes)\tShare\tWhy\tStored as"));
    QCOMPARE(
        lines[1],
        QStringLiteral("MTP head\t5053000000\t0\t–\tidle until speculation is on; not in the index\tBF16"));

    // A slider moves: the selection stays.
    Assessment longer = test::sampleMoe();
    longer.workload.contextTokens = 131072;
    table.setAssessment(std::make_shared<const Assessment>(longer), ByteUnit::Gigabytes);
    QCOMPARE(rows->selectionModel()->selectedRows().size(), 1);
}

void TestCharts::accessibility()
{
    MemoryBar memory;
    ResidentChart resident(m_wording);
    SpeedPlot speed;
    const auto assessment = std::make_shared<const Assessment>(test::sampleMoe());
    memory.setAssessment(assessment, ByteUnit::Gigabytes);
    resident.setPins(test::samplePins(), ByteUnit::Gigabytes);
    speed.setPins(test::samplePins(), ByteUnit::Gigabytes);
    QCOMPARE(memory.accessibleName(), QStringLiteral("Memory"));
    QVERIFY(memory.accessibleDescription().contains(QStringLiteral("Weights 72.38 GB")));
    QVERIFY(resident.accessibleDescription().contains(
        QStringLiteral("122B-A10B holds 72.38 GB and reads 6.54 GB")));
    QVERIFY(speed.accessibleDescription().contains(QStringLiteral("122B-A10B: measured 27.2 tok/s")));
    QVERIFY(speed.accessibleDescription().contains(QStringLiteral("4,096 tokens of context")));
    const std::array<const QWidget *, 3> widgets{&memory, &resident, &speed};
    for (const QWidget *widget : widgets) {
        QVERIFY(!widget->objectName().isEmpty());
        for (const QWidget *child : widget->findChildren<QWidget *>())
            QVERIFY(!child->objectName().isEmpty());
    }
}

void TestCharts::updateIsFast()
{
    MemoryBar memory;
    ResidentChart resident(m_wording);
    SpeedPlot speed;
    TimeBreakdown time;
    ComponentTable table(m_wording);
    memory.resize(830, 110);
    resident.resize(370, 370);
    speed.resize(470, 370);
    time.resize(240, 140);
    table.resize(830, 200);
    const std::array<QWidget *, 5> widgets{&memory, &resident, &speed, &time, &table};
    for (QWidget *widget : widgets)
        widget->show();
    std::vector<Pins> states;
    for (int step = 0; step < 20; ++step) {
        Pins pins = test::samplePins();
        for (Pin &pin : pins) {
            Assessment moved = *pin.assessment;
            moved.workload.contextTokens += static_cast<std::uint64_t>(step) * 1000;
            moved.memory.kvBytes += static_cast<std::uint64_t>(step) * 40'000'000;
            moved.decode->bytesPerStep += static_cast<std::uint64_t>(step) * 40'000'000;
            moved.decode->tokensPerSecond *= 1 - step * 0.005;
            pin.assessment = std::make_shared<const Assessment>(moved);
        }
        states.push_back(pins);
    }
    std::vector<double> milliseconds;
    for (const Pins &pins : states) {
        QElapsedTimer timer;
        timer.start();
        memory.setAssessment(pins[0].assessment, ByteUnit::Gigabytes);
        time.setAssessment(pins[0].assessment, ByteUnit::Gigabytes);
        table.setAssessment(pins[0].assessment, ByteUnit::Gigabytes);
        resident.setPins(pins, ByteUnit::Gigabytes);
        speed.setPins(pins, ByteUnit::Gigabytes);
        QApplication::processEvents();
        QApplication::processEvents();
        milliseconds.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    std::ranges::sort(milliseconds);
    qInfo() << "all charts, update and repaint:" << milliseconds[milliseconds.size() / 2] << "ms (median)";
    // Debug builds and sanitizers take several times the 16 ms of a release build.
#ifdef NDEBUG
    QVERIFY(milliseconds[milliseconds.size() / 2] < 16);
#else
    QVERIFY(milliseconds[milliseconds.size() / 2] < 200);
#endif
}

QTEST_MAIN(TestCharts)
#include "tst_charts.moc"

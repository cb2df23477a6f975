// SPDX-License-Identifier: GPL-3.0-or-later
// The context slider goes from one end to the other: how long does each step take, from the number of the
// slider to the last pixel? By the clock, and in processor time.
#include "app/hubaccount.h"
#include "app/library.h"
#include "app/loader.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/windowwording.h"
#include "tests/support/hubfakes.h"
#include "widgets/chart.h"
#include "widgets/contextscale.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

using namespace weir;

namespace {

double processorMilliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double percentile(std::vector<double> values, std::size_t percent)
{
    std::ranges::sort(values);
    return values[(values.size() - 1) * percent / 100];
}

/// Times of one kind of work: by the clock, and of the processor alone, which other programs do not disturb.
class Times
{
public:
    template <typename Work>
    void measure(const Work &work)
    {
        QElapsedTimer timer;
        const double before = processorMilliseconds();
        timer.start();
        work();
        m_clock.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
        m_processor.push_back(processorMilliseconds() - before);
    }

    double processorMedian() const { return percentile(m_processor, 50); }

    void print(const char *what) const
    {
        std::printf("%-36s median %6.2f ms  p95 %6.2f ms  (processor %6.2f and %6.2f ms)\n", what,
                    percentile(m_clock, 50), percentile(m_clock, 95), percentile(m_processor, 50),
                    percentile(m_processor, 95));
    }

private:
    std::vector<double> m_clock;
    std::vector<double> m_processor;
};

} // namespace

class BenchRepaint : public QObject
{
    Q_OBJECT

private slots:
    void sliderEndToEnd();
};

void BenchRepaint::sliderEndToEnd()
{
    QTemporaryDir folder;
    Settings settings(folder.filePath(QStringLiteral("weir.ini")));
    WindowWording wording;
    const Library library = Library::read();
    test::FakeKeyring keyring;
    HubBridge bridge(test::noHub());
    HubAccount account(bridge, keyring.calls());
    Loader loader(library.catalog);
    Session session(library, settings, loader);
    MainWindow window(session, loader, bridge, account, settings, wording);
    session.start();
    window.resize(1920, 1080);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QTRY_VERIFY_WITH_TIMEOUT(session.isSettled(), 30000);
    QCOMPARE(session.pins().size(), std::size_t{3});
    auto *slider = window.findChild<QSlider *>(QStringLiteral("contextSlider"));
    QVERIFY(slider != nullptr);

    const auto step = [&](int position, bool everything) {
        slider->setValue(position); // assesses, words, hands to the views
        if (everything)
            window.update();
        // Queued replots, layouts, and the painting of what they marked, until nothing is left.
        QApplication::sendPostedEvents();
        QApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
    };
    Times assessing;
    Times updating;
    Times following;
    Times whole;
    for (int round = 0; round < 2; ++round) {
        for (int position = 0; position <= ContextScale::maximumPosition; ++position) {
            assessing.measure([&] {
                for (const Pin &pin : session.pins()) {
                    const Engine *engine = session.engineFor(*pin.assessment->checkpoint);
                    Workload workload;
                    workload.contextTokens = ContextScale::tokensAt(position);
                    const Assessment assessment =
                        assess(pin.assessment->checkpoint, *session.machine(), *engine, workload);
                    Q_UNUSED(assessment);
                }
            });
        }
        for (int position = 0; position <= ContextScale::maximumPosition; ++position)
            following.measure([&] { step(position, false); });
        for (int position = 0; position <= ContextScale::maximumPosition; ++position)
            whole.measure([&] { step(position, true); });
        for (int position = 0; position <= ContextScale::maximumPosition; ++position) {
            updating.measure([&] { slider->setValue(position); });
            step(position, false);
        }
    }
    std::printf("three checkpoints, %d steps from end to end, window 1920x1080, platform %s\n",
                ContextScale::maximumPosition + 1, qPrintable(QGuiApplication::platformName()));
    assessing.print("assess() of all pins");
    updating.print("numbers, words and views of a step");
    following.print("a step, painting what follows");
    whole.print("a step, painting all of the window");
    for (const char *name : {"topBar", "leftColumn", "verdictBar", "memoryBar", "residentChart", "speedPlot",
                             "detailCard", "rightColumn", "statusBar"}) {
        auto *part = window.findChild<QWidget *>(QString::fromLatin1(name));
        QVERIFY2(part != nullptr, name);
        Times times;
        for (int i = 0; i < 30; ++i)
            times.measure([part] { part->repaint(); });
        times.print((std::string("  of that ") + name).c_str());
    }
    QVERIFY2(following.processorMedian() < 16.0, "a step of the slider takes longer than a frame");
}

QTEST_MAIN(BenchRepaint)
#include "bench_repaint.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// The context slider goes from one end to the other: how long does each step take, from the number of the
// slider to the last pixel? Prints the assessments of all pins alone, and everything with a full repaint.
#include "app/library.h"
#include "app/loader.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/windowwording.h"
#include "widgets/chart.h"
#include "widgets/contextscale.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace weir;

namespace {

struct Figures
{
    double median = 0;
    double p95 = 0;
    double worst = 0;
};

Figures figuresOf(std::vector<double> milliseconds)
{
    std::ranges::sort(milliseconds);
    const std::size_t last = milliseconds.size() - 1;
    return {milliseconds[last / 2], milliseconds[last * 95 / 100], milliseconds[last]};
}

void print(const char *what, const Figures &figures)
{
    std::printf("%-42s median %6.2f ms   p95 %6.2f ms   worst %6.2f ms\n", what, figures.median, figures.p95,
                figures.worst);
}

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
    Loader loader(library.catalog);
    Session session(library, settings, loader);
    MainWindow window(session, loader, settings, wording);
    session.start();
    window.resize(1920, 1080);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QTRY_VERIFY_WITH_TIMEOUT(session.isSettled(), 30000);
    QCOMPARE(session.pins().size(), std::size_t{3});
    auto *slider = window.findChild<QSlider *>(QStringLiteral("contextSlider"));
    QVERIFY(slider != nullptr);

    std::vector<double> assessing;
    std::vector<double> updating;
    std::vector<double> whole;
    QImage picture(window.size(), QImage::Format_RGB32);
    for (int round = 0; round < 3; ++round) {
        for (int position = 0; position <= ContextScale::maximumPosition; ++position) {
            QElapsedTimer timer;
            timer.start();
            for (const Pin &pin : session.pins()) {
                const Engine *engine = session.engineFor(*pin.assessment->checkpoint);
                Workload workload;
                workload.contextTokens = ContextScale::tokensAt(position);
                const Assessment assessment =
                    assess(pin.assessment->checkpoint, *session.machine(), *engine, workload);
                Q_UNUSED(assessment);
            }
            assessing.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);

            timer.restart();
            slider->setValue(position); // assesses, words, hands to the views
            updating.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
            QApplication::sendPostedEvents(); // queued replots and layouts
            window.repaint();                 // whatever is still marked
            QApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
            whole.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
        }
    }
    const Figures assessment = figuresOf(assessing);
    const Figures all = figuresOf(whole);
    std::printf("three checkpoints, %d steps of the slider, window 1920x1080, platform %s\n",
                static_cast<int>(whole.size()), qPrintable(QGuiApplication::platformName()));
    print("assess() of all pins", assessment);
    print("of a step: numbers, words, views", figuresOf(updating));
    print("step of the slider with a full repaint", all);
    QVERIFY2(all.median < 16.0, "a step of the slider takes longer than a frame");
}

QTEST_MAIN(BenchRepaint)
#include "bench_repaint.moc"

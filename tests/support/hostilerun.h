// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/testsupport.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTest>

#include <algorithm>

/// What hostile input does to the program as it is started: its sentence, its time, its memory.
namespace weir::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool isSanitized = true;
#else
inline constexpr bool isSanitized = false;
#endif
#ifdef __OPTIMIZE__
inline constexpr double maxHostileSeconds = isSanitized ? 60 : 10; ///< "within seconds", on a busy machine
#else
inline constexpr double maxHostileSeconds = 120; ///< of a debug build
#endif

struct HostileRun
{
    bool ended = false; ///< by itself: neither a signal nor the clock
    int status = -1;
    double seconds = 0;
    double mebibytes = 0; ///< the most that it held
    QString out;
    QString err;
};

/// Runs `weir` with arguments; `environment` is added to that of the test.
inline HostileRun runWeir(const QString &scratch, const QStringList &arguments,
                          const QProcessEnvironment &environment = QProcessEnvironment::systemEnvironment())
{
    const QString report = scratch + QStringLiteral("/report");
    QFile::remove(report);
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(WEIR_MEASURED),
                  QStringList{QString::number(std::max(120.0, 2 * maxHostileSeconds)),
                              isSanitized ? QStringLiteral("0") : QStringLiteral("4096"), report,
                              QStringLiteral(WEIR_PROGRAM)}
                      + arguments);
    process.waitForFinished(300'000);
    HostileRun run;
    run.out = QString::fromUtf8(process.readAllStandardOutput());
    run.err = QString::fromUtf8(process.readAllStandardError());
    QFile file(report);
    if (!file.open(QIODevice::ReadOnly))
        return run;
    const QStringList parts = QString::fromUtf8(file.readAll()).simplified().split(QLatin1Char(' '));
    if (parts.size() != 4)
        return run;
    run.ended = parts[0] == QStringLiteral("exit");
    run.status = parts[1].toInt();
    run.seconds = parts[2].toDouble();
    run.mebibytes = parts[3].toDouble() / 1024;
    return run;
}

/// What a row of a table expects.
struct Expected
{
    int status = 3;
    QString sentence;         ///< all that is said, without the line's end; empty: nothing is said
    QString shown;            ///< part of the output; empty: whatever
    double mebibytes = 32;    ///< beyond what a run takes that reads nothing
    double seconds = maxHostileSeconds;
};

/// Prints what a row took and compares it with what is expected.
inline void checkHostile(const char *name, const HostileRun &run, const HostileRun &idle,
                         const Expected &expected)
{
    const double extra = std::max(0.0, run.mebibytes - idle.mebibytes);
    qInfo("%-28s %d  %5.2f s  %6.1f MiB  %s", name, run.status, run.seconds, extra,
          qPrintable(run.err.trimmed()));
    QVERIFY2(run.ended, "a signal or the clock ended it");
    QCOMPARE(run.err,
             expected.sentence.isEmpty() ? QString() : QString(expected.sentence + QLatin1Char('\n')));
    QCOMPARE(run.status, expected.status);
    QVERIFY2(run.out.contains(expected.shown), qPrintable(run.out));
    QVERIFY2(run.seconds <= expected.seconds, qPrintable(QString::number(run.seconds)));
    if constexpr (!isSanitized)
        QVERIFY2(extra <= expected.mebibytes, qPrintable(QString::number(extra)));
}

} // namespace weir::test

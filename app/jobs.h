// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace weir {

/// Blocking work on threads of its own, one a job, for an owner on the GUI thread. Answers travel back by
/// QMetaObject::invokeMethod() on `this`, which lives on the GUI thread; those of a job that was stopped
/// are for the owner to drop. The destructor stops and joins all that runs.
class Jobs : public QObject
{
    Q_OBJECT

public:
    using Work = std::function<void(std::stop_token stop, quint64 number)>;

    explicit Jobs(QObject *parent = nullptr);
    ~Jobs() override;

    /// Starts a job; its number is never 0 and never used again.
    quint64 start(Work work);
    /// The number that the next job gets.
    quint64 nextNumber() const { return m_lastNumber + 1; }
    /// Asks a job to end; does nothing if it has.
    void stop(quint64 number);
    bool isRunning(quint64 number) const;

private:
    struct Job
    {
        quint64 number = 0;
        std::jthread thread;
    };

    std::vector<Job> m_jobs;
    quint64 m_lastNumber = 0;
};

} // namespace weir

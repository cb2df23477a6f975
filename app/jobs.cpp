// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/jobs.h"

#include <QMetaObject>

#include <algorithm>
#include <utility>

namespace weir {

Jobs::Jobs(QObject *parent)
    : QObject(parent)
{}

Jobs::~Jobs()
{
    for (Job &job : m_jobs)
        job.thread.request_stop();
    m_jobs.clear(); // joins
}

quint64 Jobs::start(Work work)
{
    const quint64 number = ++m_lastNumber;
    Job job;
    job.number = number;
    job.thread = std::jthread([this, number, work = std::move(work)](std::stop_token stop) {
        work(std::move(stop), number);
        QMetaObject::invokeMethod(
            this,
            [this, number] {
                std::erase_if(m_jobs, [number](const Job &each) { return each.number == number; });
            },
            Qt::QueuedConnection);
    });
    m_jobs.push_back(std::move(job));
    return number;
}

void Jobs::stop(quint64 number)
{
    for (Job &job : m_jobs) {
        if (job.number == number)
            job.thread.request_stop();
    }
}

bool Jobs::isRunning(quint64 number) const
{
    return std::ranges::any_of(m_jobs, [number](const Job &job) { return job.number == number; });
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/hubprobe.h"

#include "models/items/text.h"

#include <QMetaObject>

#include <algorithm>
#include <exception>
#include <utility>

namespace weir {

namespace {

constexpr qsizetype mostKept = 2000;

QString keyOf(const HubReference &reference) { return toText(hubReferenceText(reference)); }

bool concernsTheHub(const Error &error) { return error.kind == ErrorKind::Network; }

} // namespace

HubProbe::HubProbe(HubBridge &bridge, QObject *parent)
    : QObject(parent)
    , m_bridge(bridge)
{}

HubProbe::~HubProbe() = default;

void HubProbe::want(const std::vector<Wish> &wishes)
{
    for (const auto &[number, wish] : m_running) {
        if (std::ranges::find(wishes, wish) == wishes.end())
            m_jobs.stop(number);
    }
    m_queue.clear();
    for (const Wish &wish : wishes) {
        const bool runs =
            std::ranges::any_of(m_running, [&wish](const auto &job) { return job.second == wish; });
        if (!runs && !isDone(wish))
            m_queue.push_back(wish);
    }
    startNext();
}

void HubProbe::learn(const HubReference &reference, const HubRepository &repository)
{
    m_known[keyOf(reference)].repository = repository;
    emit learned(reference);
}

void HubProbe::forgetFailures()
{
    m_isStalled = false;
    for (Known &known : m_known)
        known.failure.reset();
}

const HubRepository *HubProbe::repository(const HubReference &reference) const
{
    const auto known = m_known.constFind(keyOf(reference));
    return known != m_known.constEnd() && known->repository ? &*known->repository : nullptr;
}

CheckpointPtr HubProbe::checkpoint(const HubReference &reference) const
{
    const auto known = m_known.constFind(keyOf(reference));
    return known != m_known.constEnd() ? known->checkpoint : nullptr;
}

const Error *HubProbe::failure(const HubReference &reference) const
{
    const auto known = m_known.constFind(keyOf(reference));
    return known != m_known.constEnd() && known->failure ? &*known->failure : nullptr;
}

bool HubProbe::isDone(const Wish &wish) const
{
    const auto known = m_known.constFind(keyOf(wish.reference));
    if (known == m_known.constEnd())
        return false;
    if (known->failure || known->checkpoint)
        return true;
    if (!known->repository)
        return false;
    return !wish.headers || known->repository->choices.size() != 1
           || known->repository->choices.front().files.size() > mostFiles;
}

void HubProbe::startNext()
{
    while (!m_isStalled && !m_queue.empty() && m_running.size() < parallelReads) {
        const Wish wish = m_queue.front();
        m_queue.pop_front();
        std::optional<HubRepository> repository;
        if (const HubRepository *listing = this->repository(wish.reference))
            repository = *listing;
        m_bridge.prepare();
        const quint64 number = m_jobs.start([this, wish, repository, calls = m_bridge.gatedCalls()](
                                                const std::stop_token &stop, quint64 own) {
            Known answer;
            answer.repository = repository;
            try {
                // A named choice needs no listing: it came out of one.
                const bool named = !wish.reference.choice.empty();
                if (!named && !answer.repository) {
                    Result<HubRepository> listing = calls.list(wish.reference, stop);
                    if (listing)
                        answer.repository = std::move(*listing);
                    else
                        answer.failure = std::move(listing.error());
                }
                const bool single = answer.repository && answer.repository->choices.size() == 1
                                    && answer.repository->choices.front().files.size() <= mostFiles;
                if (wish.headers && !answer.failure && (named || single)) {
                    Result<CheckpointPtr> read = calls.read(wish.reference, stop, {});
                    if (read)
                        answer.checkpoint = std::move(*read);
                    else
                        answer.failure = std::move(read.error());
                }
            } catch (const std::exception &problem) {
                answer.failure = Error{"read.failed",
                                       ErrorKind::Unreadable,
                                       wish.reference.repository,
                                       {{"reason", std::string(problem.what())}}};
            }
            QMetaObject::invokeMethod(
                this, [this, own, answer = std::move(answer)] { finish(own, answer); }, Qt::QueuedConnection);
        });
        m_running.emplace_back(number, wish);
    }
}

void HubProbe::finish(quint64 number, Known answer)
{
    const auto job = std::ranges::find(m_running, number, &std::pair<quint64, Wish>::first);
    if (job == m_running.end())
        return;
    const HubReference reference = job->second.reference;
    m_running.erase(job);

    // Stopped because it left the screen: what was learned before that is kept.
    const bool stopped = answer.failure && answer.failure->id == "cancelled";
    const std::optional<Error> problem = answer.failure;
    if (stopped)
        answer.failure.reset();
    if (m_known.size() >= mostKept)
        m_known.clear();
    Known &known = m_known[keyOf(reference)];
    if (answer.repository)
        known.repository = std::move(answer.repository);
    if (answer.checkpoint)
        known.checkpoint = std::move(answer.checkpoint);
    known.failure = std::move(answer.failure);
    emit learned(reference);
    if (problem && !stopped && concernsTheHub(*problem) && !m_isStalled) {
        m_isStalled = true;
        m_queue.clear();
        emit stalled(*problem);
    }
    startNext();
}

} // namespace weir

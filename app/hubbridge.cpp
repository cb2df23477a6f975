// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/hubbridge.h"

#include "app/loader.h"
#include "models/items/text.h"
#include "models/sources/hub/hub.h"

#include <QMetaObject>
#include <QUrl>

#include <exception>
#include <utility>

namespace weir {

namespace {

/// No client throws on purpose; running out of memory over a forged answer must not end the program.
template <typename Call>
auto guarded(const std::string &subject, const Call &call) -> decltype(call())
{
    try {
        return call();
    } catch (const std::exception &problem) {
        return fail("read.failed", ErrorKind::Unreadable, subject, {{"reason", std::string(problem.what())}});
    }
}

} // namespace

HubCalls hubCalls(std::shared_ptr<Hub> hub)
{
    HubCalls calls;
    calls.search = [hub](const HubQuery &query, std::stop_token stop) {
        return hub->search(query, std::move(stop));
    };
    calls.more = [hub](const HubPage &page, std::stop_token stop) {
        return hub->more(page, std::move(stop));
    };
    calls.list = [hub](const HubReference &reference, std::stop_token stop) {
        return hub->list(reference, std::move(stop));
    };
    calls.revisions = [hub](const std::string &repository, std::stop_token stop) {
        return hub->revisions(repository, std::move(stop));
    };
    calls.read = [hub](const HubReference &reference, std::stop_token stop,
                       const ProgressCallback &progress) {
        return hub->read(reference, std::move(stop), progress);
    };
    calls.readCached = [hub](const HubReference &reference, std::stop_token stop,
                             const ProgressCallback &progress) {
        HubSettings settings = hub->settings();
        settings.offline = true;
        return Hub(std::move(settings)).read(reference, std::move(stop), progress);
    };
    calls.settings = [hub] { return hub->settings(); };
    calls.setToken = [hub](std::string token, std::string origin) {
        hub->setToken(std::move(token), std::move(origin));
    };
    calls.setOffline = [hub](bool offline) { hub->setOffline(offline); };
    return calls;
}

HubBridge::HubBridge(HubCalls calls, QObject *parent)
    : QObject(parent)
    , m_calls(std::move(calls))
{}

HubBridge::~HubBridge() = default;

void HubBridge::serve(Loader &loader)
{
    connect(&loader, &Loader::hubNeeded, this, &HubBridge::prepare);
    loader.setHubReaders(gatedCalls().read, m_calls.readCached);
}

bool HubBridge::isOffline() const { return m_calls.settings().offline; }

void HubBridge::setOffline(bool offline)
{
    if (isOffline() == offline)
        return;
    m_calls.setOffline(offline);
    emit offlineChanged(offline);
}

QString HubBridge::hubName() const
{
    const QUrl endpoint(toText(m_calls.settings().endpoint));
    return endpoint.port() > 0 ? QStringLiteral("%1:%2").arg(endpoint.host()).arg(endpoint.port())
                               : endpoint.host();
}

QString HubBridge::pageAddress(const QString &repository) const
{
    return toText(m_calls.settings().endpoint) + QLatin1Char('/') + repository;
}

void HubBridge::prepare()
{
    if (m_prepare)
        std::exchange(m_prepare, nullptr)();
    if (m_used || isOffline())
        return;
    m_used = true;
    emit used();
}

HubCalls HubBridge::gatedCalls() const
{
    if (!m_gate)
        return m_calls;
    HubCalls calls = m_calls;
    const auto gate = m_gate;
    calls.search = [gate, call = m_calls.search](const HubQuery &query, std::stop_token stop) {
        gate(stop);
        return call(query, std::move(stop));
    };
    calls.list = [gate, call = m_calls.list](const HubReference &reference, std::stop_token stop) {
        gate(stop);
        return call(reference, std::move(stop));
    };
    calls.revisions = [gate, call = m_calls.revisions](const std::string &repository, std::stop_token stop) {
        gate(stop);
        return call(repository, std::move(stop));
    };
    calls.read = [gate, call = m_calls.read](const HubReference &reference, std::stop_token stop,
                                             const ProgressCallback &progress) {
        gate(stop);
        return call(reference, std::move(stop), progress);
    };
    return calls;
}

quint64 HubBridge::search(const HubQuery &query)
{
    prepare();
    return startSearch([query, ask = gatedCalls().search](std::stop_token stop) {
        return guarded(query.text, [&] { return ask(query, std::move(stop)); });
    });
}

quint64 HubBridge::more(const HubPage &page)
{
    prepare();
    HubPage last;
    last.next = page.next;
    return startSearch([last, ask = m_calls.more](std::stop_token stop) {
        return guarded(last.next, [&] { return ask(last, std::move(stop)); });
    });
}

quint64 HubBridge::startSearch(std::function<Result<HubPage>(std::stop_token)> ask)
{
    cancelSearch();
    m_searchNumber = m_jobs.start([this, ask = std::move(ask)](std::stop_token stop, quint64 number) {
        Result<HubPage> page = ask(std::move(stop));
        QMetaObject::invokeMethod(
            this,
            [this, number, page = std::move(page)] {
                if (number != m_searchNumber)
                    return; // superseded
                m_searchNumber = 0;
                if (page)
                    emit pageFound(number, *page);
                else
                    emit searchFailed(number, page.error());
            },
            Qt::QueuedConnection);
    });
    return m_searchNumber;
}

void HubBridge::cancelSearch()
{
    if (m_searchNumber != 0)
        m_jobs.stop(std::exchange(m_searchNumber, 0));
}

void HubBridge::list(const HubReference &reference)
{
    const QString key = toText(hubReferenceText(reference));
    if (m_listing.contains(key))
        return;
    m_listing << key;
    prepare();
    m_jobs.start([this, reference, key, ask = gatedCalls().list](std::stop_token stop, quint64) {
        Result<HubRepository> answer =
            guarded(reference.repository, [&] { return ask(reference, std::move(stop)); });
        QMetaObject::invokeMethod(
            this,
            [this, reference, key, answer = std::move(answer)] {
                m_listing.removeAll(key);
                if (answer)
                    emit listed(reference, *answer);
                else
                    emit listFailed(reference, answer.error());
            },
            Qt::QueuedConnection);
    });
}

void HubBridge::revisions(const QString &repository)
{
    prepare();
    m_jobs.start([this, repository, ask = gatedCalls().revisions](std::stop_token stop, quint64) {
        const std::string name = repository.toStdString();
        Result<std::vector<std::string>> answer = guarded(name, [&] { return ask(name, std::move(stop)); });
        QMetaObject::invokeMethod(
            this,
            [this, repository, answer = std::move(answer)] {
                if (!answer) {
                    emit revisionsFailed(repository, answer.error());
                    return;
                }
                QStringList names;
                for (const std::string &each : *answer)
                    names << toText(each);
                emit revisionsFound(repository, names);
            },
            Qt::QueuedConnection);
    });
}

} // namespace weir

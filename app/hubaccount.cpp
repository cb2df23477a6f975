// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/hubaccount.h"

#include "app/hubbridge.h"
#include "models/items/text.h"

#include <QMetaObject>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace weir {

namespace {

/// A keyring that waits for its user must not hold up what needs no token.
constexpr auto longestWait = std::chrono::seconds(3);

} // namespace

/// Shut until the keyring has answered.
class HubAccount::Gate
{
public:
    void open()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_isOpen = true;
        }
        m_changed.notify_all();
    }

    void wait(const std::stop_token &stop)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait_for(lock, stop, longestWait, [this] { return m_isOpen; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    bool m_isOpen = false;
};

HubAccount::HubAccount(HubBridge &bridge, Keyring keyring, QObject *parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_keyring(std::move(keyring))
    , m_gate(std::make_shared<Gate>())
{
    const HubSettings settings = bridge.calls().settings();
    m_endpoint = settings.endpoint;
    m_ownToken = settings.token;
    m_ownOrigin = settings.tokenOrigin;
    useOwn();
    bridge.setPreparation([this] { lookUp(); });
    bridge.setGate([gate = m_gate](const std::stop_token &stop) { gate->wait(stop); });
}

HubAccount::~HubAccount() { m_gate->open(); }

void HubAccount::useOwn()
{
    if (m_ownToken.empty())
        m_origin = Origin::None;
    else
        m_origin = toText(m_ownOrigin).contains(QLatin1Char('/')) ? Origin::File : Origin::Variable;
}

QString HubAccount::originName() const { return toText(printable(m_ownOrigin)); }

void HubAccount::lookUp()
{
    if (std::exchange(m_wasLookedUp, true))
        return;
    if (m_origin == Origin::Variable) {
        m_gate->open();
        return;
    }
    m_isBusy = true;
    emit changed();
    m_job = m_jobs.nextNumber();
    m_jobs.start([this, gate = m_gate, lookup = m_keyring.lookup, setToken = m_bridge.calls().setToken,
                  endpoint = m_endpoint](std::stop_token stop, quint64 number) {
        const Result<std::optional<std::string>> found = lookup(endpoint, stop);
        const bool has = found && *found && !(*found)->empty();
        // Before the gate opens: what waits behind it needs the token.
        if (has && !stop.stop_requested())
            setToken(**found, "keyring");
        gate->open();
        QMetaObject::invokeMethod(
            this,
            [this, number, has,
             problem = found ? std::optional<Error>() : std::optional<Error>(found.error())] {
                if (number != m_job)
                    return; // a token was entered meanwhile
                m_isBusy = false;
                m_problem = problem;
                if (has)
                    m_origin = Origin::Keyring;
                emit changed();
            },
            Qt::QueuedConnection);
    });
}

void HubAccount::enterToken(const QString &token)
{
    const std::string entered = token.simplified().remove(QLatin1Char(' ')).toStdString();
    if (entered.empty() || m_origin == Origin::Variable)
        return;
    m_jobs.stop(m_job);
    m_wasLookedUp = true;
    m_bridge.calls().setToken(entered, "keyring");
    m_gate->open();
    m_origin = Origin::Session;
    m_isBusy = true;
    emit changed();
    m_job = m_jobs.nextNumber();
    m_jobs.start([this, entered, store = m_keyring.store, endpoint = m_endpoint](std::stop_token stop,
                                                                                 quint64 number) {
        Result<void> result = store(endpoint, entered, std::move(stop));
        QMetaObject::invokeMethod(
            this,
            [this, number, result = std::move(result)] {
                if (number == m_job)
                    finish(result, result ? Origin::Keyring : Origin::Session);
            },
            Qt::QueuedConnection);
    });
}

void HubAccount::removeToken()
{
    if (m_origin == Origin::Variable)
        return;
    m_jobs.stop(m_job);
    m_wasLookedUp = true;
    m_bridge.calls().setToken(m_ownToken, m_ownOrigin);
    m_gate->open();
    useOwn();
    m_isBusy = true;
    emit changed();
    m_job = m_jobs.nextNumber();
    m_jobs.start(
        [this, remove = m_keyring.remove, endpoint = m_endpoint](std::stop_token stop, quint64 number) {
            Result<void> result = remove(endpoint, std::move(stop));
            QMetaObject::invokeMethod(
                this,
                [this, number, result = std::move(result)] {
                    if (number == m_job)
                        finish(result, m_origin);
                },
                Qt::QueuedConnection);
        });
}

void HubAccount::finish(const Result<void> &result, Origin origin)
{
    m_isBusy = false;
    m_origin = origin;
    m_problem = result ? std::optional<Error>() : std::optional<Error>(result.error());
    emit changed();
}

} // namespace weir

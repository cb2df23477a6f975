// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/jobs.h"
#include "app/keyring.h"

#include <QObject>
#include <QString>

#include <memory>
#include <string>

namespace weir {

class HubBridge;

/// The token of the Hub: one from the environment wins, then one entered here, which is kept in the keyring,
/// then that of the official client's file. The keyring is asked before the first request to the Hub, and
/// requests wait for it for a moment. The token itself is never shown, logged or written to settings. Lives
/// on the GUI thread; the bridge outlives it.
class HubAccount : public QObject
{
    Q_OBJECT

public:
    enum class Origin : std::uint8_t {
        None,
        Variable, ///< of the environment; cannot be changed here
        File,        ///< the token file of the official client
        Keyring,
        Session, ///< entered here, and no keyring took it
    };

    HubAccount(HubBridge &bridge, Keyring keyring, QObject *parent = nullptr);
    ~HubAccount() override;

    Origin origin() const { return m_origin; }
    /// The variable or file it comes from, for people.
    QString originName() const;
    /// Why the keyring was of no use the last time; empty if it was.
    const std::optional<Error> &problem() const { return m_problem; }
    bool isBusy() const { return m_isBusy; }

    /// Asks the keyring if nobody has done so yet.
    void lookUp();
    /// In force at once; the keyring follows.
    void enterToken(const QString &token);
    void removeToken();

signals:
    void changed();

private:
    class Gate;

    void useOwn();
    void finish(const Result<void> &result, Origin origin);

    HubBridge &m_bridge;
    Keyring m_keyring;
    std::shared_ptr<Gate> m_gate;
    std::string m_endpoint;
    std::string m_ownToken; ///< of the environment or the file, in force when nothing else is
    std::string m_ownOrigin;
    Origin m_origin = Origin::None;
    std::optional<Error> m_problem;
    bool m_isBusy = false;
    bool m_wasLookedUp = false;
    quint64 m_job = 0; ///< whose answer counts
    Jobs m_jobs;       ///< last: its threads end before what they use
};

} // namespace weir

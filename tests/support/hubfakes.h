// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/hubbridge.h"
#include "app/keyring.h"

#include <map>
#include <memory>
#include <mutex>

namespace weir::test {

/// A Hub that makes no connection and has nothing: for windows whose tests are about something else.
inline HubCalls noHub()
{
    const auto offline = [](const std::string &subject) {
        return fail("hub.offline", ErrorKind::Network, subject);
    };
    HubCalls calls;
    calls.search = [offline](const HubQuery &query, std::stop_token) -> Result<HubPage> {
        return offline(query.text);
    };
    calls.more = [offline](const HubPage &page, std::stop_token) -> Result<HubPage> {
        return offline(page.next);
    };
    calls.list = [offline](const HubReference &reference, std::stop_token) -> Result<HubRepository> {
        return offline(reference.repository);
    };
    calls.revisions = [offline](const std::string &repository,
                                std::stop_token) -> Result<std::vector<std::string>> {
        return offline(repository);
    };
    calls.read = [offline](const HubReference &reference, std::stop_token,
                           const ProgressCallback &) -> Result<CheckpointPtr> {
        return offline(reference.repository);
    };
    calls.readCached = calls.read;
    calls.settings = [] { return HubSettings(); };
    calls.setToken = [](const std::string &, const std::string &) {};
    calls.setOffline = [](bool) {};
    return calls;
}

/// A keyring in memory.
class FakeKeyring
{
public:
    bool works = true;

    std::string token(const std::string &endpoint) const
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_tokens.find(endpoint);
        return found == m_tokens.end() ? std::string() : found->second;
    }

    void put(const std::string &endpoint, const std::string &token)
    {
        const std::lock_guard lock(m_mutex);
        m_tokens[endpoint] = token;
    }

    /// The calls on this one, which outlives them.
    Keyring calls()
    {
        const auto broken = [](const std::string &endpoint) {
            return fail("keyring.unavailable", ErrorKind::Access, endpoint,
                        {{"reason", std::string("no service of that name")}});
        };
        Keyring keyring;
        keyring.lookup = [this, broken](const std::string &endpoint,
                                        std::stop_token) -> Result<std::optional<std::string>> {
            if (!works)
                return broken(endpoint);
            const std::string found = token(endpoint);
            return found.empty() ? std::optional<std::string>() : found;
        };
        keyring.store = [this, broken](const std::string &endpoint, const std::string &given,
                                       std::stop_token) -> Result<void> {
            if (!works)
                return broken(endpoint);
            put(endpoint, given);
            return {};
        };
        keyring.remove = [this, broken](const std::string &endpoint, std::stop_token) -> Result<void> {
            if (!works)
                return broken(endpoint);
            const std::lock_guard lock(m_mutex);
            m_tokens.erase(endpoint);
            return {};
        };
        return keyring;
    }

private:
    mutable std::mutex m_mutex;
    std::map<std::string, std::string> m_tokens;
};

} // namespace weir::test

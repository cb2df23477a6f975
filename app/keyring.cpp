// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/keyring.h"

#include <utility>

#ifdef WEIR_WITH_KEYRING
#include <libsecret/secret.h>

#include <memory>
#endif

namespace weir {

#ifdef WEIR_WITH_KEYRING

namespace {

const SecretSchema &schema()
{
    static const SecretSchema made = [] {
        SecretSchema fresh{};
        fresh.name = "org.weir_explorer.HubToken";
        fresh.flags = SECRET_SCHEMA_NONE;
        fresh.attributes[0].name = "endpoint";
        fresh.attributes[0].type = SECRET_SCHEMA_ATTRIBUTE_STRING;
        return fresh;
    }();
    return made;
}

/// Cancels a blocking call when a stop is requested.
class Cancellable
{
public:
    explicit Cancellable(const std::stop_token &stop)
        : m_object(g_cancellable_new(), &g_object_unref)
        , m_callback(stop, [object = m_object.get()] { g_cancellable_cancel(object); })
    {}

    GCancellable *get() const { return m_object.get(); }

private:
    std::unique_ptr<GCancellable, decltype(&g_object_unref)> m_object;
    std::stop_callback<std::function<void()>> m_callback;
};

using ErrorOwner = std::unique_ptr<GError, decltype(&g_error_free)>;

std::unexpected<Error> failed(const std::string &endpoint, GError *error, const std::stop_token &stop)
{
    const ErrorOwner owner(error, &g_error_free);
    if (stop.stop_requested())
        return fail("cancelled", ErrorKind::Access, endpoint);
    std::string reason = error != nullptr && error->message != nullptr ? error->message : "no answer";
    while (!reason.empty() && (reason.back() == '.' || reason.back() == '\n'))
        reason.pop_back();
    return fail("keyring.unavailable", ErrorKind::Access, endpoint, {{"reason", reason}});
}

} // namespace

Keyring desktopKeyring()
{
    Keyring keyring;
    keyring.lookup = [](const std::string &endpoint,
                        std::stop_token stop) -> Result<std::optional<std::string>> {
        const Cancellable cancellable(stop);
        GError *error = nullptr;
        gchar *secret = secret_password_lookup_sync(&schema(), cancellable.get(), &error, "endpoint",
                                                    endpoint.c_str(), nullptr);
        if (error != nullptr)
            return failed(endpoint, error, stop);
        if (secret == nullptr)
            return std::optional<std::string>();
        std::string token(secret);
        secret_password_free(secret);
        return token;
    };
    keyring.store = [](const std::string &endpoint, const std::string &token,
                       std::stop_token stop) -> Result<void> {
        const Cancellable cancellable(stop);
        GError *error = nullptr;
        const std::string label = "Weir: token for " + endpoint;
        secret_password_store_sync(&schema(), SECRET_COLLECTION_DEFAULT, label.c_str(), token.c_str(),
                                   cancellable.get(), &error, "endpoint", endpoint.c_str(), nullptr);
        if (error != nullptr)
            return failed(endpoint, error, stop);
        return {};
    };
    keyring.remove = [](const std::string &endpoint, std::stop_token stop) -> Result<void> {
        const Cancellable cancellable(stop);
        GError *error = nullptr;
        secret_password_clear_sync(&schema(), cancellable.get(), &error, "endpoint", endpoint.c_str(),
                                   nullptr);
        if (error != nullptr)
            return failed(endpoint, error, stop);
        return {};
    };
    return keyring;
}

#else

Keyring desktopKeyring()
{
    const auto none = [](const std::string &endpoint) {
        return fail("keyring.not-built", ErrorKind::Access, endpoint);
    };
    Keyring keyring;
    keyring.lookup = [none](const std::string &endpoint,
                            std::stop_token) -> Result<std::optional<std::string>> { return none(endpoint); };
    keyring.store = [none](const std::string &endpoint, const std::string &,
                           std::stop_token) -> Result<void> { return none(endpoint); };
    keyring.remove = [none](const std::string &endpoint, std::stop_token) -> Result<void> {
        return none(endpoint);
    };
    return keyring;
}

#endif

} // namespace weir

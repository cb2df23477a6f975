// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace weir {

/// Where secrets are kept. The calls block, on D-Bus and on the user who is asked to unlock it, so they run
/// off the GUI thread; a stop ends them with the error "cancelled". Errors: "keyring.not-built",
/// "keyring.unavailable". A secret goes by the address of the Hub that it is meant for.
struct Keyring
{
    std::function<Result<std::optional<std::string>>(const std::string &endpoint, std::stop_token)> lookup;
    std::function<Result<void>(const std::string &endpoint, const std::string &token, std::stop_token)> store;
    std::function<Result<void>(const std::string &endpoint, std::stop_token)> remove;
};

/// The desktop's keyring through libsecret; where it was not there at build, every call fails saying so.
Keyring desktopKeyring();

} // namespace weir

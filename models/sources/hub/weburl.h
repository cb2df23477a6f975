// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// Scheme, host (lower case) and port: what a token belongs to.
struct WebOrigin
{
    std::string scheme;
    std::string host; ///< IPv6 without brackets
    std::uint16_t port = 0;

    friend bool operator==(const WebOrigin &, const WebOrigin &) = default;
};

/// Of an absolute `http` or `https` address without user name; empty for anything else.
std::optional<WebOrigin> webOrigin(const std::string &url);

/// Where a `Location` leads, absolute; empty if it cannot be read.
std::optional<std::string> resolvedUrl(const std::string &base, const std::string &location);

/// The scheme of an absolute address or of a `Location`; empty for a relative one.
std::string schemeOf(std::string_view url);

/// Everything but letters, digits and `-_.~` (and `/`, where it is kept) as `%XX`.
std::string urlQuoted(std::string_view text, bool keepSlash = false);

/// A text from outside as it may be shown: without `secret` (in any case, if it has four bytes at least), what
/// looks like an access token (`hf_` and eight or more letters, digits or `_`), what follows "Bearer", and the
/// user part of addresses (`user:word@`).
std::string withoutSecrets(std::string_view text, std::string_view secret = {});

/// Loopback, link-local, private or unspecified, as numbers ("10.0.0.1", "::1"); false for names.
bool isPrivateAddress(std::string_view address);
/// The same, and names that always mean this machine.
bool isPrivateHost(std::string_view host);

/// True if `noProxy` (names, `.domain`, addresses, address/bits, `*`, comma separated) leaves the host out.
bool bypassesProxy(std::string_view host, std::string_view noProxy);

} // namespace weir

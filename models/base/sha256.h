// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace weir {

/// SHA-256 (FIPS 180-4) of a text, as 64 hexadecimal digits in lower case; empty where the
/// library was built without it.
std::string sha256Hex(std::string_view text);

} // namespace weir

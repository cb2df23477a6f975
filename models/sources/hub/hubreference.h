// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/hub/hubtypes.h"

namespace weir {

/// The same as parseHubReference(), and addresses of pages below `endpoint` as well.
std::optional<HubReference> parseHubReference(std::string_view argument, std::string_view endpoint);

/// `org/name` or an old `name`, by the rules of the Hub.
bool isRepositoryName(std::string_view name);

/// A full commit hash: 40 hexadecimal digits in lower case.
bool isCommit(std::string_view text);

} // namespace weir

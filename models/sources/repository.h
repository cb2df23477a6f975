// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/sources/repositoryfiles.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// True if a file with this ending lies at the top of the repository.
bool hasTopLevel(const RepositoryFiles &files, std::string_view ending);

/// For repositories that hold something else than a decoder language model, by the files they are made of
/// (diffusion pipelines, adapters, embedding models): the error that says so, with what is known of it as arguments.
std::optional<Error> otherKindOf(RepositoryFiles &files, const std::stop_token &stop);

/// The error about a file that belongs to an adapter.
Error adapterError(const std::string &subject, RepositoryFiles &files, const std::stop_token &stop);

/// The one GGUF file to read where there is nothing but companions (a projector): reading it says what it is.
std::optional<std::string> loneCompanion(const RepositoryFiles &files);

/// Adds what is known to an error about something that is no language model: number and size of the files, and
/// parameters and bytes of the weights where headers tell. Other errors stay.
Error withFacts(Error error, RepositoryFiles &files, const std::stop_token &stop);

} // namespace weir

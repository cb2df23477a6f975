// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/sources/repositoryfiles.h"

#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// True if a file with this ending lies at the top of the repository.
bool hasTopLevel(const RepositoryFiles &files, std::string_view ending);

/// For repositories that hold something else than a decoder language model, by the files they are made of
/// (diffusion pipelines, adapters, embedding models): the error that says so.
std::optional<Error> otherKindOf(const RepositoryFiles &files);

/// The error about a file that belongs to an adapter.
Error adapterError(const std::string &subject, const RepositoryFiles &files);

/// The one GGUF file to read where there is nothing but companions (a projector): reading it says what it is.
std::optional<std::string> loneCompanion(const RepositoryFiles &files);

/// Adds number and size of the files to an error about something that is no language model.
Error withFacts(Error error, const RepositoryFiles &files);

} // namespace weir

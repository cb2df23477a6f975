// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/message.h"

#include <cstdint>
#include <expected>
#include <string>

namespace weir {

/// What the caller can do about an error; decides the exit status of the command line.
enum class ErrorKind : std::uint8_t {
    Usage,            ///< exit 2: wrong argument
    NotFound,         ///< exit 3: no such file, folder or catalog entry
    Unreadable,       ///< exit 3: damaged, truncated, forged or unsupported input
    Network,          ///< exit 4
    Access,           ///< exit 5
    NotLanguageModel, ///< exit 7: read, but not a decoder language model
};

/// An error as a value. `id` names the sentence in the catalogue of words, `subject` the file or name
/// it is about; together with the arguments they make one sentence that says what to do.
struct Error
{
    std::string id;
    ErrorKind kind = ErrorKind::Unreadable;
    std::string subject;
    MessageArguments arguments;
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string id, ErrorKind kind, std::string subject,
                                   MessageArguments arguments = {})
{
    return std::unexpected<Error>(Error{std::move(id), kind, std::move(subject), std::move(arguments)});
}

} // namespace weir

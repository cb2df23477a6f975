// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/base/message.h"
#include "models/base/units.h"
#include "models/checkpoint/component.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {

/// The catalogue of words: `models/` returns ids with arguments, this turns them into sentences. It is the
/// one place that holds them, and the one that is translated.

/// A few words that name the message ("Does not fit").
std::string wordTitle(const Message &message, ByteUnit unit = ByteUnit::Gigabytes);
/// One or two sentences with the figures.
std::string wordDetail(const Message &message, ByteUnit unit = ByteUnit::Gigabytes);
/// One sentence: what is wrong with which file, and what to do.
std::string wordError(const Error &error, ByteUnit unit = ByteUnit::Gigabytes);
/// What is known of something that is no decoder language model, label and value, in the order to list it; empty
/// for other errors.
std::vector<std::pair<std::string, std::string>> wordFacts(const Error &error,
                                                           ByteUnit unit = ByteUnit::Gigabytes);
/// "Routed experts", "lm_head" ...
std::string componentLabel(Component component);

/// True if the catalogue knows the id; a test asks this for every id that `models/` uses.
bool hasWordsFor(std::string_view id);

/// Installs a translator for the English templates (placeholders stay). Not thread safe: call at start.
void setWordTranslator(std::function<std::string(std::string_view)> translator);

} // namespace weir

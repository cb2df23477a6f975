// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/configreader.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::derive {

/// The keys of one config object, as a derivation reads them: a value that is missing, of the wrong type
/// or absurd is remembered (the first one), and the caller refuses the whole config in the end.
class Keys
{
public:
    explicit Keys(const nlohmann::json &object)
        : m_object(&object)
    {}

    /// A number that must be there and above 0; 1 if it is not, so that later divisions are safe.
    std::uint64_t number(const char *key, std::uint64_t limit = ConfigReader::maxDimension);

    /// A number that may be absent or null.
    std::optional<std::uint64_t> maybe(const char *key, std::uint64_t limit = ConfigReader::maxDimension);

    std::uint64_t numberOr(const char *key, std::uint64_t fallback) { return maybe(key).value_or(fallback); }

    /// One number for all layers, or a list of one a layer (of exactly `layers`).
    std::uint64_t perLayer(const char *key, std::size_t layer, std::size_t layers);

    bool flag(const char *key) { return flagOr(key, false); }
    bool flagOr(const char *key, bool fallback);
    std::string text(const char *key) const;

    /// A list of words with one entry a layer; empty if absent. Any other length is a problem.
    std::vector<std::string> words(const char *key, std::size_t layers);

    /// A list of numbers; an absent one is empty. `limit` bounds the values, `most` the length.
    std::vector<std::uint64_t> numbers(const char *key, std::uint64_t limit, std::size_t most);

    bool has(const char *key) const;
    const nlohmann::json &object() const { return *m_object; }

    void complain(const char *key)
    {
        if (m_problem.empty())
            m_problem = key;
    }
    /// The first key that cannot be; empty when all were sound.
    const std::string &problem() const { return m_problem; }

private:
    const nlohmann::json *find(const char *key) const;

    const nlohmann::json *m_object;
    std::string m_problem;
};

} // namespace weir::derive

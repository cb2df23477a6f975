// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// One line of the catalog's index: what a list needs without opening the group file.
struct CatalogEntry
{
    std::string id;           ///< "qwen3.5-122b-a10b-int4-autoround"
    std::string name;         ///< "Qwen3.5-122B-A10B"
    std::string repository;   ///< "Intel/Qwen3.5-122B-A10B-int4-AutoRound"; empty for Ollama builds
    std::string ollama;       ///< "qwen3.5:122b", empty if none
    std::string file;         ///< group file, relative to the catalog folder
    Format format = Format::Unknown;
    std::string quantization;
    Provenance provenance = Provenance::Headers;
    std::string architecture;
    std::uint64_t weightBytes = 0;
    std::uint64_t parametersTotal = 0;
    std::uint64_t parametersActive = 0;
    bool moe = false;
    std::string date; ///< when the entry was made
    std::string note;
};

/// The shipped catalog: a small index, and one file of tensor groups an entry, read when opened.
class Catalog
{
public:
    /// Reads `index.json` of a catalog folder.
    static Result<Catalog> open(const std::filesystem::path &folder);

    const std::vector<CatalogEntry> &entries() const { return m_entries; }
    const std::string &date() const { return m_date; }

    /// By id, by `org/name`, by `ollama:name:tag`; case matters as on the Hub.
    const CatalogEntry *find(std::string_view idOrRepository) const;

    Result<CheckpointPtr> load(const CatalogEntry &entry) const;

    /// Where the catalog only reconstructed or derived a repository whose headers were read now: adds what that is
    /// worth, a note that both agree or which component differs most. Else gives back what it was given.
    CheckpointPtr comparedWithEntry(CheckpointPtr read) const;

private:
    std::filesystem::path m_folder;
    std::string m_date;
    std::vector<CatalogEntry> m_entries;
};

} // namespace weir

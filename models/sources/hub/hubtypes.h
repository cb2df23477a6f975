// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// What a user names on the Hub: `org/name`, `org/name@revision`, `org/name:Q4_K_M`, a page's address.
struct HubReference
{
    std::string repository;
    std::string revision = "main";
    std::string choice; ///< a file of the repository or the label of a quantization; empty: the default one

    friend bool operator==(const HubReference &, const HubReference &) = default;
};

/// Empty if the text cannot be a repository of the Hub (the rules of its names are checked).
std::optional<HubReference> parseHubReference(std::string_view argument);
/// The text that parseHubReference() reads back.
std::string hubReferenceText(const HubReference &reference);

enum class Gate : std::uint8_t { Open, Automatic, Manual };

struct HubFile
{
    std::string path;
    std::uint64_t bytes = 0;
    std::string etag; ///< git sha1 or LFS sha256
};

/// One thing to choose in a repository: a quantization (split files are one), or all of its safetensors.
struct HubChoice
{
    std::string label; ///< "Q4_K_M"; for safetensors empty
    Format format = Format::Unknown;
    std::vector<std::string> files; ///< weight files; what is downloaded beside them is not listed here
    std::uint64_t bytes = 0;
};

/// The listing of one revision.
struct HubRepository
{
    std::string id; ///< as the Hub spells it now (after a rename)
    std::string revision;
    std::string commit;
    Gate gate = Gate::Open;
    bool isPrivate = false;
    std::vector<HubFile> files; ///< sorted by path
    std::vector<HubChoice> choices; ///< largest last
    std::uint64_t bytes = 0;    ///< of all files
};

enum class HubSort : std::uint8_t { Trending, Downloads, Modified };

struct HubQuery
{
    std::string text;
    HubSort sort = HubSort::Trending;
    std::optional<Format> format; ///< Safetensors, Gguf or Mlx
    unsigned limit = 30;          ///< hits a page

    friend bool operator==(const HubQuery &, const HubQuery &) = default;
};

/// What a search says of one repository. Sizes are hints: stored elements by dtype, one GGUF of many.
struct HubHit
{
    std::string id;
    Gate gate = Gate::Open;
    bool isPrivate = false;
    Format format = Format::Unknown;
    std::optional<std::uint64_t> downloads; ///< of the last 30 days
    std::optional<std::uint64_t> likes;
    std::string modified; ///< ISO 8601
    std::string pipeline;
    std::string architecture;
    std::string license;
    std::vector<std::string> baseModels; ///< what this is a quantization or fine-tune of
    std::optional<std::uint64_t> bytes;  ///< of the stored elements, from counts by dtype; GGUF: unknown
};

struct HubPage
{
    std::vector<HubHit> hits;
    std::string next; ///< address of the next page, empty at the end
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/message.h"
#include "models/checkpoint/checkpoint.h"
#include "models/sources/hub/hubsettings.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Who keeps checkpoints in a folder, and so how it is laid out.
enum class DiskPlaceKind : std::uint8_t { HuggingFaceCache, Ollama, LmStudio, LlamaCppCache, Folder };

/// "hugging-face-cache", "ollama", "lm-studio", "llama.cpp", "folder".
std::string_view diskPlaceKindId(DiskPlaceKind kind);

/// A folder that is looked through.
struct DiskPlace
{
    DiskPlaceKind kind = DiskPlaceKind::Folder;
    std::filesystem::path path;

    friend bool operator==(const DiskPlace &, const DiskPlace &) = default;
};

/// Where the programs that keep checkpoints say that they keep them. A value, so that tests make their own.
/// Paths are empty where they are not known.
struct DiskEnvironment
{
    std::filesystem::path home;
    std::vector<std::filesystem::path> hubCaches;      ///< of the Hub's client: holds `models--*`
    std::vector<std::filesystem::path> ollamaStores;   ///< hold `manifests` and `blobs`; first wins
    std::vector<std::filesystem::path> lmStudio;       ///< hold `publisher/model`
    std::vector<std::filesystem::path> llamaCppCaches; ///< hold `.gguf` files

    /// From HOME, HF_HOME, HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, XDG_CACHE_HOME, OLLAMA_MODELS, LLAMA_CACHE and the
    /// small files in which LM Studio says where its home is.
    static DiskEnvironment from(const Environment &environment);
    static DiskEnvironment fromProcess() { return from(processEnvironment()); }
};

/// The places of `environment` that exist, and after them the `folders` that the user added. A folder that is laid
/// out as one of the stores gets its kind. Each place once, by where its links lead.
std::vector<DiskPlace> diskPlaces(const DiskEnvironment &environment,
                                  std::span<const std::filesystem::path> folders = {});

/// One checkpoint found on this disk, known by names and sizes: no weight file was opened.
struct DiskCheckpoint
{
    std::string name; ///< "org/name", "qwen3:30b", the folder below its place
    std::string argument; ///< what openCheckpoint() takes to read exactly this
    DiskPlaceKind kind = DiskPlaceKind::Folder;
    std::filesystem::path place; ///< the DiskPlace it was found in
    Format format = Format::Unknown;
    std::string quantization; ///< of GGUF, by the name of the file or by Ollama; empty: known when it is read
    std::uint64_t bytes = 0; ///< of its weight files; what several share counts in each
    std::int64_t modified = 0; ///< seconds since 1970 of the newest weight file
    bool complete = true; ///< false: a download that did not end, missing parts ...
    std::optional<Message> problem; ///< why it is not complete, or why it cannot be read

    friend bool operator==(const DiskCheckpoint &a, const DiskCheckpoint &b)
    {
        return a.argument == b.argument && a.name == b.name && a.bytes == b.bytes && a.modified == b.modified
               && a.complete == b.complete && a.quantization == b.quantization && a.kind == b.kind;
    }
};

/// What lies on this disk.
struct DiskListing
{
    std::vector<DiskCheckpoint> checkpoints; ///< by place, then by name, then by size
    std::vector<Message> notes; ///< a place that cannot be read, one with too many entries ...
    std::vector<std::filesystem::path>
        watched; ///< folders whose change means: list again; at most maxWatched
    bool stopped = false; ///< a stop was requested: it is not the whole
};

inline constexpr std::size_t maxDiskCheckpoints = 10'000; ///< of one listing; more are noted and left out
inline constexpr std::size_t maxWatchedFolders = 512;

/// Looks through the places: names, sizes and small JSON files only. Links to folders are not followed, nothing
/// but regular files is opened, entries and depth are bounded. Blocking: call it off the GUI thread. Ends soon after
/// a stop is requested, with what was found until then.
DiskListing listDisk(std::span<const DiskPlace> places, std::stop_token stop = {});

} // namespace weir

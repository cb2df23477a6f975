// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/disk/ollamamanifest.h"
#include "models/sources/disk/ollamaname.h"
#include "models/sources/open.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace weir {

/// A manifest in a store.
struct OllamaEntry
{
    OllamaName name;
    std::filesystem::path manifest;
};

/// What a store has of one model, without opening its weights.
struct OllamaModel
{
    OllamaManifest manifest;
    OllamaConfig config;
    std::string digest; ///< SHA-256 of the manifest
};

/// True for a folder with the folders `manifests` and `blobs`.
bool isOllamaStore(const std::filesystem::path &folder);

/// The store that a manifest, or a folder of manifests, lies in; empty if `path` is no such.
std::optional<std::filesystem::path> ollamaStoreOf(const std::filesystem::path &path);

/// Manifests below `folder`, which is the store's `manifests` or lies in it, by name. Links are not followed. At
/// most `limit` entries are looked at; `cut` then says so. Error: "file.denied".
Result<std::vector<OllamaEntry>> listOllamaManifests(const std::filesystem::path &store,
                                                     const std::filesystem::path &folder, std::size_t limit,
                                                     const std::stop_token &stop, bool &cut);

/// Reads a manifest and the config it names. Errors: those of the readers, "ollama.remote" for a model that runs
/// elsewhere.
Result<OllamaModel> openOllamaModel(const std::filesystem::path &store, const OllamaEntry &entry);

/// Whether a blob is there as the manifest says: a regular file of the right size. Errors: "ollama.blob-missing",
/// "ollama.blob-unfinished", "ollama.blob-size", "file.not-regular", "file.denied", "file.dangling".
Result<void> checkOllamaBlob(const std::filesystem::path &store, const OllamaLayer &layer,
                             const std::string &model);

/// Reads a model of a store.
Result<Checkpoint> readOllamaModel(const std::filesystem::path &store, const OllamaEntry &entry,
                                   const std::stop_token &stop, const ProgressCallback &progress);

/// Reads a store, a part of it, or a manifest in it, by path: the model, or the only model; else an error that
/// names them. Empty if the path leads to no store.
std::optional<Result<CheckpointPtr>> readOllamaPath(const std::filesystem::path &path,
                                                    const std::stop_token &stop,
                                                    const ProgressCallback &progress);

} // namespace weir

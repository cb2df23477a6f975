// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace weir {

class Catalog;
class Hub;
class Ollama;

/// Progress of reading: files done of files in all, and the file in hand. Called on the reading thread.
struct ReadProgress
{
    std::size_t done = 0;
    std::size_t total = 0;
    std::string file;
};
using ProgressCallback = std::function<void(const ReadProgress &)>;

/// Reads a checkpoint from a folder, a store or cache of one of the programs in disk.h, a `.gguf` (one file of a split stands for all), a `.safetensors`
/// file or a `config.json`. Of several GGUF models in a folder, `preferred` names the quantization to read. Only regular files are opened; headers are read, weights never.
/// Blocking: call it off the GUI thread. A stop request ends it with the error "cancelled".
Result<CheckpointPtr> readPath(const std::filesystem::path &path, std::stop_token stop = {},
                               const ProgressCallback &progress = {}, const std::string &preferred = {});

/// True if the argument is to be read as a path: begins with `/`, `./`, `../`, `~`, or exists.
bool isPathArgument(std::string_view argument);

/// Where a name may lead besides the disk.
struct OpenContext
{
    const Catalog &catalog;
    Hub *hub = nullptr; ///< null: the Hub is not asked
    std::optional<Source> forced = {}; ///< if set, nothing else is tried
    std::string preferredQuantization = {}; ///< of a GGUF repository, where the name does not say which
    Ollama *ollama =
        nullptr; ///< null: only the catalog knows its names. Its registry is asked where the Hub is
};

/// Whether a checkpoint is the file of a GGUF repository that was asked for by this quantization ("Q4_K_M", or
/// a publisher's own label such as "UD-Q4_K_XL").
bool isChosenQuantization(const Checkpoint &checkpoint, std::string_view quantization);

/// What the command line and the field of the window take: a path, `ollama:[host/][namespace/]name[:tag]` (from a
/// store on this disk, else from the catalog, else from its registry), a catalog id, the `org/name` of a catalog entry, else `org/name[@revision][:quantization]` or a page of the Hub.
Result<CheckpointPtr> openCheckpoint(std::string_view argument, const OpenContext &context,
                                     std::stop_token stop = {}, const ProgressCallback &progress = {});

} // namespace weir

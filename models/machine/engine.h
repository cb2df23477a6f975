// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"
#include "models/machine/machine.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// Where speed constants come from, best first.
enum class SpeedBasis : std::uint8_t { Own, Fitted, Class, Default };
std::string_view speedBasisId(SpeedBasis basis);

/// Constants of `seconds = bytes / (efficiency * datasheet bandwidth) + fixed + sum(layers * cost)`.
struct SpeedConstants
{
    std::string machine;                  ///< machine id, or empty for a class or the default
    std::optional<std::string> memoryKind; ///< "unified" | "discrete" | "cpu" for a class
    double efficiency = 0;                ///< of the datasheet bandwidth, 0..1
    double fixedSeconds = 0;              ///< per step
    double secondsPerAttentionLayer = 0;
    double secondsPerMlaLayer = 0;
    double secondsPerLinearLayer = 0;     ///< gated DeltaNet, KDA, short convolution
    double secondsPerMambaLayer = 0;
    double secondsPerMoeLayer = 0;
    SpeedBasis basis = SpeedBasis::Default;
    std::uint32_t rows = 0;               ///< measurements behind the fit; 0 = none
    std::optional<double> lowFactor;      ///< 10th percentile of measured / predicted; needs rows
    std::optional<double> highFactor;     ///< 90th percentile
    std::string source;                   ///< which rows, which command, in words
};

/// How one engine loads weights and accounts for memory, and how fast it is where. From `data/engines.json`.
struct Engine
{
    std::string id;
    std::string name;
    std::string version; ///< that the constants stand for; empty = several
    std::vector<Format> formats;            ///< that it loads
    std::vector<std::string> notQuantizations; ///< quantizations it does not load
    std::vector<std::string> vendors;       ///< machine vendors it runs on; empty = any
    std::vector<std::string> kvDtypes;      ///< accepted for K and V, first = default (16 bit)
    bool loadsIdleDraftHead = false;        ///< keeps MTP tensors in memory without speculation
    bool loadsUnlistedFiles = false;        ///< reads weight files that the index does not list
    bool loadsVisionTower = true;           ///< tower tensors inside the same files
    bool copiesTiedEmbedding = false;       ///< a second copy of a tied table for the head (llama.cpp)
    std::uint32_t contextPadding = 1;       ///< tokens a KV cache is rounded up to
    std::uint32_t windowBatchTokens = 0;    ///< extra tokens kept by a sliding-window cache
    std::string stateDtype;                 ///< forced dtype of recurrent state; empty = the model's
    std::string convolutionDtype;           ///< forced dtype of the convolution state; empty = the model's
    Sourced runtimeBytes;                   ///< CUDA context, workspace, graphs
    Sourced activationBytes;                ///< compute buffers of the default batch
    std::optional<Sourced> memoryUtilization; ///< default share of memory an engine takes as a budget (vLLM)
    std::vector<SpeedConstants> speed;
    std::string source;

    /// Best constants for a machine: its own row, its class, the default.
    const SpeedConstants *speedFor(const Machine &machine) const;
};

/// Whether an engine can run a checkpoint on a machine; `reason` is a message id with arguments.
struct LoadVerdict
{
    bool canLoad = true;
    Message reason;
};
LoadVerdict canLoad(const Engine &engine, const Checkpoint &checkpoint, const Machine &machine);

Result<std::vector<Engine>> readEngines(const std::filesystem::path &file);

/// The engine that `auto` means for a checkpoint: safetensors vllm, GGUF llama.cpp, MLX mlx,
/// anything from Ollama ollama.
std::string automaticEngine(const Checkpoint &checkpoint);

} // namespace weir

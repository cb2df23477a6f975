// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/message.h"
#include "models/checkpoint/checkpoint.h"
#include "models/machine/engine.h"
#include "models/machine/machine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// What is asked of the model. Defaults as in the window and on the command line.
struct Workload
{
    std::uint64_t contextTokens = 4096; ///< tokens in the cache while decoding
    std::uint32_t concurrency = 1;      ///< sequences decoded together
    std::string kDtype = "f16";         ///< f16 bf16 fp8 q8_0 q4_0 ...; see kvElementBits()
    std::string vDtype = "f16";
    std::optional<std::uint64_t> reserveBytes; ///< kept free; empty = the machine's default
};

/// Why a component is streamed as it is; worded by the catalogue (`reason.routed` ...).
struct ComponentAssessment
{
    Component component = Component::Other;
    std::uint64_t parameters = 0;
    std::uint64_t tensors = 0;
    std::uint64_t residentBytes = 0;
    std::uint64_t streamedBytes = 0; ///< one plain token, context 0
    Message reason;
    std::map<std::string, std::uint64_t> bytesByDtype;
};

/// All of it per node. total = what the workload needs, reserve included; margin = usable - total.
struct MemoryAssessment
{
    std::uint64_t weightsBytes = 0; ///< as this engine loads them
    std::uint64_t kvBytes = 0;
    std::uint64_t stateBytes = 0;
    std::uint64_t activationBytes = 0;
    std::uint64_t runtimeBytes = 0;
    std::uint64_t reserveBytes = 0;
    std::uint64_t totalBytes = 0;
    std::uint64_t usableBytes = 0;
    bool fits = false;
    std::int64_t marginBytes = 0;
    std::uint64_t kvBytesPerToken = 0; ///< growth at the requested context, one sequence
    std::optional<std::uint64_t>
        maxContextTokens; ///< of each of the sequences; empty = weights alone do not fit
    bool contextLimitedByModel = false;
    std::optional<std::uint32_t> maxConcurrency;
    std::optional<std::uint64_t> budgetBytes;   ///< engines that reserve one (vLLM)
    std::optional<std::uint64_t> kvPoolBytes;   ///< what the budget leaves for the cache
    std::optional<std::uint64_t> kvPoolTokens;
};

enum class Bound : std::uint8_t { Bandwidth, Compute, Overhead, Link };
std::string_view boundId(Bound bound);

/// One decode step. Seconds and bytes are of the whole step (all concurrent sequences).
struct DecodeAssessment
{
    std::uint64_t bytesPerStep = 0;
    std::uint64_t weightBytes = 0; ///< streamed weights, woken experts of all sequences
    std::uint64_t kvBytes = 0;
    std::uint64_t stateBytes = 0; ///< read and written
    double secondsPerStep = 0;
    double weightSeconds = 0;
    double kvSeconds = 0;
    double stateSeconds = 0;
    double fixedSeconds = 0; ///< per step and per layer
    double tokensPerSecond = 0;          ///< per stream
    double aggregateTokensPerSecond = 0; ///< of all streams
    std::optional<double> low;           ///< per stream; empty where no rows stand behind it
    std::optional<double> high;
    Bound bound = Bound::Bandwidth;
    double datasheetLimitTokensPerSecond = 0; ///< bandwidth / bytes per step
    double effectiveBandwidthBytesPerSecond = 0; ///< efficiency * datasheet: the dashed line
    SpeedBasis basis = SpeedBasis::Default;
    std::uint32_t basisRows = 0;
};

/// The answer. The window, the command line and reports read this and nothing else.
struct Assessment
{
    CheckpointPtr checkpoint;
    Machine machine;
    std::string engineId;
    std::string engineName;
    std::string engineVersion;
    LoadVerdict load;
    Workload workload; ///< with the reserve filled in

    std::vector<ComponentAssessment> components; ///< in component order, empty ones left out
    std::uint64_t residentBytes = 0;
    std::uint64_t streamedBytes = 0;
    std::uint64_t parametersActive = 0;

    MemoryAssessment memory;
    std::optional<DecodeAssessment> decode; ///< empty: cannot load, or bandwidth unknown
    std::vector<Message> warnings;

    double streamedFraction() const;
};

/// The pure function in the middle: no I/O, no clock, no globals; well under a millisecond.
Assessment assess(const CheckpointPtr &checkpoint, const Machine &machine, const Engine &engine,
                  const Workload &workload);

} // namespace weir

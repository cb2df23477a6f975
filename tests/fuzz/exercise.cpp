// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/exercise.h"

#include "models/base/saturating.h"
#include "models/checkpoint/quantrecipe.h"
#include "models/checkpoint/requantize.h"
#include "models/checkpoint/unquantized.h"
#include "models/decode/assessment.h"
#include "models/report/assessmentjson.h"
#include "models/sources/catalogformat.h"
#include "tests/fuzz/fuzztarget.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace weir::fuzz {

namespace {

Machine machine()
{
    Machine machine;
    machine.id = "machine";
    machine.name = "Machine";
    machine.vendor = "nobody";
    machine.memoryBytes = 128'000'000'000;
    machine.bandwidthBytesPerSecond = Sourced{273e9, "made up"};
    return machine;
}

Engine engine()
{
    Engine engine;
    engine.id = "engine";
    engine.name = "Engine";
    engine.formats = {Format::Safetensors, Format::Gguf, Format::Mlx};
    engine.kvDtypes = {"f16", "fp8", "q8_0"};
    engine.copiesTiedEmbedding = true;
    engine.contextPadding = 256;
    engine.windowBatchTokens = 512;
    engine.runtimeBytes = {1e9, "made up"};
    engine.activationBytes = {1e9, "made up"};
    SpeedConstants speed;
    speed.efficiency = 0.7;
    speed.fixedSeconds = 1e-4;
    speed.secondsPerAttentionLayer = 1e-5;
    speed.secondsPerMoeLayer = 1e-5;
    engine.speed = {speed};
    return engine;
}

void assessed(const CheckpointPtr &checkpoint)
{
    Workload workload;
    workload.contextTokens = 131'072;
    workload.concurrency = 3;
    workload.kDtype = "q8_0";
    const Assessment assessment = assess(checkpoint, machine(), engine(), workload);
    require(assessment.memory.totalBytes >= assessment.memory.weightsBytes, "a total holds its parts");
    if (assessment.decode) {
        require(std::isfinite(assessment.decode->tokensPerSecond), "a speed is a number");
        require(assessment.decode->tokensPerSecond >= 0, "a speed is not negative");
    }
    const ReportWords words{[](const Message &message) { return message.id; },
                            [](const Message &message) { return message.id; },
                            [](Component component) { return std::string(componentId(component)); }};
    const auto replace = nlohmann::ordered_json::error_handler_t::replace; // as the command line does
    static_cast<void>(assessmentJson(assessment, words).dump(1, ' ', false, replace));
}

} // namespace

void exercise(Checkpoint checkpoint)
{
    finish(checkpoint);
    std::uint64_t bytes = 0;
    for (const ComponentSum &sum : checkpoint.sums)
        bytes = saturatingAdd(bytes, sum.bytes);
    require(bytes == checkpoint.weightBytes(), "components add up to the whole");
    static_cast<void>(writeGroupFile(checkpoint)); // as the cache of the Hub does
    // One of them for each input: it is inputs that are to be many.
    static constexpr std::array<const char *, 5> schemes{"Q4_K_M", "nvfp4", "awq,lm_head=int8", "mlx-4bit",
                                                         "bf16"};
    const Result<QuantRecipe> recipe =
        parseQuantRecipe(schemes.at((bytes / 2 + checkpoint.groups.size()) % schemes.size()));
    require(recipe.has_value(), "a scheme of the vocabulary is known");
    if (Result<Checkpoint> other = requantize(checkpoint, *recipe))
        assessed(std::make_shared<const Checkpoint>(*std::move(other)));
    assessed(std::make_shared<const Checkpoint>(std::move(checkpoint)));
}

} // namespace weir::fuzz

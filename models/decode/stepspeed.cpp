// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/decode/stepspeed.h"

#include "models/base/saturating.h"
#include "models/decode/cachebytes.h"
#include "models/decode/streamed.h"

namespace weir {

std::string_view boundId(Bound bound)
{
    switch (bound) {
    case Bound::Bandwidth: return "bandwidth";
    case Bound::Compute: return "compute";
    case Bound::Overhead: return "overhead";
    case Bound::Link: return "link";
    }
    return {};
}

double fixedSeconds(const ModelSpec &spec, const SpeedConstants &constants)
{
    double seconds = constants.fixedSeconds + spec.moeLayers * constants.secondsPerMoeLayer;
    for (const AttentionLayers &run : spec.attention) {
        seconds += run.layers
                   * (run.kind == LayerKind::Mla ? constants.secondsPerMlaLayer
                                                 : constants.secondsPerAttentionLayer);
    }
    for (const StateLayers &run : spec.state) {
        seconds += run.layers
                   * (run.kind == LayerKind::Mamba ? constants.secondsPerMambaLayer
                                                   : constants.secondsPerLinearLayer);
    }
    return seconds;
}

std::optional<DecodeAssessment> assessDecode(const Checkpoint &checkpoint, const Machine &machine,
                                             const Engine &engine, const Workload &workload)
{
    const SpeedConstants *constants = engine.speedFor(machine);
    if (constants == nullptr || constants->efficiency <= 0 || !machine.bandwidthBytesPerSecond
        || machine.bandwidthBytesPerSecond->value <= 0 || workload.concurrency == 0)
        return std::nullopt;

    const ElementSize k = kvElementSize(workload.kDtype).value_or(ElementSize{});
    const ElementSize v = kvElementSize(workload.vDtype).value_or(ElementSize{});
    DecodeAssessment decode;
    decode.weightBytes = streamedWeightBytes(checkpoint, workload.concurrency);
    decode.kvBytes =
        saturatingMultiply(kvBytesRead(checkpoint.spec, workload.contextTokens, k, v), workload.concurrency);
    // A recurrent state is read and written back at every step.
    decode.stateBytes = saturatingMultiply(
        stateBytes(checkpoint.spec, engine.stateDtype, engine.convolutionDtype), 2ULL * workload.concurrency);
    decode.bytesPerStep = saturatingAdd(saturatingAdd(decode.weightBytes, decode.kvBytes), decode.stateBytes);
    if (decode.bytesPerStep == 0)
        return std::nullopt;

    const double datasheet = machine.bandwidthBytesPerSecond->value;
    const double effective = constants->efficiency * datasheet;
    decode.effectiveBandwidthBytesPerSecond = effective;
    decode.weightSeconds = static_cast<double>(decode.weightBytes) / effective;
    decode.kvSeconds = static_cast<double>(decode.kvBytes) / effective;
    decode.stateSeconds = static_cast<double>(decode.stateBytes) / effective;
    decode.fixedSeconds = fixedSeconds(checkpoint.spec, *constants);
    decode.secondsPerStep =
        decode.weightSeconds + decode.kvSeconds + decode.stateSeconds + decode.fixedSeconds;
    decode.tokensPerSecond = 1 / decode.secondsPerStep;
    decode.aggregateTokensPerSecond = workload.concurrency / decode.secondsPerStep;
    decode.datasheetLimitTokensPerSecond = datasheet / static_cast<double>(decode.bytesPerStep);
    decode.bound = decode.fixedSeconds > decode.secondsPerStep / 2 ? Bound::Overhead : Bound::Bandwidth;
    decode.basis = constants->basis;
    decode.basisRows = constants->rows;
    if (constants->rows > 0 && constants->lowFactor && constants->highFactor) {
        decode.low = decode.tokensPerSecond * *constants->lowFactor;
        decode.high = decode.tokensPerSecond * *constants->highFactor;
    }
    return decode;
}

} // namespace weir

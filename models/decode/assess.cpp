// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/decode/assessment.h"

#include "models/base/saturating.h"
#include "models/decode/memoryfit.h"
#include "models/decode/stepspeed.h"
#include "models/decode/streamed.h"

#include <algorithm>

namespace weir {

namespace {

Message reasonFor(const Checkpoint &checkpoint, Component component, const ComponentSum *sum)
{
    const ModelSpec &spec = checkpoint.spec;
    std::uint64_t attentionLayers = 0;
    for (const AttentionLayers &run : spec.attention)
        attentionLayers += run.layers;
    std::uint64_t stateLayers = 0;
    for (const StateLayers &run : spec.state)
        stateLayers += run.layers;

    switch (component) {
    case Component::RoutedExperts:
        if (spec.experts == 0)
            return {"reason.routed-unknown", Severity::Warning, {}, {}};
        return {"reason.routed",
                Severity::Info,
                {{"active", std::uint64_t{spec.expertsPerToken}},
                 {"experts", std::uint64_t{spec.experts}},
                 {"layers", std::uint64_t{spec.moeLayers}}},
                {}};
    case Component::SharedExpert: return {"reason.shared", Severity::Info, {}, {}};
    case Component::DenseMlp: return {"reason.dense", Severity::Info, {}, {}};
    case Component::Attention: return {"reason.attention", Severity::Info, {{"layers", attentionLayers}}, {}};
    case Component::LinearAttention: return {"reason.linear", Severity::Info, {{"layers", stateLayers}}, {}};
    case Component::Router: return {"reason.router", Severity::Info, {}, {}};
    case Component::EmbedTokens:
        return {spec.tiedEmbeddings ? "reason.embed-tied" : "reason.embed", Severity::Info, {}, {}};
    case Component::LookupTables: return {"reason.lookup", Severity::Info, {}, {}};
    case Component::LmHead:
        return {spec.tiedEmbeddings ? "reason.head-tied" : "reason.head", Severity::Info, {}, {}};
    case Component::Mtp:
        return {sum != nullptr && sum->unlistedBytes > 0 ? "reason.draft-unlisted" : "reason.draft",
                Severity::Info,
                {},
                {}};
    case Component::Vision: return {"reason.vision", Severity::Info, {}, {}};
    case Component::Audio: return {"reason.audio", Severity::Info, {}, {}};
    case Component::Norm: return {"reason.norm", Severity::Info, {}, {}};
    case Component::Other:
        return {sum != nullptr && sum->unseenBytes > 0 ? "reason.unseen" : "reason.other",
                Severity::Info,
                {},
                {}};
    }
    return {};
}

void assessComponents(const Checkpoint &checkpoint, Assessment &assessment)
{
    for (const Component component : allComponents) {
        const ComponentSum *sum = checkpoint.sum(component);
        const std::uint64_t streamed = streamedBytes(checkpoint, component);
        if (sum == nullptr && streamed == 0)
            continue;
        ComponentAssessment &each = assessment.components.emplace_back();
        each.component = component;
        each.streamedBytes = streamed;
        each.reason = reasonFor(checkpoint, component, sum);
        if (sum != nullptr) {
            each.parameters = sum->parameters;
            each.tensors = sum->tensors;
            each.residentBytes = sum->bytes;
            each.bytesByDtype = sum->bytesByDtype;
        }
        assessment.residentBytes = saturatingAdd(assessment.residentBytes, each.residentBytes);
        assessment.streamedBytes = saturatingAdd(assessment.streamedBytes, each.streamedBytes);
        assessment.parametersActive =
            saturatingAdd(assessment.parametersActive, streamedParameters(checkpoint, component));
    }
}

void addWarnings(const Checkpoint &checkpoint, const Engine &engine, Assessment &assessment)
{
    auto &warnings = assessment.warnings;
    warnings = checkpoint.notes;
    switch (checkpoint.provenance) {
    case Provenance::Reconstructed:
        warnings.push_back({"provenance.reconstructed", Severity::Warning, {}, {}});
        break;
    case Provenance::Config: {
        // An imagined quantization says what it was derived from itself.
        const bool said = std::any_of(warnings.begin(), warnings.end(),
                                      [](const Message &note) { return note.id.starts_with("quant."); });
        if (!said)
            warnings.push_back({"provenance.config", Severity::Warning, {}, {}});
        break;
    }
    case Provenance::Index: warnings.push_back({"provenance.index", Severity::Warning, {}, {}}); break;
    case Provenance::Headers: break;
    }
    if (const ComponentSum *draft = checkpoint.sum(Component::Mtp)) {
        warnings.push_back({draft->unlistedBytes > 0 ? "draft.ships-unlisted" : "draft.ships",
                            Severity::Info,
                            {{"bytes", Bytes{draft->bytes}}},
                            {}});
    }
    if (checkpoint.spec.declaredKvDtype && assessment.workload.kDtype != *checkpoint.spec.declaredKvDtype) {
        warnings.push_back(
            {"kv.declared", Severity::Info, {{"dtype", *checkpoint.spec.declaredKvDtype}}, {}});
    }
    for (const AttentionLayers &run : checkpoint.spec.attention) {
        if (run.kElementsPerToken == 0 && run.layers > 0) {
            warnings.push_back({"kv.unknown", Severity::Warning, {}, {}});
            break;
        }
    }
    if (checkpoint.spec.maxContextTokens > 0
        && assessment.workload.contextTokens > checkpoint.spec.maxContextTokens) {
        warnings.push_back(
            {"context.beyond-model",
             Severity::Warning,
             {{"context", assessment.workload.contextTokens}, {"limit", checkpoint.spec.maxContextTokens}},
             {}});
    }
    if (!assessment.load.canLoad)
        warnings.push_back(assessment.load.reason);
    const MemoryAssessment &memory = assessment.memory;
    if (!memory.fits) {
        warnings.push_back({"memory.does-not-fit",
                            Severity::Error,
                            {{"total", Bytes{memory.totalBytes}},
                             {"usable", Bytes{memory.usableBytes}},
                             {"short", Bytes{static_cast<std::uint64_t>(-memory.marginBytes)}}},
                            {}});
    } else if (memory.usableBytes > 0
               && memory.marginBytes < static_cast<std::int64_t>(memory.usableBytes / 20)) {
        warnings.push_back({"memory.tight",
                            Severity::Warning,
                            {{"margin", Bytes{static_cast<std::uint64_t>(memory.marginBytes)}}},
                            {}});
    }
    if (!assessment.machine.usableBytes)
        warnings.push_back(
            {"memory.visible-unknown", Severity::Info, {{"machine", assessment.machine.name}}, {}});
    if (engine.memoryUtilization && memory.budgetBytes) {
        warnings.push_back({"memory.budget",
                            Severity::Info,
                            {{"engine", engine.name},
                             {"budget", Bytes{*memory.budgetBytes}},
                             {"utilization", engine.memoryUtilization->value}},
                            engine.memoryUtilization->source});
    }
    if (assessment.decode) {
        const DecodeAssessment &decode = *assessment.decode;
        if (const SpeedConstants *constants = engine.speedFor(assessment.machine)) {
            warnings.push_back({"speed.basis-" + std::string(speedBasisId(decode.basis)),
                                Severity::Info,
                                {{"rows", std::uint64_t{decode.basisRows}}},
                                constants->source});
        }
        if (checkpoint.isMoe()) {
            warnings.push_back(
                {assessment.workload.concurrency > 1 ? "routing.uniform-batch" : "routing.uniform",
                 Severity::Info,
                 {},
                 {}});
        }
    } else if (assessment.load.canLoad) {
        warnings.push_back(
            {assessment.machine.bandwidthBytesPerSecond ? "speed.no-constants" : "speed.no-bandwidth",
             Severity::Warning,
             {{"machine", assessment.machine.name}, {"engine", engine.name}},
             {}});
    }
    warnings.push_back({"not-predicted", Severity::Info, {}, {}});
}

} // namespace

double Assessment::streamedFraction() const
{
    return residentBytes == 0 ? 0 : static_cast<double>(streamedBytes) / static_cast<double>(residentBytes);
}

Assessment assess(const CheckpointPtr &checkpoint, const Machine &machine, const Engine &engine,
                  const Workload &workload)
{
    Assessment assessment;
    assessment.checkpoint = checkpoint;
    assessment.machine = machine;
    assessment.engineId = engine.id;
    assessment.engineName = engine.name;
    assessment.engineVersion = engine.version;
    assessment.workload = workload;
    if (!assessment.workload.reserveBytes)
        assessment.workload.reserveBytes = machine.defaultReserveBytes();
    assessment.load = canLoad(engine, *checkpoint, machine);

    assessComponents(*checkpoint, assessment);
    assessment.memory = assessMemory(*checkpoint, machine, engine, assessment.workload);
    if (assessment.load.canLoad)
        assessment.decode = assessDecode(*checkpoint, machine, engine, assessment.workload);
    addWarnings(*checkpoint, engine, assessment);
    return assessment;
}

} // namespace weir

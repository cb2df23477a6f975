// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/report/assessmentjson.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace weir {

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json orNull(const std::optional<T> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json sourcedOrNull(const std::optional<Sourced> &value)
{
    return value ? Json(static_cast<std::uint64_t>(std::llround(value->value))) : Json(nullptr);
}

/// Rounds to `1 / scale`: the nearest double to that decimal, which prints without noise.
double rounded(double value, double scale) { return std::round(value * scale) / scale; }

Json seconds(double value) { return rounded(value, 1e9); }

std::string_view severityId(Severity severity)
{
    switch (severity) {
    case Severity::Info: return "info";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
    }
    return {};
}

Json checkpointJson(const Assessment &assessment)
{
    const Checkpoint &checkpoint = *assessment.checkpoint;
    Json files = Json::array();
    for (const RepositoryFile &file : checkpoint.files) {
        files.push_back(
            {{"path", file.path}, {"bytes", file.bytes}, {"listed", file.listed}, {"counted", file.counted}});
    }
    return {{"id", checkpoint.id},
            {"source", sourceId(checkpoint.source)},
            {"revision", checkpoint.revision.empty() ? Json(nullptr) : Json(checkpoint.revision)},
            {"format", formatId(checkpoint.format)},
            {"architecture", checkpoint.spec.architecture},
            {"quantization", checkpoint.quantization},
            {"provenance", provenanceId(checkpoint.provenance)},
            {"parameters_total", checkpoint.parametersKnown() ? Json(checkpoint.parametersTotal()) : Json()},
            {"parameters_active", checkpoint.parametersKnown() ? Json(assessment.parametersActive) : Json()},
            {"repository_bytes", orNull(checkpoint.repositoryBytes)},
            {"weight_bytes", checkpoint.weightBytes()},
            {"files", std::move(files)}};
}

Json memoryJson(const MemoryAssessment &memory)
{
    return {{"weights_bytes", memory.weightsBytes},
            {"kv_bytes", memory.kvBytes},
            {"state_bytes", memory.stateBytes},
            {"activation_bytes", memory.activationBytes},
            {"runtime_bytes", memory.runtimeBytes},
            {"draft_bytes", 0},
            {"neighbours_bytes", 0},
            {"reserve_bytes", memory.reserveBytes},
            {"total_bytes", memory.totalBytes},
            {"usable_bytes", memory.usableBytes},
            {"fits", memory.fits},
            {"margin_bytes", memory.marginBytes},
            {"load_peak_bytes", nullptr},
            {"kv_bytes_per_token", memory.kvBytesPerToken},
            {"max_context_tokens", orNull(memory.maxContextTokens)},
            {"context_limited_by", memory.maxContextTokens
                                       ? Json(memory.contextLimitedByModel ? "model" : "memory")
                                       : Json("memory")},
            {"max_concurrency", orNull(memory.maxConcurrency)},
            {"budget_bytes", orNull(memory.budgetBytes)},
            {"kv_pool_bytes", orNull(memory.kvPoolBytes)},
            {"kv_pool_tokens", orNull(memory.kvPoolTokens)},
            {"safe_utilization", nullptr}};
}

Json decodeJson(const DecodeAssessment &decode)
{
    const auto speed = [](double value) { return rounded(value, 1e4); };
    return {{"bytes_per_step", decode.bytesPerStep},
            {"bytes",
             {{"weights", decode.weightBytes},
              {"kv", decode.kvBytes},
              {"state", decode.stateBytes},
              {"draft", 0}}},
            {"seconds_per_step", seconds(decode.secondsPerStep)},
            {"seconds",
             {{"weights", seconds(decode.weightSeconds)},
              {"kv", seconds(decode.kvSeconds)},
              {"state", seconds(decode.stateSeconds)},
              {"draft", 0.0},
              {"fixed", seconds(decode.fixedSeconds)},
              {"link", 0.0}}},
            {"tokens_per_step", 1.0},
            {"tokens_per_second", speed(decode.tokensPerSecond)},
            {"low", decode.low ? Json(speed(*decode.low)) : Json(nullptr)},
            {"high", decode.high ? Json(speed(*decode.high)) : Json(nullptr)},
            {"aggregate_tokens_per_second", speed(decode.aggregateTokensPerSecond)},
            {"bound", boundId(decode.bound)},
            {"datasheet_limit_tokens_per_second", speed(decode.datasheetLimitTokensPerSecond)},
            {"basis", {{"from", speedBasisId(decode.basis)}, {"rows", decode.basisRows}}}};
}

} // namespace

nlohmann::ordered_json assessmentJson(const Assessment &assessment, const ReportWords &words)
{
    const Machine &machine = assessment.machine;
    Json components = Json::array();
    for (const ComponentAssessment &each : assessment.components) {
        const ComponentSum *sum = assessment.checkpoint->sum(each.component);
        Json dtypes = Json::object();
        for (const auto &[dtype, bytes] : each.bytesByDtype)
            dtypes[dtype] = bytes;
        components.push_back(
            {{"id", componentId(each.component)},
             {"label", words.componentLabel(each.component)},
             {"parameters", sum == nullptr || sum->parametersKnown ? Json(each.parameters) : Json()},
             {"tensors", each.tensors},
             {"resident_bytes", each.residentBytes},
             {"streamed_bytes", each.streamedBytes},
             {"reason", words.detail(each.reason)},
             {"dtypes", std::move(dtypes)}});
    }
    Json warnings = Json::array();
    for (const Message &warning : assessment.warnings) {
        warnings.push_back({{"id", warning.id},
                            {"severity", severityId(warning.severity)},
                            {"title", words.title(warning)},
                            {"detail", words.detail(warning)},
                            {"source", warning.source.empty() ? Json(nullptr) : Json(warning.source)}});
    }
    const Workload &workload = assessment.workload;
    return {
        {"schema", "weir.assessment/1"},
        {"checkpoint", checkpointJson(assessment)},
        {"machine",
         {{"id", machine.id},
          {"name", machine.name},
          {"nodes", 1},
          {"memory_bytes", machine.memoryBytes},
          {"usable_bytes", sourcedOrNull(machine.usableBytes)},
          {"bandwidth_bytes_per_second", sourcedOrNull(machine.bandwidthBytesPerSecond)},
          {"readable_bandwidth_bytes_per_second", sourcedOrNull(machine.readableBandwidthBytesPerSecond)}}},
        {"engine",
         {{"id", assessment.engineId},
          {"version", assessment.engineVersion.empty() ? Json(nullptr) : Json(assessment.engineVersion)},
          {"kernel_path", nullptr},
          {"can_load", assessment.load.canLoad},
          {"reason", assessment.load.canLoad ? Json(nullptr) : Json(words.detail(assessment.load.reason))}}},
        {"workload",
         {{"context_tokens", workload.contextTokens},
          {"prompt_tokens", nullptr},
          {"cached_tokens", nullptr},
          {"output_tokens", nullptr},
          {"concurrency", workload.concurrency},
          {"batch_tokens", nullptr},
          {"k_dtype", workload.kDtype},
          {"v_dtype", workload.vDtype},
          {"state_dtype", assessment.checkpoint->spec.stateDtype.empty()
                              ? Json(nullptr)
                              : Json(assessment.checkpoint->spec.stateDtype)},
          {"draft_method", "none"},
          {"draft_checkpoint", nullptr},
          {"draft_tokens", 0},
          {"acceptance", nullptr},
          {"memory_utilization", nullptr}}},
        {"components", std::move(components)},
        {"totals",
         {{"resident_bytes", assessment.residentBytes},
          {"streamed_bytes", assessment.streamedBytes},
          {"streamed_fraction", rounded(assessment.streamedFraction(), 1e9)}}},
        {"memory", memoryJson(assessment.memory)},
        {"decode", assessment.decode ? decodeJson(*assessment.decode) : Json(nullptr)},
        {"prefill", nullptr},
        {"turn", nullptr},
        {"warnings", std::move(warnings)}};
}

nlohmann::ordered_json machineJson(const Machine &machine)
{
    const auto source = [](const std::optional<Sourced> &value) {
        return value ? Json(value->source) : Json(nullptr);
    };
    return {{"id", machine.id},
            {"name", machine.name},
            {"vendor", machine.vendor},
            {"memory_kind", machine.memoryKind == MemoryKind::Unified    ? "unified"
                            : machine.memoryKind == MemoryKind::Discrete ? "discrete"
                                                                         : "cpu"},
            {"memory_bytes", machine.memoryBytes},
            {"usable_bytes", sourcedOrNull(machine.usableBytes)},
            {"bandwidth_bytes_per_second", sourcedOrNull(machine.bandwidthBytesPerSecond)},
            {"readable_bandwidth_bytes_per_second", sourcedOrNull(machine.readableBandwidthBytesPerSecond)},
            {"reserve_bytes", machine.defaultReserveBytes()},
            {"sources",
             {{"memory_bytes", machine.memorySource},
              {"usable_bytes", source(machine.usableBytes)},
              {"bandwidth_bytes_per_second", source(machine.bandwidthBytesPerSecond)},
              {"readable_bandwidth_bytes_per_second", source(machine.readableBandwidthBytesPerSecond)}}},
            {"note", machine.note}};
}

nlohmann::ordered_json engineJson(const Engine &engine)
{
    Json formats = Json::array();
    for (const Format format : engine.formats)
        formats.push_back(formatId(format));
    Json speed = Json::array();
    for (const SpeedConstants &each : engine.speed) {
        speed.push_back({{"machine", each.machine.empty() ? Json(nullptr) : Json(each.machine)},
                         {"memory_kind", orNull(each.memoryKind)},
                         {"basis", speedBasisId(each.basis)},
                         {"rows", each.rows},
                         {"efficiency", each.efficiency},
                         {"fixed_seconds", each.fixedSeconds},
                         {"seconds_per_attention_layer", each.secondsPerAttentionLayer},
                         {"seconds_per_mla_layer", each.secondsPerMlaLayer},
                         {"seconds_per_linear_layer", each.secondsPerLinearLayer},
                         {"seconds_per_mamba_layer", each.secondsPerMambaLayer},
                         {"seconds_per_moe_layer", each.secondsPerMoeLayer},
                         {"low_factor", orNull(each.lowFactor)},
                         {"high_factor", orNull(each.highFactor)},
                         {"source", each.source}});
    }
    return {{"id", engine.id},
            {"name", engine.name},
            {"version", engine.version},
            {"formats", std::move(formats)},
            {"vendors", engine.vendors},
            {"kv_dtypes", engine.kvDtypes},
            {"runtime_bytes", static_cast<std::uint64_t>(engine.runtimeBytes.value)},
            {"activation_bytes", static_cast<std::uint64_t>(engine.activationBytes.value)},
            {"speed", std::move(speed)},
            {"source", engine.source}};
}

} // namespace weir

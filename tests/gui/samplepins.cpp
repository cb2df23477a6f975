// SPDX-License-Identifier: GPL-3.0-or-later
#include "samplepins.h"

namespace weir::test {

QString SampleWording::title(const Message &message) const { return QString::fromStdString(message.id); }

QString SampleWording::detail(const Message &message) const { return QString::fromStdString(message.id); }

QString SampleWording::sentence(const Error &error) const { return QString::fromStdString(error.id); }

QString SampleWording::componentLabel(Component component) const
{
    switch (component) {
    case Component::RoutedExperts: return QStringLiteral("Routed experts");
    case Component::SharedExpert: return QStringLiteral("Shared expert");
    case Component::DenseMlp: return QStringLiteral("Dense MLP");
    case Component::Attention: return QStringLiteral("Attention");
    case Component::LinearAttention: return QStringLiteral("Linear attention");
    case Component::Router: return QStringLiteral("Router");
    case Component::EmbedTokens: return QStringLiteral("Embedding");
    case Component::LookupTables: return QStringLiteral("Lookup tables");
    case Component::LmHead: return QStringLiteral("lm_head");
    case Component::Mtp: return QStringLiteral("MTP head");
    case Component::Vision: return QStringLiteral("Vision tower");
    case Component::Audio: return QStringLiteral("Audio tower");
    case Component::Norm: return QStringLiteral("Norms");
    case Component::Other: return QStringLiteral("Other");
    }
    return {};
}

Assessment sampleAssessment(const std::string &name, std::uint32_t experts,
                            const std::vector<SampleComponent> &components, double effective,
                            double fixedSeconds, std::uint64_t kvBytes, std::uint64_t stateBytes)
{
    auto checkpoint = std::make_shared<Checkpoint>();
    checkpoint->id = name;
    checkpoint->name = name;
    checkpoint->quantization = "int4-autoround";
    checkpoint->spec.experts = experts;

    Assessment result;
    result.checkpoint = checkpoint;
    result.machine.id = "dgx-spark";
    result.machine.name = "DGX Spark (GB10)";
    result.machine.memoryBytes = 137438953472ULL;
    result.machine.usableBytes = Sourced{130.7e9, ""};
    result.machine.bandwidthBytesPerSecond = Sourced{273e9, ""};
    result.engineId = experts > 0 ? "vllm" : "ollama";
    result.engineName = experts > 0 ? "vLLM" : "Ollama";
    result.engineVersion = experts > 0 ? "0.21" : "";
    for (const SampleComponent &sample : components) {
        ComponentAssessment component;
        component.component = sample.component;
        component.tensors = 48;
        component.parameters = sample.residentBytes;
        component.residentBytes = sample.residentBytes;
        component.streamedBytes = sample.streamedBytes;
        component.reason.id = sample.reason;
        component.bytesByDtype[sample.dtype] = sample.residentBytes;
        result.components.push_back(component);
        result.residentBytes += sample.residentBytes;
        result.streamedBytes += sample.streamedBytes;
    }

    MemoryAssessment &memory = result.memory;
    memory.weightsBytes = result.residentBytes;
    memory.kvBytes = kvBytes;
    memory.stateBytes = stateBytes;
    memory.activationBytes = 1'200'000'000;
    memory.runtimeBytes = 2'300'000'000;
    memory.reserveBytes = 19'600'000'000;
    memory.usableBytes = 130'700'000'000;
    memory.kvBytesPerToken = kvBytes / 4096;
    memory.totalBytes = memory.weightsBytes + kvBytes + stateBytes + memory.activationBytes
                        + memory.runtimeBytes + memory.reserveBytes;
    memory.fits = memory.totalBytes <= memory.usableBytes;
    memory.marginBytes =
        static_cast<std::int64_t>(memory.usableBytes) - static_cast<std::int64_t>(memory.totalBytes);

    DecodeAssessment decode;
    decode.weightBytes = result.streamedBytes;
    decode.kvBytes = kvBytes;
    decode.stateBytes = 2 * stateBytes;
    decode.bytesPerStep = decode.weightBytes + decode.kvBytes + decode.stateBytes;
    decode.weightSeconds = static_cast<double>(decode.weightBytes) / effective;
    decode.kvSeconds = static_cast<double>(decode.kvBytes) / effective;
    decode.stateSeconds = static_cast<double>(decode.stateBytes) / effective;
    decode.fixedSeconds = fixedSeconds;
    decode.secondsPerStep = decode.weightSeconds + decode.kvSeconds + decode.stateSeconds + fixedSeconds;
    decode.tokensPerSecond = 1.0 / decode.secondsPerStep;
    decode.aggregateTokensPerSecond = decode.tokensPerSecond;
    decode.low = decode.tokensPerSecond * 0.9;
    decode.high = decode.tokensPerSecond * 1.1;
    decode.datasheetLimitTokensPerSecond = 273e9 / static_cast<double>(decode.bytesPerStep);
    decode.effectiveBandwidthBytesPerSecond = effective;
    result.decode = decode;
    return result;
}

Assessment sampleMoe()
{
    return sampleAssessment(
        "Qwen3.5-122B-A10B", 256,
        {{Component::RoutedExperts, 60'247'000'000, 1'882'718'750, "8 of 256 experts wake per token", "I32"},
         {Component::SharedExpert, 908'000'000, 908'000'000, "fires for every token", "BF16"},
         {Component::Attention, 489'000'000, 489'000'000, "12 layers, every token", "I32"},
         {Component::LinearAttention, 1'657'000'000, 1'657'000'000, "36 gated DeltaNet layers, every token",
          "I32"},
         {Component::Router, 80'000'000, 80'000'000, "every token", "BF16"},
         {Component::EmbedTokens, 1'526'000'000, 0, "one row is looked up", "BF16"},
         {Component::LmHead, 1'526'000'000, 1'526'000'000, "whole matrix, every token", "BF16"},
         {Component::Mtp, 5'053'000'000, 0, "idle until speculation is on; not in the index", "BF16"},
         {Component::Vision, 895'000'000, 0, "idle in plain text decode", "BF16"}},
        199e9, 0.0019, 100'663'296, 153'500'000);
}

Assessment sampleDense70()
{
    return sampleAssessment(
        "llama3.1:70b", 0,
        {{Component::DenseMlp, 33'800'000'000, 33'800'000'000, "every token", "Q4_K"},
         {Component::Attention, 7'300'000'000, 7'300'000'000, "80 layers, every token", "Q4_K"},
         {Component::EmbedTokens, 591'000'000, 0, "one row is looked up", "Q4_K"},
         {Component::LmHead, 862'000'000, 862'000'000, "whole matrix, every token", "Q6_K"}},
        199e9, 0, 1'342'177'280, 0);
}

Assessment sampleDense7()
{
    return sampleAssessment(
        "qwen2.5:7b", 0,
        {{Component::DenseMlp, 3'300'000'000, 3'300'000'000, "every token", "Q4_K"},
         {Component::Attention, 640'000'000, 640'000'000, "28 layers, every token", "Q4_K"},
         {Component::EmbedTokens, 306'000'000, 0, "one row is looked up", "Q4_K"},
         {Component::LmHead, 434'000'000, 434'000'000, "whole matrix, every token", "Q6_K"}},
        199e9, 0, 234'881'024, 0);
}

Pin samplePin(const Assessment &assessment, const QString &shortName, bool selected, double measuredSpeed)
{
    Pin pin;
    pin.id = QString::fromStdString(assessment.checkpoint->id);
    pin.shortName = shortName;
    pin.selected = selected;
    pin.assessment = std::make_shared<const Assessment>(assessment);
    MeasuredPoint point;
    point.bytesPerStep = static_cast<double>(assessment.streamedBytes) + 250e6;
    point.tokensPerSecond = measuredSpeed;
    point.row.engine = assessment.engineId;
    point.row.engineVersion = assessment.engineVersion;
    point.row.contextTokens = 2304;
    point.row.source = "published table";
    pin.measured.push_back(point);
    return pin;
}

Pins samplePins()
{
    return {samplePin(sampleMoe(), QStringLiteral("122B-A10B"), true, 27.2),
            samplePin(sampleDense70(), QStringLiteral("Llama-70B"), false, 4.8),
            samplePin(sampleDense7(), QStringLiteral("Qwen2.5-7B"), false, 45.3)};
}

} // namespace weir::test

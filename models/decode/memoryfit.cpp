// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/decode/memoryfit.h"

#include "models/base/saturating.h"
#include "models/decode/cachebytes.h"

#include <algorithm>
#include <cmath>

namespace weir {

namespace {

constexpr std::uint64_t contextSearchLimit = 1U << 30U; ///< where the model states no limit of its own
constexpr std::uint32_t concurrencySearchLimit = 4096;

struct Need
{
    std::uint64_t kvBytes = 0;
    std::uint64_t stateBytes = 0;
    std::uint64_t totalBytes = 0;
};

class Fit
{
public:
    Fit(const Checkpoint &checkpoint, const Engine &engine, const Workload &workload)
        : m_spec(checkpoint.spec)
        , m_engine(engine)
        , m_k(kvElementSize(workload.kDtype).value_or(ElementSize{}))
        , m_v(kvElementSize(workload.vDtype).value_or(ElementSize{}))
        , m_weights(loadedWeightBytes(checkpoint, engine))
        , m_fixed(saturatingAdd(saturatingAdd(static_cast<std::uint64_t>(engine.runtimeBytes.value),
                                              static_cast<std::uint64_t>(engine.activationBytes.value)),
                                workload.reserveBytes.value_or(0)))
    {}

    Need at(std::uint64_t contextTokens, std::uint32_t concurrency) const
    {
        Need need;
        const CacheLayout layout{m_engine.contextPadding, m_engine.windowBatchTokens};
        need.kvBytes = saturatingMultiply(kvBytesHeld(m_spec, contextTokens, m_k, m_v, layout), concurrency);
        need.stateBytes = saturatingMultiply(
            stateBytes(m_spec, m_engine.stateDtype, m_engine.convolutionDtype), concurrency);
        need.totalBytes =
            saturatingAdd(saturatingAdd(m_weights, m_fixed), saturatingAdd(need.kvBytes, need.stateBytes));
        return need;
    }

    std::uint64_t weights() const { return m_weights; }
    std::uint64_t perToken(std::uint64_t contextTokens) const
    {
        return kvBytesPerToken(m_spec, contextTokens, m_k, m_v);
    }

private:
    const ModelSpec &m_spec;
    const Engine &m_engine;
    ElementSize m_k;
    ElementSize m_v;
    std::uint64_t m_weights;
    std::uint64_t m_fixed;
};

/// Largest value in [1, limit] for which `fits` holds; `fits` is monotone. 0 if none.
template <typename Number, typename Fits>
Number largest(Number limit, const Fits &fits)
{
    Number low = 0;
    Number high = limit;
    while (low < high) {
        const Number middle = low + (high - low + 1) / 2;
        if (fits(middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

} // namespace

std::uint64_t loadedWeightBytes(const Checkpoint &checkpoint, const Engine &engine)
{
    std::uint64_t bytes = 0;
    for (const ComponentSum &sum : checkpoint.sums) {
        if (sum.component == Component::Mtp && !engine.loadsIdleDraftHead)
            continue;
        if ((sum.component == Component::Vision || sum.component == Component::Audio)
            && !engine.loadsVisionTower)
            continue;
        bytes = saturatingAdd(bytes, sum.bytes - (engine.loadsUnlistedFiles ? 0 : sum.unlistedBytes));
    }
    if (engine.copiesTiedEmbedding && checkpoint.spec.tiedEmbeddings) {
        if (const ComponentSum *table = checkpoint.sum(Component::EmbedTokens))
            bytes = saturatingAdd(bytes, table->bytes);
    }
    return bytes;
}

MemoryAssessment assessMemory(const Checkpoint &checkpoint, const Machine &machine, const Engine &engine,
                              const Workload &workload)
{
    const Fit fit(checkpoint, engine, workload);
    const Need need = fit.at(workload.contextTokens, workload.concurrency);
    MemoryAssessment memory;
    memory.weightsBytes = fit.weights();
    memory.kvBytes = need.kvBytes;
    memory.stateBytes = need.stateBytes;
    memory.activationBytes = static_cast<std::uint64_t>(engine.activationBytes.value);
    memory.runtimeBytes = static_cast<std::uint64_t>(engine.runtimeBytes.value);
    memory.reserveBytes = workload.reserveBytes.value_or(0);
    memory.totalBytes = need.totalBytes;
    memory.usableBytes = machine.usableOrNominalBytes();
    memory.fits = memory.totalBytes <= memory.usableBytes;
    memory.marginBytes = static_cast<std::int64_t>(std::min(memory.usableBytes, saturated))
                         - static_cast<std::int64_t>(std::min(memory.totalBytes, saturated));
    memory.kvBytesPerToken = fit.perToken(workload.contextTokens);

    const std::uint64_t modelLimit = checkpoint.spec.maxContextTokens;
    const std::uint64_t limit = modelLimit > 0 ? modelLimit : contextSearchLimit;
    const std::uint64_t context = largest<std::uint64_t>(limit, [&](std::uint64_t tokens) {
        return fit.at(tokens, workload.concurrency).totalBytes <= memory.usableBytes;
    });
    if (context > 0) {
        memory.maxContextTokens = context;
        memory.contextLimitedByModel = modelLimit > 0 && context == modelLimit;
    }
    const std::uint32_t sequences = largest<std::uint32_t>(concurrencySearchLimit, [&](std::uint32_t count) {
        return fit.at(workload.contextTokens, count).totalBytes <= memory.usableBytes;
    });
    if (sequences > 0)
        memory.maxConcurrency = sequences;

    if (engine.memoryUtilization) {
        // vLLM takes this share of what the device shows, whatever the model needs; the rest of the budget
        // becomes cache. Source: vllm/v1/worker/gpu_worker.py.
        const auto budget = static_cast<std::uint64_t>(
            std::ceil(static_cast<double>(memory.usableBytes) * engine.memoryUtilization->value));
        const std::uint64_t taken = saturatingAdd(saturatingAdd(memory.weightsBytes, memory.activationBytes),
                                                  saturatingAdd(memory.runtimeBytes, memory.stateBytes));
        memory.budgetBytes = budget;
        memory.kvPoolBytes = budget > taken ? budget - taken : 0;
        const std::uint64_t perToken = fit.perToken(0);
        if (perToken > 0)
            memory.kvPoolTokens = *memory.kvPoolBytes / perToken;
    }
    return memory;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/decode/streamed.h"

#include "models/base/saturating.h"

#include <cmath>

namespace weir {

namespace {

bool isIdle(Component component)
{
    switch (component) {
    case Component::EmbedTokens:
    case Component::LookupTables:
    case Component::Mtp:
    case Component::Vision:
    case Component::Audio: return true;
    default: return false;
    }
}

std::uint64_t activeShare(const Checkpoint &checkpoint, Component component, std::uint64_t amount)
{
    if (isIdle(component))
        return 0;
    if (component == Component::RoutedExperts && checkpoint.spec.experts > 0)
        return multiplyDivide(amount, checkpoint.spec.expertsPerToken, checkpoint.spec.experts);
    return amount;
}

/// The sum that a component reads: with tied tables the head reads the token table.
const ComponentSum *readSum(const Checkpoint &checkpoint, Component component)
{
    if (component == Component::LmHead && checkpoint.spec.tiedEmbeddings)
        return checkpoint.sum(Component::EmbedTokens);
    return checkpoint.sum(component);
}

} // namespace

std::uint64_t streamedBytes(const Checkpoint &checkpoint, Component component)
{
    const ComponentSum *sum = readSum(checkpoint, component);
    return sum == nullptr ? 0 : activeShare(checkpoint, component, sum->bytes - sum->unseenBytes);
}

std::uint64_t streamedParameters(const Checkpoint &checkpoint, Component component)
{
    const ComponentSum *sum = readSum(checkpoint, component);
    return sum == nullptr ? 0 : activeShare(checkpoint, component, sum->parameters);
}

double distinctExperts(std::uint32_t experts, std::uint32_t active, std::uint64_t positions)
{
    if (experts == 0)
        return 0;
    const double total = experts;
    return total * (1 - std::pow(1 - active / total, static_cast<double>(positions)));
}

std::uint64_t streamedWeightBytes(const Checkpoint &checkpoint, std::uint64_t positions)
{
    std::uint64_t total = 0;
    for (const Component component : allComponents) {
        std::uint64_t bytes = streamedBytes(checkpoint, component);
        const ComponentSum *sum = checkpoint.sum(component);
        if (component == Component::RoutedExperts && checkpoint.spec.experts > 0 && positions > 1
            && sum != nullptr) {
            const double share =
                distinctExperts(checkpoint.spec.experts, checkpoint.spec.expertsPerToken, positions)
                / checkpoint.spec.experts;
            bytes = static_cast<std::uint64_t>(std::llround(static_cast<double>(sum->bytes) * share));
        }
        total = saturatingAdd(total, bytes);
    }
    return total;
}

} // namespace weir

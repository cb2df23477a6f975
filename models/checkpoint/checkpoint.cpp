// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/checkpoint.h"

#include "models/base/saturating.h"

#include <algorithm>
#include <array>

namespace weir {

std::string_view sourceId(Source source)
{
    switch (source) {
    case Source::Hub: return "hub";
    case Source::Catalog: return "catalog";
    case Source::Folder: return "folder";
    case Source::File: return "file";
    case Source::Ollama: return "ollama";
    case Source::Config: return "config";
    }
    return {};
}

std::string_view formatId(Format format)
{
    switch (format) {
    case Format::Safetensors: return "safetensors";
    case Format::Gguf: return "gguf";
    case Format::Mlx: return "mlx";
    case Format::Pickle: return "pickle";
    case Format::Unknown: return "unknown";
    }
    return {};
}

std::optional<Format> formatFromId(std::string_view id)
{
    for (const Format format :
         {Format::Safetensors, Format::Gguf, Format::Mlx, Format::Pickle, Format::Unknown}) {
        if (formatId(format) == id)
            return format;
    }
    return std::nullopt;
}

std::string_view provenanceId(Provenance provenance)
{
    switch (provenance) {
    case Provenance::Headers: return "headers";
    case Provenance::Config: return "config";
    case Provenance::Reconstructed: return "reconstructed";
    case Provenance::Index: return "index";
    }
    return {};
}

std::optional<Provenance> provenanceFromId(std::string_view id)
{
    for (const Provenance provenance :
         {Provenance::Headers, Provenance::Config, Provenance::Reconstructed, Provenance::Index}) {
        if (provenanceId(provenance) == id)
            return provenance;
    }
    return std::nullopt;
}

const ComponentSum *Checkpoint::sum(Component component) const
{
    const auto found = std::find_if(sums.begin(), sums.end(), [component](const ComponentSum &sum) {
        return sum.component == component;
    });
    return found == sums.end() ? nullptr : &*found;
}

std::uint64_t Checkpoint::weightBytes() const
{
    std::uint64_t bytes = 0;
    for (const ComponentSum &sum : sums)
        bytes = saturatingAdd(bytes, sum.bytes);
    return bytes;
}

std::uint64_t Checkpoint::parametersTotal() const
{
    std::uint64_t parameters = 0;
    for (const ComponentSum &sum : sums)
        parameters = saturatingAdd(parameters, sum.parameters);
    return parameters;
}

bool Checkpoint::parametersKnown() const
{
    return std::all_of(sums.begin(), sums.end(), [](const ComponentSum &sum) { return sum.parametersKnown; });
}

void finish(Checkpoint &checkpoint)
{
    std::array<ComponentSum, componentCount> sums;
    for (const TensorGroup &group : checkpoint.groups) {
        ComponentSum &sum = sums.at(static_cast<std::size_t>(group.component));
        sum.component = group.component;
        const auto add = [](std::uint64_t &target, std::uint64_t amount) {
            target = saturatingAdd(target, amount);
        };
        add(sum.bytes, group.bytes);
        add(sum.parameters, group.parameters);
        add(sum.tensors, group.count);
        if (!group.listed)
            add(sum.unlistedBytes, group.bytes);
        if (group.role == Role::UnseenRemainder)
            add(sum.unseenBytes, group.bytes);
        else if (!group.side && group.parameters == 0 && group.bytes > 0)
            sum.parametersKnown = false;
        if (group.bytes > 0)
            add(sum.bytesByDtype[group.dtype], group.bytes);
    }
    checkpoint.sums.clear();
    for (ComponentSum &sum : sums) {
        if (sum.tensors > 0)
            checkpoint.sums.push_back(std::move(sum));
    }
}

} // namespace weir

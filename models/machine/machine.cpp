// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/machine/machine.h"

#include "models/machine/strictjson.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace weir {

namespace {

using Json = nlohmann::json;

constexpr std::string_view prefix = "data.machines";
/// 256 MiB to 64 TiB: less runs no language model, more is a typing error.
constexpr NumberRange memoryRange{268435456.0, 70368744177664.0};
/// 1 GB/s to 100 TB/s.
constexpr NumberRange bandwidthRange{1e9, 1e14};
constexpr std::uint64_t discreteReserve = 1'000'000'000;
constexpr std::uint64_t unifiedReservePercent = 15;

std::optional<MemoryKind> memoryKindFromId(std::string_view id)
{
    for (const MemoryKind kind : {MemoryKind::Unified, MemoryKind::Discrete, MemoryKind::Cpu}) {
        if (memoryKindId(kind) == id) {
            return kind;
        }
    }
    return std::nullopt;
}

bool isId(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    });
}

Result<Machine> readMachine(const Json &value, const std::string &file, std::size_t index)
{
    StrictObject object(value, std::string(prefix), file, fmt::format("{}", index + 1));
    Machine machine;
    machine.id = object.text("id");
    if (object.ok()) {
        if (!isId(machine.id)) {
            object.reject("id");
        }
        object.setEntry(machine.id);
    }
    machine.name = object.text("name");
    machine.vendor = object.text("vendor");
    const std::optional<MemoryKind> kind = memoryKindFromId(object.text("memory_kind"));
    if (!kind) {
        object.reject("memory_kind");
    }
    machine.memoryKind = kind.value_or(MemoryKind::Discrete);
    Sourced memory = object.sourced("memory", "bytes", memoryRange, true);
    machine.memoryBytes = static_cast<std::uint64_t>(memory.value);
    machine.memorySource = std::move(memory.source);
    machine.usableBytes = object.sourcedOrNull("usable", "bytes", memoryRange, true);
    machine.bandwidthBytesPerSecond =
        object.sourcedOrNull("bandwidth", "bytes_per_second", bandwidthRange, false);
    machine.readableBandwidthBytesPerSecond =
        object.sourcedOrNull("readable_bandwidth", "bytes_per_second", bandwidthRange, false);
    machine.note = object.text("note", true);

    if (machine.usableBytes && machine.usableBytes->value > memory.value) {
        object.reject("usable");
    }
    if (machine.bandwidthBytesPerSecond && machine.readableBandwidthBytesPerSecond
        && machine.readableBandwidthBytesPerSecond->value > machine.bandwidthBytesPerSecond->value) {
        object.reject("readable_bandwidth");
    }
    if (std::optional<Error> error = object.finish()) {
        return std::unexpected(*std::move(error));
    }
    return machine;
}

} // namespace

std::string_view memoryKindId(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::Unified: return "unified";
    case MemoryKind::Discrete: return "discrete";
    case MemoryKind::Cpu: return "cpu";
    }
    return "discrete";
}

std::uint64_t Machine::usableOrNominalBytes() const
{
    return usableBytes ? static_cast<std::uint64_t>(usableBytes->value) : memoryBytes;
}

std::uint64_t Machine::defaultReserveBytes() const
{
    if (memoryKind == MemoryKind::Discrete) {
        return discreteReserve;
    }
    // Split so that no machine, however large, overflows the product.
    const std::uint64_t bytes = usableOrNominalBytes();
    return bytes / 100 * unifiedReservePercent + bytes % 100 * unifiedReservePercent / 100;
}

Result<std::vector<Machine>> readMachines(const std::filesystem::path &file)
{
    const std::string name = file.string();
    Result<Json> json = readStrictJson(file, prefix);
    if (!json) {
        return std::unexpected(std::move(json.error()));
    }
    StrictObject top(*json, std::string(prefix), name, "");
    if (top.text("schema") != "weir.machines/1") {
        top.reject("schema");
    }
    const Json *entries = top.array("machines");
    if (std::optional<Error> error = top.finish()) {
        return std::unexpected(*std::move(error));
    }

    std::vector<Machine> machines;
    std::set<std::string> ids;
    for (const Json &entry : *entries) {
        Result<Machine> machine = readMachine(entry, name, machines.size());
        if (!machine) {
            return std::unexpected(std::move(machine.error()));
        }
        if (!ids.insert(machine->id).second) {
            return fail(fmt::format("{}.repeated-id", prefix), ErrorKind::Unreadable, name,
                        {{"entry", machine->id}, {"field", std::string("id")}});
        }
        machines.push_back(*std::move(machine));
    }
    return machines;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

enum class MemoryKind : std::uint8_t { Unified, Discrete, Cpu };
std::string_view memoryKindId(MemoryKind kind); ///< "unified", "discrete", "cpu"

/// A figure with the place it was published; absent figures stay empty.
struct Sourced
{
    double value = 0;
    std::string source;
};

/// One machine or card as `data/machines.json` describes it. Bytes and bytes per second, per device.
struct Machine
{
    std::string id;   ///< as in measurement records: "dgx-spark"
    std::string name; ///< "DGX Spark (GB10)"
    std::string vendor;
    MemoryKind memoryKind = MemoryKind::Discrete;
    std::uint64_t memoryBytes = 0; ///< nominal
    std::string memorySource;
    std::optional<Sourced> usableBytes; ///< what the operating system (or driver) shows
    std::optional<Sourced> bandwidthBytesPerSecond;         ///< datasheet
    std::optional<Sourced> readableBandwidthBytesPerSecond; ///< reached by a saturating read kernel
    std::string note;

    /// usable, or nominal where nothing was published.
    std::uint64_t usableOrNominalBytes() const;
    /// 15 % of the visible memory on unified machines, 1 GB (1e9) on discrete cards.
    std::uint64_t defaultReserveBytes() const;
};

/// Reads and checks `machines.json`.
Result<std::vector<Machine>> readMachines(const std::filesystem::path &file);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir {

/// The unit bytes are shown in; one at a time, always labelled. GB = 1e9 bytes, GiB = 2^30.
enum class ByteUnit : std::uint8_t { Gigabytes, Gibibytes };

/// "72.38 GB", "0.08 GB", "312.5 MB", "2,048 bytes" (or GiB/MiB); never without its unit.
std::string formatBytes(std::uint64_t bytes, ByteUnit unit = ByteUnit::Gigabytes);
/// "72.38 GB = 67.41 GiB = 72,379,244,512 bytes": for tooltips.
std::string formatBytesExactly(std::uint64_t bytes);
/// "27", "4.8", "0.62": two significant digits below 10, whole numbers from there; without a unit.
std::string formatSpeed(double tokensPerSecond);
/// "34.7 ms", "1.9 s", "120 µs".
std::string formatSeconds(double seconds);
/// "262,144"
std::string formatCount(std::uint64_t count);
/// "125.1 B", "8.03 B", "596 M": parameters.
std::string formatParameters(std::uint64_t parameters);
/// "9.0 %"
std::string formatPercent(double fraction);
/// Control characters, NUL, line breaks and right-to-left marks made visible; at most `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 200);
/// The first names of many, for a sentence: "a, b, c …"; each made printable.
std::string someNames(std::span<const std::string> names, std::size_t most = 8);

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace weir {

namespace {

struct Scale
{
    double bytes;
    const char *name;
};

constexpr std::array<Scale, 4> decimalScales{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
constexpr std::array<Scale, 4> binaryScales{
    {{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}}};

} // namespace

std::string formatBytes(std::uint64_t bytes, ByteUnit unit)
{
    const auto &scales = unit == ByteUnit::Gigabytes ? decimalScales : binaryScales;
    const auto value = static_cast<double>(bytes);
    // Gigabytes from 10 MB on: components of one checkpoint stay comparable at a glance.
    if (value >= 10.0 * scales[0].bytes)
        return fmt::format("{:.2f} {}", value / scales[0].bytes, scales[0].name);
    if (value >= 0.01 * scales[1].bytes)
        return fmt::format("{:.2f} {}", value / scales[1].bytes, scales[1].name);
    if (value >= scales[2].bytes)
        return fmt::format("{:.1f} {}", value / scales[2].bytes, scales[2].name);
    if (value >= 10.0 * scales[3].bytes)
        return fmt::format("{:.1f} {}", value / scales[3].bytes, scales[3].name);
    return fmt::format("{} bytes", formatCount(bytes));
}

std::string formatBytesExactly(std::uint64_t bytes)
{
    if (bytes < 10000)
        return fmt::format("{} bytes", formatCount(bytes));
    return fmt::format("{} = {} = {} bytes", formatBytes(bytes, ByteUnit::Gigabytes),
                       formatBytes(bytes, ByteUnit::Gibibytes), formatCount(bytes));
}

std::string formatSpeed(double tokensPerSecond)
{
    if (!std::isfinite(tokensPerSecond) || tokensPerSecond < 0)
        return "unknown";
    if (tokensPerSecond >= 999.5 && tokensPerSecond < 1e15)
        return formatCount(static_cast<std::uint64_t>(std::llround(tokensPerSecond)));
    if (tokensPerSecond >= 9.95)
        return fmt::format("{:.0f}", tokensPerSecond);
    if (tokensPerSecond >= 0.995)
        return fmt::format("{:.1f}", tokensPerSecond);
    return fmt::format("{:.2f}", tokensPerSecond);
}

std::string formatSeconds(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0)
        return "unknown";
    if (seconds >= 100)
        return fmt::format("{:.0f} s", seconds);
    if (seconds >= 1)
        return fmt::format("{:.1f} s", seconds);
    if (seconds >= 1e-3)
        return fmt::format("{:.1f} ms", seconds * 1e3);
    return fmt::format("{:.0f} µs", seconds * 1e6);
}

std::string formatCount(std::uint64_t count)
{
    const std::string digits = std::to_string(count);
    std::string out;
    out.reserve(digits.size() + digits.size() / 3);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0)
            out += ',';
        out += digits[i];
    }
    return out;
}

std::string formatParameters(std::uint64_t parameters)
{
    const auto value = static_cast<double>(parameters);
    if (value >= 99.95e9)
        return fmt::format("{:.1f} B", value / 1e9);
    if (value >= 0.9995e9)
        return fmt::format("{:.2f} B", value / 1e9);
    if (value >= 0.9995e6)
        return fmt::format("{:.0f} M", value / 1e6);
    return formatCount(parameters);
}

std::string formatPercent(double fraction)
{
    if (!std::isfinite(fraction))
        return "unknown";
    if (fraction != 0 && std::abs(fraction) < 0.0995)
        return fmt::format("{:.1f} %", fraction * 100);
    return fmt::format("{:.0f} %", fraction * 100);
}

std::string printable(std::string_view text, std::size_t limit)
{
    std::string out;
    std::size_t i = 0;
    while (i < text.size() && out.size() < limit) {
        const auto byte = static_cast<unsigned char>(text[i]);
        std::size_t length = 1;
        if (byte >= 0xF0 && byte < 0xF8)
            length = 4;
        else if (byte >= 0xE0)
            length = 3;
        else if (byte >= 0xC2)
            length = 2;
        bool valid = byte < 0x80 || (byte >= 0xC2 && byte < 0xF5);
        if (i + length > text.size())
            valid = false;
        std::uint32_t code = byte;
        if (valid && length > 1) {
            code = byte & (0xFFU >> (length + 1));
            for (std::size_t k = 1; k < length; ++k) {
                const auto next = static_cast<unsigned char>(text[i + k]);
                if ((next & 0xC0U) != 0x80U) {
                    valid = false;
                    break;
                }
                code = (code << 6U) | (next & 0x3FU);
            }
            // Overlong forms, surrogates and what lies beyond Unicode are no UTF-8 either.
            constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
            if (code < least.at(length) || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
                valid = false;
        }
        if (!valid) {
            out += fmt::format("\\x{:02X}", byte);
            ++i;
            continue;
        }
        // Controls, line separators and everything that turns the direction of writing.
        const bool hidden = code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F)
                            || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F)
                            || code == 0xFEFF;
        if (hidden)
            out += fmt::format("\\u{{{:X}}}", code);
        else
            out.append(text.substr(i, length));
        i += length;
    }
    if (i < text.size())
        out += "…";
    return out;
}

std::string someNames(std::span<const std::string> names, std::size_t most)
{
    constexpr std::size_t nameBytes = 120;
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < most; ++i)
        text += (i == 0 ? "" : ", ") + printable(names[i], nameBytes);
    return names.size() > most ? text + " …" : text;
}

} // namespace weir

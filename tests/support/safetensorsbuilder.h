// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/safetensors.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::test {

/// Makes true safetensors files: a header whose offsets follow each other, and a hole for the weights.
class SafetensorsBuilder
{
public:
    /// Adds a tensor whose size follows from dtype and shape.
    SafetensorsBuilder &add(std::string_view name, std::string_view dtype,
                            const std::vector<std::uint64_t> &shape)
    {
        std::uint64_t elements = 1;
        for (const std::uint64_t dimension : shape)
            elements *= dimension;
        return addBytes(name, dtype, shape, elements * dtypeBits(dtype) / 8);
    }

    SafetensorsBuilder &addBytes(std::string_view name, std::string_view dtype,
                                 const std::vector<std::uint64_t> &shape, std::uint64_t bytes)
    {
        m_header[std::string(name)] = {
            {"dtype", dtype}, {"shape", shape}, {"data_offsets", {m_dataBytes, m_dataBytes + bytes}}};
        m_dataBytes += bytes;
        return *this;
    }

    SafetensorsBuilder &metadata(std::string_view key, std::string_view value)
    {
        m_header["__metadata__"][std::string(key)] = value;
        return *this;
    }

    std::string header() const { return m_header.dump(); }
    std::uint64_t dataBytes() const { return m_dataBytes; }

    void write(const std::filesystem::path &file) const
    {
        const std::string beginning = prefixed(header());
        writeSparse(file, beginning, beginning.size() + m_dataBytes);
    }

    /// A header with its length before it.
    static std::string prefixed(std::string_view header)
    {
        return length(header.size()) + std::string(header);
    }

    /// The eight bytes of a length, lowest first.
    static std::string length(std::uint64_t value)
    {
        std::string bytes;
        for (unsigned i = 0; i < 8; ++i)
            bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
        return bytes;
    }

private:
    nlohmann::ordered_json m_header = nlohmann::ordered_json::object();
    std::uint64_t m_dataBytes = 0;
};

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/gguf.h"
#include "tests/support/testsupport.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weir::test {

/// Makes GGUF files byte by byte: true ones by default, and damaged ones through the fields that a forger
/// would change. Weights are not part of the text; write() makes a hole of them.
class GgufBuilder
{
public:
    enum ValueType : std::uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, Text, Array, U64, I64, F64 };

    std::uint32_t version = 3;
    bool bigEndian = false;
    std::uint64_t alignment = 32;           ///< that offsets are padded to; not written by itself
    std::optional<std::uint64_t> keyCount;    ///< claimed instead of the true number
    std::optional<std::uint64_t> tensorCount; ///< claimed instead of the true number

    template <typename T>
    std::string number(T value) const
    {
        std::string bytes(sizeof value, '\0');
        std::memcpy(bytes.data(), &value, sizeof value);
        if (bigEndian)
            std::reverse(bytes.begin(), bytes.end());
        return bytes;
    }

    std::string text(std::string_view value) const
    {
        return number<std::uint64_t>(value.size()) + std::string(value);
    }

    /// A key with a value given as bytes.
    GgufBuilder &raw(std::string_view key, std::uint32_t type, std::string_view value)
    {
        m_keys += text(key) + number(type) + std::string(value);
        ++m_keyNumber;
        return *this;
    }
    GgufBuilder &u32(std::string_view key, std::uint32_t value) { return raw(key, U32, number(value)); }
    GgufBuilder &u64(std::string_view key, std::uint64_t value) { return raw(key, U64, number(value)); }
    GgufBuilder &i32(std::string_view key, std::int32_t value) { return raw(key, I32, number(value)); }
    GgufBuilder &u16(std::string_view key, std::uint16_t value) { return raw(key, U16, number(value)); }
    GgufBuilder &f32(std::string_view key, float value) { return raw(key, F32, number(value)); }
    GgufBuilder &flag(std::string_view key, bool value)
    {
        return raw(key, Bool, number<std::uint8_t>(value));
    }
    GgufBuilder &string(std::string_view key, std::string_view value) { return raw(key, Text, text(value)); }
    GgufBuilder &u32s(std::string_view key, const std::vector<std::uint32_t> &values)
    {
        std::string bytes = number<std::uint32_t>(U32) + number<std::uint64_t>(values.size());
        for (const std::uint32_t value : values)
            bytes += number(value);
        return raw(key, Array, bytes);
    }
    GgufBuilder &strings(std::string_view key, const std::vector<std::string> &values)
    {
        std::string bytes = number<std::uint32_t>(Text) + number<std::uint64_t>(values.size());
        for (const std::string &value : values)
            bytes += text(value);
        return raw(key, Array, bytes);
    }

    /// A tensor of a known type at the next free place.
    GgufBuilder &tensor(std::string_view name, std::string_view type, const std::vector<std::uint64_t> &shape)
    {
        const GgufType *known = ggufType(type);
        std::uint64_t elements = 1;
        for (const std::uint64_t dimension : shape)
            elements *= dimension;
        return tensorAt(name, known->id, shape, m_next, elements / known->block * known->bytes);
    }

    /// A tensor with any type id and offset; `bytes` only moves the next free place.
    GgufBuilder &tensorAt(std::string_view name, std::uint32_t type, const std::vector<std::uint64_t> &shape,
                          std::uint64_t offset, std::uint64_t bytes)
    {
        m_tensors += text(name) + number(static_cast<std::uint32_t>(shape.size()));
        for (const std::uint64_t dimension : shape)
            m_tensors += number(dimension);
        m_tensors += number(type) + number(offset);
        m_next = padded(offset + bytes);
        ++m_tensorNumber;
        return *this;
    }

    /// Everything before the data, without padding.
    std::string header() const
    {
        return "GGUF" + number(version) + number(tensorCount.value_or(m_tensorNumber))
               + number(keyCount.value_or(m_keyNumber)) + m_keys + m_tensors;
    }

    /// Size of the whole file.
    std::uint64_t fileBytes() const { return padded(header().size()) + m_next; }

    void write(const std::filesystem::path &file) const { writeSparse(file, header(), fileBytes()); }

    /// The whole file with zeros for weights; for small ones.
    std::string file() const
    {
        std::string bytes = header();
        bytes.resize(static_cast<std::size_t>(fileBytes()), '\0');
        return bytes;
    }

private:
    std::uint64_t padded(std::uint64_t bytes) const
    {
        return (bytes + alignment - 1) / alignment * alignment;
    }

    std::string m_keys;
    std::string m_tensors;
    std::uint64_t m_keyNumber = 0;
    std::uint64_t m_tensorNumber = 0;
    std::uint64_t m_next = 0;
};

} // namespace weir::test

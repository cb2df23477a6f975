// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Header length in bytes that the format's own library accepts at most.
inline constexpr std::uint64_t maxSafetensorsHeaderBytes = 100'000'000;
/// Files that one index may name; the most seen are some hundred.
inline constexpr std::size_t maxIndexFiles = 10'000;

/// One tensor of a header, valid during the callback only.
struct HeaderTensor
{
    std::string_view name;
    std::string_view dtype;
    std::span<const std::uint64_t> shape;
    std::uint64_t bytes = 0; ///< end - begin of its data_offsets
    std::uint64_t hash = 0;  ///< textHash of the name
};

/// The first eight bytes: the header's length. `fileBytes` is the size of the whole file.
/// Refuses lengths that the file cannot hold or that are above `maxSafetensorsHeaderBytes`.
Result<std::uint64_t> safetensorsHeaderLength(std::span<const std::uint8_t> firstEightBytes,
                                              std::uint64_t fileBytes, const std::string &subject);

/// Reads the JSON header of a safetensors file (without its length prefix) strictly: no duplicate
/// names, no negative, fractional or overflowing numbers, no holes, no overlap, and the data ends
/// exactly at the end of the file. Bytes come from data_offsets; dtype and shape are checked against
/// them where the dtype is known.
/// Beside the header itself this takes 48 to 64 bytes a tensor, and time that grows with its length alone.
/// @param header  at most `maxSafetensorsHeaderBytes`; needs no padding and is not copied
/// @param dataBytes  size of the file minus 8 minus header length
/// @param visit  called for each tensor in header order; returns false to give up (too many patterns)
/// @param formatTag  if given, receives the `format` entry of `__metadata__` ("pt", "mlx")
/// Source: the format's README and reference parser (huggingface/safetensors, tensor.rs).
Result<void> readSafetensorsHeader(std::string_view header, std::uint64_t dataBytes,
                                   const std::string &subject,
                                   const std::function<bool(const HeaderTensor &)> &visit,
                                   std::string *formatTag = nullptr);

/// `model.safetensors.index.json`: which file holds which tensor. Half a million tensors are usual for the
/// largest models, so their names lie in one text and are found by their hashes.
struct SafetensorsIndex
{
    struct Entry
    {
        std::uint64_t hash = 0; ///< textHash of the name
        std::uint32_t file = 0; ///< into files
        std::uint32_t nameBytes = 0;
        std::uint64_t nameBegin = 0; ///< into names
    };
    /// What the header of a file will hold at least.
    struct Share
    {
        std::uint64_t tensors = 0;
        std::uint64_t nameBytes = 0;
    };

    std::vector<std::string> files; ///< sorted, unique, each a plain relative path
    std::vector<Share> shares;      ///< one for each file
    std::vector<Entry> entries;     ///< sorted by hash
    std::string names;

    std::string_view nameOf(const Entry &entry) const
    {
        return std::string_view(names).substr(static_cast<std::size_t>(entry.nameBegin), entry.nameBytes);
    }
    /// Into files; empty for a tensor that the index does not name.
    std::optional<std::uint32_t> fileOf(std::string_view tensor) const;
};

/// Reads an index strictly; refuses paths that leave the folder.
Result<SafetensorsIndex> readSafetensorsIndex(std::string_view text, const std::string &subject);

/// Bits of one element of a stored dtype; 0 for a dtype this program does not know.
unsigned dtypeBits(std::string_view dtype);

/// True for a path that stays inside the folder it is resolved in: relative, no `..`, no empty part,
/// no backslash, no control character, no scheme.
bool isPlainRelativePath(std::string_view path);

} // namespace weir

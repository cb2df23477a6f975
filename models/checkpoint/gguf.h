// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weir {

/// A storage type of GGUF: `block` elements take `bytes` bytes.
struct GgufType
{
    std::uint32_t id;
    std::string_view name;
    std::uint32_t block;
    std::uint32_t bytes;
};

/// All types of upstream, by id.
std::span<const GgufType> ggufTypes();
/// Ids and names of types that only ik_llama.cpp writes; their bytes come from the offsets in the file.
std::span<const std::pair<std::uint32_t, std::string_view>> ggufForkTypes();
/// Facts about a type id; null for one that upstream does not know.
const GgufType *ggufType(std::uint32_t id);
const GgufType *ggufType(std::string_view name);

/// True for a type as GgufTensor names it that upstream llama.cpp does not read: of ik_llama.cpp, or of nobody.
bool isForeignGgufType(std::string_view name);

/// A metadata value that decides sizes. Arrays keep at most `maxGgufArray` numbers; text arrays (the
/// tokenizer) are walked, counted and not kept.
using GgufNumbers = std::vector<double>;
struct GgufTextCount
{
    std::uint64_t count = 0;
};
using GgufValue =
    std::variant<std::uint64_t, std::int64_t, double, bool, std::string, GgufNumbers, GgufTextCount>;

inline constexpr std::size_t maxGgufArray = 65'536;

/// Everything before the weights; the largest seen, with a tokenizer of a quarter million tokens, have 12 MB.
inline constexpr std::uint64_t maxGgufHeaderBytes = 128U << 20U;

struct GgufTensor
{
    std::string_view name;
    std::string_view type; ///< "Q4_K", or "type 237" for an id that nobody knows
    std::span<const std::uint64_t> shape; ///< fastest dimension first
    std::uint64_t bytes = 0;
};

/// The header of one GGUF file.
struct GgufHeader
{
    std::uint32_t version = 0;
    bool bigEndian = false;
    std::map<std::string, GgufValue, std::less<>> metadata;
    std::uint64_t tensors = 0;
    std::vector<std::string> unknownTypes; ///< types whose size was inferred from offsets
};

/// Reads a GGUF header (version 2 or 3, either byte order) from a seekable stream and checks what the
/// reference reader checks: counts and lengths against the size of the file before anything is
/// allocated, duplicate keys and names, alignment, offsets that follow each other without gap or
/// overlap, and that the data ends inside the file.
/// @param visit  called for each tensor after all of them were checked; false = too many patterns
/// Source: ggml docs/gguf.md and src/gguf.cpp.
Result<GgufHeader> readGguf(std::istream &stream, std::uint64_t fileBytes, const std::string &subject,
                            const std::function<bool(const GgufTensor &)> &visit, std::stop_token stop = {});

} // namespace weir

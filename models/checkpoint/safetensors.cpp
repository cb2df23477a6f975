// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/safetensors.h"

#include "models/base/units.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace weir {

namespace {

using simdjson::ondemand::field;
using simdjson::ondemand::object;
using simdjson::ondemand::value;

constexpr std::array<std::pair<std::string_view, unsigned>, 26> dtypeTable{{
    {"BF16", 16},   {"F16", 16},        {"F32", 32},        {"F64", 64}, {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"E8M0", 8}, {"UE8", 8},     {"F4", 4},
    {"FP4", 4},     {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"BOOL", 8}, {"U8", 8},      {"I8", 8},
    {"U16", 16},    {"I16", 16},        {"U32", 32},        {"I32", 32}, {"U64", 64},    {"I64", 64},
    {"C64", 64},    {"F128", 128},
}};

/// A name longer than this is no tensor of a model.
constexpr std::size_t maxNameBytes = 4096;
constexpr std::size_t maxDimensions = 16;

struct Extent
{
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t order;
};

struct NameHash
{
    std::uint64_t hash;
    std::string_view name; ///< in the parser's string buffer
};

std::unexpected<Error> bad(std::string id, const std::string &subject, std::string_view name = {})
{
    MessageArguments arguments;
    if (!name.empty())
        arguments.emplace_back("tensor", printable(name));
    return fail(std::move(id), ErrorKind::Unreadable, subject, std::move(arguments));
}

/// Everything that one entry of the header says.
struct Entry
{
    std::string_view dtype;
    std::array<std::uint64_t, maxDimensions> shape{};
    std::size_t dimensions = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// @return an error id, empty when the entry is sound in form
std::string_view readEntry(object fields, Entry &entry)
{
    bool hasDtype = false;
    bool hasShape = false;
    bool hasOffsets = false;
    for (auto each : fields) {
        field one;
        std::string_view key;
        if (std::move(each).get(one) != simdjson::SUCCESS
            || one.unescaped_key().get(key) != simdjson::SUCCESS)
            return "safetensors.bad-json";
        value content = one.value();
        if (key == "dtype") {
            if (hasDtype || content.get_string().get(entry.dtype) != simdjson::SUCCESS)
                return "safetensors.bad-entry";
            hasDtype = true;
        } else if (key == "shape") {
            simdjson::ondemand::array dimensions;
            if (hasShape || content.get_array().get(dimensions) != simdjson::SUCCESS)
                return "safetensors.bad-entry";
            for (auto dimension : dimensions) {
                if (entry.dimensions == maxDimensions
                    || dimension.get_uint64().get(entry.shape[entry.dimensions]) != simdjson::SUCCESS)
                    return "safetensors.bad-entry";
                ++entry.dimensions;
            }
            hasShape = true;
        } else if (key == "data_offsets") {
            simdjson::ondemand::array offsets;
            if (hasOffsets || content.get_array().get(offsets) != simdjson::SUCCESS)
                return "safetensors.bad-entry";
            std::size_t count = 0;
            for (auto offset : offsets) {
                std::uint64_t number = 0;
                if (count == 2 || offset.get_uint64().get(number) != simdjson::SUCCESS)
                    return "safetensors.bad-entry";
                (count == 0 ? entry.begin : entry.end) = number;
                ++count;
            }
            if (count != 2)
                return "safetensors.bad-entry";
            hasOffsets = true;
        } else {
            return "safetensors.bad-entry";
        }
    }
    return hasDtype && hasShape && hasOffsets ? std::string_view{} : "safetensors.bad-entry";
}

/// The metadata object may hold strings only.
bool readMetadata(value content, std::string *formatTag)
{
    object fields;
    if (content.get_object().get(fields) != simdjson::SUCCESS)
        return false;
    for (auto each : fields) {
        field one;
        std::string_view key;
        std::string_view text;
        if (std::move(each).get(one) != simdjson::SUCCESS || one.unescaped_key().get(key) != simdjson::SUCCESS
            || one.value().get_string().get(text) != simdjson::SUCCESS)
            return false;
        if (key == "format" && formatTag != nullptr)
            *formatTag = printable(text, 16);
    }
    return true;
}

} // namespace

unsigned dtypeBits(std::string_view dtype)
{
    for (const auto &[name, bits] : dtypeTable) {
        if (name == dtype)
            return bits;
    }
    return 0;
}

bool isPlainRelativePath(std::string_view path)
{
    if (path.empty() || path.size() > 1024 || path.front() == '/')
        return false;
    std::size_t start = 0;
    while (start <= path.size()) {
        std::size_t end = path.find('/', start);
        if (end == std::string_view::npos)
            end = path.size();
        const std::string_view part = path.substr(start, end - start);
        if (part.empty() || part == "." || part == "..")
            return false;
        start = end + 1;
    }
    return std::none_of(path.begin(), path.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == ':' || c == 0x7F;
    });
}

Result<std::uint64_t> safetensorsHeaderLength(std::span<const std::uint8_t> firstEightBytes,
                                              std::uint64_t fileBytes, const std::string &subject)
{
    if (fileBytes == 0)
        return bad("file.empty", subject);
    if (fileBytes < 8 || firstEightBytes.size() < 8)
        return bad("safetensors.too-short", subject);
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;)
        length = (length << 8U) | firstEightBytes[i];
    if (length <= fileBytes - 8 && length > maxSafetensorsHeaderBytes) {
        return fail("safetensors.header-too-large", ErrorKind::Unreadable, subject,
                    {{"claimed", Bytes{length}}, {"limit", Bytes{maxSafetensorsHeaderBytes}}});
    }
    if (length > fileBytes - 8) {
        return fail("safetensors.header-length", ErrorKind::Unreadable, subject,
                    {{"claimed", Bytes{length}}, {"file", Bytes{fileBytes}}});
    }
    if (length < 2)
        return bad("safetensors.bad-json", subject);
    return length;
}

Result<void> readSafetensorsHeader(std::string_view header, std::uint64_t dataBytes,
                                   const std::string &subject,
                                   const std::function<bool(const HeaderTensor &)> &visit,
                                   std::string *formatTag)
{
    if (header.empty() || header.front() != '{')
        return bad("safetensors.bad-json", subject);

    simdjson::ondemand::parser parser;
    const simdjson::padded_string padded(header);
    simdjson::ondemand::document document;
    object tensors;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS
        || document.get_object().get(tensors) != simdjson::SUCCESS)
        return bad("safetensors.bad-json", subject);

    // A header entry takes at least 40 characters, so this never grows beyond the header's own size.
    std::vector<Extent> extents;
    std::vector<NameHash> names;
    extents.reserve(header.size() / 128);
    names.reserve(header.size() / 128);
    bool hasMetadata = false;

    for (auto each : tensors) {
        field one;
        std::string_view name;
        if (std::move(each).get(one) != simdjson::SUCCESS
            || one.unescaped_key().get(name) != simdjson::SUCCESS)
            return bad("safetensors.bad-json", subject);
        if (name == "__metadata__") {
            if (hasMetadata || !readMetadata(one.value(), formatTag))
                return bad("safetensors.bad-metadata", subject);
            hasMetadata = true;
            continue;
        }
        if (name.empty() || name.size() > maxNameBytes)
            return bad("safetensors.bad-name", subject, name);

        object fields;
        Entry entry;
        if (one.value().get_object().get(fields) != simdjson::SUCCESS)
            return bad("safetensors.bad-entry", subject, name);
        if (const std::string_view problem = readEntry(fields, entry); !problem.empty())
            return bad(std::string(problem), subject, name);
        if (entry.end < entry.begin || entry.end > dataBytes)
            return bad("safetensors.beyond-file", subject, name);

        const std::uint64_t bytes = entry.end - entry.begin;
        const std::span<const std::uint64_t> shape(entry.shape.data(), entry.dimensions);
        std::uint64_t elements = 1;
        for (const std::uint64_t dimension : shape) {
            if (__builtin_mul_overflow(elements, dimension, &elements))
                return bad("safetensors.overflow", subject, name);
        }
        if (const unsigned bits = dtypeBits(entry.dtype); bits != 0) {
            std::uint64_t total = 0;
            if (__builtin_mul_overflow(elements, std::uint64_t{bits}, &total))
                return bad("safetensors.overflow", subject, name);
            if (total % 8 != 0 || total / 8 != bytes)
                return bad("safetensors.size-mismatch", subject, name);
        }
        extents.push_back({entry.begin, entry.end, static_cast<std::uint32_t>(names.size())});
        names.push_back({std::hash<std::string_view>{}(name), name});
        if (!visit(HeaderTensor{name, entry.dtype, shape, bytes}))
            return bad("tensors.too-many-names", subject);
    }
    const char *rest = nullptr;
    if (document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS)
        return bad("safetensors.bad-json", subject);

    std::sort(extents.begin(), extents.end(), [](const Extent &a, const Extent &b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t expected = 0;
    for (const Extent &extent : extents) {
        if (extent.begin < expected)
            return bad("safetensors.overlap", subject, names[extent.order].name);
        if (extent.begin > expected)
            return bad("safetensors.hole", subject, names[extent.order].name);
        expected = extent.end;
    }
    if (expected != dataBytes) {
        return fail("safetensors.trailing", ErrorKind::Unreadable, subject,
                    {{"expected", Bytes{expected}}, {"found", Bytes{dataBytes}}});
    }

    std::sort(names.begin(), names.end(), [](const NameHash &a, const NameHash &b) {
        return a.hash != b.hash ? a.hash < b.hash : a.name < b.name;
    });
    const auto twice =
        std::adjacent_find(names.begin(), names.end(), [](const NameHash &a, const NameHash &b) {
            return a.hash == b.hash && a.name == b.name;
        });
    if (twice != names.end())
        return bad("safetensors.duplicate", subject, twice->name);
    return {};
}

Result<SafetensorsIndex> readSafetensorsIndex(std::string_view text, const std::string &subject)
{
    simdjson::ondemand::parser parser;
    const simdjson::padded_string padded(text);
    simdjson::ondemand::document document;
    object top;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS
        || document.get_object().get(top) != simdjson::SUCCESS)
        return bad("index.bad-json", subject);

    SafetensorsIndex index;
    std::unordered_map<std::string, std::uint32_t> numbers;
    std::uint32_t number = 0; ///< of the file of the entry before
    bool found = false;
    for (auto each : top) {
        field one;
        std::string_view key;
        if (std::move(each).get(one) != simdjson::SUCCESS
            || one.unescaped_key().get(key) != simdjson::SUCCESS)
            return bad("index.bad-json", subject);
        if (key != "weight_map")
            continue;
        object map;
        if (found || one.value().get_object().get(map) != simdjson::SUCCESS)
            return bad("index.bad-json", subject);
        found = true;
        for (auto item : map) {
            field pair;
            std::string_view name;
            std::string_view file;
            if (std::move(item).get(pair) != simdjson::SUCCESS
                || pair.unescaped_key().get(name) != simdjson::SUCCESS)
                return bad("index.bad-json", subject);
            if (pair.value().get_string().get(file) != simdjson::SUCCESS)
                return bad("index.bad-json", subject);
            if (!isPlainRelativePath(file)) {
                return fail("index.bad-path", ErrorKind::Unreadable, subject, {{"path", printable(file)}});
            }
            if (index.entries.empty() || file != index.files[number]) { // neighbours mostly share a file
                const auto [place, isNew] =
                    numbers.try_emplace(std::string(file), static_cast<std::uint32_t>(numbers.size()));
                if (isNew)
                    index.files.emplace_back(file);
                if (index.files.size() > maxIndexFiles) {
                    return fail("index.too-many-files", ErrorKind::Unreadable, subject,
                                {{"limit", static_cast<std::uint64_t>(maxIndexFiles)}});
                }
                number = place->second;
            }
            if (name.size() > maxNameBytes)
                return bad("index.bad-json", subject);
            index.entries.push_back({std::hash<std::string_view>{}(name), number,
                                     static_cast<std::uint32_t>(name.size()), index.names.size()});
            index.names += name;
        }
    }
    const char *rest = nullptr;
    if (document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS)
        return bad("index.bad-json", subject);
    if (!found || index.files.empty())
        return bad("index.no-map", subject);

    // Files in name order, whatever the order of the map.
    std::vector<std::uint32_t> order(index.files.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::sort(order.begin(), order.end(),
              [&index](std::uint32_t a, std::uint32_t b) { return index.files[a] < index.files[b]; });
    std::vector<std::uint32_t> position(order.size());
    std::vector<std::string> sorted(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        position[order[i]] = i;
        sorted[i] = index.files[order[i]];
    }
    index.files = std::move(sorted);
    index.shares.resize(index.files.size());
    for (SafetensorsIndex::Entry &entry : index.entries) {
        entry.file = position[entry.file];
        SafetensorsIndex::Share &share = index.shares[entry.file];
        ++share.tensors;
        share.nameBytes += entry.nameBytes;
    }
    std::sort(index.entries.begin(), index.entries.end(),
              [&index](const SafetensorsIndex::Entry &a, const SafetensorsIndex::Entry &b) {
                  return a.hash != b.hash ? a.hash < b.hash : index.nameOf(a) < index.nameOf(b);
              });
    const auto twice =
        std::adjacent_find(index.entries.begin(), index.entries.end(),
                           [&index](const SafetensorsIndex::Entry &a, const SafetensorsIndex::Entry &b) {
                               return a.hash == b.hash && index.nameOf(a) == index.nameOf(b);
                           });
    if (twice != index.entries.end())
        return bad("index.duplicate", subject, index.nameOf(*twice));
    return index;
}

std::optional<std::uint32_t> SafetensorsIndex::fileOf(std::string_view tensor) const
{
    const std::size_t hash = std::hash<std::string_view>{}(tensor);
    auto entry = std::lower_bound(entries.begin(), entries.end(), hash,
                                  [](const Entry &each, std::size_t wanted) { return each.hash < wanted; });
    for (; entry != entries.end() && entry->hash == hash; ++entry) {
        if (nameOf(*entry) == tensor)
            return entry->file;
    }
    return std::nullopt;
}

} // namespace weir

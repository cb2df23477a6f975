// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/safetensors.h"

#include "models/base/saturating.h"
#include "models/base/texthash.h"
#include "models/base/units.h"
#include "models/checkpoint/jsoncursor.h"

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

/// What is kept of each tensor until all have been seen.
struct Seen
{
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t hash = 0;      ///< of the name
    std::uint32_t namePlace = 0; ///< of the name in the header
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

/// Numbers of a list; `each` returns false to refuse one.
template <typename Each>
bool readNumbers(JsonCursor &json, Each &&each)
{
    if (!json.take('['))
        return false;
    if (json.take(']'))
        return true;
    do {
        std::uint64_t number = 0;
        if (!json.number(number) || !each(number))
            return false;
    } while (json.take(','));
    return json.take(']');
}

/// @param store  takes a dtype that is written with escapes
/// @return an error id, empty when the entry is sound in form
std::string_view readEntry(JsonCursor &json, Entry &entry, std::string &store)
{
    constexpr std::string_view wrong = "safetensors.bad-entry";
    if (!json.take('{'))
        return wrong;
    entry.dimensions = 0;
    bool hasDtype = false;
    bool hasShape = false;
    bool hasOffsets = false;
    std::string keyStore;
    do {
        std::string_view key;
        if (!json.string(key, keyStore) || !json.take(':'))
            return wrong;
        if (key == "dtype") {
            if (std::exchange(hasDtype, true) || !json.string(entry.dtype, store))
                return wrong;
        } else if (key == "shape") {
            const auto dimension = [&entry](std::uint64_t number) {
                if (entry.dimensions == maxDimensions)
                    return false;
                entry.shape[entry.dimensions++] = number;
                return true;
            };
            if (std::exchange(hasShape, true) || !readNumbers(json, dimension))
                return wrong;
        } else if (key == "data_offsets") {
            std::size_t count = 0;
            const auto offset = [&](std::uint64_t number) {
                (count == 0 ? entry.begin : entry.end) = number;
                return ++count <= 2;
            };
            if (std::exchange(hasOffsets, true) || !readNumbers(json, offset) || count != 2)
                return wrong;
        } else {
            return wrong;
        }
    } while (json.take(','));
    if (!json.take('}'))
        return "safetensors.bad-json";
    return hasDtype && hasShape && hasOffsets ? std::string_view{} : wrong;
}

/// The metadata object may hold strings only.
bool readMetadata(JsonCursor &json, std::string *formatTag)
{
    if (!json.take('{'))
        return false;
    if (json.take('}'))
        return true;
    std::string keyStore;
    std::string textStore;
    do {
        std::string_view key;
        std::string_view text;
        if (!json.string(key, keyStore) || !json.take(':') || !json.string(text, textStore))
            return false;
        if (key == "format" && formatTag != nullptr)
            *formatTag = printable(text, 16);
    } while (json.take(','));
    return json.take('}');
}

/// Looks up the bits of dtypes that mostly are those of the tensor before.
class DtypeBits
{
public:
    unsigned of(std::string_view dtype)
    {
        if (dtype != m_last) {
            m_last = dtype;
            m_bits = dtypeBits(dtype);
        }
        return m_bits;
    }

private:
    std::string m_last;
    unsigned m_bits = 0;
};

/// @return an error id, empty when the bytes are there and are what dtype and shape make
std::string_view checkSize(const Entry &entry, unsigned bits, std::uint64_t dataBytes)
{
    if (entry.end < entry.begin || entry.end > dataBytes)
        return "safetensors.beyond-file";
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i < entry.dimensions; ++i) {
        if (__builtin_mul_overflow(elements, entry.shape[i], &elements))
            return "safetensors.overflow";
    }
    if (bits == 0)
        return {};
    std::uint64_t total = 0;
    if (__builtin_mul_overflow(elements, std::uint64_t{bits}, &total))
        return "safetensors.overflow";
    return total % 8 == 0 && total / 8 == entry.end - entry.begin ? "" : "safetensors.size-mismatch";
}

/// The name that a header has at a place where one was read before.
std::string nameAt(std::string_view header, const Seen &seen)
{
    JsonCursor json(header.substr(seen.namePlace));
    std::string_view name;
    std::string store;
    return json.string(name, store) ? std::string(name) : std::string();
}

/// Data without holes and overlap from 0 to the end of the file.
Result<void> checkPlaces(std::string_view header, std::vector<Seen> &all, std::uint64_t dataBytes,
                         const std::string &subject)
{
    const auto earlier = [](const Seen &a, const Seen &b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    };
    if (!std::is_sorted(all.begin(), all.end(), earlier)) // it mostly is
        std::sort(all.begin(), all.end(), earlier);
    std::uint64_t expected = 0;
    for (const Seen &one : all) {
        if (one.begin != expected)
            return bad(one.begin < expected ? "safetensors.overlap" : "safetensors.hole", subject,
                       nameAt(header, one));
        expected = one.end;
    }
    if (expected != dataBytes) {
        return fail("safetensors.trailing", ErrorKind::Unreadable, subject,
                    {{"expected", Bytes{expected}}, {"found", Bytes{dataBytes}}});
    }
    return {};
}

Result<void> checkNames(std::string_view header, const std::vector<Seen> &all, const std::string &subject)
{
    constexpr std::size_t ahead = 12; ///< as many as are on their way from memory at a time
    HashSet hashes(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        hashes.prefetch(all[std::min(i + ahead, all.size() - 1)].hash);
        if (hashes.insert(all[i].hash))
            continue;
        // Either the same name or, once in ten million headers of this length, another one.
        const std::string name = nameAt(header, all[i]);
        for (std::size_t k = 0; k < i; ++k) {
            if (all[k].hash == all[i].hash && nameAt(header, all[k]) == name)
                return bad("safetensors.duplicate", subject, name);
        }
    }
    return {};
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
    if (header.size() > maxSafetensorsHeaderBytes) {
        return fail("safetensors.header-length", ErrorKind::Unreadable, subject,
                    {{"claimed", Bytes{header.size()}},
                     {"file", Bytes{saturatingAdd(saturatingAdd(dataBytes, header.size()), 8)}}});
    }
    if (header.empty() || header.front() != '{')
        return bad("safetensors.bad-json", subject);
    JsonCursor json(header.substr(1));
    bool more = !json.take('}');

    // An entry takes at least 50 characters, so this never grows beyond the header's own size.
    std::vector<Seen> all;
    all.reserve(header.size() / 112);
    bool hasMetadata = false;
    DtypeBits known;
    Entry entry;
    std::string nameStore;
    std::string dtypeStore;
    while (more) {
        std::string_view name;
        const std::size_t before = json.place() + 1;
        if (!json.string(name, nameStore) || !json.take(':'))
            return bad("safetensors.bad-json", subject);
        if (name == "__metadata__") {
            if (std::exchange(hasMetadata, true) || !readMetadata(json, formatTag))
                return bad("safetensors.bad-metadata", subject);
        } else {
            if (name.empty() || name.size() > maxNameBytes)
                return bad("safetensors.bad-name", subject, name);
            std::string_view problem = readEntry(json, entry, dtypeStore);
            if (problem.empty())
                problem = checkSize(entry, known.of(entry.dtype), dataBytes);
            if (!problem.empty())
                return bad(std::string(problem), subject, name);
            const std::uint64_t hash = textHash(name);
            all.push_back({entry.begin, entry.end, hash, static_cast<std::uint32_t>(before)});
            const std::span<const std::uint64_t> shape(entry.shape.data(), entry.dimensions);
            if (!visit(HeaderTensor{name, entry.dtype, shape, entry.end - entry.begin, hash}))
                return bad("tensors.too-many-names", subject);
        }
        more = json.take(',');
        if (!more && !json.take('}'))
            return bad("safetensors.bad-json", subject);
    }
    if (!json.atEnd())
        return bad("safetensors.bad-json", subject);
    if (const Result<void> places = checkPlaces(header, all, dataBytes, subject); !places)
        return places;
    return checkNames(header, all, subject);
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
            index.entries.push_back(
                {textHash(name), number, static_cast<std::uint32_t>(name.size()), index.names.size()});
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
    const std::uint64_t hash = textHash(tensor);
    auto entry = std::lower_bound(entries.begin(), entries.end(), hash,
                                  [](const Entry &each, std::uint64_t wanted) { return each.hash < wanted; });
    for (; entry != entries.end() && entry->hash == hash; ++entry) {
        if (nameOf(*entry) == tensor)
            return entry->file;
    }
    return std::nullopt;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/gguf.h"

#include "models/base/tolerantjson.h"
#include "models/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>

namespace weir {

namespace {

constexpr auto types = std::to_array<GgufType>({
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18},    {42, "Q2_0", 64, 18},
});

/// Types that only ik_llama.cpp writes. Some carry scales for whole rows besides their blocks, so that bytes come
/// from the offsets; this gives them a name. Source: its ggml/include/ggml.h.
constexpr auto forkTypes = std::to_array<std::pair<std::uint32_t, std::string_view>>(
    {{36, "I2_S"},    {133, "Q6_0"},    {134, "IQ1_BN"}, {135, "IQ2_BN"}, {137, "IQ2_K"},
     {138, "IQ3_K"},  {139, "IQ4_K"},   {140, "IQ5_K"},  {141, "IQ6_K"},  {144, "IQ4_KS"},
     {145, "IQ2_KS"}, {146, "IQ4_KSS"}, {151, "Q8_KV"},  {152, "IQ5_KS"}, {153, "IQ2_KT"},
     {154, "IQ3_KT"}, {155, "IQ4_KT"},  {156, "IQ3_KS"}, {157, "IQ2_KL"}, {158, "IQ1_KT"}});

std::string nameOfType(std::uint32_t id)
{
    if (const GgufType *type = ggufType(id))
        return std::string(type->name);
    for (const auto &[fork, name] : forkTypes) {
        if (fork == id)
            return std::string(name);
    }
    return fmt::format("type {}", id);
}

constexpr std::uint64_t maxKeyBytes = 65'535;
constexpr std::uint64_t maxTextBytes = 16U << 20U; ///< one string; chat templates have tens of kB
constexpr std::size_t keptTextBytes = 4096;
constexpr std::uint64_t maxKeys = 100'000;
constexpr std::uint64_t maxKeptNumbers = 4'000'000; ///< of all arrays: a byte of the file becomes a double
constexpr std::uint64_t maxTensors = 1'000'000; ///< experts are stacked: the most seen are some thousand
constexpr std::size_t maxNameBytes = 255; ///< ggml: 63; other writers go further
constexpr std::uint32_t maxDimensions = 4;

enum ValueType : std::uint32_t {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    Text,
    Array,
    U64,
    I64,
    F64,
    ValueTypeEnd
};

/// A reader over a stream that never asks for more than the file has left.
class Cursor
{
public:
    Cursor(std::istream &stream, std::uint64_t fileBytes)
        : m_stream(&stream)
        , m_fileBytes(fileBytes)
    {}

    bool ok() const { return m_ok; }
    /// True if it went wrong because the file goes on where no header does.
    bool isTooLong() const { return !m_ok && m_tooLong; }
    std::uint64_t position() const { return m_position; }
    std::uint64_t remaining() const { return m_fileBytes - m_position; }
    void setSwapped(bool swapped) { m_swapped = swapped; }

    bool read(void *target, std::size_t bytes)
    {
        if (!mayTake(bytes))
            return false;
        auto *out = static_cast<char *>(target);
        while (bytes > 0) {
            if (m_used == m_available && !refill())
                return m_ok = false;
            const std::size_t part = std::min(bytes, m_available - m_used);
            std::memcpy(out, m_buffer.data() + m_used, part);
            m_used += part;
            m_position += part;
            out += part;
            bytes -= part;
        }
        return true;
    }

    bool skip(std::uint64_t bytes)
    {
        if (!mayTake(bytes))
            return false;
        const std::uint64_t buffered = m_available - m_used;
        if (bytes <= buffered) {
            m_used += static_cast<std::size_t>(bytes);
            m_position += bytes;
            return true;
        }
        m_position += bytes;
        m_used = m_available = 0;
        m_stream->clear();
        m_stream->seekg(static_cast<std::streamoff>(m_position));
        return m_ok = static_cast<bool>(*m_stream);
    }

    template <typename T>
    T number()
    {
        T value{};
        if (!read(&value, sizeof value))
            return T{};
        if (m_swapped && sizeof value > 1) {
            auto raw = std::bit_cast<std::array<unsigned char, sizeof(T)>>(value);
            std::reverse(raw.begin(), raw.end());
            value = std::bit_cast<T>(raw);
        }
        return value;
    }

    /// Text of at most `limit` bytes; longer than the file or the limit is a failure.
    std::string textOfAtMost(std::uint64_t limit)
    {
        const auto length = number<std::uint64_t>();
        if (m_ok && length > limit)
            m_ok = false;
        return text(length);
    }

    std::string text(std::uint64_t length)
    {
        if (!mayTake(length)) {
            m_ok = false;
            return {};
        }
        std::string value(static_cast<std::size_t>(length), '\0');
        read(value.data(), value.size());
        return value;
    }

    bool skipText()
    {
        const auto length = number<std::uint64_t>();
        return m_ok && skip(length);
    }

private:
    bool mayTake(std::uint64_t bytes)
    {
        if (!m_ok)
            return false;
        m_tooLong = bytes <= remaining() && bytes > maxGgufHeaderBytes - m_position;
        return m_ok = bytes <= remaining() && !m_tooLong;
    }

    bool refill()
    {
        m_stream->read(m_buffer.data(), static_cast<std::streamsize>(m_buffer.size()));
        m_available = static_cast<std::size_t>(m_stream->gcount());
        m_used = 0;
        return m_available > 0;
    }

    std::istream *m_stream;
    std::uint64_t m_fileBytes;
    std::uint64_t m_position = 0;
    std::vector<char> m_buffer = std::vector<char>(1U << 18U);
    std::size_t m_used = 0;
    std::size_t m_available = 0;
    bool m_swapped = false;
    bool m_tooLong = false;
    bool m_ok = true;
};

std::uint64_t fixedSize(std::uint32_t type)
{
    constexpr std::array<std::uint64_t, ValueTypeEnd> sizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < sizes.size() ? sizes[type] : 0;
}

std::optional<GgufValue> readScalar(Cursor &cursor, std::uint32_t type)
{
    switch (type) {
    case U8: return GgufValue(std::uint64_t{cursor.number<std::uint8_t>()});
    case I8: return GgufValue(std::int64_t{cursor.number<std::int8_t>()});
    case U16: return GgufValue(std::uint64_t{cursor.number<std::uint16_t>()});
    case I16: return GgufValue(std::int64_t{cursor.number<std::int16_t>()});
    case U32: return GgufValue(std::uint64_t{cursor.number<std::uint32_t>()});
    case I32: return GgufValue(std::int64_t{cursor.number<std::int32_t>()});
    case F32: return GgufValue(double{cursor.number<float>()});
    case Bool: return GgufValue(cursor.number<std::uint8_t>() != 0);
    case U64: return GgufValue(cursor.number<std::uint64_t>());
    case I64: return GgufValue(cursor.number<std::int64_t>());
    case F64: return GgufValue(cursor.number<double>());
    default: return std::nullopt;
    }
}

double asDouble(const GgufValue &value)
{
    if (const auto *u = std::get_if<std::uint64_t>(&value))
        return static_cast<double>(*u);
    if (const auto *i = std::get_if<std::int64_t>(&value))
        return static_cast<double>(*i);
    if (const auto *d = std::get_if<double>(&value))
        return *d;
    if (const auto *b = std::get_if<bool>(&value))
        return *b ? 1 : 0;
    return 0;
}

/// @return nothing on damage; the cursor then says whether the file ended or the value was wrong
/// @param keptNumbers  of all arrays before this one
std::optional<GgufValue> readValue(Cursor &cursor, std::uint32_t type, std::uint64_t &keptNumbers)
{
    if (type == Text) {
        const auto length = cursor.number<std::uint64_t>();
        if (length > maxTextBytes)
            return std::nullopt;
        std::string text = cursor.text(length);
        if (text.size() > keptTextBytes)
            text.resize(keptTextBytes);
        return cursor.ok() ? std::optional<GgufValue>(std::move(text)) : std::nullopt;
    }
    if (type != Array)
        return readScalar(cursor, type);

    const auto elementType = cursor.number<std::uint32_t>();
    const auto count = cursor.number<std::uint64_t>();
    if (!cursor.ok())
        return std::nullopt;
    if (elementType == Text) {
        // Each takes at least the eight bytes of its length: the loop is bounded by the file.
        if (count > cursor.remaining() / 8)
            return std::nullopt;
        for (std::uint64_t i = 0; i < count; ++i) {
            if (!cursor.skipText())
                return std::nullopt;
        }
        return GgufValue(GgufTextCount{count});
    }
    const std::uint64_t size = fixedSize(elementType);
    if (size == 0 || count > cursor.remaining() / size)
        return std::nullopt; // unknown type, array of arrays, or longer than the file
    GgufNumbers numbers;
    const std::uint64_t kept = std::min<std::uint64_t>(count, maxGgufArray);
    keptNumbers += kept;
    if (keptNumbers > maxKeptNumbers)
        return std::nullopt;
    numbers.reserve(static_cast<std::size_t>(kept));
    for (std::uint64_t i = 0; i < kept; ++i) {
        const auto value = readScalar(cursor, elementType);
        if (!cursor.ok() || !value)
            return std::nullopt;
        numbers.push_back(asDouble(*value));
    }
    if (!cursor.skip((count - kept) * size))
        return std::nullopt;
    return GgufValue(std::move(numbers));
}

struct TensorInfo
{
    std::string name;
    std::array<std::uint64_t, maxDimensions> shape{1, 1, 1, 1};
    std::uint32_t dimensions = 0;
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0; ///< 0 until known for unknown types
};

std::unexpected<Error> bad(std::string id, const std::string &subject, std::string_view what = {})
{
    MessageArguments arguments;
    if (!what.empty())
        arguments.emplace_back("what", printable(what));
    return fail(std::move(id), ErrorKind::Unreadable, subject, std::move(arguments));
}

/// Bytes of a tensor of a known type. @return an error id, empty when sound
std::string_view sizeOf(TensorInfo &info, const GgufType &type)
{
    std::uint64_t elements = 1;
    for (std::uint32_t i = 0; i < info.dimensions; ++i) {
        if (__builtin_mul_overflow(elements, info.shape.at(i), &elements)
            || elements > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return "gguf.overflow";
    }
    if (info.shape[0] % type.block != 0)
        return "gguf.block";
    if (__builtin_mul_overflow(elements / type.block, std::uint64_t{type.bytes}, &info.bytes))
        return "gguf.overflow";
    return {};
}

/// Offsets must be the running sum of padded sizes; the size of an unknown type follows from the next.
std::string_view checkOffsets(std::vector<TensorInfo> &infos, std::uint64_t alignment,
                              std::uint64_t dataBytes, std::size_t &culprit)
{
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < infos.size(); ++i) {
        TensorInfo &info = infos[i];
        culprit = i;
        if (info.offset != expected)
            return info.offset < expected ? "gguf.overlap" : "gguf.hole";
        if (ggufType(info.type) == nullptr) {
            const std::uint64_t end = i + 1 < infos.size() ? infos[i + 1].offset : dataBytes;
            if (end < info.offset)
                return "gguf.overlap";
            info.bytes = end - info.offset;
        }
        if (info.offset > dataBytes || info.bytes > dataBytes - info.offset)
            return "gguf.truncated";
        const std::uint64_t end = info.offset + info.bytes;
        const std::uint64_t padding = (alignment - end % alignment) % alignment;
        if (__builtin_add_overflow(end, padding, &expected))
            return "gguf.overflow";
    }
    return {};
}

} // namespace

std::span<const GgufType> ggufTypes() { return types; }

std::span<const std::pair<std::uint32_t, std::string_view>> ggufForkTypes() { return forkTypes; }

bool isForeignGgufType(std::string_view name)
{
    return name.starts_with("type ")
           || std::any_of(forkTypes.begin(), forkTypes.end(),
                          [name](const auto &type) { return type.second == name; });
}

const GgufType *ggufType(std::uint32_t id)
{
    const auto found =
        std::find_if(types.begin(), types.end(), [id](const GgufType &type) { return type.id == id; });
    return found == types.end() ? nullptr : &*found;
}

const GgufType *ggufType(std::string_view name)
{
    const auto found =
        std::find_if(types.begin(), types.end(), [name](const GgufType &type) { return type.name == name; });
    return found == types.end() ? nullptr : &*found;
}

Result<GgufHeader> readGguf(std::istream &stream, std::uint64_t fileBytes, const std::string &subject,
                            const std::function<bool(const GgufTensor &)> &visit, std::stop_token stop)
{
    if (fileBytes == 0)
        return bad("file.empty", subject);
    Cursor cursor(stream, fileBytes);
    std::array<char, 4> magic{};
    if (!cursor.read(magic.data(), magic.size()) || std::string_view(magic.data(), 4) != "GGUF") {
        std::array<char, 60> more{};
        const std::size_t extra =
            static_cast<std::size_t>(std::min<std::uint64_t>(cursor.remaining(), more.size()));
        cursor.read(more.data(), extra);
        std::string start(magic.data(), 4);
        start.append(more.data(), extra);
        const std::string_view impostor = impostorError(start);
        return bad(impostor.empty() ? "gguf.magic" : std::string(impostor), subject);
    }
    const auto cutOff = [&](std::string_view what = {}) {
        if (!cursor.isTooLong())
            return bad("gguf.truncated-header", subject, what);
        return fail("gguf.header-too-large", ErrorKind::Unreadable, subject,
                    {{"limit", Bytes{maxGgufHeaderBytes}}});
    };
    GgufHeader header;
    header.version = cursor.number<std::uint32_t>();
    if ((header.version & 0xFFFFU) == 0 && header.version != 0) { // the other byte order
        header.bigEndian = true;
        header.version = __builtin_bswap32(header.version);
        cursor.setSwapped(true);
    }
    if (!cursor.ok())
        return cutOff();
    if (header.version < 2 || header.version > 3) {
        return fail("gguf.version", ErrorKind::Unreadable, subject,
                    {{"version", std::uint64_t{header.version}}});
    }
    const auto tensorCount = cursor.number<std::uint64_t>();
    const auto keyCount = cursor.number<std::uint64_t>();
    if (!cursor.ok())
        return cutOff();
    // A tensor takes at least 8+1+4+8+4+8 bytes, a key 8+1+4+1: counts that the file cannot hold are lies.
    if (tensorCount > maxTensors || tensorCount > cursor.remaining() / 33 || keyCount > maxKeys
        || keyCount > cursor.remaining() / 14) {
        return fail("gguf.counts", ErrorKind::Unreadable, subject,
                    {{"tensors", tensorCount}, {"keys", keyCount}});
    }

    std::uint64_t alignment = 32;
    std::uint64_t keptNumbers = 0;
    for (std::uint64_t i = 0; i < keyCount; ++i) {
        if (stop.stop_requested())
            return fail("cancelled", ErrorKind::Unreadable, subject);
        const std::string key = cursor.textOfAtMost(maxKeyBytes);
        const auto type = cursor.number<std::uint32_t>();
        if (!cursor.ok())
            return cutOff();
        if (key.empty())
            return bad("gguf.bad-value", subject);
        std::optional<GgufValue> value = readValue(cursor, type, keptNumbers);
        if (!cursor.ok())
            return cutOff(key);
        if (!value)
            return bad("gguf.bad-value", subject, key);
        if (key == "general.alignment") {
            const auto *number = std::get_if<std::uint64_t>(&*value);
            if (number == nullptr || type != U32 || !std::has_single_bit(*number) || *number > 1U << 20U)
                return bad("gguf.alignment", subject);
            alignment = *number;
        }
        if (!header.metadata.emplace(key, std::move(*value)).second)
            return bad("gguf.duplicate-key", subject, key);
    }

    std::vector<TensorInfo> infos;
    infos.reserve(static_cast<std::size_t>(tensorCount));
    std::unordered_set<std::string> names;
    names.reserve(static_cast<std::size_t>(tensorCount));
    for (std::uint64_t i = 0; i < tensorCount; ++i) {
        if (stop.stop_requested())
            return fail("cancelled", ErrorKind::Unreadable, subject);
        TensorInfo &info = infos.emplace_back();
        info.name = cursor.textOfAtMost(maxNameBytes);
        info.dimensions = cursor.number<std::uint32_t>();
        if (!cursor.ok())
            return cutOff();
        if (info.name.empty() || info.dimensions > maxDimensions)
            return bad("gguf.bad-tensor", subject, info.name);
        for (std::uint32_t d = 0; d < info.dimensions; ++d)
            info.shape.at(d) = cursor.number<std::uint64_t>();
        info.type = cursor.number<std::uint32_t>();
        info.offset = cursor.number<std::uint64_t>();
        if (!cursor.ok())
            return cutOff(info.name);
        if (!names.insert(info.name).second)
            return bad("gguf.duplicate-tensor", subject, info.name);
        if (const GgufType *type = ggufType(info.type)) {
            if (const std::string_view problem = sizeOf(info, *type); !problem.empty())
                return bad(std::string(problem), subject, info.name);
        } else {
            const std::string name = nameOfType(info.type);
            if (std::find(header.unknownTypes.begin(), header.unknownTypes.end(), name)
                    == header.unknownTypes.end()
                && header.unknownTypes.size() < 16)
                header.unknownTypes.push_back(name);
        }
    }

    const std::uint64_t headerEnd = cursor.position();
    const std::uint64_t dataStart = headerEnd + (alignment - headerEnd % alignment) % alignment;
    if (!infos.empty() && dataStart > fileBytes)
        return bad("gguf.truncated", subject, infos.front().name);
    const std::uint64_t dataBytes = fileBytes > dataStart ? fileBytes - dataStart : 0;
    std::size_t culprit = 0;
    if (const std::string_view problem = checkOffsets(infos, alignment, dataBytes, culprit); !problem.empty())
        return bad(std::string(problem), subject, infos[culprit].name);

    header.tensors = infos.size();
    for (const TensorInfo &info : infos) {
        const GgufType *type = ggufType(info.type);
        const std::string unknown = type == nullptr ? nameOfType(info.type) : std::string();
        const GgufTensor tensor{info.name, type == nullptr ? std::string_view(unknown) : type->name,
                                std::span(info.shape.data(), info.dimensions), info.bytes};
        if (!visit(tensor))
            return bad("tensors.too-many-names", subject);
    }
    return header;
}

} // namespace weir

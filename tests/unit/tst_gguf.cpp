// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/ggufconfig.h"
#include "models/sources/gguffile.h"
#include "models/sources/open.h"
#include "tests/support/ggufbuilder.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

using B = GgufBuilder;
constexpr std::uint64_t hugeCount = std::uint64_t{1} << 63U;

struct Seen
{
    std::string name;
    std::string type;
    std::vector<std::uint64_t> shape;
    std::uint64_t bytes;
    friend bool operator==(const Seen &, const Seen &) = default;
};

/// Reads a header that lies in memory; the file claims to be `fileBytes` long.
Result<GgufHeader> readBytes(const std::string &bytes, std::uint64_t fileBytes,
                             std::vector<Seen> *seen = nullptr)
{
    std::istringstream stream(bytes);
    return readGguf(stream, fileBytes, "test", [seen](const GgufTensor &tensor) {
        if (seen != nullptr)
            seen->push_back({std::string(tensor.name),
                             std::string(tensor.type),
                             {tensor.shape.begin(), tensor.shape.end()},
                             tensor.bytes});
        return true;
    });
}

Result<GgufHeader> read(const B &builder, std::vector<Seen> *seen = nullptr)
{
    return readBytes(builder.header(), builder.fileBytes(), seen);
}

/// The keys of a small Llama.
B &llamaKeys(B &builder)
{
    return builder.string("general.architecture", "llama")
        .u32("llama.block_count", 2)
        .u32("llama.embedding_length", 256)
        .u32("llama.attention.head_count", 4)
        .u32("llama.attention.head_count_kv", 2)
        .u32("llama.context_length", 4096)
        .u32("llama.vocab_size", 32)
        .u32("general.file_type", 15);
}

B &llamaTensors(B &builder)
{
    return builder.tensor("token_embd.weight", "Q4_K", {256, 32})
        .tensor("blk.0.attn_q.weight", "Q6_K", {256, 256})
        .tensor("blk.1.attn_q.weight", "Q4_K", {256, 256})
        .tensor("output_norm.weight", "F32", {256});
}

B llama()
{
    B builder;
    llamaKeys(builder);
    return llamaTensors(builder);
}

QString readFile(const fs::path &file) { return outcome(readPath(file)); }

std::string without(std::string text, std::size_t bytes)
{
    text.resize(text.size() - bytes);
    return text;
}

} // namespace

class GgufTest : public QObject
{
    Q_OBJECT

private slots:
    // headers
    void readsExactly_data();
    void readsExactly();
    void types_data();
    void types();
    void typeTableIsSound();
    void unknownTypeTakesItsBytesFromOffsets();
    void metadataValues();
    void alignment_data();
    void alignment();
    void refusals_data();
    void refusals();
    void everyTruncationIsAnError();
    void everyByteMayBeWrong();
    void randomBytes();
    void longArrays();
    // what the metadata says
    void config_data();
    void config();
    void badKeys_data();
    void badKeys();
    void otherKinds_data();
    void otherKinds();
    void mixNames_data();
    void mixNames();
    // whole files
    void file();
    void impostors_data();
    void impostors();
    void split();
    void badSplits();
    void partNames_data();
    void partNames();
    void folders();
    void cancelled();
};

void GgufTest::readsExactly_data()
{
    QTest::addColumn<quint32>("version");
    QTest::addColumn<bool>("bigEndian");
    QTest::newRow("version 3") << 3U << false;
    QTest::newRow("version 2") << 2U << false;
    QTest::newRow("version 3, big endian") << 3U << true;
    QTest::newRow("version 2, big endian") << 2U << true;
}

void GgufTest::readsExactly()
{
    QFETCH(const quint32, version);
    QFETCH(const bool, bigEndian);
    B builder;
    builder.version = version;
    builder.bigEndian = bigEndian;
    llamaTensors(llamaKeys(builder)).tensor("scalar", "F32", {}).tensor("empty", "F16", {0, 4});
    std::vector<Seen> seen;
    const Result<GgufHeader> header = read(builder, &seen);
    QVERIFY2(header, header ? "" : header.error().id.c_str());
    QCOMPARE(header->version, version);
    QCOMPARE(header->bigEndian, bigEndian);
    QCOMPARE(header->tensors, 6U);
    QVERIFY(header->unknownTypes.empty());
    const std::vector<Seen> expected{{"token_embd.weight", "Q4_K", {256, 32}, 32 * 144},
                                     {"blk.0.attn_q.weight", "Q6_K", {256, 256}, 256 * 210},
                                     {"blk.1.attn_q.weight", "Q4_K", {256, 256}, 256 * 144},
                                     {"output_norm.weight", "F32", {256}, 1024},
                                     {"scalar", "F32", {}, 4},
                                     {"empty", "F16", {0, 4}, 0}};
    QVERIFY(seen == expected);
    QCOMPARE(std::get<std::uint64_t>(header->metadata.find("llama.block_count")->second), 2U);
    const Result<ModelConfig> config = readGgufConfig(*header, "test");
    QVERIFY(config);
    QCOMPARE(config->spec.hiddenSize, 256U);
}

void GgufTest::types_data()
{
    QTest::addColumn<quint32>("id");
    QTest::addColumn<QString>("name");
    QTest::addColumn<quint64>("bytesOf256"); // bytes of 256 elements, from the structs of ggml-common.h
    const auto row = [](quint32 id, const char *name, quint64 bytes) {
        QTest::newRow(name) << id << q(name) << bytes;
    };
    row(0, "F32", 1024);
    row(1, "F16", 512);
    row(2, "Q4_0", 144);
    row(3, "Q4_1", 160);
    row(6, "Q5_0", 176);
    row(7, "Q5_1", 192);
    row(8, "Q8_0", 272);
    row(9, "Q8_1", 288);
    row(10, "Q2_K", 84);
    row(11, "Q3_K", 110);
    row(12, "Q4_K", 144);
    row(13, "Q5_K", 176);
    row(14, "Q6_K", 210);
    row(15, "Q8_K", 292);
    row(16, "IQ2_XXS", 66);
    row(17, "IQ2_XS", 74);
    row(18, "IQ3_XXS", 98);
    row(19, "IQ1_S", 50);
    row(20, "IQ4_NL", 144);
    row(21, "IQ3_S", 110);
    row(22, "IQ2_S", 82);
    row(23, "IQ4_XS", 136);
    row(24, "I8", 256);
    row(25, "I16", 512);
    row(26, "I32", 1024);
    row(27, "I64", 2048);
    row(28, "F64", 2048);
    row(29, "IQ1_M", 56);
    row(30, "BF16", 512);
    row(34, "TQ1_0", 54);
    row(35, "TQ2_0", 66);
    row(39, "MXFP4", 136);
    row(40, "NVFP4", 144);
    row(41, "Q1_0", 36);
    row(42, "Q2_0", 72);
}

void GgufTest::types()
{
    QFETCH(const quint32, id);
    QFETCH(const QString, name);
    QFETCH(const quint64, bytesOf256);
    const GgufType *type = ggufType(id);
    QVERIFY(type != nullptr);
    QCOMPARE(q(type->name), name);
    QCOMPARE(ggufType(s(name)), type);
    B builder;
    builder.tensor("a", s(name), {256, 3});
    std::vector<Seen> seen;
    QCOMPARE(outcome(read(builder, &seen)), u"ok"_s);
    QCOMPARE(quint64{seen.at(0).bytes}, 3 * bytesOf256);
    QCOMPARE(q(seen.at(0).type), name);
    // A row that is no whole number of blocks.
    if (type->block > 1) {
        B odd;
        odd.tensorAt("a", id, {type->block + 1, type->block}, 0, 0);
        QCOMPARE(outcome(readBytes(odd.header(), 1U << 20U)), u"gguf.block"_s);
    }
}

void GgufTest::typeTableIsSound()
{
    for (const std::uint32_t removed : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U, 137U, 0xFFFFFFFFU})
        QVERIFY(ggufType(removed) == nullptr);
    QVERIFY(ggufType("Q4_2") == nullptr);
    QVERIFY(ggufType("") == nullptr);
    QVERIFY(ggufType("q4_K") == nullptr);
}

void GgufTest::unknownTypeTakesItsBytesFromOffsets()
{
    B builder;
    builder.tensorAt("a", 137, {77}, 0, 100).tensorAt("b", 238, {5}, 128, 40).tensor("c", "F32", {1});
    std::vector<Seen> seen;
    const Result<GgufHeader> header = readBytes(builder.header(), builder.fileBytes(), &seen);
    QVERIFY2(header, header ? "" : header.error().id.c_str());
    QCOMPARE(seen.at(0).bytes, 128U); // padding cannot be told from data
    QCOMPARE(seen.at(1).bytes, 64U);
    QCOMPARE(q(seen.at(0).type), u"IQ2_K"_s); // of ik_llama.cpp
    QCOMPARE(q(seen.at(1).type), u"type 238"_s);
    QCOMPARE(header->unknownTypes, (std::vector<std::string>{"IQ2_K", "type 238"}));
    QVERIFY(isForeignGgufType("IQ2_K") && isForeignGgufType("type 238") && !isForeignGgufType("Q4_K"));
}

void GgufTest::metadataValues()
{
    B builder;
    builder.raw("u8", B::U8, builder.number<std::uint8_t>(200))
        .raw("i8", B::I8, builder.number<std::int8_t>(-3))
        .u16("u16", 65'535)
        .raw("i16", B::I16, builder.number<std::int16_t>(-30'000))
        .u32("u32", 4'000'000'000U)
        .i32("i32", -2'000'000'000)
        .u64("u64", ~std::uint64_t{0})
        .raw("i64", B::I64, builder.number(std::numeric_limits<std::int64_t>::min()))
        .f32("f32", 0.5F)
        .raw("f64", B::F64, builder.number(1e300))
        .flag("true", true)
        .string("text", "ä\n")
        .string("empty", "")
        .u32s("numbers", {1, 2, 3})
        .u32s("none", {})
        .strings("tokens", {"a", "", "ccc"});
    const Result<GgufHeader> header = read(builder);
    QVERIFY(header);
    const auto at = [&header](const char *key) {
        return header->metadata.find(std::string_view(key))->second;
    };
    QCOMPARE(std::get<std::uint64_t>(at("u8")), 200U);
    QCOMPARE(std::get<std::int64_t>(at("i8")), -3);
    QCOMPARE(std::get<std::uint64_t>(at("u16")), 65'535U);
    QCOMPARE(std::get<std::int64_t>(at("i16")), -30'000);
    QCOMPARE(std::get<std::uint64_t>(at("u32")), 4'000'000'000U);
    QCOMPARE(std::get<std::int64_t>(at("i32")), -2'000'000'000);
    QCOMPARE(std::get<std::uint64_t>(at("u64")), ~std::uint64_t{0});
    QCOMPARE(std::get<std::int64_t>(at("i64")), std::numeric_limits<std::int64_t>::min());
    QCOMPARE(std::get<double>(at("f32")), 0.5);
    QCOMPARE(std::get<double>(at("f64")), 1e300);
    QCOMPARE(std::get<bool>(at("true")), true);
    QCOMPARE(q(std::get<std::string>(at("text"))), u"ä\n"_s);
    QCOMPARE(q(std::get<std::string>(at("empty"))), QString());
    QCOMPARE(std::get<GgufNumbers>(at("numbers")), (GgufNumbers{1, 2, 3}));
    QCOMPARE(std::get<GgufNumbers>(at("none")), GgufNumbers());
    QCOMPARE(std::get<GgufTextCount>(at("tokens")).count, 3U);
}

void GgufTest::alignment_data()
{
    QTest::addColumn<quint32>("alignment");
    QTest::addColumn<QString>("expected");
    for (const quint32 sound : {1U, 8U, 32U, 64U, 4096U, 1U << 20U})
        QTest::addRow("%u", sound) << sound << u"ok"_s;
    for (const quint32 wrong : {0U, 3U, 48U, 1U << 21U, 1U << 31U, 0xFFFFFFFFU})
        QTest::addRow("%u", wrong) << wrong << u"gguf.alignment"_s;
}

void GgufTest::alignment()
{
    QFETCH(const quint32, alignment);
    QFETCH(const QString, expected);
    B builder;
    builder.u32("general.alignment", alignment);
    if (expected == "ok"_L1)
        builder.alignment = alignment;
    builder.tensor("a", "F32", {3}).tensor("b", "F32", {1});
    QCOMPARE(outcome(read(builder)), expected);
}

void GgufTest::refusals_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<quint64>("fileBytes");
    QTest::addColumn<QString>("expected");
    const auto bytesRow = [](const char *name, const std::string &bytes, quint64 fileBytes,
                             const char *expected) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << fileBytes << q(expected);
    };
    const auto row = [&bytesRow](const char *name, const B &builder, const char *expected) {
        bytesRow(name, builder.header(), builder.fileBytes(), expected);
    };
    const B b;
    const auto number64 = [&b](std::uint64_t value) { return b.number(value); };
    // magic and version
    bytesRow("empty", "", 0, "file.empty");
    bytesRow("one byte", "G", 1, "gguf.magic");
    bytesRow("other magic", "GGML" + std::string(60, '\0'), 64, "gguf.magic");
    bytesRow("lower case", "gguf" + std::string(60, '\0'), 64, "gguf.magic");
    bytesRow("web page", "<!DOCTYPE html><html><head>", 27, "json.html");
    bytesRow("LFS pointer", "version https://git-lfs.github.com/spec/v1\n", 43, "json.lfs-pointer");
    bytesRow("magic alone", "GGUF", 4, "gguf.truncated-header");
    for (const std::uint32_t version : {0U, 1U, 4U, 0xFFFFU, 0xFFFFFFFFU}) {
        B other = llama();
        other.version = version;
        QTest::addRow("version %u", version)
            << QByteArray::fromStdString(other.header()) << quint64{other.fileBytes()} << u"gguf.version"_s;
    }
    // counts
    B counts = llama();
    counts.tensorCount = hugeCount;
    row("2^63 tensors", counts, "gguf.counts");
    counts.tensorCount = ~std::uint64_t{0};
    row("2^64-1 tensors", counts, "gguf.counts");
    counts.tensorCount = 10'000'001;
    bytesRow("more tensors than any model", counts.header(), std::uint64_t{1} << 40U, "gguf.counts");
    counts = llama();
    counts.keyCount = hugeCount;
    row("2^63 keys", counts, "gguf.counts");
    counts.keyCount = 100'001;
    bytesRow("more keys than any model", counts.header(), std::uint64_t{1} << 40U, "gguf.counts");
    counts = llama();
    counts.tensorCount = 5;
    row("one tensor more", counts, "gguf.truncated-header");
    counts.tensorCount = 5;
    bytesRow("one tensor more, in a long file", counts.header(), 10'000'000, "gguf.truncated-header");
    // strings
    bytesRow("key length near 2^64",
             "GGUF" + b.number(3U) + number64(0) + number64(1) + number64(~std::uint64_t{0} - 7)
                 + "abcdefghijkl",
             1000, "gguf.truncated-header");
    bytesRow("key of 64 KiB",
             "GGUF" + b.number(3U) + number64(0) + number64(1) + b.text(std::string(65'536, 'k')), 1'000'000,
             "gguf.truncated-header");
    row("empty key", B().u32("", 1), "gguf.bad-value");
    row("text length near 2^64", B().raw("k", B::Text, number64(~std::uint64_t{0}) + "abc"),
        "gguf.bad-value");
    row("text length 2^63", B().raw("k", B::Text, number64(hugeCount) + "abc"), "gguf.bad-value");
    bytesRow("text of 17 MiB", B().raw("k", B::Text, number64(17U << 20U)).header(), 1U << 30U,
             "gguf.bad-value");
    // values
    row("unknown value type", B().raw("k", 13, "xxxxxxxx"), "gguf.bad-value");
    row("value type 2^32-1", B().raw("k", 0xFFFFFFFFU, "xxxxxxxx"), "gguf.bad-value");
    const auto array = [&b](std::uint32_t type, std::uint64_t count, std::string_view content) {
        return b.number(type) + b.number(count) + std::string(content);
    };
    row("array longer than the file", B().raw("k", B::Array, array(B::U32, 1000, "xxxx")), "gguf.bad-value");
    row("array whose size wraps", B().raw("k", B::Array, array(B::U64, hugeCount >> 2U, "xxxxxxxx")),
        "gguf.bad-value");
    row("array of 2^64-1 bytes", B().raw("k", B::Array, array(B::U8, ~std::uint64_t{0}, "xx")),
        "gguf.bad-value");
    row("a thousand million empty texts", B().raw("k", B::Array, array(B::Text, 1'000'000'000, number64(0))),
        "gguf.bad-value");
    bytesRow("texts that the file could hold but does not",
             B().raw("k", B::Array, array(B::Text, 100'000'000, number64(0))).header(), 1'000'000'000,
             "gguf.truncated-header");
    row("text in an array near 2^64",
        B().raw("k", B::Array, array(B::Text, 2, number64(1) + "a" + number64(~std::uint64_t{0}))),
        "gguf.truncated-header");
    row("array of arrays", B().raw("k", B::Array, array(B::Array, 1, array(B::U8, 1, "x"))),
        "gguf.bad-value");
    std::string nested;
    for (int i = 0; i < 10'000; ++i)
        nested += array(B::Array, 1, {});
    row("arrays ten thousand deep", B().raw("k", B::Array, nested), "gguf.bad-value");
    row("array of an unknown type", B().raw("k", B::Array, array(99, 1, "xxxxxxxx")), "gguf.bad-value");
    // keys
    row("key twice", B().u32("a", 1).u32("b", 1).u32("a", 1), "gguf.duplicate-key");
    row("key twice, another type", B().u32("a", 1).string("a", "x"), "gguf.duplicate-key");
    row("alignment of 64 bits", B().u64("general.alignment", 32), "gguf.alignment");
    row("alignment as text", B().string("general.alignment", "32"), "gguf.alignment");
    row("alignment as a signed number", B().i32("general.alignment", 32), "gguf.alignment");
    row("alignment as a list", B().u32s("general.alignment", {32}), "gguf.alignment");
    // tensors
    row("tensor twice", B().tensor("a", "F32", {1}).tensor("a", "F32", {1}), "gguf.duplicate-tensor");
    row("tensor without name", B().tensor("", "F32", {1}), "gguf.bad-tensor");
    row("five dimensions", B().tensorAt("a", 0, {1, 1, 1, 1, 1}, 0, 4), "gguf.bad-tensor");
    bytesRow("2^32-1 dimensions",
             "GGUF" + b.number(3U) + number64(1) + number64(0) + b.text("a") + b.number(0xFFFFFFFFU)
                 + std::string(100, '\0'),
             1000, "gguf.bad-tensor");
    bytesRow("endless tensor name",
             "GGUF" + b.number(3U) + number64(1) + number64(0) + b.text(std::string(256, 'n'))
                 + std::string(100, '\0'),
             1000, "gguf.truncated-header");
    row("product of dimensions wraps", B().tensorAt("a", 0, {1ULL << 32U, 1ULL << 32U}, 0, 0),
        "gguf.overflow");
    row("product wraps to one", B().tensorAt("a", 24, {3, 12297829382473034411ULL}, 0, 1), "gguf.overflow");
    row("product beyond 2^63", B().tensorAt("a", 24, {1ULL << 63U}, 0, 0), "gguf.overflow");
    row("bytes wrap", B().tensorAt("a", 0, {1ULL << 62U}, 0, 0), "gguf.overflow");
    row("bytes wrap by blocks", B().tensorAt("a", 27, {1ULL << 61U}, 0, 0), "gguf.overflow");
    row("row is no whole number of blocks", B().tensorAt("a", 12, {255, 256}, 0, 0), "gguf.block");
    row("first tensor not at zero", B().tensorAt("a", 0, {1}, 32, 4), "gguf.hole");
    row("gap", B().tensor("a", "F32", {1}).tensorAt("b", 0, {1}, 64, 4), "gguf.hole");
    row("not padded", B().tensor("a", "F32", {1}).tensorAt("b", 0, {1}, 4, 4), "gguf.overlap");
    row("overlap", B().tensor("a", "F32", {16}).tensorAt("b", 0, {1}, 32, 4), "gguf.overlap");
    row("the same place", B().tensor("a", "F32", {1}).tensorAt("b", 0, {1}, 0, 4), "gguf.overlap");
    row("offset near 2^64", B().tensorAt("a", 0, {1}, ~std::uint64_t{31}, 4), "gguf.hole");
    row("unknown type that ends before it begins",
        B().tensorAt("a", 99, {1}, 0, 32).tensorAt("b", 99, {1}, 32, 32).tensorAt("c", 0, {1}, 0, 4),
        "gguf.overlap");
    row("unknown type, then an offset near 2^64",
        B().tensorAt("a", 99, {1}, 0, 32).tensorAt("b", 0, {1}, ~std::uint64_t{31}, 4), "gguf.truncated");
    const B whole = llama();
    bytesRow("last tensor cut", whole.header(), whole.fileBytes() - 1024, "gguf.truncated");
    bytesRow("no data at all", whole.header(), whole.header().size(), "gguf.truncated");
    bytesRow("tensor larger than the file", B().tensorAt("a", 0, {1ULL << 40U}, 0, 4).header(), 4096,
             "gguf.truncated");
}

void GgufTest::refusals()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const quint64, fileBytes);
    QFETCH(const QString, expected);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(outcome(readBytes(bytes.toStdString(), fileBytes)), expected);
    QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
}

void GgufTest::everyTruncationIsAnError()
{
    for (const bool bigEndian : {false, true}) {
        B builder;
        builder.bigEndian = bigEndian;
        llamaKeys(builder)
            .u32s("llama.numbers", {1, 2, 3})
            .strings("tokenizer.ggml.tokens", {"a", "bc"})
            .tensor("token_embd.weight", "Q4_K", {256, 1})
            .tensor("output_norm.weight", "F32", {4});
        const std::string whole = builder.file();
        const std::size_t dataEnd = whole.size() - 16; // four floats, padded to 32 bytes
        QCOMPARE(outcome(readBytes(whole, whole.size())), u"ok"_s);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const std::string cut = whole.substr(0, length);
            const QString result = outcome(readBytes(cut, length));
            // The padding behind the last tensor may be missing, as the reference reader allows.
            QVERIFY2((result == "ok"_L1) == (length >= dataEnd),
                     qPrintable(u"%1 bytes: %2"_s.arg(length).arg(result)));
            // The same where the size is told wrongly: the stream ends before the file does.
            if (length < builder.header().size())
                QVERIFY(outcome(readBytes(cut, whole.size())) != "ok"_L1);
        }
    }
}

void GgufTest::everyByteMayBeWrong()
{
    B builder;
    llamaKeys(builder)
        .u32s("llama.numbers", {1, 2, 3})
        .strings("tokenizer.ggml.tokens", {"a", "bc"})
        .tensor("token_embd.weight", "Q4_K", {256, 1})
        .tensor("output_norm.weight", "F32", {4});
    const std::string header = builder.header();
    QElapsedTimer timer;
    timer.start();
    std::size_t accepted = 0;
    for (std::size_t place = 0; place < header.size(); ++place) {
        for (const std::uint8_t wrong : {std::uint8_t{0x00}, std::uint8_t{0x01}, std::uint8_t{0x7F},
                                         std::uint8_t{0x80}, std::uint8_t{0xFF}}) {
            std::string altered = header;
            altered[place] = static_cast<char>(wrong);
            std::vector<Seen> seen;
            const Result<GgufHeader> read = readBytes(altered, builder.fileBytes(), &seen);
            if (!read)
                continue;
            ++accepted;
            (void)readGgufConfig(*read, "test");
            std::uint64_t bytes = 0;
            for (const Seen &each : seen)
                bytes += each.bytes;
            QVERIFY(bytes <= builder.fileBytes());
        }
    }
    QVERIFY(accepted > 0);
    QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
}

void GgufTest::randomBytes()
{
    std::mt19937 random(7);
    std::uniform_int_distribution<int> byte(0, 255);
    for (int i = 0; i < 500; ++i) {
        std::string bytes = "GGUF" + B().number(3U);
        for (int k = 0; k < 300; ++k)
            bytes += static_cast<char>(k % 8 > 1 && byte(random) < 200 ? 0 : byte(random));
        (void)readBytes(bytes, bytes.size());
        (void)readBytes(bytes, std::uint64_t{1} << 50U);
    }
}

void GgufTest::longArrays()
{
    // Arrays are kept up to a limit and walked beyond it; a vocabulary is counted.
    B builder;
    builder.u32s("numbers", std::vector<std::uint32_t>(200'000, 7))
        .strings("tokenizer.ggml.tokens", std::vector<std::string>(300'000, "token"))
        .string("tokenizer.chat_template", std::string(100'000, 'x'))
        .u32("last", 5);
    const Result<GgufHeader> header = read(builder);
    QVERIFY(header);
    QCOMPARE(std::get<GgufNumbers>(header->metadata.find("numbers")->second).size(), maxGgufArray);
    QCOMPARE(std::get<GgufTextCount>(header->metadata.find("tokenizer.ggml.tokens")->second).count, 300'000U);
    QVERIFY(std::get<std::string>(header->metadata.find("tokenizer.chat_template")->second).size() <= 4096);
    QCOMPARE(std::get<std::uint64_t>(header->metadata.find("last")->second), 5U);
}

void GgufTest::config_data()
{
    // Element counts by hand, from the keys that the row writes.
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("expected"); // kind x layers (k, v, window) of attention, then of state
    QTest::newRow("llama") << u"llama"_s << u"attention x4 k128 v128"_s;
    QTest::newRow("gpt-oss") << u"gpt-oss"_s
                             << u"sliding_attention x2 k128 v128 w96; attention x2 k128 v128"_s;
    QTest::newRow("gemma3") << u"gemma3"_s << u"sliding_attention x4 k128 v128 w96"_s;
    QTest::newRow("deepseek2") << u"deepseek2"_s << u"mla x4 k576 v0"_s;
    QTest::newRow("qwen35moe") << u"qwen35moe"_s
                               << u"attention x1 k128 v128; gated_delta_net x3 c960 r2048"_s;
    QTest::newRow("nemotron_h") << u"nemotron_h"_s << u"attention x1 k128 v128; mamba x2 c960 r2048"_s;
    QTest::newRow("kimi-linear") << u"kimi-linear"_s << u"mla x1 k576 v0; kda x3 c1536 r4096"_s;
    QTest::newRow("lfm2") << u"lfm2"_s << u"attention x1 k128 v128; short_convolution x3 c512 r0"_s;
}

void GgufTest::config()
{
    QFETCH(const QString, architecture);
    QFETCH(const QString, expected);
    const std::string a = s(architecture);
    B builder;
    builder.string("general.architecture", a)
        .u32(a + ".block_count", 4)
        .u32(a + ".embedding_length", 256)
        .u32(a + ".attention.head_count", a == "kimi-linear" ? 4 : 8)
        .u32(a + ".attention.key_length", 64)
        .u32(a + ".attention.value_length", 64);
    if (a == "nemotron_h") {
        builder.u32s(a + ".attention.head_count_kv", {0, 0, 2, 0})
            .u32s(a + ".feed_forward_length", {0, 99, 0, 0})
            .u32(a + ".ssm.conv_kernel", 4)
            .u32(a + ".ssm.inner_size", 64)
            .u32(a + ".ssm.state_size", 32)
            .u32(a + ".ssm.group_count", 4);
    } else if (a == "kimi-linear") {
        builder.u32s(a + ".attention.head_count_kv", {0, 0, 0, 4})
            .u32(a + ".kda.head_dim", 32)
            .u32(a + ".ssm.conv_kernel", 5);
    } else if (a == "lfm2") {
        builder.u32s(a + ".attention.head_count_kv", {0, 0, 2, 0}).u32(a + ".shortconv.l_cache", 3);
    } else {
        builder.u32(a + ".attention.head_count_kv", 2);
    }
    if (a == "gpt-oss" || a == "gemma3" || a == "llama")
        builder.u32(a + ".attention.sliding_window", a == "llama" ? 0 : 96);
    if (a == "deepseek2" || a == "kimi-linear")
        builder.u32(a + ".attention.kv_lora_rank", 512).u32(a + ".rope.dimension_count", 64);
    if (a == "qwen35moe") {
        builder.u32(a + ".ssm.conv_kernel", 4)
            .u32(a + ".ssm.inner_size", 64)
            .u32(a + ".ssm.state_size", 32)
            .u32(a + ".ssm.group_count", 4);
    }
    const Result<GgufHeader> header = read(builder);
    QVERIFY(header);
    const Result<ModelConfig> config = readGgufConfig(*header, "test");
    QVERIFY2(config, config ? "" : qPrintable(argumentText(config.error().arguments, "key")));
    QStringList found;
    for (const AttentionLayers &run : config->spec.attention) {
        found += u"%1 x%2 k%3 v%4"_s.arg(q(layerKindId(run.kind)))
                     .arg(run.layers)
                     .arg(run.kElementsPerToken)
                     .arg(run.vElementsPerToken)
                 + (run.window ? u" w%1"_s.arg(*run.window) : QString());
    }
    for (const StateLayers &run : config->spec.state) {
        found += u"%1 x%2 c%3 r%4"_s.arg(q(layerKindId(run.kind)))
                     .arg(run.layers)
                     .arg(run.convolutionElements)
                     .arg(run.recurrentElements);
    }
    QCOMPARE(found.join("; "_L1), expected);
    QCOMPARE(config->layerKinds.size(), 4U);
}

void GgufTest::badKeys_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<quint64>("fileBytes");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const B &builder, const char *expected) {
        QTest::newRow(name) << QByteArray::fromStdString(builder.header()) << quint64{builder.fileBytes()}
                            << q(expected);
    };
    const auto start = [] { return B().string("general.architecture", "llama"); };
    const auto blocks = "llama.block_count gguf.bad-key";
    row("no architecture", B().u32("llama.block_count", 1), "gguf.no-architecture");
    row("architecture is a number", B().u32("general.architecture", 1), "gguf.no-architecture");
    row("empty architecture", B().string("general.architecture", ""), "gguf.no-architecture");
    row("no block count", start(), blocks);
    row("no blocks", start().u32("llama.block_count", 0), blocks);
    row("block count is text", start().string("llama.block_count", "32"), blocks);
    row("block count is negative", start().i32("llama.block_count", -1), blocks);
    row("block count is a fraction", start().f32("llama.block_count", 1.5F), blocks);
    row("block count is not a number", start().f32("llama.block_count", std::nanf("")), blocks);
    row("block count is infinite", start().f32("llama.block_count", std::numeric_limits<float>::infinity()),
        blocks);
    row("block count is a flag", start().flag("llama.block_count", true), blocks);
    row("block count is a list of texts", start().strings("llama.block_count", {"1"}), blocks);
    row("block count beyond any model", start().u32("llama.block_count", 5000), blocks);
    row("block count of 64 bits", start().u64("llama.block_count", ~std::uint64_t{0}), blocks);
    row("block count of 2^32 + 1", start().u64("llama.block_count", (std::uint64_t{1} << 32U) + 1), blocks);
    const auto sound = [&start] { return start().u32("llama.block_count", 2); };
    row("whole number as float", start().f32("llama.block_count", 2), "ok");
    row("negative heads", sound().i32("llama.attention.head_count", -8),
        "llama.attention.head_count gguf.bad-key");
    row("heads as text", sound().string("llama.attention.head_count", "8"),
        "llama.attention.head_count gguf.bad-key");
    row("negative in a list",
        sound().raw("llama.attention.head_count_kv", B::Array,
                    B().number<std::uint32_t>(B::I32) + B().number<std::uint64_t>(2)
                        + B().number<std::int32_t>(-1) + B().number<std::int32_t>(1)),
        "llama.attention.head_count_kv gguf.bad-key");
    row("width beyond any model", sound().u32("llama.embedding_length", 0xFFFFFFFFU),
        "llama.embedding_length gguf.bad-key");
    row("context beyond any model", sound().u64("llama.context_length", hugeCount),
        "llama.context_length gguf.bad-key");
    row("more experts awake than there are",
        sound().u32("llama.expert_count", 8).u32("llama.expert_used_count", 9), "config.bad-experts");
    row("no experts awake", sound().u32("llama.expert_count", 8), "config.bad-experts");
    row("experts as text", sound().string("llama.expert_count", "8"), "llama.expert_count gguf.bad-key");
    row("one expert is a dense model", sound().u32("llama.expert_count", 1), "ok");
    row("draft layers as text", sound().string("llama.nextn_predict_layers", "1"),
        "llama.nextn_predict_layers gguf.bad-key");
    row("more draft layers than layers", sound().u32("llama.nextn_predict_layers", 99), "ok");
    row("list of heads shorter than the layers", sound().u32s("llama.attention.head_count_kv", {8}), "ok");
}

void GgufTest::badKeys()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const quint64, fileBytes);
    QFETCH(const QString, expected);
    const Result<GgufHeader> header = readBytes(bytes.toStdString(), fileBytes);
    QVERIFY2(header, header ? "" : header.error().id.c_str());
    const Result<ModelConfig> config = readGgufConfig(*header, "test");
    QString found = outcome(config);
    if (!config && !argumentText(config.error().arguments, "key").isEmpty())
        found = argumentText(config.error().arguments, "key") + u' ' + found;
    QCOMPARE(found, expected);
}

void GgufTest::otherKinds_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("type");
    for (const char *architecture :
         {"clip", "bert", "nomic-bert", "t5", "t5encoder", "whisper", "wavtokenizer-dec"})
        QTest::newRow(architecture) << q(architecture) << QString();
    for (const char *type : {"adapter", "mmproj", "imatrix"})
        QTest::newRow(type) << u"llama"_s << q(type);
}

void GgufTest::otherKinds()
{
    QFETCH(const QString, architecture);
    QFETCH(const QString, type);
    QTemporaryDir folder;
    B builder;
    builder.string("general.architecture", s(architecture));
    if (!type.isEmpty())
        builder.string("general.type", s(type));
    builder.tensor("a", "F32", {1});
    builder.write(s(folder.path()) + "/a.gguf");
    const Result<CheckpointPtr> read = readPath(s(folder.path()) + "/a.gguf");
    QVERIFY(!read);
    QCOMPARE(q(read.error().id), u"gguf.not-language-model"_s);
    QCOMPARE(read.error().kind, ErrorKind::NotLanguageModel);
    QVERIFY(!argumentText(read.error().arguments, "architecture").isEmpty());
}

void GgufTest::mixNames_data()
{
    QTest::addColumn<quint32>("type");
    QTest::addColumn<QString>("name");
    QTest::newRow("15") << 15U << u"Q4_K_M"_s;
    QTest::newRow("7") << 7U << u"Q8_0"_s;
    QTest::newRow("1") << 1U << u"F16"_s;
    QTest::newRow("32") << 32U << u"BF16"_s;
    QTest::newRow("30") << 30U << u"IQ4_XS"_s;
    QTest::newRow("38") << 38U << u"MXFP4"_s;
    QTest::newRow("guessed") << (1024U | 15U) << u"Q4_K_M"_s;
    QTest::newRow("unknown") << 999U << QString();
}

void GgufTest::mixNames()
{
    QFETCH(const quint32, type);
    QFETCH(const QString, name);
    B builder;
    builder.u32("general.file_type", type);
    QCOMPARE(q(ggufMixName(*read(builder))), name);
    QCOMPARE(q(ggufMixName(*read(B()))), QString());
}

void GgufTest::file()
{
    QTemporaryDir folder;
    const fs::path file = s(folder.path()) + "/Tiny-Q4_K_M.gguf";
    llama().write(file);
    const Result<CheckpointPtr> read = readPath(file);
    QVERIFY2(read, read ? "" : read.error().id.c_str());
    const Checkpoint &checkpoint = **read;
    QCOMPARE(checkpoint.source, Source::File);
    QCOMPARE(checkpoint.format, Format::Gguf);
    QCOMPARE(q(checkpoint.quantization), u"Q4_K_M"_s);
    QCOMPARE(q(checkpoint.name), u"Tiny-Q4_K_M"_s);
    QCOMPARE(checkpoint.weightBytes(), 32U * 144 + 256 * 210 + 256 * 144 + 1024);
    QCOMPARE(checkpoint.parametersTotal(), 32U * 256 + 2 * 65'536 + 256);
    QCOMPARE(checkpoint.repositoryBytes, std::optional<std::uint64_t>(fs::file_size(file)));
    QVERIFY(checkpoint.spec.tiedEmbeddings);
    QCOMPARE(checkpoint.spec.vocabularySize, 32U);

    // Without file_type the storage type that holds most names the mix.
    B unnamed;
    unnamed.string("general.architecture", "llama").u32("llama.block_count", 1);
    llamaTensors(unnamed);
    unnamed.write(file);
    QCOMPARE(q((*readPath(file))->quantization), u"Q6_K"_s);

    // A vocabulary without weights.
    B vocabulary;
    llamaKeys(vocabulary).write(file);
    QCOMPARE(readFile(file), u"gguf.no-tensors"_s);
}

void GgufTest::impostors_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("expected");
    const B whole = llama();
    QTest::newRow("0 bytes") << QByteArray() << u"file.empty"_s;
    QTest::newRow("web page") << QByteArray("<!DOCTYPE html><html><body>not found</body></html>")
                              << u"json.html"_s;
    QTest::newRow("LFS pointer") << QByteArray(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
                                 << u"json.lfs-pointer"_s;
    QTest::newRow("text") << QByteArray("hello") << u"gguf.magic"_s;
    QTest::newRow("without data") << QByteArray::fromStdString(whole.header()) << u"gguf.truncated"_s;
    QTest::newRow("half a header") << QByteArray::fromStdString(without(whole.header(), 100))
                                   << u"gguf.truncated-header"_s;
}

void GgufTest::impostors()
{
    QFETCH(const QByteArray, content);
    QFETCH(const QString, expected);
    QTemporaryDir folder;
    const fs::path file = s(folder.path()) + "/a.gguf";
    writeFile(file, content.toStdString());
    QCOMPARE(readFile(file), expected);
    QCOMPARE(readFile(s(folder.path())), expected);
}

void GgufTest::split()
{
    QTemporaryDir folder;
    const fs::path path = s(folder.path());
    B first;
    llamaKeys(first).u16("split.no", 0).u16("split.count", 3).i32("split.tensors.count", 4);
    first.write(path / "m-00001-of-00003.gguf"); // metadata only, as llama-gguf-split may write it
    B second;
    second.u16("split.no", 1).u16("split.count", 3).i32("split.tensors.count", 4);
    second.tensor("token_embd.weight", "Q4_K", {256, 32}).tensor("blk.0.attn_q.weight", "Q6_K", {256, 256});
    second.write(path / "m-00002-of-00003.gguf");
    B third;
    third.u16("split.no", 2).u16("split.count", 3).i32("split.tensors.count", 4);
    third.tensor("blk.1.attn_q.weight", "Q4_K", {256, 256}).tensor("output_norm.weight", "F32", {256});
    third.write(path / "m-00003-of-00003.gguf");
    for (const char *part :
         {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf", "."}) {
        const Result<CheckpointPtr> read = readPath(path / part);
        QVERIFY2(read, read ? "" : read.error().id.c_str());
        QCOMPARE((*read)->weightBytes(), 32U * 144 + 256 * 210 + 256 * 144 + 1024);
        QCOMPARE((*read)->files.size(), 3U);
        QCOMPARE(q((*read)->quantization), u"Q4_K_M"_s);
    }
    QCOMPARE(q((*readPath(path / "m-00002-of-00003.gguf"))->name), u"m"_s);
}

void GgufTest::badSplits()
{
    const auto part = [](std::uint16_t number, std::uint16_t count, std::int32_t tensors, const char *name) {
        B builder;
        if (number == 0)
            llamaKeys(builder);
        builder.u16("split.no", number).u16("split.count", count).i32("split.tensors.count", tensors);
        builder.tensor(name, "F32", {256});
        return builder;
    };
    const auto fresh = [](const QTemporaryDir &folder, const B &first, const B &second) {
        first.write(s(folder.path()) + "/m-00001-of-00002.gguf");
        second.write(s(folder.path()) + "/m-00002-of-00002.gguf");
        return readFile(s(folder.path()) + "/m-00002-of-00002.gguf");
    };
    QTemporaryDir folder;
    const fs::path path = s(folder.path());
    QCOMPARE(fresh(folder, part(0, 2, 2, "token_embd.weight"), part(1, 2, 2, "output.weight")), u"ok"_s);
    QCOMPARE(fresh(folder, part(0, 2, 2, "token_embd.weight"), part(0, 2, 2, "output.weight")),
             u"gguf.split-mismatch"_s);
    QCOMPARE(fresh(folder, part(1, 2, 2, "token_embd.weight"), part(0, 2, 2, "output.weight")),
             u"gguf.split-mismatch"_s);
    QCOMPARE(fresh(folder, part(0, 3, 2, "token_embd.weight"), part(1, 3, 2, "output.weight")),
             u"gguf.split-mismatch"_s);
    QCOMPARE(fresh(folder, part(0, 2, 2, "token_embd.weight"), part(1, 2, 2, "token_embd.weight")),
             u"gguf.duplicate-tensor"_s);
    QCOMPARE(fresh(folder, part(0, 2, 3, "token_embd.weight"), part(1, 2, 3, "output.weight")),
             u"gguf.split-tensors"_s);
    // A whole model under the name of a part.
    llama().write(path / "m-00001-of-00002.gguf");
    QCOMPARE(readFile(path / "m-00001-of-00002.gguf"), u"gguf.split-mismatch"_s);
    // A part that is missing is named.
    fs::remove(path / "m-00002-of-00002.gguf");
    const Result<CheckpointPtr> read = readPath(path / "m-00001-of-00002.gguf");
    QVERIFY(!read);
    QCOMPARE(q(read.error().id), u"gguf.missing-part"_s);
    QCOMPARE(read.error().kind, ErrorKind::NotFound);
    QVERIFY(read.error().subject.ends_with("m-00002-of-00002.gguf"));
    // Names that no split has.
    llama().write(path / "m-00001-of-99999.gguf");
    QCOMPARE(readFile(path / "m-00001-of-99999.gguf"), u"gguf.split-count"_s);
    llama().write(path / "m-00000-of-00000.gguf");
    QCOMPARE(readFile(path / "m-00000-of-00000.gguf"), u"gguf.split-count"_s);
    // A part under another name does not stand for the whole.
    part(1, 2, 2, "output.weight").write(path / "alone.gguf");
    QCOMPARE(readFile(path / "alone.gguf"), u"gguf.split-mismatch"_s);
}

void GgufTest::partNames_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("expected"); // prefix number total, empty: no part
    QTest::newRow("part") << u"a/m-00002-of-00003.gguf"_s << u"a/m 2 3"_s;
    QTest::newRow("bare") << u"-00002-of-00003.gguf"_s << QString();
    QTest::newRow("one letter") << u"m-00002-of-00003.gguf"_s << u"m 2 3"_s;
    QTest::newRow("six digits") << u"m-000002-of-000003.gguf"_s << QString();
    QTest::newRow("letters") << u"m-0000x-of-00003.gguf"_s << QString();
    QTest::newRow("signs") << u"m-+0002-of-00003.gguf"_s << QString();
    QTest::newRow("other ending") << u"m-00002-of-00003.safetensors"_s << QString();
    QTest::newRow("whole") << u"m.gguf"_s << QString();
}

void GgufTest::partNames()
{
    QFETCH(const QString, path);
    QFETCH(const QString, expected);
    const auto part = ggufPartName(s(path));
    QCOMPARE(part ? u"%1 %2 %3"_s.arg(q(part->prefix)).arg(part->number).arg(part->total) : QString(),
             expected);
}

void GgufTest::folders()
{
    QTemporaryDir folder;
    const fs::path path = s(folder.path());
    QCOMPARE(readFile(path), u"folder.no-model"_s);
    llama().write(path / "model.gguf");
    B projector;
    projector.string("general.architecture", "clip").tensor("v.a", "F32", {1});
    projector.write(path / "mmproj-model.gguf");
    projector.write(path / "imatrix.gguf");
    QCOMPARE(readFile(path), u"ok"_s);
    llama().write(path / "sub" / "other.gguf");
    const Result<CheckpointPtr> read = readPath(path);
    QVERIFY(!read);
    QCOMPARE(q(read.error().id), u"folder.several-gguf"_s);
    QCOMPARE(argumentText(read.error().arguments, "names"), u"model.gguf, sub/other.gguf"_s);
}

void GgufTest::cancelled()
{
    std::stop_source stop;
    stop.request_stop();
    const B builder = llama();
    std::istringstream stream(builder.header());
    const auto visit = [](const GgufTensor &) { return true; };
    QCOMPARE(outcome(readGguf(stream, builder.fileBytes(), "test", visit, stop.get_token())), u"cancelled"_s);
    std::istringstream again(builder.header());
    const auto giveUp = [](const GgufTensor &) { return false; };
    QCOMPARE(outcome(readGguf(again, builder.fileBytes(), "test", giveUp)), u"tensors.too-many-names"_s);
}

QTEST_GUILESS_MAIN(GgufTest)
#include "tst_gguf.moc"

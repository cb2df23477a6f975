// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/safetensors.h"
#include "models/sources/open.h"
#include "tests/support/safetensorsbuilder.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <random>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

struct Seen
{
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::uint64_t bytes;
    friend bool operator==(const Seen &, const Seen &) = default;
};

/// Reads a header and returns "ok" or the error id; what was visited goes to `seen`.
QString read(std::string_view header, std::uint64_t dataBytes, std::vector<Seen> *seen = nullptr)
{
    const auto visit = [seen](const HeaderTensor &tensor) {
        if (seen != nullptr)
            seen->push_back({std::string(tensor.name),
                             std::string(tensor.dtype),
                             {tensor.shape.begin(), tensor.shape.end()},
                             tensor.bytes});
        return true;
    };
    return outcome(readSafetensorsHeader(header, dataBytes, "test", visit));
}

/// One entry as JSON; plain strings, since moc stumbles over some raw ones.
std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  std::string_view offsets)
{
    std::string text = "\"";
    return text.append(name)
        .append("\":{\"dtype\":\"")
        .append(dtype)
        .append("\",\"shape\":")
        .append(shape)
        .append(",\"data_offsets\":")
        .append(offsets)
        .append("}");
}

std::string config()
{
    return nlohmann::json{{"architectures", {"LlamaForCausalLM"}},
                          {"model_type", "llama"},
                          {"num_hidden_layers", 1},
                          {"hidden_size", 8},
                          {"num_attention_heads", 2},
                          {"vocab_size", 16},
                          {"max_position_embeddings", 64}}
        .dump();
}

/// A tensor of the decoder, so that a folder is a whole checkpoint.
SafetensorsBuilder decoder()
{
    SafetensorsBuilder builder;
    builder.add("model.embed_tokens.weight", "BF16", {16, 8});
    builder.add("model.layers.0.self_attn.q_proj.weight", "BF16", {8, 8});
    return builder;
}

QString readFolder(const QTemporaryDir &folder) { return outcome(readPath(s(folder.path()))); }

} // namespace

class SafetensorsTest : public QObject
{
    Q_OBJECT

private slots:
    void acceptsExactly();
    void dtypes_data();
    void dtypes();
    void unknownDtypeTakesItsBytesFromOffsets();
    void entriesInAnyOrder();
    void strangeNames_data();
    void strangeNames();
    void metadata_data();
    void metadata();
    void refusals_data();
    void refusals();
    void lengthPrefix_data();
    void lengthPrefix();
    void visitorGivesUp();
    void manyNames();
    void everyTruncationIsAnError();
    void everyByteMayBeWrong();
    // the index
    void index();
    void badIndex_data();
    void badIndex();
    void plainPaths_data();
    void plainPaths();
    // whole folders
    void folder();
    void unlistedFileIsCounted();
    void copiesAreNotCounted();
    void damagedFiles_data();
    void damagedFiles();
    void missingShard();
    void numberedShardsWithoutIndex();
    void fileOfPointersAndPages();
    void randomNamesStop();
    void cancelled();
};

void SafetensorsTest::acceptsExactly()
{
    SafetensorsBuilder builder;
    builder.metadata("format", "pt");
    builder.add("scalar", "F32", {});
    builder.add("empty", "BF16", {0, 7});
    builder.add("a", "BF16", {3, 5});
    builder.add("b", "I8", {2});
    std::vector<Seen> seen;
    QCOMPARE(read(builder.header(), 4 + 0 + 30 + 2, &seen), u"ok"_s);
    const std::vector<Seen> expected{{"scalar", "F32", {}, 4},
                                     {"empty", "BF16", {0, 7}, 0},
                                     {"a", "BF16", {3, 5}, 30},
                                     {"b", "I8", {2}, 2}};
    QVERIFY(seen == expected);
    // No tensors at all is a sound file.
    QCOMPARE(read("{}", 0), u"ok"_s);
    QCOMPARE(read("{}   \n", 0), u"ok"_s); // padded with blanks, as the format's library does
    QCOMPARE(read(R"({"__metadata__":{}})", 0), u"ok"_s);
}

void SafetensorsTest::dtypes_data()
{
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<uint>("bits");
    const auto row = [](const char *dtype, unsigned bits) { QTest::newRow(dtype) << q(dtype) << bits; };
    for (const char *dtype : {"BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"})
        row(dtype, 8);
    for (const char *dtype : {"U16", "I16", "F16", "BF16"})
        row(dtype, 16);
    for (const char *dtype : {"U32", "I32", "F32"})
        row(dtype, 32);
    for (const char *dtype : {"U64", "I64", "F64", "C64"})
        row(dtype, 64);
    row("F4", 4);
    row("F6_E2M3", 6);
    row("F6_E3M2", 6);
}

void SafetensorsTest::dtypes()
{
    QFETCH(const QString, dtype);
    QFETCH(const uint, bits);
    QCOMPARE(dtypeBits(s(dtype)), bits);
    const std::string header =
        "{" + entry("a", s(dtype), "[8,3]", "[0," + std::to_string(bits * 3) + "]") + "}";
    QCOMPARE(read(header, bits * 3), u"ok"_s);
    QCOMPARE(read("{" + entry("a", s(dtype), "[8,3]", "[0," + std::to_string(bits * 3 + 1) + "]") + "}",
                  bits * 3 + 1),
             u"safetensors.size-mismatch"_s);
}

void SafetensorsTest::unknownDtypeTakesItsBytesFromOffsets()
{
    QCOMPARE(dtypeBits("Q9_X"), 0U);
    std::vector<Seen> seen;
    QCOMPARE(read("{" + entry("a", "Q9_X", "[5,5]", "[0,13]") + "}", 13, &seen), u"ok"_s);
    QCOMPARE(seen.at(0).bytes, 13U);
    QCOMPARE(q(seen.at(0).dtype), u"Q9_X"_s);
}

void SafetensorsTest::entriesInAnyOrder()
{
    // Data order and header order are two things; keys of an entry may come in any order.
    const std::string header = R"({"z":{"data_offsets":[4,8],"shape":[4],"dtype":"U8"},)"
                               + entry("a", "U8", "[4]", "[0,4]") + "," + entry("e", "U8", "[0]", "[4,4]")
                               + "}";
    std::vector<Seen> seen;
    QCOMPARE(read(header, 8, &seen), u"ok"_s);
    QCOMPARE(q(seen.at(0).name), u"z"_s);
}

void SafetensorsTest::strangeNames_data()
{
    QTest::addColumn<QByteArray>("name"); // as in JSON
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("NUL") << QByteArray("a\\u0000b") << QByteArray("a\0b", 3);
    QTest::newRow("line break") << QByteArray("a\\nb") << QByteArray("a\nb");
    QTest::newRow("path") << QByteArray("../../etc/passwd") << QByteArray("../../etc/passwd");
    QTest::newRow("quote") << QByteArray("a\\\"b") << QByteArray("a\"b");
    QTest::newRow("umlaut") << QByteArray("\xC3\xA4") << QByteArray("\xC3\xA4");
    QTest::newRow("surrogates") << QByteArray("\\ud83d\\ude00") << QByteArray("\xF0\x9F\x98\x80");
    QTest::newRow("right to left") << QByteArray("\\u202egpj.exe") << QByteArray("\xE2\x80\xAEgpj.exe");
    QTest::newRow("dots") << QByteArray("...") << QByteArray("...");
    QTest::newRow("4096 bytes") << QByteArray(4096, 'x') << QByteArray(4096, 'x');
}

void SafetensorsTest::strangeNames()
{
    QFETCH(const QByteArray, name);
    QFETCH(const QByteArray, expected);
    std::vector<Seen> seen;
    QCOMPARE(read("{" + entry(name.toStdString(), "U8", "[1]", "[0,1]") + "}", 1, &seen), u"ok"_s);
    QCOMPARE(QByteArray::fromStdString(seen.at(0).name), expected);

    // In a whole folder: sorted as "other", named in the warning with nothing that steers a terminal.
    QTemporaryDir folder;
    writeFile(s(folder.path()) + "/config.json", config());
    const std::string header = "{" + entry(name.toStdString(), "U8", "[1]", "[0,1]") + ","
                               + entry("model.embed_tokens.weight", "U8", "[1]", "[1,2]") + "}";
    writeFile(s(folder.path()) + "/model.safetensors", SafetensorsBuilder::prefixed(header) + "xy");
    const Result<CheckpointPtr> checkpoint = readPath(s(folder.path()));
    QVERIFY(checkpoint);
    QCOMPARE((*checkpoint)->sum(Component::Other)->bytes, 1U);
    const auto note = std::ranges::find((*checkpoint)->notes, "checkpoint.unknown-tensors", &Message::id);
    QVERIFY(note != (*checkpoint)->notes.end());
    const QString names = argumentText(note->arguments, "names");
    QVERIFY(!names.isEmpty());
    for (const QChar c : names)
        QVERIFY(c.unicode() >= 0x20 && c.unicode() != 0x7F && c.unicode() != 0x202E);
}

void SafetensorsTest::metadata_data()
{
    QTest::addColumn<QByteArray>("metadata");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *json, const char *expected) {
        QTest::newRow(json) << QByteArray(json) << q(expected);
    };
    row(R"({})", "ok");
    row(R"({"format":"pt","note":"\u0000"})", "ok");
    row(R"({"format":1})", "safetensors.bad-metadata");
    row(R"({"format":null})", "safetensors.bad-metadata");
    row(R"({"format":{"a":"b"}})", "safetensors.bad-metadata");
    row(R"({"format":["pt"]})", "safetensors.bad-metadata");
    row(R"("pt")", "safetensors.bad-metadata");
    row(R"(null)", "safetensors.bad-metadata");
    row(R"([])", "safetensors.bad-metadata");
}

void SafetensorsTest::metadata()
{
    QFETCH(const QByteArray, metadata);
    QFETCH(const QString, expected);
    QCOMPARE(read("{\"__metadata__\":" + metadata.toStdString() + "}", 0), expected);
    QCOMPARE(
        read("{" + entry("a", "U8", "[1]", "[0,1]") + ",\"__metadata__\":" + metadata.toStdString() + "}", 1),
        expected);
    QCOMPARE(read(R"({"__metadata__":{},"__metadata__":{}})", 0), u"safetensors.bad-metadata"_s);
    std::string format;
    const auto visit = [](const HeaderTensor &) { return true; };
    QVERIFY(readSafetensorsHeader(R"({"__metadata__":{"format":"mlx"}})", 0, "test", visit, &format));
    QCOMPARE(q(format), u"mlx"_s);
}

void SafetensorsTest::refusals_data()
{
    QTest::addColumn<QByteArray>("header");
    QTest::addColumn<quint64>("dataBytes");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const std::string &header, quint64 bytes, const char *expected) {
        QTest::newRow(name) << QByteArray::fromStdString(header) << bytes << q(expected);
    };
    const auto one = [&row](const char *name, const char *dtype, const char *shape, const char *offsets,
                            quint64 bytes, const char *expected) {
        row(name, "{" + entry("a", dtype, shape, offsets) + "}", bytes, expected);
    };
    // JSON
    row("nothing", "", 0, "safetensors.bad-json");
    row("blank before the brace", " {}", 0, "safetensors.bad-json");
    row("byte order mark", "\xEF\xBB\xBF{}", 0, "safetensors.bad-json");
    row("list", "[]", 0, "safetensors.bad-json");
    row("text", "\"a\"", 0, "safetensors.bad-json");
    row("open brace", "{", 0, "safetensors.bad-json");
    row("cut off", R"({"a":{"dtype":"U8")", 0, "safetensors.bad-json");
    row("no comma", R"({"a":{"dtype":"U8" "shape":[1],"data_offsets":[0,1]}})", 1, "safetensors.bad-json");
    row("trailing comma", "{" + entry("a", "U8", "[1]", "[0,1]") + ",}", 1, "safetensors.bad-json");
    row("two objects", "{}{}", 0, "safetensors.bad-json");
    row("trailing text", "{} x", 0, "safetensors.bad-json");
    row("trailing NULs", std::string("{}\0\0", 4), 0, "safetensors.bad-json");
    row("comment", "{/* */}", 0, "safetensors.bad-json");
    row("not UTF-8", "{" + entry("\xFF\xFE", "U8", "[1]", "[0,1]") + "}", 1, "safetensors.bad-json");
    row("line break in a name", "{" + entry("a\nb", "U8", "[1]", "[0,1]") + "}", 1, "safetensors.bad-json");
    row("half a surrogate", "{" + entry("\\ud800", "U8", "[1]", "[0,1]") + "}", 1, "safetensors.bad-json");
    row("deep lists", "{\"a\":" + std::string(2000, '[') + std::string(2000, ']') + "}", 0,
        "safetensors.bad-entry");
    row("deep objects as a shape", R"({"a":{"dtype":"U8","shape":)" + std::string(100'000, '[') + "}}", 0,
        "safetensors.bad-entry");
    // entries
    row("entry is a number", R"({"a":1})", 0, "safetensors.bad-entry");
    row("entry is null", R"({"a":null})", 0, "safetensors.bad-entry");
    row("empty entry", R"({"a":{}})", 0, "safetensors.bad-entry");
    row("no dtype", R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 1, "safetensors.bad-entry");
    row("no shape", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1, "safetensors.bad-entry");
    row("no offsets", R"({"a":{"dtype":"U8","shape":[1]}})", 1, "safetensors.bad-entry");
    row("another key", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", 1,
        "safetensors.bad-entry");
    row("dtype twice", R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
        "safetensors.bad-entry");
    row("shape twice", R"({"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1,
        "safetensors.bad-entry");
    row("offsets twice", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"data_offsets":[0,1]}})", 1,
        "safetensors.bad-entry");
    row("dtype is a number", R"({"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", 1,
        "safetensors.bad-entry");
    one("one offset", "U8", "[1]", "[0]", 1, "safetensors.bad-entry");
    one("three offsets", "U8", "[1]", "[0,1,2]", 1, "safetensors.bad-entry");
    one("offsets as text", "U8", "[1]", "[\"0\",\"1\"]", 1, "safetensors.bad-entry");
    one("shape is a number", "U8", "1", "[0,1]", 1, "safetensors.bad-entry");
    one("seventeen dimensions", "U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]", 1,
        "safetensors.bad-entry");
    row("empty name", "{" + entry("", "U8", "[1]", "[0,1]") + "}", 1, "safetensors.bad-name");
    row("endless name", "{" + entry(std::string(4097, 'x'), "U8", "[1]", "[0,1]") + "}", 1,
        "safetensors.bad-name");
    // numbers
    one("negative dimension", "U8", "[-1]", "[0,1]", 1, "safetensors.bad-entry");
    one("negative zero", "U8", "[-0]", "[0,0]", 0, "safetensors.bad-entry");
    one("fractional dimension", "U8", "[1.0]", "[0,1]", 1, "safetensors.bad-entry");
    one("dimension with exponent", "U8", "[1e3]", "[0,1000]", 1000, "safetensors.bad-entry");
    one("leading zero", "U8", "[01]", "[0,1]", 1, "safetensors.bad-entry");
    one("dimension beyond 64 bits", "U8", "[18446744073709551616]", "[0,1]", 1, "safetensors.bad-entry");
    one("null dimension", "U8", "[null]", "[0,1]", 1, "safetensors.bad-entry");
    one("negative offset", "U8", "[1]", "[-1,0]", 1, "safetensors.bad-entry");
    one("fractional offset", "U8", "[1]", "[0.0,1]", 1, "safetensors.bad-entry");
    one("offset with exponent", "U8", "[1000]", "[0,1e3]", 1000, "safetensors.bad-entry");
    one("offset beyond 64 bits", "U8", "[1]", "[0,18446744073709551616]", 1, "safetensors.bad-entry");
    one("shape product beyond 64 bits", "U8", "[4294967296,4294967296]", "[0,0]", 0, "safetensors.overflow");
    one("product that wraps to one", "U8", "[3,12297829382473034411]", "[0,1]", 1, "safetensors.overflow");
    one("bits beyond 64 bits", "F64", "[1152921504606846976]", "[0,0]", 0, "safetensors.overflow");
    one("product of an unknown dtype", "Q9", "[4294967296,4294967296]", "[0,1]", 1, "safetensors.overflow");
    // sizes and places
    one("sub-byte that ends within a byte", "F4", "[3]", "[0,2]", 2, "safetensors.size-mismatch");
    one("six bits that end within a byte", "F6_E2M3", "[5]", "[0,4]", 4, "safetensors.size-mismatch");
    one("one byte short", "BF16", "[4]", "[0,7]", 7, "safetensors.size-mismatch");
    one("one byte more", "BF16", "[4]", "[0,9]", 9, "safetensors.size-mismatch");
    one("empty shape with bytes", "BF16", "[0]", "[0,2]", 2, "safetensors.size-mismatch");
    one("begin after end", "U8", "[1]", "[1,0]", 1, "safetensors.beyond-file");
    one("beyond the file", "U8", "[10]", "[0,10]", 9, "safetensors.beyond-file");
    one("end at the top of 64 bits", "U8", "[18446744073709551615]", "[0,18446744073709551615]", 9,
        "safetensors.beyond-file");
    one("data left over", "U8", "[10]", "[0,10]", 11, "safetensors.trailing");
    row("data of nobody", "{}", 1, "safetensors.trailing");
    one("does not begin at zero", "U8", "[1]", "[1,2]", 2, "safetensors.hole");
    row("hole", "{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("b", "U8", "[1]", "[2,3]") + "}", 3,
        "safetensors.hole");
    row("overlap", "{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[1,3]") + "}", 3,
        "safetensors.overlap");
    row("the same bytes",
        "{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[0,2]") + "}", 2,
        "safetensors.overlap");
    row("empty tensor inside another",
        "{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("b", "U8", "[0]", "[2,2]") + "}", 4,
        "safetensors.overlap");
    // names
    row("twice", "{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("a", "U8", "[1]", "[1,2]") + "}", 2,
        "safetensors.duplicate");
    row("twice by escape",
        "{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("\\u0061", "U8", "[1]", "[1,2]") + "}", 2,
        "safetensors.duplicate");
    row("twice, apart",
        "{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("b", "U8", "[1]", "[1,2]") + ","
            + entry("a", "U8", "[0]", "[2,2]") + "}",
        2, "safetensors.duplicate");
}

void SafetensorsTest::refusals()
{
    QFETCH(const QByteArray, header);
    QFETCH(const quint64, dataBytes);
    QFETCH(const QString, expected);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(read(header.toStdString(), dataBytes), expected);
    QVERIFY(timer.elapsed() < 5000);
}

void SafetensorsTest::lengthPrefix_data()
{
    QTest::addColumn<QByteArray>("first");
    QTest::addColumn<quint64>("fileBytes");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const std::string &first, quint64 bytes, const char *expected) {
        QTest::newRow(name) << QByteArray::fromStdString(first) << bytes << q(expected);
    };
    const auto length = &SafetensorsBuilder::length;
    row("empty file", "", 0, "file.empty");
    row("one byte", "x", 1, "safetensors.too-short");
    row("seven bytes", "1234567", 7, "safetensors.too-short");
    row("exactly", length(2), 10, "ok");
    row("with data", length(100), 5000, "ok");
    row("one byte beyond the file", length(3), 10, "safetensors.header-length");
    row("2^63", length(std::uint64_t{1} << 63U), 1'000'000, "safetensors.header-length");
    row("2^64 - 1", length(~std::uint64_t{0}), 1'000'000, "safetensors.header-length");
    row("2^64 - 8", length(~std::uint64_t{0} - 7), 1'000'000, "safetensors.header-length");
    row("100 MB", length(100'000'000), 1'000'000'000, "ok");
    row("more than 100 MB", length(100'000'001), 1'000'000'000, "safetensors.header-too-large");
    row("no header", length(0), 8, "safetensors.bad-json");
    row("one character", length(1), 9, "safetensors.bad-json");
}

void SafetensorsTest::lengthPrefix()
{
    QFETCH(const QByteArray, first);
    QFETCH(const quint64, fileBytes);
    QFETCH(const QString, expected);
    const std::span bytes(reinterpret_cast<const std::uint8_t *>(first.constData()),
                          static_cast<std::size_t>(first.size()));
    QCOMPARE(outcome(safetensorsHeaderLength(bytes, fileBytes, "test")), expected);
}

void SafetensorsTest::visitorGivesUp()
{
    SafetensorsBuilder builder;
    builder.add("a", "U8", {1}).add("b", "U8", {1});
    int calls = 0;
    const auto visit = [&calls](const HeaderTensor &) { return ++calls < 2; };
    QCOMPARE(outcome(readSafetensorsHeader(builder.header(), 2, "test", visit)), u"tensors.too-many-names"_s);
    QCOMPARE(calls, 2);
}

void SafetensorsTest::manyNames()
{
    std::mt19937_64 random(1);
    std::string header = "{";
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const std::string place = std::to_string(i) + "," + std::to_string(i + 1);
        header += (i == 0 ? "" : ",") + entry("x" + std::to_string(random()), "U8", "[1]", "[" + place + "]");
    }
    header += "}";
    QElapsedTimer timer;
    timer.start();
    std::vector<Seen> seen;
    QCOMPARE(read(header, 100'000, &seen), u"ok"_s);
    QCOMPARE(seen.size(), 100'000U);
    QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
}

void SafetensorsTest::everyTruncationIsAnError()
{
    SafetensorsBuilder builder;
    builder.metadata("format", "pt").add("a", "BF16", {2, 3}).add("b\xC3\xA4", "F32", {});
    const std::string header = builder.header();
    for (std::size_t length = 0; length < header.size(); ++length) {
        // Without its padding, so that reading beyond the end would show.
        const std::string cut = header.substr(0, length);
        QVERIFY2(read(cut, builder.dataBytes()) != "ok"_L1, cut.c_str());
    }
}

void SafetensorsTest::everyByteMayBeWrong()
{
    SafetensorsBuilder builder;
    builder.metadata("format", "pt").add("a", "BF16", {2, 3}).add("b", "F32", {});
    const std::string header = builder.header();
    for (std::size_t place = 0; place < header.size(); ++place) {
        for (const char wrong : {'\0', '{', '}', '"', '\\', ',', '9', '-', '\xFF'}) {
            std::string altered = header;
            altered[place] = wrong;
            std::vector<Seen> seen;
            if (read(altered, builder.dataBytes(), &seen) == "ok"_L1) {
                // Only a name, a metadata text or a dtype may differ; the sizes stay true.
                std::uint64_t bytes = 0;
                for (const Seen &each : seen)
                    bytes += each.bytes;
                QCOMPARE(bytes, builder.dataBytes());
            }
        }
    }
}

void SafetensorsTest::index()
{
    const Result<SafetensorsIndex> index = readSafetensorsIndex(
        R"({"metadata":{"total_size":1},"weight_map":{"b":"y.safetensors","a":"x.safetensors","c":"y.safetensors"}})",
        "test");
    QVERIFY(index);
    QCOMPARE(index->files, (std::vector<std::string>{"x.safetensors", "y.safetensors"}));
    QCOMPARE(index->fileOf("a").value(), 0U);
    QCOMPARE(index->fileOf("b").value(), 1U);
    QCOMPARE(index->fileOf("c").value(), 1U);
}

void SafetensorsTest::badIndex_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *text, const char *expected) {
        QTest::newRow(text) << QByteArray(text) << q(expected);
    };
    const auto path = [](const char *file) {
        QTest::addRow("path %s", file)
            << QByteArray(R"({"weight_map":{"a":")") + file + "\"}}" << u"index.bad-path"_s;
    };
    path("../x.safetensors");
    path("a/../../x.safetensors");
    path("/etc/passwd");
    path("https://example.org/x.safetensors");
    path("file:x.safetensors");
    path("C:x.safetensors");
    path("a\\\\b.safetensors");
    path("a//b.safetensors");
    path("./a.safetensors");
    path("a/");
    path("a\\u0000.safetensors");
    path("a\\nb.safetensors");
    path("..");
    path("");
    row("{}", "index.no-map");
    row(R"({"metadata":{}})", "index.no-map");
    row(R"({"weight_map":{}})", "index.no-map");
    row(R"({"weight_map":[]})", "index.bad-json");
    row(R"({"weight_map":null})", "index.bad-json");
    row(R"({"weight_map":{"a":1}})", "index.bad-json");
    row(R"({"weight_map":{"a":"x"},"weight_map":{"b":"y"}})", "index.bad-json");
    row(R"({"weight_map":{"a":"x","a":"y"}})", "index.duplicate");
    row(R"({"weight_map":{"a":"x","\u0061":"x"}})", "index.duplicate");
    row(R"([])", "index.bad-json");
    row(R"({"weight_map":{"a":"x")", "index.bad-json");
    row("", "index.bad-json");
    row("<!DOCTYPE html>", "index.bad-json");
    row(R"({"weight_map":{"a":"x"}} {})", "index.bad-json");
}

void SafetensorsTest::badIndex()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, expected);
    QCOMPARE(outcome(readSafetensorsIndex(text.toStdString(), "test")), expected);
}

void SafetensorsTest::plainPaths_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<bool>("plain");
    for (const char *path : {"a", "a.safetensors", "sub/a.safetensors", "a..b", "..a", "a b", "é", "a/b/c"})
        QTest::newRow(path) << q(path) << true;
    for (const char *path : {"", ".", "..", "/", "/a", "a/", "a//b", "a/./b", "a/../b", "../a", "a\\b", "c:a",
                             "http://a", "a\nb", "a\x7f"})
        QTest::addRow("not %s", path) << q(path) << false;
    QTest::newRow("not endless") << QString(1025, u'a') << false;
}

void SafetensorsTest::plainPaths()
{
    QFETCH(const QString, path);
    QFETCH(const bool, plain);
    QCOMPARE(isPlainRelativePath(s(path)), plain);
    QVERIFY(!isPlainRelativePath(std::string_view("a\0b", 3)));
}

void SafetensorsTest::folder()
{
    QTemporaryDir folder;
    writeFile(s(folder.path()) + "/config.json", config());
    decoder().write(s(folder.path()) + "/model.safetensors");
    const Result<CheckpointPtr> read = readPath(s(folder.path()));
    QVERIFY2(read, read ? "" : read.error().id.c_str());
    QCOMPARE((*read)->weightBytes(), 16U * 8 * 2 + 8 * 8 * 2);
    QCOMPARE((*read)->source, Source::Folder);
    QCOMPARE((*read)->provenance, Provenance::Headers);
    QCOMPARE((*read)->format, Format::Safetensors);
    QCOMPARE((*read)->sum(Component::EmbedTokens)->bytes, 256U);
    QCOMPARE((*read)->sum(Component::Attention)->bytes, 128U);
    QVERIFY((*read)->spec.tiedEmbeddings);
    // The same by its file.
    const Result<CheckpointPtr> file = readPath(s(folder.path()) + "/model.safetensors");
    QVERIFY(file);
    QCOMPARE((*file)->weightBytes(), (*read)->weightBytes());
    QCOMPARE((*file)->source, Source::File);
}

void SafetensorsTest::unlistedFileIsCounted()
{
    QTemporaryDir folder;
    const fs::path path = s(folder.path());
    writeFile(path / "config.json", config());
    decoder().write(path / "model-1.safetensors");
    writeFile(path / "model.safetensors.index.json",
              R"({"weight_map":{"model.embed_tokens.weight":"model-1.safetensors",
"model.layers.0.self_attn.q_proj.weight":"model-1.safetensors"}})");
    SafetensorsBuilder extra;
    extra.add("mtp.fc.weight", "BF16", {8, 16});
    extra.write(path / "extra.safetensors");
    Result<CheckpointPtr> read = readPath(path);
    QVERIFY(read);
    QCOMPARE((*read)->weightBytes(), 384U + 256);
    const auto note = std::ranges::find((*read)->notes, "folder.unlisted-file", &Message::id);
    QVERIFY(note != (*read)->notes.end());
    QCOMPARE(argumentText(note->arguments, "file"), u"extra.safetensors"_s);
    QCOMPARE(argumentText(note->arguments, "bytes"), u"256"_s);

    // One that is damaged and that nothing refers to is told and left out.
    writeFile(path / "extra.safetensors", "12345678x");
    read = readPath(path);
    QVERIFY(read);
    QCOMPARE((*read)->weightBytes(), 384U);
    QVERIFY(std::ranges::find((*read)->notes, "folder.unlisted-unreadable", &Message::id)
            != (*read)->notes.end());
}

void SafetensorsTest::copiesAreNotCounted()
{
    QTemporaryDir folder;
    const fs::path path = s(folder.path());
    writeFile(path / "config.json", config());
    decoder().write(path / "model.safetensors");
    SafetensorsBuilder meta;
    meta.add("tok_embeddings.weight", "BF16", {16, 8});
    meta.write(path / "consolidated.safetensors");
    meta.write(path / "original" / "model.safetensors");
    decoder().write(path / "metal" / "model.safetensors");
    writeFile(path / "pytorch_model.bin", "pickle");
    writeFile(path / "onnx" / "model.onnx", "onnx");
    const Result<CheckpointPtr> read = readPath(path);
    QVERIFY(read);
    QCOMPARE((*read)->weightBytes(), 384U);
    const auto note = std::ranges::find((*read)->notes, "folder.copies-not-counted", &Message::id);
    QVERIFY(note != (*read)->notes.end());
    QCOMPARE(argumentText(note->arguments, "files"), u"5"_s);
    for (const RepositoryFile &file : (*read)->files)
        QCOMPARE(file.counted, file.path == "model.safetensors");
}

void SafetensorsTest::damagedFiles_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const std::string &content, const char *expected) {
        QTest::newRow(name) << QByteArray::fromStdString(content) << q(expected);
    };
    const auto prefixed = &SafetensorsBuilder::prefixed;
    row("0 bytes", "", "file.empty");
    row("7 bytes", "1234567", "safetensors.too-short");
    row("2^63", SafetensorsBuilder::length(std::uint64_t{1} << 63U) + "{}", "safetensors.header-length");
    row("cut off", prefixed(decoder().header()).substr(0, 40), "safetensors.header-length");
    row("without data", prefixed(decoder().header()), "safetensors.beyond-file");
    row("overlap",
        prefixed("{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[1,3]") + "}")
            + "xyz",
        "safetensors.overlap");
    row("web page", "<!DOCTYPE html><html><body>404 not found</body></html>", "json.html");
    row("web page after a line break", "\n<html><head><title>Sign in</title></head></html>", "json.html");
    row("LFS pointer",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0123456789abcdef\nsize 4999444352\n",
        "json.lfs-pointer");
    row("no tensors", prefixed("{}"), "folder.no-tensors");
}

void SafetensorsTest::damagedFiles()
{
    QFETCH(const QByteArray, content);
    QFETCH(const QString, expected);
    QTemporaryDir folder;
    const fs::path file = s(folder.path()) + "/model.safetensors";
    writeFile(s(folder.path()) + "/config.json", config());
    writeFile(file, content.toStdString());
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(readFolder(folder), expected);
    QCOMPARE(outcome(readPath(file)), expected);
    QVERIFY(timer.elapsed() < 5000);
}

void SafetensorsTest::missingShard()
{
    QTemporaryDir folder;
    const fs::path path = s(folder.path());
    writeFile(path / "config.json", config());
    decoder().write(path / "a.safetensors");
    writeFile(
        path / "model.safetensors.index.json",
        R"({"weight_map":{"model.embed_tokens.weight":"a.safetensors","x":"b.safetensors","y":"c.safetensors"}})");
    const Result<CheckpointPtr> read = readPath(path);
    QVERIFY(!read);
    QCOMPARE(q(read.error().id), u"folder.missing-shard"_s);
    QCOMPARE(read.error().kind, ErrorKind::NotFound);
    QVERIFY(read.error().subject.ends_with("b.safetensors"));
    QCOMPARE(argumentText(read.error().arguments, "missing"), u"2"_s);
    QCOMPARE(argumentText(read.error().arguments, "total"), u"3"_s);

    // All there, but a tensor of the index is in none of them.
    SafetensorsBuilder other;
    other.add("x", "U8", {1});
    other.write(path / "b.safetensors");
    other = {};
    other.add("z", "U8", {1});
    other.write(path / "c.safetensors");
    const Result<CheckpointPtr> partly = readPath(path);
    QVERIFY(partly);
    const auto note = std::ranges::find((*partly)->notes, "folder.index-names-missing", &Message::id);
    QVERIFY(note != (*partly)->notes.end());
    QCOMPARE(argumentText(note->arguments, "first"), u"y"_s);
}

void SafetensorsTest::numberedShardsWithoutIndex()
{
    QTemporaryDir folder;
    const fs::path path = s(folder.path());
    writeFile(path / "config.json", config());
    decoder().write(path / "model-00001-of-00002.safetensors");
    QCOMPARE(readFolder(folder), u"folder.shards-incomplete"_s);
    SafetensorsBuilder rest;
    rest.add("model.norm.weight", "BF16", {8});
    rest.write(path / "model-00002-of-00002.safetensors");
    const Result<CheckpointPtr> read = readPath(path / "model-00002-of-00002.safetensors");
    QVERIFY2(read, read ? "" : read.error().id.c_str());
    QCOMPARE((*read)->weightBytes(), 384U + 16);
}

void SafetensorsTest::fileOfPointersAndPages()
{
    QTemporaryDir folder;
    const fs::path path = s(folder.path());
    writeFile(path / "config.json", "<!DOCTYPE html><html></html>");
    decoder().write(path / "model.safetensors");
    QCOMPARE(readFolder(folder), u"json.html"_s);
    writeFile(path / "config.json", "version https://git-lfs.github.com/spec/v1\n");
    QCOMPARE(readFolder(folder), u"json.lfs-pointer"_s);
    writeFile(path / "config.json", "");
    QCOMPARE(readFolder(folder), u"file.empty"_s);
    fs::remove(path / "config.json");
    QCOMPARE(readFolder(folder), u"folder.no-config"_s);
    writeFile(path / "config.json", config());
    writeFile(path / "model.safetensors.index.json", "<html></html>");
    QCOMPARE(readFolder(folder), u"json.html"_s);
    writeFile(path / "model.safetensors.index.json", "");
    QCOMPARE(readFolder(folder), u"file.empty"_s);
    writeFile(path / "model.safetensors.index.json", R"({"weight_map":{"a":"../../secret"}})");
    QCOMPARE(readFolder(folder), u"index.bad-path"_s);
    fs::remove(path / "model.safetensors.index.json");
    fs::remove(path / "model.safetensors");
    QCOMPARE(readFolder(folder), u"ok"_s); // derived from the config
    writeFile(path / "original" / "consolidated.00.safetensors", "");
    QCOMPARE(readFolder(folder), u"folder.config-only"_s);
    writeFile(path / "onnx" / "model.onnx", "onnx");
    QCOMPARE(readFolder(folder), u"folder.other-weights"_s);
    writeFile(path / "tf" / "model.pt", "pickle");
    QCOMPARE(readFolder(folder), u"folder.pickle-only"_s);
    writeFile(path / "pytorch_model.bin", "pickle");
    QCOMPARE(readFolder(folder), u"ok"_s); // sized from the config
}

void SafetensorsTest::randomNamesStop()
{
    // More patterns than any model has: given up, quickly, without filling the memory.
    QTemporaryDir folder;
    writeFile(s(folder.path()) + "/config.json", config());
    std::string header = "{";
    for (std::uint64_t i = 0; i < 210'000; ++i)
        header += (i == 0 ? "" : ",") + entry("r" + std::to_string(i), "U8", "[0]", "[0,0]");
    writeFile(s(folder.path()) + "/model.safetensors", SafetensorsBuilder::prefixed(header + "}"));
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(readFolder(folder), u"tensors.too-many-names"_s);
    QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
}

void SafetensorsTest::cancelled()
{
    QTemporaryDir folder;
    writeFile(s(folder.path()) + "/config.json", config());
    decoder().write(s(folder.path()) + "/model.safetensors");
    std::stop_source stop;
    stop.request_stop();
    QCOMPARE(outcome(readPath(s(folder.path()), stop.get_token())), u"cancelled"_s);
    // Stopped from within the progress callback, before the second file.
    SafetensorsBuilder second;
    second.add("model.norm.weight", "BF16", {8});
    second.write(s(folder.path()) + "/other.safetensors");
    std::stop_source later;
    std::vector<std::size_t> done;
    const auto progress = [&later, &done](const ReadProgress &step) {
        done.push_back(step.done);
        later.request_stop();
    };
    QCOMPARE(outcome(readPath(s(folder.path()), later.get_token(), progress)), u"cancelled"_s);
    QCOMPARE(done, std::vector<std::size_t>{0});
}

QTEST_GUILESS_MAIN(SafetensorsTest)
#include "tst_safetensors.moc"

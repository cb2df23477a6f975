// SPDX-License-Identifier: GPL-3.0-or-later
//
// docs/formats.md and the program say the same: every line of its tables has a tiny repository of that kind here
// (formatkinds*.cpp), which must come out as the table says, and every kind here has a line there. The lists of
// dtypes and of GGUF types are those of the code.
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/safetensors.h"
#include "models/decode/streamed.h"
#include "models/sources/open.h"
#include "tests/unit/formatkinds.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

const std::vector<FormatKind> &allKinds()
{
    static const std::vector<FormatKind> kinds = [] {
        std::vector<FormatKind> all = quantizedKinds();
        for (auto *more : {&expertKinds, &ggufKinds, &otherKinds}) {
            std::vector<FormatKind> some = more();
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }();
    return kinds;
}

QString readText(const QString &path)
{
    QFile file(QLatin1StringView(WEIR_SOURCE_DIR) + path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString document() { return readText(u"/docs/formats.md"_s); }

/// The part of the document below a heading.
QString section(const QString &heading)
{
    const QString text = document();
    const qsizetype start = text.indexOf(u"\n## "_s + heading + u'\n');
    if (start < 0)
        return {};
    const qsizetype end = text.indexOf("\n## "_L1, start + 4);
    return text.mid(start, end < 0 ? -1 : end - start);
}

struct Line
{
    QString id;
    QStringList cells; ///< without the id
};

std::vector<Line> linesOf(const QString &heading)
{
    std::vector<Line> lines;
    for (const QString &line : section(heading).split(u'\n')) {
        if (!line.startsWith("| `"_L1))
            continue;
        QStringList cells = line.split(u'|');
        for (QString &cell : cells)
            cell = cell.trimmed();
        cells = cells.mid(1, cells.size() - 2);
        QString id = cells.takeFirst();
        lines.push_back({id.remove(u'`'), cells});
    }
    return lines;
}

QString sectionOf(const FormatKind &kind)
{
    return !kind.error.empty() ? u"Declined"_s : kind.provenance == "headers" ? u"Read"_s : u"Derived"_s;
}

QString describe(const std::vector<Message> &notes)
{
    QStringList ids;
    for (const Message &note : notes)
        ids += q(note.id);
    ids.sort();
    return ids.join(u' ');
}

} // namespace

class FormatsTest : public QObject
{
    Q_OBJECT

private slots:
    void kinds_data();
    void kinds();
    void everyLineHasAKind();
    void everyKindHasALine();
    void dtypesAreThoseOfTheCode();
    void ggufTypesAreThoseOfTheCode();
    void projectorIsACompanion();
    void unlistedIsSaid();
    void contradictionsHaveBothFigures();
    void perLayerKeysOfGguf_data();
    void perLayerKeysOfGguf();
};

void FormatsTest::kinds_data()
{
    QTest::addColumn<int>("index");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < allKinds().size(); ++i) {
        QVERIFY(seen.insert(allKinds()[i].id).second);
        QTest::newRow(allKinds()[i].id.c_str()) << static_cast<int>(i);
    }
}

void FormatsTest::kinds()
{
    QFETCH(const int, index);
    const FormatKind &kind = allKinds().at(static_cast<std::size_t>(index));
    QTemporaryDir root;
    const fs::path folder = fs::path(s(root.path())) / kind.id;
    fs::create_directories(folder);
    kind.make(folder);
    const Result<CheckpointPtr> read = readPath(kind.path.empty() ? folder : folder / kind.path);
    if (!kind.error.empty()) {
        QCOMPARE(outcome(read), q(kind.error));
        const std::vector<Line> lines = linesOf(u"Declined"_s);
        const auto line = std::ranges::find(lines, q(kind.id), &Line::id);
        QVERIFY(line != lines.end());
        QCOMPARE(line->cells.at(2), read.error().kind == ErrorKind::NotLanguageModel ? u"7"_s : u"3"_s);
        for (const auto &[name, value] : kind.facts)
            QCOMPARE(q(name) + u' ' + argumentText(read.error().arguments, name), q(name + ' ' + value));
        return;
    }
    QCOMPARE(outcome(read), u"ok"_s);
    const Checkpoint &checkpoint = **read;
    QCOMPARE(q(formatId(checkpoint.format)), q(kind.format));
    QCOMPARE(q(provenanceId(checkpoint.provenance)), q(kind.provenance));
    QCOMPARE(q(checkpoint.quantization), q(kind.label));
    QStringList expectedNotes;
    for (const std::string &note : kind.notes)
        expectedNotes += q(note);
    QCOMPARE(describe(checkpoint.notes), expectedNotes.join(u' '));
    QCOMPARE(checkpoint.weightBytes(), kind.bytes);
    QCOMPARE(checkpoint.parametersTotal(), kind.parameters);
    const bool unknown = std::ranges::find(kind.notes, "checkpoint.parameters-unknown") != kind.notes.end();
    QCOMPARE(checkpoint.parametersKnown(), !unknown);
    for (const auto &[id, bytes] : kind.resident) {
        const ComponentSum *sum = checkpoint.sum(*componentFromId(id));
        QCOMPARE(q(id) + u' ' + QString::number(sum == nullptr ? 0 : sum->bytes),
                 q(id) + u' ' + QString::number(bytes));
    }
    for (const auto &[id, bytes] : kind.streamed)
        QCOMPARE(q(id) + u' ' + QString::number(streamedBytes(checkpoint, *componentFromId(id))),
                 q(id) + u' ' + QString::number(bytes));
    for (const auto &[beginning, bytes] : kind.patterns) {
        std::uint64_t found = 0;
        for (const TensorGroup &group : checkpoint.groups) {
            if (group.pattern.starts_with(beginning))
                found += group.bytes;
        }
        QCOMPARE(found, bytes);
    }
}

void FormatsTest::everyLineHasAKind()
{
    std::size_t lines = 0;
    for (const QString &heading : {u"Read"_s, u"Derived"_s, u"Declined"_s}) {
        for (const Line &line : linesOf(heading)) {
            ++lines;
            const auto kind = std::ranges::find(allKinds(), s(line.id), &FormatKind::id);
            QVERIFY2(kind != allKinds().end(), qPrintable(line.id));
            QCOMPARE(line.id + u' ' + sectionOf(*kind), line.id + u' ' + heading);
            // The last but one cell of what is assessed is the label, of what is derived the provenance.
            QVERIFY2(line.cells.size() >= 3, qPrintable(line.id));
            if (heading == "Read"_L1)
                QCOMPARE(line.id + u' ' + line.cells[2], line.id + u" `"_s + q(kind->label) + u'`');
            else if (heading == "Derived"_L1)
                QCOMPARE(line.id + u' ' + line.cells[2], line.id + u" `"_s + q(kind->provenance) + u'`');
        }
    }
    QCOMPARE(lines, allKinds().size());
}

void FormatsTest::everyKindHasALine()
{
    for (const FormatKind &kind : allKinds()) {
        const std::vector<Line> lines = linesOf(sectionOf(kind));
        QVERIFY2(std::ranges::count(lines, q(kind.id), &Line::id) == 1, kind.id.c_str());
    }
}

void FormatsTest::dtypesAreThoseOfTheCode()
{
    const QString source = readText(u"/models/checkpoint/safetensors.cpp"_s);
    static const QRegularExpression table(u"dtypeTable[^;]*;"_s);
    static const QRegularExpression entry(u"\\{\"([A-Z0-9_]+)\", (\\d+)\\}"_s);
    QStringList code;
    auto entries = entry.globalMatch(table.match(source).captured(0));
    while (entries.hasNext()) {
        const auto each = entries.next();
        code += each.captured(1) + u' ' + each.captured(2);
        QCOMPARE(QString::number(dtypeBits(s(each.captured(1)))), each.captured(2));
    }
    QVERIFY(code.size() > 20);
    QStringList documented;
    for (const Line &line : linesOf(u"Dtypes of safetensors"_s))
        documented += line.id + u' ' + line.cells.at(0);
    code.sort();
    documented.sort();
    QCOMPARE(documented, code);
}

void FormatsTest::ggufTypesAreThoseOfTheCode()
{
    QStringList code;
    for (const GgufType &type : ggufTypes())
        code += u"%1 %2 %3 %4"_s.arg(q(type.name)).arg(type.id).arg(type.block).arg(type.bytes);
    QStringList documented;
    for (const Line &line : linesOf(u"Types of GGUF"_s))
        documented += line.id + u' ' + line.cells.mid(0, 3).join(u' ');
    QCOMPARE(documented, code);
    QStringList forks;
    for (const auto &[id, name] : ggufForkTypes())
        forks += u"%1 %2"_s.arg(q(name)).arg(id);
    QStringList documentedForks;
    for (const Line &line : linesOf(u"Types of ik_llama.cpp"_s))
        documentedForks += line.id + u' ' + line.cells.at(0);
    QCOMPARE(documentedForks, forks);
}

void FormatsTest::projectorIsACompanion()
{
    QTemporaryDir root;
    const auto kind = std::ranges::find(allKinds(), "gguf-mmproj-beside", &FormatKind::id);
    kind->make(s(root.path()));
    const Result<CheckpointPtr> read = readPath(s(root.path()));
    QVERIFY(read);
    QCOMPARE((*read)->companions.size(), 2U);
    QCOMPARE(q((*read)->companions.at(1).path), u"mmproj-model-f16.gguf"_s);
    QVERIFY((*read)->companions.at(1).needed);
    QVERIFY(!(*read)->companions.at(0).needed);
    QVERIFY((*read)->companions.at(1).bytes > 8192);
    QVERIFY((*read)->sum(Component::Vision) == nullptr);
}

void FormatsTest::unlistedIsSaid()
{
    QTemporaryDir root;
    const auto kind = std::ranges::find(allKinds(), "mtp-unlisted", &FormatKind::id);
    kind->make(s(root.path()));
    const Result<CheckpointPtr> read = readPath(s(root.path()));
    QVERIFY(read);
    const ComponentSum *draft = (*read)->sum(Component::Mtp);
    QVERIFY(draft != nullptr);
    QCOMPARE(draft->unlistedBytes, draft->bytes);
    for (const RepositoryFile &file : (*read)->files)
        QCOMPARE(file.listed, file.path != "model_extra_tensors.safetensors");
}

void FormatsTest::contradictionsHaveBothFigures()
{
    QTemporaryDir root;
    const auto kind = std::ranges::find(allKinds(), "claimed-experts", &FormatKind::id);
    kind->make(s(root.path()));
    const Result<CheckpointPtr> read = readPath(s(root.path()));
    QVERIFY(read);
    const auto note = std::ranges::find((*read)->notes, "checkpoint.quantization-contradicted", &Message::id);
    QVERIFY(note != (*read)->notes.end());
    QCOMPARE(note->severity, Severity::Warning);
    QCOMPARE(argumentText(note->arguments, "claim"), u"gptq"_s);
    QCOMPARE(argumentText(note->arguments, "bits"), u"4"_s);
    QCOMPARE(argumentText(note->arguments, "component"), u"routed_experts"_s);
    QCOMPARE(argumentText(note->arguments, "dtype"), u"BF16"_s);
    // 196,608 of experts and 24,576 of attention among all 287,616.
    const std::uint64_t whole = (*read)->weightBytes();
    QCOMPARE(argumentText(note->arguments, "bytes"), u"221184"_s);
    QCOMPARE(argumentText(note->arguments, "weights"), QString::number(whole));
    QCOMPARE(argumentText(note->arguments, "percent"), QString::number((221'184 * 100 + whole / 2) / whole));
}

void FormatsTest::perLayerKeysOfGguf_data()
{
    QTest::addColumn<bool>("bigEndian");
    QTest::newRow("little-endian") << false;
    QTest::newRow("big-endian") << true;
}

void FormatsTest::perLayerKeysOfGguf()
{
    QFETCH(const bool, bigEndian);
    QTemporaryDir root;
    const fs::path folder = s(root.path());
    const auto begin = [bigEndian](std::string_view architecture) {
        GgufBuilder builder;
        builder.bigEndian = bigEndian;
        const std::string prefix(architecture);
        builder.string("general.architecture", architecture)
            .u32(prefix + ".block_count", 4)
            .u32(prefix + ".embedding_length", 256)
            .u32(prefix + ".attention.head_count", 4)
            .u32("general.file_type", 0);
        return builder;
    };
    const auto end = [](GgufBuilder &builder) -> GgufBuilder & {
        return builder.tensor("token_embd.weight", "F32", {256, 8})
            .tensor("blk.0.attn_q.weight", "F32", {256, 256});
    };
    // A hybrid: layers 0 and 3 keep a state, layer 1 attends, layer 2 is a feed-forward network.
    GgufBuilder hybrid = begin("nemotron_h");
    hybrid.u32s("nemotron_h.attention.head_count_kv", {0, 2, 0, 0})
        .u32s("nemotron_h.feed_forward_length", {0, 0, 512, 0})
        .u32("nemotron_h.ssm.inner_size", 512)
        .u32("nemotron_h.ssm.state_size", 16)
        .u32("nemotron_h.ssm.group_count", 2)
        .u32("nemotron_h.ssm.conv_kernel", 4);
    end(hybrid).write(folder / "hybrid.gguf");
    const Result<CheckpointPtr> one = readPath(folder / "hybrid.gguf");
    QCOMPARE(outcome(one), u"ok"_s);
    QCOMPARE((*one)->spec.attention.size(), 1U);
    QCOMPARE((*one)->spec.attention.front().layers, 1U);
    QCOMPARE((*one)->spec.attention.front().kElementsPerToken, 128U); // 2 heads of 256 / 4
    QCOMPARE((*one)->spec.state.size(), 1U);
    QCOMPARE((*one)->spec.state.front().layers, 2U);
    QCOMPARE((*one)->spec.state.front().convolutionElements, 3U * (512 + 2 * 2 * 16));
    QCOMPARE((*one)->spec.state.front().recurrentElements, 512U * 16);

    // Windows: by a number, and by a flag for each layer.
    GgufBuilder number = begin("gemma3");
    number.u32("gemma3.attention.sliding_window", 1024).u32("gemma3.attention.sliding_window_pattern", 2);
    end(number).write(folder / "number.gguf");
    GgufBuilder flags = begin("gemma3");
    std::string values = flags.number<std::uint32_t>(GgufBuilder::Bool) + flags.number<std::uint64_t>(4);
    values += std::string("\1\1\1\0", 4);
    flags.u32("gemma3.attention.sliding_window", 1024)
        .raw("gemma3.attention.sliding_window_pattern", GgufBuilder::Array, values);
    end(flags).write(folder / "flags.gguf");
    for (const auto &[file, windowed] : {std::pair{"number.gguf", 2U}, {"flags.gguf", 3U}}) {
        const Result<CheckpointPtr> read = readPath(folder / file);
        QCOMPARE(outcome(read), u"ok"_s);
        std::uint32_t layers = 0;
        for (const AttentionLayers &run : (*read)->spec.attention) {
            if (run.window) {
                QCOMPARE(*run.window, 1024U);
                layers += run.layers;
            }
        }
        QCOMPARE(layers, windowed);
        QCOMPARE(describe((*read)->notes).contains("gguf.big-endian"_L1), bigEndian);
    }
}

QTEST_GUILESS_MAIN(FormatsTest)
#include "tst_formats.moc"

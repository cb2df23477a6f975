// SPDX-License-Identifier: GPL-3.0-or-later
// A million tensors in 137 MB of headers: how fast are they read and sorted, with how much memory, and what do
// general JSON parsers take for the same bytes on the same machine in the same minute?
#include "models/checkpoint/classify.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/safetensors.h"
#include "models/sources/open.h"
#include "tests/bench/benchtools.h"
#include "tests/bench/headersamples.h"
#include "tests/support/ggufbuilder.h"
#include "tests/support/safetensorsbuilder.h"

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <cstdlib>
#include <new>
#include <sstream>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;

namespace {

std::atomic<std::uint64_t> allocations = 0;

constexpr std::size_t million = 1'000'000;
constexpr int rounds = 5;
constexpr double timesFaster = 6; ///< than nlohmann's DOM parse alone
constexpr double memoryFactor = 2; ///< of the bytes of the headers

ModelConfig moeConfig()
{
    ModelConfig config;
    config.spec.architecture = "DeepseekV3ForCausalLM";
    config.spec.layers = 1000;
    config.spec.experts = HeaderSamples::experts;
    config.spec.expertsPerToken = 8;
    config.quantization.method = "compressed-tensors";
    config.quantization.format = "pack-quantized";
    config.quantization.bits = 4;
    config.quantization.groupSize = 32;
    return config;
}

/// From the bytes of headers to the groups of a checkpoint, on this thread.
Result<Checkpoint> readAndClassify(const std::vector<SampleHeader> &headers)
{
    TensorSet tensors;
    std::vector<TensorFile> files;
    for (const SampleHeader &header : headers) {
        const auto number = static_cast<std::uint32_t>(files.size());
        const Result<void> read =
            readSafetensorsHeader(header.json, header.dataBytes, "bench", [&](const HeaderTensor &tensor) {
                return tensors.add(tensor.name, tensor.dtype, tensor.shape, tensor.bytes, number);
            });
        if (!read)
            return std::unexpected(read.error());
        files.push_back({"model-" + std::to_string(number) + ".safetensors", true});
    }
    Checkpoint checkpoint;
    checkpoint.format = Format::Safetensors;
    classify(tensors, moeConfig(), files, checkpoint);
    return checkpoint;
}

/// Counts strings and numbers, so that nothing can be left out.
struct CountingSax : nlohmann::json_sax<nlohmann::json>
{
    std::uint64_t count = 0;
    bool null() override { return ++count > 0; }
    bool boolean(bool) override { return ++count > 0; }
    bool number_integer(std::int64_t) override { return ++count > 0; }
    bool number_unsigned(std::uint64_t) override { return ++count > 0; }
    bool number_float(double, const std::string &) override { return ++count > 0; }
    bool string(std::string &) override { return ++count > 0; }
    bool binary(nlohmann::json::binary_t &) override { return ++count > 0; }
    bool start_object(std::size_t) override { return true; }
    bool key(std::string &) override { return ++count > 0; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &) override
    {
        return false;
    }
};

/// Every name, dtype and number of a padded header; nothing is checked or kept.
std::uint64_t walk(simdjson::ondemand::parser &parser, const simdjson::padded_string &text)
{
    std::uint64_t sum = 0;
    simdjson::ondemand::document document = parser.iterate(text);
    for (auto each : document.get_object()) {
        sum += std::string_view(each.unescaped_key()).size();
        for (auto field : each.value().get_object()) {
            const std::string_view key = field.unescaped_key();
            if (key == "shape" || key == "data_offsets") {
                for (auto number : field.value().get_array())
                    sum += std::uint64_t(number.get_uint64());
            } else {
                sum += std::string_view(field.value().get_string()).size();
            }
        }
    }
    return sum;
}

std::uint64_t bytesOf(const std::vector<SampleHeader> &headers)
{
    std::uint64_t bytes = 0;
    for (const SampleHeader &header : headers)
        bytes += header.json.size();
    return bytes;
}

void printRate(const char *what, double milliseconds, std::uint64_t bytes, std::size_t things,
               const char *kind = "tensors")
{
    std::printf("  %-48s %8.1f ms %7.0f MB/s %7.2f million %s/s\n", what, milliseconds,
                static_cast<double>(bytes) / 1e3 / milliseconds,
                static_cast<double>(things) / 1e3 / milliseconds, kind);
}

void printTarget(const char *what, double value, bool met)
{
    std::printf("  target %-52s %6.2f  %s\n", what, value, met ? "met" : "NOT MET");
}

template <typename Work>
double wallMedianOf(int times, Work &&work)
{
    std::vector<double> values;
    for (int i = 0; i < times; ++i)
        values.push_back(millisecondsOf(work));
    return median(values);
}

template <typename Work>
double medianOf(int times, Work &&work)
{
    std::vector<double> values;
    for (int i = 0; i < times; ++i)
        values.push_back(processorMillisecondsOf(work));
    return median(values);
}

} // namespace

// Counted, so that allocations can be told; malloc is what the default ones call as well.
void *operator new(std::size_t bytes)
{
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void *memory = std::malloc(bytes == 0 ? 1 : bytes))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

class BenchHeaders : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void againstGeneralParsers();
    void otherLanguages();
    void memory();
    void wholeFolder();
    void classification();
    void otherNames();
    void ggufHeader();
    void index();

private:
    std::vector<std::vector<HeaderSamples::Tensor>> m_tensors;
    std::vector<SampleHeader> m_headers;
    std::uint64_t m_bytes = 0;
};

void BenchHeaders::initTestCase()
{
    m_tensors = HeaderSamples::moe(million, 2, 20240607);
    for (const auto &file : m_tensors)
        m_headers.push_back(HeaderSamples::json(file));
    m_bytes = bytesOf(m_headers);
    std::printf("%zu tensors in %zu headers of %.1f MB in all\n", million, m_headers.size(),
                static_cast<double>(m_bytes) / 1e6);
}

void BenchHeaders::againstGeneralParsers()
{
    std::vector<simdjson::padded_string> padded;
    for (const SampleHeader &header : m_headers)
        padded.emplace_back(header.json);
    simdjson::ondemand::parser parser;
    std::size_t groups = 0;
    std::size_t objects = 0;
    std::uint64_t counted = 0;
    std::uint64_t sum = 0;
    std::vector<Contender> all{
        {"Weir: read, checked and classified", [&] { groups = readAndClassify(m_headers)->groups.size(); }},
        {"nlohmann_json DOM: parsed alone",
         [&] {
             objects = 0;
             for (const SampleHeader &header : m_headers)
                 objects += nlohmann::json::parse(header.json).size();
         }},
        {"nlohmann_json SAX: walked alone",
         [&] {
             CountingSax sax;
             for (const SampleHeader &header : m_headers)
                 nlohmann::json::sax_parse(header.json, &sax);
             counted = sax.count;
         }},
        {"simdjson on-demand: walked alone", [&] {
             sum = 0;
             for (const simdjson::padded_string &text : padded)
                 sum += walk(parser, text);
         }}};
    alternate(all, rounds);
    QVERIFY(groups > 0 && counted > million && sum > million);
    QCOMPARE(objects, million + m_headers.size()); // and the metadata of each
    for (const Contender &one : all)
        printRate(one.name.c_str(), median(one.milliseconds), m_bytes, million);
    const double times = median(all[1].milliseconds) / median(all[0].milliseconds);
    printTarget("at least 6 times faster than nlohmann_json's DOM", times, times >= timesFaster);
#ifdef NDEBUG
    QVERIFY2(times >= timesFaster, "reading and classifying is not fast enough");
#endif
}

/// Parsers of other programs, where there are any; they time themselves.
void BenchHeaders::otherLanguages()
{
    QTemporaryDir folder;
    QStringList files;
    for (std::size_t i = 0; i < m_headers.size(); ++i) {
        const QString file = folder.filePath(u"header%1.json"_s.arg(i));
        writeFile(s(file), m_headers[i].json);
        files << file;
    }
    const QString python = u"import json,sys,time\n"
                           "texts=[open(f).read() for f in sys.argv[1:]]\n"
                           "times=[]\n"
                           "for i in range(3):\n"
                           "    t=time.process_time()\n"
                           "    for text in texts: json.loads(text)\n"
                           "    times.append(time.process_time()-t)\n"
                           "print(sorted(times)[1]*1000)\n"_s;
    const QString node = u"const texts=process.argv.slice(1).map(f=>require('fs').readFileSync(f,'utf8'));"
                         "const times=[];"
                         "for(let i=0;i<3;i++){const t=process.cpuUsage();"
                         "for(const text of texts)JSON.parse(text);const "
                         "u=process.cpuUsage(t);times.push((u.user+u.system)/1e3)}"
                         "console.log(times.sort((a,b)=>a-b)[1])"_s;
    const auto one = [&](const char *name, const QString &program, const QStringList &arguments) {
        QProcess process;
        process.start(program, arguments + files);
        const bool ended = !QStandardPaths::findExecutable(program).isEmpty()
                           && process.waitForFinished(120'000) && process.exitCode() == 0;
        const double milliseconds = process.readAllStandardOutput().trimmed().toDouble();
        if (ended && milliseconds > 0)
            printRate(name, milliseconds, m_bytes, million);
        else
            std::printf("  %-48s not here\n", name);
    };
    one("Python json.loads", u"python3"_s, {u"-c"_s, python});
    one("Node JSON.parse", u"node"_s, {u"-e"_s, node, u"--"_s});
}

void BenchHeaders::memory()
{
    const std::uint64_t before = allocations;
    QVERIFY(readAndClassify(m_headers));
    const std::uint64_t count = allocations - before;
    std::printf("  %llu allocations by operator new, %.4f a tensor\n", static_cast<unsigned long long>(count),
                static_cast<double>(count) / static_cast<double>(million));
    const auto print = [](const char *what, const std::vector<SampleHeader> &headers) {
        const auto extra = peakExtraBytes([&] {
            if (!readAndClassify(headers))
                _exit(1); // tells nothing, which fails below
        });
        if (!extra) {
            std::printf("  peak memory: this system does not tell\n");
            return statusBytes("VmHWM:") == 0 ? 0.0 : memoryFactor;
        }
        std::size_t tensors = 0;
        for (const SampleHeader &header : headers)
            tensors += header.tensors;
        const double factor = static_cast<double>(*extra) / static_cast<double>(bytesOf(headers));
        std::printf("  %-40s peak resident memory beside the headers: %6.1f MB, %5.1f bytes a tensor, "
                    "%.2f times the headers\n",
                    what, static_cast<double>(*extra) / 1e6,
                    static_cast<double>(*extra) / static_cast<double>(tensors), factor);
        return factor;
    };
    const double factor = print("Weir:", m_headers);
    const std::vector<SampleHeader> one(1, HeaderSamples::json(HeaderSamples::moe(700'000, 1, 5).front()));
    const double largest = print("Weir, one header of nearly 100 MB:", one);
    const std::vector<SampleHeader> own(1, HeaderSamples::json(HeaderSamples::dense(700'000), true));
    const double shuffled = print("Weir, a group a tensor, data shuffled:", own);
    const auto dom = peakExtraBytes([&] {
        const auto parsed = nlohmann::json::parse(m_headers.front().json);
        static_cast<void>(parsed.size());
    });
    if (dom) {
        std::printf(
            "  %-40s peak resident memory beside the headers: %6.1f MB, %5.1f bytes a tensor, %.2f times "
            "the header\n",
            "nlohmann_json DOM, first header alone:", static_cast<double>(*dom) / 1e6,
            static_cast<double>(*dom) / static_cast<double>(m_headers.front().tensors),
            static_cast<double>(*dom) / static_cast<double>(m_headers.front().json.size()));
    }
    printTarget("less than twice the headers in extra memory", factor, factor < memoryFactor);
    QVERIFY(factor < memoryFactor && largest < memoryFactor && shuffled < memoryFactor);
}

void BenchHeaders::wholeFolder()
{
    QTemporaryDir folder;
    const fs::path root = s(folder.path());
    writeFile(root / "config.json", nlohmann::json{{"architectures", {"DeepseekV3ForCausalLM"}},
                                                   {"model_type", "deepseek_v3"},
                                                   {"hidden_size", 7168},
                                                   {"num_hidden_layers", 1000},
                                                   {"num_attention_heads", 128},
                                                   {"kv_lora_rank", 512},
                                                   {"qk_rope_head_dim", 64},
                                                   {"n_routed_experts", 384},
                                                   {"num_experts_per_tok", 8},
                                                   {"vocab_size", 129280}}
                                        .dump());
    const auto measure = [&](const char *what, std::size_t files) {
        std::string index = R"({"weight_map":{)";
        std::size_t number = 0;
        for (const auto &tensors : HeaderSamples::moe(million, files, 20240607)) {
            const SampleHeader header = HeaderSamples::json(tensors);
            const std::string beginning = SafetensorsBuilder::prefixed(header.json);
            const std::string name = "part" + std::to_string(number++) + ".safetensors";
            writeSparse(root / name, beginning, beginning.size() + header.dataBytes);
            for (const auto &tensor : tensors)
                index.append(index.back() == '{' ? "\"" : ",\"")
                    .append(tensor.name)
                    .append("\":\"")
                    .append(name) += '"';
        }
        const double plain = wallMedianOf(3, [&] { QVERIFY(readPath(root)); });
        writeFile(root / "model.safetensors.index.json", index + "}}");
        const double indexed = wallMedianOf(3, [&] { QVERIFY(readPath(root)); });
        fs::remove(root / "model.safetensors.index.json");
        for (std::size_t i = 0; i < number; ++i)
            fs::remove(root / ("part" + std::to_string(i) + ".safetensors"));
        printRate((std::string("Weir, folder on disk, ") + what).c_str(), plain, m_bytes, million);
        printRate("  with an index of a million names", indexed, m_bytes, million);
    };
    measure("2 files", 2);
    measure("100 files", 100);
}

void BenchHeaders::classification()
{
    std::vector<double> reduced;
    std::vector<double> classified;
    std::size_t groups = 0;
    for (int round = 0; round < rounds; ++round) {
        TensorSet tensors;
        reduced.push_back(processorMillisecondsOf([&] {
            for (std::uint32_t file = 0; file < m_tensors.size(); ++file) {
                for (const auto &tensor : m_tensors[file])
                    QVERIFY(tensors.add(tensor.name, tensor.dtype, tensor.shape, tensor.bytes, file));
            }
        }));
        const std::vector<TensorFile> files{{"a", true}, {"b", true}};
        Checkpoint checkpoint;
        checkpoint.format = Format::Safetensors;
        classified.push_back(
            processorMillisecondsOf([&] { classify(tensors, moeConfig(), files, checkpoint); }));
        groups = tensors.groups().size();
    }
    std::printf("  classification of %zu tensors: %.1f ms reduced to %zu groups, %.1f ms classified\n",
                million, median(reduced), groups, median(classified));
}

void BenchHeaders::otherNames()
{
    const auto measure = [](const char *what, const SampleHeader &header, const QString &expected) {
        const std::vector<SampleHeader> headers{header};
        QString got;
        const double time = medianOf(3, [&] { got = outcome(readAndClassify(headers)); });
        printRate(what, time, header.json.size(), header.tensors);
        QCOMPARE(got, expected);
    };
    measure("Weir, 700,000 dense tensors, a group each", HeaderSamples::json(HeaderSamples::dense(700'000)),
            u"ok"_s);
    measure("Weir, data in another order than the names", HeaderSamples::json(m_tensors.front(), true),
            u"ok"_s);
    const SampleHeader random = HeaderSamples::json(HeaderSamples::randomNames(700'000, 7));
    const std::vector<SampleHeader> headers{random};
    QString got;
    const double time = medianOf(3, [&] { got = outcome(readAndClassify(headers)); });
    QCOMPARE(got, u"tensors.too-many-names"_s);
    std::printf("  %-48s %8.1f ms until it is refused, after %zu of them\n",
                "Weir, 700,000 names without a pattern", time, TensorSet::maxPatterns);
}

void BenchHeaders::ggufHeader()
{
    constexpr std::size_t vocabulary = 250'000;
    GgufBuilder builder;
    builder.string("general.architecture", "llama").u32("llama.block_count", 80);
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < vocabulary; ++i)
        tokens.push_back("token" + std::to_string(i * 7919 % vocabulary));
    builder.strings("tokenizer.ggml.tokens", tokens);
    builder.u32s("tokenizer.ggml.token_type", std::vector<std::uint32_t>(vocabulary, 1));
    for (std::string &token : tokens)
        token += " x";
    builder.strings("tokenizer.ggml.merges", tokens);
    for (int layer = 0; layer < 80; ++layer) {
        for (const char *part :
             {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
            builder.tensor("blk." + std::to_string(layer) + '.' + part + ".weight", "Q4_K", {4096, 4096});
    }
    const std::string header = builder.header();
    std::istringstream stream(header);
    const std::uint64_t fileBytes = builder.fileBytes();
    const double time = medianOf(rounds, [&] {
        stream.clear();
        stream.seekg(0);
        const auto read = readGguf(stream, fileBytes, "bench", [](const GgufTensor &) { return true; });
        QVERIFY2(read, qPrintable(outcome(read)));
    });
    printRate("Weir, GGUF with a vocabulary of 250,000", time, header.size(), 2 * vocabulary, "texts");
}

void BenchHeaders::index()
{
    std::string text = R"({"metadata":{"total_size":1},"weight_map":{)";
    std::vector<std::string> names;
    const auto samples = HeaderSamples::moe(500'000, 1, 3);
    for (const auto &tensor : samples.front()) {
        const std::size_t file = names.size() / 5000 + 1;
        text += (names.empty() ? "\"" : ",\"") + tensor.name + "\":\"model-" + std::to_string(file)
                + ".safetensors\"";
        names.push_back(tensor.name);
    }
    text += "}}";
    Result<SafetensorsIndex> index;
    const double read = medianOf(rounds, [&] { index = readSafetensorsIndex(text, "bench"); });
    QVERIFY2(index, qPrintable(outcome(index)));
    std::size_t found = 0;
    const double asked = medianOf(rounds, [&] {
        found = 0;
        for (const std::string &name : names)
            found += index->fileOf(name) ? 1U : 0U;
    });
    QCOMPARE(found, names.size());
    printRate("Weir, index of 500,000 names", read, text.size(), names.size(), "names");
    std::printf("  %-48s %8.1f ms\n", "  every name looked up in it", asked);
}

QTEST_GUILESS_MAIN(BenchHeaders)
#include "bench_headers.moc"

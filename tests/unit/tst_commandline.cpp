// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commandline.h"
#include "tests/support/ggufbuilder.h"
#include "tests/support/jsonschema.h"
#include "tests/support/safetensorsbuilder.h"

#include <nlohmann/json.hpp>

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>
#include <sstream>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

const char *const reference = "qwen3.5-122b-a10b-int4-autoround";

struct Run
{
    std::optional<int> status;
    std::string out;
    std::string err;
    CommandOutcome outcome;

    Json json() const { return Json::parse(out, nullptr, false); }
};

Run weirRun(const std::vector<std::string> &arguments)
{
    std::vector<const char *> pointers{"weir"};
    for (const std::string &argument : arguments)
        pointers.push_back(argument.c_str());
    std::ostringstream out;
    std::ostringstream err;
    Run run;
    run.outcome = runCommandLine(static_cast<int>(pointers.size()), pointers.data(), out, err);
    run.status = run.outcome.exitStatus;
    run.out = out.str();
    run.err = err.str();
    return run;
}

Json assessed(std::vector<std::string> options)
{
    options.insert(options.begin(), "assess");
    options.emplace_back("--json");
    return weirRun(options).json();
}

QStringList keysOf(const Json &object)
{
    QStringList keys;
    for (const auto &[key, value] : object.items())
        keys += q(key);
    return keys;
}

/// One line that ends with a full stop and holds nothing that steers a terminal.
bool isOneSentence(const std::string &text)
{
    if (text.size() < 20 || !text.ends_with(".\n") || std::ranges::count(text, '\n') != 1)
        return false;
    return std::ranges::all_of(text,
                               [](char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\n'; });
}

nlohmann::json llamaConfig()
{
    return {{"architectures", {"LlamaForCausalLM"}},
            {"model_type", "llama"},
            {"num_hidden_layers", 1},
            {"hidden_size", 8},
            {"num_attention_heads", 2},
            {"vocab_size", 16},
            {"max_position_embeddings", 64}};
}

/// A whole small checkpoint.
void writeModel(const fs::path &folder, std::uint64_t rows = 16)
{
    writeFile(folder / "config.json", llamaConfig().dump());
    SafetensorsBuilder builder;
    builder.add("model.embed_tokens.weight", "BF16", {rows, 8});
    builder.add("model.layers.0.self_attn.q_proj.weight", "BF16", {8, 8});
    builder.write(folder / "model.safetensors");
}

} // namespace

class CommandLineTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void noCommandOpensTheWindow();
    void helpAndVersion();
    void usage_data();
    void usage();
    void referenceBytes_data();
    void referenceBytes();
    void plainText();
    // the JSON object
    void keysInOrder();
    void keepsToItsSchema_data();
    void keepsToItsSchema();
    void schemaDescribesEverything();
    void withoutRoundingNoise_data();
    void withoutRoundingNoise();
    void workloadIsEchoed();
    void componentsDoNotChangeWithOptions();
    void engineByFormat_data();
    void engineByFormat();
    void reserveUnits_data();
    void reserveUnits();
    void requireFit();
    void otherQuantization();
    void notPredictedIsNull();
    // lists
    void machines();
    void engines();
    void catalog();
    // what is read
    void paths();
    void existingFileWins();
    void aConfigAlone();
    void badInput_data();
    void badInput();
    void otherKinds_data();
    void otherKinds();
    void hostileNames();
    void damagedData();
    void exitStatuses();

private:
    QTemporaryDir m_folder;
    fs::path m_before;
    int m_number = 0;
};

void CommandLineTest::init()
{
    qputenv("WEIR_DATA_DIR", QByteArray(WEIR_SOURCE_DIR) + "/data");
    m_before = fs::current_path();
    const fs::path own = fs::path(s(m_folder.path())) / std::to_string(++m_number);
    fs::create_directories(own);
    fs::current_path(own);
}

void CommandLineTest::cleanup()
{
    // Some names are no UTF-8: QTemporaryDir would leave them behind.
    const fs::path own = fs::current_path();
    fs::current_path(m_before);
    fs::remove_all(fs::path(s(m_folder.path())) / own.filename());
}

void CommandLineTest::noCommandOpensTheWindow()
{
    const Run plain = weirRun({});
    QVERIFY(!plain.status);
    QVERIFY(plain.out.empty() && plain.err.empty());
    const Run named = weirRun({reference, "--size", "1280x800", "--screenshot", "a.png", "--theme", "dark"});
    QVERIFY(!named.status);
    QCOMPARE(q(named.outcome.checkpoint), q(reference));
    QCOMPARE(named.outcome.width, 1280);
    QCOMPARE(named.outcome.height, 800);
    QCOMPARE(q(named.outcome.screenshot->string()), u"a.png"_s);
    QCOMPARE(q(named.outcome.theme), u"dark"_s);
}

void CommandLineTest::helpAndVersion()
{
    for (const std::vector<std::string> &arguments :
         {std::vector<std::string>{"--help"}, {"assess", "--help"}, {"machines", "--help"}}) {
        const Run run = weirRun(arguments);
        QCOMPARE(run.status, std::optional(0));
        QVERIFY(run.out.size() > 50);
        QVERIFY(run.err.empty());
    }
    const Run version = weirRun({"--version"});
    QCOMPARE(version.status, std::optional(0));
    QVERIFY(QRegularExpression(u"^weir \\d+\\.\\d+\\.\\d+\\n$"_s).match(q(version.out)).hasMatch());
    const std::string help = weirRun({"assess", "--help"}).out;
    for (const char *option : {"--machine", "--engine", "--context", "--concurrency", "--k-dtype",
                               "--v-dtype", "--reserve", "--quant", "--require-fit", "--json"})
        QVERIFY2(help.find(option) != std::string::npos, option);
    // The window's own options are for scripts.
    QVERIFY(weirRun({"--help"}).out.find("--screenshot") == std::string::npos);
}

void CommandLineTest::usage_data()
{
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const char *name, const QStringList &arguments) { QTest::newRow(name) << arguments; };
    const QString id = q(reference);
    row("assess nothing", {u"assess"_s});
    row("two checkpoints", {u"assess"_s, id, id});
    row("unknown option", {u"assess"_s, id, u"--fast"_s});
    row("unknown machine", {u"assess"_s, id, u"--machine"_s, u"toaster"_s});
    row("unknown engine", {u"assess"_s, id, u"--engine"_s, u"steam"_s});
    row("option without value", {u"assess"_s, id, u"--context"_s});
    for (const char *recipe : {"", ",", "Q4_K_Z", "lm_head", "lm_head=", "head=int8", "awq,gptq",
                               "lm_head=Q4_K_M", "dense_mlp=int8", "norm=int8"})
        QTest::addRow("quant %s", recipe) << QStringList{u"assess"_s, id, u"--quant"_s, q(recipe)};
    for (const char *context : {"-1", "many", "1.5", "1e3", "1000000001", "99999999999999999999", ""})
        QTest::addRow("context %s", context) << QStringList{u"assess"_s, id, u"--context"_s, q(context)};
    for (const char *concurrency : {"0", "-1", "two", "100001", "4294967297"})
        QTest::addRow("concurrency %s", concurrency)
            << QStringList{u"assess"_s, id, u"--concurrency"_s, q(concurrency)};
    for (const char *dtype : {"f8", "q8_0", "Q8_0", "", "int3"})
        QTest::addRow("vLLM and k-dtype %s", dtype) << QStringList{u"assess"_s, id, u"--k-dtype"_s, q(dtype)};
    row("llama.cpp and v-dtype nvfp4",
        {u"assess"_s, u"qwen2.5-7b-q4_k_m"_s, u"--engine"_s, u"llama.cpp"_s, u"--v-dtype"_s, u"nvfp4"_s});
    for (const char *reserve :
         {"lots", "-1", "1.2.3", "12 XB", "1e9", ".", "GB", "99999999999999999999GB", "nan"})
        QTest::addRow("reserve %s", reserve) << QStringList{u"assess"_s, id, u"--reserve"_s, q(reserve)};
    // Options of later versions are refused, never ignored.
    for (const char *option : {"--quant", "--prompt", "--cached", "--output", "--draft", "--draft-checkpoint",
                               "--draft-tokens", "--acceptance", "--tokens-per-step", "--nodes",
                               "--state-dtype", "--batch-tokens", "--memory-utilization", "--source"})
        QTest::addRow("later option %s", option) << QStringList{u"assess"_s, id, q(option), u"1"_s};
    for (const char *command :
         {"compare", "explore", "report", "import", "measure", "probe", "detect", "accuracy", "calibrate"})
        QTest::addRow("later command %s", command) << QStringList{q(command), id};
    row("two commands", {u"machines"_s, u"engines"_s});
    row("argument too many", {u"machines"_s, u"all"_s});
    row("size without cross", {u"--size"_s, u"1280"_s});
    row("size of nothing", {u"--size"_s, u"0x0"_s});
    row("size beyond reason", {u"--size"_s, u"99999x99999"_s});
    row("unknown theme", {u"--theme"_s, u"pink"_s});
}

void CommandLineTest::usage()
{
    QFETCH(const QStringList, arguments);
    std::vector<std::string> typed;
    for (const QString &argument : arguments)
        typed.push_back(s(argument));
    const Run run = weirRun(typed);
    QCOMPARE(run.status, std::optional(2));
    QVERIFY2(run.out.empty(), run.out.c_str());
    QVERIFY2(isOneSentence(run.err), run.err.c_str());

    typed.emplace_back("--json");
    const Run json = weirRun(typed);
    QCOMPARE(json.status, std::optional(2));
    const Json object = json.json();
    QCOMPARE(keysOf(object), QStringList{u"error"_s});
    QCOMPARE(keysOf(object["error"]), (QStringList{u"id"_s, u"message"_s, u"subject"_s}));
    QCOMPARE(q(object["error"]["message"].get<std::string>() + "\n"), q(json.err));
}

void CommandLineTest::referenceBytes_data()
{
    QTest::addColumn<QString>("component");
    QTest::addColumn<quint64>("resident");
    QTest::addColumn<quint64>("streamed");
    const auto row = [](const char *id, quint64 resident, quint64 streamed) {
        QTest::newRow(id) << q(id) << resident << streamed;
    };
    row("routed_experts", 60'246'982'656, 1'882'718'208);
    row("embed_tokens", 1'525'678'080, 0);
    row("lm_head", 1'525'678'080, 1'525'678'080);
    row("router", 75'497'472, 75'497'472);
}

void CommandLineTest::referenceBytes()
{
    QFETCH(const QString, component);
    QFETCH(const quint64, resident);
    QFETCH(const quint64, streamed);
    const Json object = assessed({reference, "--machine", "dgx-spark", "--engine", "vllm"});
    const auto found = std::ranges::find_if(
        object["components"], [&component](const Json &each) { return each["id"] == s(component); });
    QVERIFY(found != object["components"].end());
    QCOMPARE(quint64{(*found)["resident_bytes"].get<std::uint64_t>()}, resident);
    QCOMPARE(quint64{(*found)["streamed_bytes"].get<std::uint64_t>()}, streamed);
    QCOMPARE(object["totals"]["resident_bytes"].get<std::uint64_t>(), 72'379'244'512U);
    QCOMPARE(object["totals"]["streamed_bytes"].get<std::uint64_t>(), 6'539'361'792U);
    QCOMPARE(object["checkpoint"]["weight_bytes"].get<std::uint64_t>(), 72'379'244'512U);
    QCOMPARE(q(object["checkpoint"]["provenance"].get<std::string>()), u"reconstructed"_s);
}

void CommandLineTest::plainText()
{
    const Run run = weirRun({"assess", reference});
    QCOMPARE(run.status, std::optional(0));
    QVERIFY(run.err.empty());
    for (const char *part : {"DGX Spark", "vLLM", "Fits", "60.25 GB", "72.38 GB", "6.54 GB", "9.0 %", "tok/s",
                             "4,096 tokens of context", "Routed experts", "MTP head"})
        QVERIFY2(run.out.find(part) != std::string::npos, part);
    for (const char *wrong : {"?", "nan", "inf", "{", "}"})
        QVERIFY2(run.out.find(wrong) == std::string::npos, wrong);
    // No speed without its context.
    const QString text = q(run.out);
    for (const QString &line : text.split(u'\n')) {
        if (line.contains("tok/s"_L1))
            QVERIFY2(line.contains("of context"_L1), qPrintable(line));
    }
}

void CommandLineTest::keysInOrder()
{
    const Json object = assessed({reference});
    const auto keys = [&object](const char *pointer) {
        return keysOf(object.at(Json::json_pointer(pointer))).join(u' ');
    };
    QCOMPARE(keys(""),
             u"schema checkpoint machine engine workload components totals memory decode prefill turn "
             "warnings"_s);
    QCOMPARE(keys("/checkpoint"),
             u"id source revision format architecture quantization provenance parameters_total "
             "parameters_active repository_bytes weight_bytes files"_s);
    QCOMPARE(keys("/checkpoint/files/0"), u"path bytes listed counted"_s);
    QCOMPARE(keys("/machine"), u"id name nodes memory_bytes usable_bytes bandwidth_bytes_per_second "
                               "readable_bandwidth_bytes_per_second"_s);
    QCOMPARE(keys("/engine"), u"id version kernel_path can_load reason"_s);
    QCOMPARE(
        keys("/workload"),
        u"context_tokens prompt_tokens cached_tokens output_tokens concurrency batch_tokens k_dtype "
        "v_dtype state_dtype draft_method draft_checkpoint draft_tokens acceptance memory_utilization"_s);
    QCOMPARE(keys("/components/0"),
             u"id label parameters tensors resident_bytes streamed_bytes reason dtypes"_s);
    QCOMPARE(keys("/totals"), u"resident_bytes streamed_bytes streamed_fraction"_s);
    QCOMPARE(
        keys("/memory"),
        u"weights_bytes kv_bytes state_bytes activation_bytes runtime_bytes draft_bytes neighbours_bytes "
        "reserve_bytes total_bytes usable_bytes fits margin_bytes load_peak_bytes kv_bytes_per_token "
        "max_context_tokens context_limited_by max_concurrency budget_bytes kv_pool_bytes "
        "kv_pool_tokens safe_utilization"_s);
    QCOMPARE(keys("/decode"),
             u"bytes_per_step bytes seconds_per_step seconds tokens_per_step tokens_per_second low high "
             "aggregate_tokens_per_second bound datasheet_limit_tokens_per_second basis"_s);
    QCOMPARE(keys("/decode/bytes"), u"weights kv state draft"_s);
    QCOMPARE(keys("/decode/seconds"), u"weights kv state draft fixed link"_s);
    QCOMPARE(keys("/decode/basis"), u"from rows"_s);
    QCOMPARE(keys("/warnings/0"), u"id severity title detail source"_s);
    QCOMPARE(q(object["schema"].get<std::string>()), u"weir.assessment/1"_s);
    QStringList ids;
    for (const Json &component : object["components"])
        ids += q(component["id"].get<std::string>());
    QCOMPARE(ids,
             (QStringList{u"routed_experts"_s, u"shared_expert"_s, u"attention"_s, u"linear_attention"_s,
                          u"router"_s, u"embed_tokens"_s, u"lm_head"_s, u"mtp"_s, u"vision"_s, u"norm"_s}));
}

void CommandLineTest::keepsToItsSchema_data()
{
    QTest::addColumn<QStringList>("options");
    const Json catalog = weirRun({"catalog", "--json"}).json();
    for (const Json &item : catalog["items"]) {
        const QString id = q(item["id"].get<std::string>());
        QTest::newRow(qPrintable(id)) << QStringList{id};
    }
    const QString id = q(reference);
    QTest::newRow("does not fit") << QStringList{id, u"--machine"_s, u"rtx-4090"_s};
    QTest::newRow("cannot load") << QStringList{id, u"--engine"_s, u"llama.cpp"_s};
    QTest::newRow("other workload") << QStringList{id,      u"--context"_s, u"0"_s,  u"--concurrency"_s,
                                                   u"64"_s, u"--k-dtype"_s, u"fp8"_s};
    for (const char *recipe :
         {"Q4_K_M", "bf16", "mlx-4bit", "awq,lm_head=int8", "lm_head=int8,shared_expert=fp8"})
        QTest::addRow("quant %s", recipe) << QStringList{id, u"--quant"_s, q(recipe)};
    QTest::newRow("beyond the model")
        << QStringList{id, u"--context"_s, u"1000000000"_s, u"--concurrency"_s, u"100000"_s};
    const Json machines = weirRun({"machines", "--json"}).json();
    for (const Json &item : machines["items"]) {
        const QString machine = q(item["id"].get<std::string>());
        QTest::addRow("on %s", qPrintable(machine))
            << QStringList{u"qwen2.5-7b-q4_k_m"_s, u"--machine"_s, machine};
    }
}

void CommandLineTest::keepsToItsSchema()
{
    QFETCH(const QStringList, options);
    std::vector<std::string> typed;
    for (const QString &option : options)
        typed.push_back(s(option));
    const Json object = assessed(typed);
    std::ifstream stream(fs::path(WEIR_SOURCE_DIR) / "docs" / "assessment.schema.json");
    const JsonSchema schema(nlohmann::json::parse(stream));
    const std::string complaint = schema.complaint(nlohmann::json(object));
    QVERIFY2(complaint.empty(), complaint.c_str());

    // What the numbers must be among themselves.
    std::uint64_t resident = 0;
    std::uint64_t streamed = 0;
    for (const Json &component : object["components"]) {
        resident += component["resident_bytes"].get<std::uint64_t>();
        streamed += component["streamed_bytes"].get<std::uint64_t>();
        std::uint64_t byDtype = 0;
        for (const Json &bytes : component["dtypes"])
            byDtype += bytes.get<std::uint64_t>();
        QCOMPARE(byDtype, component["resident_bytes"].get<std::uint64_t>());
    }
    QCOMPARE(resident, object["totals"]["resident_bytes"].get<std::uint64_t>());
    QCOMPARE(streamed, object["totals"]["streamed_bytes"].get<std::uint64_t>());
    QCOMPARE(resident, object["checkpoint"]["weight_bytes"].get<std::uint64_t>());
    const Json &memory = object["memory"];
    QCOMPARE(memory["margin_bytes"].get<std::int64_t>(),
             memory["usable_bytes"].get<std::int64_t>() - memory["total_bytes"].get<std::int64_t>());
    QCOMPARE(memory["fits"].get<bool>(), memory["margin_bytes"].get<std::int64_t>() >= 0);
    const Json &decode = object["decode"];
    QVERIFY(!decode.is_null() || !object["engine"]["can_load"].get<bool>()
            || object["machine"]["bandwidth_bytes_per_second"].is_null());
    if (!decode.is_null()) {
        std::uint64_t bytes = 0;
        for (const Json &part : decode["bytes"])
            bytes += part.get<std::uint64_t>();
        QCOMPARE(bytes, decode["bytes_per_step"].get<std::uint64_t>());
        double seconds = 0;
        for (const Json &part : decode["seconds"])
            seconds += part.get<double>();
        QVERIFY(std::abs(seconds - decode["seconds_per_step"].get<double>()) < 1e-8);
        QVERIFY(decode["tokens_per_second"] <= decode["datasheet_limit_tokens_per_second"]);
    }
}

void CommandLineTest::schemaDescribesEverything()
{
    // A schema that lets anything pass would pass everything: each required key taken away, or of another
    // type, is a complaint.
    std::ifstream stream(fs::path(WEIR_SOURCE_DIR) / "docs" / "assessment.schema.json");
    const nlohmann::json text = nlohmann::json::parse(stream);
    const JsonSchema schema(text);
    const nlohmann::json object(assessed({reference}));
    QVERIFY(schema.complaint(object).empty());
    for (const char *place : {"", "/checkpoint", "/checkpoint/files/0", "/machine", "/engine", "/workload",
                              "/components/0", "/totals", "/memory", "/decode", "/decode/bytes",
                              "/decode/seconds", "/decode/basis", "/warnings/0"}) {
        const nlohmann::json::json_pointer pointer(place);
        const nlohmann::json &part = object.at(pointer);
        for (const auto &[key, value] : part.items()) {
            nlohmann::json altered = object;
            altered.at(pointer).erase(key);
            QVERIFY2(!schema.complaint(altered).empty(), key.c_str());
            altered = object;
            altered.at(pointer)[key] = nlohmann::json::array({nlohmann::json::array()});
            QVERIFY2(!schema.complaint(altered).empty(), key.c_str());
        }
        nlohmann::json altered = object;
        altered.at(pointer)["another"] = 1;
        QVERIFY2(!schema.complaint(altered).empty(), place);
    }
}

void CommandLineTest::withoutRoundingNoise_data()
{
    QTest::addColumn<QStringList>("arguments");
    for (const char *context : {"0", "1616", "4096", "32768", "131071"}) {
        for (const char *id : {reference, "qwen2.5-7b-q4_k_m", "gpt-oss-120b", "nemotron-3-super-ollama"})
            QTest::addRow("%s at %s", id, context)
                << QStringList{u"assess"_s, q(id), u"--context"_s, q(context)};
    }
    for (const char *command : {"machines", "engines", "catalog"})
        QTest::newRow(command) << QStringList{q(command)};
}

void CommandLineTest::withoutRoundingNoise()
{
    QFETCH(const QStringList, arguments);
    std::vector<std::string> typed{"--json"};
    for (const QString &argument : arguments)
        typed.insert(typed.end() - 1, s(argument));
    const Run run = weirRun(typed);
    QCOMPARE(run.status, std::optional(0));
    // More than 12 significant digits behind a point are noise of binary fractions.
    static const QRegularExpression number(u"[:\\[,]\\s*(-?\\d+\\.\\d+(?:e[+-]?\\d+)?)"_s);
    auto matches = number.globalMatch(q(run.out));
    while (matches.hasNext()) {
        const QString text = matches.next().captured(1);
        QString digits = text.section(u'e', 0, 0);
        digits.remove(u'.').remove(u'-');
        while (digits.startsWith(u'0'))
            digits.remove(0, 1);
        QVERIFY2(digits.size() <= 12, qPrintable(text));
    }
}

void CommandLineTest::workloadIsEchoed()
{
    const Json object =
        assessed({"qwen2.5-7b-q4_k_m", "--machine", "rtx-4090", "--engine", "llama.cpp", "--context", "8192",
                  "--concurrency", "3", "--k-dtype", "q8_0", "--v-dtype", "q4_0", "--reserve", "2GB"});
    QCOMPARE(q(object["machine"]["id"].get<std::string>()), u"rtx-4090"_s);
    QCOMPARE(q(object["engine"]["id"].get<std::string>()), u"llama.cpp"_s);
    const Json &workload = object["workload"];
    QCOMPARE(workload["context_tokens"].get<int>(), 8192);
    QCOMPARE(workload["concurrency"].get<int>(), 3);
    QCOMPARE(q(workload["k_dtype"].get<std::string>()), u"q8_0"_s);
    QCOMPARE(q(workload["v_dtype"].get<std::string>()), u"q4_0"_s);
    QCOMPARE(object["memory"]["reserve_bytes"].get<std::uint64_t>(), 2'000'000'000U);
    // 28 layers, 4 heads of 128: 512 x (34 + 18) / 32 bytes a token.
    QCOMPARE(object["memory"]["kv_bytes_per_token"].get<std::uint64_t>(), 28U * 512 * 52 / 32);
    QCOMPARE(object["decode"]["bytes"]["kv"].get<std::uint64_t>(),
             std::uint64_t{3} * 8192 * 28 * 512 * 52 / 32);

    const Json defaults = assessed({reference});
    QCOMPARE(q(defaults["machine"]["id"].get<std::string>()), u"dgx-spark"_s);
    QCOMPARE(defaults["workload"]["context_tokens"].get<int>(), 4096);
    QCOMPARE(defaults["workload"]["concurrency"].get<int>(), 1);
    QCOMPARE(q(defaults["workload"]["draft_method"].get<std::string>()), u"none"_s);
}

void CommandLineTest::componentsDoNotChangeWithOptions()
{
    const Json plain = assessed({reference});
    const Json other = assessed({reference, "--context", "100000", "--concurrency", "16", "--machine",
                                 "strix-halo-128", "--engine", "llama.cpp", "--reserve", "0"});
    QCOMPARE(plain["components"] == other["components"], true);
    QCOMPARE(plain["totals"] == other["totals"], true);
    QCOMPARE(plain["checkpoint"] == other["checkpoint"], true);
}

void CommandLineTest::engineByFormat_data()
{
    QTest::addColumn<QString>("checkpoint");
    QTest::addColumn<QString>("engine");
    QTest::newRow("safetensors") << q(reference) << u"vllm"_s;
    QTest::newRow("GGUF") << u"gpt-oss-20b-mxfp4-gguf"_s << u"llama.cpp"_s;
    QTest::newRow("MLX") << u"qwen3-30b-a3b-mlx-4bit"_s << u"mlx"_s;
    QTest::newRow("Ollama") << u"qwen2.5-7b-q4_k_m"_s << u"ollama"_s;
    QTest::newRow("Ollama by its name") << u"ollama:qwen3.5:122b"_s << u"ollama"_s;
}

void CommandLineTest::engineByFormat()
{
    QFETCH(const QString, checkpoint);
    QFETCH(const QString, engine);
    QCOMPARE(q(assessed({s(checkpoint)})["engine"]["id"].get<std::string>()), engine);
}

void CommandLineTest::reserveUnits_data()
{
    QTest::addColumn<QString>("typed");
    QTest::addColumn<quint64>("bytes");
    const auto row = [](const char *typed, quint64 bytes) { QTest::newRow(typed) << q(typed) << bytes; };
    row("0", 0);
    row("19600000000", 19'600'000'000);
    row("19.6GB", 19'600'000'000);
    row("19.6 GB", 19'600'000'000);
    row("18GiB", 19'327'352'832);
    row("18 GiB", 19'327'352'832);
    row("512MiB", 536'870'912);
    row("1KiB", 1024);
    row("1kB", 1000);
    row("250MB", 250'000'000);
    row("7B", 7);
    row("0.5GiB", 536'870'912);
    row("1.", 1);
}

void CommandLineTest::reserveUnits()
{
    QFETCH(const QString, typed);
    QFETCH(const quint64, bytes);
    QCOMPARE(quint64{assessed({"qwen2.5-7b-q4_k_m", "--reserve", s(typed)})["memory"]["reserve_bytes"]
                         .get<std::uint64_t>()},
             bytes);
}

void CommandLineTest::otherQuantization()
{
    const Json as = assessed({reference});
    // What it is already.
    QVERIFY(assessed({reference, "--quant", "AutoRound"}) == as);
    // The two changes that made the published recipe faster.
    const Json changed = assessed({reference, "--quant", "lm_head=int8,shared_expert=fp8"});
    QCOMPARE(q(changed["checkpoint"]["quantization"].get<std::string>()),
             u"autoround+shared_expert=fp8+lm_head=int8"_s);
    QCOMPARE(q(changed["checkpoint"]["provenance"].get<std::string>()), u"config"_s);
    QVERIFY(changed["checkpoint"]["repository_bytes"].is_null());
    QVERIFY(changed["checkpoint"]["files"].empty());
    const auto bytes = [](const Json &object, const char *component) {
        for (const Json &each : object["components"]) {
            if (each["id"] == component)
                return each["resident_bytes"].get<std::uint64_t>();
        }
        return std::uint64_t{0};
    };
    QCOMPARE(bytes(changed, "lm_head"), std::uint64_t{248320} * 3072 + 248320 * 2);
    QCOMPARE(bytes(changed, "routed_experts"), bytes(as, "routed_experts"));
    QVERIFY(changed["decode"]["tokens_per_second"] > as["decode"]["tokens_per_second"]);
    // The engine goes by the format that it would have.
    const Json gguf = assessed({reference, "--quant", "q4_k_m"});
    QCOMPARE(q(gguf["engine"]["id"].get<std::string>()), u"llama.cpp"_s);
    QCOMPARE(q(gguf["checkpoint"]["format"].get<std::string>()), u"gguf"_s);
    QCOMPARE(bytes(gguf, "vision"), std::uint64_t{0});
}

void CommandLineTest::requireFit()
{
    const std::vector<std::string> fits{"assess", "qwen2.5-7b-q4_k_m", "--require-fit"};
    QCOMPARE(weirRun(fits).status, std::optional(0));
    std::vector<std::string> unfit{"assess", reference, "--machine", "rtx-4090", "--require-fit"};
    Run run = weirRun(unfit);
    QCOMPARE(run.status, std::optional(6));
    QVERIFY(run.out.find("Does not fit") != std::string::npos);
    unfit.emplace_back("--json");
    run = weirRun(unfit);
    QCOMPARE(run.status, std::optional(6));
    QCOMPARE(run.json()["memory"]["fits"].get<bool>(), false);
    unfit.erase(unfit.end() - 2);
    QCOMPARE(weirRun(unfit).status, std::optional(0));
}

void CommandLineTest::notPredictedIsNull()
{
    const Json object = assessed({reference});
    for (const char *place : {"/prefill", "/turn", "/memory/load_peak_bytes", "/memory/safe_utilization",
                              "/workload/prompt_tokens", "/workload/cached_tokens", "/workload/output_tokens",
                              "/workload/acceptance", "/engine/kernel_path"})
        QVERIFY2(object.at(Json::json_pointer(place)).is_null(), place);
    // Null is unknown, with a warning that says so.
    const auto found = std::ranges::find_if(object["warnings"],
                                            [](const Json &each) { return each["id"] == "not-predicted"; });
    QVERIFY(found != object["warnings"].end());
    // A catalog entry whose repository size nobody knows.
    const Json gguf = assessed({"qwen3.5-122b-q4_k_m"});
    QVERIFY(gguf["checkpoint"]["repository_bytes"].is_null());
    // Where it cannot load no speed is given, and the reason is.
    const Json mlx = assessed({"qwen3-30b-a3b-mlx-4bit"});
    QCOMPARE(mlx["engine"]["can_load"].get<bool>(), false);
    QVERIFY(mlx["decode"].is_null());
    QVERIFY(mlx["engine"]["reason"].get<std::string>().ends_with('.'));
}

void CommandLineTest::machines()
{
    const Run run = weirRun({"machines", "--json"});
    QCOMPARE(run.status, std::optional(0));
    const Json object = run.json();
    QCOMPARE(keysOf(object), (QStringList{u"schema"_s, u"items"_s}));
    QCOMPARE(q(object["schema"].get<std::string>()), u"weir.machines/1"_s);
    std::set<std::string> ids;
    for (const Json &item : object["items"]) {
        QCOMPARE(keysOf(item).join(u' '), u"id name vendor memory_kind memory_bytes usable_bytes "
                                          "bandwidth_bytes_per_second readable_bandwidth_bytes_per_second "
                                          "reserve_bytes sources note"_s);
        ids.insert(item["id"].get<std::string>());
    }
    for (const char *id : {"dgx-spark", "strix-halo-128", "rtx-4090", "rtx-3090", "rtx-5090"})
        QVERIFY2(ids.contains(id), id);
    const Json &spark = object["items"][0];
    QCOMPARE(spark["memory_bytes"].get<std::uint64_t>(), std::uint64_t{128} << 30U);
    QCOMPARE(spark["bandwidth_bytes_per_second"].get<std::uint64_t>(), 273'000'000'000U);
    const Run text = weirRun({"machines"});
    QCOMPARE(text.status, std::optional(0));
    for (const std::string &id : ids)
        QVERIFY2(text.out.find(id) != std::string::npos, id.c_str());
}

void CommandLineTest::engines()
{
    const Json object = weirRun({"engines", "--json"}).json();
    QCOMPARE(keysOf(object), (QStringList{u"schema"_s, u"items"_s}));
    QCOMPARE(q(object["schema"].get<std::string>()), u"weir.engines/1"_s);
    QStringList ids;
    for (const Json &item : object["items"]) {
        ids += q(item["id"].get<std::string>());
        QVERIFY(!item["formats"].empty());
        QVERIFY(!item["kv_dtypes"].empty());
        QVERIFY(!item["speed"].empty());
    }
    ids.sort();
    QCOMPARE(ids,
             (QStringList{u"llama.cpp"_s, u"mlx"_s, u"ollama"_s, u"sglang"_s, u"tensorrt-llm"_s, u"vllm"_s}));
    QVERIFY(weirRun({"engines"}).out.find("llama.cpp") != std::string::npos);
}

void CommandLineTest::catalog()
{
    const Json object = weirRun({"catalog", "--json"}).json();
    QCOMPARE(keysOf(object).mid(0, 1), QStringList{u"schema"_s});
    QVERIFY(object.contains("items"));
    QCOMPARE(q(object["schema"].get<std::string>()), u"weir.catalog/1"_s);
    QVERIFY(object["items"].size() >= 30);
    const std::string text = weirRun({"catalog"}).out;
    for (const Json &item : object["items"]) {
        QCOMPARE(keysOf(item).join(u' '),
                 u"id name repository ollama format quantization provenance architecture weight_bytes "
                 "parameters_total parameters_active moe date note"_s);
        QVERIFY(text.find(item["id"].get<std::string>()) != std::string::npos);
        QVERIFY(item["parameters_active"] <= item["parameters_total"]);
    }
}

void CommandLineTest::paths()
{
    const fs::path here = fs::current_path();
    writeModel(here / "model");
    const auto source = [](const std::string &path) {
        const Run run = weirRun({"assess", path, "--json"});
        return run.status == std::optional(0) ? q(run.json()["checkpoint"]["source"].get<std::string>())
                                              : q(run.err);
    };
    QCOMPARE(source("./model"), u"folder"_s);
    QCOMPARE(source("model"), u"folder"_s);
    QCOMPARE(source("model/"), u"folder"_s);
    QCOMPARE(source((here / "model").string()), u"folder"_s);
    QCOMPARE(source("./model/model.safetensors"), u"file"_s);
    QCOMPARE(source("model/config.json"), u"folder"_s);
    QCOMPARE(source("../" + here.filename().string() + "/model"), u"folder"_s);
    qputenv("HOME", QByteArray::fromStdString(here.string()));
    QCOMPARE(source("~/model"), u"folder"_s);
    fs::current_path(here / "model");
    QCOMPARE(source("."), u"folder"_s);
    fs::current_path(here);
    // The name is the folder's, whatever the path looks like.
    QCOMPARE(q(weirRun({"assess", "./model/"}).out.substr(0, 9)), u"model on "_s);

    // A path stays a path: it is never looked up in the catalog.
    for (const char *absent :
         {"./nothing", "../nothing", "/nothing/at/all", "~/nothing", "./qwen2.5-7b-q4_k_m"}) {
        const Run run = weirRun({"assess", absent, "--json"});
        QCOMPARE(run.status, std::optional(3));
        QCOMPARE(q(run.json()["error"]["id"].get<std::string>()), u"file.not-found"_s);
        QVERIFY(isOneSentence(run.err));
    }
    const Run unknown = weirRun({"assess", "no-such-model", "--json"});
    QCOMPARE(unknown.status, std::optional(3));
    QCOMPARE(q(unknown.json()["error"]["id"].get<std::string>()), u"open.unknown"_s);
    QCOMPARE(q(unknown.json()["error"]["subject"].get<std::string>()), u"no-such-model"_s);
    // An option of an issue to come is not a checkpoint either.
    QCOMPARE(weirRun({"assess", ""}).status, std::optional(2));
}

void CommandLineTest::existingFileWins()
{
    writeModel(fs::current_path() / "qwen2.5-7b-q4_k_m");
    const Json object = assessed({"qwen2.5-7b-q4_k_m"});
    QCOMPARE(q(object["checkpoint"]["source"].get<std::string>()), u"folder"_s);
    QCOMPARE(object["checkpoint"]["weight_bytes"].get<std::uint64_t>(), 384U);
    fs::remove_all("qwen2.5-7b-q4_k_m");
    QCOMPARE(q(assessed({"qwen2.5-7b-q4_k_m"})["checkpoint"]["source"].get<std::string>()), u"catalog"_s);
    // By the repository of an entry.
    QCOMPARE(q(assessed({"openai/gpt-oss-20b"})["checkpoint"]["id"].get<std::string>()), u"gpt-oss-20b"_s);
}

void CommandLineTest::aConfigAlone()
{
    const fs::path folder = fs::current_path() / "alone";
    fs::create_directories(folder);
    nlohmann::json config = llamaConfig();
    config["intermediate_size"] = 16;
    writeFile(folder / "config.json", config.dump());
    for (const char *argument : {"alone", "alone/config.json"}) {
        const Json checkpoint = assessed({argument})["checkpoint"];
        QCOMPARE(q(checkpoint["source"].get<std::string>()), u"config"_s);
        QCOMPARE(q(checkpoint["provenance"].get<std::string>()), u"config"_s);
        // Two tables of 16 x 8; one layer of 4 x 64, 3 x 128 and two norms; the last norm.
        QCOMPARE(checkpoint["parameters_total"].get<std::uint64_t>(), 256U + 656U + 8U);
        QCOMPARE(checkpoint["weight_bytes"].get<std::uint64_t>(), 2 * 920U);
        QVERIFY(checkpoint["files"].empty());
        QVERIFY(checkpoint["repository_bytes"].is_null());
    }
}

void CommandLineTest::badInput_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("argument");
    QTest::addColumn<QString>("id");
    const auto row = [](const char *kind, const char *argument, const char *id) {
        QTest::newRow(kind) << q(kind) << q(argument) << q(id);
    };
    row("empty safetensors", "m/model.safetensors", "file.empty");
    row("empty GGUF", "m/a.gguf", "file.empty");
    row("empty file of no kind", "m/notes.txt", "file.empty");
    row("page as config", "m", "json.html");
    row("page as GGUF", "m/a.gguf", "json.html");
    row("overlap", "m", "safetensors.overlap");
    row("header of 2^63", "m", "safetensors.header-length");
    row("missing shard", "m", "folder.missing-shard");
    row("truncated GGUF", "m/a.gguf", "gguf.truncated");
    row("GGUF cut in its header", "m/a.gguf", "gguf.truncated-header");
    row("empty folder", "m", "folder.no-model");
    row("config alone, of nobody", "m", "derive.unknown-architecture");
    row("config alone, without heads", "m", "derive.bad-number");
    row("config and a copy", "m", "folder.config-only");
    row("weights alone", "m", "folder.no-config");
    row("some other file", "m/notes.txt", "file.unknown-kind");
    row("config cut off", "m", "json.invalid");
    row("config is a list", "m", "json.not-object");
    row("config with absurd numbers", "m", "config.bad-number");
}

void CommandLineTest::badInput()
{
    QFETCH(const QString, kind);
    QFETCH(const QString, argument);
    QFETCH(const QString, id);
    const fs::path folder = fs::current_path() / "m";
    fs::create_directories(folder);
    const auto is = [&kind](const char *name) { return kind == q(name); };
    GgufBuilder gguf;
    gguf.string("general.architecture", "llama").u32("llama.block_count", 1);
    gguf.tensor("token_embd.weight", "F32", {64, 4});
    const std::string config = llamaConfig().dump();
    if (is("empty safetensors")) {
        writeFile(folder / "config.json", config);
        writeFile(folder / "model.safetensors", "");
    } else if (is("empty GGUF")) {
        writeFile(folder / "a.gguf", "");
    } else if (is("empty file of no kind")) {
        writeFile(folder / "notes.txt", "");
    } else if (is("page as config")) {
        writeModel(folder);
        writeFile(folder / "config.json", "<!doctype html><html><body>Not found</body></html>");
    } else if (is("page as GGUF")) {
        writeFile(folder / "a.gguf", "<!DOCTYPE html><html><body>Not found</body></html>");
    } else if (is("overlap")) {
        writeFile(folder / "config.json", config);
        SafetensorsBuilder builder;
        builder.add("a", "U8", {4});
        nlohmann::json header = nlohmann::json::parse(builder.header());
        header["b"] = header["a"];
        writeFile(folder / "model.safetensors", SafetensorsBuilder::prefixed(header.dump()) + "1234");
    } else if (is("header of 2^63")) {
        writeFile(folder / "config.json", config);
        writeFile(folder / "model.safetensors", SafetensorsBuilder::length(std::uint64_t{1} << 63U) + "{}");
    } else if (is("missing shard")) {
        writeModel(folder);
        writeFile(folder / "model.safetensors.index.json", R"({"weight_map": {"a": "b.safetensors"}})");
    } else if (is("truncated GGUF")) {
        writeFile(folder / "a.gguf", gguf.header());
    } else if (is("GGUF cut in its header")) {
        writeFile(folder / "a.gguf", gguf.header().substr(0, 60));
    } else if (is("config alone, of nobody")) {
        writeFile(folder / "config.json", R"({"model_type":"nobody-knows","num_hidden_layers":2})");
    } else if (is("config alone, without heads")) {
        nlohmann::json altered = llamaConfig();
        altered["num_attention_heads"] = 0;
        writeFile(folder / "config.json", altered.dump());
    } else if (is("config and a copy")) {
        writeFile(folder / "config.json", config);
        writeFile(folder / "original" / "model.safetensors", "");
    } else if (is("weights alone")) {
        writeModel(folder);
        fs::remove(folder / "config.json");
    } else if (is("some other file")) {
        writeFile(folder / "notes.txt", "hello");
    } else if (is("config cut off")) {
        writeModel(folder);
        writeFile(folder / "config.json", config.substr(0, 30));
    } else if (is("config is a list")) {
        writeModel(folder);
        writeFile(folder / "config.json", "[1, 2]");
    } else if (is("config with absurd numbers")) {
        writeModel(folder);
        nlohmann::json altered = llamaConfig();
        altered["hidden_size"] = -8;
        writeFile(folder / "config.json", altered.dump());
    }
    const Run run = weirRun({"assess", s(argument)});
    QCOMPARE(run.status, std::optional(3));
    QVERIFY(run.out.empty());
    QVERIFY2(isOneSentence(run.err), run.err.c_str());
    const Run json = weirRun({"assess", s(argument), "--json"});
    QCOMPARE(json.status, std::optional(3));
    QCOMPARE(q(json.json()["error"]["id"].get<std::string>()), id);
    QVERIFY(!json.json()["error"]["subject"].get<std::string>().empty());
    QCOMPARE(q(json.err), q(run.err));
}

void CommandLineTest::otherKinds_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("id");
    const auto row = [](const char *kind, const char *id) { QTest::newRow(kind) << q(kind) << q(id); };
    row("adapter", "folder.adapter");
    row("diffusion", "folder.diffusion");
    row("speech", "config.not-language-model");
    row("encoder", "config.not-language-model");
    row("embedding", "folder.embedding");
    row("projector", "gguf.not-language-model");
}

void CommandLineTest::otherKinds()
{
    QFETCH(const QString, kind);
    QFETCH(const QString, id);
    const fs::path folder = fs::current_path() / "m";
    SafetensorsBuilder weights;
    weights.add("a.weight", "F32", {8, 8});
    if (kind == "adapter"_L1) {
        writeFile(folder / "adapter_config.json",
                  R"({"base_model_name_or_path": "a/b", "peft_type": "LORA"})");
        weights.write(folder / "adapter_model.safetensors");
    } else if (kind == "diffusion"_L1) {
        writeFile(folder / "model_index.json", R"({"_class_name": "StableDiffusionPipeline"})");
        weights.write(folder / "unet" / "diffusion_pytorch_model.safetensors");
    } else if (kind == "speech"_L1) {
        writeFile(folder / "config.json",
                  nlohmann::json{{"architectures", {"WhisperForConditionalGeneration"}},
                                 {"model_type", "whisper"},
                                 {"is_encoder_decoder", true}}
                      .dump());
        weights.write(folder / "model.safetensors");
    } else if (kind == "encoder"_L1) {
        writeFile(folder / "config.json", nlohmann::json{{"architectures", {"BertForMaskedLM"}},
                                                         {"model_type", "bert"},
                                                         {"num_hidden_layers", 2}}
                                              .dump());
        weights.write(folder / "model.safetensors");
    } else if (kind == "embedding"_L1) {
        writeModel(folder);
        writeFile(folder / "modules.json", "[]");
        writeFile(folder / "1_Pooling" / "config.json", "{}");
    } else {
        GgufBuilder gguf;
        gguf.string("general.architecture", "clip").tensor("v.a", "F32", {8}).write(folder / "a.gguf");
    }
    const Run run = weirRun({"assess", "m", "--json"});
    QCOMPARE(run.status, std::optional(7));
    QCOMPARE(q(run.json()["error"]["id"].get<std::string>()), id);
    QVERIFY2(isOneSentence(run.err), run.err.c_str());
    const Run plain = weirRun({"assess", "m"});
    QCOMPARE(plain.status, std::optional(7));
    QCOMPARE(q(plain.err), q(run.err));
    // What is known is still printed: in the sentence, in a table, and as facts.
    QVERIFY(plain.out.find("What it is") != std::string::npos);
    const nlohmann::json facts = run.json()["error"]["facts"];
    QVERIFY(facts["kind"].is_string());
    QVERIFY(facts["parameters"].is_number_unsigned());
    QVERIFY(facts["files"].get<std::uint64_t>() >= 1);
    if (kind == "adapter"_L1) {
        QCOMPARE(q(facts["base"].get<std::string>()), u"a/b"_s);
        QCOMPARE(facts["weights"].get<std::uint64_t>(), 256U);
        QVERIFY(run.err.find("a/b, to which it adds 256 bytes") != std::string::npos);
        QVERIFY(plain.out.find("Base model") != std::string::npos);
    }
    QVERIFY2(QRegularExpression(u"\\d|Whisper|Bert|clip"_s).match(q(run.err)).hasMatch(), run.err.c_str());
}

void CommandLineTest::hostileNames()
{
    // Names that steer a terminal come out harmless, in sentences and in JSON.
    const std::string name = "./no\x1b[31m\nsuch\r\xE2\x80\xAEmodel";
    const Run run = weirRun({"assess", name, "--json"});
    QCOMPARE(run.status, std::optional(3));
    QVERIFY2(isOneSentence(run.err), run.err.c_str());
    QVERIFY(run.err.find("\xE2\x80\xAE") == std::string::npos);
    QVERIFY(!run.json().is_discarded());
    // Not UTF-8: refused or printed, but never a crash and always JSON.
    const Run bytes = weirRun({"assess", "./\xFF\xFE", "--json"});
    QCOMPARE(bytes.status, std::optional(3));
    QVERIFY(!bytes.json().is_discarded());
    // A model in a folder with such a name is read like any other.
    for (const char *odd : {"./\xFF\xFE", "./\xED\xA0\x80", "./a\nb"}) {
        writeModel(odd);
        const Run model = weirRun({"assess", odd, "--json"});
        QCOMPARE(model.status, std::optional(0));
        QCOMPARE(model.json()["checkpoint"]["weight_bytes"].get<std::uint64_t>(), 384U);
        const Run shown = weirRun({"assess", odd});
        QCOMPARE(shown.status, std::optional(0));
        const QString text = q(shown.out);
        QCOMPARE(text.toUtf8(), QByteArray::fromStdString(shown.out));
        QVERIFY(!text.contains(QChar::ReplacementCharacter));
    }
    const Run option = weirRun({"assess", reference, "--machine", "\xFF\x1b[0m", "--json"});
    QCOMPARE(option.status, std::optional(2));
    QVERIFY(!option.json().is_discarded());
    const Run reserve = weirRun({"assess", reference, "--reserve", "1\n\x1b[0m", "--json"});
    QCOMPARE(reserve.status, std::optional(2));
    QVERIFY2(isOneSentence(reserve.err), reserve.err.c_str());
    const Run flag = weirRun({"assess", reference, "--\xFF\n", "--json"});
    QCOMPARE(flag.status, std::optional(2));
    QVERIFY(!flag.json().is_discarded());
    QVERIFY2(isOneSentence(flag.err), flag.err.c_str());
}

void CommandLineTest::damagedData()
{
    const fs::path data = fs::current_path() / "data";
    fs::copy(fs::path(WEIR_SOURCE_DIR) / "data", data, fs::copy_options::recursive);
    qputenv("WEIR_DATA_DIR", QByteArray::fromStdString(data.string()));
    QCOMPARE(weirRun({"machines"}).status, std::optional(0));
    for (const char *file : {"machines.json", "engines.json", "measurements.csv", "catalog/index.json"}) {
        const std::string whole = [&] {
            std::ifstream stream(data / file, std::ios::binary);
            return std::string(std::istreambuf_iterator<char>(stream), {});
        }();
        writeFile(data / file, "{");
        const Run run = weirRun({"assess", reference, "--json"});
        QCOMPARE(run.status, std::optional(3));
        QVERIFY2(isOneSentence(run.err), run.err.c_str());
        QVERIFY(run.json().contains("error"));
        writeFile(data / file, whole);
    }
    writeFile(data / "catalog" / "gpt-oss-20b.json", "{}");
    QCOMPARE(weirRun({"assess", "gpt-oss-20b"}).status, std::optional(3));
    qputenv("WEIR_DATA_DIR", QByteArray::fromStdString((data / "nowhere").string()));
    const Run missing = weirRun({"catalog", "--json"});
    QCOMPARE(missing.status, std::optional(3));
    QCOMPARE(q(missing.json()["error"]["id"].get<std::string>()), u"data.dir-missing"_s);
}

void CommandLineTest::exitStatuses()
{
    QCOMPARE(exitStatusOf(ErrorKind::Usage), 2);
    QCOMPARE(exitStatusOf(ErrorKind::NotFound), 3);
    QCOMPARE(exitStatusOf(ErrorKind::Unreadable), 3);
    QCOMPARE(exitStatusOf(ErrorKind::Network), 4);
    QCOMPARE(exitStatusOf(ErrorKind::Access), 5);
    QCOMPARE(exitStatusOf(ErrorKind::NotLanguageModel), 7);
}

QTEST_GUILESS_MAIN(CommandLineTest)
#include "tst_commandline.moc"

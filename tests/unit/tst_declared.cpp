// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a lone config declares about quantization, applied to the unquantized shapes of the same model; and the
// bounded patterns that its exclusion lists are matched with.
#include "models/base/boundedpattern.h"
#include "models/base/tolerantjson.h"
#include "models/checkpoint/declaredquantization.h"
#include "models/checkpoint/modulenames.h"
#include "models/checkpoint/unquantized.h"
#include "models/sources/open.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QElapsedTimer>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

Json readConfig(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    const Result<Json> parsed = parseTolerant(text, file.string());
    return parsed ? *parsed : Json();
}

bool glob(std::string_view pattern, std::string_view text)
{
    MatchBudget budget;
    return matchesGlob(pattern, text, budget);
}

TensorGroup matrix(const char *pattern, Component component, Role role, std::vector<std::uint64_t> shape,
                   std::vector<std::uint32_t> layers)
{
    TensorGroup group;
    group.pattern = pattern;
    group.component = component;
    group.role = role;
    group.layers = std::move(layers);
    group.dtype = "BF16";
    group.shape = std::move(shape);
    group.count = std::max<std::size_t>(1, group.layers.size());
    group.parameters = group.count;
    for (const std::uint64_t each : group.shape)
        group.parameters *= each;
    group.bytes = group.parameters * 2;
    return group;
}

/// Four layers with stacked experts, as a lone config is derived.
Checkpoint smallModel()
{
    Checkpoint checkpoint;
    checkpoint.format = Format::Safetensors;
    checkpoint.provenance = Provenance::Config;
    checkpoint.spec.architecture = "Qwen3MoeForCausalLM";
    checkpoint.spec.layers = 4;
    checkpoint.spec.hiddenSize = 256;
    checkpoint.spec.experts = 8;
    checkpoint.spec.dtype = "BF16";
    const std::vector<std::uint32_t> all{0, 1, 2, 3};
    checkpoint.groups = {
        matrix("model.layers.N.mlp.experts.gate_up_proj", Component::RoutedExperts, Role::GateUp,
               {8, 1024, 256}, all),
        matrix("model.layers.N.mlp.experts.down_proj", Component::RoutedExperts, Role::Down, {8, 256, 512},
               all),
        matrix("model.layers.N.self_attn.q_proj.weight", Component::Attention, Role::Query, {256, 256}, all),
        matrix("model.layers.N.mlp.gate.weight", Component::Router, Role::RouterWeight, {8, 256}, all),
        matrix("model.embed_tokens.weight", Component::EmbedTokens, Role::Embedding, {512, 256}, {}),
        matrix("lm_head.weight", Component::LmHead, Role::Head, {512, 256}, {}),
    };
    finish(checkpoint);
    return checkpoint;
}

Result<Checkpoint> applied(const char *config, const Checkpoint &source = smallModel())
{
    return applyDeclaredQuantization(source, Json::parse(config), nullptr, ModelConfig{});
}

std::uint64_t bytesOf(const Checkpoint &checkpoint, Component component, std::string_view dtype)
{
    const ComponentSum *sum = checkpoint.sum(component);
    const auto found = sum == nullptr ? std::map<std::string, std::uint64_t>::const_iterator{}
                                      : sum->bytesByDtype.find(std::string(dtype));
    return sum == nullptr || found == sum->bytesByDtype.end() ? 0 : found->second;
}

} // namespace

class DeclaredTest : public QObject
{
    Q_OBJECT

private slots:
    void globs();
    void regexes_data();
    void regexes();
    void patternsStayBounded();
    void moduleNames();
    void nothingDeclared();
    void excludesByLayer();
    void mixedPrecision();
    void mxfp4KeepsStacks();
    void mlxOverrides();
    void unknownIsRefused_data();
    void unknownIsRefused();
    void hostileLists();
    void understandsPublishedConfigs();
    void agreesWithForged_data();
    void agreesWithForged();

private:
    fs::path expand(const std::string &repository);

    std::map<std::string, std::unique_ptr<QTemporaryDir>> m_folders;
    std::map<std::string, fs::path> m_paths;
};

void DeclaredTest::globs()
{
    QVERIFY(glob("mtp*", "mtp.layers.0"));
    QVERIFY(glob("*.attn.*", "a.attn.b"));
    QVERIFY(!glob("*.attn.*", "attn.b"));
    QVERIFY(glob("layers.?.mlp", "layers.7.mlp"));
    QVERIFY(!glob("layers.?.mlp", "layers.17.mlp"));
    QVERIFY(glob("*", ""));
    QVERIFY(!glob("", "a"));
    QVERIFY(glob("a*b*c", "a-b-b-c"));
    QVERIFY(!glob("a*b*c", "a-b-b"));
}

void DeclaredTest::regexes_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("outcome"); // 1 matches, 0 does not, -1 is not understood
    const auto row = [](const char *pattern, const char *text, int outcome) {
        QTest::addRow("%s %s", pattern, text)
            << QString::fromLatin1(pattern) << QString::fromLatin1(text) << outcome;
    };
    row(".*self_attn.*", "model.layers.3.self_attn.q_proj", 1);
    row(".*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.gate_up_proj", 1);
    row(".*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.experts.0.gate_proj", 0);
    row("model", "model.layers", 1); // anchored at the start, not at the end
    row("layers", "model.layers", 0);
    row("model$", "model.layers", 0);
    row("^model", "model", 1);
    row("layers\\.(\\d|1\\d)\\.mlp", "layers.12.mlp", 1);
    row("layers\\.[0-3]\\.", "layers.4.x", 0);
    row("layers\\.[^0-3]\\.", "layers.4.x", 1);
    row("a{2,3}b", "aab", 1);
    row("a{2,3}b", "aaaab", 0);
    row("a{2,}b", "aaaaab", 1);
    row("(?:ab)+?c", "ababc", 1);
    row("a??b", "b", 1);
    row("()*x", "x", 1);
    row("[]a]", "]", 1);
    row("\\w+\\.\\w+", "a_1.b", 1);
    row("(?!mtp).*", "a", -1);
    row("(a)\\1", "aa", -1);
    row("(", "", -1);
    row("a)", "a", -1);
    row("[a", "a", -1);
    row("*a", "a", -1);
    row("a{3,2}", "a", -1);
    row("a\\", "a", -1);
}

void DeclaredTest::regexes()
{
    QFETCH(const QString, pattern);
    QFETCH(const QString, text);
    QFETCH(const int, outcome);
    const auto regex = BoundedRegex::compile(s(pattern));
    QCOMPARE(regex.has_value(), outcome >= 0);
    MatchBudget budget;
    if (regex)
        QCOMPARE(regex->matchesStart(s(text), budget), outcome == 1);
}

void DeclaredTest::patternsStayBounded()
{
    QElapsedTimer timer;
    timer.start();
    // Backtracking would take longer than the universe has been there.
    const auto regex = BoundedRegex::compile("(((a*)*)*)*b");
    QVERIFY(regex.has_value());
    MatchBudget budget;
    QVERIFY(!regex->matchesStart(std::string(2'000, 'a'), budget));
    QVERIFY(!budget.exhausted());
    QVERIFY(!glob("*a*a*a*a*a*a*a*a*a*b", std::string(5'000, 'a')));
    QVERIFY(!BoundedRegex::compile("(((a{100}){100}){100}){100}"));
    QVERIFY(!BoundedRegex::compile(std::string(5'000, 'a')));
    QVERIFY(!BoundedRegex::compile(std::string(1'000, '(')));
    QVERIFY(timer.elapsed() < 5'000);

    MatchBudget little{1'000};
    QVERIFY(!regex->matchesStart(std::string(2'000, 'a') + 'b', little));
    QVERIFY(little.exhausted());
}

void DeclaredTest::moduleNames()
{
    ModuleNames names;
    QVERIFY(names.empty());
    QVERIFY(names.add("lm_head", 1));
    QVERIFY(names.add("gate", 2));
    QVERIFY(names.add("model.layers.0.mlp", 3));
    QVERIFY(names.add("model.language_model.layers.1.self_attn*", 4));
    QVERIFY(names.add("re:.*shared_expert.*", 5));
    QVERIFY(names.add("*.visual.*", 6));
    QVERIFY(names.add("model.norm", 7));
    QVERIFY(names.add("re:(?=x)", 8));
    MatchBudget budget;
    const auto find = [&](std::string_view module) { return names.find(module, budget); };
    QCOMPARE(find("lm_head"), std::size_t{1});
    QCOMPARE(find("model.layers.5.mlp.gate"), std::size_t{2});
    QCOMPARE(find("model.layers.5.mlp.gate_proj"), ModuleNames::none);
    QCOMPARE(find("language_model.model.layers.0.mlp.up_proj"), std::size_t{3});
    QCOMPARE(find("model.layers.10.mlp.up_proj"), ModuleNames::none);
    QCOMPARE(find("model.layers.1.self_attn.q_proj"), std::size_t{4});
    QCOMPARE(find("model.layers.11.self_attn.q_proj"), ModuleNames::none);
    QCOMPARE(find("model.layers.7.mlp.shared_expert.up_proj"), std::size_t{5});
    QCOMPARE(find("model.visual.blocks.0"), std::size_t{6});
    QCOMPARE(find("model.layers.0.norm"), ModuleNames::none); // only the last norm was named
    QCOMPARE(find("model.norm"), std::size_t{7});
    QCOMPARE(names.unsupported(), std::size_t{1});
}

void DeclaredTest::nothingDeclared()
{
    const Checkpoint source = smallModel();
    const Result<Checkpoint> made = applied("{}");
    QCOMPARE(outcome(made), u"ok"_s);
    QCOMPARE(made->weightBytes(), source.weightBytes());
    QCOMPARE(made->groups.size(), source.groups.size());
}

void DeclaredTest::excludesByLayer()
{
    const Result<Checkpoint> made = applied(R"({"quantization_config": {"quant_method": "fp8",
        "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head", "model.layers.2.self_attn"]}})");
    QCOMPARE(outcome(made), u"ok"_s);
    QCOMPARE(bytesOf(*made, Component::Attention, "F8_E4M3"), std::uint64_t{3 * 256 * 256});
    QCOMPARE(bytesOf(*made, Component::Attention, "BF16"), std::uint64_t{256 * 256 * 2 + 3 * 4 * 2});
    // A matrix an expert: blocks of the gate and of the up projection do not mix.
    QCOMPARE(bytesOf(*made, Component::RoutedExperts, "F8_E4M3"), std::uint64_t{4 * 8 * 3 * 512 * 256});
    QCOMPARE(bytesOf(*made, Component::RoutedExperts, "BF16"), std::uint64_t{4 * 8 * 3 * 8 * 2});
    QCOMPARE(made->sum(Component::RoutedExperts)->tensors, std::uint64_t{4 * 8 * 3 * 2});
    QCOMPARE(bytesOf(*made, Component::LmHead, "BF16"), std::uint64_t{512 * 256 * 2});
    QCOMPARE(made->parametersTotal(), smallModel().parametersTotal());
    for (const TensorGroup &group : made->groups) {
        if (group.component == Component::Attention && group.dtype == "BF16" && !group.side)
            QCOMPARE(group.layers, (std::vector<std::uint32_t>{2}));
    }
}

void DeclaredTest::mixedPrecision()
{
    const Result<Checkpoint> made = applied(R"({"quantization_config": {"quant_method": "modelopt",
        "quant_algo": "MIXED_PRECISION", "quantized_layers": {"lm_head": {"quant_algo": "NVFP4", "group_size": 16},
        "model.layers.0.mlp.experts": {"quant_algo": "W4A16_NVFP4"},
        "model.layers.1.self_attn.q_proj": {"quant_algo": "FP8"}}}})");
    QCOMPARE(outcome(made), u"ok"_s);
    QCOMPARE(bytesOf(*made, Component::LmHead, "U8"), std::uint64_t{512 * 256 / 2});
    QCOMPARE(bytesOf(*made, Component::RoutedExperts, "U8"), std::uint64_t{8 * 3 * 512 * 256 / 2});
    QCOMPARE(bytesOf(*made, Component::RoutedExperts, "BF16"), std::uint64_t{3 * 8 * 3 * 512 * 256 * 2});
    QCOMPARE(bytesOf(*made, Component::Attention, "F8_E4M3"), std::uint64_t{256 * 256});
}

void DeclaredTest::mxfp4KeepsStacks()
{
    const Result<Checkpoint> made = applied(R"({"quantization_config": {"quant_method": "mxfp4",
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"]}})");
    QCOMPARE(outcome(made), u"ok"_s);
    QCOMPARE(made->sum(Component::RoutedExperts)->tensors, std::uint64_t{4 * 4});
    QCOMPARE(bytesOf(*made, Component::RoutedExperts, "U8"),
             std::uint64_t{4 * 8 * 3 * 512 * 256 / 2 + 4 * 8 * 3 * 512 * 256 / 32});
    const auto blocks = std::ranges::find(made->groups, "model.layers.N.mlp.experts.gate_up_proj_blocks",
                                          &TensorGroup::pattern);
    QVERIFY(blocks != made->groups.end());
    QCOMPARE(blocks->shape, (std::vector<std::uint64_t>{8, 1024, 8, 16}));
    QCOMPARE(blocks->parameters, std::uint64_t{4 * 8 * 1024 * 256});
}

void DeclaredTest::mlxOverrides()
{
    const Result<Checkpoint> made = applied(R"({"quantization": {"group_size": 64, "bits": 4,
        "lm_head": {"group_size": 64, "bits": 8}, "model.embed_tokens": false}})");
    QCOMPARE(outcome(made), u"ok"_s);
    QCOMPARE(made->format, Format::Mlx);
    QCOMPARE(bytesOf(*made, Component::LmHead, "U32"), std::uint64_t{512 * 256});
    QCOMPARE(bytesOf(*made, Component::EmbedTokens, "BF16"), std::uint64_t{512 * 256 * 2});
    QCOMPARE(bytesOf(*made, Component::Attention, "U32"), std::uint64_t{4 * 256 * 256 / 2});
    QCOMPARE(made->sum(Component::RoutedExperts)->tensors, std::uint64_t{4 * 3 * 3});
}

void DeclaredTest::unknownIsRefused_data()
{
    QTest::addColumn<QString>("config");
    QTest::newRow("method") << uR"({"quant_method": "exl3", "bits": 3})"_s;
    QTest::newRow("nothing said") << u"{}"_s;
    QTest::newRow("bits") << uR"({"quant_method": "gptq", "bits": 99})"_s;
    QTest::newRow("text for bits") << uR"({"quant_method": "gptq", "bits": "four"})"_s;
    QTest::newRow("algorithm") << uR"({"quant_method": "modelopt", "quant_algo": "NF3"})"_s;
    QTest::newRow("no groups") << uR"({"quant_method": "compressed-tensors"})"_s;
    QTest::newRow("blocks of nothing") << uR"({"quant_method": "fp8", "weight_block_size": [0, 128]})"_s;
}

void DeclaredTest::unknownIsRefused()
{
    QFETCH(const QString, config);
    const std::string text = R"({"quantization_config": )" + s(config) + "}";
    QCOMPARE(outcome(applied(text.c_str())), u"quant.declared-unknown"_s);
}

void DeclaredTest::hostileLists()
{
    Json config =
        Json::parse(R"({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})");
    Json &list = config["quantization_config"]["modules_to_not_convert"];
    const auto apply = [&config] {
        return outcome(applyDeclaredQuantization(smallModel(), config, nullptr, ModelConfig{}));
    };
    for (int i = 0; i < 5'000; ++i)
        list.push_back("*" + std::to_string(i));
    QCOMPARE(apply(), u"quant.too-many-patterns"_s);

    // Few enough to be let in, and slow enough to matter: bounded, whether it ends with an answer or without.
    list = Json::array();
    for (int i = 0; i < 250; ++i)
        list.push_back("re:((.*)*.*)*" + std::to_string(i) + std::string(900, '.'));
    QElapsedTimer timer;
    timer.start();
    const QString slow = apply();
    QVERIFY(slow == u"ok"_s || slow == u"quant.too-many-patterns"_s);
    QVERIFY(timer.elapsed() < 30'000);
    for (int i = 0; i < 250; ++i)
        list.push_back("re:a");
    QCOMPARE(apply(), u"quant.too-many-patterns"_s);

    list = Json::array({1, nullptr, Json::object(), "", std::string(100'000, 'x'), "..", "re:", "re:["});
    QCOMPARE(apply(), u"ok"_s);
    list = "lm_head";
    QCOMPARE(apply(), u"ok"_s);
}

void DeclaredTest::understandsPublishedConfigs()
{
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (!shared || !fs::exists(*shared / "checkpoints"))
        QSKIP("no folder with published configs (WEIR_SHARED_DIR)");
    int quantized = 0;
    QStringList problems;
    for (const auto &each : fs::directory_iterator(*shared / "checkpoints")) {
        if (!fs::exists(each.path() / "config.json"))
            continue;
        const Json config = readConfig(each.path() / "config.json");
        const fs::path side = each.path() / "hf_quant_config.json";
        const Json beside = fs::exists(side) ? readConfig(side) : Json();
        const Result<Checkpoint> made = applyDeclaredQuantization(
            smallModel(), config, beside.is_null() ? nullptr : &beside, ModelConfig{});
        if (!made)
            problems +=
                q(each.path().filename().string() + ": " + made.error().id + " " + made.error().subject);
        else if (made->weightBytes() != smallModel().weightBytes())
            ++quantized;
    }
    QVERIFY2(problems.isEmpty(), problems.join(u"\n  "_s).toUtf8().constData());
    QVERIFY2(quantized > 20, QByteArray::number(quantized).constData());
}

fs::path DeclaredTest::expand(const std::string &repository)
{
    const bool list = repository.starts_with("list:");
    if (!m_paths.contains(repository)) {
        const fs::path shared = *sharedFolder(WEIR_SOURCE_DIR);
        auto folder = std::make_unique<QTemporaryDir>();
        QProcess process;
        const QString target = folder->path();
        if (list) {
            const fs::path checkpoints = shared / "checkpoints";
            process.start(u"python3"_s, {q((checkpoints / "expand_tensors.py").string()), u"write"_s,
                                         q((checkpoints / repository.substr(5)).string()), target});
        } else {
            process.start(u"python3"_s,
                          {q((shared / "oracle" / "expand.py").string()), target, q(repository)});
        }
        if (!process.waitForFinished(300'000) || process.exitCode() != 0)
            return {};
        m_paths[repository] = list
                                  ? fs::path(s(target))
                                  : fs::path(s(QString::fromUtf8(process.readAllStandardOutput()).trimmed()));
        m_folders[repository] = std::move(folder);
    }
    return m_paths[repository];
}

void DeclaredTest::agreesWithForged_data()
{
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("quantized");
    const auto row = [](const char *source, const char *quantized) {
        QTest::addRow("%s from %s", quantized, source)
            << QString::fromLatin1(source) << QString::fromLatin1(quantized);
    };
    row("Qwen__Qwen3-30B-A3B", "Qwen__Qwen3-30B-A3B-FP8");
    row("Qwen__Qwen3-30B-A3B", "Qwen__Qwen3-30B-A3B-GPTQ-Int4");
    row("Qwen__Qwen3-30B-A3B", "nvidia__Qwen3-30B-A3B-NVFP4");
    row("Qwen__Qwen3-30B-A3B", "mlx-community__Qwen3-30B-A3B-4bit");
    row("Qwen__Qwen3-8B", "Qwen__Qwen3-8B-AWQ");
    row("Qwen__Qwen2.5-7B-Instruct", "Qwen__Qwen2.5-7B-Instruct-GPTQ-Int4");
    row("meta-llama__Llama-3.1-8B", "RedHatAI__Meta-Llama-3.1-8B-Instruct-quantized.w4a16");
    row("meta-llama__Llama-3.1-8B", "unsloth__Meta-Llama-3.1-8B-Instruct-bnb-4bit");
    row("list:meta-llama__Llama-3.1-70B-Instruct", "RedHatAI__Meta-Llama-3.1-70B-Instruct-FP8");
    row("Qwen__Qwen3.5-122B-A10B", "Qwen__Qwen3.5-122B-A10B-FP8");
    row("Qwen__Qwen3.5-122B-A10B", "Intel__Qwen3.5-122B-A10B-int4-AutoRound");
    row("list:Qwen__Qwen3.6-35B-A3B", "nvidia__Qwen3.6-35B-A3B-NVFP4");
    // Where no unquantized sibling is at hand, from what is behind the packed weights.
    for (const char *own : {"deepseek-ai__DeepSeek-V3", "moonshotai__Kimi-K2-Thinking",
                            "MiniMaxAI__MiniMax-M2.5", "openai__gpt-oss-20b", "openai__gpt-oss-120b",
                            "Qwen__Qwen3-8B-AWQ", "nvidia__Qwen3.6-35B-A3B-NVFP4"})
        row(own, own);
}

void DeclaredTest::agreesWithForged()
{
    const auto shared = sharedFolder(WEIR_SOURCE_DIR);
    if (!shared || !fs::exists(*shared / "oracle" / "expand.py")
        || QStandardPaths::findExecutable(u"python3"_s).isEmpty())
        QSKIP("no folder with forged repositories (WEIR_SHARED_DIR), or no python3 to expand them");
    QFETCH(const QString, source);
    QFETCH(const QString, quantized);
    const Result<CheckpointPtr> read = readPath(expand(s(source)));
    QVERIFY(read);
    const fs::path folder = expand(s(quantized));
    const Json config = readConfig(folder / "config.json");
    const fs::path side = folder / "hf_quant_config.json";
    const Json beside = fs::exists(side) ? readConfig(side) : Json();
    const Json *quantConfig = beside.is_null() ? nullptr : &beside;
    const Result<ModelConfig> model = readModelConfig(config, quantConfig, "config.json");
    QVERIFY(model);
    Checkpoint plain = unquantized(**read).value();
    plain.spec.dtype = model->spec.dtype;
    const Result<Checkpoint> made = applyDeclaredQuantization(plain, config, quantConfig, *model);
    QVERIFY2(made, made ? "" : made.error().id.c_str());

    const Json expected = readConfig(*shared / "oracle" / "forged" / s(quantized) / "expected.json");
    QStringList differences;
    for (const auto &[id, wanted] : expected["components"].items()) {
        const ComponentSum *sum = made->sum(componentFromId(id).value());
        const std::uint64_t bytes = sum == nullptr ? 0 : sum->bytes;
        // Two scalars a layer of the FP8 KV cache, which is no matter of the weights.
        const std::uint64_t scalars =
            quantized == "nvidia__Qwen3-30B-A3B-NVFP4"_L1 && id == "attention" ? 384 : 0;
        if (bytes + scalars != wanted["resident_bytes"]) {
            differences += u"%1: %2 bytes (%3) instead of %4 (%5)"_s.arg(q(id))
                               .arg(bytes)
                               .arg(sum == nullptr ? QString() : q(Json(sum->bytesByDtype).dump()))
                               .arg(wanted["resident_bytes"].get<std::uint64_t>())
                               .arg(q(wanted["dtypes"].dump()));
        }
        if ((sum == nullptr ? 0 : sum->parameters) != wanted["parameters"])
            differences += u"%1: parameters"_s.arg(q(id));
    }
    QVERIFY2(differences.isEmpty(), differences.join(u"\n  "_s).toUtf8().constData());
}

QTEST_GUILESS_MAIN(DeclaredTest)
#include "tst_declared.moc"

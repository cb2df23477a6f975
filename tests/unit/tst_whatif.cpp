// SPDX-License-Identifier: GPL-3.0-or-later
//
// The same model at another quantization: recipes as typed, small checkpoints counted by hand, and the
// published quantizations of one model derived from each other.
#include "models/checkpoint/requantize.h"
#include "models/checkpoint/unquantized.h"
#include "models/sources/open.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

Json readJson(const fs::path &file)
{
    std::ifstream stream(file);
    return Json::parse(stream, nullptr, false);
}

TensorGroup weight(const char *pattern, Component component, Role role, std::vector<std::uint64_t> shape,
                   std::vector<std::uint32_t> layers = {}, const char *dtype = "BF16")
{
    TensorGroup group;
    group.pattern = pattern;
    group.component = component;
    group.role = role;
    group.layers = std::move(layers);
    group.dtype = dtype;
    group.shape = std::move(shape);
    group.count = std::max<std::size_t>(1, group.layers.size());
    group.parameters = group.count;
    for (const std::uint64_t each : group.shape)
        group.parameters *= each;
    group.bytes = group.parameters * (group.dtype == "F32" ? 4 : 2);
    return group;
}

/// A dense model of two layers with tied tables: 512 wide, 8 heads of 64, 2 of them for keys.
Checkpoint smallModel()
{
    Checkpoint checkpoint;
    checkpoint.id = checkpoint.name = "small";
    checkpoint.format = Format::Safetensors;
    checkpoint.quantization = "bf16";
    checkpoint.spec.architecture = "Qwen3ForCausalLM";
    checkpoint.spec.layers = 2;
    checkpoint.spec.hiddenSize = 512;
    checkpoint.spec.vocabularySize = 1024;
    checkpoint.spec.tiedEmbeddings = true;
    checkpoint.spec.dtype = "BF16";
    AttentionLayers attention;
    attention.kind = LayerKind::Attention;
    attention.layers = 2;
    attention.kvHeads = 2;
    attention.kElementsPerToken = attention.vElementsPerToken = 128;
    checkpoint.spec.attention = {attention};
    const std::vector<std::uint32_t> both{0, 1};
    checkpoint.groups = {
        weight("model.embed_tokens.weight", Component::EmbedTokens, Role::Embedding, {1024, 512}),
        weight("model.layers.N.self_attn.q_proj.weight", Component::Attention, Role::Query, {512, 512}, both),
        weight("model.layers.N.self_attn.k_proj.weight", Component::Attention, Role::Key, {128, 512}, both),
        weight("model.layers.N.self_attn.v_proj.weight", Component::Attention, Role::Value, {128, 512}, both),
        weight("model.layers.N.self_attn.o_proj.weight", Component::Attention, Role::AttentionOutput,
               {512, 512}, both),
        weight("model.layers.N.self_attn.q_norm.weight", Component::Attention, Role::AttentionSmall, {64},
               both),
        weight("model.layers.N.mlp.gate_proj.weight", Component::DenseMlp, Role::Gate, {1280, 512}, both),
        weight("model.layers.N.mlp.up_proj.weight", Component::DenseMlp, Role::Up, {1280, 512}, both),
        weight("model.layers.N.mlp.down_proj.weight", Component::DenseMlp, Role::Down, {512, 1280}, both),
        weight("model.visual.blocks.N.attn.qkv.weight", Component::Vision, Role::Tower, {192, 64}, {0}),
        weight("model.norm.weight", Component::Norm, Role::NormWeight, {512}),
    };
    finish(checkpoint);
    return checkpoint;
}

std::uint64_t bytesOf(const Checkpoint &checkpoint, Component component)
{
    const ComponentSum *sum = checkpoint.sum(component);
    return sum == nullptr ? 0 : sum->bytes;
}

bool hasNote(const Checkpoint &checkpoint, std::string_view id)
{
    return std::ranges::any_of(checkpoint.notes, [id](const Message &note) { return note.id == id; });
}

Checkpoint derived(const Checkpoint &source, std::string_view recipe)
{
    return requantize(source, parseQuantRecipe(recipe).value()).value();
}

} // namespace

class WhatIfTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void recipes_data();
    void recipes();
    void hostileRecipes();
    void everyChoiceIsKnownByItsName();
    void everyChoiceDerives();
    void countsByHand();
    void ggufByHand();
    void overridesOneComponent();
    void tiedHeadGetsItsOwn();
    void whatItIsStays();
    void mixedByHand();
    void mixedAsDeclared();
    void rotaryFactors();
    void keepsADraft();
    void draftAsLlamaCppNamesIt();
    void draftWithTables();
    void refuses_data();
    void refuses();
    void hostileShapes();
    void agreesWithPublished_data();
    void agreesWithPublished();
    void publishedSizes_data();
    void publishedSizes();

private:
    /// Opens a forged repository ("org__name"), a file in one, the tensor list of a checkpoint ("list:…") or
    /// its config alone ("config:…").
    CheckpointPtr open(const std::string &name);

    std::optional<fs::path> m_shared;
    std::map<std::string, std::unique_ptr<QTemporaryDir>> m_folders;
    std::map<std::string, fs::path> m_paths;
};

void WhatIfTest::initTestCase()
{
    m_shared = sharedFolder(WEIR_SOURCE_DIR);
    if (m_shared
        && (!fs::exists(*m_shared / "oracle" / "expand.py")
            || QStandardPaths::findExecutable(u"python3"_s).isEmpty()))
        m_shared.reset();
}

CheckpointPtr WhatIfTest::open(const std::string &name)
{
    if (name.starts_with("config:")) {
        const Result<CheckpointPtr> read =
            readPath(*m_shared / "checkpoints" / name.substr(7) / "config.json");
        return read ? *read : nullptr;
    }
    const bool list = name.starts_with("list:");
    const std::string repository = list ? name.substr(5) : name.substr(0, name.find('/'));
    if (!m_paths.contains(repository)) {
        auto folder = std::make_unique<QTemporaryDir>();
        QProcess process;
        if (list) {
            process.start(u"python3"_s,
                          {q((*m_shared / "checkpoints" / "expand_tensors.py").string()), u"write"_s,
                           q((*m_shared / "checkpoints" / repository).string()), folder->path()});
        } else {
            process.start(u"python3"_s,
                          {q((*m_shared / "oracle" / "expand.py").string()), folder->path(), q(repository)});
        }
        if (!process.waitForFinished(300'000) || process.exitCode() != 0)
            return nullptr;
        m_paths[repository] =
            list ? s(folder->path()) : s(QString::fromUtf8(process.readAllStandardOutput()).trimmed());
        m_folders[repository] = std::move(folder);
    }
    fs::path path = m_paths[repository];
    if (!list && name.size() > repository.size())
        path /= name.substr(repository.size() + 1);
    const Result<CheckpointPtr> read = readPath(path);
    return read ? *read : nullptr;
}

void WhatIfTest::recipes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("label");
    QTest::addColumn<QString>("outcome");
    QTest::newRow("mix") << u"Q4_K_M"_s << u"Q4_K_M"_s << u"ok"_s;
    QTest::newRow("any case") << u"q4_k_m"_s << u"Q4_K_M"_s << u"ok"_s;
    QTest::newRow("any case of a layout") << u"NVFP4"_s << u"nvfp4"_s << u"ok"_s;
    QTest::newRow("exact spelling: GGUF") << u"MXFP4"_s << u"MXFP4"_s << u"ok"_s;
    QTest::newRow("exact spelling: safetensors") << u"mxfp4"_s << u"mxfp4"_s << u"ok"_s;
    QTest::newRow("exact spelling: a mix of one dtype") << u"BF16"_s << u"BF16"_s << u"ok"_s;
    QTest::newRow("exact spelling: another") << u"F16"_s << u"F16"_s << u"ok"_s;
    QTest::newRow("exact spelling: a third") << u"F32"_s << u"F32"_s << u"ok"_s;
    QTest::newRow("exact spelling: a dtype") << u"bf16"_s << u"bf16"_s << u"ok"_s;
    QTest::newRow("neither spelling: the dtype") << u"Bf16"_s << u"bf16"_s << u"ok"_s;
    QTest::newRow("alias of a mix of one dtype") << u"GGUF-bf16"_s << u"BF16"_s << u"ok"_s;
    QTest::newRow("mixed") << u"NVFP4-Mixed"_s << u"nvfp4-mixed"_s << u"ok"_s;
    QTest::newRow("alias") << u"GPTQ-Int4"_s << u"gptq"_s << u"ok"_s;
    QTest::newRow("alias with a space") << u"autoround int4"_s << u"autoround"_s << u"ok"_s;
    QTest::newRow("overrides") << u" lm_head = int8 , Shared_Expert=FP8"_s
                               << u"?+shared_expert=fp8+lm_head=int8"_s << u"ok"_s;
    QTest::newRow("both") << u"awq,lm_head=int8"_s << u"awq+lm_head=int8"_s << u"ok"_s;
    QTest::newRow("both, turned") << u"lm_head=int8,awq"_s << u"awq+lm_head=int8"_s << u"ok"_s;
    QTest::newRow("nothing") << QString() << QString() << u"quant.empty-part"_s;
    QTest::newRow("comma") << u"awq,"_s << QString() << u"quant.empty-part"_s;
    QTest::newRow("no scheme") << u"lm_head="_s << QString() << u"quant.empty-part"_s;
    QTest::newRow("no component") << u"=int8"_s << QString() << u"quant.empty-part"_s;
    QTest::newRow("component alone") << u"lm_head"_s << QString() << u"quant.empty-part"_s;
    QTest::newRow("two schemes") << u"awq,gptq"_s << QString() << u"quant.repeated"_s;
    QTest::newRow("component twice") << u"lm_head=int8,lm_head=fp8"_s << QString() << u"quant.repeated"_s;
    QTest::newRow("unknown scheme") << u"Q9_K"_s << QString() << u"quant.unknown-scheme"_s;
    QTest::newRow("unknown scheme of a component")
        << u"lm_head=int9"_s << QString() << u"quant.unknown-scheme"_s;
    QTest::newRow("unknown component") << u"head=int8"_s << QString() << u"quant.unknown-component"_s;
}

void WhatIfTest::recipes()
{
    QFETCH(const QString, text);
    QFETCH(const QString, label);
    QFETCH(const QString, outcome);
    const Result<QuantRecipe> recipe = parseQuantRecipe(s(text));
    QCOMPARE(weir::test::outcome(recipe), outcome);
    if (recipe)
        QCOMPARE(q(recipeLabel(*recipe, recipe->label.empty() ? "?" : recipe->label)), label);
    else
        QCOMPARE(recipe.error().kind, ErrorKind::Usage);
}

void WhatIfTest::hostileRecipes()
{
    QCOMPARE(outcome(parseQuantRecipe(std::string(2'000'000, 'a'))), u"quant.too-long"_s);
    QCOMPARE(outcome(parseQuantRecipe(std::string(maxRecipeText, ','))), u"quant.empty-part"_s);
    QCOMPARE(outcome(parseQuantRecipe(std::string(maxRecipeText, '='))), u"quant.empty-part"_s);
    QCOMPARE(outcome(parseQuantRecipe(std::string("awq\0", 4))), u"quant.unknown-scheme"_s);
    const Result<QuantRecipe> odd = parseQuantRecipe("lm_head=\x1b[31mint8");
    QCOMPARE(outcome(odd), u"quant.unknown-scheme"_s);
    QVERIFY(!q(odd.error().subject).contains(u'\x1b'));
    QVERIFY(argumentText(odd.error().arguments, "known").contains("Q4_K_M"_L1));
    QVERIFY(argumentText(parseQuantRecipe("head=int8").error().arguments, "known").contains("lm_head"_L1));
}

void WhatIfTest::everyChoiceIsKnownByItsName()
{
    QVERIFY(quantChoices().size() > 40);
    for (const QuantChoice &choice : quantChoices()) {
        const auto found = quantChoice(choice.id);
        QVERIFY(found.has_value());
        QCOMPARE(q(found->id), q(choice.id));
    }
}

void WhatIfTest::everyChoiceDerives()
{
    const Checkpoint source = smallModel();
    for (const QuantChoice &choice : quantChoices()) {
        const Result<Checkpoint> made = requantize(source, {std::string(choice.id), {}});
        QVERIFY2(made, std::string(choice.id).c_str());
        const Format format = choice.kind == QuantKind::Gguf  ? Format::Gguf
                              : choice.kind == QuantKind::Mlx ? Format::Mlx
                                                              : Format::Safetensors;
        QCOMPARE(made->format, format);
        const std::uint64_t tower = choice.kind == QuantKind::Gguf ? 192 * 64 : 0;
        QCOMPARE(made->parametersTotal(), source.parametersTotal() - tower);
        QVERIFY(made->weightBytes() > 0);
        for (const TensorGroup &group : made->groups)
            QVERIFY2(group.bytes > 0, group.pattern.c_str());
        if (choice.id == "bf16")
            continue;
        // And back: nothing that decides sizes was lost.
        const Checkpoint back = derived(*made, "nvfp4");
        QCOMPARE(bytesOf(back, Component::DenseMlp), bytesOf(derived(source, "nvfp4"), Component::DenseMlp));
    }
}

void WhatIfTest::countsByHand()
{
    const Checkpoint source = smallModel();
    constexpr std::uint64_t matrices = 2 * 3 * 1280 * 512; // of the MLP
    const Checkpoint gptq = derived(source, "gptq");
    // A byte for two weights, a zero point (half a byte) and a scale (two) for 128, an index for each input.
    QCOMPARE(bytesOf(gptq, Component::DenseMlp),
             matrices / 2 + matrices / 128 / 2 + matrices / 128 * 2 + 2 * (512 + 512 + 1280) * 4);
    QCOMPARE(bytesOf(gptq, Component::EmbedTokens), 1024 * 512 * 2);
    QCOMPARE(bytesOf(gptq, Component::Vision), bytesOf(source, Component::Vision));
    QCOMPARE(gptq.provenance, Provenance::Config);
    QCOMPARE(q(gptq.quantization), u"gptq"_s);
    QVERIFY(hasNote(gptq, "quant.derived"));
    QVERIFY(gptq.files.empty() && !gptq.repositoryBytes);

    QCOMPARE(bytesOf(derived(source, "awq"), Component::DenseMlp),
             matrices / 2 + matrices / 128 / 2 + matrices / 128 * 2);
    QCOMPARE(bytesOf(derived(source, "autoround"), Component::DenseMlp),
             bytesOf(derived(source, "awq"), Component::DenseMlp));
    // Blocks of 128 x 128; a scale of two bytes each.
    QCOMPARE(bytesOf(derived(source, "fp8"), Component::DenseMlp), matrices + matrices / (128 * 128) * 2);
    QCOMPARE(bytesOf(derived(source, "fp8-channel"), Component::DenseMlp),
             matrices + 2 * (1280 + 1280 + 512) * 2);
    QCOMPARE(bytesOf(derived(source, "nvfp4"), Component::DenseMlp), matrices / 2 + matrices / 16 + 6 * 8);
    QCOMPARE(bytesOf(derived(source, "mxfp4"), Component::DenseMlp), matrices / 2 + matrices / 32);
    QCOMPARE(bytesOf(derived(source, "int4"), Component::DenseMlp),
             matrices / 2 + matrices / 128 * 2 + 6 * 16);
    const Checkpoint mlx = derived(source, "mlx-4bit");
    QCOMPARE(bytesOf(mlx, Component::DenseMlp), matrices / 2 + matrices / 64 * 4);
    QCOMPARE(bytesOf(mlx, Component::EmbedTokens), 1024 * 512 / 2 + 1024 * 512 / 64 * 4);
    QCOMPARE(bytesOf(derived(source, "mlx-8bit"), Component::DenseMlp), matrices + matrices / 64 * 4);
    QCOMPARE(bytesOf(derived(source, "f32"), Component::DenseMlp), matrices * 4);
}

void WhatIfTest::ggufByHand()
{
    const Checkpoint source = smallModel();
    const Checkpoint made = derived(source, "Q4_K_M");
    QCOMPARE(made.format, Format::Gguf);
    QCOMPARE(q(made.spec.dtype), u"F16"_s);
    QVERIFY(hasNote(made, "quant.left-out"));
    QCOMPARE(made.sum(Component::Vision), nullptr);
    // Of two layers the last eighth is one: layer 1 has more bits in v and down.
    const ComponentSum *mlp = made.sum(Component::DenseMlp);
    QCOMPARE(mlp->bytesByDtype.at("Q6_K"), std::uint64_t{1280 * 512 / 256 * 210});
    QCOMPARE(mlp->bytesByDtype.at("Q4_K"), std::uint64_t{5 * 1280 * 512 / 256 * 144});
    // Tied tables have the type of an output matrix.
    QCOMPARE(made.sum(Component::EmbedTokens)->bytesByDtype.at("Q6_K"),
             std::uint64_t{1024 * 512 / 256 * 210});
    QCOMPARE(bytesOf(made, Component::Norm), std::uint64_t{512 * 4});
    QCOMPARE(q(made.groups.front().pattern).startsWith("blk.N.ffn_"_L1), true);

    // Rows of 320 are no whole number of blocks of 256.
    Checkpoint narrow = source;
    for (TensorGroup &group : narrow.groups) {
        if (group.role == Role::Down) {
            group.shape[1] = 320;
            group.parameters = std::uint64_t{2} * 512 * 320;
            group.bytes = 2 * group.parameters;
        }
    }
    finish(narrow);
    const Checkpoint fallen = derived(narrow, "Q4_K_S");
    QCOMPARE(fallen.sum(Component::DenseMlp)->bytesByDtype.at("Q5_0"),
             std::uint64_t{2 * 512 * 320 / 32 * 22});
}

void WhatIfTest::overridesOneComponent()
{
    const Checkpoint source = smallModel();
    const Checkpoint one = derived(source, "dense_mlp=int8");
    constexpr std::uint64_t matrices = 2 * 3 * 1280 * 512;
    QCOMPARE(bytesOf(one, Component::DenseMlp), matrices + 2 * (1280 + 1280 + 512) * 2);
    QCOMPARE(bytesOf(one, Component::Attention), bytesOf(source, Component::Attention));
    QCOMPARE(q(one.quantization), u"bf16+dense_mlp=int8"_s);

    // On top of a scheme, and on top of a checkpoint that is quantized already.
    const Checkpoint awq = derived(source, "awq");
    const Checkpoint both = derived(source, "awq,dense_mlp=int8");
    QCOMPARE(bytesOf(both, Component::DenseMlp), bytesOf(one, Component::DenseMlp));
    QCOMPARE(bytesOf(both, Component::Attention), bytesOf(awq, Component::Attention));
    const Checkpoint later = derived(awq, "dense_mlp=int8");
    QCOMPARE(bytesOf(later, Component::DenseMlp), bytesOf(one, Component::DenseMlp));
    QCOMPARE(bytesOf(later, Component::Attention), bytesOf(awq, Component::Attention));
    QCOMPARE(q(later.quantization), u"awq+dense_mlp=int8"_s);

    const Checkpoint gguf = derived(derived(source, "Q4_K_M"), "dense_mlp=int8");
    QCOMPARE(bytesOf(gguf, Component::DenseMlp), matrices / 32 * 34);
    QCOMPARE(bytesOf(gguf, Component::Attention), bytesOf(derived(source, "Q4_K_M"), Component::Attention));
    QCOMPARE(bytesOf(derived(source, "dense_mlp=bf16"), Component::DenseMlp),
             bytesOf(source, Component::DenseMlp));
}

void WhatIfTest::tiedHeadGetsItsOwn()
{
    const Checkpoint source = smallModel();
    const Checkpoint made = derived(source, "lm_head=int8");
    QCOMPARE(bytesOf(made, Component::LmHead), std::uint64_t{1024 * 512 + 1024 * 2});
    QCOMPARE(bytesOf(made, Component::EmbedTokens), std::uint64_t{1024 * 512 * 2});
    QVERIFY(!made.spec.tiedEmbeddings);
    QVERIFY(hasNote(made, "quant.head-copied"));
    const Checkpoint gguf = derived(source, "Q4_K_M,lm_head=int8");
    QCOMPARE(bytesOf(gguf, Component::LmHead), std::uint64_t{1024 * 512 / 32 * 34});
    QCOMPARE(bytesOf(gguf, Component::EmbedTokens), std::uint64_t{1024 * 512 / 256 * 144});
}

void WhatIfTest::whatItIsStays()
{
    const Checkpoint source = smallModel();
    for (const char *same : {"bf16", "Bf16", "bfloat16"}) {
        const Checkpoint made = derived(source, same);
        QCOMPARE(made.provenance, source.provenance);
        QCOMPARE(made.weightBytes(), source.weightBytes());
        QVERIFY(made.notes.empty());
    }
    const Checkpoint gguf = derived(source, "Q4_K_M");
    QCOMPARE(derived(gguf, "q4_k_m").notes.size(), gguf.notes.size());
    // The same weights as a GGUF file are something else.
    for (const char *file : {"BF16", "gguf-bf16"}) {
        const Checkpoint made = derived(source, file);
        QCOMPARE(made.format, Format::Gguf);
        QCOMPARE(q(made.quantization), u"BF16"_s);
        // And of a GGUF file both spellings are what it is.
        QCOMPARE(derived(made, "bf16").notes.size(), made.notes.size());
        QCOMPARE(derived(made, "BF16").notes.size(), made.notes.size());
    }
}

void WhatIfTest::mixedByHand()
{
    Checkpoint source = smallModel();
    source.groups.push_back(weight("lm_head.weight", Component::LmHead, Role::Head, {1024, 512}));
    source.groups.push_back(weight("model.layers.N.linear_attn.in_proj_qkv.weight",
                                   Component::LinearAttention, Role::RecurrentInput, {256, 512}, {0}));
    source.groups.push_back(weight("model.layers.N.linear_attn.in_proj_a.weight", Component::LinearAttention,
                                   Role::RecurrentInput, {16, 512}, {0}));
    source.groups.push_back(weight("model.layers.N.linear_attn.A_log", Component::LinearAttention,
                                   Role::RecurrentSmall, {16}, {0}, "F32"));
    finish(source);
    const Checkpoint made = derived(source, "nvfp4-mixed");
    QCOMPARE(made.format, Format::Safetensors);
    QCOMPARE(q(made.quantization), u"nvfp4-mixed"_s);
    constexpr std::uint64_t matrices = 2 * 3 * 1280 * 512;
    QCOMPARE(bytesOf(made, Component::DenseMlp), matrices / 2 + matrices / 16 + 6 * 8);
    QCOMPARE(bytesOf(made, Component::LmHead), std::uint64_t{1024 * 512 / 2 + 1024 * 512 / 16 + 8});
    QCOMPARE(bytesOf(made, Component::EmbedTokens), bytesOf(source, Component::EmbedTokens));
    // A byte a weight and two scalars for each of q, k, v and o of two layers; a norm of 64 each.
    QCOMPARE(bytesOf(made, Component::Attention),
             std::uint64_t{2 * (2 * 512 * 512 + 2 * 128 * 512) + 8 * 8 + 2 * 64 * 2});
    QCOMPARE(bytesOf(made, Component::LinearAttention), std::uint64_t{256 * 512 + 8 + 16 * 512 * 2 + 16 * 2});
}

void WhatIfTest::mixedAsDeclared()
{
    if (!m_shared)
        QSKIP("no folder with checkpoints (WEIR_SHARED_DIR)");
    // The dense hybrid: what its published config declares, module by module.
    const CheckpointPtr source = open("config:Qwen__Qwen3.6-27B");
    const CheckpointPtr declared = open("config:nvidia__Qwen3.6-27B-NVFP4");
    QVERIFY(source && declared);
    const Checkpoint made = derived(*source, "nvfp4-mixed");
    QCOMPARE(made.sums.size(), declared->sums.size());
    for (const ComponentSum &sum : declared->sums) {
        // A_log and norm of 48 layers: BF16 as ModelOpt exports them, F32 as a config alone tells.
        const std::uint64_t wider = sum.component == Component::LinearAttention ? 48 * (48 + 128) * 2 : 0;
        QCOMPARE(bytesOf(made, sum.component) + wider, sum.bytes);
        QCOMPARE(made.sum(sum.component)->parameters, sum.parameters);
        QCOMPARE(made.sum(sum.component)->tensors, sum.tensors);
    }
}

void WhatIfTest::rotaryFactors()
{
    Checkpoint source = smallModel();
    QCOMPARE(derived(source, "Q8_0").sum(Component::Other), nullptr);
    source.spec.ropeFactors = 32;
    const Checkpoint made = derived(source, "Q8_0");
    const ComponentSum *other = made.sum(Component::Other);
    QVERIFY(other != nullptr);
    QCOMPARE(other->bytesByDtype.at("F32"), std::uint64_t{128});
    QCOMPARE(other->tensors, std::uint64_t{1});
    QCOMPARE(q(made.groups.back().pattern), u"rope_freqs.weight"_s);
    // Once, however often it is derived again, and only in GGUF files.
    QCOMPARE(bytesOf(derived(made, "Q4_K_M"), Component::Other), std::uint64_t{128});
    QCOMPARE(derived(made, "fp8").sum(Component::Other), nullptr);
    QCOMPARE(derived(source, "fp8").sum(Component::Other), nullptr);
    QCOMPARE(derived(source, "lm_head=int8").sum(Component::Other), nullptr);
}

void WhatIfTest::keepsADraft()
{
    Checkpoint source = smallModel();
    source.spec.architecture = "Qwen3_5ForConditionalGeneration";
    source.groups.push_back(weight("mtp.fc.weight", Component::Mtp, Role::MtpProjection, {512, 1024}));
    source.groups.push_back(
        weight("mtp.layers.N.self_attn.v_proj.weight", Component::Mtp, Role::MtpAttention, {128, 512}, {0}));
    source.groups.push_back(
        weight("mtp.layers.N.mlp.shared_expert_gate.weight", Component::Mtp, Role::MtpRest, {1, 512}, {0}));
    source.groups.push_back(
        weight("mtp.layers.N.mlp.gate.weight", Component::Mtp, Role::MtpRest, {8, 512}, {0}));
    source.groups.push_back(weight("mtp.norm.weight", Component::Mtp, Role::MtpRest, {512}));
    finish(source);

    // Left out unless it is asked for.
    const Checkpoint without = derived(source, "Q4_K_M");
    QCOMPARE(without.sum(Component::Mtp), nullptr);
    QVERIFY(hasNote(without, "quant.left-out"));

    const Checkpoint made = derived(source, "Q4_K_S,mtp=Q4_K_S");
    QCOMPARE(q(made.quantization), u"Q4_K_S+mtp=Q4_K_S"_s);
    const ComponentSum *draft = made.sum(Component::Mtp);
    QVERIFY(draft != nullptr);
    QCOMPARE(draft->bytesByDtype.at("Q4_K"), std::uint64_t{512 * 1024 / 256 * 144});
    // Among the first four values a draft layer has more bits, as any.
    QCOMPARE(draft->bytesByDtype.at("Q5_K"), std::uint64_t{128 * 512 / 256 * 176});
    QCOMPARE(draft->bytesByDtype.at("F32"), std::uint64_t{(512 + 8 * 512 + 512) * 4});
    QStringList names;
    for (const TensorGroup &group : made.groups) {
        if (group.component != Component::Mtp)
            continue;
        names += q(group.pattern);
        QCOMPARE(group.layers, std::vector<std::uint32_t>{2});
    }
    names.sort();
    QCOMPARE(names, QStringList({u"blk.N.attn_v.weight"_s, u"blk.N.ffn_gate_inp.weight"_s,
                                 u"blk.N.ffn_gate_inp_shexp.weight"_s, u"blk.N.nextn.eh_proj.weight"_s,
                                 u"blk.N.nextn.shared_head_norm.weight"_s}));

    // By another mix, and in one type.
    const Checkpoint other = derived(source, "Q4_K_S,mtp=Q8_0");
    QCOMPARE(other.sum(Component::Mtp)->bytesByDtype.at("Q8_0"),
             std::uint64_t{(512 * 1024 + 128 * 512) / 32 * 34});
    QCOMPARE(bytesOf(other, Component::DenseMlp), bytesOf(made, Component::DenseMlp));
    const Checkpoint uniform = derived(source, "Q4_K_S,mtp=int4");
    QCOMPARE(uniform.sum(Component::Mtp)->bytesByDtype.at("Q4_K"),
             std::uint64_t{(512 * 1024 + 128 * 512) / 256 * 144});
    // A GGUF file keeps what it has, its router too.
    QCOMPARE(derived(made, "Q8_0").sum(Component::Mtp)->bytesByDtype,
             other.sum(Component::Mtp)->bytesByDtype);

    // Where the converter's names are not known, nothing is made up.
    for (const char *architecture : {"Qwen3NextForCausalLM", "DeepseekV3ForCausalLM", "SomethingNew"}) {
        source.spec.architecture = architecture;
        const Result<Checkpoint> refused = requantize(source, parseQuantRecipe("Q4_K_M,mtp=Q4_K_M").value());
        QCOMPARE(outcome(refused), u"quant.draft-unknown"_s);
        QCOMPARE(refused.error().kind, ErrorKind::Usage);
        QCOMPARE(q(refused.error().subject), q(architecture));
    }
    source.spec.architecture = "Qwen3_5ForConditionalGeneration";
    source.groups.back().pattern = "mtp.something.weight";
    finish(source);
    QCOMPARE(outcome(requantize(source, parseQuantRecipe("Q8_0,mtp=Q8_0").value())),
             u"quant.draft-unknown"_s);
    QCOMPARE(derived(source, "Q8_0").sum(Component::Mtp), nullptr);
}

void WhatIfTest::draftAsLlamaCppNamesIt()
{
    if (!m_shared)
        QSKIP("no folder with forged repositories (WEIR_SHARED_DIR)");
    const CheckpointPtr file = open("ggml-org__Qwen3.6-35B-A3B-MTP-GGUF");
    const CheckpointPtr config = open("config:Qwen__Qwen3.6-35B-A3B");
    QVERIFY(file && config);
    const auto listed = [](const Checkpoint &checkpoint) {
        QStringList lines;
        for (const TensorGroup &group : checkpoint.groups) {
            if (group.component != Component::Mtp)
                continue;
            QString line = q(group.pattern) + u' ' + q(std::string(roleId(group.role))) + u' '
                           + q(group.dtype) + u" x%1 at %2:"_s.arg(group.count).arg(group.layers.at(0));
            for (const std::uint64_t side : group.shape)
                line += u" %1"_s.arg(side);
            lines += line;
        }
        lines.sort();
        return lines;
    };
    const QStringList read = listed(*file);
    QCOMPARE(read.size(), 20);
    QCOMPARE(listed(derived(*config, "Q4_K_M,mtp=Q4_K_M")), read);
}

void WhatIfTest::draftWithTables()
{
    if (!m_shared)
        QSKIP("no folder with forged repositories (WEIR_SHARED_DIR)");
    const CheckpointPtr source = open("zai-org__GLM-4.7-Flash");
    QVERIFY(source != nullptr);
    const Checkpoint made = derived(*source, "Q8_0,mtp=Q8_0");
    const ComponentSum *draft = made.sum(Component::Mtp);
    QVERIFY(draft != nullptr);
    QCOMPARE(draft->parameters, source->sum(Component::Mtp)->parameters);
    // Six of the head and 18 of its block, whose kv_b is two.
    QCOMPARE(draft->tensors, std::uint64_t{24});
    std::map<std::string, std::string> types;
    for (const TensorGroup &group : made.groups) {
        if (group.component == Component::Mtp) {
            types[group.pattern] = group.dtype;
            QCOMPARE(group.layers, std::vector<std::uint32_t>{47});
        }
    }
    QCOMPARE(types["blk.N.nextn.embed_tokens.weight"], std::string("Q8_0"));
    QCOMPARE(types["blk.N.nextn.shared_head_head.weight"], std::string("Q8_0"));
    QCOMPARE(types["blk.N.nextn.eh_proj.weight"], std::string("Q8_0"));
    QCOMPARE(types["blk.N.attn_k_b.weight"], std::string("Q8_0"));
    QCOMPARE(types["blk.N.ffn_down_exps.weight"], std::string("Q8_0"));
    QCOMPARE(types["blk.N.nextn.enorm.weight"], std::string("F32"));
    QCOMPARE(types["blk.N.ffn_gate_inp.weight"], std::string("F32"));
    QCOMPARE(types["blk.N.exp_probs_b.bias"], std::string("F32"));
    QCOMPARE(types["blk.N.ffn_norm.weight"], std::string("F32"));

    const CheckpointPtr unknown = open("config:deepseek-ai__DeepSeek-V3");
    QVERIFY(unknown != nullptr);
    QCOMPARE(outcome(requantize(*unknown, parseQuantRecipe("Q8_0,mtp=Q8_0").value())),
             u"quant.draft-unknown"_s);
}

void WhatIfTest::refuses_data()
{
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<QString>("outcome");
    QTest::newRow("not there") << u"shared_expert=fp8"_s << u"quant.component-absent"_s;
    QTest::newRow("left out of GGUF") << u"Q4_K_M,vision=int8"_s << u"quant.component-absent"_s;
    QTest::newRow("GGUF type in safetensors") << u"lm_head=Q6_K"_s << u"quant.component-scheme"_s;
    QTest::newRow("FP8 in GGUF") << u"Q4_K_M,attention=fp8"_s << u"quant.component-scheme"_s;
    QTest::newRow("AWQ in MLX") << u"mlx-4bit,attention=awq"_s << u"quant.component-scheme"_s;
    QTest::newRow("several layouts for one component")
        << u"attention=nvfp4-mixed"_s << u"quant.component-scheme"_s;
    QTest::newRow("vectors") << u"norm=int8"_s << u"quant.nothing-to-quantize"_s;
}

void WhatIfTest::refuses()
{
    QFETCH(const QString, recipe);
    QFETCH(const QString, outcome);
    const Result<Checkpoint> made = requantize(smallModel(), parseQuantRecipe(s(recipe)).value());
    QCOMPARE(weir::test::outcome(made), outcome);
    QCOMPARE(made.error().kind, ErrorKind::Usage);

    Checkpoint opaque = smallModel();
    opaque.quantization = "exl3";
    for (TensorGroup &group : opaque.groups) {
        if (group.role == Role::Down) { // a packing that says nothing about rows
            group.dtype = "I16";
            group.shape = {97};
            group.bytes = 194;
        }
    }
    finish(opaque);
    QCOMPARE(weir::test::outcome(requantize(opaque, {"awq", {}})), u"quant.no-shapes"_s);
}

void WhatIfTest::hostileShapes()
{
    // Whatever stands in a header: an answer or an error, and no arithmetic that goes wrong on the way.
    constexpr std::uint64_t huge = std::uint64_t{1} << 62U;
    const std::vector<std::vector<std::uint64_t>> shapes{{},
                                                         {0},
                                                         {1},
                                                         {huge},
                                                         {0, 0},
                                                         {0, 5},
                                                         {5, 0},
                                                         {1, 1},
                                                         {3, 5},
                                                         {huge, huge},
                                                         {huge, 256},
                                                         {256, huge},
                                                         {0, 0, 0},
                                                         {8, 0, 512},
                                                         {8, 7, 512},
                                                         {huge, huge, huge},
                                                         {1, 2, 3, 4, 5}};
    std::size_t made = 0;
    for (const char *dtype : {"BF16", "U8", "I32", "U32", "F8_E4M3", "Q4_K", "MXFP4", "odd"}) {
        for (const auto &shape : shapes) {
            Checkpoint source = smallModel();
            source.spec.experts = 8;
            source.spec.expertsPerToken = 2;
            source.format = std::string_view(dtype) == "Q4_K" ? Format::Gguf : Format::Safetensors;
            source.quantization = "odd";
            for (TensorGroup &group : source.groups) {
                group.dtype = dtype;
                group.shape = shape;
                group.parameters = shape.empty() ? 0 : shape.front();
                group.layers.resize(std::min<std::size_t>(group.layers.size(), shape.size()));
            }
            source.groups[6].component = source.groups[7].component = source.groups[8].component =
                Component::RoutedExperts;
            source.groups[6].role = Role::GateUp;
            source.groups[1].pattern = "model.layers.N.self_attn.kv_b_proj.qweight";
            source.groups[2].pattern = "model.layers.N.self_attn.kv_a_proj_with_mqa.weight_packed";
            finish(source);
            for (const char *scheme : {"bf16", "Q4_K_M", "MXFP4", "IQ4_XS", "gptq", "awq", "fp8", "nvfp4",
                                       "bnb-4bit", "mlx-4bit", "int4", "BF16", "nvfp4-mixed"})
                made += requantize(source, {scheme, {{Component::LmHead, "int8"}}}).has_value() ? 1U : 0U;
            source.spec.architecture = "Qwen3_5MoeForConditionalGeneration";
            source.spec.ropeFactors = huge;
            source.groups[6].component = source.groups[1].component = Component::Mtp;
            source.groups[6].role = Role::MtpExperts;
            source.groups[6].pattern = "mtp.layers.N.mlp.experts.gate_up_proj";
            source.groups[1].pattern = "mtp.fc.weight";
            source.groups[1].layers = {0xFFFFFFFFU};
            finish(source);
            for (const char *mix : {"Q4_K_M", "MXFP4", "F16"})
                made += requantize(source, {mix, {{Component::Mtp, "Q4_K_M"}}}).has_value() ? 1U : 0U;
        }
    }
    QVERIFY(made > 0);
}

void WhatIfTest::agreesWithPublished_data()
{
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<QString>("published");
    QTest::addColumn<QString>("variant");
    struct Row
    {
        const char *source;
        const char *recipe;
        const char *published;
        const char *variant;
    };
    constexpr const char *moe = "Qwen__Qwen3-30B-A3B";
    constexpr const char *moeGguf = "Qwen__Qwen3-30B-A3B-GGUF";
    constexpr const char *llama = "meta-llama__Llama-3.1-8B";
    constexpr const char *llamaGguf = "bartowski__Meta-Llama-3.1-8B-Instruct-GGUF";
    constexpr const char *llamaBig = "list:meta-llama__Llama-3.1-70B-Instruct";
    constexpr const char *llamaBigGguf = "bartowski__Meta-Llama-3.1-70B-Instruct-GGUF";
    constexpr const char *flash = "zai-org__GLM-4.7-Flash";
    constexpr const char *flashGguf = "unsloth__GLM-4.7-Flash-GGUF";
    constexpr const char *nano = "nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16";
    constexpr const char *nanoGguf = "unsloth__Nemotron-3-Nano-30B-A3B-GGUF";
    constexpr const char *hybrid = "Qwen__Qwen3.5-35B-A3B";
    constexpr const char *hybridGguf = "ggml-org__Qwen3.5-35B-A3B-GGUF";
    constexpr const char *draftGguf = "ggml-org__Qwen3.6-35B-A3B-MTP-GGUF";
    const Row rows[] = {
        {moe, "Q4_K_M", moeGguf, "Q4_K_M"},
        {moe, "Q8_0", moeGguf, "Q8_0"},
        {moe, "IQ4_XS", moeGguf, "IQ4_XS"},
        {moe, "fp8", "Qwen__Qwen3-30B-A3B-FP8", ""},
        {moe, "gptq", "Qwen__Qwen3-30B-A3B-GPTQ-Int4", ""},
        {moe, "nvfp4", "nvidia__Qwen3-30B-A3B-NVFP4", ""},
        {moe, "mlx-4bit", "mlx-community__Qwen3-30B-A3B-4bit", ""},
        {"Qwen__Qwen3-30B-A3B-FP8", "Q4_K_M", moeGguf, "Q4_K_M"},
        {"Qwen__Qwen3-30B-A3B-FP8", "bf16", moe, ""},
        {"Qwen__Qwen3-30B-A3B-GPTQ-Int4", "fp8", "Qwen__Qwen3-30B-A3B-FP8", ""},
        {"Qwen__Qwen3-30B-A3B-GPTQ-Int4", "mlx-4bit", "mlx-community__Qwen3-30B-A3B-4bit", ""},
        {"nvidia__Qwen3-30B-A3B-NVFP4", "gptq", "Qwen__Qwen3-30B-A3B-GPTQ-Int4", ""},
        {"mlx-community__Qwen3-30B-A3B-4bit", "Q8_0", moeGguf, "Q8_0"},
        {"mlx-community__Qwen3-30B-A3B-4bit", "nvfp4", "nvidia__Qwen3-30B-A3B-NVFP4", ""},
        {"Qwen__Qwen3-30B-A3B-GGUF/Qwen3-30B-A3B-IQ4_XS.gguf", "Q4_K_M", moeGguf, "Q4_K_M"},
        {"Qwen__Qwen3-30B-A3B-GGUF/Qwen3-30B-A3B-IQ4_XS.gguf", "fp8", "Qwen__Qwen3-30B-A3B-FP8", ""},
        {"Qwen__Qwen3-8B", "awq", "Qwen__Qwen3-8B-AWQ", ""},
        {"Qwen__Qwen3-8B-AWQ", "bf16", "Qwen__Qwen3-8B", ""},
        {llama, "Q4_K_M", llamaGguf, "Q4_K_M"},
        {llama, "Q5_K_M", llamaGguf, "Q5_K_M"},
        {llama, "Q6_K", llamaGguf, "Q6_K"},
        {llama, "Q8_0", llamaGguf, "Q8_0"},
        {llama, "IQ4_XS", llamaGguf, "IQ4_XS"},
        {llama, "F16", llamaGguf, "F16"},
        {llama, "w4a16", "RedHatAI__Meta-Llama-3.1-8B-Instruct-quantized.w4a16", ""},
        {llama, "bnb-4bit", "unsloth__Meta-Llama-3.1-8B-Instruct-bnb-4bit", ""},
        {"RedHatAI__Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "Q4_K_M", llamaGguf, "Q4_K_M"},
        {"unsloth__Meta-Llama-3.1-8B-Instruct-bnb-4bit", "Q4_K_M", llamaGguf, "Q4_K_M"},
        {llamaBig, "Q4_K_M", llamaBigGguf, "Q4_K_M"},
        {llamaBig, "F16", llamaBigGguf, "F16"},
        {llamaBig, "fp8-tensor", "RedHatAI__Meta-Llama-3.1-70B-Instruct-FP8", ""},
        {"Qwen__Qwen2.5-7B-Instruct", "Q4_K_M", "Qwen__Qwen2.5-7B-Instruct-GGUF", "Q4_K_M"},
        {"Qwen__Qwen2.5-7B-Instruct", "Q8_0", "Qwen__Qwen2.5-7B-Instruct-GGUF", "Q8_0"},
        {"Qwen__Qwen2.5-7B-Instruct", "gptq", "Qwen__Qwen2.5-7B-Instruct-GPTQ-Int4", ""},
        {"list:Qwen__Qwen2.5-32B-Instruct", "Q4_K_M", "Qwen__Qwen2.5-32B-Instruct-GGUF", "Q4_K_M"},
        {"mistralai__Mixtral-8x7B-v0.1", "Q4_K_M", "mradermacher__Mixtral-8x7B-v0.1-GGUF", "Q4_K_M"},
        {"mistralai__Mixtral-8x7B-v0.1", "Q8_0", "mradermacher__Mixtral-8x7B-v0.1-GGUF", "Q8_0"},
        {"openai__gpt-oss-20b", "MXFP4", "ggml-org__gpt-oss-20b-GGUF", "MXFP4"},
        {"openai__gpt-oss-120b", "MXFP4", "ggml-org__gpt-oss-120b-GGUF", "MXFP4"},
        {hybrid, "Q4_K_M", hybridGguf, "Q4_K_M"},
        {hybrid, "Q8_0", hybridGguf, "Q8_0"},
        {hybrid, "BF16", hybridGguf, "BF16"},
        {"config:Qwen__Qwen3.5-35B-A3B", "BF16", hybridGguf, "BF16"},
        {"config:meta-llama__Llama-3.1-8B", "F16", llamaGguf, "F16"},
        {"config:meta-llama__Llama-3.1-70B-Instruct", "F16", llamaBigGguf, "F16"},
        {"config:zai-org__GLM-4.7-Flash", "BF16", flashGguf, "BF16"},
        {"config:Qwen__Qwen3.6-35B-A3B", "nvfp4-mixed", "nvidia__Qwen3.6-35B-A3B-NVFP4", ""},
        {"list:Qwen__Qwen3.6-35B-A3B", "nvfp4-mixed", "nvidia__Qwen3.6-35B-A3B-NVFP4", ""},
        {"nvidia__Qwen3.6-35B-A3B-NVFP4", "nvfp4-mixed", "nvidia__Qwen3.6-35B-A3B-NVFP4", ""},
        {"config:Qwen__Qwen3.6-35B-A3B", "Q4_K_M,mtp=Q4_K_M", draftGguf, "Q4_K_M"},
        {"list:Qwen__Qwen3.6-35B-A3B", "Q4_K_M,mtp=Q4_K_M", draftGguf, "Q4_K_M"},
        {"nvidia__Qwen3.6-35B-A3B-NVFP4", "Q4_K_M,mtp=Q4_K_M", draftGguf, "Q4_K_M"},
        {"nvidia__Qwen3.6-35B-A3B-NVFP4", "Q4_K_M", hybridGguf, "Q4_K_M"}, // of the same shapes
        {"Qwen__Qwen3.5-122B-A10B", "fp8", "Qwen__Qwen3.5-122B-A10B-FP8", ""},
        {"Qwen__Qwen3.5-122B-A10B", "autoround", "Intel__Qwen3.5-122B-A10B-int4-AutoRound", ""},
        {"Intel__Qwen3.5-122B-A10B-int4-AutoRound", "fp8", "Qwen__Qwen3.5-122B-A10B-FP8", ""},
        {nano, "Q4_K_M", nanoGguf, "Q4_K_M"},
        {nano, "Q8_0", nanoGguf, "Q8_0"},
        {flash, "Q4_K_M", flashGguf, "Q4_K_M"},
        {flash, "Q8_0", flashGguf, "Q8_0"},
        {flash, "BF16", flashGguf, "BF16"},
        {"unsloth__GLM-4.7-Flash-GGUF/GLM-4.7-Flash-Q8_0.gguf", "Q4_K_M", flashGguf, "Q4_K_M"},
    };
    for (const Row &row : rows)
        QTest::addRow("%s %s", row.source, row.recipe)
            << QString::fromLatin1(row.source) << QString::fromLatin1(row.recipe)
            << QString::fromLatin1(row.published) << QString::fromLatin1(row.variant);
}

void WhatIfTest::agreesWithPublished()
{
    if (!m_shared)
        QSKIP("no folder with forged repositories (WEIR_SHARED_DIR)");
    QFETCH(const QString, source);
    QFETCH(const QString, recipe);
    QFETCH(const QString, published);
    QFETCH(const QString, variant);
    const CheckpointPtr read = open(s(source));
    QVERIFY(read != nullptr);
    const Result<Checkpoint> made = requantize(*read, parseQuantRecipe(s(recipe)).value());
    QVERIFY2(made, made ? "" : made.error().id.c_str());
    const Json whole = readJson(*m_shared / "oracle" / "forged" / s(published) / "expected.json");
    const Json &expected = variant.isEmpty() ? whole : whole["variants"][s(variant)];
    QStringList differences;
    for (const auto &[id, wanted] : expected["components"].items()) {
        const ComponentSum *sum = made->sum(componentFromId(id).value());
        const std::uint64_t bytes = sum == nullptr ? 0 : sum->bytes;
        // Two scalars a layer of the FP8 KV cache, which is no matter of the weights.
        const std::uint64_t scalars =
            recipe == "nvfp4"_L1 && id == "attention" ? 8 * std::uint64_t{read->spec.layers} : 0;
        if (bytes + scalars != wanted["resident_bytes"])
            differences += u"%1: %2 bytes instead of %3"_s.arg(q(id)).arg(bytes).arg(
                wanted["resident_bytes"].get<std::uint64_t>());
        if ((sum == nullptr ? 0 : sum->parameters) != wanted["parameters"])
            differences += u"%1: parameters"_s.arg(q(id));
        if ((!variant.isEmpty() || recipe == "nvfp4-mixed"_L1) && sum != nullptr
            && (Json(sum->bytesByDtype) != wanted["dtypes"] || sum->tensors != wanted["tensors"]))
            differences +=
                u"%1: types %2, %3 tensors"_s.arg(q(id), q(Json(sum->bytesByDtype).dump())).arg(sum->tensors);
    }
    QVERIFY2(differences.isEmpty(), differences.join(u"\n  "_s).toUtf8().constData());
}

void WhatIfTest::publishedSizes_data()
{
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<double>("gibibytes");
    // llama.cpp and ollama, as published with benchmarks.
    QTest::newRow("llama 8B") << u"meta-llama__Llama-3.1-8B"_s << u"Q4_K_M"_s << 4.58;
    QTest::newRow("llama 70B") << u"list:meta-llama__Llama-3.1-70B-Instruct"_s << u"Q4_K_M"_s << 39.59;
    QTest::newRow("qwen2.5 7B") << u"Qwen__Qwen2.5-7B-Instruct"_s << u"Q4_K_M"_s << 4.36;
    QTest::newRow("qwen3moe 30B.A3B") << u"Qwen__Qwen3-30B-A3B"_s << u"Q4_K_M"_s << 17.28;
    QTest::newRow("gpt-oss 20B") << u"openai__gpt-oss-20b"_s << u"MXFP4"_s << 11.27;
    QTest::newRow("gpt-oss 120B") << u"openai__gpt-oss-120b"_s << u"MXFP4"_s << 59.02;
}

void WhatIfTest::publishedSizes()
{
    if (!m_shared)
        QSKIP("no folder with forged repositories (WEIR_SHARED_DIR)");
    QFETCH(const QString, source);
    QFETCH(const QString, recipe);
    QFETCH(const double, gibibytes);
    const CheckpointPtr read = open(s(source));
    QVERIFY(read != nullptr);
    const double found = static_cast<double>(derived(*read, s(recipe)).weightBytes()) / 1073741824.0;
    QCOMPARE(std::round(found * 100) / 100, gibibytes);
}

QTEST_GUILESS_MAIN(WhatIfTest)
#include "tst_whatif.moc"

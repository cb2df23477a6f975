// SPDX-License-Identifier: GPL-3.0-or-later
//
// How to test rules for a new architecture: add its class name and a few of its tensors to
// tensorsOfFamilies_data(). That each rule of its family can be reached is checked for all of them.
#include "models/checkpoint/classificationrules.h"
#include "models/checkpoint/classify.h"
#include "models/checkpoint/logicalsize.h"
#include "tests/support/testsupport.h"

#include <QTest>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;
using namespace Qt::StringLiterals;

namespace {

struct Stored
{
    std::string name;
    std::string dtype = "BF16";
    std::vector<std::uint64_t> shape{8, 8};
};

Checkpoint classified(const std::vector<Stored> &tensors, ModelConfig config,
                      Format format = Format::Safetensors)
{
    TensorSet set;
    for (const Stored &tensor : tensors) {
        std::uint64_t elements = 1;
        for (const std::uint64_t dimension : tensor.shape)
            elements *= dimension;
        if (!set.add(tensor.name, tensor.dtype, tensor.shape, elements * 2, 0))
            return {};
    }
    Checkpoint checkpoint;
    checkpoint.format = format;
    const std::vector<TensorFile> files{{"model", true}};
    classify(set, config, files, checkpoint);
    return checkpoint;
}

ModelConfig configOf(std::string_view architecture, std::uint32_t layers = 4)
{
    ModelConfig config;
    config.spec.architecture = std::string(architecture);
    config.spec.layers = layers;
    config.layerKinds.assign(layers, LayerKind::Attention);
    return config;
}

/// The group of one tensor name.
const TensorGroup *groupOf(const Checkpoint &checkpoint, const std::string &name)
{
    TensorSet set;
    if (!set.add(name, "BF16", {}, 0, 0))
        return nullptr;
    const auto found = std::ranges::find(checkpoint.groups, set.patterns().front(), &TensorGroup::pattern);
    return found == checkpoint.groups.end() ? nullptr : &*found;
}

QString what(const TensorGroup *group)
{
    if (group == nullptr)
        return u"nothing"_s;
    return q(componentId(group->component)) + u' ' + q(roleId(group->role))
           + (group->side ? u" side"_s : QString());
}

/// All names that a rule's pattern stands for, with one prefix: layer 0, one alternative of braces each.
std::vector<std::string> instances(std::string_view pattern, std::string_view prefix)
{
    std::vector<std::string> names{std::string(pattern.starts_with("P.") ? prefix : "")};
    if (pattern.starts_with("P."))
        pattern.remove_prefix(2);
    bool first = true;
    while (!pattern.empty()) {
        const std::size_t dot = pattern.find('.');
        std::string_view segment = pattern.substr(0, dot);
        pattern = dot == std::string_view::npos ? std::string_view{} : pattern.substr(dot + 1);
        std::vector<std::string> choices;
        if (segment == "N") {
            choices = {"0"};
        } else if (segment == "*") {
            choices = {"anything"};
        } else if (segment == "**") {
            choices = {"any.thing", "thing"};
        } else if (segment.starts_with("{")) {
            segment.remove_prefix(1);
            segment.remove_suffix(1);
            while (true) {
                const std::size_t comma = segment.find(',');
                choices.emplace_back(segment.substr(0, comma));
                if (comma == std::string_view::npos)
                    break;
                segment.remove_prefix(comma + 1);
            }
        } else {
            choices.emplace_back(segment);
        }
        std::vector<std::string> longer;
        for (const std::string &name : names) {
            for (const std::string &choice : choices)
                longer.push_back(name + (first ? "" : ".") + choice);
        }
        names = std::move(longer);
        first = false;
    }
    return names;
}

std::vector<const ArchitectureFamily *> allFamilies()
{
    std::vector<const ArchitectureFamily *> all;
    for (const ArchitectureFamily &family : safetensorsFamilies())
        all.push_back(&family);
    for (const ArchitectureFamily &family : ggufFamilies())
        all.push_back(&family);
    all.push_back(&genericSafetensorsFamily());
    all.push_back(&genericGgufFamily());
    return all;
}

bool isGguf(const ArchitectureFamily *family)
{
    return family == &genericGgufFamily()
           || std::ranges::any_of(ggufFamilies(), [family](const auto &each) { return &each == family; });
}

std::string architectureOf(const ArchitectureFamily *family)
{
    return family->architectures.empty() ? "NobodyKnowsForCausalLM"
                                         : std::string(family->architectures.front());
}

bool holdsNote(const Checkpoint &checkpoint, std::string_view id)
{
    return std::ranges::find(checkpoint.notes, id, &Message::id) != checkpoint.notes.end();
}

} // namespace

class ClassificationTest : public QObject
{
    Q_OBJECT

private slots:
    // the matcher
    void matches_data();
    void matches();
    void splitsNames_data();
    void splitsNames();
    void numbersBecomeN_data();
    void numbersBecomeN();
    void orderOfNamesChangesNothing();
    // the table
    void everyRuleCanBeReached_data();
    void everyRuleCanBeReached();
    void patternsAreWellFormed();
    void everyArchitectureIsInOneFamily();
    void everyRoleHasAnId();
    // tensors
    void tensorsOfFamilies_data();
    void tensorsOfFamilies();
    void towersAreNeverAttention_data();
    void towersAreNeverAttention();
    void gateProjectionsAreNeverRouters_data();
    void gateProjectionsAreNeverRouters();
    void sideTensors_data();
    void sideTensors();
    void logicalSizes_data();
    void logicalSizes();
    void bareScales();
    void draftLayersByNumber();
    void recurrentLayersByTheirTensors();
    // notes
    void unknownArchitecture();
    void unknownTensorsAreNamed();
    void manyUnknownTensorsAreCut();
    void tiedTables();
    void draftAnnouncedOnly();
    void expertsMissing();
    void expertsUndeclared();
    void everythingLandsOnce();
    void tooManyNames();
};

void ClassificationTest::matches_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("expected");
    const auto row = [](const char *pattern, const char *name, bool expected) {
        QTest::addRow("%s | %s", pattern, name) << q(pattern) << q(name) << expected;
    };
    // anchored at both ends
    row("a.b", "a.b", true);
    row("a.b", "a.b.c", false);
    row("a.b", "x.a.b", false);
    row("a.b", "a", false);
    row("a.b", "a.bb", false);
    row("a.b", "aa.b", false);
    row("a", "a.", false);
    row("a", "", false);
    row("", "", true);
    // prefixes
    row("P.lm_head", "lm_head", true);
    row("P.lm_head", "model.lm_head", true);
    row("P.lm_head", "model.language_model.lm_head", true);
    row("P.lm_head", "language_model.model.lm_head", true);
    row("P.lm_head", "backbone.lm_head", true);
    row("P.lm_head", "visual.lm_head", false);
    row("P.lm_head", "xmodel.lm_head", false);
    row("P.lm_head", "model.x.lm_head", false);
    row("P.lm_head", "P.lm_head", false);
    row("P.layers.N.norm", "model.visual.layers.N.norm", false);
    // numbers
    row("layers.N.a", "layers.N.a", true);
    row("layers.N.a", "layers.0.a", false);
    row("layers.N.a", "layers.NN.a", false);
    row("layers.N.a", "layers.a", false);
    // braces
    row("{a,bc}.d", "a.d", true);
    row("{a,bc}.d", "bc.d", true);
    row("{a,bc}.d", "b.d", false);
    row("{a,bc}.d", "a,bc.d", false);
    row("{a,bc}.d", "abc.d", false);
    row("{a}", "a", true);
    row("{a,}", "b", false);
    // one segment
    row("a.*.c", "a.b.c", true);
    row("a.*.c", "a.b.b.c", false);
    row("a.*.c", "a.c", false);
    row("*", "a", true);
    row("*", "a.b", false);
    // the rest
    row("a.**", "a.b", true);
    row("a.**", "a.b.c.d", true);
    row("a.**", "a", false);
    row("a.**", "ab.c", false);
    row("P.visual.**", "model.visual.blocks.N.attn.qkv", true);
    row("P.visual.**", "visual", false);
}

void ClassificationTest::matches()
{
    QFETCH(const QString, pattern);
    QFETCH(const QString, name);
    QFETCH(const bool, expected);
    QCOMPARE(matchesPattern(s(pattern), s(name)), expected);
}

void ClassificationTest::splitsNames_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("module");
    QTest::addColumn<QString>("leaf");
    QTest::addColumn<bool>("side");
    const auto row = [](const std::string &name, const char *module, const char *leaf, bool side) {
        QTest::newRow(name.c_str()) << q(name) << q(module) << q(leaf) << side;
    };
    row("a.q_proj.weight", "a.q_proj", "weight", false);
    row("a.q_proj.bias", "a.q_proj", "bias", false);
    row("a.q_proj.qweight", "a.q_proj", "qweight", false);
    row("a.q_proj.weight_packed", "a.q_proj", "weight_packed", false);
    for (const char *side :
         {"scales", "qzeros", "g_idx", "weight_scale", "weight_scale_inv", "weight_scale_2", "weight_shape",
          "weight_zero_point", "input_scale", "biases", "SCB", "k_scale", "weight_global_scale"})
        row(std::string("a.q_proj.") + side, "a.q_proj", side, true);
    row("a.q_proj.weight.absmax", "a.q_proj", "absmax", true);
    row("a.q_proj.weight.quant_map", "a.q_proj", "quant_map", true);
    row("a.q_proj.weight.nested_absmax", "a.q_proj", "nested_absmax", true);
    row("a.q_proj.weight.quant_state.bitsandbytes__nf4", "a.q_proj", "quant_state.bitsandbytes__nf4", true);
    row("a.experts.gate_up_proj", "a.experts.gate_up_proj", "", false);
    row("a.experts.gate_up_proj_blocks", "a.experts.gate_up_proj", "_blocks", false);
    row("a.experts.gate_up_proj_scales", "a.experts.gate_up_proj", "_scales", true);
    row("a.experts.gate_up_proj_bias", "a.experts.gate_up_proj", "_bias", false);
    row("a.A_log", "a.A_log", "", false);
    row("weight", "weight", "", false);
    row("a", "a", "", false);
    row("", "", "", false);
    row(".weight", "", "weight", false);
}

void ClassificationTest::splitsNames()
{
    QFETCH(const QString, name);
    QFETCH(const QString, module);
    QFETCH(const QString, leaf);
    QFETCH(const bool, side);
    const std::string text = s(name);
    const TensorName split = splitTensorName(text);
    QCOMPARE(q(split.module), module);
    QCOMPARE(q(split.leaf), leaf);
    QCOMPARE(split.side, side);
}

void ClassificationTest::orderOfNamesChangesNothing()
{
    // Names that a reader meets one after the other, with all that looks like a number and is none; each alone in
    // a set of its own says what all of them together have to give, in whatever order they come.
    const std::vector<std::string> names{"model.layers.0.mlp.experts.0.up.weight",
                                         "model.layers.0.mlp.experts.1.up.weight",
                                         "model.layers.12345678.up.weight",
                                         "model.layers.1234567.up.weight",
                                         "model.layers.N.up.weight",
                                         "model.layers.1N.up.weight",
                                         "model.layers.N1.up.weight",
                                         "layers.1",
                                         "layers.N",
                                         "layers.",
                                         "layers",
                                         "1.layers",
                                         "N.layers",
                                         "1",
                                         "N",
                                         "",
                                         ".",
                                         "..",
                                         ".1",
                                         "1.",
                                         "N.N",
                                         "1.2",
                                         "1.N",
                                         "N.2",
                                         "A_N.1.N_B",
                                         "A_N.22.N_B",
                                         "A_N.22.N_C",
                                         "model.layers.3.N.4",
                                         "model.layers.3.4.4",
                                         "00000001",
                                         "0000001",
                                         "-1.2"};
    const auto asText = [](const TensorSet &set, const RawGroup &group) {
        return set.patternOf(group) + '@' + std::to_string(group.layer);
    };
    std::map<std::string, std::uint64_t> expected;
    for (const std::string &name : names) {
        TensorSet alone;
        QVERIFY(alone.add(name, "F32", {}, 4, 0));
        expected[asText(alone, alone.groups().front())] += 7;
    }
    std::uint32_t state = 1;
    std::vector<std::string> order;
    for (int round = 0; round < 7; ++round)
        order.insert(order.end(), names.begin(), names.end());
    for (int shuffle = 0; shuffle < 50; ++shuffle) {
        TensorSet set;
        for (const std::string &name : order)
            QVERIFY(set.add(name, "F32", {}, 4, 0));
        std::map<std::string, std::uint64_t> found;
        for (const RawGroup &group : set.groups())
            found[asText(set, group)] += group.count;
        QCOMPARE(found, expected);
        for (std::size_t i = order.size(); i-- > 1;) {
            state = state * 1664525 + 1013904223;
            std::swap(order[i], order[(state >> 8U) % (i + 1)]);
        }
    }
}

void ClassificationTest::numbersBecomeN_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<qint64>("layer"); // -1: none
    const auto row = [](const char *name, const char *pattern, qint64 layer) {
        QTest::newRow(name) << q(name) << q(pattern) << layer;
    };
    row("model.layers.3.mlp.experts.17.up_proj", "model.layers.N.mlp.experts.N.up_proj", 3);
    row("lm_head.weight", "lm_head.weight", -1);
    row("0", "N", 0);
    row("a.007", "a.N", 7);
    row("a.9999999", "a.N", 9'999'999);
    row("a.10000000", "a.10000000", -1);
    row("a.99999999999999999999.1", "a.99999999999999999999.N", 1);
    row("w1.2", "w1.N", 2);
    row("a.-1", "a.-1", -1);
    row("a..1", "a..N", 1);
    row("", "", -1);
    row(".", ".", -1);
}

void ClassificationTest::numbersBecomeN()
{
    QFETCH(const QString, name);
    QFETCH(const QString, pattern);
    QFETCH(const qint64, layer);
    TensorSet set;
    QVERIFY(set.add(s(name), "BF16", {}, 0, 0));
    QCOMPARE(q(set.patterns().at(0)), pattern);
    QCOMPARE(set.groups().at(0).layer == RawGroup::noLayer ? qint64{-1} : qint64{set.groups().at(0).layer},
             layer);
}

void ClassificationTest::everyRuleCanBeReached_data()
{
    QTest::addColumn<int>("family");
    int number = 0;
    for (const ArchitectureFamily *family : allFamilies())
        QTest::addRow("%s%s", std::string(family->id).c_str(), isGguf(family) ? " (GGUF)" : "") << number++;
}

void ClassificationTest::everyRuleCanBeReached()
{
    QFETCH(const int, family);
    const ArchitectureFamily *each = allFamilies().at(static_cast<std::size_t>(family));
    QStringList shadowed;
    for (const RuleBlock &block : each->blocks) {
        for (const ClassificationRule &rule : block) {
            for (const char *prefix : {"", "model.", "model.language_model."}) {
                for (const std::string &module : instances(rule.pattern, prefix)) {
                    std::vector<Stored> tensors{{module + ".weight"}};
                    if (rule.where == Where::StateLayer) {
                        tensors.push_back({isGguf(each) ? std::string("blk.0.ssm_a")
                                                        : std::string(prefix) + "layers.0.self_attn.A_log"});
                    }
                    const Checkpoint checkpoint =
                        classified(tensors, configOf(architectureOf(each)),
                                   isGguf(each) ? Format::Gguf : Format::Safetensors);
                    const TensorGroup *group = groupOf(checkpoint, module + ".weight");
                    QVERIFY2(group != nullptr, module.c_str());
                    if (group->component != rule.component || group->role != rule.role) {
                        shadowed += u"%1 (%2): %3 instead of %4 %5"_s.arg(
                            q(rule.pattern), q(module), what(group), q(componentId(rule.component)),
                            q(roleId(rule.role)));
                    }
                    QCOMPARE(checkpoint.spec.family == "generic", each->architectures.empty());
                }
            }
        }
    }
    QVERIFY2(shadowed.isEmpty(), qPrintable(shadowed.join("\n  "_L1)));
}

void ClassificationTest::patternsAreWellFormed()
{
    for (const ArchitectureFamily *family : allFamilies()) {
        for (const RuleBlock &block : family->blocks) {
            for (const ClassificationRule &rule : block) {
                const QStringList segments = q(rule.pattern).split(u'.');
                for (const QString &segment : segments) {
                    QVERIFY2(!segment.isEmpty() && !segment.contains(u' '), qPrintable(q(rule.pattern)));
                    QCOMPARE(segment.count(u'{'), segment.count(u'}'));
                    QCOMPARE(segment.startsWith(u'{'), segment.endsWith(u'}'));
                    QVERIFY(segment == "*"_L1 || segment == "**"_L1 || !segment.contains(u'*'));
                    // Digits stand as N in names.
                    QVERIFY2(!segment.at(0).isDigit(), qPrintable(q(rule.pattern)));
                }
                const auto rest = segments.indexOf(u"**"_s);
                QVERIFY2(rest < 0 || rest == segments.size() - 1, qPrintable(q(rule.pattern)));
                QVERIFY2(segments.indexOf(u"P"_s) <= 0, qPrintable(q(rule.pattern)));
            }
        }
    }
}

void ClassificationTest::everyArchitectureIsInOneFamily()
{
    for (const std::span<const ArchitectureFamily> families : {safetensorsFamilies(), ggufFamilies()}) {
        std::set<std::string> ids;
        std::set<std::string> architectures;
        for (const ArchitectureFamily &family : families) {
            QVERIFY(ids.insert(std::string(family.id)).second);
            QVERIFY(family.id != "generic");
            QVERIFY(!family.architectures.empty());
            for (const std::string_view architecture : family.architectures)
                QVERIFY2(architectures.insert(std::string(architecture)).second,
                         std::string(architecture).c_str());
        }
    }
}

void ClassificationTest::everyRoleHasAnId()
{
    std::set<std::string_view> ids;
    for (const Component component : allComponents) {
        QVERIFY(ids.insert(componentId(component)).second);
        QCOMPARE(componentFromId(componentId(component)), std::optional(component));
    }
    ids.clear();
    for (int number = 0; number <= static_cast<int>(Role::UnseenRemainder); ++number) {
        const Role role = static_cast<Role>(number);
        QVERIFY2(!roleId(role).empty() && ids.insert(roleId(role)).second,
                 qPrintable(QString::number(number)));
        QCOMPARE(roleFromId(roleId(role)), std::optional(role));
    }
    ids.clear();
    for (int number = 0; number <= static_cast<int>(LayerKind::FeedForward); ++number) {
        const LayerKind kind = static_cast<LayerKind>(number);
        QVERIFY(!layerKindId(kind).empty() && ids.insert(layerKindId(kind)).second);
        QCOMPARE(layerKindFromId(layerKindId(kind)), std::optional(kind));
    }
    QVERIFY(!componentFromId("").has_value());
    QVERIFY(!roleFromId("Query").has_value());
}

void ClassificationTest::tensorsOfFamilies_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *architecture, const char *name, const char *expected) {
        QTest::addRow("%s %s", architecture, name) << q(architecture) << q(name) << q(expected);
    };
    row("LlamaForCausalLM", "model.layers.0.self_attn.q_proj.weight", "attention query");
    row("LlamaForCausalLM", "model.layers.0.mlp.down_proj.weight", "dense_mlp down");
    row("LlamaForCausalLM", "model.embed_tokens.weight", "embed_tokens embedding");
    row("LlamaForCausalLM", "lm_head.weight", "lm_head head");
    row("LlamaForCausalLM", "model.norm.weight", "norm norm_weight");
    row("LlamaForCausalLM", "model.layers.0.self_attn.k_scale", "attention attention_small side");
    row("Qwen2ForCausalLM", "model.layers.0.self_attn.q_proj.bias", "attention query");
    row("Qwen3ForCausalLM", "model.layers.0.self_attn.q_norm.weight", "attention attention_small");
    row("MixtralForCausalLM", "model.layers.0.block_sparse_moe.experts.7.w2.weight", "routed_experts down");
    row("MixtralForCausalLM", "model.layers.0.block_sparse_moe.gate.weight", "router router_weight");
    row("Qwen3MoeForCausalLM", "model.layers.0.mlp.experts.3.gate_proj.weight", "routed_experts gate");
    row("Qwen3MoeForCausalLM", "model.layers.0.mlp.gate.weight", "router router_weight");
    row("GptOssForCausalLM", "model.layers.0.mlp.experts.gate_up_proj_blocks", "routed_experts gate_up");
    row("GptOssForCausalLM", "model.layers.0.mlp.experts.gate_up_proj_scales", "routed_experts gate_up side");
    row("GptOssForCausalLM", "model.layers.0.mlp.experts.down_proj_bias", "routed_experts down");
    row("GptOssForCausalLM", "model.layers.0.mlp.router.bias", "router router_weight");
    row("GptOssForCausalLM", "model.layers.0.self_attn.sinks", "attention attention_small");
    row("DeepseekV3ForCausalLM", "model.layers.0.self_attn.kv_a_proj_with_mqa.weight", "attention mla_down");
    row("DeepseekV3ForCausalLM", "model.layers.0.self_attn.q_b_proj.weight_scale_inv",
        "attention mla_up side");
    row("DeepseekV3ForCausalLM", "model.layers.0.mlp.gate.e_score_correction_bias", "router router_bias");
    row("DeepseekV3ForCausalLM", "model.layers.0.mlp.shared_experts.up_proj.weight", "shared_expert up");
    row("DeepseekV32ForCausalLM", "model.layers.0.self_attn.indexer.wk.weight", "attention indexer");
    row("Qwen3_5MoeForConditionalGeneration", "model.language_model.layers.0.linear_attn.in_proj_qkv.weight",
        "linear_attention recurrent_input");
    row("Qwen3_5MoeForConditionalGeneration", "model.language_model.layers.0.linear_attn.A_log",
        "linear_attention recurrent_small");
    row("Qwen3_5MoeForConditionalGeneration", "model.language_model.layers.0.mlp.shared_expert_gate.weight",
        "shared_expert shared_expert_gate");
    row("Qwen3_5MoeForConditionalGeneration", "model.language_model.layers.0.mlp.experts.gate_up_proj",
        "routed_experts gate_up");
    row("Qwen3_5MoeForConditionalGeneration", "model.visual.merger.linear_fc1.weight", "vision tower");
    row("Qwen3_5MoeForConditionalGeneration", "mtp.fc.weight", "mtp mtp_projection");
    row("Qwen3_5MoeForConditionalGeneration", "mtp.layers.0.mlp.experts.5.up_proj.qweight",
        "mtp mtp_experts");
    row("Qwen3_5MoeForConditionalGeneration", "mtp.layers.0.self_attn.q_proj.weight", "mtp mtp_attention");
    row("Qwen3NextForCausalLM", "model.layers.0.linear_attn.in_proj_qkvz.weight",
        "linear_attention recurrent_input");
    row("NemotronHForCausalLM", "backbone.layers.0.mixer.in_proj.weight", "linear_attention recurrent_input");
    row("NemotronHForCausalLM", "backbone.layers.0.mixer.D", "linear_attention recurrent_small");
    row("NemotronHForCausalLM", "backbone.layers.0.mixer.fc1_latent_proj.weight",
        "shared_expert latent_projection");
    row("NemotronHForCausalLM", "backbone.layers.0.mixer.experts.7.down_proj.weight", "routed_experts down");
    row("NemotronHForCausalLM", "backbone.layers.0.mixer.gate.e_score_correction_bias", "router router_bias");
    row("NemotronHForCausalLM", "backbone.embeddings.weight", "embed_tokens embedding");
    row("NemotronHForCausalLM", "backbone.norm_f.weight", "norm norm_weight");
    row("Gemma4ForConditionalGeneration", "model.language_model.layers.0.layer_scalar", "other unspecified");
    row("Gemma4ForConditionalGeneration", "model.language_model.layers.0.router.per_expert_scale",
        "router router_bias");
    row("Gemma4ForConditionalGeneration", "model.language_model.layers.0.router.scale", "router router_bias");
    row("Gemma4ForConditionalGeneration", "model.language_model.layers.0.mlp.gate_proj.weight",
        "dense_mlp gate");
    row("Gemma4ForConditionalGeneration", "model.language_model.embed_tokens_per_layer.weight",
        "lookup_tables embedding");
    row("Gemma4ForConditionalGeneration", "model.embed_vision.embedding_projection.weight",
        "vision projector");
    row("Llama4ForConditionalGeneration", "language_model.model.layers.0.feed_forward.experts.down_proj",
        "routed_experts down");
    row("Llama4ForConditionalGeneration",
        "language_model.model.layers.0.feed_forward.shared_expert.up_proj.weight", "shared_expert up");
    row("Llama4ForConditionalGeneration", "vision_model.model.layers.0.self_attn.q_proj.weight",
        "vision tower");
    row("Llama4ForConditionalGeneration", "multi_modal_projector.linear_1.weight", "vision projector");
    row("MiniMaxM2ForCausalLM", "model.layers.0.block_sparse_moe.e_score_correction_bias",
        "router router_bias");
    row("Lfm2MoeForCausalLM", "model.layers.0.conv.conv.weight", "linear_attention recurrent_small");
    row("llama", "blk.0.ffn_gate_inp.weight", "router router_weight");
    row("llama", "rope_freqs.weight", "other unspecified");
    row("llama", "blk.0.attn_output.weight", "attention attention_output");
    row("qwen35moe", "blk.0.ffn_gate_inp_shexp.weight", "shared_expert shared_expert_gate");
    row("qwen35moe", "blk.0.nextn.eh_proj.weight", "mtp mtp_projection");
    row("nemotron_h_moe", "blk.0.exp_probs_b.bias", "router router_bias");
    row("nemotron_h_moe", "blk.0.ssm_d", "linear_attention recurrent_small");
    row("gemma4", "per_layer_token_embd.weight", "lookup_tables embedding");
    row("deepseek2", "blk.0.attn_k_b.weight", "attention mla_up");
    row("gpt-oss", "blk.0.ffn_down_exps.bias", "routed_experts down");
}

void ClassificationTest::tensorsOfFamilies()
{
    QFETCH(const QString, architecture);
    QFETCH(const QString, name);
    QFETCH(const QString, expected);
    const bool gguf = architecture.at(0).isLower();
    const Checkpoint checkpoint =
        classified({{s(name)}}, configOf(s(architecture)), gguf ? Format::Gguf : Format::Safetensors);
    QCOMPARE(what(groupOf(checkpoint, s(name))), expected);
    QVERIFY(checkpoint.spec.family != "generic");
    QVERIFY(!holdsNote(checkpoint, "checkpoint.unknown-tensors"));
}

void ClassificationTest::towersAreNeverAttention_data() { everyRuleCanBeReached_data(); }

void ClassificationTest::towersAreNeverAttention()
{
    QFETCH(const int, family);
    const ArchitectureFamily *each = allFamilies().at(static_cast<std::size_t>(family));
    const std::vector<std::string> names =
        isGguf(each) ? std::vector<std::string>{"v.blk.0.attn_q.weight", "v.blk.0.attn_out.weight",
                                                "v.blk.0.ffn_down.weight", "mm.0.weight"}
                     : std::vector<std::string>{"model.visual.blocks.0.attn.qkv.weight",
                                                "visual.blocks.0.attn.proj.bias",
                                                "model.visual.layers.0.self_attn.q_proj.weight",
                                                "vision_tower.encoder.layers.0.self_attn.k_proj.weight",
                                                "model.vision_tower.encoder.layers.0.self_attn.o_proj.weight",
                                                "vision_model.model.layers.0.self_attn.v_proj.weight",
                                                "model.visual.deepstack_merger_list.0.linear_fc1.weight",
                                                "model.visual.blocks.0.mlp.gate_proj.weight"};
    for (const std::string &name : names) {
        const Checkpoint checkpoint = classified({{name}}, configOf(architectureOf(each)),
                                                 isGguf(each) ? Format::Gguf : Format::Safetensors);
        QCOMPARE(checkpoint.groups.size(), 1U);
        QVERIFY2(checkpoint.groups[0].component == Component::Vision, name.c_str());
    }
}

void ClassificationTest::gateProjectionsAreNeverRouters_data() { everyRuleCanBeReached_data(); }

void ClassificationTest::gateProjectionsAreNeverRouters()
{
    QFETCH(const int, family);
    const ArchitectureFamily *each = allFamilies().at(static_cast<std::size_t>(family));
    for (const char *name :
         {"model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.experts.0.gate_proj.weight",
          "model.layers.0.mlp.shared_expert.gate_proj.weight", "model.layers.0.mlp.gate_up_proj.weight",
          "model.layers.0.mlp.shared_expert_gate.weight", "model.layers.0.self_attn.gate_proj.weight",
          "blk.0.ffn_gate.weight", "blk.0.ffn_gate_exps.weight", "blk.0.ffn_gate_shexp.weight"}) {
        const Checkpoint checkpoint = classified({{name}}, configOf(architectureOf(each)),
                                                 isGguf(each) ? Format::Gguf : Format::Safetensors);
        QVERIFY2(checkpoint.groups.at(0).component != Component::Router, name);
    }
}

void ClassificationTest::sideTensors_data()
{
    QTest::addColumn<QString>("module");
    QTest::addColumn<QString>("component");
    for (const auto &[module, component] : {std::pair{"model.layers.0.self_attn.q_proj", "attention"},
                                            {"model.layers.0.mlp.experts.3.up_proj", "routed_experts"},
                                            {"model.layers.0.mlp.shared_expert.down_proj", "shared_expert"},
                                            {"model.layers.0.linear_attn.out_proj", "linear_attention"},
                                            {"lm_head", "lm_head"},
                                            {"mtp.layers.0.mlp.experts.3.up_proj", "mtp"},
                                            {"model.visual.blocks.0.attn.qkv", "vision"}})
        QTest::newRow(module) << q(module) << q(component);
}

void ClassificationTest::sideTensors()
{
    QFETCH(const QString, module);
    QFETCH(const QString, component);
    // What GPTQ, AWQ, compressed-tensors, FP8, ModelOpt, MLX and bitsandbytes store beside a weight.
    for (const char *leaf : {".scales",
                             ".qzeros",
                             ".g_idx",
                             ".weight_scale",
                             ".weight_scale_inv",
                             ".weight_scale_2",
                             ".weight_global_scale",
                             ".weight_shape",
                             ".weight_zero_point",
                             ".weight_g_idx",
                             ".input_scale",
                             ".input_global_scale",
                             ".output_scale",
                             ".biases",
                             ".SCB",
                             ".weight_format",
                             ".weight.absmax",
                             ".weight.quant_map",
                             ".weight.nested_absmax",
                             ".weight.nested_quant_map",
                             ".weight.quant_state.bitsandbytes__nf4"}) {
        const std::string name = s(module) + leaf;
        const Checkpoint checkpoint =
            classified({{name, "F32", {4}}}, configOf("Qwen3_5MoeForConditionalGeneration"));
        const TensorGroup *group = groupOf(checkpoint, name);
        QVERIFY2(group != nullptr && group->side, name.c_str());
        QCOMPARE(q(componentId(group->component)), component);
        QCOMPARE(group->parameters, 0U);
        QVERIFY2(!holdsNote(checkpoint, "checkpoint.unknown-tensors"), name.c_str());
    }
}

void ClassificationTest::logicalSizes_data()
{
    QTest::addColumn<QString>("layout");
    for (const char *layout : {"bf16", "fp8 block", "gptq 4", "gptq 8", "gptq 3", "gptq declared wrongly",
                               "awq", "pack-quantized 4", "pack-quantized 8", "int8", "nvfp4", "mxfp4 blocks",
                               "mlx 4", "mlx 8", "mlx 6", "bnb nf4", "bnb int8"})
        QTest::newRow(layout) << q(layout);
}

void ClassificationTest::logicalSizes()
{
    // One matrix of 256 outputs and 512 inputs in every layout.
    QFETCH(const QString, layout);
    ModelConfig config = configOf("LlamaForCausalLM");
    const std::string module = "model.layers.0.mlp.down_proj";
    std::vector<Stored> tensors;
    QuantizationConfig &declared = config.quantization;
    const auto is = [&layout](const char *name) { return layout == q(name); };
    const auto gptq = [&](std::uint64_t bits) {
        tensors = {{module + ".qweight", "I32", {512 * bits / 32, 256}},
                   {module + ".qzeros", "I32", {4, 256 * bits / 32}},
                   {module + ".scales", "F16", {4, 256}},
                   {module + ".g_idx", "I32", {512}}};
        declared.method = "gptq";
        declared.bits = static_cast<unsigned>(bits);
        declared.groupSize = 128;
    };
    const auto mlx = [&](std::uint64_t bits) {
        tensors = {{module + ".weight", "U32", {256, 512 * bits / 32}},
                   {module + ".scales", "BF16", {256, 8}},
                   {module + ".biases", "BF16", {256, 8}}};
        declared.method = "mlx";
        declared.bits = static_cast<unsigned>(bits);
        declared.groupSize = 64;
    };
    const auto packed = [&](std::uint64_t bits) {
        tensors = {{module + ".weight_packed", "I32", {256, 512 * bits / 32}},
                   {module + ".weight_scale", "BF16", {256, 4}},
                   {module + ".weight_shape", "I64", {2}}};
        declared.method = "compressed-tensors";
        declared.bits = static_cast<unsigned>(bits);
        declared.groupSize = 128;
    };
    if (is("bf16")) {
        tensors = {{module + ".weight", "BF16", {256, 512}}};
    } else if (is("fp8 block")) {
        tensors = {{module + ".weight", "F8_E4M3", {256, 512}},
                   {module + ".weight_scale_inv", "F32", {2, 4}}};
    } else if (is("gptq 4")) {
        gptq(4);
    } else if (is("gptq 8")) {
        gptq(8);
    } else if (is("gptq 3")) {
        gptq(3);
    } else if (is("gptq declared wrongly")) {
        gptq(8); // the zero points tell the truth
        declared.bits = 4;
    } else if (is("awq")) {
        tensors = {{module + ".qweight", "I32", {512, 256 / 8}},
                   {module + ".qzeros", "I32", {4, 256 / 8}},
                   {module + ".scales", "F16", {4, 256}}};
        declared.method = "awq";
    } else if (is("pack-quantized 4")) {
        packed(4);
    } else if (is("pack-quantized 8")) {
        packed(8);
    } else if (is("int8")) {
        tensors = {{module + ".weight", "I8", {256, 512}}, {module + ".weight_scale", "F32", {256, 1}}};
    } else if (is("nvfp4")) {
        tensors = {{module + ".weight", "U8", {256, 256}},
                   {module + ".weight_scale", "F8_E4M3", {256, 32}},
                   {module + ".weight_scale_2", "F32", {}},
                   {module + ".input_scale", "F32", {}}};
        declared.method = "modelopt";
    } else if (is("mxfp4 blocks")) {
        config = configOf("GptOssForCausalLM");
        const std::string experts = "model.layers.0.mlp.experts.down_proj";
        tensors = {{experts + "_blocks", "U8", {4, 64, 16, 16}}, {experts + "_scales", "U8", {4, 64, 16}}};
    } else if (is("mlx 4")) {
        mlx(4);
    } else if (is("mlx 8")) {
        mlx(8);
    } else if (is("mlx 6")) {
        mlx(6);
    } else if (is("bnb nf4")) {
        tensors = {{module + ".weight", "U8", {65'536, 1}},
                   {module + ".weight.absmax", "U8", {2048}},
                   {module + ".weight.quant_map", "F32", {16}},
                   {module + ".weight.nested_absmax", "F32", {8}},
                   {module + ".weight.nested_quant_map", "F32", {256}},
                   {module + ".weight.quant_state.bitsandbytes__nf4", "U8", {100}}};
    } else if (is("bnb int8")) {
        tensors = {{module + ".weight", "I8", {256, 512}},
                   {module + ".SCB", "F32", {256}},
                   {module + ".weight_format", "U8", {}}};
    }
    const Checkpoint checkpoint = classified(tensors, config);
    QCOMPARE(checkpoint.parametersTotal(), 256U * 512);
    QCOMPARE(checkpoint.sums.size(), 1U); // all of it in one component
    QCOMPARE(checkpoint.sums[0].tensors, tensors.size());
}

void ClassificationTest::bareScales()
{
    // A parameter called scale, and the scale of a quantized weight.
    const Checkpoint plain = classified(
        {{"model.layers.0.router.scale", "BF16", {8}}, {"model.layers.0.router.proj.weight", "BF16", {8, 8}}},
        configOf("Gemma4ForCausalLM"));
    QCOMPARE(what(groupOf(plain, "model.layers.0.router.scale")), u"router router_bias"_s);
    QCOMPARE(groupOf(plain, "model.layers.0.router.scale")->parameters, 8U);
    const Checkpoint quantized = classified({{"model.layers.0.mlp.up_proj.scale", "F32", {8}},
                                             {"model.layers.0.mlp.up_proj.weight", "F8_E4M3", {8, 8}}},
                                            configOf("LlamaForCausalLM"));
    QVERIFY(groupOf(quantized, "model.layers.0.mlp.up_proj.scale")->side);
    QCOMPARE(quantized.parametersTotal(), 64U);
}

void ClassificationTest::draftLayersByNumber()
{
    const ModelConfig config = configOf("DeepseekV3ForCausalLM", 61);
    const Checkpoint checkpoint = classified({{"model.layers.60.mlp.experts.0.up_proj.weight"},
                                              {"model.layers.61.mlp.experts.0.up_proj.weight"},
                                              {"model.layers.61.eh_proj.weight"},
                                              {"model.layers.61.embed_tokens.weight"},
                                              {"model.layers.61.shared_head.head.weight"},
                                              {"model.layers.61.self_attn.q_a_proj.weight"},
                                              {"model.layers.61.input_layernorm.weight"},
                                              {"model.layers.62.something.new"}},
                                             config);
    // The same pattern on both sides of the border: two groups.
    std::uint64_t routed = 0;
    std::uint64_t draft = 0;
    std::set<Role> roles;
    for (const TensorGroup &group : checkpoint.groups) {
        (group.component == Component::Mtp ? draft : routed) += group.count;
        if (group.component == Component::Mtp)
            roles.insert(group.role);
        else
            QCOMPARE(group.component, Component::RoutedExperts);
    }
    QCOMPARE(routed, 1U);
    QCOMPARE(draft, 7U);
    QCOMPARE(roles, (std::set<Role>{Role::MtpProjection, Role::MtpEmbedding, Role::MtpHead, Role::MtpExperts,
                                    Role::MtpAttention, Role::MtpRest}));
    QVERIFY(!holdsNote(checkpoint, "checkpoint.unknown-tensors"));

    const Checkpoint gguf = classified({{"blk.1.attn_q.weight"},
                                        {"blk.2.attn_q.weight"},
                                        {"blk.2.ffn_up_exps.weight"},
                                        {"blk.2.nextn.eh_proj.weight"}},
                                       configOf("glm4moe", 2), Format::Gguf);
    QCOMPARE(gguf.sum(Component::Attention)->tensors, 1U);
    QCOMPARE(gguf.sum(Component::Mtp)->tensors, 3U);
}

void ClassificationTest::recurrentLayersByTheirTensors()
{
    ModelConfig kimi = configOf("KimiLinearForCausalLM", 2);
    kimi.layerKinds = {LayerKind::Kda, LayerKind::Mla};
    const Checkpoint checkpoint = classified({{"model.layers.0.self_attn.q_proj.weight"},
                                              {"model.layers.0.self_attn.A_log", "F32", {1, 1, 8, 1}},
                                              {"model.layers.0.self_attn.q_conv1d.weight"},
                                              {"model.layers.0.self_attn.o_proj.weight"},
                                              {"model.layers.1.self_attn.q_proj.weight"},
                                              {"model.layers.1.self_attn.o_proj.weight"},
                                              {"model.layers.1.self_attn.kv_b_proj.weight"}},
                                             kimi);
    QCOMPARE(checkpoint.sum(Component::LinearAttention)->tensors, 4U);
    QCOMPARE(checkpoint.sum(Component::Attention)->tensors, 3U);
    for (const TensorGroup &group : checkpoint.groups) {
        QCOMPARE(group.layerKind,
                 group.component == Component::LinearAttention ? LayerKind::Kda : LayerKind::Mla);
    }

    // GGUF: attn_qkv and attn_gate are projections of the recurrence in a block that has one.
    const Checkpoint gguf = classified({{"blk.0.attn_qkv.weight"},
                                        {"blk.0.attn_gate.weight"},
                                        {"blk.0.ssm_a"},
                                        {"blk.1.attn_qkv.weight"},
                                        {"blk.1.attn_gate.weight"}},
                                       configOf("qwen35moe", 2), Format::Gguf);
    QCOMPARE(gguf.sum(Component::LinearAttention)->tensors, 3U);
    QCOMPARE(gguf.sum(Component::Attention)->tensors, 2U);
}

void ClassificationTest::unknownArchitecture()
{
    const Checkpoint checkpoint = classified({{"model.embed_tokens.weight"},
                                              {"model.layers.0.self_attn.q_proj.weight"},
                                              {"model.layers.0.mlp.experts.0.up_proj.weight"},
                                              {"model.layers.0.mlp.gate.weight"},
                                              {"model.visual.blocks.0.attn.qkv.weight"}},
                                             configOf("BrandNewForCausalLM"));
    QCOMPARE(q(checkpoint.spec.family), u"generic"_s);
    QVERIFY(holdsNote(checkpoint, "checkpoint.unknown-architecture"));
    const auto note = std::ranges::find(checkpoint.notes, "checkpoint.unknown-architecture", &Message::id);
    QCOMPARE(note->severity, Severity::Warning);
    QCOMPARE(argumentText(note->arguments, "architecture"), u"BrandNewForCausalLM"_s);
    QVERIFY(!holdsNote(checkpoint, "checkpoint.unknown-tensors"));
    for (const Component component : {Component::EmbedTokens, Component::Attention, Component::RoutedExperts,
                                      Component::Router, Component::Vision})
        QVERIFY(checkpoint.sum(component) != nullptr);
    const Checkpoint gguf = classified({{"blk.0.attn_q.weight"}}, configOf("brandnew"), Format::Gguf);
    QCOMPARE(q(gguf.spec.family), u"generic"_s);
    QVERIFY(holdsNote(gguf, "checkpoint.unknown-architecture"));
}

void ClassificationTest::unknownTensorsAreNamed()
{
    const Checkpoint checkpoint =
        classified({{"model.layers.0.self_attn.q_proj.weight"},
                    {"model.layers.0.self_attn.flux_capacitor.weight", "BF16", {10}},
                    {"model.layers.1.self_attn.flux_capacitor.weight", "BF16", {10}},
                    {"surprise", "F32", {}}},
                   configOf("LlamaForCausalLM"));
    QCOMPARE(checkpoint.sum(Component::Other)->tensors, 3U);
    const auto note = std::ranges::find(checkpoint.notes, "checkpoint.unknown-tensors", &Message::id);
    QVERIFY(note != checkpoint.notes.end());
    QCOMPARE(note->severity, Severity::Warning);
    QCOMPARE(argumentText(note->arguments, "names"),
             u"model.layers.N.self_attn.flux_capacitor.weight, surprise"_s);
    QCOMPARE(argumentText(note->arguments, "patterns"), u"2"_s);
    QCOMPARE(argumentText(note->arguments, "bytes"), u"42"_s);
    // What a rule sorts under "other" is known.
    const Checkpoint known = classified({{"rope_freqs.weight"}}, configOf("llama"), Format::Gguf);
    QVERIFY(known.sum(Component::Other) != nullptr);
    QVERIFY(!holdsNote(known, "checkpoint.unknown-tensors"));
}

void ClassificationTest::manyUnknownTensorsAreCut()
{
    std::vector<Stored> tensors;
    for (char a = 'a'; a <= 'z'; ++a)
        tensors.push_back({std::string("unknown_") + a + std::string(500, 'x')});
    const Checkpoint checkpoint = classified(tensors, configOf("LlamaForCausalLM"));
    const auto note = std::ranges::find(checkpoint.notes, "checkpoint.unknown-tensors", &Message::id);
    QCOMPARE(argumentText(note->arguments, "patterns"), u"26"_s);
    QVERIFY(argumentText(note->arguments, "names").size() < 1000);
}

void ClassificationTest::tiedTables()
{
    ModelConfig config = configOf("LlamaForCausalLM");
    const Checkpoint tied = classified({{"model.embed_tokens.weight"}}, config);
    QVERIFY(tied.spec.tiedEmbeddings);
    QVERIFY(!holdsNote(tied, "checkpoint.head-missing"));
    // The tensors decide, whatever the config says.
    config.declaredTied = true;
    QVERIFY(!classified({{"model.embed_tokens.weight"}, {"lm_head.weight"}}, config).spec.tiedEmbeddings);
    config.declaredTied = false;
    const Checkpoint missing = classified({{"model.embed_tokens.weight"}}, config);
    QVERIFY(missing.spec.tiedEmbeddings);
    QVERIFY(holdsNote(missing, "checkpoint.head-missing"));
    QVERIFY(!classified({{"model.norm.weight"}}, config).spec.tiedEmbeddings);
}

void ClassificationTest::draftAnnouncedOnly()
{
    ModelConfig config = configOf("Qwen3_5MoeForConditionalGeneration");
    config.draftLayers = 1;
    QVERIFY(holdsNote(classified({{"lm_head.weight"}}, config), "checkpoint.draft-announced-only"));
    QVERIFY(!holdsNote(classified({{"mtp.fc.weight"}}, config), "checkpoint.draft-announced-only"));
}

void ClassificationTest::expertsMissing()
{
    ModelConfig config = configOf("Qwen3MoeForCausalLM");
    config.spec.experts = 8;
    config.spec.expertsPerToken = 2;
    const Checkpoint missing = classified({{"model.layers.0.mlp.up_proj.weight"}}, config);
    QVERIFY(holdsNote(missing, "checkpoint.experts-missing"));
    QVERIFY(!missing.isMoe());
    const Checkpoint sound = classified({{"model.layers.0.mlp.experts.0.up_proj.weight"},
                                         {"model.layers.0.mlp.experts.1.up_proj.weight"},
                                         {"model.layers.2.mlp.experts.0.up_proj.weight"}},
                                        config);
    QVERIFY(!holdsNote(sound, "checkpoint.experts-missing"));
    QCOMPARE(sound.spec.moeLayers, 2U);
    QCOMPARE(sound.groups.size(), 1U);
    QCOMPARE(sound.groups[0].count, 3U);
    QCOMPARE(sound.groups[0].layers, (std::vector<std::uint32_t>{0, 2}));
}

void ClassificationTest::expertsUndeclared()
{
    const Checkpoint checkpoint =
        classified({{"model.layers.0.mlp.experts.0.up_proj.weight"}}, configOf("Qwen3MoeForCausalLM"));
    QVERIFY(holdsNote(checkpoint, "checkpoint.experts-undeclared"));
}

void ClassificationTest::everythingLandsOnce()
{
    // Sums of the groups are sums of the tensors, whatever they are called.
    std::vector<Stored> tensors;
    for (const ArchitectureFamily *family : allFamilies()) {
        for (const RuleBlock &block : family->blocks) {
            for (const ClassificationRule &rule : block) {
                for (const std::string &name : instances(rule.pattern, "model."))
                    tensors.push_back({name + ".weight", "BF16", {3, 7}});
            }
        }
    }
    std::set<std::string> names;
    std::erase_if(tensors, [&names](const Stored &tensor) { return !names.insert(tensor.name).second; });
    const Checkpoint checkpoint = classified(tensors, configOf("BrandNewForCausalLM"));
    QCOMPARE(checkpoint.weightBytes(), tensors.size() * 42);
    QCOMPARE(checkpoint.parametersTotal(), tensors.size() * 21);
    std::uint64_t count = 0;
    for (const TensorGroup &group : checkpoint.groups)
        count += group.count;
    QCOMPARE(count, tensors.size());
}

void ClassificationTest::tooManyNames()
{
    TensorSet set;
    bool accepted = true;
    std::size_t number = 0;
    while (accepted && number < TensorSet::maxPatterns + 10)
        accepted = set.add("x" + std::to_string(number++) + "y", "BF16", {}, 2, 0);
    QVERIFY(!accepted);
    QCOMPARE(number, TensorSet::maxPatterns + 1);
    // Experts and layers are no new names.
    TensorSet experts;
    for (std::uint32_t i = 0; i < 1000; ++i)
        QVERIFY(experts.add("layers.0.experts." + std::to_string(i), "BF16", {}, 2, 0));
    QCOMPARE(experts.patterns().size(), 1U);
    QCOMPARE(experts.groups().size(), 1U);
    QCOMPARE(experts.tensors(), 1000U);
    QCOMPARE(experts.groups()[0].bytes, 2000U);
}

QTEST_GUILESS_MAIN(ClassificationTest)
#include "tst_classification.moc"

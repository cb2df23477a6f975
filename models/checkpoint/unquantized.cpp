// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/unquantized.h"

#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/checkpoint/classify.h"
#include "models/checkpoint/tensorset.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace weir {

namespace {

using Shape = std::vector<std::uint64_t>;

bool isFloat(std::string_view dtype)
{
    return dtype == "BF16" || dtype == "F16" || dtype == "F32" || dtype == "F64";
}

bool endsWithAny(std::string_view text, std::initializer_list<std::string_view> endings)
{
    return std::any_of(endings.begin(), endings.end(),
                       [text](std::string_view ending) { return text.ends_with(ending); });
}

bool isBias(const TensorGroup &group) { return endsWithAny(group.pattern, {".bias", "_bias"}); }

/// Experts that are stacked say nothing in their role where a family names them alike.
Role roleOfName(const TensorGroup &group)
{
    if (group.role != Role::Unspecified)
        return group.role;
    const std::string module = moduleOf(group);
    if (module.ends_with("gate_up_proj"))
        return Role::GateUp;
    if (module.ends_with("gate_proj"))
        return Role::Gate;
    if (module.ends_with("up_proj"))
        return Role::Up;
    return module.ends_with("down_proj") ? Role::Down : Role::Unspecified;
}

/// Scales of the module of a packed weight, in a layer that both have.
const TensorGroup *scalesOf(const Checkpoint &source, const TensorGroup &weight)
{
    const std::string module = moduleOf(weight);
    for (const TensorGroup &group : source.groups) {
        if (!group.side || group.component != weight.component || group.shape.empty()
            || group.pattern.compare(0, module.size(), module) != 0
            || group.pattern.compare(module.size(), std::string::npos, ".scales") != 0)
            continue;
        const bool sameLayer = weight.layers.empty()
                               || std::find_first_of(group.layers.begin(), group.layers.end(),
                                                     weight.layers.begin(), weight.layers.end())
                                      != group.layers.end();
        if (sameLayer)
            return &group;
    }
    return nullptr;
}

/// bitsandbytes stores a weight as one column; which side is the hidden size follows from the role.
std::optional<Shape> shapeByRole(const Checkpoint &source, const TensorGroup &group, std::uint64_t elements)
{
    const std::uint64_t hidden = source.spec.hiddenSize;
    if (hidden == 0 || elements % hidden != 0)
        return std::nullopt;
    switch (group.role) {
    case Role::Query:
    case Role::Key:
    case Role::Value:
    case Role::QueryKeyValue:
    case Role::AttentionGate:
    case Role::MlaDown:
    case Role::Gate:
    case Role::Up:
    case Role::GateUp:
    case Role::RecurrentInput:
    case Role::Embedding:
    case Role::Head:
    case Role::RouterWeight: return Shape{elements / hidden, hidden};
    case Role::AttentionOutput:
    case Role::RecurrentOutput:
    case Role::Down: return Shape{hidden, elements / hidden};
    default: return std::nullopt;
    }
}

/// The logical shape of one tensor of a safetensors or MLX group; empty if it cannot be told.
std::optional<Shape> logicalShape(const Checkpoint &source, const TensorGroup &group)
{
    const Shape &stored = group.shape;
    const std::uint64_t elements = elementCount(stored);
    const std::uint64_t logical = group.parameters / group.count;
    if (logical == elements || stored.empty())
        return stored;
    if (elements == 0 || logical == 0)
        return std::nullopt;
    // gpt-oss: blocks of 16 bytes, 32 values each.
    if (group.pattern.ends_with("_blocks") && stored.size() >= 3)
        return Shape{stored[0], stored[1], logical / std::max<std::uint64_t>(1, stored[0] * stored[1])};
    if (group.pattern.ends_with(".qweight") && stored.size() == 2) {
        const TensorGroup *scales = scalesOf(source, group);
        const bool alongInputs = scales == nullptr || scales->shape.back() == stored[1];
        return alongInputs ? Shape{stored[1], logical / stored[1]} : Shape{logical / stored[0], stored[0]};
    }
    if (stored.size() == 2 && stored[1] == 1)
        return shapeByRole(source, group, logical);
    if (stored.size() < 2)
        return std::nullopt;
    Shape shape = stored;
    const std::uint64_t rows = elements / shape.back();
    shape.back() = logical / rows;
    if (saturatingMultiply(shape.back(), rows) != logical)
        return std::nullopt;
    return shape;
}

/// What a converter to GGUF widened to F32 although the model has it in its own dtype.
bool widened(const TensorGroup &group)
{
    switch (group.role) {
    case Role::RouterBias: return false;
    case Role::RecurrentSmall: return group.pattern.find("conv") != std::string::npos;
    default: return group.dtype == "F32" && group.component != Component::Other;
    }
}

/// Fused experts are [E, N, K]; some families store them transposed, as [E, K, N].
bool isTransposed(const Checkpoint &source, const TensorGroup &group, Role role)
{
    if (source.format != Format::Safetensors || group.dtype == "U8" || group.pattern.ends_with("_blocks"))
        return false;
    const std::uint64_t hidden = source.spec.hiddenSize;
    const std::uint64_t rows = group.shape[1];
    const std::uint64_t columns = group.shape[2];
    const bool known =
        source.spec.architecture.starts_with("Llama4") || source.spec.architecture.starts_with("GptOss");
    if (role == Role::Down)
        return rows != hidden && columns == hidden;
    return columns != hidden ? rows == hidden : rows == hidden && known;
}

void replaceEnding(std::string &text, std::string_view ending, std::string_view with)
{
    if (text.ends_with(ending))
        text.replace(text.size() - ending.size(), ending.size(), with);
}

/// "…experts.gate_up_proj" -> "…experts.N.gate_proj.weight"
std::string expertName(const TensorGroup &group, Role role, bool pair)
{
    std::string module = moduleOf(group);
    if (module.starts_with("blk.")) {
        if (pair)
            replaceEnding(module, "ffn_gate_up_exps", role == Role::Gate ? "ffn_gate_exps" : "ffn_up_exps");
        return module + ".weight";
    }
    const std::size_t dot = module.rfind('.');
    std::string stem = module.substr(0, dot);
    std::string leaf = dot == std::string::npos ? std::string() : module.substr(dot + 1);
    replaceEnding(stem, "switch_mlp", "experts");
    replaceEnding(stem, "experts.switch_glu", "experts");
    if (pair)
        leaf = role == Role::Gate ? "gate_proj" : "up_proj";
    return stem + ".N." + leaf + ".weight";
}

void finishGroup(TensorGroup &group)
{
    group.parameters = saturatingMultiply(elementCount(group.shape), group.count);
    const std::uint64_t size = group.dtype == "F32"                           ? 4
                               : group.dtype == "F64" || group.dtype == "I64" ? 8
                                                                              : 2;
    const bool narrow = !isFloat(group.dtype) && group.dtype != "I64";
    if (!narrow)
        group.bytes = saturatingMultiply(group.parameters, size);
    group.listed = true;
    group.file.clear();
}

/// One matrix an expert; a fused pair becomes two.
void addExperts(const Checkpoint &source, const TensorGroup &stack, std::vector<TensorGroup> &out)
{
    TensorGroup named = stack;
    if (stack.component == Component::Mtp) // its roles do not tell them apart
        named.role = Role::Unspecified;
    const Role role = roleOfName(named);
    const bool pair = role == Role::GateUp && stack.shape[1] % 2 == 0;
    const bool transposed = isTransposed(source, stack, role);
    const std::uint64_t rows = stack.shape[transposed ? 2 : 1];
    const std::uint64_t columns = stack.shape[transposed ? 1 : 2];
    const bool draft = stack.component == Component::Mtp;
    const auto add = [&](Role each, std::uint64_t eachRows) {
        TensorGroup matrix = stack;
        matrix.pattern = expertName(stack, each, pair);
        matrix.role = draft ? stack.role : each;
        matrix.shape = {eachRows, columns};
        matrix.count = saturatingMultiply(stack.count, stack.shape[0]);
        finishGroup(matrix);
        out.push_back(std::move(matrix));
    };
    if (pair) {
        add(Role::Gate, rows / 2);
        add(Role::Up, rows / 2);
    } else {
        add(role, rows);
    }
}

} // namespace

std::string moduleOf(const TensorGroup &group)
{
    static constexpr std::array<std::string_view, 8> leaves{
        ".weight", ".qweight", ".weight_packed", ".q_weight", ".W_q", "_blocks", "_packed", ".bias"};
    for (const std::string_view leaf : leaves) {
        if (group.pattern.ends_with(leaf))
            return group.pattern.substr(0, group.pattern.size() - leaf.size());
    }
    return group.pattern;
}

bool isWeight(const TensorGroup &group)
{
    // Fused experts have no ".weight", and conversions leave it out in other places too.
    return !group.side && !isBias(group)
           && !endsWithAny(group.pattern, {"A_log", "dt_bias", ".D", ".scale", "layer_scalar"});
}

std::string floatDtype(const Checkpoint &checkpoint)
{
    if (checkpoint.format != Format::Gguf && isFloat(checkpoint.spec.dtype))
        return checkpoint.spec.dtype;
    return "BF16";
}

std::uint64_t expertsOf(const Checkpoint &checkpoint, const TensorGroup &group)
{
    const bool experts = group.component == Component::RoutedExperts || group.role == Role::MtpExperts;
    const std::uint64_t count = checkpoint.spec.experts;
    // Each layer has to have all of them.
    const std::uint64_t matrices = saturatingMultiply(count, std::max<std::uint64_t>(1, group.layers.size()));
    return experts && isWeight(group) && group.shape.size() == 2 && count > 0 && group.count % matrices == 0
               ? count
               : 1;
}

Result<std::vector<TensorGroup>> logicalGroups(const Checkpoint &source, const TensorGroup &group)
{
    std::vector<TensorGroup> groups;
    if (group.side || group.role == Role::UnseenRemainder || group.count == 0)
        return groups;
    const std::string dtype = floatDtype(source);
    TensorGroup weight = group;
    if (source.format == Format::Gguf) {
        std::reverse(weight.shape.begin(), weight.shape.end());
        if (weight.shape.size() == 2 && weight.shape[0] == 1) // a vector in two dimensions
            weight.shape.erase(weight.shape.begin());
        if (!isFloat(weight.dtype) || widened(weight))
            weight.dtype = dtype;
    } else {
        const auto shape = logicalShape(source, group);
        if (!shape) {
            return fail("quant.no-shapes", ErrorKind::Usage, printable(source.name, 120),
                        {{"tensor", printable(group.pattern, 120)}});
        }
        weight.shape = *shape;
        const bool counter = weight.dtype == "I64" || weight.dtype == "I32" || weight.dtype == "BOOL";
        const bool words = group.pattern.ends_with("weight") || group.pattern.ends_with("_packed");
        if (!isFloat(weight.dtype) && (!counter || words))
            weight.dtype = dtype;
    }
    const bool stacked = (group.component == Component::RoutedExperts || group.role == Role::MtpExperts)
                         && weight.shape.size() == 3 && isWeight(group);
    if (stacked) {
        addExperts(source, weight, groups);
        return groups;
    }
    if (!isBias(group) && !isFloat(group.dtype))
        weight.pattern = moduleOf(group) + ".weight";
    weight.role = roleOfName(weight);
    finishGroup(weight);
    groups.push_back(std::move(weight));
    return groups;
}

Result<Checkpoint> unquantized(const Checkpoint &source)
{
    Checkpoint derived = source;
    derived.groups.clear();
    derived.format = Format::Safetensors;
    for (const TensorGroup &group : source.groups) {
        Result<std::vector<TensorGroup>> groups = logicalGroups(source, group);
        if (!groups)
            return std::unexpected(groups.error());
        for (TensorGroup &each : *groups)
            derived.groups.push_back(std::move(each));
    }
    finish(derived);
    return derived;
}

} // namespace weir

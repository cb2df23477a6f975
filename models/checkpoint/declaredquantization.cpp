// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/declaredquantization.h"

#include "models/base/saturating.h"
#include "models/checkpoint/classify.h"
#include "models/checkpoint/declaredscheme.h"
#include "models/checkpoint/quantconvention.h"
#include "models/checkpoint/quantlabel.h"
#include "models/checkpoint/unquantized.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace weir {

namespace {

/// "model.layers.N.mlp.experts.N.up_proj" -> "model.layers.7.mlp.experts.0.up_proj"
std::string nameIn(std::string_view module, std::uint32_t layer)
{
    std::string name;
    bool first = true;
    while (!module.empty()) {
        const std::size_t dot = std::min(module.find('.'), module.size());
        const std::string_view segment = module.substr(0, dot);
        if (!name.empty())
            name += '.';
        if (segment == "N") {
            name += first ? std::to_string(layer) : "0";
            first = false;
        } else {
            name += segment;
        }
        module.remove_prefix(std::min(dot + 1, module.size()));
    }
    return name;
}

class Declaration
{
public:
    explicit Declaration(const DeclaredScheme &scheme)
        : m_scheme(scheme)
    {}

    /// How one layer of a group is stored; empty = as it came.
    std::optional<LinearScheme> schemeOf(const TensorGroup &matrix, std::uint32_t layer)
    {
        if (!isMatrix(matrix) || matrix.component == Component::Vision
            || matrix.component == Component::Audio)
            return std::nullopt;
        const std::string name = nameIn(moduleOf(matrix), layer);
        if (const std::size_t found = m_scheme.named.find(name, m_budget); found != ModuleNames::none) {
            if (!m_scheme.excluded.empty() && m_scheme.method == "compressed-tensors"
                && m_scheme.excluded.find(name, m_budget) != ModuleNames::none)
                return std::nullopt;
            return m_scheme.schemes[found];
        }
        if (!m_scheme.ordinary || !isOrdinary(matrix))
            return std::nullopt;
        if (m_scheme.excluded.find(name, m_budget) != ModuleNames::none)
            return std::nullopt;
        if (!m_scheme.blocks.empty() && m_scheme.blocks.find(name, m_budget) == ModuleNames::none)
            return std::nullopt;
        if (m_scheme.experts && matrix.component == Component::RoutedExperts)
            return m_scheme.experts;
        return m_scheme.ordinary;
    }

    bool exhausted() const { return m_budget.exhausted(); }

private:
    /// What is quantized although nothing names it.
    bool isOrdinary(const TensorGroup &matrix) const
    {
        switch (matrix.component) {
        case Component::EmbedTokens:
        case Component::LookupTables: return m_scheme.tables;
        case Component::LmHead: return m_scheme.heads;
        case Component::Mtp:
            return m_scheme.drafts
                   && (isDraftLinear(matrix)
                       || (m_scheme.method == "compressed-tensors"
                           && (matrix.role == Role::MtpHead || matrix.role == Role::MtpProjection)));
        default: break;
        }
        if (!isLinear(matrix) || (m_scheme.onlyExperts && matrix.component != Component::RoutedExperts))
            return false;
        // Too few rows for a block, as in_proj_a and in_proj_b: nobody stores them in FP8.
        const bool block = m_scheme.ordinary->layout == Layout::Fp8Block;
        return !block
               || (matrix.shape.front() >= 128 && matrix.pattern.find("weights_proj") == std::string::npos);
    }

    const DeclaredScheme &m_scheme;
    MatchBudget m_budget;
};

/// The part of a group that stands in some of its layers.
TensorGroup partOf(const TensorGroup &group, std::vector<std::uint32_t> layers)
{
    TensorGroup part = group;
    const std::uint64_t all = std::max<std::uint64_t>(1, group.layers.size());
    const std::uint64_t some = std::max<std::uint64_t>(1, layers.size());
    part.count = group.count / all * some;
    part.parameters = group.parameters / all * some;
    part.bytes = group.bytes / all * some;
    part.layers = std::move(layers);
    return part;
}

/// gpt-oss keeps its experts stacked and a gate and up fused: blocks and scales instead of one packed weight.
void addBlocks(const TensorGroup &stack, const TensorGroup &matrix, std::vector<TensorGroup> &out)
{
    const std::uint64_t experts = stack.shape.front();
    const std::uint64_t columns = matrix.shape[1];
    const std::uint64_t rows = stack.parameters / std::max<std::uint64_t>(1, stack.count * experts * columns);
    const auto add = [&](const char *leaf, std::vector<std::uint64_t> shape, std::uint64_t each, bool side) {
        TensorGroup group = stack;
        group.pattern = moduleOf(stack) + leaf;
        group.dtype = "U8";
        group.bytes =
            saturatingMultiply(saturatingMultiply(each, rows), saturatingMultiply(experts, stack.count));
        group.shape = std::move(shape);
        group.parameters = side ? 0 : stack.parameters;
        group.side = side;
        out.push_back(std::move(group));
    };
    add("_blocks", {experts, rows, columns / 32, 16}, columns / 2, false);
    add("_scales", {experts, rows, columns / 32}, columns / 32, true);
}

} // namespace

Result<Checkpoint> applyDeclaredQuantization(const Checkpoint &derived, const nlohmann::json &config,
                                             const nlohmann::json *quantConfig, const ModelConfig &model)
{
    const Result<DeclaredScheme> scheme = readDeclaredScheme(config, quantConfig, derived.spec.architecture);
    if (!scheme)
        return std::unexpected(scheme.error());
    Checkpoint out = derived;
    if (scheme->method.empty()) {
        finish(out);
        return out;
    }
    out.groups.clear();
    const bool mlx = scheme->method == "mlx";
    out.format = mlx ? Format::Mlx : Format::Safetensors;
    Declaration declaration(*scheme);
    for (const TensorGroup &group : derived.groups) {
        const Result<std::vector<TensorGroup>> matrices = logicalGroups(derived, group);
        if (!matrices)
            return std::unexpected(matrices.error());
        const std::vector<std::uint32_t> none{0};
        const std::vector<std::uint32_t> &layers = group.layers.empty() ? none : group.layers;
        std::vector<std::uint32_t> untouched;
        std::vector<std::pair<LinearScheme, std::vector<std::uint32_t>>> stored;
        for (const std::uint32_t layer : layers) {
            // Matrices of one stack are stored alike.
            const auto asked =
                matrices->empty() ? std::nullopt : declaration.schemeOf(matrices->front(), layer);
            if (!asked || !canPack(matrices->front(), *asked)) {
                untouched.push_back(layer);
                continue;
            }
            const auto same = std::find_if(stored.begin(), stored.end(),
                                           [&asked](const auto &each) { return each.first == *asked; });
            (same == stored.end() ? stored.emplace_back(*asked, std::vector<std::uint32_t>()) : *same)
                .second.push_back(layer);
        }
        if (declaration.exhausted())
            return fail("quant.too-many-patterns", ErrorKind::Unreadable, std::string(scheme->method));
        if (!untouched.empty())
            out.groups.push_back(partOf(group, group.layers.empty() ? group.layers : std::move(untouched)));
        for (auto &[layout, where] : stored) {
            if (group.layers.empty())
                where.clear();
            const bool blocks = scheme->method == "mxfp4" && group.shape.size() == 3;
            if (blocks) {
                addBlocks(partOf(group, where), matrices->front(), out.groups);
                continue;
            }
            for (const TensorGroup &matrix : *matrices) {
                for (TensorGroup &each : packed(laidOut(derived, partOf(matrix, where), out.format), layout))
                    out.groups.push_back(std::move(each));
            }
        }
    }
    std::stable_sort(out.groups.begin(), out.groups.end(),
                     [](const TensorGroup &a, const TensorGroup &b) { return a.component < b.component; });
    finish(out);
    out.quantization = safetensorsQuantization(model, out);
    return out;
}

} // namespace weir

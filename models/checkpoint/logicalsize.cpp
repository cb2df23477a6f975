// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/logicalsize.h"

#include "models/base/saturating.h"
#include "models/checkpoint/classify.h"
#include "models/checkpoint/declaredscheme.h"

#include <algorithm>
#include <array>

namespace weir {

namespace {

std::uint64_t keyOf(std::uint32_t pattern, std::uint32_t layer)
{
    return (std::uint64_t{pattern} << 32U) | layer;
}

bool isBitWidth(std::uint64_t bits) { return (bits >= 1 && bits <= 6) || bits == 8; }

/// Elements in packed words of 32 bits.
std::uint64_t unpacked(std::uint64_t words, std::uint64_t bits) { return multiplyDivide(words, 32, bits); }

/// Whether so many words of so many bits make so many groups, the last of them not full.
bool isLastGroupShort(std::uint64_t words, std::uint64_t bits, std::uint64_t groupSize, std::uint64_t groups)
{
    const std::uint64_t inputs = saturatingMultiply(words, 32) / bits;
    return inputs / groupSize + (inputs % groupSize == 0 ? 0 : 1) == groups;
}

} // namespace

LogicalSizes::LogicalSizes(const TensorSet &tensors, const QuantizationConfig &quantization)
    : m_tensors(tensors)
    , m_quantization(quantization)
{
    m_patterns.reserve(tensors.patterns().size());
    for (std::uint32_t i = 0; i < tensors.patterns().size(); ++i)
        m_patterns.emplace(tensors.patterns()[i], i);
    m_shapes.reserve(tensors.groups().size());
    for (std::uint32_t i = 0; i < tensors.groups().size(); ++i) {
        const RawGroup &group = tensors.groups()[i];
        m_shapes.emplace(keyOf(group.pattern, group.layer), i);
    }
}

const std::vector<std::uint64_t> *LogicalSizes::shapeOf(std::string_view module, std::string_view leaf,
                                                        std::uint32_t layer) const
{
    std::string name(module);
    name += leaf;
    const auto pattern = m_patterns.find(name);
    if (pattern == m_patterns.end())
        return nullptr;
    const auto group = m_shapes.find(keyOf(pattern->second, layer));
    return group == m_shapes.end() ? nullptr : &m_tensors.shapeOf(m_tensors.groups()[group->second]);
}

bool LogicalSizes::hasPackedWeight(std::string_view module) const
{
    for (const std::string_view leaf : {".weight", ".W_q"}) {
        const auto pattern = m_patterns.find(std::string(module) + std::string(leaf));
        if (pattern == m_patterns.end())
            continue;
        for (const RawGroup &group : m_tensors.groups()) {
            if (group.pattern == pattern->second) {
                const std::string &dtype = m_tensors.dtypeOf(group);
                return dtype != "BF16" && dtype != "F16" && dtype != "F32";
            }
        }
    }
    return false;
}

struct LogicalSizes::Words
{
    TensorName name;
    std::uint32_t layer = 0;
    const std::string &dtype;
    const std::vector<std::uint64_t> &shape;
    std::uint64_t elements = 0;
    std::uint64_t columns = 1;
    std::uint64_t declared = 4; ///< bits, where nothing else tells

    std::uint64_t rows() const { return shape.size() < 2 ? 1 : shape[shape.size() - 2]; }
    bool is32() const { return dtype == "I32" || dtype == "U32"; }
};

/// What the config says about the module; `N` after the layer's number stands for an expert.
std::optional<LinearScheme> LogicalSizes::declaredScheme(std::string_view module, std::uint32_t layer)
{
    const DeclaredScheme *declared = m_quantization.modules.get();
    if (declared == nullptr)
        return std::nullopt;
    std::string name;
    bool first = true;
    for (std::string_view rest = module; !rest.empty();) {
        const std::size_t dot = std::min(rest.find('.'), rest.size());
        const std::string_view segment = rest.substr(0, dot);
        name += name.empty() ? "" : ".";
        if (segment == "N") {
            name += first ? std::to_string(layer) : "0";
            first = false;
        } else {
            name += segment;
        }
        rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    const std::size_t found = declared->named.find(name, m_budget);
    return found == ModuleNames::none ? declared->ordinary : declared->schemes[found];
}

/// GPTQ packs along the inputs, AWQ along the outputs; EXL2 mixes widths within one matrix.
std::optional<std::uint64_t> LogicalSizes::gptqElements(const Words &words) const
{
    const auto *scales = shapeOf(words.name.module, ".scales", words.layer);
    const auto *zeros = shapeOf(words.name.module, ".qzeros", words.layer);
    // One entry for every input: what there is of EXL2 and of GPTQ with an order.
    for (const std::string_view leaf : {".q_invperm", ".q_perm", ".g_idx"}) {
        const auto *order = shapeOf(words.name.module, leaf, words.layer);
        if (order != nullptr && order->size() == 1 && order->front() > 0
            && (scales == nullptr || scales->empty() || scales->back() == words.columns))
            return saturatingMultiply(order->front(), words.columns);
    }
    if (words.name.leaf == "q_weight")
        return std::nullopt;
    std::uint64_t bits = words.declared;
    if (scales != nullptr && !scales->empty() && scales->back() > 0) {
        const std::uint64_t outputs = scales->back();
        if (words.columns != outputs) // AWQ packs along the outputs
            bits = words.columns * 32 / outputs;
        else if (zeros != nullptr && !zeros->empty())
            bits = zeros->back() * 32 / outputs;
    }
    return unpacked(words.elements, isBitWidth(bits) ? bits : words.declared);
}

/// compressed-tensors: dense words along the inputs, rounded up to whole ones.
std::optional<std::uint64_t> LogicalSizes::packedElements(const Words &words)
{
    if (shapeOf(words.name.module, ".meta", words.layer)
        != nullptr) // 2:4 sparse: half of the values are stored
        return saturatingMultiply(unpacked(words.elements, words.declared), 2);
    const auto *scale = shapeOf(words.name.module, ".weight_scale", words.layer);
    const bool hasGroups = scale != nullptr && scale->size() == words.shape.size() && scale->back() > 1;
    if (const auto scheme = declaredScheme(words.name.module, words.layer);
        scheme && scheme->layout == Layout::PackedInt && isBitWidth(scheme->bits)) {
        if (!hasGroups || scheme->groupSize == 0)
            return unpacked(words.elements, scheme->bits);
        const std::uint64_t inputs = saturatingMultiply(scale->back(), scheme->groupSize);
        if ((saturatingMultiply(inputs, scheme->bits) + 31) / 32 == words.columns)
            return saturatingMultiply(words.elements / words.columns, inputs);
        // The last group of a row may be a part of one (K = 2880 in groups of 128).
        if (isLastGroupShort(words.columns, scheme->bits, scheme->groupSize, scale->back()))
            return unpacked(words.elements, scheme->bits);
    }
    std::uint64_t bits = words.declared;
    if (hasGroups && m_quantization.groupSize > 0 && isBitWidth(bits)
        && isLastGroupShort(words.columns, bits, m_quantization.groupSize, scale->back()))
        return unpacked(words.elements, bits);
    if (hasGroups && m_quantization.groupSize > 0) {
        const std::uint64_t inputs = saturatingMultiply(scale->back(), m_quantization.groupSize);
        bits = words.columns * 32 / std::max<std::uint64_t>(1, inputs);
    }
    return unpacked(words.elements, isBitWidth(bits) ? bits : words.declared);
}

std::uint64_t LogicalSizes::mlxElements(const Words &words)
{
    const auto *scales = shapeOf(words.name.module, ".scales", words.layer);
    if (scales == nullptr || scales->empty() || scales->back() == 0)
        return words.elements;
    // Shapes give bits times group size only: 4 bits a 64 look like 8 bits a 32.
    if (const auto scheme = declaredScheme(words.name.module, words.layer);
        scheme && isBitWidth(scheme->bits)
        && saturatingMultiply(saturatingMultiply(scales->back(), scheme->groupSize), scheme->bits)
               == words.columns * 32)
        return unpacked(words.elements, scheme->bits);
    for (const std::uint64_t size : {m_quantization.groupSize, std::uint64_t{64}, std::uint64_t{32},
                                     std::uint64_t{128}, std::uint64_t{16}}) {
        const std::uint64_t inputs = saturatingMultiply(scales->back(), size);
        if (inputs > 0 && words.columns * 32 % inputs == 0 && isBitWidth(words.columns * 32 / inputs))
            return unpacked(words.elements, words.columns * 32 / inputs);
    }
    return unpacked(words.elements, words.declared);
}

/// Bytes: one value each, two FP4, NF4 or INT4, or four ternary ones.
std::uint64_t LogicalSizes::byteElements(const Words &words) const
{
    const TensorName &name = words.name;
    const std::string &method = m_quantization.method;
    if (name.leaf == "weight" && words.dtype == "U8" && method == "bitnet")
        return saturatingMultiply(words.elements, 4);
    if (name.leaf.starts_with("_data") && method == "quanto")
        return words.dtype == "U8" && words.declared < 8
                   ? multiplyDivide(words.elements, 8, std::max<std::uint64_t>(1, words.declared))
                   : words.elements;
    // Two a byte: told by scales per 16 or 32 values, a block tensor, or an absmax map.
    bool pairs = name.leaf == "_blocks" || name.leaf == "weight_packed" || name.leaf == "_packed"
                 || name.leaf == "qweight" || shapeOf(name.module, ".weight.absmax", words.layer) != nullptr;
    for (const std::string_view leaf : {".weight_scale", ".scale", "_scale", "_weight_scale"}) {
        const auto *scale = shapeOf(name.module, leaf, words.layer);
        if (scale == nullptr || scale->size() != words.shape.size() || scale->empty())
            continue;
        if (scale->back() * 16 == words.columns * 2 || scale->back() * 32 == words.columns * 2)
            pairs = true;
        // ModelOpt packs INT4 along the outputs.
        if (words.dtype == "U8" && words.shape.size() >= 2 && (*scale)[scale->size() - 2] == words.rows() * 2)
            pairs = true;
    }
    // torchao: unsigned bytes hold two; signed ones too where the scales stand in columns of outputs.
    if (name.leaf == "_weight_qdata" || name.leaf.starts_with("weight:")) {
        const auto *scale = shapeOf(
            name.module, name.leaf == "_weight_qdata" ? "._weight_scale" : ".weight:scale", words.layer);
        pairs = words.dtype == "U8"
                || (scale != nullptr && scale->size() == 2 && scale->back() == words.rows()
                    && scale->front() != words.rows());
    }
    return pairs ? saturatingMultiply(words.elements, 2) : words.elements;
}

/// Codes whose tables and scales tell what they stand for; empty where they do not.
std::optional<std::uint64_t> LogicalSizes::otherElements(const Words &words) const
{
    const auto beside = [&](std::string_view leaf) { return shapeOf(words.name.module, leaf, words.layer); };
    const std::string_view leaf = words.name.leaf;
    if (leaf == "trellis") // EXL3: tiles of 16 x 16
        return words.shape.size() == 3 ? std::optional(saturatingMultiply(
                                             saturatingMultiply(words.shape[0], words.shape[1]), 256))
                                       : std::nullopt;
    if (leaf == "codes") { // AQLM: [N / out, K / in, books] into [books, entries, out, in]
        const auto *books = beside(".codebooks");
        if (books == nullptr || books->size() != 4 || words.shape.size() != 3)
            return std::nullopt;
        return saturatingMultiply(saturatingMultiply(words.shape[0], (*books)[2]),
                                  saturatingMultiply(words.shape[1], (*books)[3]));
    }
    if (leaf == "W_q" || leaf == "weight") { // HQQ and HIGGS: one scale a group
        const auto *scales = beside(leaf == "W_q" ? ".scale" : ".scales");
        if (scales != nullptr && m_quantization.groupSize > 0)
            return saturatingMultiply(elementCount(*scales), m_quantization.groupSize);
        if (leaf == "W_q" && words.dtype == "U8" && words.declared != 3)
            return multiplyDivide(words.elements, 8, words.declared);
    }
    if (leaf == "compressed") { // a bit for every value
        const auto *mask = beside(".weight.bitmask");
        if (mask != nullptr)
            return saturatingMultiply(elementCount(*mask), 8);
    }
    return std::nullopt;
}

std::optional<std::uint64_t> LogicalSizes::parameters(const RawGroup &group)
{
    const std::vector<std::uint64_t> &shape = m_tensors.shapeOf(group);
    const Words words{splitTensorName(m_tensors.patternOf(group)),
                      group.layer,
                      m_tensors.dtypeOf(group),
                      shape,
                      elementCount(shape),
                      shape.empty() ? 1 : shape.back(),
                      m_quantization.bits == 0 ? 4 : m_quantization.bits};
    const std::string_view leaf = words.name.leaf;
    const bool isByte = words.dtype == "U8" || words.dtype == "I8";
    std::optional<std::uint64_t> each = words.elements;
    if ((leaf == "qweight" || leaf == "q_weight") && words.is32())
        each = gptqElements(words);
    else if (leaf == "weight_packed" && words.is32())
        each = packedElements(words);
    else if (leaf == "trellis" || leaf == "codes" || leaf == "W_q" || leaf == "compressed"
             || (leaf == "weight" && m_quantization.method == "higgs"
                 && (isByte || words.dtype == "I16" || words.is32())))
        each = otherElements(words);
    else if (leaf == "indices" || leaf == "res_indices" || leaf == "outlier_indices"
             || leaf == "dense_weights")
        each.reset(); // VPTQ, SpQR: the sizes are in the config of the package alone
    else if (leaf == "weight" && words.dtype == "U32")
        each = mlxElements(words);
    else if (leaf == "weight" && words.dtype == "I32") // Quark
        each = unpacked(words.elements, isBitWidth(words.declared) ? words.declared : 4);
    else if (isByte)
        each = byteElements(words);
    if (!each)
        return std::nullopt;
    return saturatingMultiply(*each, group.count);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/logicalsize.h"

#include "models/base/saturating.h"
#include "models/checkpoint/classify.h"

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
    const auto pattern = m_patterns.find(std::string(module) + ".weight");
    if (pattern == m_patterns.end())
        return false;
    for (const RawGroup &group : m_tensors.groups()) {
        if (group.pattern == pattern->second) {
            const std::string &dtype = m_tensors.dtypeOf(group);
            return dtype != "BF16" && dtype != "F16" && dtype != "F32";
        }
    }
    return false;
}

std::uint64_t LogicalSizes::parameters(const RawGroup &group) const
{
    const std::vector<std::uint64_t> &shape = m_tensors.shapeOf(group);
    const std::string &dtype = m_tensors.dtypeOf(group);
    const std::uint64_t elements = elementCount(shape);
    const TensorName name = splitTensorName(m_tensors.patternOf(group));
    const std::uint64_t declared = m_quantization.bits == 0 ? 4 : m_quantization.bits;
    const std::uint64_t columns = shape.empty() ? 1 : shape.back();
    std::uint64_t each = elements;

    if ((name.leaf == "qweight" || name.leaf == "q_weight") && (dtype == "I32" || dtype == "U32")) {
        std::uint64_t bits = declared;
        const auto *scales = shapeOf(name.module, ".scales", group.layer);
        const auto *zeros = shapeOf(name.module, ".qzeros", group.layer);
        if (scales != nullptr && !scales->empty() && scales->back() > 0) {
            const std::uint64_t outputs = scales->back();
            if (columns != outputs) // AWQ packs along the outputs
                bits = columns * 32 / outputs;
            else if (zeros != nullptr && !zeros->empty())
                bits = zeros->back() * 32 / outputs;
        }
        each = unpacked(elements, isBitWidth(bits) ? bits : declared);
    } else if (name.leaf == "weight_packed" && (dtype == "I32" || dtype == "U32")) {
        std::uint64_t bits = declared;
        const auto *scale = shapeOf(name.module, ".weight_scale", group.layer);
        if (scale != nullptr && scale->size() == shape.size() && scale->back() > 1
            && m_quantization.groupSize > 0) {
            const std::uint64_t inputs = scale->back() * m_quantization.groupSize;
            bits = columns * 32 / inputs;
        }
        each = unpacked(elements, isBitWidth(bits) ? bits : declared);
    } else if (name.leaf == "weight" && dtype == "U32") { // MLX
        const auto *scales = shapeOf(name.module, ".scales", group.layer);
        if (scales != nullptr && !scales->empty() && scales->back() > 0) {
            std::uint64_t bits = 0;
            for (const std::uint64_t size : {m_quantization.groupSize, std::uint64_t{64}, std::uint64_t{32},
                                             std::uint64_t{128}, std::uint64_t{16}}) {
                const std::uint64_t inputs = scales->back() * size;
                if (inputs > 0 && columns * 32 % inputs == 0 && isBitWidth(columns * 32 / inputs)) {
                    bits = columns * 32 / inputs;
                    break;
                }
            }
            each = unpacked(elements, bits == 0 ? declared : bits);
        }
    } else if (dtype == "U8" || dtype == "I8") {
        // Two FP4 or NF4 values a byte: told by scales per 16 or 32 values, a block tensor, or an absmax map.
        bool pairs = name.leaf == "_blocks" || name.leaf == "weight_packed" || name.leaf == "_packed"
                     || shapeOf(name.module, ".weight.absmax", group.layer) != nullptr;
        for (const std::string_view leaf : {".weight_scale", ".scale", "_scale", "_weight_scale"}) {
            const auto *scale = shapeOf(name.module, leaf, group.layer);
            if (scale != nullptr && scale->size() == shape.size() && !scale->empty()
                && (scale->back() * 16 == columns * 2 || scale->back() * 32 == columns * 2))
                pairs = true;
        }
        if (pairs)
            each = saturatingMultiply(elements, 2);
    }
    return saturatingMultiply(each, group.count);
}

} // namespace weir

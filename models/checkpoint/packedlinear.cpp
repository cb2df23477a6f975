// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/packedlinear.h"

#include "models/base/saturating.h"
#include "models/checkpoint/tensorset.h"
#include "models/checkpoint/unquantized.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace weir {

namespace {

using Shape = std::vector<std::uint64_t>;

std::uint64_t dividedUp(std::uint64_t value, std::uint64_t by)
{
    return value / by + (value % by != 0 ? 1 : 0);
}

std::uint64_t dtypeBytes(std::string_view dtype)
{
    if (dtype == "I64" || dtype == "F64")
        return 8;
    if (dtype == "F32" || dtype == "I32" || dtype == "U32")
        return 4;
    return dtype == "BF16" || dtype == "F16" ? 2 : 1;
}

bool hasFloatScales(Layout layout) { return layout != Layout::Nvfp4 && layout != Layout::Nvfp4Packed; }

/// Collects the tensors of one layout.
class Packing
{
public:
    Packing(const TensorGroup &matrix, const LinearScheme &scheme)
        : m_matrix(matrix)
        , m_module(moduleOf(matrix))
        , m_scheme(scheme)
        , m_columns(matrix.shape.back())
        , m_rows(matrix.shape[matrix.shape.size() - 2])
        , m_leading(matrix.shape.begin(), matrix.shape.end() - 2)
        , m_groupSize(scheme.groupSize == 0 ? m_columns : scheme.groupSize)
    {}

    void weight(std::string_view leaf, std::string_view dtype, Shape shape)
    {
        add(leaf, dtype, std::move(shape), false);
    }
    void side(std::string_view leaf, std::string_view dtype, Shape shape)
    {
        add(leaf, dtype, std::move(shape), true);
    }

    std::uint64_t rows() const { return m_rows; }
    std::uint64_t columns() const { return m_columns; }
    std::uint64_t groups() const { return dividedUp(m_columns, m_groupSize); }
    std::uint64_t words(std::uint64_t values) const { return dividedUp(values * m_scheme.bits, 32); }
    /// Bytes of the description that bitsandbytes hangs on every weight; its shape is a part of it.
    std::uint64_t stateBytes() const
    {
        const std::string shape = std::to_string(m_rows) + ", " + std::to_string(m_columns);
        return bitsandbytesState + shape.size();
    }
    std::vector<TensorGroup> take() { return std::move(m_out); }

private:
    /// The JSON of quant type, block sizes, dtypes and offset, without the figures of the shape.
    static constexpr std::uint64_t bitsandbytesState = 162;

    void add(std::string_view leaf, std::string_view dtype, Shape shape, bool side)
    {
        TensorGroup each = m_matrix;
        each.pattern = m_module + std::string(leaf);
        each.dtype = dtype;
        each.shape = m_leading;
        each.shape.insert(each.shape.end(), shape.begin(), shape.end());
        each.bytes =
            saturatingMultiply(saturatingMultiply(elementCount(each.shape), dtypeBytes(dtype)), each.count);
        each.parameters = side ? 0 : m_matrix.parameters;
        each.side = side;
        m_out.push_back(std::move(each));
    }

    const TensorGroup &m_matrix;
    std::string m_module;
    const LinearScheme &m_scheme;
    std::uint64_t m_columns;
    std::uint64_t m_rows;
    Shape m_leading;
    std::uint64_t m_groupSize;
    std::vector<TensorGroup> m_out;
};

void packIntegers(Packing &out, const LinearScheme &scheme, std::string_view scales)
{
    const std::uint64_t n = out.rows();
    const std::uint64_t k = out.columns();
    switch (scheme.layout) {
    case Layout::Gptq:
        out.weight(".qweight", "I32", {out.words(k), n});
        out.side(".qzeros", "I32", {out.groups(), out.words(n)});
        out.side(".scales", scales, {out.groups(), n});
        if (scheme.groupIndex)
            out.side(".g_idx", "I32", {k});
        break;
    case Layout::Awq:
        out.weight(".qweight", "I32", {k, out.words(n)});
        out.side(".qzeros", "I32", {out.groups(), out.words(n)});
        out.side(".scales", scales, {out.groups(), n});
        break;
    case Layout::PackedInt:
        out.weight(".weight_packed", "I32", {n, out.words(k)});
        out.side(".weight_scale", scales, {n, out.groups()});
        out.side(".weight_shape", "I64", {2});
        if (scheme.zeroPoints)
            out.side(".weight_zero_point", "I32", {out.words(n), out.groups()});
        break;
    case Layout::Int8:
        out.weight(".weight", "I8", {n, k});
        out.side(".weight_scale", scales, {n, 1});
        break;
    case Layout::Bnb8:
        out.weight(".weight", "I8", {n, k});
        out.side(".SCB", "F32", {n});
        out.side(".weight_format", "U8", {});
        break;
    case Layout::Mlx:
        out.weight(".weight", "U32", {n, out.words(k)});
        out.side(".scales", scales, {n, out.groups()});
        out.side(".biases", scales, {n, out.groups()});
        break;
    default: break;
    }
}

void packFloats(Packing &out, const LinearScheme &scheme, std::string_view scales)
{
    const std::uint64_t n = out.rows();
    const std::uint64_t k = out.columns();
    switch (scheme.layout) {
    case Layout::Fp8Block:
        out.weight(".weight", "F8_E4M3", {n, k});
        out.side(".weight_scale_inv", scales,
                 {dividedUp(n, scheme.blockRows), dividedUp(k, scheme.blockColumns)});
        break;
    case Layout::Fp8Channel:
        out.weight(".weight", "F8_E4M3", {n, k});
        out.side(".weight_scale", scales, {n, 1});
        break;
    case Layout::Fp8Tensor:
        out.weight(".weight", "F8_E4M3", {n, k});
        out.side(".weight_scale", scales, {});
        out.side(".input_scale", scales, {});
        break;
    case Layout::Nvfp4:
        out.weight(".weight", "U8", {n, k / 2});
        out.side(".weight_scale", "F8_E4M3", {n, k / 16});
        out.side(".weight_scale_2", "F32", {});
        out.side(".input_scale", "F32", {});
        break;
    case Layout::Nvfp4Packed:
        out.weight(".weight_packed", "U8", {n, k / 2});
        out.side(".weight_scale", "F8_E4M3", {n, k / 16});
        out.side(".weight_global_scale", "F32", {1});
        out.side(".input_global_scale", "F32", {1});
        break;
    case Layout::Mxfp4:
        out.weight(".weight_packed", "U8", {n, k / 2});
        out.side(".weight_scale", "U8", {n, k / 32});
        break;
    case Layout::Mxfp8:
        out.weight(".weight", "F8_E4M3", {n, k});
        out.side(".weight_scale", "U8", {n, k / 32});
        break;
    case Layout::Bnb4: {
        const std::uint64_t blocks = dividedUp(saturatingMultiply(n, k), 64);
        out.weight(".weight", "U8", {saturatingMultiply(n, k) / 2, 1});
        out.side(".weight.absmax", "U8", {blocks});
        out.side(".weight.nested_absmax", "F32", {dividedUp(blocks, 256)});
        out.side(".weight.nested_quant_map", "F32", {256});
        out.side(".weight.quant_map", "F32", {16});
        out.side(".weight.quant_state.bitsandbytes__nf4", "U8", {out.stateBytes()});
        break;
    }
    case Layout::MlxFloat:
        out.weight(".weight", "U32", {n, out.words(k)});
        out.side(".scales", "U8", {n, out.groups()});
        break;
    default: break;
    }
}

} // namespace

bool canPack(const TensorGroup &matrix, const LinearScheme &scheme)
{
    const std::size_t dimensions = matrix.shape.size();
    if (matrix.side || dimensions < 2 || dimensions > 3 || matrix.count == 0)
        return false;
    const std::uint64_t n = matrix.shape[dimensions - 2];
    const std::uint64_t k = matrix.shape[dimensions - 1];
    // Sizes that no matrix has would overflow the words below.
    if (n == 0 || k == 0 || n > (std::uint64_t{1} << 40U) || k > (std::uint64_t{1} << 40U))
        return false;
    const auto wholeWords = [&scheme](std::uint64_t values) { return values * scheme.bits % 32 == 0; };
    switch (scheme.layout) {
    case Layout::Plain: return false;
    case Layout::Gptq: return wholeWords(k) && wholeWords(n);
    case Layout::Awq:
        return wholeWords(n) && (scheme.groupSize == 0 || k % scheme.groupSize == 0) && dimensions == 2;
    case Layout::PackedInt: return true;
    case Layout::Int8:
    case Layout::Bnb8:
    case Layout::Fp8Channel:
    case Layout::Fp8Tensor: return true;
    case Layout::Fp8Block: return scheme.blockRows > 0 && scheme.blockColumns > 0;
    case Layout::Nvfp4:
    case Layout::Nvfp4Packed: return k % 16 == 0;
    case Layout::Mxfp4:
    case Layout::Mxfp8: return k % 32 == 0;
    case Layout::Bnb4: return n * k % 2 == 0;
    case Layout::Mlx:
    case Layout::MlxFloat: return scheme.groupSize > 0 && k % scheme.groupSize == 0 && wholeWords(k);
    }
    return false;
}

std::vector<TensorGroup> packed(const TensorGroup &matrix, const LinearScheme &scheme)
{
    if (!canPack(matrix, scheme))
        return {matrix};
    std::string scales = scheme.scaleDtype;
    if (scales.empty() && hasFloatScales(scheme.layout)) {
        const bool half = scheme.layout == Layout::Gptq || scheme.layout == Layout::Awq;
        scales = half ? std::string("F16") : matrix.dtype == "F32" ? std::string("BF16") : matrix.dtype;
    }
    Packing out(matrix, scheme);
    packIntegers(out, scheme, scales);
    packFloats(out, scheme, scales);
    return out.take();
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/derive/builder.h"

#include "models/base/saturating.h"

#include <algorithm>
#include <span>

namespace weir::derive {

void TensorBuilder::add(std::string_view pattern, std::uint32_t layer,
                        std::initializer_list<std::uint64_t> shape, std::uint64_t count,
                        std::string_view dtype)
{
    if (count == 0 || std::find(shape.begin(), shape.end(), 0U) != shape.end())
        return;
    const std::string_view type = dtype.empty() ? std::string_view(m_dtype) : dtype;
    std::uint64_t bytes = saturatingMultiply(type == "F32" ? 4 : 2, count);
    for (const std::uint64_t dimension : shape)
        bytes = saturatingMultiply(bytes, dimension);
    m_bytes = saturatingAdd(m_bytes, bytes);
    if (m_bytes > maxBytes) {
        m_tooLarge = true;
        return;
    }
    if (!m_tensors.addGroup(pattern, layer, type, std::span(shape.begin(), shape.size()), 0, count, bytes))
        m_tooLarge = true;
}

} // namespace weir::derive

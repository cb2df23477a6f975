// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/tensorset.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace weir::derive {

/// Collects derived tensors. Sizes that no checkpoint can have are counted nowhere and remembered.
class TensorBuilder
{
public:
    /// No checkpoint has an exabyte; sums stay far from overflow.
    static constexpr std::uint64_t maxBytes = std::uint64_t{1} << 60U;

    /// `dtype` is that of every tensor which does not name its own.
    explicit TensorBuilder(std::string dtype)
        : m_dtype(std::move(dtype))
    {}

    /// `count` tensors of one name pattern (numbers as `N`), layer and shape. A shape with a zero holds
    /// nothing and is left out.
    void add(std::string_view pattern, std::uint32_t layer, std::initializer_list<std::uint64_t> shape,
             std::uint64_t count = 1, std::string_view dtype = {});

    bool isTooLarge() const { return m_tooLarge; }
    TensorSet take() { return std::move(m_tensors); }

private:
    std::string m_dtype;
    TensorSet m_tensors;
    std::uint64_t m_bytes = 0;
    bool m_tooLarge = false;
};

/// A place in the tree of names: what is added there gets its prefix and its layer.
class Scope
{
public:
    Scope(TensorBuilder &builder, std::string prefix, std::uint32_t layer = RawGroup::noLayer)
        : m_builder(&builder)
        , m_prefix(std::move(prefix))
        , m_layer(layer)
    {}

    /// "self_attn" -> everything under "<prefix>self_attn.".
    Scope in(std::string_view name) const
    {
        return {*m_builder, m_prefix + std::string(name) + '.', m_layer};
    }

    /// Layer `number` of the list `name`: "layers" -> "<prefix>layers.N.".
    Scope item(std::string_view name, std::uint64_t number) const
    {
        // The first number of a name is its layer, as in names that are read.
        return {*m_builder, m_prefix + std::string(name) + ".N.",
                m_layer == RawGroup::noLayer ? static_cast<std::uint32_t>(number) : m_layer};
    }

    /// A parameter under exactly this name.
    void weight(std::string_view name, std::initializer_list<std::uint64_t> shape,
                std::string_view dtype = {}, std::uint64_t count = 1) const
    {
        m_builder->add(m_prefix + std::string(name), m_layer, shape, count, dtype);
    }

    /// `<name>.weight` of [out, in], and `<name>.bias` of [out].
    void linear(std::string_view name, std::uint64_t out, std::uint64_t in, bool bias = false,
                std::uint64_t count = 1) const
    {
        weight(std::string(name) + ".weight", {out, in}, {}, count);
        if (bias)
            weight(std::string(name) + ".bias", {out}, {}, count);
    }

    /// `<name>.weight` of [width], and `<name>.bias` alike.
    void norm(std::string_view name, std::uint64_t width, bool bias = false) const
    {
        weight(std::string(name) + ".weight", {width});
        if (bias)
            weight(std::string(name) + ".bias", {width});
    }

private:
    TensorBuilder *m_builder;
    std::string m_prefix;
    std::uint32_t m_layer;
};

} // namespace weir::derive

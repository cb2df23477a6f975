// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weir::test {

/// The header of one file, and how many bytes of weights it speaks of.
struct SampleHeader
{
    std::string json;
    std::uint64_t dataBytes = 0;
    std::size_t tensors = 0;
};

/// Headers as the largest quantized mixture-of-experts models would have them: experts one by one, packed into
/// 4 bits, with scales and shapes. The same for the same arguments.
class HeaderSamples
{
public:
    struct Tensor
    {
        std::string name;
        std::string_view dtype;
        std::vector<std::uint64_t> shape;
        std::uint64_t bytes = 0;
    };
    static constexpr std::size_t experts = 384;

    /// @param total  tensors of all files together
    static std::vector<std::vector<Tensor>> moe(std::size_t total, std::size_t files, std::uint64_t seed)
    {
        std::mt19937_64 random(seed);
        std::vector<std::vector<Tensor>> all(files);
        std::size_t made = 0;
        for (std::size_t layer = 0; made < total; ++layer) {
            const std::uint64_t width = 512 + 128 * (random() % 3); // differs a little, as in pruned models
            std::vector<Tensor> &file = all[std::min(made * files / total, files - 1)];
            const std::string begin = "language_model.layers." + std::to_string(layer) + '.';
            const auto add = [&](std::string name, std::string_view dtype, std::vector<std::uint64_t> shape,
                                 std::uint64_t bytes) {
                if (made < total) {
                    file.push_back({std::move(name), dtype, std::move(shape), bytes});
                    ++made;
                }
            };
            for (const char *norm : {"input_layernorm.weight", "post_attention_layernorm.weight"})
                add(begin + norm, "BF16", {7168}, 7168 * 2);
            for (const char *matrix : {"q_proj", "k_proj", "v_proj", "o_proj"})
                add(begin + "self_attn." + matrix + ".weight", "BF16", {7168, 1024}, 7168 * 1024 * 2);
            for (std::size_t expert = 0; expert < experts; ++expert) {
                for (const char *matrix : {"down_proj", "gate_proj", "up_proj"}) {
                    const std::string module =
                        begin + "mlp.experts." + std::to_string(expert) + '.' + matrix + ".weight";
                    add(module + "_packed", "I32", {width, 896}, width * 896 * 4);
                    add(module + "_scale", "BF16", {width, 224}, width * 224 * 2);
                    add(module + "_shape", "I64", {2}, 16);
                }
            }
        }
        // The format's library writes the widest dtypes first, and names in their order.
        for (std::vector<Tensor> &file : all)
            std::sort(file.begin(), file.end(), [](const Tensor &a, const Tensor &b) {
                const auto rank = [](std::string_view dtype) {
                    return dtype == "I64" ? 0 : dtype == "I32" ? 1 : 2;
                };
                return std::pair(rank(a.dtype), std::string_view(a.name))
                       < std::pair(rank(b.dtype), std::string_view(b.name));
            });
        return all;
    }

    /// Names whose every tensor is a group of its own: no experts, one matrix a layer.
    static std::vector<Tensor> dense(std::size_t total)
    {
        constexpr std::array<std::string_view, 9> parts{"input_layernorm.weight",
                                                        "mlp.down_proj.weight",
                                                        "mlp.gate_proj.weight",
                                                        "mlp.up_proj.weight",
                                                        "post_attention_layernorm.weight",
                                                        "self_attn.k_proj.weight",
                                                        "self_attn.o_proj.weight",
                                                        "self_attn.q_proj.weight",
                                                        "self_attn.v_proj.weight"};
        std::vector<Tensor> tensors;
        for (std::size_t i = 0; i < total; ++i) {
            const bool norm = parts[i % parts.size()].find("norm") != std::string_view::npos;
            Tensor tensor{"model.layers." + std::to_string(i / parts.size()) + '.'
                              + std::string(parts[i % parts.size()]),
                          "BF16",
                          norm ? std::vector<std::uint64_t>{1024} : std::vector<std::uint64_t>{1024, 1024},
                          norm ? 2048U : 2U << 20U};
            tensors.push_back(std::move(tensor));
        }
        return tensors;
    }

    /// What a forger sends: no two names reduce to the same pattern.
    static std::vector<Tensor> randomNames(std::size_t total, std::uint64_t seed)
    {
        std::mt19937_64 random(seed);
        std::vector<Tensor> tensors;
        for (std::size_t i = 0; i < total; ++i)
            tensors.push_back({"model.layers.x" + std::to_string(random()) + ".self_attn.q_proj.weight",
                               "BF16",
                               {1024, 1024},
                               2U << 20U});
        return tensors;
    }

    /// @param shuffled  data lie in another order than the names
    static SampleHeader json(const std::vector<Tensor> &tensors, bool shuffled = false)
    {
        std::vector<std::uint64_t> begins(tensors.size());
        std::vector<std::size_t> order(tensors.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        if (shuffled)
            std::shuffle(order.begin(), order.end(), std::mt19937_64(tensors.size()));
        SampleHeader header;
        for (const std::size_t i : order) {
            begins[i] = header.dataBytes;
            header.dataBytes += tensors[i].bytes;
        }
        header.tensors = tensors.size();
        header.json = R"({"__metadata__":{"format":"pt"})";
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const Tensor &tensor = tensors[i];
            header.json.append(",\"").append(tensor.name).append(R"(":{"dtype":")").append(tensor.dtype);
            header.json += R"(","shape":[)";
            for (std::size_t k = 0; k < tensor.shape.size(); ++k)
                header.json.append(k == 0 ? "" : ",").append(std::to_string(tensor.shape[k]));
            header.json.append(R"(],"data_offsets":[)").append(std::to_string(begins[i])).append(",");
            header.json.append(std::to_string(begins[i] + tensor.bytes)).append("]}");
        }
        header.json += '}';
        header.json.append((8 - header.json.size() % 8) % 8, ' ');
        return header;
    }
};

} // namespace weir::test

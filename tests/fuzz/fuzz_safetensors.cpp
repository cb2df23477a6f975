// SPDX-License-Identifier: GPL-3.0-or-later
//
// A safetensors file: length, header, and (instead of weights) eight bytes that say how long the hole after them is.
// The metadata's `format` also names the architecture, so that every family of rules is reached.
#include "models/checkpoint/classify.h"
#include "models/checkpoint/quantlabel.h"
#include "models/checkpoint/safetensors.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/fuzztarget.h"

#include <nlohmann/json.hpp>

using namespace weir;

namespace {

std::uint64_t littleEndian(std::string_view bytes)
{
    std::uint64_t value = 0;
    for (std::size_t i = std::min<std::size_t>(8, bytes.size()); i-- > 0;)
        value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
    return value;
}

/// What a reader of JSON in general makes of a header that ours took: the same tensors.
void compare(std::string_view text, std::uint64_t tensors, std::uint64_t bytes)
{
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    fuzz::require(json.is_object(), "what is taken is JSON");
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    for (const auto &[name, entry] : json.items()) {
        if (name == "__metadata__")
            continue;
        ++count;
        sum += entry.at("data_offsets").at(1).get<std::uint64_t>()
               - entry.at("data_offsets").at(0).get<std::uint64_t>();
    }
    fuzz::require(count == tensors && sum == bytes, "other readers find the same tensors");
}

void header(std::string_view text, std::uint64_t dataBytes)
{
    TensorSet tensors;
    std::string architecture;
    std::uint64_t bytes = 0;
    const auto visit = [&](const HeaderTensor &tensor) {
        bytes += tensor.bytes;
        return tensors.add(tensor.name, tensor.dtype, tensor.shape, tensor.bytes, 0);
    };
    if (!readSafetensorsHeader(text, dataBytes, "file", visit, &architecture))
        return;
    fuzz::require(bytes == dataBytes, "tensors fill the file");
    compare(text, tensors.tensors(), bytes);
    ModelConfig config;
    config.spec.architecture = architecture;
    config.spec.layers = 4;
    config.spec.hiddenSize = 64;
    config.spec.experts = 8;
    config.spec.expertsPerToken = 2;
    config.spec.dtype = "BF16";
    config.layerKinds.assign(4, LayerKind::Attention);
    const TensorFile file{"model.safetensors", true};
    Checkpoint checkpoint;
    checkpoint.format = Format::Safetensors;
    classify(tensors, config, {&file, 1}, checkpoint);
    checkpoint.quantization = safetensorsQuantization(config, checkpoint);
    noteContradictedQuantization(config, checkpoint);
    fuzz::exercise(std::move(checkpoint));
}

} // namespace

WEIR_FUZZ_TARGET(safetensors)
{
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(input.data());
    constexpr std::uint64_t hole = std::uint64_t{1} << 40U;
    const auto length =
        safetensorsHeaderLength({bytes, std::min<std::size_t>(8, input.size())}, input.size() + hole, "file");
    if (!length || *length > input.size() - 8)
        return;
    const std::string_view rest = input.substr(8 + static_cast<std::size_t>(*length));
    header(input.substr(8, static_cast<std::size_t>(*length)), littleEndian(rest));
}

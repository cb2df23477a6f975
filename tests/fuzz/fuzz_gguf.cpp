// SPDX-License-Identifier: GPL-3.0-or-later
//
// The beginning of a GGUF file, read as the whole of it and as the beginning of one with a terabyte of weights.
#include "models/checkpoint/classify.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/ggufconfig.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/fuzztarget.h"

#include <sstream>

using namespace weir;

namespace {

void file(std::string_view input, std::uint64_t bytes)
{
    std::istringstream stream{std::string(input)};
    TensorSet tensors;
    const auto visit = [&](const GgufTensor &tensor) {
        return tensors.add(tensor.name, tensor.type, tensor.shape, tensor.bytes, 0);
    };
    const Result<GgufHeader> header = readGguf(stream, bytes, "file", visit);
    if (!header)
        return;
    fuzz::require(tensors.tensors() == header->tensors, "every tensor is visited");
    static_cast<void>(ggufSplit(*header));
    const Result<ModelConfig> config = readGgufConfig(*header, "file");
    if (!config || tensors.empty())
        return;
    const TensorFile only{"model.gguf", true};
    Checkpoint checkpoint;
    checkpoint.format = Format::Gguf;
    classify(tensors, *config, {&only, 1}, checkpoint);
    checkpoint.quantization = ggufMixName(*header);
    fuzz::exercise(std::move(checkpoint));
}

} // namespace

WEIR_FUZZ_TARGET(gguf)
{
    file(input, input.size());
    file(input, input.size() + (std::uint64_t{1} << 40U));
}

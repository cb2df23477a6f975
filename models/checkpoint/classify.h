// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"
#include "models/checkpoint/config.h"
#include "models/checkpoint/tensorset.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// A file of the repository as the classifier needs it.
struct TensorFile
{
    std::string path;
    bool listed = true;
};

/// What one name is, without its numbers: component, role, and whether it is a quantization side tensor.
struct Classified
{
    Component component = Component::Other;
    Role role = Role::Unspecified;
    bool side = false;
    bool known = false; ///< false: no rule matched, the tensor went to `other`
};

/// Splits the last part off a pattern: "…q_proj.qweight" -> module "…q_proj", leaf "qweight".
/// `side` is set for parts that only serve a quantized weight.
struct TensorName
{
    std::string_view module;
    std::string_view leaf; ///< empty: the parameter has no such part
    bool side = false;
};
TensorName splitTensorName(std::string_view pattern);

/// Turns the raw groups of a set into classified groups of `checkpoint` (spec.family, spec.moeLayers and
/// spec.tiedEmbeddings are filled in), sorted by component and pattern, and adds notes: an unknown
/// architecture, tensors that no rule knows (named), an announced draft head without tensors.
void classify(const TensorSet &tensors, const ModelConfig &config, std::span<const TensorFile> files,
              Checkpoint &checkpoint);

} // namespace weir

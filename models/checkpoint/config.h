// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/checkpoint/checkpoint.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

struct DeclaredScheme;

/// How weights were quantized, as declared. Facts for labels and logical sizes; bytes come from headers.
struct QuantizationConfig
{
    std::string
        method; ///< "gptq" "awq" "auto-round" "compressed-tensors" "fp8" "modelopt" "mxfp4" "bitsandbytes" "mlx" ...; empty = none
    std::string format; ///< compressed-tensors format, ModelOpt algorithm, AutoRound data type
    unsigned bits = 0; ///< 0 = not stated
    std::uint64_t groupSize = 0; ///< 0 = not stated or whole column
    std::string kvDtype; ///< a KV scheme that the checkpoint asks for: "fp8", empty = none
    bool fourBitBitsandbytes = false;
    /// What is declared module by module, where shapes alone do not tell bits from group sizes (MLX,
    /// compressed-tensors); null = nothing, or a layout that is not known.
    std::shared_ptr<const DeclaredScheme> modules;
};

/// Everything a config.json says that decides sizes.
struct ModelConfig
{
    ModelSpec spec;
    QuantizationConfig quantization;
    std::vector<LayerKind> layerKinds; ///< one a decoder layer
    std::uint32_t draftLayers = 0; ///< announced draft (MTP) layers; tensors decide
    std::optional<bool> declaredTied;
    std::vector<Message> notes;
};

/// Reads a parsed `config.json` (and `hf_quant_config.json`, if any). Key names differ by family; see the
/// table of aliases in the source. Errors: "config.not-language-model" (kind NotLanguageModel) for encoders,
/// encoder-decoders, speech, diffusion; "config.no-layers", "config.bad-number" for what cannot be.
Result<ModelConfig> readModelConfig(const nlohmann::json &config, const nlohmann::json *quantConfig,
                                    const std::string &subject);

} // namespace weir

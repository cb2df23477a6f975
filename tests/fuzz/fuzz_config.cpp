// SPDX-License-Identifier: GPL-3.0-or-later
//
// config.json, and after a separator the file beside it that declares a quantization.
#include "models/checkpoint/configderive.h"
#include "models/checkpoint/declaredquantization.h"
#include "models/sources/configfiles.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/fuzztarget.h"

using namespace weir;

WEIR_FUZZ_TARGET(config)
{
    std::vector<Message> notes;
    const std::string_view first = fuzz::takePart(input);
    const auto config = parsedConfig(std::string(first), "config.json", "config.json", notes);
    if (!config)
        return;
    Result<nlohmann::json> side = nlohmann::json();
    if (!input.empty())
        side = parsedConfig(std::string(input), "hf_quant_config.json", "hf_quant_config.json", notes);
    const nlohmann::json *quantConfig = side && side->is_object() ? &*side : nullptr;
    ModelConfig model;
    const Result<Checkpoint> derived = deriveCheckpoint(*config, quantConfig, "config.json", &model);
    if (!derived)
        return;
    if (Result<Checkpoint> stored = applyDeclaredQuantization(*derived, *config, quantConfig, model)) {
        static_cast<void>(compareWithConfig(*stored, *derived));
        fuzz::exercise(*std::move(stored));
        return;
    }
    fuzz::exercise(*derived);
}

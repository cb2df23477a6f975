// SPDX-License-Identifier: GPL-3.0-or-later
//
// A manifest of Ollama's store or registry, the config blob of a model, and the names that lead to them.
#include "models/checkpoint/safetensors.h"
#include "models/sources/disk/ollamamanifest.h"
#include "models/sources/disk/ollamaname.h"
#include "tests/fuzz/fuzztarget.h"

using namespace weir;

WEIR_FUZZ_TARGET(ollama)
{
    if (const Result<OllamaManifest> manifest = readOllamaManifest(input, "manifest")) {
        fuzz::require(manifest->layers.size() <= maxOllamaLayers, "layers are bounded");
        for (const OllamaLayer &layer : manifest->layers) {
            fuzz::require(isSha256(layer.digest), "a digest is a hash");
            fuzz::require(isPlainRelativePath(ollamaBlobName(layer)), "a blob stays in its folder");
            fuzz::require(layer.name.empty() || isPlainRelativePath(layer.name),
                          "a name stays in its folder");
        }
    }
    static_cast<void>(readOllamaConfig(input, "config"));
    for (const auto &name : {parseOllamaName(input), ollamaNameOfPath(input)}) {
        if (!name)
            continue;
        fuzz::require(isPlainRelativePath(name->space) && isPlainRelativePath(name->model)
                          && isPlainRelativePath(name->tag),
                      "a manifest stays in its folder");
        fuzz::require(parseOllamaName(name->full()) == name, "a name is read back");
        fuzz::require(parseOllamaName(name->shortest()) == name, "a short name is read back");
    }
}

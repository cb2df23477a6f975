// SPDX-License-Identifier: GPL-3.0-or-later
//
// A manifest of Ollama's store or registry, the config blob of a model, and the names that lead to them.
#include "models/base/ascii.h"
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
        const std::string whole = asciiLower(name->full()); // the case of the defaults does not count
        if (!whole.starts_with("ollama:")) {
            const auto again = parseOllamaName(name->full());
            fuzz::require(again && asciiLower(again->full()) == whole, "a name is read back");
            const auto shortest = parseOllamaName(name->shortest());
            fuzz::require(shortest && asciiLower(shortest->full()) == whole, "a short name is read back");
        }
    }
}

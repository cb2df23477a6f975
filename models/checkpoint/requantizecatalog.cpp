// SPDX-License-Identifier: GPL-3.0-or-later
//
// Derivations as the shipped catalog is made with: names and stacking of the source are kept.
#include "models/checkpoint/requantize.h"

#include "models/checkpoint/ggufderivation.h"
#include "models/checkpoint/ggufmix.h"

#include <algorithm>
#include <utility>

namespace weir {

Result<Checkpoint> deriveGguf(const Checkpoint &source, std::string_view mix)
{
    if (mix != "Q4_K_M")
        return fail("requantize.mix", ErrorKind::Usage, std::string(mix));
    const bool latent = std::any_of(source.spec.attention.begin(), source.spec.attention.end(),
                                    [](const AttentionLayers &run) { return run.kind == LayerKind::Mla; });
    if (latent || source.format != Format::Safetensors)
        return fail("requantize.architecture", ErrorKind::Usage, source.spec.architecture);

    Checkpoint derived = source;
    derived.format = Format::Gguf;
    derived.provenance = Provenance::Config;
    derived.quantization = std::string(mix);
    derived.repositoryBytes.reset();
    derived.files.clear();
    derived.groups.clear();
    derived.notes.clear();
    const GgufMix types(mix, source);
    for (const TensorGroup &group : source.groups) {
        if (group.component == Component::Mtp || group.component == Component::Vision
            || group.component == Component::Audio)
            continue;
        if (group.side)
            return fail("requantize.architecture", ErrorKind::Usage, source.spec.architecture);
        const auto typeOf = [&](std::uint32_t layer) { return types.typeOf(group, layer); };
        for (TensorGroup &each : ggufGroupsOf(group, typeOf))
            derived.groups.push_back(std::move(each));
    }
    // llama.cpp keeps the recurrent state and 16-bit caches in its own dtypes.
    derived.spec.dtype = "F16";
    if (!derived.spec.state.empty())
        derived.spec.stateDtype = "F32";
    finish(derived);
    return derived;
}

Result<Checkpoint> deriveNvfp4Experts(const Checkpoint &source)
{
    Checkpoint derived = source;
    derived.provenance = Provenance::Config;
    derived.quantization = "nvfp4";
    derived.repositoryBytes.reset();
    derived.files.clear();
    derived.groups.clear();
    for (const TensorGroup &group : source.groups) {
        if (group.component != Component::RoutedExperts) {
            derived.groups.push_back(group);
            continue;
        }
        if (group.shape.size() != 3 || group.shape.back() % 16 != 0 || group.side)
            return fail("requantize.architecture", ErrorKind::Usage, source.spec.architecture);
        // Fused [E, 2I, H] or [E, H, I] becomes one matrix an expert; a fused pair becomes two.
        const std::uint64_t experts = group.shape[0];
        const std::uint64_t pair = group.role == Role::GateUp ? 2 : 1;
        const std::uint64_t rows = group.shape[1] / pair;
        const std::uint64_t columns = group.shape[2];
        const std::string stem = group.pattern.substr(0, group.pattern.rfind('.')) + ".N.";
        const std::vector<std::pair<std::string, Role>> names =
            pair == 2
                ? std::vector<std::pair<std::string, Role>>{{"gate_proj", Role::Gate}, {"up_proj", Role::Up}}
                : std::vector<std::pair<std::string, Role>>{{"down_proj", Role::Down}};
        for (const auto &[name, role] : names) {
            const auto add = [&](const char *leaf, const char *dtype, std::vector<std::uint64_t> shape,
                                 std::uint64_t bytesEach, bool side) {
                TensorGroup each = group;
                each.pattern = stem + name + leaf;
                each.role = role;
                each.dtype = dtype;
                each.shape = std::move(shape);
                each.count = group.count * experts;
                each.bytes = each.count * bytesEach;
                each.parameters = side ? 0 : each.count * rows * columns;
                each.side = side;
                each.file.clear();
                derived.groups.push_back(std::move(each));
            };
            add(".weight", "U8", {rows, columns / 2}, rows * columns / 2, false);
            add(".weight_scale", "F8_E4M3", {rows, columns / 16}, rows * columns / 16, true);
            add(".weight_scale_2", "F32", {}, 4, true);
            add(".input_scale", "F32", {}, 4, true);
        }
    }
    finish(derived);
    return derived;
}

} // namespace weir

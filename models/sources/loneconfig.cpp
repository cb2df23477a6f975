// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/loneconfig.h"

#include "models/base/tolerantjson.h"
#include "models/base/units.h"
#include "models/checkpoint/configderive.h"
#include "models/checkpoint/declaredquantization.h"
#include "models/checkpoint/safetensors.h"
#include "models/sources/configfiles.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace weir {

namespace fs = std::filesystem;

namespace {

/// A comparison must not be felt: configs that list every module of a quantization are left alone.
constexpr std::uint64_t maxComparedBytes = 1U << 20U;

/// How often each name pattern occurs; numbers are `N`, as in the groups.
using NameCounts = std::map<std::string, std::uint64_t>;

Result<NameCounts> indexedNames(RepositoryFiles &files, const std::string &name, const std::stop_token &stop)
{
    const Result<std::string> text = files.text(name, maxIndexBytes, stop);
    if (!text)
        return std::unexpected(text.error());
    const std::string subject = files.subject(name);
    const Result<SafetensorsIndex> index = readSafetensorsIndex(*text, subject);
    if (!index)
        return std::unexpected(index.error());
    TensorSet names;
    for (const SafetensorsIndex::Entry &entry : index->entries) {
        if (!names.add(index->nameOf(entry), "BF16", {}, 0, 0))
            return fail("tensors.too-many-names", ErrorKind::Unreadable, subject);
    }
    NameCounts counts;
    for (const RawGroup &group : names.groups())
        counts[names.patternOf(group)] += group.count;
    return counts;
}

NameCounts derivedNames(const Checkpoint &checkpoint)
{
    NameCounts counts;
    for (const TensorGroup &group : checkpoint.groups)
        counts[group.pattern] += group.count;
    return counts;
}

void useIndex(Checkpoint &checkpoint, const NameCounts &indexed)
{
    const NameCounts derived = derivedNames(checkpoint);
    if (indexed == derived) {
        checkpoint.provenance = Provenance::Index;
        return;
    }
    // The first name, in order, that only one side has or has another number of.
    std::string first;
    std::uint64_t different = 0;
    const auto look = [&](const NameCounts &one, const NameCounts &other) {
        for (const auto &[name, count] : one) {
            const auto found = other.find(name);
            if (found != other.end() && (found->second == count || &one == &derived))
                continue;
            if (different++ == 0 || name < first)
                first = name;
        }
    };
    look(indexed, derived);
    look(derived, indexed);
    checkpoint.notes.push_back({"derive.index-differs",
                                Severity::Warning,
                                {{"patterns", different}, {"first", printable(first)}},
                                {}});
}

} // namespace

Result<Checkpoint> deriveDeclared(const nlohmann::json &config, const nlohmann::json *side,
                                  const std::string &subject, std::vector<Message> notes)
{
    ModelConfig model;
    Result<Checkpoint> checkpoint = deriveCheckpoint(config, side, subject, &model);
    if (!checkpoint)
        return checkpoint;
    if (!model.quantization.method.empty()) {
        Result<Checkpoint> declared = applyDeclaredQuantization(*checkpoint, config, side, model);
        if (declared) {
            checkpoint = std::move(declared);
        } else {
            notes.push_back({"derive.not-quantized",
                             Severity::Warning,
                             {{"method", printable(model.quantization.method, 40)}},
                             {}});
        }
    }
    checkpoint->source = Source::Config;
    checkpoint->notes.insert(checkpoint->notes.begin(), notes.begin(), notes.end());
    return checkpoint;
}

Result<void> compareWithIndex(Checkpoint &checkpoint, RepositoryFiles &files, const std::string &index,
                              const std::stop_token &stop)
{
    const Result<NameCounts> names = indexedNames(files, index, stop);
    if (!names)
        return std::unexpected(names.error());
    useIndex(checkpoint, *names);
    return {};
}

bool isLoneConfig(const std::vector<ListedFile> &listing)
{
    return std::any_of(listing.begin(), listing.end(),
                       [](const ListedFile &file) { return file.path == "config.json"; })
           && std::none_of(listing.begin(), listing.end(),
                           [](const ListedFile &file) { return isWeightFile(file.path); });
}

Result<CheckpointPtr> readLoneConfig(RepositoryFiles &files, std::stop_token stop)
{
    std::vector<Message> notes;
    const Result<nlohmann::json> config = readConfigJson(files, "config.json", stop, notes);
    if (!config)
        return std::unexpected(config.error());
    const auto side = readQuantizationFile(files, stop, notes);
    if (!side)
        return std::unexpected(side.error());
    Result<Checkpoint> checkpoint =
        deriveDeclared(*config, *side ? &**side : nullptr, files.subject("config.json"), std::move(notes));
    if (!checkpoint)
        return std::unexpected(checkpoint.error());
    if (files.find("model.safetensors.index.json") != nullptr) {
        const Result<void> compared =
            compareWithIndex(*checkpoint, files, "model.safetensors.index.json", stop);
        if (!compared)
            return std::unexpected(compared.error());
    }
    return std::make_shared<const Checkpoint>(std::move(*checkpoint));
}

Result<CheckpointPtr> readConfigFile(const fs::path &file)
{
    std::vector<Message> notes;
    const Result<nlohmann::json> config =
        parsedConfig(readTextFile(file, maxConfigBytes), file.string(), file.filename().string(), notes);
    if (!config)
        return std::unexpected(config.error());
    Result<Checkpoint> checkpoint = deriveDeclared(*config, nullptr, file.string(), std::move(notes));
    if (!checkpoint)
        return std::unexpected(checkpoint.error());
    return std::make_shared<const Checkpoint>(std::move(*checkpoint));
}

CheckpointPtr comparedWithConfig(CheckpointPtr read, RepositoryFiles &files, std::stop_token stop)
{
    const ListedFile *config = files.find("config.json");
    if (config == nullptr || config->bytes > maxComparedBytes)
        return read;
    std::vector<Message> known; // the reader noted them
    const Result<nlohmann::json> parsed = readConfigJson(files, "config.json", stop, known);
    if (!parsed)
        return read;
    const Result<Checkpoint> derived = deriveCheckpoint(*parsed, nullptr, files.subject("config.json"));
    if (!derived)
        return read;
    const std::vector<Message> differences = compareWithConfig(*read, *derived);
    if (differences.empty())
        return read;
    auto noted = std::make_shared<Checkpoint>(*read);
    noted->notes.insert(noted->notes.end(), differences.begin(), differences.end());
    return noted;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/decode/assessment.h"
#include "tests/support/testsupport.h"

#include <nlohmann/json.hpp>

#include <QString>
#include <QStringList>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// What must come out of a forged repository, as its `expected.json` says, whichever way it was read.
namespace weir::test {

using namespace Qt::StringLiterals;
namespace fs = std::filesystem;
using Json = nlohmann::json;

inline Json readJson(const fs::path &file)
{
    std::ifstream stream(file);
    return Json::parse(stream, nullptr, false);
}

/// A row for every forged repository and every variant of it.
inline void addForgedRows(const fs::path &oracle)
{
    QTest::addColumn<QString>("repository");
    QTest::addColumn<QString>("variant");
    std::set<std::string> names;
    for (const auto &each : fs::directory_iterator(oracle / "forged"))
        names.insert(each.path().filename().string());
    for (const std::string &name : names) {
        const Json expected = readJson(oracle / "forged" / name / "expected.json");
        if (!expected.contains("variants")) {
            QTest::newRow(name.c_str()) << q(name) << QString();
            continue;
        }
        for (const auto &[variant, object] : expected["variants"].items())
            QTest::addRow("%s %s", name.c_str(), variant.c_str()) << q(name) << q(variant);
    }
}

/// Collects what differs, so that one run shows all of it.
class Differences
{
public:
    template <typename T, typename U>
    void compare(const QString &what, const T &found, const U &expected)
    {
        const Json a = found;
        const Json b = expected;
        if (a != b)
            m_texts += u"%1: %2 instead of %3"_s.arg(what, q(a.dump()), q(b.dump()));
    }
    bool isEmpty() const { return m_texts.isEmpty(); }
    QByteArray text() const { return m_texts.join("\n  "_L1).toUtf8(); }

private:
    QStringList m_texts;
};

inline QString component(const std::string &id, const char *field)
{
    return q(id) + u'.' + QLatin1StringView(field);
}

/// Bytes of all files of a packed repository.
inline std::uint64_t packedBytes(const fs::path &pack)
{
    std::uint64_t bytes = 0;
    const Json files = readJson(pack / "files.json");
    for (const Json &file : files["files"])
        bytes += file["size"].get<std::uint64_t>();
    return bytes;
}

/// Compares every figure of `expected.json` (of one of its variants for GGUF) with what was read and assessed.
inline Differences differencesFrom(const Json &expected, const CheckpointPtr &read, const Engine &engine,
                                   const Machine &machine, bool gguf,
                                   const std::optional<std::uint64_t> &repositoryBytes, bool mlx)
{
    const Checkpoint &checkpoint = *read;
    Workload deep;
    deep.contextTokens = 100'000;
    const Assessment assessment = assess(read, machine, engine, deep);

    Differences differences;
    std::set<std::string> left;
    for (const ComponentAssessment &each : assessment.components)
        left.insert(std::string(componentId(each.component)));
    for (const auto &[id, wanted] : expected["components"].items()) {
        left.erase(id);
        const auto found = std::ranges::find(assessment.components, componentFromId(id).value(),
                                             &ComponentAssessment::component);
        const ComponentAssessment each =
            found == assessment.components.end() ? ComponentAssessment{} : *found;
        differences.compare(component(id, "resident_bytes"), each.residentBytes, wanted["resident_bytes"]);
        differences.compare(component(id, "streamed_bytes"), each.streamedBytes, wanted["streamed_bytes"]);
        differences.compare(component(id, "parameters"), each.parameters, wanted["parameters"]);
        differences.compare(component(id, "tensors"), each.tensors, wanted["tensors"]);
        differences.compare(component(id, "dtypes"), Json(each.bytesByDtype), wanted["dtypes"]);
    }
    differences.compare(u"components that must not be"_s, left, std::set<std::string>());
    differences.compare(u"total resident"_s, assessment.residentBytes, expected["totals"]["resident_bytes"]);
    differences.compare(u"total streamed"_s, assessment.streamedBytes, expected["totals"]["streamed_bytes"]);
    differences.compare(u"parameters"_s, checkpoint.parametersTotal(), expected["parameters_total"]);
    differences.compare(u"active"_s, assessment.parametersActive, expected["parameters_per_token"]);
    differences.compare(u"tied"_s, checkpoint.spec.tiedEmbeddings, expected["tied_embeddings"]);
    differences.compare(u"experts"_s, checkpoint.spec.experts, expected["experts"]);
    differences.compare(u"experts per token"_s, checkpoint.spec.expertsPerToken,
                        expected["experts_per_token"]);
    std::uint64_t tensors = 0;
    for (const TensorGroup &group : checkpoint.groups)
        tensors += group.count;
    differences.compare(u"tensors"_s, tensors, expected["tensors"]);

    // The cache at 16 bit, and the state in what the engine keeps it in.
    std::uint64_t kv = 0;
    for (const Json &run : expected["kv"]["layers"]) {
        const std::uint64_t tokens =
            run["window"].is_null() ? 100'000 : std::min<std::uint64_t>(100'000, run["window"]);
        kv +=
            run["layers"].get<std::uint64_t>() * run["elements_per_token"].get<std::uint64_t>() * 2 * tokens;
    }
    std::uint64_t state = 0;
    for (const Json &run : expected["state"]) {
        state += run["layers"].get<std::uint64_t>()
                 * (run["conv_elements"].get<std::uint64_t>() * (gguf ? 4 : 2)
                    + run["recurrent_elements"].get<std::uint64_t>() * 4);
    }
    differences.compare(u"a speed"_s, assessment.decode.has_value(), true);
    if (!assessment.decode)
        return differences;
    differences.compare(u"kv read"_s, assessment.decode->kvBytes, kv);
    differences.compare(u"kv per token"_s, assessment.memory.kvBytesPerToken,
                        expected["kv"]["bytes_per_token_16bit_beyond_window"]);
    differences.compare(u"state read and written"_s, assessment.decode->stateBytes, 2 * state);

    std::vector<std::string> counted;
    std::vector<std::string> unlisted;
    std::uint64_t fileBytes = 0;
    for (const RepositoryFile &file : checkpoint.files) {
        if (!file.counted)
            continue;
        counted.push_back(file.path);
        fileBytes += file.bytes;
        if (!file.listed)
            unlisted.push_back(file.path);
    }
    std::ranges::sort(counted);
    std::vector<std::string> weightFiles;
    for (const std::string file : expected["weight_files"])
        weightFiles.push_back(gguf && checkpoint.repository.empty() ? fs::path(file).filename().string()
                                                                    : file);
    std::ranges::sort(weightFiles);
    differences.compare(u"weight files"_s, counted, weightFiles);
    differences.compare(u"bytes of weight files"_s, fileBytes, expected["weight_file_bytes"]);
    // Not expected.json's figure: it counts 186 bytes of a file that is not among the packed ones.
    if (repositoryBytes)
        differences.compare(u"repository"_s, checkpoint.repositoryBytes.value_or(0), *repositoryBytes);
    if (!gguf) {
        differences.compare(u"unlisted files"_s, unlisted, expected["unlisted_files"]);
        // MLX files are laid out as safetensors, but nothing else loads them.
        differences.compare(
            u"format"_s, formatId(checkpoint.format == Format::Mlx ? Format::Safetensors : checkpoint.format),
            expected["format"]);
        differences.compare(u"MLX"_s, checkpoint.format == Format::Mlx, mlx);
        differences.compare(u"architecture"_s, checkpoint.spec.architecture, expected["architecture"]);
    }
    differences.compare(u"known to a family"_s, checkpoint.spec.family != "generic", true);
    for (const Message &note : checkpoint.notes)
        differences.compare(u"unknown tensors noted"_s, note.id == "checkpoint.unknown-tensors", false);
    return differences;
}

} // namespace weir::test

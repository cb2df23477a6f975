// SPDX-License-Identifier: GPL-3.0-or-later
//
// weir-catalog: makes data/catalog from checkpoint metadata, never by hand. See docs/catalog.md.
//
//   weir-catalog --manifest data/catalog/manifest.json --root DIR [--root DIR ...] --output data/catalog
//                [--date YYYY-MM-DD] [--only ID]
//
// Each entry of the manifest names its input below one of the roots: a model folder, a .gguf file, or a
// folder with a tensor list (tensors.tsv: NAME<TAB>DTYPE<TAB>AxBxC, {0-3,7} in a name standing for those
// numbers) and its config.json.
#include "app/words.h"
#include "models/base/tolerantjson.h"
#include "models/checkpoint/classify.h"
#include "models/checkpoint/quantlabel.h"
#include "models/checkpoint/requantize.h"
#include "models/checkpoint/safetensors.h"
#include "models/decode/streamed.h"
#include "models/sources/catalogformat.h"
#include "models/sources/localfile.h"
#include "models/sources/open.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <fstream>
#include <iostream>

namespace {

using namespace weir;
namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

/// Calls `visit` for each name that a pattern with {0-3,7} stands for. False on a malformed pattern.
bool expandNames(const std::string &pattern, const std::function<bool(const std::string &)> &visit)
{
    const std::size_t open = pattern.find('{');
    if (open == std::string::npos)
        return visit(pattern);
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos)
        return false;
    std::string_view list(pattern.data() + open + 1, close - open - 1);
    while (!list.empty()) {
        const std::string_view run = list.substr(0, list.find(','));
        unsigned first = 0;
        unsigned last = 0;
        const char *end = run.data() + run.size();
        const auto start = std::from_chars(run.data(), end, first);
        last = first;
        if (start.ec != std::errc{})
            return false;
        if (start.ptr != end && std::from_chars(start.ptr + 1, end, last).ptr != end)
            return false;
        for (unsigned number = first; number <= last; ++number) {
            if (!expandNames(pattern.substr(0, open) + std::to_string(number) + pattern.substr(close + 1),
                             visit))
                return false;
        }
        list.remove_prefix(std::min(list.size(), run.size() + 1));
    }
    return true;
}

Result<Checkpoint> readTensorList(const fs::path &folder)
{
    const auto bad = [&folder](const std::string &what) {
        return fail("read.failed", ErrorKind::Unreadable, (folder / "tensors.tsv").string(),
                    {{"text", what}});
    };
    const Result<std::string> configText = readTextFile(folder / "config.json", maxConfigBytes);
    if (!configText)
        return std::unexpected(configText.error());
    const Result<json> configJson = parseTolerant(*configText, (folder / "config.json").string());
    if (!configJson)
        return std::unexpected(configJson.error());
    const Result<ModelConfig> config =
        readModelConfig(*configJson, nullptr, (folder / "config.json").string());
    if (!config)
        return std::unexpected(config.error());
    std::ifstream stream(folder / "tensors.tsv");
    if (!stream)
        return bad("not found");
    TensorSet tensors;
    std::string line;
    while (std::getline(stream, line)) {
        if (line.empty() || line.front() == '#' || line.starts_with("name\t"))
            continue;
        const std::size_t first = line.find('\t');
        const std::size_t second = line.find('\t', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            return bad("a line without three columns");
        const std::string dtype = line.substr(first + 1, second - first - 1);
        std::vector<std::uint64_t> shape;
        std::string_view dimensions(line.data() + second + 1, line.size() - second - 1);
        while (!dimensions.empty()) {
            const std::string_view one = dimensions.substr(0, dimensions.find('x'));
            std::uint64_t value = 0;
            if (std::from_chars(one.data(), one.data() + one.size(), value).ec != std::errc{})
                return bad("a shape that is no product of numbers");
            shape.push_back(value);
            dimensions.remove_prefix(std::min(dimensions.size(), one.size() + 1));
        }
        const unsigned bits = dtypeBits(dtype);
        if (bits == 0)
            return bad("an unknown dtype " + dtype);
        const std::uint64_t bytes = elementCount(shape) * bits / 8;
        if (!expandNames(line.substr(0, first),
                         [&](const std::string &name) { return tensors.add(name, dtype, shape, bytes, 0); }))
            return bad("a malformed name");
    }
    Checkpoint checkpoint;
    checkpoint.format = Format::Safetensors;
    const std::vector<TensorFile> files{{"", true}};
    classify(tensors, *config, files, checkpoint);
    checkpoint.quantization = safetensorsQuantization(*config, checkpoint);
    return checkpoint;
}

std::optional<fs::path> findInput(const std::vector<std::string> &roots, const std::string &path)
{
    std::error_code error;
    for (const std::string &root : roots) {
        for (const std::string &name :
             {path, path.substr(0, path.find('/')) + "__" + path.substr(path.find('/') + 1)}) {
            if (fs::exists(fs::path(root) / name, error))
                return fs::path(root) / name;
        }
    }
    return std::nullopt;
}

Result<Checkpoint> readInput(const fs::path &input, const std::string &kind)
{
    if (kind == "tensor-list")
        return readTensorList(input);
    Result<CheckpointPtr> read = readPath(input);
    if (!read)
        return std::unexpected(read.error());
    return **read;
}

Result<Checkpoint> makeEntry(const json &item, const std::vector<std::string> &roots)
{
    const std::string path = item.value("input", "");
    const auto input = findInput(roots, path);
    if (!input)
        return fail("file.not-found", ErrorKind::NotFound, path);
    Result<Checkpoint> read = readInput(*input, item.value("kind", "folder"));
    if (!read)
        return read;
    const std::string derive = item.value("derive", "");
    if (derive == "nvfp4-experts")
        read = deriveNvfp4Experts(*read);
    else if (!derive.empty())
        read = deriveGguf(*read, derive);
    if (!read)
        return read;

    Checkpoint &checkpoint = *read;
    checkpoint.id = item.value("id", "");
    checkpoint.name = item.value("name", "");
    checkpoint.source = Source::Catalog;
    checkpoint.revision = item.value("revision", "");
    if (const auto provenance = provenanceFromId(item.value("provenance", "")))
        checkpoint.provenance = *provenance;
    // Shard by shard listings are of no use without the files; what matters of them is in the groups.
    std::vector<RepositoryFile> kept;
    for (RepositoryFile &file : checkpoint.files) {
        if (!file.listed && file.counted)
            kept.push_back(std::move(file));
    }
    checkpoint.files = std::move(kept);
    if (item.value("kind", "folder") != "folder" || checkpoint.provenance != Provenance::Headers)
        checkpoint.repositoryBytes.reset();
    std::erase_if(checkpoint.notes,
                  [](const Message &note) { return note.id == "folder.copies-not-counted"; });
    for (TensorGroup &group : checkpoint.groups) {
        if (group.listed)
            group.file.clear();
    }
    if (item.contains("published_bytes")) {
        const auto published = item["published_bytes"].get<std::uint64_t>();
        const std::uint64_t known = checkpoint.weightBytes();
        if (published > known) {
            TensorGroup rest;
            rest.pattern = "(not seen)";
            rest.component = Component::Other;
            rest.role = Role::UnseenRemainder;
            rest.dtype = "unknown";
            rest.count = 1;
            rest.bytes = published - known;
            checkpoint.groups.push_back(rest);
            checkpoint.notes.push_back(
                {"catalog.published-size",
                 Severity::Warning,
                 {{"published", Bytes{published}}, {"difference", Bytes{published - known}}},
                 item.value("published_source", "")});
        }
    }
    for (const json &note : item.value("notes", json::array())) {
        checkpoint.notes.push_back({"catalog.derived",
                                    Severity::Info,
                                    {{"text", note.value("text", "")}},
                                    note.value("source", "")});
    }
    finish(checkpoint);
    return read;
}

ordered_json indexLine(const json &item, const Checkpoint &checkpoint, const std::string &date)
{
    std::uint64_t active = 0;
    for (const Component component : allComponents)
        active += streamedParameters(checkpoint, component);
    return {{"id", checkpoint.id},
            {"name", checkpoint.name},
            {"repository", item.value("repository", "")},
            {"ollama", item.value("ollama", "")},
            {"file", checkpoint.id + ".json"},
            {"format", formatId(checkpoint.format)},
            {"quantization", checkpoint.quantization},
            {"provenance", provenanceId(checkpoint.provenance)},
            {"architecture", checkpoint.spec.architecture},
            {"weight_bytes", checkpoint.weightBytes()},
            {"parameters_total", checkpoint.parametersTotal()},
            {"parameters_active", active},
            {"moe", checkpoint.isMoe()},
            {"date", date},
            {"note", item.value("note", "")}};
}

/// Whole or not at all: written beside and renamed.
bool writeFile(const fs::path &path, const std::string &text)
{
    const fs::path beside = path.string() + ".new";
    {
        std::ofstream stream(beside, std::ios::binary);
        stream << text;
        if (!stream.flush())
            return false;
    }
    std::error_code error;
    fs::rename(beside, path, error);
    return !error;
}

} // namespace

int main(int argc, char **argv)
{
    CLI::App app("Makes the shipped catalog from checkpoint metadata", "weir-catalog");
    std::string manifestPath;
    std::vector<std::string> roots;
    std::string output;
    std::string only;
    std::string date;
    app.add_option("--manifest", manifestPath, "What to make: entries and their inputs")->required();
    app.add_option("--root", roots, "Folder below which inputs are looked for; may be given several times")
        ->required();
    app.add_option("--output", output, "Catalog folder")->required();
    app.add_option("--date", date, "Date of the catalog, YYYY-MM-DD")->required();
    app.add_option("--only", only, "Make one entry and print its components, write nothing");
    CLI11_PARSE(app, argc, argv);

    const Result<std::string> text = readTextFile(manifestPath, maxConfigBytes);
    const Result<json> manifest = text ? parseTolerant(*text, manifestPath) : std::unexpected(text.error());
    if (!manifest) {
        std::cerr << wordError(manifest.error()) << '\n';
        return 3;
    }
    std::string lines;
    for (const json &item : (*manifest)["entries"]) {
        const std::string id = item.value("id", "");
        if (!only.empty() && id != only)
            continue;
        const Result<Checkpoint> checkpoint = makeEntry(item, roots);
        if (!checkpoint) {
            std::cerr << id << ": " << wordError(checkpoint.error()) << '\n';
            return 3;
        }
        std::cout << fmt::format("{:<42} {:>9} {:<10} {} groups\n", id,
                                 formatBytes(checkpoint->weightBytes()), checkpoint->quantization,
                                 checkpoint->groups.size());
        if (!only.empty()) {
            for (const ComponentSum &sum : checkpoint->sums)
                std::cout << fmt::format("  {:<18} {:>16}\n", componentId(sum.component), sum.bytes);
            continue;
        }
        if (!writeFile(fs::path(output) / (id + ".json"), writeGroupFile(*checkpoint))) {
            std::cerr << "Cannot write " << id << ".json to " << output << '\n';
            return 3;
        }
        lines += (lines.empty() ? "\n  " : ",\n  ") + indexLine(item, *checkpoint, date).dump();
    }
    if (only.empty()) {
        const std::string index =
            fmt::format("{{\n \"schema\": \"weir.catalog/1\",\n \"date\": \"{}\",\n \"items\": [{}\n ]\n}}\n",
                        date, lines);
        if (!writeFile(fs::path(output) / "index.json", index)) {
            std::cerr << "Cannot write index.json to " << output << '\n';
            return 3;
        }
    }
    return 0;
}

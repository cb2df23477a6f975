// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/catalogformat.h"

#include "models/base/tolerantjson.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <map>
#include <optional>

namespace weir {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Layer numbers of all groups of one file together.
constexpr std::uint64_t maxLayerNumbers = 4'000'000;

/// "0-2,5": runs of layer numbers.
std::string writeRuns(const std::vector<std::uint32_t> &numbers)
{
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i;
        while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1)
            ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
        if (end > i)
            text += fmt::format("-{}", numbers[end]);
        i = end + 1;
    }
    return text;
}

/// @param room  numbers that may still be made: a run of ten characters may name a million
std::optional<std::vector<std::uint32_t>> readRuns(std::string_view text, std::uint64_t &room)
{
    std::vector<std::uint32_t> numbers;
    while (!text.empty()) {
        const std::string_view run = text.substr(0, text.find(','));
        std::uint32_t first = 0;
        const auto start = std::from_chars(run.data(), run.data() + run.size(), first);
        std::uint32_t last = first;
        const char *end = run.data() + run.size();
        if (start.ec != std::errc{})
            return std::nullopt;
        const char *place = start.ptr;
        if (place != end) {
            if (*place != '-')
                return std::nullopt;
            const auto stop = std::from_chars(place + 1, end, last);
            if (stop.ec != std::errc{} || stop.ptr != end)
                return std::nullopt;
        }
        const bool rises = numbers.empty() || first > numbers.back();
        if (!rises || last < first || last == ~0U || last - first >= room)
            return std::nullopt;
        room -= last - first + 1;
        for (std::uint32_t i = first; i <= last; ++i)
            numbers.push_back(i);
        text.remove_prefix(std::min(text.size(), run.size() + 1));
    }
    return numbers;
}

ordered_json writeValue(const MessageValue &value)
{
    if (const auto *text = std::get_if<std::string>(&value))
        return *text;
    if (const auto *number = std::get_if<std::uint64_t>(&value))
        return *number;
    if (const auto *real = std::get_if<double>(&value))
        return *real;
    return {{"bytes", std::get<Bytes>(value).value}};
}

std::string_view severityId(Severity severity)
{
    return severity == Severity::Info ? "info" : severity == Severity::Warning ? "warning" : "error";
}

ordered_json writeNote(const Message &note)
{
    ordered_json out{{"id", note.id}, {"severity", severityId(note.severity)}};
    // By name, as reading gives them back: a file that is read and written again stays the same.
    std::map<std::string, ordered_json> arguments;
    for (const auto &[name, value] : note.arguments)
        arguments.insert_or_assign(name, writeValue(value));
    for (auto &[name, value] : arguments)
        out["arguments"][name] = std::move(value);
    if (!note.source.empty())
        out["source"] = note.source;
    return out;
}

ordered_json writeSpec(const ModelSpec &spec)
{
    ordered_json out{{"architecture", spec.architecture},
                     {"family", spec.family},
                     {"layers", spec.layers},
                     {"moe_layers", spec.moeLayers},
                     {"hidden_size", spec.hiddenSize},
                     {"vocabulary_size", spec.vocabularySize},
                     {"experts", spec.experts},
                     {"experts_per_token", spec.expertsPerToken},
                     {"max_context_tokens", spec.maxContextTokens},
                     {"tied_embeddings", spec.tiedEmbeddings},
                     {"dtype", spec.dtype},
                     {"state_dtype", spec.stateDtype}};
    if (spec.declaredKvDtype)
        out["declared_kv_dtype"] = *spec.declaredKvDtype;
    out["attention"] = ordered_json::array();
    for (const AttentionLayers &run : spec.attention) {
        ordered_json each{{"kind", layerKindId(run.kind)},
                          {"layers", run.layers},
                          {"k_elements_per_token", run.kElementsPerToken},
                          {"v_elements_per_token", run.vElementsPerToken},
                          {"kv_heads", run.kvHeads}};
        if (run.indexerElementsPerToken > 0)
            each["indexer_elements_per_token"] = run.indexerElementsPerToken;
        if (run.window)
            each["window"] = *run.window;
        if (run.topK)
            each["top_k"] = *run.topK;
        out["attention"].push_back(std::move(each));
    }
    out["state"] = ordered_json::array();
    for (const StateLayers &state : spec.state) {
        out["state"].push_back({{"kind", layerKindId(state.kind)},
                                {"layers", state.layers},
                                {"convolution_elements", state.convolutionElements},
                                {"recurrent_elements", state.recurrentElements}});
    }
    return out;
}

/// Reads typed fields and remembers the first that was missing or wrong.
class Fields
{
public:
    Fields(const json &object, std::string where)
        : m_object(object)
        , m_where(std::move(where))
    {}

    std::string text(const char *key, bool required = true)
    {
        const auto found = m_object.find(key);
        if (found != m_object.end() && found->is_string())
            return found->get<std::string>();
        if (required || found != m_object.end())
            complain(key);
        return {};
    }
    std::uint64_t number(const char *key, bool required = true)
    {
        const auto found = m_object.find(key);
        if (found != m_object.end() && found->is_number_unsigned())
            return found->get<std::uint64_t>();
        if (required || found != m_object.end())
            complain(key);
        return 0;
    }
    std::uint32_t small(const char *key, bool required = true)
    {
        const std::uint64_t value = number(key, required);
        if (value > 0xFFFFFFFFU)
            complain(key);
        return static_cast<std::uint32_t>(value);
    }
    std::optional<std::uint64_t> optionalNumber(const char *key)
    {
        return m_object.contains(key) ? std::optional(number(key)) : std::nullopt;
    }
    bool flag(const char *key, bool fallback)
    {
        const auto found = m_object.find(key);
        if (found == m_object.end())
            return fallback;
        if (!found->is_boolean()) {
            complain(key);
            return fallback;
        }
        return found->get<bool>();
    }
    const json &array(const char *key)
    {
        static const json empty = json::array();
        const auto found = m_object.find(key);
        if (found != m_object.end() && found->is_array())
            return *found;
        complain(key);
        return empty;
    }
    const json &object(const char *key)
    {
        static const json empty = json::object();
        const auto found = m_object.find(key);
        if (found != m_object.end() && found->is_object())
            return *found;
        complain(key);
        return empty;
    }
    void complain(const char *key)
    {
        if (m_problem.empty())
            m_problem = m_where + key;
    }
    const std::string &problem() const { return m_problem; }

private:
    const json &m_object;
    std::string m_where;
    std::string m_problem;
};

std::string readSpec(const json &object, ModelSpec &spec)
{
    Fields fields(object, "spec.");
    spec.architecture = fields.text("architecture");
    spec.family = fields.text("family");
    spec.layers = fields.small("layers");
    spec.moeLayers = fields.small("moe_layers");
    spec.hiddenSize = fields.number("hidden_size");
    spec.vocabularySize = fields.number("vocabulary_size");
    spec.experts = fields.small("experts");
    spec.expertsPerToken = fields.small("experts_per_token");
    spec.maxContextTokens = fields.number("max_context_tokens");
    spec.tiedEmbeddings = fields.flag("tied_embeddings", false);
    spec.dtype = fields.text("dtype");
    spec.stateDtype = fields.text("state_dtype");
    if (object.contains("declared_kv_dtype"))
        spec.declaredKvDtype = fields.text("declared_kv_dtype");
    if (spec.experts > 0 && (spec.expertsPerToken == 0 || spec.expertsPerToken > spec.experts))
        fields.complain("experts_per_token");
    for (const json &each : fields.array("attention")) {
        Fields run(each, "spec.attention.");
        AttentionLayers &layers = spec.attention.emplace_back();
        const auto kind = layerKindFromId(run.text("kind"));
        layers.kind = kind.value_or(LayerKind::Attention);
        layers.layers = run.small("layers");
        layers.kElementsPerToken = run.number("k_elements_per_token");
        layers.vElementsPerToken = run.number("v_elements_per_token");
        layers.kvHeads = run.small("kv_heads");
        layers.indexerElementsPerToken = run.number("indexer_elements_per_token", false);
        layers.window = run.optionalNumber("window");
        layers.topK = run.optionalNumber("top_k");
        if (!kind)
            run.complain("kind");
        if (!run.problem().empty())
            return run.problem();
    }
    for (const json &each : fields.array("state")) {
        Fields run(each, "spec.state.");
        StateLayers &layers = spec.state.emplace_back();
        const auto kind = layerKindFromId(run.text("kind"));
        layers.kind = kind.value_or(LayerKind::GatedDeltaNet);
        layers.layers = run.small("layers");
        layers.convolutionElements = run.number("convolution_elements");
        layers.recurrentElements = run.number("recurrent_elements");
        if (!kind)
            run.complain("kind");
        if (!run.problem().empty())
            return run.problem();
    }
    return fields.problem();
}

std::string readGroup(const json &object, TensorGroup &group, std::uint64_t &layerRoom)
{
    if (!object.is_object())
        return "groups";
    Fields fields(object, "groups.");
    group.pattern = fields.text("pattern");
    const auto component = componentFromId(fields.text("component"));
    const auto role = roleFromId(fields.text("role"));
    const auto kind = layerKindFromId(object.contains("layer_kind") ? fields.text("layer_kind") : "none");
    const auto layers =
        readRuns(object.contains("layers") ? fields.text("layers") : std::string(), layerRoom);
    if (!component)
        fields.complain("component");
    if (!role)
        fields.complain("role");
    if (!kind)
        fields.complain("layer_kind");
    if (!layers)
        fields.complain("layers");
    group.dtype = fields.text("dtype");
    for (const json &each : fields.array("shape")) {
        if (!each.is_number_unsigned())
            fields.complain("shape");
        else
            group.shape.push_back(each.get<std::uint64_t>());
    }
    group.count = fields.number("count");
    group.bytes = fields.number("bytes");
    group.parameters = fields.number("parameters", false);
    group.side = fields.flag("side", false);
    group.listed = fields.flag("listed", true);
    group.file = fields.text("file", false);
    if (!fields.problem().empty())
        return fields.problem();
    group.component = *component;
    group.role = *role;
    group.layerKind = *kind;
    group.layers = *layers;
    return {};
}

std::string readNote(const json &object, Message &note)
{
    Fields fields(object, "notes.");
    note.id = fields.text("id");
    const std::string severity = fields.text("severity");
    note.severity = severity == "info"      ? Severity::Info
                    : severity == "warning" ? Severity::Warning
                                            : Severity::Error;
    if (severity != severityId(note.severity))
        fields.complain("severity");
    note.source = fields.text("source", false);
    if (object.contains("arguments")) {
        for (const auto &[name, value] : fields.object("arguments").items()) {
            if (value.is_string())
                note.arguments.emplace_back(name, value.get<std::string>());
            else if (value.is_number_unsigned())
                note.arguments.emplace_back(name, value.get<std::uint64_t>());
            else if (value.is_number())
                note.arguments.emplace_back(name, value.get<double>());
            else if (value.is_object() && value.contains("bytes") && value["bytes"].is_number_unsigned())
                note.arguments.emplace_back(name, Bytes{value["bytes"].get<std::uint64_t>()});
            else
                fields.complain("arguments");
        }
    }
    return fields.problem();
}

/// Names of a GGUF file need not be UTF-8: what is broken becomes U+FFFD, where the writer would throw.
std::string written(const ordered_json &value, int indent)
{
    return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace

std::string writeGroupFile(const Checkpoint &checkpoint)
{
    ordered_json head{{"schema", "weir.groups/1"},
                      {"id", checkpoint.id},
                      {"name", checkpoint.name},
                      {"revision", checkpoint.revision},
                      {"format", formatId(checkpoint.format)},
                      {"provenance", provenanceId(checkpoint.provenance)},
                      {"quantization", checkpoint.quantization}};
    if (checkpoint.repositoryBytes)
        head["repository_bytes"] = *checkpoint.repositoryBytes;
    head["spec"] = writeSpec(checkpoint.spec);
    std::string text = written(head, 1);
    text.resize(text.size() - 2); // the closing brace comes after the lists

    const auto list = [&text](const char *key, const std::vector<ordered_json> &lines) {
        text += fmt::format(",\n \"{}\": [", key);
        for (std::size_t i = 0; i < lines.size(); ++i)
            text += (i == 0 ? "\n  " : ",\n  ") + written(lines[i], -1);
        text += lines.empty() ? "]" : "\n ]";
    };
    std::vector<ordered_json> lines;
    for (const RepositoryFile &file : checkpoint.files) {
        ordered_json line{{"path", file.path}, {"bytes", file.bytes}};
        if (!file.listed)
            line["listed"] = false;
        if (!file.counted)
            line["counted"] = false;
        lines.push_back(std::move(line));
    }
    list("files", lines);
    lines.clear();
    if (!checkpoint.companions.empty()) {
        for (const CompanionFile &file : checkpoint.companions) {
            ordered_json line{{"path", file.path}, {"bytes", file.bytes}};
            if (!file.needed)
                line["needed"] = false;
            lines.push_back(std::move(line));
        }
        list("companions", lines);
        lines.clear();
    }
    for (const Message &note : checkpoint.notes)
        lines.push_back(writeNote(note));
    list("notes", lines);
    lines.clear();
    for (const TensorGroup &group : checkpoint.groups) {
        ordered_json line{{"pattern", group.pattern},
                          {"component", componentId(group.component)},
                          {"role", roleId(group.role)}};
        if (group.layerKind != LayerKind::None)
            line["layer_kind"] = layerKindId(group.layerKind);
        if (!group.layers.empty())
            line["layers"] = writeRuns(group.layers);
        line["dtype"] = group.dtype;
        line["shape"] = group.shape;
        line["count"] = group.count;
        line["bytes"] = group.bytes;
        if (group.parameters > 0)
            line["parameters"] = group.parameters;
        if (group.side)
            line["side"] = true;
        if (!group.listed)
            line["listed"] = false;
        if (!group.file.empty() && checkpoint.files.size() > 1)
            line["file"] = group.file;
        lines.push_back(std::move(line));
    }
    list("groups", lines);
    return text + "\n}\n";
}

Result<Checkpoint> readGroupFile(std::string_view text, const std::string &subject)
{
    const Result<json> parsed = parseTolerant(text, subject);
    if (!parsed)
        return std::unexpected(parsed.error());
    const auto bad = [&subject](const std::string &field) {
        return fail("catalog.bad-field", ErrorKind::Unreadable, subject, {{"field", field}});
    };
    Checkpoint checkpoint;
    Fields fields(*parsed, "");
    if (fields.text("schema") != "weir.groups/1")
        return bad("schema");
    checkpoint.id = fields.text("id");
    checkpoint.name = fields.text("name");
    checkpoint.revision = fields.text("revision");
    const auto format = formatFromId(fields.text("format"));
    const auto provenance = provenanceFromId(fields.text("provenance"));
    if (!format)
        return bad("format");
    if (!provenance)
        return bad("provenance");
    checkpoint.source = Source::Catalog;
    checkpoint.format = *format;
    checkpoint.provenance = *provenance;
    checkpoint.quantization = fields.text("quantization");
    checkpoint.repositoryBytes = fields.optionalNumber("repository_bytes");
    const json &spec = fields.object("spec");
    if (!fields.problem().empty())
        return bad(fields.problem());
    if (const std::string problem = readSpec(spec, checkpoint.spec); !problem.empty())
        return bad(problem);
    for (const json &each : fields.array("files")) {
        if (!each.is_object())
            return bad("files");
        Fields file(each, "files.");
        checkpoint.files.push_back(
            {file.text("path"), file.number("bytes"), file.flag("listed", true), file.flag("counted", true)});
        if (!file.problem().empty())
            return bad(file.problem());
    }
    if (parsed->contains("companions")) {
        for (const json &each : fields.array("companions")) {
            if (!each.is_object())
                return bad("companions");
            Fields file(each, "companions.");
            checkpoint.companions.push_back(
                {file.text("path"), file.number("bytes"), file.flag("needed", true)});
            if (!file.problem().empty())
                return bad(file.problem());
        }
    }
    for (const json &each : fields.array("notes")) {
        if (!each.is_object())
            return bad("notes");
        if (const std::string problem = readNote(each, checkpoint.notes.emplace_back()); !problem.empty())
            return bad(problem);
    }
    std::uint64_t layerRoom = maxLayerNumbers;
    for (const json &each : fields.array("groups")) {
        const std::string problem = readGroup(each, checkpoint.groups.emplace_back(), layerRoom);
        if (!problem.empty())
            return bad(problem);
    }
    if (!fields.problem().empty())
        return bad(fields.problem());
    finish(checkpoint);
    return checkpoint;
}

} // namespace weir

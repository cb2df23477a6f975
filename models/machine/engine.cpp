// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/machine/engine.h"

#include "models/checkpoint/gguf.h"
#include "models/machine/machine.h"
#include "models/machine/strictjson.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace weir {

namespace {

using Json = nlohmann::json;

constexpr std::string_view prefix = "data.engines";
constexpr NumberRange tokenRange{0, 1 << 20};
/// Buffers of an engine: up to 1 TiB.
constexpr NumberRange bufferRange{0, 1099511627776.0};
/// A layer or a step that costs more than a second is a mistake in the unit.
constexpr NumberRange secondsRange{0, 1};
constexpr NumberRange factorRange{0.01, 100};
constexpr NumberRange rowRange{0, 1e6};

/// Fields whose source stands under `sources`; the other figures carry their own.
constexpr std::array sourcedFields{"formats",
                                   "not_quantizations",
                                   "vendors",
                                   "kv_dtypes",
                                   "loads_idle_draft_head",
                                   "loads_unlisted_files",
                                   "loads_vision_tower",
                                   "copies_tied_embedding",
                                   "context_padding",
                                   "window_batch_tokens",
                                   "state_dtype",
                                   "convolution_dtype"};

std::optional<SpeedBasis> speedBasisFromId(std::string_view id)
{
    for (const SpeedBasis basis :
         {SpeedBasis::Own, SpeedBasis::Fitted, SpeedBasis::Class, SpeedBasis::Default}) {
        if (speedBasisId(basis) == id) {
            return basis;
        }
    }
    return std::nullopt;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equalIgnoringCase(std::string_view left, std::string_view right)
{
    return std::ranges::equal(left, right, [](char a, char b) { return lower(a) == lower(b); });
}

/// Case does not matter; one `*` at the beginning or at the end stands for anything.
bool matches(std::string_view pattern, std::string_view text)
{
    if (pattern.ends_with('*')) {
        pattern.remove_suffix(1);
        return text.size() >= pattern.size() && equalIgnoringCase(text.substr(0, pattern.size()), pattern);
    }
    if (pattern.starts_with('*')) {
        pattern.remove_prefix(1);
        return text.size() >= pattern.size()
               && equalIgnoringCase(text.substr(text.size() - pattern.size()), pattern);
    }
    return equalIgnoringCase(pattern, text);
}

template <typename T>
bool contains(const std::vector<T> &values, const T &value)
{
    return std::ranges::find(values, value) != values.end();
}

std::string joined(const std::vector<std::string> &parts)
{
    return fmt::format("{}", fmt::join(parts, ", "));
}

SpeedConstants readSpeed(const Json &value, const std::string &file, const std::string &entry,
                         StrictObject &parent)
{
    StrictObject object(value, std::string(prefix), file, entry);
    SpeedConstants speed;
    speed.machine = object.textOrNull("machine").value_or("");
    speed.memoryKind = object.textOrNull("memory_kind");
    speed.efficiency = object.number("efficiency", {0.01, 1});
    speed.fixedSeconds = object.number("fixed_seconds", secondsRange);
    speed.secondsPerAttentionLayer = object.number("seconds_per_attention_layer", secondsRange);
    speed.secondsPerMlaLayer = object.number("seconds_per_mla_layer", secondsRange);
    speed.secondsPerLinearLayer = object.number("seconds_per_linear_layer", secondsRange);
    speed.secondsPerMambaLayer = object.number("seconds_per_mamba_layer", secondsRange);
    speed.secondsPerMoeLayer = object.number("seconds_per_moe_layer", secondsRange);
    const std::optional<SpeedBasis> basis = speedBasisFromId(object.text("basis"));
    if (!basis) {
        object.reject("basis");
    }
    speed.basis = basis.value_or(SpeedBasis::Default);
    speed.rows = static_cast<std::uint32_t>(object.integer("rows", rowRange));
    speed.lowFactor = object.numberOrNull("low_factor", factorRange);
    speed.highFactor = object.numberOrNull("high_factor", factorRange);
    speed.source = object.text("source");

    const bool forMachine = !speed.machine.empty();
    const bool forClass = speed.memoryKind.has_value();
    if (forClass && *speed.memoryKind != "unified" && *speed.memoryKind != "discrete"
        && *speed.memoryKind != "cpu") {
        object.reject("memory_kind");
    }
    if (forMachine && forClass) {
        object.reject("machine");
    }
    // A machine may borrow constants (class); only what has rows is called fitted.
    const bool fits = forMachine ? speed.basis != SpeedBasis::Default
                                 : speed.basis == (forClass ? SpeedBasis::Class : SpeedBasis::Default);
    if (!fits || (speed.basis == SpeedBasis::Fitted && speed.rows == 0)) {
        object.reject("basis");
    }
    // A band needs both ends, and measurements behind it.
    if (speed.lowFactor.has_value() != speed.highFactor.has_value()
        || (speed.lowFactor && (*speed.lowFactor > *speed.highFactor || speed.rows == 0))) {
        object.reject("low_factor");
    }
    object.finish();
    parent.adopt(object);
    return speed;
}

Result<Engine> readEngine(const Json &value, const std::string &file, std::size_t index)
{
    StrictObject object(value, std::string(prefix), file, fmt::format("{}", index + 1));
    Engine engine;
    engine.id = object.text("id");
    if (object.ok()) {
        object.setEntry(engine.id);
    }
    engine.name = object.text("name");
    engine.version = object.text("version", true);
    for (const std::string &id : object.texts("formats")) {
        const std::optional<Format> format = formatFromId(id);
        if (!format || *format == Format::Unknown) {
            object.reject("formats");
            break;
        }
        engine.formats.push_back(*format);
    }
    engine.notQuantizations = object.texts("not_quantizations");
    engine.vendors = object.texts("vendors");
    engine.kvDtypes = object.texts("kv_dtypes");
    engine.loadsIdleDraftHead = object.flag("loads_idle_draft_head");
    engine.loadsUnlistedFiles = object.flag("loads_unlisted_files");
    engine.loadsVisionTower = object.flag("loads_vision_tower");
    engine.copiesTiedEmbedding = object.flag("copies_tied_embedding");
    engine.contextPadding =
        static_cast<std::uint32_t>(object.integer("context_padding", {1, tokenRange.high}));
    engine.windowBatchTokens = static_cast<std::uint32_t>(object.integer("window_batch_tokens", tokenRange));
    engine.stateDtype = object.text("state_dtype", true);
    engine.convolutionDtype = object.text("convolution_dtype", true);
    engine.runtimeBytes = object.sourced("runtime", "bytes", bufferRange, true);
    engine.activationBytes = object.sourced("activation", "bytes", bufferRange, true);
    engine.memoryUtilization = object.sourcedOrNull("memory_utilization", "share", {0.01, 1}, false);
    engine.source = object.text("source");
    if (object.ok() && (engine.formats.empty() || engine.kvDtypes.empty())) {
        object.reject(engine.formats.empty() ? "formats" : "kv_dtypes");
    }

    if (const Json *sources = object.object("sources")) {
        StrictObject nested(*sources, std::string(prefix), file, engine.id + ", sources");
        for (const char *field : sourcedFields) {
            nested.text(field);
        }
        nested.finish();
        object.adopt(nested);
    }
    if (const Json *rows = object.array("speed")) {
        std::set<std::string> places;
        for (const Json &row : *rows) {
            const std::string entry = fmt::format("{}, speed {}", engine.id, engine.speed.size() + 1);
            SpeedConstants speed = readSpeed(row, file, entry, object);
            const std::string place = fmt::format("{}|{}|{}", speed.machine, speed.memoryKind.value_or(""),
                                                  speed.basis == SpeedBasis::Own);
            if (object.ok() && !places.insert(place).second) {
                object.setEntry(entry);
                object.reject("machine", "repeated-id");
            }
            engine.speed.push_back(std::move(speed));
        }
    }
    if (std::optional<Error> error = object.finish()) {
        return std::unexpected(*std::move(error));
    }
    return engine;
}

LoadVerdict refuse(std::string id, MessageArguments arguments)
{
    return LoadVerdict{false, Message{std::move(id), Severity::Warning, std::move(arguments), {}}};
}

} // namespace

std::string_view speedBasisId(SpeedBasis basis)
{
    switch (basis) {
    case SpeedBasis::Own: return "own";
    case SpeedBasis::Fitted: return "fitted";
    case SpeedBasis::Class: return "class";
    case SpeedBasis::Default: return "default";
    }
    return "default";
}

const SpeedConstants *Engine::speedFor(const Machine &machine) const
{
    const SpeedConstants *best = nullptr;
    int bestRank = 0;
    for (const SpeedConstants &row : speed) {
        int rank = 0;
        if (!row.machine.empty()) {
            rank = row.machine != machine.id ? 0 : row.basis == SpeedBasis::Own ? 4 : 3;
        } else if (row.memoryKind) {
            rank = *row.memoryKind == memoryKindId(machine.memoryKind) ? 2 : 0;
        } else {
            rank = 1;
        }
        if (rank > bestRank) {
            best = &row;
            bestRank = rank;
        }
    }
    return best;
}

LoadVerdict canLoad(const Engine &engine, const Checkpoint &checkpoint, const Machine &machine)
{
    if (!contains(engine.formats, checkpoint.format)) {
        std::vector<std::string> formats;
        formats.reserve(engine.formats.size());
        for (const Format format : engine.formats) {
            formats.emplace_back(formatId(format));
        }
        return refuse("load.format", {{"engine", engine.name},
                                      {"format", std::string(formatId(checkpoint.format))},
                                      {"formats", joined(formats)}});
    }
    for (const std::string &pattern : engine.notQuantizations) {
        if (matches(pattern, checkpoint.quantization)) {
            return refuse("load.quantization",
                          {{"engine", engine.name}, {"quantization", checkpoint.quantization}});
        }
    }
    // A GGUF type that upstream does not know ("IQ4_KS", "type 237") is none that its engines load.
    const auto unknown =
        std::find_if(checkpoint.groups.begin(), checkpoint.groups.end(),
                     [](const TensorGroup &group) { return isForeignGgufType(group.dtype); });
    if (checkpoint.format == Format::Gguf && unknown != checkpoint.groups.end())
        return refuse("load.quantization", {{"engine", engine.name}, {"quantization", unknown->dtype}});
    // The reader says so in a note; no engine turns the bytes round.
    if (std::any_of(checkpoint.notes.begin(), checkpoint.notes.end(),
                    [](const Message &note) { return note.id == "gguf.big-endian"; }))
        return refuse("load.big-endian", {{"engine", engine.name}});
    if (!engine.vendors.empty() && !contains(engine.vendors, machine.vendor)) {
        return refuse("load.vendor", {{"engine", engine.name},
                                      {"machine", machine.name},
                                      {"vendor", machine.vendor},
                                      {"vendors", joined(engine.vendors)}});
    }
    return {};
}

Result<std::vector<Engine>> readEngines(const std::filesystem::path &file)
{
    const std::string name = file.string();
    Result<Json> json = readStrictJson(file, prefix);
    if (!json) {
        return std::unexpected(std::move(json.error()));
    }
    StrictObject top(*json, std::string(prefix), name, "");
    if (top.text("schema") != "weir.engines/1") {
        top.reject("schema");
    }
    const Json *entries = top.array("engines");
    if (std::optional<Error> error = top.finish()) {
        return std::unexpected(*std::move(error));
    }

    std::vector<Engine> engines;
    std::set<std::string> ids;
    for (const Json &entry : *entries) {
        Result<Engine> engine = readEngine(entry, name, engines.size());
        if (!engine) {
            return std::unexpected(std::move(engine.error()));
        }
        if (!ids.insert(engine->id).second) {
            return fail(fmt::format("{}.repeated-id", prefix), ErrorKind::Unreadable, name,
                        {{"entry", engine->id}, {"field", std::string("id")}});
        }
        engines.push_back(*std::move(engine));
    }
    return engines;
}

std::string automaticEngine(const Checkpoint &checkpoint)
{
    if (checkpoint.source == Source::Ollama || checkpoint.revision == "ollama"
        || checkpoint.revision.starts_with("ollama:") || checkpoint.id.starts_with("ollama:")) {
        return "ollama";
    }
    switch (checkpoint.format) {
    case Format::Gguf: return "llama.cpp";
    case Format::Mlx: return "mlx";
    case Format::Safetensors:
    case Format::Pickle:
    case Format::Unknown: break;
    }
    return "vllm";
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commandline.h"

#include "app/diskcommand.h"
#include "app/library.h"
#include "app/texttable.h"
#include "app/words.h"
#include "models/checkpoint/requantize.h"
#include "models/decode/cachebytes.h"
#include "models/report/assessmentjson.h"
#include "models/sources/disk/ollama.h"
#include "models/sources/hub/hub.h"
#include "models/sources/open.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weir {

namespace {

using Json = nlohmann::ordered_json;

/// Plain decimal digits: "010" and "0x10" would be read as octal and hexadecimal.
std::string checkDecimal(const std::string &text)
{
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return digits && (text == "0" || text.front() != '0') ? std::string()
                                                          : "“" + text + "” is no whole number";
}

constexpr std::uint64_t maxContext = 1'000'000'000;
constexpr std::uint32_t maxConcurrency = 100'000;

/// Values of the options of `assess`, as typed.
struct AssessOptions
{
    std::string checkpoint;
    std::string machine = "dgx-spark";
    std::string engine = "auto";
    std::uint64_t context = Workload{}.contextTokens;
    std::uint32_t concurrency = 1;
    std::string kDtype = "f16";
    std::string vDtype = "f16";
    std::string reserve;
    std::optional<std::string> quant;
    std::string source;
    bool requireFit = false;
    bool json = false;
};

Error usageError(std::string text)
{
    return Error{"usage", ErrorKind::Usage, {}, {{"text", std::move(text)}}};
}

/// "19600000000", "19.6GB", "18 GiB", "512MiB".
std::optional<std::uint64_t> parseBytes(std::string text)
{
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const std::size_t end = text.find_first_not_of("0123456789.");
    const std::string number = text.substr(0, end);
    const std::string unit = end == std::string::npos ? std::string() : text.substr(end);
    if (number.empty() || std::count(number.begin(), number.end(), '.') > 1 || number == ".")
        return std::nullopt;
    double factor = 0;
    for (const auto &[name, value] : {std::pair{"", 1.0},
                                      {"B", 1.0},
                                      {"kB", 1e3},
                                      {"MB", 1e6},
                                      {"GB", 1e9},
                                      {"KiB", 1024.0},
                                      {"MiB", 1048576.0},
                                      {"GiB", 1073741824.0}}) {
        if (unit == name)
            factor = value;
    }
    const double bytes = std::strtod(number.c_str(), nullptr) * factor;
    if (factor == 0 || !std::isfinite(bytes) || bytes > 1e18)
        return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(bytes));
}

/// Names of files need not be UTF-8, JSON must be.
void printJson(const Json &object, std::ostream &out)
{
    out << object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

ReportWords reportWords()
{
    return {[](const Message &message) { return wordTitle(message); },
            [](const Message &message) { return wordDetail(message); },
            [](Component component) { return componentLabel(component); }};
}

/// Two decimals where a table compares components: 0.08 GB stays comparable with 60.25 GB.
std::string tableBytes(std::uint64_t bytes)
{
    return bytes >= 5'000'000 ? fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9)
                              : formatBytes(bytes);
}

std::string speedLine(const Assessment &assessment)
{
    if (!assessment.decode) {
        return assessment.load.canLoad ? std::string("Speed unknown")
                                       : "No speed: " + wordDetail(assessment.load.reason);
    }
    const DecodeAssessment &decode = *assessment.decode;
    std::string line = fmt::format("{} tok/s", decode.tokensPerSecond < 9.95
                                                   ? formatSpeed(decode.tokensPerSecond)
                                                   : fmt::format("{:.1f}", decode.tokensPerSecond));
    if (decode.low && decode.high)
        line += fmt::format(" ({} to {})", formatSpeed(*decode.low), formatSpeed(*decode.high));
    line += fmt::format(" at {} tokens of context", formatCount(assessment.workload.contextTokens));
    if (!assessment.memory.fits)
        line += ", if it fit";
    if (assessment.workload.concurrency > 1) {
        line += fmt::format(", each of {}; {} together", formatCount(assessment.workload.concurrency),
                            formatSpeed(decode.aggregateTokensPerSecond));
    }
    line += fmt::format("; {} read per step", formatBytes(decode.bytesPerStep));
    return line;
}

void printAssessment(const Assessment &assessment, std::ostream &out)
{
    const Checkpoint &checkpoint = *assessment.checkpoint;
    const MemoryAssessment &memory = assessment.memory;
    const auto parameters = [&checkpoint](std::uint64_t count) {
        return checkpoint.parametersKnown() ? formatParameters(count) : std::string("unknown");
    };
    out << fmt::format("{} on {} with {}\n", checkpoint.name, assessment.machine.name, assessment.engineName);
    out << fmt::format("{} {} · {} parameters, {} active · {} of weights\n\n", checkpoint.quantization,
                       formatId(checkpoint.format), parameters(checkpoint.parametersTotal()),
                       parameters(assessment.parametersActive), formatBytes(checkpoint.weightBytes()));
    out << fmt::format("{}: needs {} of {}, reserve of {} included\n", memory.fits ? "Fits" : "Does not fit",
                       formatBytes(memory.totalBytes), formatBytes(memory.usableBytes),
                       formatBytes(memory.reserveBytes));
    out << fmt::format("Reads {} of the {} it holds for each token ({})\n",
                       formatBytes(assessment.streamedBytes), formatBytes(assessment.residentBytes),
                       formatPercent(assessment.streamedFraction()));
    out << speedLine(assessment) << '\n';
    if (memory.maxContextTokens) {
        out << fmt::format("Longest context that fits: {} tokens ({})\n",
                           formatCount(*memory.maxContextTokens),
                           memory.contextLimitedByModel ? "the model's own limit" : "limited by memory");
    }
    out << '\n';

    TextTable table({"Component", ">Resident", ">Streamed", ">Parameters", "Why"});
    for (const ComponentAssessment &each : assessment.components) {
        const ComponentSum *sum = checkpoint.sum(each.component);
        table.addRow({componentLabel(each.component), tableBytes(each.residentBytes),
                      each.streamedBytes == 0 ? std::string("0") : tableBytes(each.streamedBytes),
                      sum == nullptr || sum->parametersKnown ? formatParameters(each.parameters) : "unknown",
                      wordDetail(each.reason)});
    }
    table.addRow({"Total",
                  tableBytes(assessment.residentBytes),
                  tableBytes(assessment.streamedBytes),
                  parameters(checkpoint.parametersTotal()),
                  {}});
    out << table.text() << '\n';

    TextTable needs({"Memory", ">Bytes"});
    for (const auto &[label, bytes] : {std::pair{"Weights, as loaded", memory.weightsBytes},
                                       {"KV cache", memory.kvBytes},
                                       {"State", memory.stateBytes},
                                       {"Activations", memory.activationBytes},
                                       {"Runtime", memory.runtimeBytes},
                                       {"Kept free", memory.reserveBytes},
                                       {"Total", memory.totalBytes}}) {
        needs.addRow({label, tableBytes(bytes)});
    }
    out << needs.text() << '\n';
    for (const Message &warning : assessment.warnings) {
        out << fmt::format("{}: {}{}\n", wordTitle(warning), wordDetail(warning),
                           warning.source.empty() ? std::string() : fmt::format(" [{}]", warning.source));
    }
}

/// What is known of something that is no decoder language model: `kind`, `architecture`, `parameters`, `weights`
/// (bytes of tensors), `files`, `bytes` (of all files), and of an adapter `base`, `rank` and `targets`.
Json factsJson(const Error &error)
{
    Json facts = Json::object();
    for (const auto &[name, value] : error.arguments) {
        if (const auto *text = std::get_if<std::string>(&value))
            facts[name] = *text;
        else if (const auto *number = std::get_if<std::uint64_t>(&value))
            facts[name] = *number;
        else if (const auto *bytes = std::get_if<Bytes>(&value))
            facts[name] = bytes->value;
        else
            facts[name] = std::get<double>(value);
    }
    return facts;
}

int report(const Error &error, bool json, std::ostream &out, std::ostream &err)
{
    const std::string sentence = wordError(error);
    err << sentence << '\n';
    if (json) {
        Json object{
            {"error", {{"id", error.id}, {"message", sentence}, {"subject", printable(error.subject, 600)}}}};
        if (error.kind == ErrorKind::NotLanguageModel)
            object["error"]["facts"] = factsJson(error);
        printJson(object, out);
    } else if (const auto facts = wordFacts(error); !facts.empty()) {
        TextTable table({"Known", "Value"});
        for (const auto &[label, value] : facts)
            table.addRow({label, value});
        out << table.text();
    }
    return exitStatusOf(error.kind);
}

Result<Workload> workloadOf(const AssessOptions &options, const Engine &engine)
{
    Workload workload;
    workload.contextTokens = options.context;
    workload.concurrency = options.concurrency;
    for (const auto &[typed, target] :
         {std::pair{&options.kDtype, &workload.kDtype}, {&options.vDtype, &workload.vDtype}}) {
        const bool sixteenBit = *typed == "f16" || *typed == "bf16" || *typed == "auto";
        const bool known =
            std::find(engine.kvDtypes.begin(), engine.kvDtypes.end(), *typed) != engine.kvDtypes.end();
        if (!kvElementSize(*typed) || (!known && !sixteenBit)) {
            std::string list;
            for (const std::string &each : engine.kvDtypes)
                list += (list.empty() ? "" : ", ") + each;
            return fail("dtype.unknown", ErrorKind::Usage, *typed,
                        {{"engine", engine.name}, {"known", list}});
        }
        *target = *typed;
    }
    if (!options.reserve.empty()) {
        const auto bytes = parseBytes(options.reserve);
        if (!bytes)
            return std::unexpected(usageError(
                fmt::format("--reserve takes bytes, such as 19600000000, 19.6GB or 18GiB, not “{}”.",
                            printable(options.reserve))));
        workload.reserveBytes = bytes;
    }
    return workload;
}

/// The checkpoint as it is, or as `--quant` wants it.
Result<CheckpointPtr> openAt(const AssessOptions &options, const Library &library)
{
    Result<QuantRecipe> recipe;
    if (options.quant)
        recipe = parseQuantRecipe(*options.quant);
    // A word that is no scheme may still be what a publisher calls one of several files.
    const bool isLabel = options.quant && options.quant->find_first_of("=,") == std::string::npos;
    if (!recipe && (!isLabel || options.quant->size() > maxRecipeText))
        return std::unexpected(recipe.error());
    Hub hub(hubSettings(processEnvironment())); // connects to nothing until it is asked
    Ollama ollama(ollamaSettings(processEnvironment()));
    OpenContext context{*library.catalog, &hub};
    context.ollama = &ollama;
    if (isLabel)
        context.preferredQuantization = *options.quant;
    for (const Source source :
         {Source::Hub, Source::Catalog, Source::Folder, Source::File, Source::Ollama, Source::Config}) {
        if (options.source == sourceId(source))
            context.forced = source;
    }
    Result<CheckpointPtr> checkpoint = openCheckpoint(options.checkpoint, context);
    if (!checkpoint || !options.quant)
        return checkpoint;
    if (isLabel && isChosenQuantization(**checkpoint, *options.quant))
        return checkpoint;
    if (!recipe)
        return std::unexpected(recipe.error());
    Result<Checkpoint> derived = requantize(**checkpoint, *recipe);
    if (!derived)
        return std::unexpected(derived.error());
    return std::make_shared<const Checkpoint>(*std::move(derived));
}

Result<Assessment> assessArguments(const AssessOptions &options, const Library &library)
{
    const Machine *machine = library.machine(options.machine);
    if (machine == nullptr)
        return fail("machine.unknown", ErrorKind::Usage, options.machine);
    if (options.engine != "auto" && library.engine(options.engine) == nullptr)
        return fail("engine.unknown", ErrorKind::Usage, options.engine);
    const Result<CheckpointPtr> checkpoint = openAt(options, library);
    if (!checkpoint)
        return std::unexpected(checkpoint.error());
    const std::string engineId = options.engine == "auto" ? automaticEngine(**checkpoint) : options.engine;
    const Engine *engine = library.engine(engineId);
    if (engine == nullptr)
        return fail("engine.unknown", ErrorKind::Usage, engineId);
    const Result<Workload> workload = workloadOf(options, *engine);
    if (!workload)
        return std::unexpected(workload.error());
    return assess(*checkpoint, *machine, *engine, *workload);
}

int runAssess(const AssessOptions &options, const Library &library, std::ostream &out, std::ostream &err)
{
    const Result<Assessment> assessment = assessArguments(options, library);
    if (!assessment)
        return report(assessment.error(), options.json, out, err);
    if (options.json)
        printJson(assessmentJson(*assessment, reportWords()), out);
    else
        printAssessment(*assessment, out);
    return options.requireFit && !assessment->memory.fits ? 6 : 0;
}

int listMachines(const Library &library, bool json, std::ostream &out)
{
    if (json) {
        Json items = Json::array();
        for (const Machine &machine : library.machines)
            items.push_back(machineJson(machine));
        printJson({{"schema", "weir.machines/1"}, {"items", std::move(items)}}, out);
        return 0;
    }
    TextTable table({"Id", "Name", "Kind", ">Memory", ">Visible", ">Datasheet", ">Readable"});
    const auto bandwidth = [](const std::optional<Sourced> &value) {
        return value ? fmt::format("{:.0f} GB/s", value->value / 1e9) : std::string("unknown");
    };
    for (const Machine &machine : library.machines) {
        table.addRow(
            {machine.id, machine.name,
             machine.memoryKind == MemoryKind::Unified    ? "unified"
             : machine.memoryKind == MemoryKind::Discrete ? "discrete"
                                                          : "cpu",
             formatBytes(machine.memoryBytes, ByteUnit::Gibibytes),
             machine.usableBytes
                 ? formatBytes(static_cast<std::uint64_t>(machine.usableBytes->value), ByteUnit::Gibibytes)
                 : std::string("unknown"),
             bandwidth(machine.bandwidthBytesPerSecond), bandwidth(machine.readableBandwidthBytesPerSecond)});
    }
    out << table.text();
    return 0;
}

int listEngines(const Library &library, bool json, std::ostream &out)
{
    if (json) {
        Json items = Json::array();
        for (const Engine &engine : library.engines)
            items.push_back(engineJson(engine));
        printJson({{"schema", "weir.engines/1"}, {"items", std::move(items)}}, out);
        return 0;
    }
    TextTable table({"Id", "Name", "Loads", "Speed fitted on"});
    for (const Engine &engine : library.engines) {
        std::string formats;
        for (const Format format : engine.formats)
            formats += (formats.empty() ? "" : ", ") + std::string(formatId(format));
        std::string fitted;
        for (const SpeedConstants &each : engine.speed) {
            if (each.basis == SpeedBasis::Fitted)
                fitted += fmt::format("{}{} ({} rows)", fitted.empty() ? "" : ", ", each.machine, each.rows);
        }
        table.addRow({engine.id, engine.name, formats, fitted});
    }
    out << table.text();
    return 0;
}

int listCatalog(const Library &library, bool json, std::ostream &out)
{
    const auto &entries = library.catalog->entries();
    if (json) {
        Json items = Json::array();
        for (const CatalogEntry &entry : entries) {
            const auto textOrNull = [](const std::string &text) {
                return text.empty() ? Json(nullptr) : Json(text);
            };
            items.push_back({{"id", entry.id},
                             {"name", entry.name},
                             {"repository", textOrNull(entry.repository)},
                             {"ollama", textOrNull(entry.ollama)},
                             {"format", formatId(entry.format)},
                             {"quantization", entry.quantization},
                             {"provenance", provenanceId(entry.provenance)},
                             {"architecture", entry.architecture},
                             {"weight_bytes", entry.weightBytes},
                             {"parameters_total", entry.parametersTotal},
                             {"parameters_active", entry.parametersActive},
                             {"moe", entry.moe},
                             {"date", entry.date},
                             {"note", textOrNull(entry.note)}});
        }
        printJson(
            {{"schema", "weir.catalog/1"}, {"date", library.catalog->date()}, {"items", std::move(items)}},
            out);
        return 0;
    }
    TextTable table({"Id", "Name", "Quantization", ">Weights", ">Parameters", ">Active", "Bytes known from"});
    for (const CatalogEntry &entry : entries) {
        table.addRow({entry.id, entry.name, entry.quantization, formatBytes(entry.weightBytes),
                      formatParameters(entry.parametersTotal), formatParameters(entry.parametersActive),
                      std::string(provenanceId(entry.provenance))});
    }
    out << table.text();
    return 0;
}

/// Options of the window that scripts use; not shown in the help.
void addWindowOptions(CLI::App &app, CommandOutcome &outcome, std::string &size, std::string &screenshot)
{
    app.add_option("--screenshot", screenshot, "Write a picture of the first window and quit")->group("");
    app.add_option("--size", size, "Size of the window, such as 1280x800")->group("");
    app.add_option("--theme", outcome.theme, "light, dark or system")
        ->check(CLI::IsMember({"light", "dark", "system"}))
        ->group("");
}

bool parseSize(const std::string &text, CommandOutcome &outcome)
{
    if (text.empty())
        return true;
    const std::size_t cross = text.find('x');
    if (cross == std::string::npos)
        return false;
    outcome.width = std::atoi(text.substr(0, cross).c_str());
    outcome.height = std::atoi(text.substr(cross + 1).c_str());
    return outcome.width >= 320 && outcome.height >= 240 && outcome.width <= 16384 && outcome.height <= 16384;
}

} // namespace

int exitStatusOf(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::Usage: return 2;
    case ErrorKind::NotFound:
    case ErrorKind::Unreadable: return 3;
    case ErrorKind::Network: return 4;
    case ErrorKind::Access: return 5;
    case ErrorKind::NotLanguageModel: return 7;
    }
    return 3;
}

CommandOutcome runCommandLine(int argc, const char *const *argv, std::ostream &out, std::ostream &err)
{
    CommandOutcome outcome;
    const bool wantsJson = std::any_of(
        argv, argv + argc, [](const char *argument) { return std::strcmp(argument, "--json") == 0; });
    CLI::App app("Weir: does a checkpoint fit, what does it read per token, and how fast does it decode?",
                 "weir");
    app.set_version_flag("--version", std::string("weir ") + WEIR_VERSION);
    app.add_option("checkpoint", outcome.checkpoint,
                   "Checkpoint to open in the window: a path, a catalog id or org/name");
    std::string size;
    std::string screenshot;
    addWindowOptions(app, outcome, size, screenshot);
    app.require_subcommand(0, 1);

    AssessOptions options;
    CLI::App *assessCommand = app.add_subcommand("assess", "Fit, bytes and speed of one checkpoint");
    assessCommand
        ->add_option(
            "checkpoint", options.checkpoint,
            "A path, a catalog id, org/name[@revision][:quantization] on the Hub, or ollama:name:tag")
        ->required();
    assessCommand->add_option("--source", options.source, "Where to look, and nowhere else: hub, catalog ...")
        ->check(CLI::IsMember({"hub", "catalog", "folder", "file", "ollama", "config"}));
    assessCommand->add_option("--machine", options.machine, "Machine id, see “weir machines”")
        ->capture_default_str();
    assessCommand->add_option("--engine", options.engine, "Engine id, see “weir engines”; auto: by format")
        ->capture_default_str();
    assessCommand->add_option("--context", options.context, "Tokens of context while decoding")
        ->capture_default_str()
        ->check(checkDecimal)
        ->check(CLI::Range(std::uint64_t{0}, maxContext));
    assessCommand->add_option("--concurrency", options.concurrency, "Sequences decoded together")
        ->capture_default_str()
        ->check(checkDecimal)
        ->check(CLI::Range(std::uint32_t{1}, maxConcurrency));
    assessCommand->add_option("--k-dtype", options.kDtype, "Dtype of cached keys")->capture_default_str();
    assessCommand->add_option("--v-dtype", options.vDtype, "Dtype of cached values")->capture_default_str();
    assessCommand->add_option("--reserve", options.reserve,
                              "Bytes to keep free (19.6GB, 18GiB); default: 15 % of visible memory on "
                              "unified machines, 1 GB on cards");
    assessCommand->add_option(
        "--quant", options.quant,
        "Imagine it at another quantization: Q4_K_M, fp8, awq, nvfp4, mlx-4bit ..., or by "
        "component: lm_head=int8,shared_expert=fp8");
    assessCommand->add_flag("--require-fit", options.requireFit, "Exit with status 6 if it does not fit");
    assessCommand->add_flag("--json", options.json, "Print one JSON object (weir.assessment/1)");

    bool listJson = false;
    CLI::App *machines = app.add_subcommand("machines", "List the machines that are known");
    CLI::App *engines = app.add_subcommand("engines", "List the engines that are known");
    CLI::App *catalog = app.add_subcommand("catalog", "List the checkpoints that ship with the program");
    CLI::App *disk = app.add_subcommand(
        "disk", "List the checkpoints on this disk: caches of Hugging Face and llama.cpp, Ollama, LM Studio");
    std::vector<std::string> folders;
    disk->add_option("--folder", folders, "Look through this folder as well; may be given several times")
        ->allow_extra_args(false);
    for (CLI::App *each : {machines, engines, catalog, disk})
        each->add_flag("--json", listJson, "Print one JSON object");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == 0) { // --help, --version
            outcome.exitStatus = app.exit(error, out, err);
            return outcome;
        }
        outcome.exitStatus = report(usageError(fmt::format("{} (see “weir {}--help”).", error.what(),
                                                           assessCommand->parsed() ? "assess " : "")),
                                    wantsJson, out, err);
        return outcome;
    }
    if (!parseSize(size, outcome)) {
        outcome.exitStatus =
            report(usageError("--size takes width x height, such as 1280x800."), wantsJson, out, err);
        return outcome;
    }
    if (!screenshot.empty())
        outcome.screenshot = screenshot;
    if (app.get_subcommands().empty())
        return outcome;
    if (disk->parsed()) {
        outcome.exitStatus = listCheckpointsOnDisk(folders, listJson, out, err);
        return outcome;
    }

    const Library library = Library::read();
    if (!library.problems.empty()) {
        outcome.exitStatus = report(library.problems.front(), wantsJson, out, err);
        return outcome;
    }
    if (assessCommand->parsed())
        outcome.exitStatus = runAssess(options, library, out, err);
    else if (machines->parsed())
        outcome.exitStatus = listMachines(library, listJson, out);
    else if (engines->parsed())
        outcome.exitStatus = listEngines(library, listJson, out);
    else
        outcome.exitStatus = listCatalog(library, listJson, out);
    return outcome;
}

} // namespace weir

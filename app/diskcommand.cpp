// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/diskcommand.h"

#include "app/texttable.h"
#include "app/words.h"
#include "models/base/units.h"
#include "models/sources/disk/disk.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>

namespace weir {

namespace {

using Json = nlohmann::ordered_json;

/// "2026-03-01T12:00:00Z"; empty for an unknown time.
std::string dateText(std::int64_t seconds)
{
    if (seconds <= 0)
        return {};
    const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string_view diskPlaceLabel(DiskPlaceKind kind)
{
    switch (kind) {
    case DiskPlaceKind::HuggingFaceCache: return "Hugging Face";
    case DiskPlaceKind::Ollama: return "Ollama";
    case DiskPlaceKind::LmStudio: return "LM Studio";
    case DiskPlaceKind::LlamaCppCache: return "llama.cpp";
    case DiskPlaceKind::Folder: break;
    }
    return "Folder";
}

} // namespace

int listCheckpointsOnDisk(const std::vector<std::string> &added, bool json, std::ostream &out,
                          std::ostream &err)
{
    const std::vector<std::filesystem::path> folders(added.begin(), added.end());
    const DiskListing listing = listDisk(diskPlaces(DiskEnvironment::fromProcess(), folders));
    for (const Message &note : listing.notes)
        err << wordDetail(note) << '\n';
    if (json) {
        Json items = Json::array();
        for (const DiskCheckpoint &each : listing.checkpoints) {
            const auto textOrNull = [](const std::string &text) {
                return text.empty() ? Json(nullptr) : Json(text);
            };
            Json problem(nullptr);
            if (each.problem)
                problem = {{"id", each.problem->id}, {"message", wordDetail(*each.problem)}};
            items.push_back({{"name", each.name},
                             {"argument", each.argument},
                             {"kind", diskPlaceKindId(each.kind)},
                             {"place", each.place.string()},
                             {"format", formatId(each.format)},
                             {"quantization", textOrNull(each.quantization)},
                             {"bytes", each.bytes},
                             {"modified", textOrNull(dateText(each.modified))},
                             {"complete", each.complete},
                             {"problem", std::move(problem)}});
        }
        const Json object{{"schema", "weir.disk/1"}, {"items", std::move(items)}};
        // Names of files need not be UTF-8, JSON must be.
        out << object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
        return 0;
    }
    TextTable table({"Name", "Format", "Quantization", ">Weights", "In", "Problem"});
    for (const DiskCheckpoint &each : listing.checkpoints) {
        table.addRow({each.name, std::string(each.format == Format::Unknown ? "" : formatId(each.format)),
                      each.quantization, formatBytes(each.bytes), std::string(diskPlaceLabel(each.kind)),
                      each.problem ? wordDetail(*each.problem) : std::string()});
    }
    out << table.text();
    return 0;
}

} // namespace weir

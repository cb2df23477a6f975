// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/catalog.h"

#include "models/base/tolerantjson.h"
#include "models/checkpoint/safetensors.h"
#include "models/sources/catalogformat.h"
#include "models/sources/localfile.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t maxCatalogFileBytes = 64U << 20U;

using nlohmann::json;

bool readText(const json &item, const char *key, std::string &target)
{
    const auto found = item.find(key);
    if (found == item.end() || !found->is_string())
        return false;
    target = found->get<std::string>();
    return true;
}

bool readNumber(const json &item, const char *key, std::uint64_t &target)
{
    const auto found = item.find(key);
    if (found == item.end() || !found->is_number_unsigned())
        return false;
    target = found->get<std::uint64_t>();
    return true;
}

/// @return the name of the first field that is missing or wrong, empty if none
std::string readEntry(const json &item, CatalogEntry &entry)
{
    std::string format;
    std::string provenance;
    for (const auto &[key, target] : {std::pair{"id", &entry.id},
                                      {"name", &entry.name},
                                      {"repository", &entry.repository},
                                      {"ollama", &entry.ollama},
                                      {"file", &entry.file},
                                      {"format", &format},
                                      {"quantization", &entry.quantization},
                                      {"provenance", &provenance},
                                      {"architecture", &entry.architecture},
                                      {"date", &entry.date},
                                      {"note", &entry.note}}) {
        if (!readText(item, key, *target))
            return key;
    }
    for (const auto &[key, target] : {std::pair{"weight_bytes", &entry.weightBytes},
                                      {"parameters_total", &entry.parametersTotal},
                                      {"parameters_active", &entry.parametersActive}}) {
        if (!readNumber(item, key, *target))
            return key;
    }
    const auto moe = item.find("moe");
    if (moe == item.end() || !moe->is_boolean())
        return "moe";
    entry.moe = moe->get<bool>();
    const auto knownFormat = formatFromId(format);
    const auto knownProvenance = provenanceFromId(provenance);
    if (!knownFormat)
        return "format";
    if (!knownProvenance)
        return "provenance";
    if (!isPlainRelativePath(entry.file))
        return "file";
    entry.format = *knownFormat;
    entry.provenance = *knownProvenance;
    return {};
}

} // namespace

Result<Catalog> Catalog::open(const fs::path &folder)
{
    const fs::path file = folder / "index.json";
    const Result<std::string> text = readTextFile(file, maxCatalogFileBytes);
    if (!text)
        return std::unexpected(text.error());
    const Result<json> parsed = parseTolerant(*text, file.string());
    if (!parsed)
        return std::unexpected(parsed.error());
    const auto bad = [&file](const std::string &field) {
        return fail("catalog.bad-field", ErrorKind::Unreadable, file.string(), {{"field", field}});
    };
    std::string schema;
    Catalog catalog;
    catalog.m_folder = folder;
    if (!readText(*parsed, "schema", schema) || schema != "weir.catalog/1")
        return bad("schema");
    if (!readText(*parsed, "date", catalog.m_date))
        return bad("date");
    const auto items = parsed->find("items");
    if (items == parsed->end() || !items->is_array())
        return bad("items");
    for (const json &item : *items) {
        CatalogEntry entry;
        const std::string problem = item.is_object() ? readEntry(item, entry) : "items";
        if (!problem.empty())
            return bad(problem);
        if (catalog.find(entry.id) != nullptr)
            return bad("id " + entry.id);
        catalog.m_entries.push_back(std::move(entry));
    }
    return catalog;
}

const CatalogEntry *Catalog::find(std::string_view idOrRepository) const
{
    const std::string_view tag =
        idOrRepository.starts_with("ollama:") ? idOrRepository.substr(7) : std::string_view{};
    const auto match = [&](const CatalogEntry &entry) {
        if (!tag.empty())
            return entry.ollama == tag;
        return entry.id == idOrRepository || (!entry.repository.empty() && entry.repository == idOrRepository)
               || (!entry.ollama.empty() && entry.ollama == idOrRepository);
    };
    const auto found = std::find_if(m_entries.begin(), m_entries.end(), match);
    return found == m_entries.end() ? nullptr : &*found;
}

Result<CheckpointPtr> Catalog::load(const CatalogEntry &entry) const
{
    const fs::path file = m_folder / entry.file;
    const Result<std::string> text = readTextFile(file, maxCatalogFileBytes);
    if (!text)
        return std::unexpected(text.error());
    Result<Checkpoint> checkpoint = readGroupFile(*text, file.string());
    if (!checkpoint)
        return std::unexpected(checkpoint.error());
    checkpoint->repository = entry.repository;
    checkpoint->ollama = entry.ollama;
    return std::make_shared<const Checkpoint>(std::move(*checkpoint));
}

CheckpointPtr Catalog::comparedWithEntry(CheckpointPtr read) const
{
    if (read->source != Source::Hub || read->provenance != Provenance::Headers || read->repository.empty())
        return read;
    const CatalogEntry *entry = find(read->repository);
    if (entry == nullptr || entry->repository != read->repository || entry->provenance == Provenance::Headers
        || entry->format != read->format)
        return read;
    const Result<CheckpointPtr> known = load(*entry);
    if (!known)
        return read;
    Component worst = Component::Other;
    std::uint64_t difference = 0;
    const auto bytesOf = [](const Checkpoint &checkpoint, Component component) {
        const ComponentSum *sum = checkpoint.sum(component);
        return sum == nullptr ? std::uint64_t{0} : sum->bytes;
    };
    for (const Component component : allComponents) {
        const std::uint64_t now = bytesOf(*read, component);
        const std::uint64_t before = bytesOf(**known, component);
        const std::uint64_t apart = now > before ? now - before : before - now;
        if (apart > difference) {
            difference = apart;
            worst = component;
        }
    }
    auto noted = std::make_shared<Checkpoint>(*read);
    if (difference == 0) {
        noted->notes.push_back(
            {"catalog.agrees", Severity::Info, {{"bytes", Bytes{read->weightBytes()}}}, {}});
    } else {
        noted->notes.push_back({"catalog.differs",
                                Severity::Warning,
                                {{"component", std::string(componentId(worst))},
                                 {"stored", Bytes{bytesOf(*read, worst)}},
                                 {"before", Bytes{bytesOf(**known, worst)}}},
                                {}});
    }
    return noted;
}

} // namespace weir

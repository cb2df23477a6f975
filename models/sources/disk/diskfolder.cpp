// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/diskfolder.h"

#include "models/base/saturating.h"
#include "models/base/tolerantjson.h"
#include "models/base/units.h"
#include "models/sources/configfiles.h"
#include "models/sources/gguffile.h"
#include "models/sources/hub/hubchoice.h"
#include "models/sources/picklefolder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t maxReadConfigBytes = 1U << 20U; ///< a longer one is left for the reader

bool isTop(std::string_view path) { return path.find('/') == std::string_view::npos; }

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// "model-00003-of-00014.safetensors": the text before the number, and how many there are.
std::optional<std::pair<std::string, std::uint64_t>> shardOf(std::string_view path)
{
    const std::size_t ending = path.rfind('.');
    if (ending == std::string_view::npos)
        return std::nullopt;
    path = path.substr(0, ending);
    const std::size_t of = path.rfind("-of-");
    if (of == std::string_view::npos)
        return std::nullopt;
    const std::string_view total = path.substr(of + 4);
    const std::size_t dash = path.substr(0, of).rfind('-');
    const bool digits = !total.empty() && total.size() <= 7
                        && total.find_first_not_of("0123456789") == std::string_view::npos;
    if (dash == std::string_view::npos || !digits)
        return std::nullopt;
    return std::pair{std::string(path.substr(0, dash)), std::uint64_t{std::stoul(std::string(total))}};
}

Message missingFiles(const std::vector<std::string> &files)
{
    return {"disk.missing-files",
            Severity::Warning,
            {{"count", std::uint64_t{files.size()}}, {"first", printable(files.front(), 120)}},
            {}};
}

class FolderScan
{
public:
    explicit FolderScan(const DiskFolder &folder)
        : m_folder(folder)
    {
        for (const ListedFile &file : folder.files)
            m_names.insert(file.path);
    }

    std::vector<FolderCheckpoint> run()
    {
        if (has("model_index.json"))
            return {};
        addSafetensors();
        addGguf();
        if (m_found.empty())
            addPickle();
        if (m_found.empty())
            addUnfinished();
        return std::move(m_found);
    }

private:
    bool has(std::string_view path) const { return m_names.contains(path); }

    FolderCheckpoint &add(Format format, const std::string &argument)
    {
        FolderCheckpoint found;
        found.checkpoint.format = format;
        found.checkpoint.argument = argument;
        m_found.push_back(std::move(found));
        return m_found.back();
    }

    void count(DiskCheckpoint &checkpoint, const ListedFile &file) const
    {
        checkpoint.bytes = saturatingAdd(checkpoint.bytes, file.bytes);
        checkpoint.modified = std::max(checkpoint.modified, modifiedSeconds(m_folder.path / file.path));
    }

    static void incomplete(DiskCheckpoint &checkpoint, Message why)
    {
        checkpoint.complete = false;
        if (!checkpoint.problem)
            checkpoint.problem = std::move(why);
    }

    /// Counts weight files; shards that are not all there and empty files are said.
    void countAll(DiskCheckpoint &checkpoint, const std::vector<const ListedFile *> &files) const
    {
        std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> shards;
        for (const ListedFile *file : files) {
            count(checkpoint, *file);
            if (auto shard = shardOf(file->path))
                ++shards[*std::move(shard)];
            if (file->bytes == 0)
                incomplete(checkpoint, missingFiles({file->path}));
        }
        for (const auto &[shard, found] : shards) {
            if (found < shard.second) {
                incomplete(checkpoint, {"disk.missing-parts",
                                        Severity::Warning,
                                        {{"found", found}, {"total", shard.second}},
                                        {}});
            }
        }
    }

    void addSafetensors()
    {
        std::vector<const ListedFile *> files;
        std::vector<const ListedFile *> copies;
        for (const ListedFile &file : m_folder.files) {
            if (!isTop(file.path) || !file.path.ends_with(".safetensors")
                || file.path.starts_with("adapter_model"))
                continue;
            (file.path.starts_with("consolidated") ? copies : files).push_back(&file);
        }
        if (files.empty())
            files = std::move(copies);
        std::vector<std::string> missing;
        for (const std::string &name : m_folder.missing) {
            if (isTop(name) && name.ends_with(".safetensors"))
                missing.push_back(name);
        }
        const bool configMissing =
            std::ranges::find(m_folder.missing, "config.json") != m_folder.missing.end();
        if ((!has("config.json") && !configMissing) || (files.empty() && missing.empty()))
            return;
        DiskCheckpoint &checkpoint = add(formatOfConfig(), m_folder.path.string()).checkpoint;
        if (configMissing)
            missing.insert(missing.begin(), "config.json");
        if (!missing.empty())
            incomplete(checkpoint, missingFiles(missing));
        countAll(checkpoint, files);
        for (const std::string &name : m_folder.unfinished) {
            if (name.ends_with(".safetensors")) {
                incomplete(checkpoint,
                           {"disk.unfinished", Severity::Warning, {{"file", printable(name, 120)}}, {}});
            }
        }
    }

    /// MLX files are safetensors too; the config tells them apart.
    Format formatOfConfig() const
    {
        const fs::path file = m_folder.path / "config.json";
        const Result<std::string> text = readTextFile(file, maxReadConfigBytes);
        if (!text)
            return Format::Safetensors;
        const Result<nlohmann::json> config = parseTolerant(*text, file.string());
        if (!config)
            return Format::Safetensors;
        for (const char *key : {"quantization", "quantization_config"}) {
            const auto found = config->find(key);
            if (found != config->end() && found->is_object() && found->contains("group_size")
                && found->contains("bits") && !found->contains("quant_method"))
                return Format::Mlx;
        }
        return Format::Safetensors;
    }

    void addGguf()
    {
        for (const HubChoice &choice : choicesOf(m_folder.files)) {
            if (choice.format == Format::Gguf)
                addGguf(choice.files);
        }
        // A split whose first part is not here.
        std::set<std::string> headless;
        for (const ListedFile &file : m_folder.files) {
            const auto part = ggufPartName(file.path);
            if (!part || part->number <= 1 || isGgufCompanion(file.path))
                continue;
            const std::vector<std::string> parts = ggufPartNames(*part);
            if (!parts.empty() && !has(parts.front()) && headless.insert(parts.front()).second)
                addGguf(parts);
        }
        for (const std::string &name : m_folder.missing) {
            if (name.ends_with(".gguf") && !ggufPartName(name) && !isGgufCompanion(name))
                addGguf({name});
        }
        for (const std::string &name : m_folder.unfinished) {
            if (!name.ends_with(".gguf") || has(name))
                continue;
            FolderCheckpoint &found = add(Format::Gguf, (m_folder.path / name).string());
            found.checkpoint.quantization = quantizationLabel(name);
            found.stem = stemOf(name);
            incomplete(found.checkpoint,
                       {"disk.unfinished", Severity::Warning, {{"file", printable(name, 120)}}, {}});
        }
    }

    void addGguf(const std::vector<std::string> &parts)
    {
        std::string first;
        DiskCheckpoint checkpoint;
        std::uint64_t here = 0;
        for (const std::string &part : parts) {
            const auto file =
                std::lower_bound(m_folder.files.begin(), m_folder.files.end(), part,
                                 [](const ListedFile &a, const std::string &name) { return a.path < name; });
            if (file == m_folder.files.end() || file->path != part)
                continue;
            if (first.empty())
                first = part;
            ++here;
            count(checkpoint, *file);
        }
        FolderCheckpoint &found =
            add(Format::Gguf, (m_folder.path / (first.empty() ? parts.front() : first)).string());
        found.checkpoint.bytes = checkpoint.bytes;
        found.checkpoint.modified = checkpoint.modified;
        found.checkpoint.quantization = quantizationLabel(parts.front());
        found.stem = stemOf(parts.front());
        if (here == 0) {
            incomplete(found.checkpoint, {"disk.not-regular",
                                          Severity::Warning,
                                          {{"file", printable(baseName(parts.front()), 120)}},
                                          {}});
        } else if (here < parts.size()) {
            incomplete(found.checkpoint, {"disk.missing-parts",
                                          Severity::Warning,
                                          {{"found", here}, {"total", std::uint64_t{parts.size()}}},
                                          {}});
        }
    }

    static std::string stemOf(std::string_view path)
    {
        if (const auto part = ggufPartName(path))
            return std::string(baseName(part->prefix));
        std::string_view name = baseName(path);
        if (name.ends_with(".gguf"))
            name.remove_suffix(5);
        return std::string(name);
    }

    void addPickle()
    {
        if (!has("config.json"))
            return;
        std::vector<const ListedFile *> files;
        for (const ListedFile &file : m_folder.files) {
            if (isTop(file.path) && isPickleFile(file.path) && isWeightFile(file.path))
                files.push_back(&file);
        }
        if (!files.empty())
            countAll(add(Format::Pickle, m_folder.path.string()).checkpoint, files);
    }

    /// Nothing but the remains of a download.
    void addUnfinished()
    {
        const auto weights =
            std::find_if(m_folder.unfinished.begin(), m_folder.unfinished.end(), [](const std::string &name) {
                return name.ends_with(".safetensors") || name.ends_with(".incomplete");
            });
        if (weights == m_folder.unfinished.end())
            return;
        incomplete(add(Format::Unknown, m_folder.path.string()).checkpoint,
                   {"disk.unfinished", Severity::Warning, {{"file", printable(*weights, 120)}}, {}});
    }

    const DiskFolder &m_folder;
    std::set<std::string_view> m_names;
    std::vector<FolderCheckpoint> m_found;
};

} // namespace

std::vector<FolderCheckpoint> checkpointsOf(const DiskFolder &folder) { return FolderScan(folder).run(); }

std::int64_t modifiedSeconds(const fs::path &path)
{
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    if (error)
        return 0;
    const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

bool isUnfinishedName(std::string &name)
{
    // llama.cpp, browsers, aria2 and wget's wrappers; LM Studio puts a word before.
    static constexpr std::array<std::string_view, 5> endings{".downloadInProgress", ".part", ".crdownload",
                                                             ".incomplete", ".aria2"};
    for (const std::string_view ending : endings) {
        if (name.size() > ending.size() && name.ends_with(ending)) {
            name.resize(name.size() - ending.size());
            return true;
        }
    }
    constexpr std::string_view beginning = "downloading_";
    if (name.starts_with(beginning) && name.size() > beginning.size()) {
        if (name.ends_with(".part"))
            name.resize(name.size() - 5);
        name.erase(0, beginning.size());
        return true;
    }
    return false;
}

} // namespace weir

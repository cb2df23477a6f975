// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/safetensorsfolder.h"

#include "models/base/texthash.h"
#include "models/base/tolerantjson.h"
#include "models/base/units.h"
#include "models/checkpoint/classificationrules.h"
#include "models/checkpoint/classify.h"
#include "models/checkpoint/config.h"
#include "models/checkpoint/quantlabel.h"
#include "models/checkpoint/safetensors.h"
#include "models/checkpoint/tensorset.h"
#include "models/sources/configfiles.h"
#include "models/sources/headerqueue.h"
#include "models/sources/picklefolder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

namespace weir {

namespace {

/// Asked for where nothing tells more: of a thousand repositories, 97 % stay below 100 kB.
constexpr std::uint64_t unknownHeaderBytes = 128U << 10U;
constexpr std::size_t maxWeightFiles = 10'000; ///< the most seen are some hundred

/// Weights under a name that a publisher gives to another copy or to something that is not the model.
bool isCopyByName(std::string_view path)
{
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return path.find('/') != std::string_view::npos || name.starts_with("consolidated")
           || name.starts_with("adapter_model") || name.starts_with("optimizer")
           || name.starts_with("scaler");
}

/// Names of the original Llama, Mistral and gpt-oss releases: such a file repeats the weights.
bool isOriginalNaming(std::string_view pattern)
{
    return matchesPattern("tok_embeddings.weight", pattern)
           || matchesPattern("layers.N.attention.wq.**", pattern)
           || matchesPattern("block.N.attn.qkv.**", pattern);
}

/// Shard names of `*-00003-of-00014.safetensors`: prefix, number, total.
struct ShardName
{
    std::string prefix;
    unsigned long number = 0;
    unsigned long total = 0;
};

std::optional<ShardName> shardName(std::string_view file)
{
    if (!file.ends_with(".safetensors"))
        return std::nullopt;
    file.remove_suffix(12);
    const std::size_t of = file.rfind("-of-");
    if (of == std::string_view::npos)
        return std::nullopt;
    const std::string_view total = file.substr(of + 4);
    const std::size_t dash = file.substr(0, of).rfind('-');
    if (dash == std::string_view::npos)
        return std::nullopt;
    const std::string_view number = file.substr(dash + 1, of - dash - 1);
    const auto digits = [](std::string_view text) {
        return !text.empty() && text.size() <= 7
               && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    if (!digits(number) || !digits(total))
        return std::nullopt;
    return ShardName{std::string(file.substr(0, dash)), std::stoul(std::string(number)),
                     std::stoul(std::string(total))};
}

class FolderReader
{
public:
    FolderReader(RepositoryFiles &files, std::stop_token stop, const ProgressCallback &progress)
        : m_repository(files)
        , m_listing(files.listing())
        , m_stop(std::move(stop))
        , m_progress(progress)
    {}

    Result<CheckpointPtr> read(const std::string &only)
    {
        if (only.empty()) {
            if (const Result<void> count = checkCount(weightFiles().size()); !count)
                return std::unexpected(count.error());
            expectHeaders();
        }
        Result<ModelConfig> config = readConfig();
        if (!config)
            return std::unexpected(config.error());
        m_checkpoint.source = only.empty() ? Source::Folder : Source::File;
        m_checkpoint.format = Format::Safetensors;
        m_checkpoint.provenance = Provenance::Headers;

        if (only.empty()) {
            if (const Result<void> index = readIndex(); !index)
                return std::unexpected(index.error());
        }
        const std::vector<std::string> candidates =
            only.empty() ? candidateFiles() : std::vector<std::string>{only};
        if (candidates.empty())
            return noWeights();
        if (const Result<void> count = checkCount(candidates.size()); !count)
            return std::unexpected(count.error());
        if (only.empty() && !m_index) {
            if (const Result<void> complete = checkShards(candidates); !complete)
                return std::unexpected(complete.error());
        }
        if (const Result<void> headers = readHeaders(candidates); !headers)
            return std::unexpected(headers.error());
        if (m_progress)
            m_progress({candidates.size(), candidates.size(), {}});
        if (m_tensors.empty())
            return fail("folder.no-tensors", ErrorKind::Unreadable, subject());
        return finishCheckpoint(*config, only);
    }

private:
    const ListedFile *listed(std::string_view path) const { return m_repository.find(path); }
    std::string subject(const std::string &path = {}) const { return m_repository.subject(path); }

    Result<ModelConfig> readConfig()
    {
        if (listed("config.json") == nullptr)
            return fail("folder.no-config", ErrorKind::Unreadable, subject());
        const Result<nlohmann::json> config =
            readConfigJson(m_repository, "config.json", m_stop, m_checkpoint.notes);
        if (!config)
            return std::unexpected(config.error());
        const auto quantization = readQuantizationFile(m_repository, m_stop, m_checkpoint.notes);
        if (!quantization)
            return std::unexpected(quantization.error());
        return readModelConfig(*config, *quantization ? &**quantization : nullptr, subject("config.json"));
    }

    /// The name of the index; empty if there is none.
    std::string indexFile() const
    {
        std::string chosen;
        for (const ListedFile &file : m_listing) {
            if (file.path.find('/') == std::string::npos && file.path.ends_with(".safetensors.index.json")
                && !isCopyByName(file.path)
                && (chosen.empty() || file.path == "model.safetensors.index.json"))
                chosen = file.path;
        }
        return chosen;
    }

    Result<void> readIndex()
    {
        const std::string chosen = indexFile();
        if (chosen.empty())
            return {};
        const std::string path = subject(chosen);
        const Result<std::string> text = m_repository.text(chosen, maxIndexBytes, m_stop);
        if (!text)
            return std::unexpected(text.error());
        if (text->empty())
            return fail("file.empty", ErrorKind::Unreadable, path);
        if (const std::string_view impostor = impostorError(*text); !impostor.empty())
            return fail(std::string(impostor), ErrorKind::Unreadable, path);
        Result<SafetensorsIndex> index = readSafetensorsIndex(*text, path);
        if (!index)
            return std::unexpected(index.error());
        std::vector<std::string> missing;
        for (const std::string &file : index->files) {
            if (listed(file) == nullptr)
                missing.push_back(file);
        }
        if (!missing.empty()) {
            return fail("folder.missing-shard", ErrorKind::NotFound, subject(missing.front()),
                        {{"missing", static_cast<std::uint64_t>(missing.size())},
                         {"total", static_cast<std::uint64_t>(index->files.size())},
                         {"index", chosen}});
        }
        m_index = std::move(*index);
        return {};
    }

    /// What counts as weights by name, sorted by it.
    std::vector<std::string_view> weightFiles() const
    {
        // Where the publisher's other copy is the only one, it is the model.
        const bool onlyCopies = std::none_of(m_listing.begin(), m_listing.end(), [](const ListedFile &file) {
            return file.path.ends_with(".safetensors") && !isCopyByName(file.path);
        });
        std::vector<std::string_view> files;
        for (const ListedFile &file : m_listing) {
            const bool copy = isCopyByName(file.path)
                              && !(onlyCopies && file.path.starts_with("consolidated")
                                   && file.path.find('/') == std::string::npos);
            if (file.path.ends_with(".safetensors") && !copy)
                files.emplace_back(file.path);
        }
        return files;
    }

    Result<void> checkCount(std::size_t files) const
    {
        if (files <= maxWeightFiles)
            return {};
        return fail("folder.too-many-files", ErrorKind::Unreadable, subject(),
                    {{"files", static_cast<std::uint64_t>(files)},
                     {"limit", static_cast<std::uint64_t>(maxWeightFiles)}});
    }

    /// Lets the headers of many files set out before the index is here. A small index, or one of few files, is
    /// waited for instead: it is here soon and tells their sizes, which differ more there.
    void expectHeaders()
    {
        constexpr std::uint64_t largeIndex = 1U << 20U;
        constexpr std::size_t manyShards = 8;
        const std::string index = indexFile();
        if (listed("config.json") == nullptr)
            return;
        const std::vector<std::string_view> files = weightFiles();
        std::vector<FileHead> heads;
        if (index.empty()) {
            for (const std::string_view file : files)
                heads.push_back({std::string(file), unknownHeaderBytes});
        } else if (const std::uint64_t bytes = listed(index)->bytes; bytes >= largeIndex) {
            std::map<std::pair<std::string, unsigned long>, std::size_t> series;
            for (const std::string_view file : files) {
                if (const auto shard = shardName(file))
                    ++series[{shard->prefix, shard->total}];
            }
            for (const std::string_view file : files) {
                const auto shard = shardName(file);
                const std::size_t shards = shard ? series.at({shard->prefix, shard->total}) : 0;
                if (shards < manyShards)
                    continue;
                // Headers are 1.2 to 1.4 times as long as their part of the index; the largest of many, 1.55
                // times as long as a mean part.
                const std::uint64_t share = std::min(bytes, maxIndexBytes) / shards;
                heads.push_back({std::string(file), std::clamp<std::uint64_t>(share + share * 3 / 5 + 4096,
                                                                              32U << 10U, 4U << 20U)});
            }
        }
        m_repository.expectHeads(std::move(heads));
    }

    std::vector<std::string> candidateFiles() const
    {
        std::vector<std::string> files;
        if (m_index)
            files = m_index->files;
        // Listed files first, so that of two copies the listed one counts.
        std::vector<std::string> others;
        for (const std::string_view file : weightFiles()) {
            if (!isInIndex(file))
                others.emplace_back(file);
        }
        std::stable_sort(others.begin(), others.end(), [](const std::string &a, const std::string &b) {
            const auto rank = [](const std::string &name) {
                return shardName(name) ? 0 : name == "model.safetensors" ? 1 : 2;
            };
            return rank(a) < rank(b);
        });
        files.insert(files.end(), others.begin(), others.end());
        return files;
    }

    /// Without an index, numbered shards must still be all there. Numbers may start at 0 or 1, and the
    /// total may count files that were never published, so only gaps below the highest are told.
    Result<void> checkShards(const std::vector<std::string> &files) const
    {
        std::vector<ShardName> shards;
        for (const std::string &file : files) {
            if (auto shard = shardName(file))
                shards.push_back(std::move(*shard));
        }
        std::map<std::pair<std::string_view, unsigned long>, unsigned long> counts;
        for (const ShardName &shard : shards)
            ++counts[{shard.prefix, shard.total}];
        for (const ShardName &first : shards) {
            const unsigned long count = counts.at({first.prefix, first.total});
            if (count < first.total) {
                return fail("folder.shards-incomplete", ErrorKind::NotFound, subject(),
                            {{"found", std::uint64_t{count}}, {"total", std::uint64_t{first.total}}});
            }
        }
        return {};
    }

    Result<CheckpointPtr> noWeights() const
    {
        const ListedFile *other = nullptr;
        for (const ListedFile &file : m_listing) {
            if (isPickleFile(file.path))
                return fail("folder.pickle-only", ErrorKind::Unreadable, subject());
            if (isWeightFile(file.path) && !file.path.ends_with(".safetensors"))
                other = &file;
        }
        if (other == nullptr)
            return fail("folder.config-only", ErrorKind::Unreadable, subject());
        return fail("folder.other-weights", ErrorKind::Unreadable, subject(),
                    {{"file", printable(other->path)}});
    }

    bool isInIndex(std::string_view path) const
    {
        return m_index && std::binary_search(m_index->files.begin(), m_index->files.end(), path);
    }

    /// Whether the index says that another file's copy of a tensor counts.
    bool isElsewhere(const std::string &path, std::string_view tensor) const
    {
        const auto place = m_index->fileOf(tensor);
        return place && m_index->files[*place] != path;
    }

    /// Bytes that the header of a file probably has: an entry is its name and about 90 characters.
    std::uint64_t headerGuess(const std::string &path) const
    {
        constexpr std::uint64_t entry = 96;
        constexpr std::uint64_t rest = 1024;
        if (!m_index)
            return unknownHeaderBytes;
        const auto place = std::lower_bound(m_index->files.begin(), m_index->files.end(), path);
        if (place == m_index->files.end() || *place != path)
            return unknownHeaderBytes;
        const auto &share = m_index->shares[static_cast<std::size_t>(place - m_index->files.begin())];
        return rest + share.nameBytes + share.tensors * entry;
    }

    Result<void> readHeaders(const std::vector<std::string> &candidates)
    {
        std::vector<HeaderQueue::File> files;
        std::vector<char> inIndex; // not bool: read on several threads
        for (const std::string &path : candidates) {
            files.push_back({path, headerGuess(path)});
            inIndex.push_back(isInIndex(path) ? 1 : 0);
        }
        const auto filter = [&](std::size_t file, std::string_view tensor) {
            return inIndex[file] == 0 || !isElsewhere(candidates[file], tensor);
        };
        HeaderQueue queue(m_repository, std::move(files), filter, m_stop);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (m_stop.stop_requested())
                return fail("cancelled", ErrorKind::Unreadable, subject());
            if (m_progress)
                m_progress({i, candidates.size(), candidates[i]});
            if (const Result<void> file = takeHeader(candidates[i], queue.next()); !file)
                return std::unexpected(file.error());
        }
        return {};
    }

    Result<void> takeHeader(const std::string &path, Result<ParsedHeader> header)
    {
        const bool isListed = isInIndex(path) || !m_index;
        const auto number = static_cast<std::uint32_t>(m_files.size());
        if (header)
            header = withoutSeen(path, *std::move(header));
        if (!header) {
            if (isListed || RepositoryFiles::isAboutTheWay(header.error())
                || header.error().subject == subject()) // of the repository, not of the file
                return std::unexpected(header.error());
            // A damaged file that nothing refers to must not keep the rest from being read.
            m_checkpoint.notes.push_back(
                {"folder.unlisted-unreadable", Severity::Warning, {{"file", path}}, {}});
            m_files.push_back({path, false});
            m_checkpoint.files.push_back({path, listed(path)->bytes, false, false});
            return {};
        }
        const TensorSet &tensors = header->tensors;
        bool counted = !tensors.empty();
        if (!isListed && counted)
            counted = std::none_of(tensors.patterns().begin(), tensors.patterns().end(), isOriginalNaming);
        if (counted) {
            std::uint64_t size = 0;
            for (const RawGroup &group : tensors.groups()) {
                size += group.bytes;
                if (!addGroup(tensors, group, number))
                    return fail("tensors.too-many-names", ErrorKind::Unreadable, subject(path));
            }
            if (!isListed) {
                m_checkpoint.notes.push_back(
                    {"folder.unlisted-file",
                     Severity::Warning,
                     {{"file", path}, {"tensors", tensors.tensors()}, {"bytes", Bytes{size}}},
                     {}});
            }
        }
        if (header->formatTag == "mlx")
            m_isMlx = true;
        m_files.push_back({path, isListed});
        m_checkpoint.files.push_back({path, header->fileBytes, isListed, counted});
        return {};
    }

    /// Leaves out tensors that a file before this one had: the first copy counts.
    Result<ParsedHeader> withoutSeen(const std::string &path, ParsedHeader header)
    {
        const bool seenBefore = std::any_of(header.names.begin(), header.names.end(),
                                            [this](std::uint64_t name) { return m_seen.contains(name); });
        if (!seenBefore) {
            for (const std::uint64_t name : header.names)
                m_seen.insert(name);
            return header;
        }
        ParsedHeader rest{header.fileBytes, {}, {}, {}, header.formatTag};
        const bool inIndex = isInIndex(path);
        const auto visit = [&](const HeaderTensor &tensor) {
            if (inIndex && isElsewhere(path, tensor.name))
                return true;
            const std::optional<std::string> other = m_repository.tensorName(tensor.name);
            const std::string_view name = other ? std::string_view(*other) : tensor.name;
            if (!m_seen.insert(other ? textHash(name) : tensor.hash))
                return true;
            return rest.tensors.add(name, tensor.dtype, tensor.shape, tensor.bytes, 0);
        };
        const Result<void> read = readSafetensorsHeader(
            header.json, header.fileBytes - 8 - header.json.size(), subject(path), visit);
        if (!read)
            return std::unexpected(read.error());
        return rest;
    }

    bool addGroup(const TensorSet &from, const RawGroup &group, std::uint32_t file)
    {
        return m_tensors.addGroup(from.patternOf(group), group.layer, from.dtypeOf(group),
                                  from.shapeOf(group), file, group.count, group.bytes);
    }

    Result<CheckpointPtr> finishCheckpoint(const ModelConfig &config, const std::string &only)
    {
        if (m_index)
            noteMissingTensors();
        std::uint64_t total = 0;
        std::unordered_set<std::string> known;
        for (const RepositoryFile &file : m_checkpoint.files)
            known.insert(file.path);
        for (const ListedFile &file : m_listing) {
            total += file.bytes;
            if (only.empty() && isWeightFile(file.path) && !known.contains(file.path))
                m_checkpoint.files.push_back({file.path, file.bytes, false, false});
        }
        m_checkpoint.repositoryBytes = total;
        const bool copies = std::any_of(m_checkpoint.files.begin(), m_checkpoint.files.end(),
                                        [](const RepositoryFile &file) { return !file.counted; });
        if (copies) {
            std::uint64_t bytes = 0;
            std::uint64_t count = 0;
            for (const RepositoryFile &file : m_checkpoint.files) {
                if (!file.counted) {
                    bytes += file.bytes;
                    ++count;
                }
            }
            m_checkpoint.notes.push_back({"folder.copies-not-counted",
                                          Severity::Info,
                                          {{"files", count}, {"bytes", Bytes{bytes}}},
                                          {}});
        }
        if (m_isMlx || config.quantization.method == "mlx")
            m_checkpoint.format = Format::Mlx;
        classify(m_tensors, config, m_files, m_checkpoint);
        m_checkpoint.quantization = safetensorsQuantization(config, m_checkpoint);
        noteContradictedQuantization(config, m_checkpoint);
        return std::make_shared<const Checkpoint>(std::move(m_checkpoint));
    }

    void noteMissingTensors()
    {
        std::uint64_t missing = 0;
        std::string_view first;
        for (const SafetensorsIndex::Entry &entry : m_index->entries) {
            if (m_seen.contains(entry.hash))
                continue;
            const std::string_view name = m_index->nameOf(entry);
            if (missing++ == 0 || name < first)
                first = name;
        }
        if (missing > 0) {
            m_checkpoint.notes.push_back({"folder.index-names-missing",
                                          Severity::Warning,
                                          {{"tensors", missing}, {"first", printable(first)}},
                                          {}});
        }
    }

    RepositoryFiles &m_repository;
    const std::vector<ListedFile> &m_listing;
    std::stop_token m_stop;
    const ProgressCallback &m_progress;
    Checkpoint m_checkpoint;
    std::optional<SafetensorsIndex> m_index;
    TensorSet m_tensors;
    std::vector<TensorFile> m_files;
    HashSet m_seen; ///< hashes of tensor names counted so far
    bool m_isMlx = false;
};

} // namespace

Result<CheckpointPtr> readSafetensors(RepositoryFiles &files, const std::string &only, std::stop_token stop,
                                      const ProgressCallback &progress)
{
    return FolderReader(files, std::move(stop), progress).read(only);
}

} // namespace weir

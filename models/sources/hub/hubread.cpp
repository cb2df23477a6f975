// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubread.h"

#include "models/sources/hub/hubprivate.h"

#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/checkpoint/quantlabel.h"
#include "models/sources/gguffile.h"
#include "models/sources/hub/hubfiles.h"
#include "models/sources/hub/hublocal.h"
#include "models/sources/loneconfig.h"
#include "models/sources/picklefolder.h"
#include "models/sources/repository.h"
#include "models/sources/safetensorsfolder.h"

#include <algorithm>
#include <cctype>
#include <exception>
#include <future>
#include <map>

namespace weir {

Result<Checkpoint> readChoice(RepositoryFiles &files, const HubReference &reference,
                              const std::string &preferred, const std::stop_token &stop,
                              const ProgressCallback &progress)
{
    if (auto other = otherKindOf(files, stop))
        return std::unexpected(*std::move(other));
    const std::vector<HubChoice> choices = choicesOf(files.listing());
    const HubChoice *chosen =
        reference.choice.empty() ? defaultChoice(choices, preferred) : findChoice(choices, reference.choice);
    if (chosen == nullptr && !reference.choice.empty()) {
        // A file that is offered as no choice (a projector) may still be named.
        if (files.find(reference.choice) == nullptr) {
            return fail("hub.choice-missing", ErrorKind::NotFound, files.subject({}),
                        {{"choice", printable(reference.choice)}, {"names", otherLabels(choices, nullptr)}});
        }
    }
    const std::string only =
        reference.choice.ends_with(".safetensors") && reference.choice.find("-of-") == std::string::npos
            ? reference.choice
            : std::string();
    const auto gguf = [&]() -> std::optional<std::string> {
        if (chosen != nullptr && chosen->format == Format::Gguf)
            return chosen->files.front();
        if (reference.choice.ends_with(".gguf"))
            return reference.choice;
        if (chosen == nullptr && !hasTopLevel(files, ".safetensors"))
            return loneCompanion(files);
        return std::nullopt;
    }();

    Result<CheckpointPtr> read;
    if (gguf) {
        const auto parts = ggufParts(files, *gguf);
        if (!parts)
            return std::unexpected(parts.error());
        read = readGguf(files, *parts, stop, progress);
    } else if (files.find("config.json") == nullptr && !hasTopLevel(files, ".safetensors")) {
        return fail("folder.no-model", ErrorKind::Unreadable, files.subject({}));
    } else if (!pickleModel(files).empty()) {
        read = readPickles(files, stop);
    } else if (isLoneConfig(files.listing())) {
        read = readLoneConfig(files, stop);
    } else {
        read = readSafetensors(files, only, stop, progress);
        if (read && only.empty())
            read = comparedWithConfig(*read, files, stop);
    }
    if (!read)
        return std::unexpected(withFacts(read.error(), files, stop));

    Checkpoint checkpoint = **read;
    const auto quantizations = std::count_if(choices.begin(), choices.end(), [](const HubChoice &choice) {
        return choice.format == Format::Gguf;
    });
    if (reference.choice.empty() && chosen != nullptr && chosen->format == Format::Gguf
        && quantizations > 1) {
        checkpoint.notes.push_back({"hub.several-quantizations",
                                    Severity::Info,
                                    {{"chosen", printable(chosen->label, 120)},
                                     {"count", static_cast<std::uint64_t>(quantizations)},
                                     {"others", otherLabels(choices, chosen)}},
                                    {}});
    }
    std::uint64_t total = 0;
    for (const ListedFile &file : files.listing())
        total = saturatingAdd(total, file.bytes);
    checkpoint.repositoryBytes = total;
    checkpoint.companions = companionsOf(files.listing(), checkpoint);
    noteProjector(checkpoint);
    return checkpoint;
}

namespace {

/// Small files that the reader of safetensors will ask for.
std::vector<std::string> textsOf(const RepositoryFiles &files)
{
    std::vector<std::string> texts;
    if (!hasTopLevel(files, ".safetensors"))
        return texts;
    for (const ListedFile &file : files.listing()) {
        if (file.path == "config.json" || file.path == "hf_quant_config.json"
            || file.path == "quantize_config.json" || file.path == "quant_config.json"
            || (file.path.ends_with(".safetensors.index.json") && file.path.find('/') == std::string::npos
                && !file.path.starts_with("consolidated")))
            texts.push_back(file.path);
    }
    return texts;
}

bool isGgufByName(std::string_view id)
{
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    static constexpr std::string_view word = "gguf";
    return std::search(id.begin(), id.end(), word.begin(), word.end(), same) != id.end();
}

} // namespace

Result<Checkpoint> Hub::Private::readFrom(const HubSettings &settings, const HubState &state,
                                          const HubReference &reference, const std::string &preferred,
                                          const std::stop_token &stop, const ProgressCallback &progress)
{
    HubStore store(m_cache, settings.endpoint);
    const std::string choice = reference.choice.empty() ? '?' + preferred : reference.choice;
    if (auto known = store.checkpoint(state.info, choice))
        return *std::move(known);

    HubStore::Bytes texts = store.bytes(state.info, "texts", {});
    HubStore::Bytes heads = store.bytes(state.info, "heads", choice);
    if (!state.asked && (heads.empty() || !store.listing(state.info)))
        return fail("hub.offline", ErrorKind::Network, reference.repository);
    const HubPlace place{settings.endpoint, settings.token, state.info.id, reference.revision,
                         state.info.commit.empty() ? reference.revision : state.info.commit};
    // Two files that most repositories have, asked for beside the listing instead of after it.
    std::stop_source early;
    const std::stop_callback forward(stop, [&early] { early.request_stop(); });
    std::map<std::string, std::future<Result<HttpResponse>>> coming;
    if (texts.empty() && state.asked && !store.listing(state.info) && !isGgufByName(state.info.id)) {
        for (const char *path : {"config.json", "model.safetensors.index.json"})
            coming[path] = fetchText(client(), place, path, early.get_token());
    }
    Result<std::vector<HubFile>> tree = this->tree(settings, state.info, reference, stop);
    if (!tree) {
        early.request_stop();
        return std::unexpected(tree.error());
    }
    std::vector<ListedFile> listing;
    for (const HubFile &file : *tree)
        listing.push_back({file.path, file.bytes});
    HubFiles files(client(), place, std::move(listing));
    files.setKnown(std::move(texts), std::move(heads));
    for (auto &[path, answer] : coming) {
        if (files.find(path) != nullptr)
            files.adopt(path, std::move(answer));
    }
    files.prefetch(textsOf(files));
    Result<Checkpoint> read = readChoice(files, reference, preferred, stop, progress);
    early.request_stop();
    if (!read)
        return read;
    if (files.hasFetched()) {
        // Tens of megabytes for the largest: nobody has to wait until they are written.
        saveLater([this, endpoint = settings.endpoint, info = state.info, choice, known = files.takeTexts(),
                   kept = files.takeHeads()] {
            HubStore later(m_cache, endpoint);
            later.keepBytes(info, "texts", {}, known);
            later.keepBytes(info, "heads", choice, kept);
        });
    }
    store.keepCheckpoint(state.info, choice, *read);
    return read;
}

void Hub::Private::saveLater(std::function<void()> work)
{
    const std::lock_guard lock(m_savingMutex);
    m_saving = {}; // joins
    m_saving = std::jthread([work = std::move(work)] {
        try {
            work();
        } catch (const std::exception &) { // of memory: then it is not kept
        }
    });
}

void Hub::Private::finishSaving()
{
    const std::lock_guard lock(m_savingMutex);
    m_saving = {};
}

Result<CheckpointPtr> Hub::Private::read(const HubReference &reference, const std::string &preferred,
                                         const std::stop_token &stop, const ProgressCallback &progress)
{
    const HubSettings settings = this->settings();
    if (const Result<void> usable = checkUsable(settings, reference.repository, false); !usable)
        return std::unexpected(usable.error());
    finishSaving();
    const Result<HubState> state = this->state(settings, reference, stop);
    std::optional<HubInfo> info;
    Result<Checkpoint> read = fail("hub.offline", ErrorKind::Network, reference.repository);
    bool asked = false;
    if (state) {
        info = state->info;
        asked = state->asked;
        read = readFrom(settings, *state, reference, preferred, stop, progress);
    } else {
        read = std::unexpected(state.error());
    }
    if (!read && !asked && read.error().kind == ErrorKind::Network) {
        // Not to be had from the Hub or from what was read before; maybe it was downloaded.
        if (auto snapshot = openSnapshot(settings.hubCache, reference.repository, reference.revision)) {
            info = HubInfo{reference.repository, snapshot->commit, Gate::Open, false, false};
            read = readChoice(*snapshot->files, reference, preferred, stop, progress);
            if (read) {
                read->repositoryBytes.reset(); // some of it may never have been downloaded
                const auto missing = static_cast<std::uint64_t>(snapshot->missing.size());
                read->notes.push_back(
                    missing == 0
                        ? Message{"hub.snapshot", Severity::Warning, {}, {}}
                        : Message{"hub.snapshot-partial",
                                  Severity::Warning,
                                  {{"files", missing}, {"first", printable(snapshot->missing.front())}},
                                  {}});
            }
        }
    }
    if (!read)
        return std::unexpected(read.error());

    Checkpoint checkpoint = *std::move(read);
    checkpoint.source = Source::Hub;
    checkpoint.repository = info->id;
    checkpoint.revision = info->commit;
    checkpoint.id = hubReferenceText({info->id, reference.revision, reference.choice});
    checkpoint.name = printable(info->id.substr(info->id.rfind('/') + 1), 120);
    noteContradictedName(checkpoint.name, checkpoint);
    if (info->id != reference.repository) {
        checkpoint.notes.push_back(
            {"hub.renamed", Severity::Info, {{"from", reference.repository}, {"to", info->id}}, {}});
    }
    if (!asked) {
        checkpoint.notes.push_back(
            {"hub.not-asked", Severity::Info, {{"commit", info->commit.substr(0, 12)}}, {}});
    }
    return std::make_shared<const Checkpoint>(std::move(checkpoint));
}

Result<CheckpointPtr> Hub::read(const HubReference &reference, std::stop_token stop,
                                const ProgressCallback &progress, const std::string &preferred)
{
    return d->read(reference, preferred, stop, progress);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/disk.h"

#include "models/base/tolerantjson.h"
#include "models/sources/disk/hubcachepath.h"
#include "models/sources/disk/ollamastore.h"
#include "models/sources/localfile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t maxPointerBytes = 4096;
constexpr std::uint64_t maxSettingsBytes = 1U << 20U;

std::string trimmed(std::string text)
{
    const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!text.empty() && blank(text.back()))
        text.pop_back();
    const auto first = std::find_if_not(text.begin(), text.end(), blank);
    return {first, text.end()};
}

/// The folder that the settings of LM Studio name; empty if they name none.
fs::path lmStudioDownloads(const fs::path &home)
{
    const fs::path file = home / "settings.json";
    const Result<std::string> text = readTextFile(file, maxSettingsBytes);
    if (!text)
        return {};
    const Result<nlohmann::json> settings = parseTolerant(*text, file.string());
    if (!settings)
        return {};
    const auto folder = settings->find("downloadsFolder");
    return folder != settings->end() && folder->is_string() ? fs::path(folder->get<std::string>())
                                                            : fs::path();
}

/// Source: lmstudio-ai's findLMStudioHome (pointer file, else ~/.cache/lm-studio if it exists, else ~/.lmstudio)
/// and resolveModelsFolderPath (settings.json, downloadsFolder).
std::vector<fs::path> lmStudioFolders(const fs::path &home)
{
    std::vector<fs::path> homes;
    if (const Result<std::string> pointer = readTextFile(home / ".lmstudio-home-pointer", maxPointerBytes)) {
        if (const std::string named = trimmed(*pointer); named.starts_with('/'))
            homes.emplace_back(named);
    }
    homes.push_back(home / ".lmstudio");
    homes.push_back(home / ".cache" / "lm-studio");
    std::vector<fs::path> folders;
    for (const fs::path &each : homes) {
        if (fs::path named = lmStudioDownloads(each); named.is_absolute())
            folders.push_back(std::move(named));
        folders.push_back(each / "models");
    }
    return folders;
}

/// The kind of a folder by how it is laid out, and where exactly that begins.
DiskPlace placeAt(const fs::path &folder)
{
    if (isOllamaStore(folder))
        return {DiskPlaceKind::Ollama, folder};
    if (isOllamaStore(folder / "models")) // ~/.ollama
        return {DiskPlaceKind::Ollama, folder / "models"};
    if (auto cache = hubCacheOf(folder)) {
        if (holdsWeights(*cache)) // as llama.cpp leaves LLAMA_CACHE after an update
            return {DiskPlaceKind::LlamaCppCache, *std::move(cache)};
        return {DiskPlaceKind::HuggingFaceCache, *std::move(cache)};
    }
    return {DiskPlaceKind::Folder, folder};
}

} // namespace

std::string_view diskPlaceKindId(DiskPlaceKind kind)
{
    switch (kind) {
    case DiskPlaceKind::HuggingFaceCache: return "hugging-face-cache";
    case DiskPlaceKind::Ollama: return "ollama";
    case DiskPlaceKind::LmStudio: return "lm-studio";
    case DiskPlaceKind::LlamaCppCache: return "llama.cpp";
    case DiskPlaceKind::Folder: break;
    }
    return "folder";
}

DiskEnvironment DiskEnvironment::from(const Environment &environment)
{
    DiskEnvironment found;
    const auto variable = [&environment](const char *name) {
        return trimmed(environment(name).value_or(std::string()));
    };
    found.home = variable("HOME");
    const auto expanded = [&found](const std::string &text) -> fs::path {
        if (text == "~" || text.starts_with("~/"))
            return found.home / text.substr(std::min<std::size_t>(2, text.size()));
        return text;
    };
    if (const fs::path cache = hubSettings(environment).hubCache; !cache.empty())
        found.hubCaches.push_back(cache);

    if (const std::string named = variable("OLLAMA_MODELS"); !named.empty())
        found.ollamaStores.push_back(expanded(named));
    if (!found.home.empty())
        found.ollamaStores.push_back(found.home / ".ollama" / "models");
    // Of the service: its user's home, as the installers and distributions set it.
    for (const char *folder : {"/usr/share/ollama/.ollama/models", "/var/lib/ollama/.ollama/models",
                               "/var/lib/ollama/models", "/var/lib/ollama"})
        found.ollamaStores.emplace_back(folder);

    if (!found.home.empty())
        found.lmStudio = lmStudioFolders(found.home);

    // Builds of 2026 keep what they download in the Hub's cache, and in LLAMA_CACHE in the same form.
    if (const std::string named = variable("LLAMA_CACHE"); !named.empty())
        found.llamaCppCaches.push_back(expanded(named));
    if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
        found.llamaCppCaches.push_back(expanded(cache) / "llama.cpp");
    else if (!found.home.empty())
        found.llamaCppCaches.push_back(found.home / ".cache" / "llama.cpp");
    if (!found.home.empty())
        found.llamaCppCaches.push_back(found.home / "Library" / "Caches" / "llama.cpp");
    return found;
}

std::vector<DiskPlace> diskPlaces(const DiskEnvironment &environment, std::span<const fs::path> folders)
{
    std::vector<DiskPlace> places;
    std::set<fs::path> known;
    const auto add = [&](DiskPlaceKind kind, const fs::path &path, bool always) {
        std::error_code error;
        const bool there = fs::exists(path, error);
        // What may not even be asked for is named, so that it can be said that it was not looked through.
        const bool denied = error == std::errc::permission_denied;
        if (path.empty() || (!there && !denied && !always))
            return;
        const fs::path real = fs::weakly_canonical(path, error);
        if (known.insert(error || real.empty() ? path : real).second)
            places.push_back({kind, path});
    };
    for (const fs::path &cache : environment.hubCaches)
        add(DiskPlaceKind::HuggingFaceCache, cache, false);
    for (const fs::path &store : environment.ollamaStores) {
        std::error_code error;
        const bool denied = !fs::exists(store / "manifests", error) && error == std::errc::permission_denied;
        if (denied || isOllamaStore(store))
            add(DiskPlaceKind::Ollama, store, denied);
    }
    for (const fs::path &folder : environment.lmStudio)
        add(DiskPlaceKind::LmStudio, folder, false);
    for (const fs::path &cache : environment.llamaCppCaches)
        add(DiskPlaceKind::LlamaCppCache, cache, false);
    for (const fs::path &folder : folders) {
        if (folder.empty())
            continue;
        const DiskPlace place = placeAt(folder);
        add(place.kind, place.path, true);
    }
    return places;
}

} // namespace weir

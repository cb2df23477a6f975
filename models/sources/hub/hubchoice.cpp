// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubchoice.h"

#include "models/base/ascii.h"
#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/sources/configfiles.h"
#include "models/sources/gguffile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

namespace weir {

namespace {

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Path without the number of its part and the ending.
std::string_view stem(std::string_view path)
{
    constexpr std::size_t tail = std::string_view("-00001-of-00001.gguf").size();
    if (ggufPartName(path))
        return path.substr(0, path.size() - tail);
    return path.ends_with(".gguf") ? path.substr(0, path.size() - 5) : path;
}

/// "Q4_K_M", "IQ2_XXS", "BF16", "MXFP4_MOE" ... in upper case.
bool isQuantization(std::string_view word)
{
    for (const std::string_view prefix : {"IQ", "TQ", "Q"}) {
        if (word.size() > prefix.size() && word.starts_with(prefix)
            && std::isdigit(static_cast<unsigned char>(word[prefix.size()])) != 0) {
            const std::string_view rest = word.substr(prefix.size() + 1);
            return rest.empty() || rest.front() == '_';
        }
    }
    static constexpr std::array<std::string_view, 8> whole{"BF16", "F16", "FP16", "F32",
                                                           "FP32", "FP8", "I8",   "F64"};
    return std::find(whole.begin(), whole.end(), word) != whole.end() || word.starts_with("MXFP4")
           || word.starts_with("NVFP4");
}

} // namespace

std::string quantizationLabel(std::string_view path)
{
    const std::string name = asciiUpper(baseName(stem(path)));
    std::vector<std::string_view> words;
    std::string_view rest = name;
    while (!rest.empty()) {
        const std::string_view word = rest.substr(0, rest.find_first_of("-."));
        if (!word.empty())
            words.push_back(word);
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    for (std::size_t i = words.size(); i-- > 0;) {
        if (!isQuantization(words[i]))
            continue;
        const bool dynamic = i > 0 && words[i - 1] == "UD";
        return (dynamic ? "UD-" : "") + std::string(words[i]);
    }
    return {};
}

std::vector<HubChoice> choicesOf(const std::vector<ListedFile> &listing)
{
    std::vector<HubChoice> choices;
    HubChoice safetensors;
    safetensors.format = Format::Safetensors;
    for (const ListedFile &file : listing) {
        if (file.path.ends_with(".safetensors") && file.path.find('/') == std::string::npos) {
            safetensors.files.push_back(file.path);
            safetensors.bytes = saturatingAdd(safetensors.bytes, file.bytes);
        }
    }
    if (!safetensors.files.empty())
        choices.push_back(std::move(safetensors));

    const auto sizeOf = [&listing](const std::string &path) -> std::uint64_t {
        const auto found = std::lower_bound(
            listing.begin(), listing.end(), path,
            [](const ListedFile &file, const std::string &name) { return file.path < name; });
        return found != listing.end() && found->path == path ? found->bytes : 0;
    };
    for (const std::string &model : ggufModels(listing)) {
        HubChoice choice;
        choice.format = Format::Gguf;
        choice.label = quantizationLabel(model);
        choice.files = {model};
        if (const auto part = ggufPartName(model)) {
            const std::vector<std::string> parts = ggufPartNames(*part);
            if (!parts.empty())
                choice.files = parts;
        }
        for (const std::string &file : choice.files)
            choice.bytes = saturatingAdd(choice.bytes, sizeOf(file));
        choices.push_back(std::move(choice));
    }
    // A label must name one thing; where it does not, the file's name does.
    std::map<std::string, int> uses;
    for (const HubChoice &choice : choices)
        ++uses[choice.label];
    for (HubChoice &choice : choices) {
        if (choice.format == Format::Gguf && (choice.label.empty() || uses[choice.label] > 1))
            choice.label = stem(choice.files.front());
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const HubChoice &a, const HubChoice &b) { return a.bytes < b.bytes; });
    return choices;
}

const HubChoice *findChoice(const std::vector<HubChoice> &choices, std::string_view wanted)
{
    const std::string name = asciiUpper(wanted);
    for (const HubChoice &choice : choices) {
        if (choice.format == Format::Gguf && asciiUpper(choice.label) == name)
            return &choice;
    }
    for (const HubChoice &choice : choices) {
        for (const std::string &file : choice.files) {
            if (file == wanted || baseName(file) == wanted
                || (choice.format == Format::Gguf
                    && (stem(file) == wanted || baseName(stem(file)) == wanted)))
                return &choice;
        }
    }
    return nullptr;
}

const HubChoice *defaultChoice(const std::vector<HubChoice> &choices, std::string_view preferred)
{
    const auto byLabel = [&choices](std::string_view label) -> const HubChoice * {
        const auto found = std::find_if(choices.begin(), choices.end(), [label](const HubChoice &choice) {
            return !label.empty() && asciiUpper(choice.label) == asciiUpper(label);
        });
        return found == choices.end() ? nullptr : &*found;
    };
    if (const HubChoice *wanted = byLabel(preferred))
        return wanted;
    const auto safetensors = std::find_if(choices.begin(), choices.end(), [](const HubChoice &choice) {
        return choice.format == Format::Safetensors;
    });
    if (safetensors != choices.end())
        return &*safetensors;
    if (const HubChoice *usual = byLabel("Q4_K_M"))
        return usual;
    const auto first =
        std::min_element(choices.begin(), choices.end(), [](const HubChoice &a, const HubChoice &b) {
            return a.files.front() < b.files.front();
        });
    return first == choices.end() ? nullptr : &*first;
}

std::string otherLabels(const std::vector<HubChoice> &choices, const HubChoice *chosen)
{
    std::vector<std::string> names;
    for (const HubChoice &choice : choices) {
        if (&choice != chosen && !choice.label.empty())
            names.push_back(choice.label);
    }
    return someNames(names);
}

std::vector<CompanionFile> companionsOf(const std::vector<ListedFile> &listing, const Checkpoint &checkpoint)
{
    std::vector<CompanionFile> companions;
    std::set<std::string_view> known;
    for (const RepositoryFile &file : checkpoint.files)
        known.insert(file.path);
    bool projector = false;
    for (const ListedFile &file : listing) {
        if (known.contains(file.path))
            continue;
        CompanionFile companion{file.path, file.bytes, false};
        if (checkpoint.format == Format::Gguf) {
            // One projector is enough: most repositories offer it at several precisions.
            companion.needed = !projector && file.path.ends_with(".gguf")
                               && baseName(file.path).find("mmproj") != std::string_view::npos;
            projector = projector || companion.needed;
        } else {
            companion.needed = file.path.find('/') == std::string::npos && !isWeightFile(file.path);
        }
        companions.push_back(std::move(companion));
    }
    return companions;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/ollamaname.h"

#include "models/base/ascii.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir {

namespace {

constexpr std::size_t maxHostBytes = 350;
constexpr std::size_t maxPartBytes = 80;

bool isWordLetter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool isPart(std::string_view text, std::size_t longest, std::string_view alsoInside)
{
    return !text.empty() && text.size() <= longest && isWordLetter(text.front())
           && std::all_of(text.begin(), text.end(), [alsoInside](char c) {
                  return isWordLetter(c) || alsoInside.find(c) != std::string_view::npos;
              });
}

bool isValid(const OllamaName &name)
{
    return isPart(name.host, maxHostBytes, "-.:") && isPart(name.space, maxPartBytes, "-")
           && isPart(name.model, maxPartBytes, "-.") && isPart(name.tag, maxPartBytes, "-.");
}

std::optional<OllamaName> checked(OllamaName name)
{
    return isValid(name) ? std::optional(std::move(name)) : std::nullopt;
}

} // namespace

std::string OllamaName::full() const { return host + '/' + space + '/' + model + ':' + tag; }

std::string OllamaName::shortest() const
{
    if (asciiLower(host) != defaultHost)
        return full();
    const std::string last = model + ':' + tag;
    // A model that is called "ollama" would lose its name to the prefix of the same letters.
    const bool isPlain = asciiLower(space) == defaultNamespace && !last.starts_with("ollama:");
    return isPlain ? last : space + '/' + last;
}

std::optional<OllamaName> parseOllamaName(std::string_view text)
{
    if (text.starts_with("ollama:"))
        text.remove_prefix(7);
    for (const std::string_view scheme :
         {"https://", "http://"}) { // as pasted; the host decides which is used
        if (text.starts_with(scheme))
            text.remove_prefix(scheme.size());
    }
    OllamaName name;
    const std::size_t slash = text.rfind('/');
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
        name.tag = text.substr(colon + 1);
        text = text.substr(0, colon);
    }
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find('/');
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            break;
        text.remove_prefix(end + 1);
        if (parts.size() == 3)
            return std::nullopt;
    }
    name.model = parts.back();
    if (parts.size() >= 2)
        name.space = parts[parts.size() - 2];
    if (parts.size() == 3)
        name.host = parts.front();
    return checked(std::move(name));
}

std::optional<OllamaName> ollamaNameOfPath(std::string_view relativePath)
{
    if (std::count(relativePath.begin(), relativePath.end(), '/') != 3)
        return std::nullopt;
    OllamaName name;
    for (std::string *part : {&name.host, &name.space, &name.model}) {
        const std::size_t end = relativePath.find('/');
        *part = relativePath.substr(0, end);
        relativePath.remove_prefix(end + 1);
    }
    name.tag = relativePath;
    return checked(std::move(name));
}

} // namespace weir

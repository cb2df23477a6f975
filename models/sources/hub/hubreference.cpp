// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubreference.h"

#include "models/checkpoint/safetensors.h"
#include "models/sources/hub/weburl.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace weir {

namespace {

constexpr std::size_t maxNameBytes = 96;
constexpr std::array<std::string_view, 3> knownHosts{"huggingface.co", "hf.co", "hub-ci.huggingface.co"};

bool isNamePart(std::string_view part)
{
    return !part.empty() && part.size() <= maxNameBytes && part.find("--") == std::string_view::npos
           && part.find("..") == std::string_view::npos && !part.ends_with(".git") && part.front() != '-'
           && part.front() != '.' && part.back() != '-' && part.back() != '.'
           && std::all_of(part.begin(), part.end(), [](unsigned char c) {
                  return (c < 0x80 && std::isalnum(c) != 0) || c == '_' || c == '-' || c == '.';
              });
}

/// A branch, a tag, `refs/pr/N` or a commit: what git allows for a name, without what a URL could trip over.
bool isRevision(std::string_view text)
{
    return !text.empty() && text.size() <= 255 && isPlainRelativePath(text)
           && text.find_first_of(" ~^:?*[\\@#%&") == std::string_view::npos && text.front() != '-'
           && !text.ends_with(".lock");
}

bool isChoice(std::string_view text) { return text.size() <= 1024 && isPlainRelativePath(text); }

std::optional<std::string> unquoted(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned value = 0;
        if (text.size() - i < 3)
            return std::nullopt;
        const auto read = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
        if (read.ec != std::errc{} || read.ptr != text.data() + i + 3)
            return std::nullopt;
        out += static_cast<char>(static_cast<unsigned char>(value));
        i += 2;
    }
    return out;
}

/// What follows the host of a page's address.
std::optional<HubReference> fromPage(std::string_view path)
{
    path = path.substr(0, path.find_first_of("?#"));
    std::vector<std::string> parts;
    while (!path.empty()) {
        const std::string_view part = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), part.size() + 1));
        if (part.empty())
            continue;
        auto plain = unquoted(part);
        if (!plain)
            return std::nullopt;
        parts.push_back(*std::move(plain));
    }
    const auto isVerb = [](const std::string &part) {
        return part == "tree" || part == "blob" || part == "resolve" || part == "raw" || part == "commit"
               || part == "discussions" || part == "commits";
    };
    if (parts.empty() || parts[0] == "datasets" || parts[0] == "spaces" || parts[0] == "api")
        return std::nullopt;
    const std::size_t verb = parts.size() == 1 || isVerb(parts[1]) ? 1 : 2;
    HubReference reference;
    reference.repository = verb == 1 ? parts[0] : parts[0] + '/' + parts[1];
    if (parts.size() > verb + 1 && isVerb(parts[verb]) && parts[verb] != "discussions") {
        // refs/pr/1 is three parts where it is not quoted
        std::size_t last = verb + 1;
        reference.revision = parts[last];
        if (parts[last] == "refs" && parts.size() > last + 2) {
            reference.revision = "refs/" + parts[last + 1] + '/' + parts[last + 2];
            last += 2;
        }
        for (std::size_t i = last + 1; i < parts.size(); ++i)
            reference.choice += (i == last + 1 ? "" : "/") + parts[i];
        const bool isModel =
            reference.choice.ends_with(".gguf") || reference.choice.ends_with(".safetensors");
        const bool isFile = parts[verb] == "blob" || parts[verb] == "resolve" || parts[verb] == "raw";
        if (!isModel || !isFile)
            reference.choice.clear(); // a folder, a README: the repository is meant
    }
    return reference;
}

/// Would be read back as an address, or as a host before the name: nothing on the Hub is called so.
bool looksLikeAddress(const HubReference &reference)
{
    const std::string_view owner =
        std::string_view(reference.repository).substr(0, reference.repository.find('/'));
    const std::string scheme = schemeOf(reference.repository + ':');
    return scheme == "http" || scheme == "https"
           || std::find(knownHosts.begin(), knownHosts.end(), owner) != knownHosts.end();
}

std::optional<HubReference> checked(std::optional<HubReference> reference)
{
    if (!reference || looksLikeAddress(*reference) || !isRepositoryName(reference->repository)
        || !isRevision(reference->revision) || (!reference->choice.empty() && !isChoice(reference->choice)))
        return std::nullopt;
    return reference;
}

} // namespace

bool isCommit(std::string_view text)
{
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool isRepositoryName(std::string_view name)
{
    const std::size_t slash = name.find('/');
    if (name.size() > maxNameBytes)
        return false;
    if (slash == std::string_view::npos)
        return isNamePart(name);
    return isNamePart(name.substr(0, slash)) && isNamePart(name.substr(slash + 1));
}

std::optional<HubReference> parseHubReference(std::string_view argument, std::string_view endpoint)
{
    std::string_view text = argument;
    const std::string scheme = schemeOf(text);
    if (scheme == "http" || scheme == "https") {
        const auto origin = webOrigin(std::string(text));
        const auto own = webOrigin(std::string(endpoint));
        if (!origin)
            return std::nullopt;
        if (own && *own == *origin && text.starts_with(endpoint)
            && text.substr(endpoint.size()).starts_with('/'))
            return checked(fromPage(text.substr(endpoint.size() + 1)));
        if (std::find(knownHosts.begin(), knownHosts.end(), origin->host) == knownHosts.end())
            return std::nullopt;
        text.remove_prefix(scheme.size() + 3);
        const std::size_t slash = text.find('/');
        return slash == std::string_view::npos ? std::nullopt : checked(fromPage(text.substr(slash + 1)));
    }
    if (text.starts_with("hf://"))
        text.remove_prefix(5);
    for (const std::string_view host : knownHosts) {
        if (text.starts_with(host) && text.substr(host.size()).starts_with('/')) {
            text.remove_prefix(host.size() + 1);
            const std::string_view rest = text;
            if (std::count(rest.begin(), rest.end(), '/') >= 2)
                return checked(fromPage(rest));
            break;
        }
    }
    HubReference reference;
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        reference.choice = text.substr(colon + 1);
        if (reference.choice.empty())
            return std::nullopt;
        text = text.substr(0, colon);
    }
    if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
        reference.revision = text.substr(at + 1);
        text = text.substr(0, at);
    }
    reference.repository = text;
    return checked(std::move(reference));
}

std::optional<HubReference> parseHubReference(std::string_view argument)
{
    return parseHubReference(argument, {});
}

std::string hubReferenceText(const HubReference &reference)
{
    std::string text = reference.repository;
    if (reference.revision != "main")
        text += '@' + reference.revision;
    if (!reference.choice.empty())
        text += ':' + reference.choice;
    return text;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/hub/hubapi.h"

#include "models/base/saturating.h"
#include "models/base/tolerantjson.h"
#include "models/base/units.h"
#include "models/checkpoint/safetensors.h"
#include "models/sources/hub/httpjson.h"
#include "models/sources/hub/hubreference.h"
#include "models/sources/hub/weburl.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace weir {

namespace {

using nlohmann::json;

constexpr std::size_t maxTextBytes = 512; ///< of one text that a stranger wrote

/// Discarded if it is no JSON, nested too deep or too much to be held.
json parsed(std::string_view text)
{
    std::string storage;
    if (!guardJson(text, storage))
        return json(json::value_t::discarded);
    return json::parse(text.begin(), text.end(), nullptr, false);
}

std::string textOf(const json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>().substr(0, maxTextBytes)
                                                       : std::string();
}

bool flagOf(const json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::optional<std::uint64_t> numberOf(const json &object, const char *key)
{
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number())
        return std::nullopt;
    if (found->is_number_unsigned())
        return found->get<std::uint64_t>();
    const double value = found->get<double>();
    return std::isfinite(value) && value >= 0 && value < 9e18
               ? std::optional(static_cast<std::uint64_t>(value))
               : std::nullopt;
}

/// `false`, "auto", "manual": the type is as mixed as it looks.
Gate gateOf(const json &object)
{
    const auto found = object.find("gated");
    if (found == object.end())
        return Gate::Open;
    if (found->is_string())
        return *found == "manual" ? Gate::Manual : Gate::Automatic;
    return found->is_boolean() && found->get<bool>() ? Gate::Automatic : Gate::Open;
}

/// The short text of an error's body: JSON's `error`, never markup, nor what was sent in confidence.
std::string excerpt(const HttpResponse &response)
{
    const auto shown = [&response](std::string_view text) {
        return printable(withoutSecrets(text, response.secret), 200);
    };
    if (const std::string_view message = response.headers.get("x-error-message"); !message.empty())
        return shown(message);
    const json body = parsed(response.body);
    if (body.is_object()) {
        const auto error = body.find("error");
        if (error != body.end() && error->is_string())
            return shown(error->get<std::string>());
        if (error != body.end() && error->is_array() && !error->empty() && error->front().is_string())
            return shown(error->front().get<std::string>());
    }
    return {};
}

/// Bytes of stored elements by dtype: exact for whole bytes, a hint like all of it.
std::optional<std::uint64_t> storedBytes(const json &hit)
{
    const auto safetensors = hit.find("safetensors");
    if (safetensors == hit.end() || !safetensors->is_object())
        return std::nullopt;
    const auto parameters = safetensors->find("parameters");
    if (parameters == safetensors->end() || !parameters->is_object())
        return std::nullopt;
    std::uint64_t bytes = 0;
    for (const auto &[dtype, count] : parameters->items()) {
        const unsigned bits = dtypeBits(dtype);
        if (bits == 0 || !count.is_number_unsigned())
            return std::nullopt;
        const auto elements = count.get<std::uint64_t>();
        bytes = saturatingAdd(bytes, multiplyDivide(elements, bits, 8));
    }
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

HubHit hitOf(const json &object)
{
    HubHit hit;
    hit.id = textOf(object, "id");
    if (hit.id.empty())
        hit.id = textOf(object, "modelId");
    hit.gate = gateOf(object);
    hit.isPrivate = flagOf(object, "private");
    hit.downloads = numberOf(object, "downloads");
    hit.likes = numberOf(object, "likes");
    hit.modified = textOf(object, "lastModified");
    hit.pipeline = textOf(object, "pipeline_tag");
    const std::string library = textOf(object, "library_name");
    bool isGguf = library == "gguf";
    bool isSafetensors = false;
    bool isMlx = library == "mlx";
    if (const auto tags = object.find("tags"); tags != object.end() && tags->is_array()) {
        for (const json &each : *tags) {
            if (!each.is_string())
                continue;
            const std::string tag = each.get<std::string>().substr(0, maxTextBytes);
            isGguf = isGguf || tag == "gguf";
            isSafetensors = isSafetensors || tag == "safetensors";
            isMlx = isMlx || tag == "mlx";
            if (tag.starts_with("license:") && hit.license.empty())
                hit.license = tag.substr(8);
            // base_model:org/name, base_model:quantized:org/name
            if (tag.starts_with("base_model:") && hit.baseModels.size() < 8) {
                const std::string model = tag.substr(tag.rfind(':') + 1);
                if (std::find(hit.baseModels.begin(), hit.baseModels.end(), model) == hit.baseModels.end())
                    hit.baseModels.push_back(model);
            }
        }
    }
    if (const auto gguf = object.find("gguf"); gguf != object.end() && gguf->is_object()) {
        isGguf = true;
        hit.architecture = textOf(*gguf, "architecture");
    }
    isSafetensors = isSafetensors || (object.contains("safetensors") && object["safetensors"].is_object());
    hit.format = isMlx           ? Format::Mlx
                 : isSafetensors ? Format::Safetensors
                 : isGguf        ? Format::Gguf
                                 : Format::Unknown;
    if (const auto config = object.find("config"); config != object.end() && config->is_object()) {
        const auto names = config->find("architectures");
        if (names != config->end() && names->is_array() && !names->empty() && names->front().is_string())
            hit.architecture = names->front().get<std::string>().substr(0, maxTextBytes);
        if (hit.architecture.empty())
            hit.architecture = textOf(*config, "model_type");
    }
    hit.bytes = storedBytes(object);
    return hit;
}

} // namespace

std::string_view kindOfText(std::string_view text)
{
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ')
        text.remove_prefix(1);
    return text.starts_with('<') ? "a web page" : "not the JSON that it should be";
}

Error brokenAnswer(const std::string &subject, const std::string &host, std::string reason)
{
    return Error{"hub.broken-answer",
                 ErrorKind::Network,
                 subject,
                 {{"host", withoutSecrets(host)}, {"reason", std::move(reason)}}};
}

Error hubError(const HttpResponse &response, const HubSubject &subject)
{
    const std::string_view code = response.headers.get("x-error-code");
    const std::string message = excerpt(response);
    const std::string reason = message.empty() ? std::string("no reason given") : message;
    const auto error = [&](const char *id, ErrorKind kind, MessageArguments arguments = {}) {
        return Error{id, kind, subject.text(), std::move(arguments)};
    };
    const auto repository = [&](const char *id, ErrorKind kind, MessageArguments arguments = {}) {
        return Error{id, kind, subject.repository, std::move(arguments)};
    };
    const bool badToken = message.find("Invalid credentials") != std::string::npos;
    switch (response.status) {
    case 401:
        if (code == "GatedRepo")
            return repository("hub.gated", ErrorKind::Access);
        if (badToken || !subject.anonymous)
            return repository("hub.bad-token", ErrorKind::Access);
        return repository("hub.missing-or-private", ErrorKind::NotFound);
    case 403:
        if (response.elsewhere)
            return error("hub.storage-refused", ErrorKind::Network);
        if (code == "GatedRepo")
            return repository("hub.not-granted", ErrorKind::Access);
        if (message.find("is disabled") != std::string::npos)
            return repository("hub.disabled", ErrorKind::Access);
        if (subject.anonymous)
            return error("hub.refused", ErrorKind::Access,
                         {{"status", std::uint64_t{403}}, {"reason", reason}});
        return repository("hub.token-scope", ErrorKind::Access);
    case 404:
    case 410:
        if (code == "RevisionNotFound")
            return repository("hub.revision-missing", ErrorKind::NotFound, {{"revision", subject.revision}});
        if (code == "EntryNotFound" || (code.empty() && !subject.file.empty()))
            return error("hub.file-missing", ErrorKind::NotFound);
        return repository("hub.missing", ErrorKind::NotFound);
    case 429: {
        if (!response.waitSeconds)
            return error(subject.anonymous ? "hub.rate-limited-anonymous" : "hub.rate-limited",
                         ErrorKind::Network);
        return error(subject.anonymous ? "hub.rate-limited-anonymous-until" : "hub.rate-limited-until",
                     ErrorKind::Network, {{"seconds", *response.waitSeconds}});
    }
    default: break;
    }
    if (response.status >= 500) {
        return error("hub.server-error", ErrorKind::Network,
                     {{"status", static_cast<std::uint64_t>(response.status)}});
    }
    return error("hub.refused", ErrorKind::Network,
                 {{"status", static_cast<std::uint64_t>(std::max(0, response.status))}, {"reason", reason}});
}

std::optional<HubInfo> parseInfo(std::string_view text)
{
    const json object = parsed(text);
    if (!object.is_object())
        return std::nullopt;
    HubInfo info;
    info.id = textOf(object, "id");
    if (info.id.empty())
        info.id = textOf(object, "modelId");
    info.commit = textOf(object, "sha");
    if (!isCommit(info.commit))
        info.commit.clear();
    info.gate = gateOf(object);
    info.isPrivate = flagOf(object, "private");
    info.isDisabled = flagOf(object, "disabled");
    // The name becomes part of addresses and of paths.
    return isRepositoryName(info.id) ? std::optional(std::move(info)) : std::nullopt;
}

/// What the parser meets on its way through a page; no document is built.
class TreeReader::Events final : public nlohmann::json_sax<json>
{
public:
    explicit Events(TreeReader &reader)
        : m_reader(reader)
    {}
    Page problem() const { return m_problem; }

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t number) override
    {
        return value(nullptr, number >= 0 ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt);
    }
    bool number_unsigned(number_unsigned_t number) override
    {
        return value(nullptr, number <= INT64_MAX ? std::optional<std::uint64_t>(number) : std::nullopt);
    }
    bool number_float(number_float_t, const string_t &) override { return value(); }
    bool string(string_t &text) override { return value(&text); }
    bool binary(binary_t &) override { return false; }
    bool key(string_t &name) override
    {
        if (m_depth == 2)
            m_key = name.substr(0, 8);
        else if (m_depth == 3)
            m_lfsKey = name.substr(0, 8);
        return true;
    }
    bool start_object(std::size_t) override
    {
        if (m_depth == 0)
            return false;
        if (m_depth == 1) {
            m_entry = {};
            if (++m_reader.m_entries > maxTreeEntries)
                m_problem = Page::TooMany;
        } else if (m_depth == 2 && m_key == "lfs") {
            m_inLfs = true;
        } else {
            value();
        }
        ++m_depth;
        return m_problem == Page::NoListing;
    }
    bool end_object() override
    {
        --m_depth;
        if (m_depth == 2)
            m_inLfs = false;
        return m_depth != 1 || finish();
    }
    bool start_array(std::size_t) override
    {
        if (m_depth == 1)
            return false;
        if (m_depth > 1)
            value();
        ++m_depth;
        return true;
    }
    bool end_array() override
    {
        --m_depth;
        return true;
    }
    bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &) override
    {
        return false;
    }

private:
    struct Size
    {
        bool told = false;
        std::optional<std::uint64_t> bytes; ///< empty: what is told is no size
    };
    struct Entry
    {
        std::string type;
        std::optional<std::string> path;
        std::string id;
        std::string lfsId;
        Size size;
        Size lfsSize;
    };

    /// A text, a number that may be a size, or (neither) something else.
    bool value(const std::string *text = nullptr, std::optional<std::uint64_t> number = {})
    {
        if (m_depth < 2) // a list holds objects and nothing else
            return false;
        const std::string word = text != nullptr ? text->substr(0, maxTextBytes) : std::string();
        if (m_depth == 2 && m_key == "type")
            m_entry.type = word;
        else if (m_depth == 2 && m_key == "path")
            m_entry.path = text != nullptr ? std::optional(*text) : std::nullopt;
        else if (m_depth == 2 && m_key == "oid")
            m_entry.id = word;
        else if (m_depth == 2 && m_key == "size")
            m_entry.size = {true, number};
        else if (m_depth == 3 && m_inLfs && m_lfsKey == "oid")
            m_entry.lfsId = word;
        else if (m_depth == 3 && m_inLfs && m_lfsKey == "size")
            m_entry.lfsSize = {true, number};
        return true;
    }

    bool finish()
    {
        if (m_entry.type == "directory")
            return true;
        if (!m_entry.path)
            return false;
        const Size &size = m_entry.lfsSize.told ? m_entry.lfsSize : m_entry.size;
        if (!size.bytes) {
            m_problem = Page::BadSize;
            m_reader.m_badFile = *std::move(m_entry.path);
            return false;
        }
        if (isPlainRelativePath(*m_entry.path)) { // others cannot be asked for, nor lie on a disk
            std::string &id = m_entry.lfsId.empty() ? m_entry.id : m_entry.lfsId;
            m_reader.m_files.push_back({*std::move(m_entry.path), *size.bytes, std::move(id)});
        }
        return true;
    }

    TreeReader &m_reader;
    Page m_problem = Page::NoListing;
    Entry m_entry;
    std::string m_key;
    std::string m_lfsKey;
    unsigned m_depth = 0;
    bool m_inLfs = false;
};

TreeReader::Page TreeReader::read(std::string_view text)
{
    m_bytes = saturatingAdd(m_bytes, text.size());
    if (m_bytes > maxTreeBytes)
        return Page::TooMany;
    std::string storage;
    if (!guardJson(text, storage, SIZE_MAX))
        return Page::NoListing;
    Events events(*this);
    return json::sax_parse(text.begin(), text.end(), &events) ? Page::Good : events.problem();
}

bool parseTree(std::string_view text, std::vector<HubFile> &files)
{
    TreeReader reader;
    if (reader.read(text) != TreeReader::Page::Good)
        return false;
    std::vector<HubFile> read = reader.take();
    files.insert(files.end(), std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
    return true;
}

bool parseHits(std::string_view text, std::vector<HubHit> &hits)
{
    const json entries = parsed(text);
    if (!entries.is_array())
        return false;
    for (const json &entry : entries) {
        if (!entry.is_object())
            return false;
        HubHit hit = hitOf(entry);
        if (isRepositoryName(hit.id))
            hits.push_back(std::move(hit));
    }
    return true;
}

bool parseRefs(std::string_view text, std::vector<std::string> &names)
{
    const json object = parsed(text);
    if (!object.is_object())
        return false;
    for (const char *key : {"branches", "tags"}) {
        const auto list = object.find(key);
        if (list == object.end() || !list->is_array())
            continue;
        for (const json &each : *list) {
            if (std::string name = each.is_object() ? textOf(each, "name") : std::string(); !name.empty())
                names.push_back(std::move(name));
        }
    }
    std::stable_partition(names.begin(), names.end(), [](const std::string &name) { return name == "main"; });
    return true;
}

std::string nextLink(std::string_view header)
{
    // <https://…>; rel="next", <https://…>; rel="prev"
    while (!header.empty()) {
        const std::size_t open = header.find('<');
        const std::size_t close = header.find('>', open);
        if (open == std::string_view::npos || close == std::string_view::npos)
            return {};
        const std::string_view rest = header.substr(close + 1);
        const std::string_view parameters = rest.substr(0, rest.find('<'));
        if (parameters.find("rel=\"next\"") != std::string_view::npos
            || parameters.find("rel=next") != std::string_view::npos)
            return std::string(header.substr(open + 1, close - open - 1));
        header = rest;
    }
    return {};
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/disk/ollamamanifest.h"

#include "models/base/saturating.h"
#include "models/base/tolerantjson.h"
#include "models/base/units.h"
#include "models/checkpoint/safetensors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace weir {

namespace {

using Json = nlohmann::json;

constexpr std::size_t maxNameBytes = 1024;
constexpr std::size_t maxShownBytes = 120;

OllamaLayerKind kindOf(std::string_view mediaType)
{
    static constexpr std::string_view prefix = "application/vnd.ollama.image.";
    static constexpr std::array<std::pair<std::string_view, OllamaLayerKind>, 6> kinds{
        {{"model", OllamaLayerKind::Model},
         {"projector", OllamaLayerKind::Projector},
         {"draft", OllamaLayerKind::Draft},
         {"adapter", OllamaLayerKind::Adapter},
         {"tensor", OllamaLayerKind::Tensor},
         {"json", OllamaLayerKind::Json}}};
    if (!mediaType.starts_with(prefix))
        return OllamaLayerKind::Other;
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto &kind) {
        return kind.first == mediaType.substr(prefix.size());
    });
    return found == kinds.end() ? OllamaLayerKind::Other : found->second;
}

/// A field that is text; null if it is absent or something else.
const std::string *textOf(const Json &object, const char *key)
{
    const auto field = object.find(key);
    return field == object.end() ? nullptr : field->get_ptr<const std::string *>();
}

Result<OllamaLayer> readLayer(const Json &object, const std::string &subject)
{
    OllamaLayer layer;
    if (!object.is_object())
        return fail("ollama.not-a-manifest", ErrorKind::Unreadable, subject);
    if (const std::string *type = textOf(object, "mediaType"))
        layer.kind = kindOf(*type);
    const std::string *digest = textOf(object, "digest");
    const std::string_view given = digest == nullptr ? std::string_view() : std::string_view(*digest);
    // It becomes the name of a file: nothing but the digits may get there.
    if ((!given.starts_with("sha256:") && !given.starts_with("sha256-")) || !isSha256(given.substr(7))) {
        return fail("ollama.bad-digest", ErrorKind::Unreadable, subject,
                    {{"digest", printable(given.substr(0, maxShownBytes), maxShownBytes)}});
    }
    layer.digest = given.substr(7);
    const auto size = object.find("size");
    if (size == object.end() || !size->is_number_unsigned() || size->get<std::uint64_t>() > saturated)
        return fail("ollama.bad-size", ErrorKind::Unreadable, subject, {{"digest", layer.digest}});
    layer.bytes = size->get<std::uint64_t>();
    if (const std::string *name = textOf(object, "name"); name != nullptr && !name->empty()) {
        if (name->size() > maxNameBytes || !isPlainRelativePath(*name)) {
            return fail(
                "ollama.bad-layer-name", ErrorKind::Unreadable, subject,
                {{"name", printable(std::string_view(*name).substr(0, maxShownBytes), maxShownBytes)}});
        }
        layer.name = *name;
    }
    return layer;
}

} // namespace

bool isSha256(std::string_view text)
{
    return text.size() == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

Result<OllamaManifest> readOllamaManifest(std::string_view text, const std::string &subject)
{
    if (text.size() > maxOllamaManifestBytes) {
        return fail("file.too-large", ErrorKind::Unreadable, subject,
                    {{"size", Bytes{text.size()}}, {"limit", Bytes{maxOllamaManifestBytes}}});
    }
    std::vector<std::string> duplicates;
    const Result<Json> json = parseTolerant(text, subject, &duplicates);
    if (!json)
        return std::unexpected(json.error());
    if (!duplicates.empty()) {
        return fail("ollama.manifest-duplicate-key", ErrorKind::Unreadable, subject,
                    {{"key", printable(duplicates.front(), maxShownBytes)}});
    }
    const auto version = json->find("schemaVersion");
    const auto layers = json->find("layers");
    if (version == json->end() || *version != 2 || layers == json->end() || !layers->is_array())
        return fail("ollama.not-a-manifest", ErrorKind::Unreadable, subject);
    if (layers->size() > maxOllamaLayers) {
        return fail("ollama.too-many-layers", ErrorKind::Unreadable, subject,
                    {{"count", std::uint64_t{layers->size()}}, {"limit", std::uint64_t{maxOllamaLayers}}});
    }
    OllamaManifest manifest;
    manifest.layers.reserve(layers->size());
    for (const Json &object : *layers) {
        Result<OllamaLayer> layer = readLayer(object, subject);
        if (!layer)
            return std::unexpected(layer.error());
        manifest.layers.push_back(*std::move(layer));
    }
    const auto config = json->find("config");
    if (config != json->end() && config->is_object()) {
        const std::string *digest = textOf(*config, "digest");
        if (digest != nullptr && !digest->empty()) { // some programs write a manifest without a config
            Result<OllamaLayer> layer = readLayer(*config, subject);
            if (!layer)
                return std::unexpected(layer.error());
            manifest.config = *std::move(layer);
        }
    }
    return manifest;
}

Result<OllamaConfig> readOllamaConfig(std::string_view text, const std::string &subject)
{
    if (text.size() > maxOllamaConfigBytes) {
        return fail("file.too-large", ErrorKind::Unreadable, subject,
                    {{"size", Bytes{text.size()}}, {"limit", Bytes{maxOllamaConfigBytes}}});
    }
    const Result<Json> json = parseTolerant(text, subject);
    if (!json)
        return std::unexpected(json.error());
    const auto text64 = [](const std::string *value) {
        return value == nullptr ? std::string() : printable(*value, 64);
    };
    OllamaConfig config;
    config.format = text64(textOf(*json, "model_format"));
    config.quantization = text64(textOf(*json, "file_type"));
    config.remoteHost = text64(textOf(*json, "remote_host"));
    if (config.quantization == "unknown")
        config.quantization.clear();
    const auto draft = json->find("draft");
    if (draft != json->end() && draft->is_object())
        config.draftPrefix = text64(textOf(*draft, "tensor_prefix"));
    return config;
}

} // namespace weir

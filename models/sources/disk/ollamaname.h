// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// A model as Ollama names it: `[host/][namespace/]model[:tag]`.
/// Source: ollama types/model/name.go (lengths, letters, defaults).
struct OllamaName
{
    static constexpr std::string_view defaultHost = "registry.ollama.ai";
    static constexpr std::string_view defaultNamespace = "library";

    std::string host = std::string(defaultHost); ///< may have a port
    std::string space = std::string(defaultNamespace);
    std::string model;
    std::string tag = "latest";

    /// As short as it can be said: "qwen3:30b", "someone/model:tag", "host/someone/model:tag".
    std::string shortest() const;
    /// "host/namespace/model:tag".
    std::string full() const;
    /// "host/namespace/model/tag": where a store keeps its manifest.
    std::string path() const { return host + '/' + space + '/' + model + '/' + tag; }

    friend bool operator==(const OllamaName &, const OllamaName &) = default;
};

/// Reads a name, with or without "ollama:" before it. Empty if Ollama would not take it.
std::optional<OllamaName> parseOllamaName(std::string_view text);

/// The name of a manifest, from its place below `manifests`. Empty if it is none.
std::optional<OllamaName> ollamaNameOfPath(std::string_view relativePath);

} // namespace weir

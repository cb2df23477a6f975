// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/configfiles.h"

#include "models/base/tolerantjson.h"
#include "models/base/units.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weir {

bool isWeightFile(std::string_view path)
{
    static constexpr std::array<std::string_view, 8> endings{".safetensors", ".bin",  ".pt", ".pth",
                                                             ".onnx",        ".gguf", ".h5", ".msgpack"};
    if (path.ends_with("training_args.bin"))
        return false;
    return std::any_of(endings.begin(), endings.end(),
                       [path](std::string_view ending) { return path.ends_with(ending); });
}

Result<nlohmann::json> parsedConfig(const Result<std::string> &text, const std::string &subject,
                                    std::string_view name, std::vector<Message> &notes)
{
    if (!text)
        return std::unexpected(text.error());
    std::vector<std::string> duplicates;
    Result<nlohmann::json> parsed = parseTolerant(*text, subject, &duplicates);
    if (parsed && !duplicates.empty()) {
        notes.push_back({"config.duplicate-keys",
                         Severity::Warning,
                         {{"file", printable(name)}, {"key", printable(duplicates.front())}},
                         {}});
    }
    return parsed;
}

Result<nlohmann::json> readConfigJson(RepositoryFiles &files, const std::string &name, std::stop_token stop,
                                      std::vector<Message> &notes)
{
    return parsedConfig(files.text(name, maxConfigBytes, std::move(stop)), files.subject(name), name, notes);
}

Result<std::optional<nlohmann::json>> readQuantizationFile(RepositoryFiles &files, std::stop_token stop,
                                                           std::vector<Message> &notes)
{
    static constexpr std::array<std::pair<const char *, const char *>, 3> kinds{
        {{"hf_quant_config.json", nullptr}, {"quantize_config.json", "gptq"}, {"quant_config.json", "awq"}}};
    for (const auto &[name, method] : kinds) {
        if (files.find(name) == nullptr)
            continue;
        Result<nlohmann::json> parsed = readConfigJson(files, name, stop, notes);
        if (!parsed && RepositoryFiles::isAboutTheWay(parsed.error()))
            return std::unexpected(parsed.error());
        if (!parsed) {
            notes.push_back(
                {"config.side-file-unreadable", Severity::Warning, {{"file", std::string(name)}}, {}});
            continue;
        }
        if (method != nullptr && !parsed->contains("quant_method"))
            (*parsed)["quant_method"] = method;
        return std::optional(std::move(*parsed));
    }
    return std::optional<nlohmann::json>();
}

} // namespace weir

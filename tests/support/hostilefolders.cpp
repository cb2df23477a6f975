// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/hostilefiles.h"

#include "models/base/units.h"
#include "tests/support/tinymodel.h"

#include <fmt/format.h>

#include <sys/stat.h>

#include <fstream>

namespace weir::test {

namespace fs = std::filesystem;

namespace {

using Make = std::function<std::string(const fs::path &)>;

Make config(std::string text, std::uint64_t bytes = 0)
{
    return [text = std::move(text), bytes](const fs::path &folder) {
        writeSparse(folder / "config.json", text, std::max<std::uint64_t>(text.size(), bytes));
        return folder.string();
    };
}

Make changed(const nlohmann::json &change)
{
    nlohmann::json content = tinyConfig();
    content.update(change);
    return config(content.dump());
}

/// A whole small model in which something stands in the place of one file.
Make instead(std::string name, std::function<void(const fs::path &)> put)
{
    return [name = std::move(name), put = std::move(put)](const fs::path &folder) {
        writeTinyModel(folder);
        fs::remove(folder / name);
        put(folder / name);
        return folder.string();
    };
}

void pipe(const fs::path &file) { QCOMPARE(::mkfifo(file.c_str(), 0600), 0); }
void folder(const fs::path &file) { fs::create_directory(file); }
void zero(const fs::path &file) { fs::create_symlink("/dev/zero", file); }
void itself(const fs::path &file) { fs::create_symlink(file.filename(), file); }
void nowhere(const fs::path &file) { fs::create_symlink("../../blobs/none", file); }
void secret(const fs::path &file)
{
    writeFile(file, "{}");
    fs::permissions(file, fs::perms::none);
}

nlohmann::json patterns(std::size_t count, const std::string &each)
{
    nlohmann::json list = nlohmann::json::array();
    for (std::size_t i = 0; i < count; ++i)
        list.push_back(fmt::format("{}{}", each, i));
    return list;
}

nlohmann::json manyExperts(std::uint64_t experts, std::uint64_t layers)
{
    return {{"architectures", {"Qwen3MoeForCausalLM"}},
            {"model_type", "qwen3_moe"},
            {"num_experts", experts},
            {"num_experts_per_tok", 2},
            {"moe_intermediate_size", 32},
            {"num_hidden_layers", layers},
            {"decoder_sparse_step", 1}};
}

} // namespace

std::vector<HostileFile> hostileConfigs()
{
    const std::string page = "<!DOCTYPE html><html><title>Sign in</title></html>";
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
    nlohmann::json awq = {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 128}};
    const auto declared = [&awq](const nlohmann::json &list, const nlohmann::json &more) {
        nlohmann::json change = more;
        change["quantization_config"] = awq;
        change["quantization_config"]["modules_to_not_convert"] = list;
        return changed(change);
    };
    std::string twice = tinyConfig().dump();
    twice.insert(1, R"("num_hidden_layers":77,)");
    return {
        {"config-nested", config("{\"a\":" + std::string(100'000, '[')), 3,
         "{}/config.json is nested deeper than any config: it was not read."},
        {"config-nested-objects", config([] {
             std::string text;
             for (int i = 0; i < 100'000; ++i)
                 text += "{\"a\":";
             return text;
         }()),
         3, "{}/config.json is nested deeper than any config: it was not read."},
        {"config-200-mb", config("{", 200'000'000), 3,
         "{}/config.json has 0.20 GB, more than the 0.02 GB that such a file can have: it is not what its "
         "name says."},
        {"config-70-gb", config("{", std::uint64_t{70} << 30U), 3,
         "{}/config.json has 75.16 GB, more than the 0.02 GB that such a file can have: it is not what its "
         "name says."},
        {"config-16-mb-numbers", config([] {
             std::string text = "{\"a\":[0";
             while (text.size() < 16'000'000)
                 text += ",0";
             return text + "]}";
         }()),
         3, "{}/config.json holds more than 1,000,000 values, more than any config: it was not read.", "",
         256},
        {"config-16-mb-objects", config([] {
             std::string text = "{\"a\":[{}";
             while (text.size() < 16'000'000)
                 text += ",{}";
             return text + "]}";
         }()),
         3, "{}/config.json holds more than 1,000,000 values, more than any config: it was not read.", "",
         256},
        {"config-16-mb-keys", config([] {
             std::string text = "{\"a\":0";
             for (int i = 0; text.size() < 16'000'000; ++i)
                 text += fmt::format(",\"{}\":0", i);
             return text + "}";
         }()),
         3, "{}/config.json holds more than 1,000,000 values, more than any config: it was not read.", "",
         256},
        {"config-duplicate-keys", config(twice), 0, "", "num_hidden_layers"},
        {"config-web-page", config(page), 3,
         "{}/config.json is a web page, not the file its name says: the download was probably refused; "
         "download it again."},
        {"config-pointer", config(pointer), 3,
         "{}/config.json is a Git LFS pointer, not the file itself: run “git lfs pull” in the repository."},
        {"config-number-1e400", changed({{"hidden_size", "x"}, {"vocab_size", 1e300}}), 3,
         "{}/config.json gives a value to “hidden_size” that no model can have: the config is damaged or "
         "forged."},
        {"config-layers-1e5", changed({{"num_hidden_layers", 100'000}}), 3,
         "{}/config.json gives a value to “num_hidden_layers” that no model can have: the config is damaged "
         "or forged."},
        {"config-layers-4096", changed({{"num_hidden_layers", 4096}}), 0, "", "attention"},
        {"config-experts-4e9", changed(manyExperts(1U << 20U, 4096)), 3,
         "{}/config.json gives a value to “num_experts” that no model can have: the config is damaged or "
         "forged."},
        {"config-experts-4e6", changed(manyExperts(1024, 4096)), 0, "", "Routed experts", 256},
        {"config-patterns", declared(patterns(4000, "model.layers.*.mlp.*x"), manyExperts(512, 256)), 0, "",
         "", 128},
        {"config-regexes", declared(patterns(256, "re:(a|b|.*.*.*.*)*c"), manyExperts(512, 256)), 0, "", "",
         128},
        {"config-regex-bomb", declared({"re:((((a{1,30}){1,30}){1,30}){1,30})", "re:(x+x+)+y"}, {}), 0, "",
         "", 64},
        {"config-names-500000", declared(patterns(500'000, "model.layers.0.n"), {}), 0, "", "", 256},
    };
}

std::vector<HostileFile> hostileFolders()
{
    std::vector<HostileFile> rows{
        {"folder-loop",
         [](const fs::path &folder) {
             writeTinyModel(folder);
             fs::create_directory_symlink(".", folder / "again");
             fs::create_directory_symlink("..", folder / "up");
             fs::create_directory_symlink("/", folder / "root");
             return folder.string();
         },
         0, "", "attention"},
        {"folder-many-files",
         [](const fs::path &folder) {
             writeTinyModel(folder);
             for (int i = 0; i < 100'100; ++i)
                 std::ofstream(folder / fmt::format("{:06}.txt", i));
             return folder.string();
         },
         3, "{} holds more than 100,000 files: choose the folder of one model."},
        {"folder-many-shards",
         [](const fs::path &folder) {
             writeFile(folder / "config.json", tinyConfig().dump());
             for (int i = 0; i < 20'000; ++i)
                 std::ofstream(folder / fmt::format("{:06}.safetensors", i));
             return folder.string();
         },
         3, "{} holds 20,000 weight files, more than the 10,000 that are read: name the one that you mean."},
        {"folder-deep",
         [](const fs::path &folder) {
             writeTinyModel(folder);
             fs::path deep = folder;
             for (int i = 0; i < 1000; ++i)
                 fs::create_directory(deep /= "d");
             return folder.string();
         },
         0, "", "attention"},
        {"folder-many-headers",
         [](const fs::path &folder) {
             // 64 headers of 8 MB each: sound each, too much together.
             writeFile(folder / "config.json", tinyConfig().dump());
             for (int i = 0; i < 64; ++i)
                 writeSparse(folder / fmt::format("{:02}.safetensors", i),
                             SafetensorsBuilder::length(8'000'000) + "{}", 8'000'008);
             return folder.string();
         },
         3,
         "The header of {}/00.safetensors is not valid JSON: the file is damaged or no safetensors file; "
         "download it again.",
         "", 128},
        {"path-zero", [](const fs::path &) { return std::string("/dev/zero"); }, 3,
         "/dev/zero is not a regular file (a device, pipe or socket): give a model folder or file."},
        {"path-nul-name", [](const fs::path &folder) { return (folder / "a\nb\x1B[31m").string(); }, 3,
         "{}/a\\u{A}b\\u{1B}[31m does not exist: check the spelling of the path."},
        {"path-long", [](const fs::path &) { return '/' + std::string(5000, 'x'); }, 3,
         printable('/' + std::string(5000, 'x'), 120)
             + " is longer than the name of a file can be: check the spelling of the path."},
    };
    struct Thing
    {
        const char *name;
        void (*put)(const fs::path &);
        const char *sentence;
    };
    const std::string special =
        " is not a regular file (a device, pipe or socket): give a model folder or file.";
    const std::string loop = " is a link that leads back to itself: put the file in its place.";
    const std::string dangling = " is a link to a file that is not there: finish the download.";
    const std::string denied = " cannot be read: check its permissions and the disk.";
    const Thing things[] = {{"pipe", pipe, special.c_str()},
                            {"zero", zero, special.c_str()},
                            {"itself", itself, loop.c_str()},
                            {"nowhere", nowhere, dangling.c_str()},
                            {"secret", secret, denied.c_str()}};
    const std::pair<const char *, const char *> places[] = {{"config", "config.json"},
                                                            {"index", "model.safetensors.index.json"},
                                                            {"weights", "model-00002-of-00003.safetensors"}};
    for (const auto &[place, file] : places) {
        for (const Thing &thing : things) {
            rows.push_back({fmt::format("{}-is-{}", place, thing.name), instead(file, thing.put), 3,
                            fmt::format("{{}}/{}{}", file, thing.sentence)});
            rows.back().asRootToo = thing.name != std::string_view("secret");
        }
    }
    rows.push_back({"config-is-folder", instead("config.json", folder), 3,
                    "{} holds weights but no config.json: put the model's config.json beside them."});
    rows.push_back({"index-is-folder", instead("model.safetensors.index.json", folder), 0, "", "attention"});
    rows.push_back(
        {"weights-is-folder", instead("model-00002-of-00003.safetensors", folder), 3,
         "{}/model-00002-of-00003.safetensors is missing (1 of 3 files that model.safetensors.index.json "
         "lists): finish the download."});
    return rows;
}

} // namespace weir::test

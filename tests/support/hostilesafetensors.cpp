// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/hostilefiles.h"
#include "tests/support/tinymodel.h"

#include <fmt/format.h>

#include <fstream>

namespace weir::test {

namespace fs = std::filesystem;

namespace {

using Make = std::function<std::string(const fs::path &)>;

/// A folder with a sound config and these bytes as its one weight file, made `bytes` long if that is more.
Make weights(std::string content, std::uint64_t bytes = 0)
{
    return [content = std::move(content), bytes](const fs::path &folder) {
        writeFile(folder / "config.json", tinyConfig().dump());
        writeSparse(folder / "model.safetensors", content, std::max<std::uint64_t>(content.size(), bytes));
        return folder.string();
    };
}

Make header(std::string_view text, std::uint64_t dataBytes)
{
    const std::string whole = SafetensorsBuilder::prefixed(text);
    return weights(whole, whole.size() + dataBytes);
}

std::string entry(std::string_view name, std::string_view shape, std::uint64_t begin, std::uint64_t end)
{
    return fmt::format(R"("{}":{{"dtype":"U8","shape":{},"data_offsets":[{},{}]}})", name, shape, begin, end);
}

/// A header of exactly `bytes` bytes, made of what `next` gives for 0, 1, 2 ... with commas between, then blanks.
Make largeHeader(std::uint64_t bytes, std::function<std::string(std::uint64_t)> next,
                 std::string_view end = "}")
{
    return [=](const fs::path &folder) {
        writeFile(folder / "config.json", tinyConfig().dump());
        const fs::path file = folder / "model.safetensors";
        std::uint64_t number = 0;
        {
            std::ofstream stream(file, std::ios::binary);
            stream << SafetensorsBuilder::length(bytes) << '{';
            for (std::uint64_t written = 1;; ++number) {
                const std::string text = (number == 0 ? "" : ",") + next(number);
                if (written + text.size() + end.size() > bytes) {
                    stream << std::string(bytes - written - end.size(), ' ') << end;
                    break;
                }
                stream << text;
                written += text.size();
            }
        }
        fs::resize_file(file, 8 + bytes + number); // a byte each
        return folder.string();
    };
}

Make withIndex(std::string text)
{
    return [text = std::move(text)](const fs::path &folder) {
        writeTinyModel(folder);
        writeFile(folder / "model.safetensors.index.json", text);
        return folder.string();
    };
}

std::string expertEntry(std::uint64_t i)
{
    return entry(fmt::format("model.layers.{}.mlp.experts.{}.{}.weight", i / 3072, i % 1024, i / 1024 % 3),
                 "[1]", i, i + 1);
}

std::string randomEntry(std::uint64_t i)
{
    std::string name;
    for (std::uint64_t state = i + 1, digit = 0; digit < 12;
         ++digit, state = state * 6364136223846793005U + 1)
        name += static_cast<char>('a' + (state >> 33U) % 26);
    return entry(name, "[1]", i, i + 1);
}

} // namespace

std::vector<HostileFile> hostileSafetensors()
{
    const std::string two63 = SafetensorsBuilder::length(std::uint64_t{1} << 63U);
    const std::string most = SafetensorsBuilder::length(~std::uint64_t{0});
    const std::string json = tinyLayer(0).header();
    return {
        {"length-2-63", weights(two63 + json), 3,
         "{}/model.safetensors claims a header of 9223372.04 TB, but has only 923 bytes: it is damaged, cut "
         "off or forged."},
        {"length-2-64", weights(most + json), 3,
         "{}/model.safetensors claims a header of 18446744.07 TB, but has only 923 bytes: it is damaged, cut "
         "off or forged."},
        {"length-beyond-limit", weights(SafetensorsBuilder::length(150'000'000) + "{", 200'000'000), 3,
         "{}/model.safetensors claims a header of 0.15 GB, more than the 0.10 GB that the format allows: it "
         "is damaged or forged."},
        {"ten-million-tensors", weights(SafetensorsBuilder::length(900'000'000) + "{", 2'000'000'000), 3,
         "{}/model.safetensors claims a header of 0.90 GB, more than the 0.10 GB that the format allows: it "
         "is damaged or forged."},
        {"header-100-mb", largeHeader(100'000'000, expertEntry), 0, "", "986,696 parameters", 512},
        {"header-100-mb-random", largeHeader(100'000'000, randomEntry), 3,
         "{}/model.safetensors holds more different tensor names than any model (200,000 patterns): it was "
         "not read further.",
         "", 512},
        {"header-100-mb-brackets",
         largeHeader(100'000'000, [](std::uint64_t) { return "\"a\":" + std::string(1U << 20U, '['); }), 3,
         "The header of {}/model.safetensors describes the tensor “a” wrongly (dtype, shape or offsets): the "
         "file is damaged or forged.",
         "", 768},
        {"header-100-mb-commas",
         largeHeader(100'000'000, [](std::uint64_t) { return std::string(1U << 20U, ','); }), 3,
         "The header of {}/model.safetensors is not valid JSON: the file is damaged or no safetensors file; "
         "download it again.",
         "", 768},
        {"header-100-mb-blanks",
         largeHeader(100'000'000,
                     [](std::uint64_t i) {
                         return i == 0 ? entry("a", "[1]", 0, 1) + std::string(99'000'000, ' ')
                                       : std::string(1'000'000, ' ');
                     }),
         0, "", "", 512},
        {"duplicate-names", header('{' + entry("a", "[1]", 0, 1) + ',' + entry("a", "[1]", 1, 2) + '}', 2), 3,
         "The header of {}/model.safetensors lists the tensor “a” twice: the file is damaged or forged."},
        {"name-nul", header('{' + entry("a\\u0000b.weight", "[1]", 0, 1) + '}', 1), 0, "", "In dense"},
        {"name-tricks", header('{' + entry("../../etc/\\u202epasswd\\n\\u001b[31m", "[1]", 0, 1) + '}', 1), 0,
         "", "In dense"},
        {"name-long", header('{' + entry(std::string(5000, 'n'), "[1]", 0, 1) + '}', 1), 3,
         "The header of {}/model.safetensors holds a tensor with an empty or endless name: the file is "
         "damaged or forged."},
        {"overlap", header('{' + entry("a", "[2]", 0, 2) + ',' + entry("b", "[2]", 1, 3) + '}', 3), 3,
         "The tensor “b” in {}/model.safetensors overlaps another one: the file is damaged or forged."},
        {"hole", header('{' + entry("a", "[2]", 0, 2) + ',' + entry("b", "[2]", 4, 6) + '}', 6), 3,
         "The data of {}/model.safetensors has a gap before the tensor “b”: the file is damaged or forged."},
        {"beyond-file", header('{' + entry("a", "[200]", 0, 200) + '}', 2), 3,
         "{}/model.safetensors ends before the tensor “a” does: the download is incomplete, or the file is "
         "forged; download it again."},
        {"trailing", header('{' + entry("a", "[2]", 0, 2) + '}', 5000), 3,
         "{}/model.safetensors describes 2 bytes of data but holds 5,000 bytes: it is damaged or forged; "
         "download it again."},
        {"shape-overflow", header('{' + entry("a", "[4294967296,4294967296,2]", 0, 0) + '}', 0), 3,
         "The shape of the tensor “a” in {}/model.safetensors is larger than any file: the header is forged "
         "or damaged."},
        {"shape-deep", header('{' + entry("a", '[' + std::string(99'998, '1') + ']', 0, 0) + '}', 0), 3,
         "The header of {}/model.safetensors describes the tensor “a” wrongly (dtype, shape or offsets): the "
         "file is damaged or forged."},
        {"header-nested", header("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + '}', 0),
         3,
         "The header of {}/model.safetensors describes the tensor “a” wrongly (dtype, shape or offsets): the "
         "file is damaged or forged."},
        {"pointer",
         weights("version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, '0')
                 + "\nsize 4976698672\n"),
         3,
         "{}/model.safetensors is a Git LFS pointer, not the file itself: run “git lfs pull” in the "
         "repository."},
        {"web-page", weights("<!DOCTYPE html><html><title>Sign in</title></html>"), 3,
         "{}/model.safetensors is a web page, not the file its name says: the download was probably refused; "
         "download it again."},
        {"index-million",
         [](const fs::path &folder) {
             writeTinyModel(folder);
             std::ofstream stream(folder / "model.safetensors.index.json");
             stream << R"({"weight_map":{)";
             for (int i = 0; i < 1'000'000; ++i)
                 stream << fmt::format(R"({}"model.layers.{}.mlp.experts.{}.up":"model-{:06}.safetensors")",
                                       i == 0 ? "" : ",", i / 1024, i % 1024, i);
             stream << "}}";
             return folder.string();
         },
         3,
         "{}/model.safetensors.index.json names more than 10,000 files, more than any model has: the index "
         "is damaged or forged.",
         "", 512},
        {"index-too-large",
         [](const fs::path &folder) {
             writeTinyModel(folder);
             writeSparse(folder / "model.safetensors.index.json", "{", std::uint64_t{70} << 30U);
             return folder.string();
         },
         3,
         "{}/model.safetensors.index.json has 75.16 GB, more than the 0.27 GB that such a file can have: it "
         "is not what its name says."},
        {"index-leaves", withIndex(R"({"weight_map":{"a":"../../../etc/passwd"}})"), 3,
         "{}/model.safetensors.index.json points to “../../../etc/passwd”, outside its own folder: the index "
         "is forged or damaged, nothing was read."},
        {"index-absolute", withIndex(R"({"weight_map":{"a":"/dev/zero"}})"), 3,
         "{}/model.safetensors.index.json points to “/dev/zero”, outside its own folder: the index is forged "
         "or damaged, nothing was read."},
        {"index-nul", withIndex(R"({"weight_map":{"a":"x\u0000.safetensors"}})"), 3,
         "{}/model.safetensors.index.json points to “x\\u{0}.safetensors”, outside its own folder: the index "
         "is forged or damaged, nothing was read."},
        {"index-duplicate", withIndex(R"({"weight_map":{"a":"x.safetensors","a":"y.safetensors"}})"), 3,
         "{}/model.safetensors.index.json lists the tensor “a” twice: the index is damaged or forged."},
        {"index-nested", withIndex("{\"weight_map\":" + std::string(100'000, '[')), 3,
         "{}/model.safetensors.index.json is no valid safetensors index: it is damaged or cut off; download "
         "it again."},
    };
}

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/hostilefiles.h"
#include "tests/support/tinymodel.h"

#include <fmt/format.h>

#include <fstream>

namespace weir::test {

namespace fs = std::filesystem;

namespace {

using Make = std::function<std::string(const fs::path &)>;

constexpr std::uint64_t large = std::uint64_t{70} << 30U; ///< of a file that is a hole after its beginning

Make content(std::string bytes, std::uint64_t size = 0)
{
    return [bytes = std::move(bytes), size](const fs::path &folder) {
        const fs::path file = folder / "model.gguf";
        writeSparse(file, bytes, std::max<std::uint64_t>(bytes.size(), size));
        return file.string();
    };
}

/// A builder's header, changed.
Make header(const std::function<void(GgufBuilder &)> &change, std::uint64_t size = 0)
{
    GgufBuilder builder = tinyGguf();
    change(builder);
    return content(builder.header(), std::max(size, builder.fileBytes()));
}

Make claimed(std::uint64_t tensors, std::uint64_t keys, std::uint64_t size)
{
    return header(
        [=](GgufBuilder &builder) {
            builder.tensorCount = tensors;
            builder.keyCount = keys;
        },
        size);
}

Make array(GgufBuilder::ValueType type, std::uint64_t count, std::uint64_t size)
{
    GgufBuilder builder;
    builder.raw("tokenizer.ggml.tokens", GgufBuilder::Array,
                builder.number<std::uint32_t>(type) + builder.number(count));
    return content(builder.header(), size);
}

} // namespace

std::vector<HostileFile> hostileGguf()
{
    constexpr std::uint64_t two63 = std::uint64_t{1} << 63U;
    return {
        {"gguf-counts-2-63", claimed(two63, two63, large), 3,
         "{}/model.gguf claims 9,223,372,036,854,775,808 tensors and 9,223,372,036,854,775,808 keys, more "
         "than its size can hold or any model has: it is cut off, damaged or forged."},
        {"gguf-ten-million-tensors", claimed(10'000'000, 9, large), 3,
         "{}/model.gguf claims 10,000,000 tensors and 9 keys, more than its size can hold or any model has: "
         "it is cut off, damaged or forged."},
        {"gguf-many-keys", claimed(4, 10'000'000, large), 3,
         "{}/model.gguf claims 4 tensors and 10,000,000 keys, more than its size can hold or any model has: "
         "it is cut off, damaged or forged."},
        {"gguf-zero-keys", claimed(4, 100'000, large), 3,
         "{}/model.gguf ends within its header: the download is incomplete; download it again."},
        {"gguf-million-tensors",
         [](const fs::path &folder) {
             GgufBuilder builder;
             const fs::path file = folder / "model.gguf";
             constexpr std::uint64_t count = 1'000'000;
             std::uint64_t bytes = 0;
             {
                 std::ofstream stream(file, std::ios::binary);
                 stream << "GGUF" << builder.number<std::uint32_t>(3) << builder.number(count)
                        << builder.number<std::uint64_t>(1) << builder.text("general.architecture")
                        << builder.number<std::uint32_t>(GgufBuilder::Text) << builder.text("llama");
                 for (std::uint64_t i = 0; i < count; ++i)
                     stream << builder.text(fmt::format("blk.{}.ffn_up.{}.weight", i / 1000, i % 1000))
                            << builder.number<std::uint32_t>(1) << builder.number<std::uint64_t>(8)
                            << builder.number<std::uint32_t>(0) << builder.number<std::uint64_t>(32 * i);
                 bytes = static_cast<std::uint64_t>(stream.tellp());
             }
             fs::resize_file(file, (bytes + 31) / 32 * 32 + 32 * count);
             return file.string();
         },
         3,
         "The key “llama.block_count” in {}/model.gguf is missing or has a value that no model can have: the "
         "file is damaged or forged.",
         "", 512},
        {"gguf-text-2-64",
         header(
             [](GgufBuilder &builder) {
                 builder.raw("a", GgufBuilder::Text, builder.number(~std::uint64_t{0} - 7));
             },
             large),
         3,
         "The key “a” in {}/model.gguf is longer than the file, or has an impossible value: the download is "
         "incomplete, or the file is damaged or forged; download it again."},
        {"gguf-text-1-gb",
         header(
             [](GgufBuilder &builder) {
                 builder.raw("a", GgufBuilder::Text, builder.number(std::uint64_t{1} << 30U));
             },
             large),
         3,
         "The key “a” in {}/model.gguf is longer than the file, or has an impossible value: the download is "
         "incomplete, or the file is damaged or forged; download it again."},
        {"gguf-empty-texts", array(GgufBuilder::Text, 1'000'000'000, 0), 3,
         "The key “tokenizer.ggml.tokens” in {}/model.gguf is longer than the file, or has an impossible "
         "value: the download is incomplete, or the file is damaged or forged; download it again."},
        {"gguf-empty-texts-70-gb", array(GgufBuilder::Text, 1'000'000'000, large), 3,
         "The header of {}/model.gguf is larger than 0.13 GB, more than that of any model: it was not read; "
         "the file is damaged or forged."},
        {"gguf-numbers-70-gb", array(GgufBuilder::U8, std::uint64_t{60} << 30U, large), 3,
         "The header of {}/model.gguf is larger than 0.13 GB, more than that of any model: it was not read; "
         "the file is damaged or forged."},
        {"gguf-far-texts",
         [](const fs::path &folder) {
             // Every text is long: each length is read from another place of the disk.
             GgufBuilder builder;
             const fs::path file = folder / "model.gguf";
             builder.raw("a", GgufBuilder::Array,
                         builder.number<std::uint32_t>(GgufBuilder::Text)
                             + builder.number<std::uint64_t>(40'000));
             const std::string head = builder.header();
             writeSparse(file, head, large);
             std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
             constexpr std::uint64_t step = 1'000'000;
             for (std::uint64_t i = 0; i < 40'000; ++i) {
                 stream.seekp(static_cast<std::streamoff>(head.size() + i * (step + 8)));
                 stream << builder.number(step);
             }
             return file.string();
         },
         3,
         "The header of {}/model.gguf is larger than 0.13 GB, more than that of any model: it was not read; "
         "the file is damaged or forged."},
        {"gguf-many-arrays", header([](GgufBuilder &builder) {
             const std::string bytes = builder.number<std::uint32_t>(GgufBuilder::U8)
                                       + builder.number<std::uint64_t>(65'536) + std::string(65'536, '\1');
             for (int i = 0; i < 1500; ++i)
                 builder.raw(fmt::format("a{}", i), GgufBuilder::Array, bytes);
         }),
         3,
         "The key “a61” in {}/model.gguf is longer than the file, or has an impossible value: the download "
         "is incomplete, or the file is damaged or forged; download it again.",
         "", 64},
        {"gguf-nested-arrays", header([](GgufBuilder &builder) {
             std::string nested;
             for (int i = 0; i < 100'000; ++i)
                 nested +=
                     builder.number<std::uint32_t>(GgufBuilder::Array) + builder.number<std::uint64_t>(1);
             builder.raw("a", GgufBuilder::Array, nested);
         }),
         3,
         "The key “a” in {}/model.gguf is longer than the file, or has an impossible value: the download is "
         "incomplete, or the file is damaged or forged; download it again."},
        {"gguf-split-65535",
         header([](GgufBuilder &builder) { builder.u16("split.no", 0).u16("split.count", 65'535); }), 3,
         "{}/model.gguf says it is part 1 of 65,535, but stands among 1 files: parts are mixed up or "
         "renamed."},
        {"gguf-duplicate-key", header([](GgufBuilder &builder) { builder.u32("llama.block_count", 3); }), 3,
         "{}/model.gguf holds the key “llama.block_count” twice: the file is damaged or forged."},
        {"gguf-duplicate-tensor",
         header([](GgufBuilder &builder) { builder.tensor("output_norm.weight", "F32", {256}); }), 3,
         "{}/model.gguf holds the tensor “output_norm.weight” twice: the file is damaged or forged."},
        {"gguf-shape-overflow", header([](GgufBuilder &builder) {
             builder.tensorAt("a", 0, {std::uint64_t{1} << 32U, std::uint64_t{1} << 32U}, 0, 0);
         }),
         3, "The tensor “a” in {}/model.gguf is larger than any file: the header is damaged or forged."},
        {"gguf-name-tricks", header([](GgufBuilder &builder) {
             builder.tensor(std::string_view("a\0../\n\xE2\x80\xAE\xFF", 10), "F32", {8});
         }),
         0, "", "other"},
        {"gguf-alignment-0", header([](GgufBuilder &builder) { builder.u32("general.alignment", 0); }), 3,
         "{}/model.gguf states an alignment that is no power of two: the file is damaged or forged."},
        {"gguf-layers-2-32",
         content(GgufBuilder()
                     .string("general.architecture", "llama")
                     .u32("llama.block_count", 0xFFFFFFFF)
                     .tensor("token_embd.weight", "F32", {32, 8})
                     .file()),
         3,
         "The key “llama.block_count” in {}/model.gguf is missing or has a value that no model can have: the "
         "file is damaged or forged."},
        {"gguf-pointer",
         content("version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, '0')
                 + "\nsize 4976698672\n"),
         3, "{}/model.gguf is a Git LFS pointer, not the file itself: run “git lfs pull” in the repository."},
        {"gguf-web-page", content("<!DOCTYPE html><html><title>Sign in</title></html>"), 3,
         "{}/model.gguf is a web page, not the file its name says: the download was probably refused; "
         "download it again."},
        {"gguf-zeroes", content("", large), 3,
         "{}/model.gguf does not begin like a GGUF file: it is damaged or something else; download it "
         "again."},
    };
}

} // namespace weir::test

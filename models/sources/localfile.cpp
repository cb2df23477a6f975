// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/localfile.h"

#include "models/base/units.h"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace weir {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t maxEntries = 100'000;
constexpr int maxDepth = 8;

bool isModelFile(std::string_view name)
{
    return name.ends_with(".safetensors") || name.ends_with(".gguf") || name == "config.json"
           || name.ends_with(".safetensors.index.json");
}

} // namespace

Result<std::uint64_t> regularFileSize(const fs::path &file)
{
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (status.type() == fs::file_type::not_found) {
        std::error_code ignored;
        const bool link = fs::is_symlink(fs::symlink_status(file, ignored));
        return fail(link ? "file.dangling" : "file.not-found", ErrorKind::NotFound, file.string());
    }
    if (error == std::errc::too_many_symbolic_link_levels)
        return fail("file.link-loop", ErrorKind::Unreadable, file.string());
    if (error == std::errc::filename_too_long)
        return fail("file.name-too-long", ErrorKind::NotFound, printable(file.string(), 120));
    if (error)
        return fail("file.denied", ErrorKind::Unreadable, file.string());
    if (status.type() != fs::file_type::regular)
        return fail("file.not-regular", ErrorKind::Unreadable, file.string());
    const std::uintmax_t size = fs::file_size(file, error);
    if (error)
        return fail("file.denied", ErrorKind::Unreadable, file.string());
    return std::uint64_t{size};
}

Result<std::string> readTextFile(const fs::path &file, std::uint64_t limit)
{
    const Result<std::uint64_t> size = regularFileSize(file);
    if (!size)
        return std::unexpected(size.error());
    if (*size > limit) {
        return fail("file.too-large", ErrorKind::Unreadable, file.string(),
                    {{"size", Bytes{*size}}, {"limit", Bytes{limit}}});
    }
    std::ifstream stream(file, std::ios::binary);
    std::string text(static_cast<std::size_t>(*size), '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!stream && *size > 0)
        return fail("file.denied", ErrorKind::Unreadable, file.string());
    return text;
}

Result<std::vector<ListedFile>> listFolder(const fs::path &folder)
{
    std::error_code error;
    std::vector<ListedFile> files;
    const fs::directory_iterator probe(folder, error); // without leave to skip: the folder itself must open
    if (error)
        return fail("file.denied", ErrorKind::Unreadable, folder.string());
    fs::recursive_directory_iterator each(folder, fs::directory_options::skip_permission_denied, error);
    if (error)
        return fail("file.denied", ErrorKind::Unreadable, folder.string());
    std::size_t entries = 0;
    for (const fs::recursive_directory_iterator end; each != end; each.increment(error)) {
        if (error)
            return fail("file.denied", ErrorKind::Unreadable, folder.string());
        if (++entries > maxEntries)
            return fail("folder.too-large", ErrorKind::Unreadable, folder.string());
        const fs::path name = each->path().filename();
        std::error_code ignored;
        if (each->is_directory(ignored)) {
            if (each.depth() >= maxDepth || name == ".git" || name == ".cache")
                each.disable_recursion_pending();
            continue;
        }
        if (fs::status(each->path(), ignored).type() != fs::file_type::regular) {
            // A link to nowhere or a pipe in the place of a model's file must be named, not overlooked.
            if (each.depth() == 0 && isModelFile(name.string()))
                files.push_back({name.string(), 0});
            continue;
        }
        const std::uintmax_t size = fs::file_size(each->path(), ignored);
        if (!ignored)
            files.push_back({each->path().lexically_relative(folder).generic_string(), size});
    }
    std::sort(files.begin(), files.end(),
              [](const ListedFile &a, const ListedFile &b) { return a.path < b.path; });
    return files;
}

} // namespace weir

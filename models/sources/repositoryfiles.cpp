// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sources/repositoryfiles.h"

#include <algorithm>
#include <fstream>

namespace weir {

namespace fs = std::filesystem;

namespace {

class LocalStream final : public RepositoryStream
{
public:
    LocalStream(const fs::path &file, std::uint64_t bytes)
        : m_stream(file, std::ios::binary)
        , m_bytes(bytes)
    {}
    std::istream &stream() override { return m_stream; }
    std::uint64_t fileBytes() const override { return m_bytes; }
    std::optional<Error> error() const override { return std::nullopt; }

private:
    std::ifstream m_stream;
    std::uint64_t m_bytes;
};

} // namespace

const ListedFile *RepositoryFiles::find(std::string_view path) const
{
    const auto found =
        std::lower_bound(m_listing.begin(), m_listing.end(), path,
                         [](const ListedFile &file, std::string_view name) { return file.path < name; });
    return found != m_listing.end() && found->path == path ? &*found : nullptr;
}

std::string FolderFiles::subject(const std::string &path) const
{
    return path.empty() ? m_folder.string() : (m_folder / path).string();
}

Result<std::string> FolderFiles::text(const std::string &path, std::uint64_t limit, std::stop_token)
{
    return readTextFile(m_folder / path, limit);
}

void FolderFiles::read(const std::string &path, std::uint64_t first, std::uint64_t count, std::stop_token,
                       BytesCallback done)
{
    const fs::path file = m_folder / path;
    const Result<std::uint64_t> size = regularFileSize(file);
    if (!size) {
        done(std::unexpected(size.error()));
        return;
    }
    FileBytes part;
    part.fileBytes = *size;
    const std::uint64_t left = *size - std::min(first, *size);
    part.bytes.resize(static_cast<std::size_t>(std::min(count, left)));
    std::ifstream stream(file, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(first));
    stream.read(part.bytes.data(), static_cast<std::streamsize>(part.bytes.size()));
    if (!stream && !part.bytes.empty()) {
        done(fail("file.denied", ErrorKind::Unreadable, file.string()));
        return;
    }
    done(std::move(part));
}

Result<std::unique_ptr<RepositoryStream>> FolderFiles::open(const std::string &path, std::stop_token)
{
    const fs::path file = m_folder / path;
    const Result<std::uint64_t> size = regularFileSize(file);
    if (!size)
        return std::unexpected(size.error());
    auto stream = std::make_unique<LocalStream>(file, *size);
    if (!stream->stream())
        return fail("file.denied", ErrorKind::Unreadable, file.string());
    return stream;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/sources/localfile.h"

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// A part of a file, and how large the whole is.
struct FileBytes
{
    std::string bytes; ///< shorter than asked for where the file ends, longer where more was at hand
    std::uint64_t fileBytes = 0;
};
using BytesCallback = std::function<void(Result<FileBytes>)>;

/// The first bytes of a file.
struct FileHead
{
    std::string path;
    std::uint64_t bytes = 0;
};

/// A file to be read from its beginning, as far as a header goes.
class RepositoryStream
{
public:
    virtual ~RepositoryStream() = default;
    virtual std::istream &stream() = 0;
    virtual std::uint64_t fileBytes() const = 0;
    /// Why the stream ended early; what a reader then says of the file is not so.
    virtual std::optional<Error> error() const = 0;
};

/// The files of one repository at one revision, wherever they lie: what the readers of formats work on.
class RepositoryFiles
{
public:
    explicit RepositoryFiles(std::vector<ListedFile> listing)
        : m_listing(std::move(listing))
    {}
    virtual ~RepositoryFiles() = default;

    /// Sorted by path.
    const std::vector<ListedFile> &listing() const { return m_listing; }
    const ListedFile *find(std::string_view path) const;

    /// What an error about a file is about; with an empty path, about the repository.
    virtual std::string subject(const std::string &path) const = 0;
    /// A whole file of at most `limit` bytes.
    virtual Result<std::string> text(const std::string &path, std::uint64_t limit, std::stop_token stop) = 0;
    /// Bytes from `first` on. `done` is called exactly once, on any thread, maybe before this returns.
    virtual void read(const std::string &path, std::uint64_t first, std::uint64_t count, std::stop_token stop,
                      BytesCallback done) = 0;
    /// Beginnings of files that will be read soon, in that order: what lies far away may set out at once.
    virtual void expectHeads(std::vector<FileHead>) {}
    /// What is expected and has not been read is needed no longer; reads of it that wait end soon.
    virtual void expectNoMore() {}
    /// How many reads are worth having in hand at one time.
    virtual unsigned parallelReads() const = 0;
    virtual Result<std::unique_ptr<RepositoryStream>> open(const std::string &path, std::stop_token stop) = 0;
    /// How the readers know a tensor that a file of this repository calls `name`, if that is another name.
    virtual std::optional<std::string> tensorName(std::string_view) const { return std::nullopt; }
    /// True for an error that is about the way to a file and not about what is in it.
    static bool isAboutTheWay(const Error &error)
    {
        return error.kind == ErrorKind::Network || error.kind == ErrorKind::Access || error.id == "cancelled";
    }

private:
    std::vector<ListedFile> m_listing;
};

/// A folder as a repository.
class FolderFiles final : public RepositoryFiles
{
public:
    FolderFiles(std::filesystem::path folder, std::vector<ListedFile> listing)
        : RepositoryFiles(std::move(listing))
        , m_folder(std::move(folder))
    {}

    std::string subject(const std::string &path) const override;
    Result<std::string> text(const std::string &path, std::uint64_t limit, std::stop_token stop) override;
    void read(const std::string &path, std::uint64_t first, std::uint64_t count, std::stop_token stop,
              BytesCallback done) override;
    unsigned parallelReads() const override { return 4; }
    Result<std::unique_ptr<RepositoryStream>> open(const std::string &path, std::stop_token stop) override;

private:
    std::filesystem::path m_folder;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"

#include <QString>
#include <QTest>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace weir::test {

inline QString q(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

inline std::string s(const QString &text) { return text.toStdString(); }

/// The value of a message argument as text; empty if there is none of that name.
inline QString argumentText(const MessageArguments &arguments, std::string_view name)
{
    for (const auto &[key, value] : arguments) {
        if (key != name)
            continue;
        if (const auto *text = std::get_if<std::string>(&value))
            return q(*text);
        if (const auto *number = std::get_if<std::uint64_t>(&value))
            return QString::number(*number);
        if (const auto *bytes = std::get_if<Bytes>(&value))
            return QString::number(bytes->value);
        return QString::number(std::get<double>(value));
    }
    return {};
}

/// The id of the error, or "ok".
template <typename T>
QString outcome(const Result<T> &result)
{
    return result ? QStringLiteral("ok") : q(result.error().id);
}

/// Test material that is not part of this repository: the folder that WEIR_SHARED_DIR names, else
/// `../shared` beside the repository. Tests that need it skip, saying so, where there is none.
inline std::optional<std::filesystem::path> sharedFolder(const std::filesystem::path &repository)
{
    std::error_code error;
    const char *named = std::getenv("WEIR_SHARED_DIR");
    const std::filesystem::path folder =
        named != nullptr && *named != '\0' ? std::filesystem::path(named) : repository / ".." / "shared";
    if (!std::filesystem::is_directory(folder, error))
        return std::nullopt;
    return std::filesystem::canonical(folder, error);
}

inline void writeFile(const std::filesystem::path &file, std::string_view content)
{
    std::filesystem::create_directories(file.parent_path());
    std::ofstream stream(file, std::ios::binary);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    QVERIFY2(stream.good(), file.c_str());
}

/// Writes the beginning of a file and makes it `bytes` long; the rest is a hole and takes no room.
inline void writeSparse(const std::filesystem::path &file, std::string_view beginning, std::uint64_t bytes)
{
    writeFile(file, beginning);
    std::filesystem::resize_file(file, bytes);
}

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/base/datadir.h"

#include <array>
#include <cstdlib>
#include <system_error>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

namespace weir {

namespace {

std::filesystem::path executableFolder()
{
    std::error_code error;
#ifdef __APPLE__
    std::array<char, 4096> buffer{};
    auto size = static_cast<std::uint32_t>(buffer.size());
    if (_NSGetExecutablePath(buffer.data(), &size) == 0)
        return std::filesystem::canonical(buffer.data(), error).parent_path();
    return {};
#else
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
#endif
}

} // namespace

Result<std::filesystem::path> dataDirectory()
{
    std::error_code error;
    if (const char *set = std::getenv("WEIR_DATA_DIR"); set != nullptr && *set != '\0') {
        std::filesystem::path path(set);
        if (std::filesystem::is_directory(path, error))
            return path;
        return fail("data.dir-missing", ErrorKind::NotFound, path.string());
    }
    const std::filesystem::path beside = executableFolder() / ".." / "share" / "weir";
    if (std::filesystem::is_directory(beside, error))
        return beside.lexically_normal();
    const std::filesystem::path installed(WEIR_INSTALLED_DATA_DIR);
    if (std::filesystem::is_directory(installed, error))
        return installed;
    return fail("data.dir-missing", ErrorKind::NotFound, beside.lexically_normal().string());
}

} // namespace weir

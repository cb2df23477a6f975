// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace weir::test {

/// One hostile file or folder, and what `weir assess` says of it.
struct HostileFile
{
    std::string name;
    std::function<std::string(const std::filesystem::path &folder)> make; ///< gives the path to open
    int status = 3;
    std::string sentence;      ///< `{}` is the folder of the row; empty: nothing is said
    std::string shown = {};    ///< part of the output, where it is read nevertheless
    double mebibytes = 32;     ///< beyond a run that reads nothing
    bool asRootToo = true;     ///< false: root may read it
};

std::vector<HostileFile> hostileSafetensors();
std::vector<HostileFile> hostileGguf();
std::vector<HostileFile> hostileConfigs();
std::vector<HostileFile> hostileFolders();

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/tinymodel.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

/// One tiny repository for every line of docs/formats.md, and what must be said of it.
namespace weir::test {

struct FormatKind
{
    std::string id; ///< as the tables of docs/formats.md have it
    std::function<void(const std::filesystem::path &)> make;
    std::string path; ///< of a file in the folder that is opened instead of it

    std::string error; ///< of what is declined; empty = it is assessed
    std::map<std::string, std::string> facts; ///< of what is declined: argument -> value

    std::string format = "safetensors";
    std::string provenance = "headers";
    std::string label;
    std::uint64_t parameters = 0;
    std::uint64_t bytes = 0; ///< of weights
    std::map<std::string, std::uint64_t> resident; ///< bytes by component, those that are checked
    std::map<std::string, std::uint64_t> streamed; ///< the same for one plain token
    std::map<std::string, std::uint64_t> patterns; ///< bytes of all tensors whose pattern begins so
    std::vector<std::string> notes; ///< exactly these, sorted
};

std::vector<FormatKind> quantizedKinds();
std::vector<FormatKind> expertKinds();
std::vector<FormatKind> ggufKinds();
std::vector<FormatKind> otherKinds();

} // namespace weir::test

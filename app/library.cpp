// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/library.h"

#include "models/base/datadir.h"

#include <algorithm>
#include <utility>

namespace weir {

const Machine *Library::machine(std::string_view id) const
{
    const auto found = std::ranges::find(machines, id, &Machine::id);
    return found == machines.end() ? nullptr : &*found;
}

const Engine *Library::engine(std::string_view id) const
{
    const auto found = std::ranges::find(engines, id, &Engine::id);
    return found == engines.end() ? nullptr : &*found;
}

Library Library::read()
{
    Library library;
    library.catalog = std::make_shared<const Catalog>();
    const Result<std::filesystem::path> folder = dataDirectory();
    if (!folder) {
        library.problems.push_back(folder.error());
        return library;
    }
    const auto take = [&library](auto &&result, auto &target) {
        if (result)
            target = std::move(*result);
        else
            library.problems.push_back(result.error());
    };
    take(readMachines(*folder / "machines.json"), library.machines);
    take(readEngines(*folder / "engines.json"), library.engines);
    take(readMeasurements(*folder / "measurements.csv"), library.measurements);
    Catalog catalog;
    take(Catalog::open(*folder / "catalog"), catalog);
    library.catalog = std::make_shared<const Catalog>(std::move(catalog));
    return library;
}

} // namespace weir

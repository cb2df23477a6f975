// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/machine/engine.h"
#include "models/machine/machine.h"
#include "models/measure/measurement.h"
#include "models/sources/catalog.h"

#include <memory>
#include <string_view>
#include <vector>

namespace weir {

/// What ships beside the program, read once at the start. What cannot be read is left empty and named in
/// `problems`, so that the window can still open and say so.
struct Library
{
    std::vector<Machine> machines;
    std::vector<Engine> engines;
    std::shared_ptr<const Catalog> catalog; ///< never null; may be empty
    std::vector<Measurement> measurements;
    std::vector<Error> problems;

    const Machine *machine(std::string_view id) const;
    const Engine *engine(std::string_view id) const;

    /// From dataDirectory().
    static Library read();
};

} // namespace weir

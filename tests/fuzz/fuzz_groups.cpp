// SPDX-License-Identifier: GPL-3.0-or-later
//
// A file of tensor groups: shipped in the catalog, and kept in the cache of what was read from the Hub.
#include "models/sources/catalogformat.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/fuzztarget.h"

using namespace weir;

WEIR_FUZZ_TARGET(groups)
{
    Result<Checkpoint> checkpoint = readGroupFile(input, "groups");
    if (!checkpoint)
        return;
    const std::string text = writeGroupFile(*checkpoint);
    const Result<Checkpoint> again = readGroupFile(text, "again");
    fuzz::require(again.has_value(), "what is written can be read");
    fuzz::require(writeGroupFile(*again) == text, "what is read again is the same");
    fuzz::exercise(*std::move(checkpoint));
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// A stranger's pattern, and the name that it is tried on.
#include "models/base/boundedpattern.h"
#include "models/checkpoint/quantrecipe.h"
#include "tests/fuzz/fuzztarget.h"

using namespace weir;

WEIR_FUZZ_TARGET(pattern)
{
    const std::string_view pattern = fuzz::takePart(input);
    MatchBudget budget{2'000'000};
    static_cast<void>(matchesGlob(pattern, input, budget));
    if (const auto regex = BoundedRegex::compile(pattern)) {
        MatchBudget steps{2'000'000};
        static_cast<void>(regex->matchesStart(input, steps));
    }
    if (const Result<QuantRecipe> recipe = parseQuantRecipe(pattern)) {
        const std::string label = recipeLabel(*recipe, "as it is");
        fuzz::require(!label.empty(), "a recipe has a label");
    }
}

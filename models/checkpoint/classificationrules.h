// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/component.h"

#include <span>
#include <string_view>

namespace weir {

/// Where in the model a rule holds.
enum class Where : std::uint8_t {
    Anywhere,
    StateLayer, ///< only in layers that hold a recurrence (one with `A_log` or `ssm_*`)
};

/// One line of the table: which tensors are what. See classificationrules.cpp for the syntax.
struct ClassificationRule
{
    std::string_view pattern;
    Component component;
    Role role = Role::Unspecified;
    Where where = Where::Anywhere;
};

/// A set of rules that belong together ("gated DeltaNet", "experts one by one").
using RuleBlock = std::span<const ClassificationRule>;

/// Architectures that are named alike: the class names of config.json (or GGUF architectures) and the
/// blocks that classify them, in order; the first rule that matches wins.
struct ArchitectureFamily
{
    std::string_view id;
    std::span<const std::string_view> architectures;
    std::span<const RuleBlock> blocks;
};

/// All families of safetensors checkpoints, and those of GGUF files.
std::span<const ArchitectureFamily> safetensorsFamilies();
std::span<const ArchitectureFamily> ggufFamilies();

/// Rules for an architecture that no family knows: every block there is, in a fixed order.
const ArchitectureFamily &genericSafetensorsFamily();
const ArchitectureFamily &genericGgufFamily();

/// True if `name` (segments separated by dots, numbers as `N`) matches a rule's pattern as a whole.
bool matchesPattern(std::string_view pattern, std::string_view name);

} // namespace weir

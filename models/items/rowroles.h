// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qt>

namespace weir {

/// What the lists of checkpoints beside the catalog say of a row, for one delegate to paint.
enum RowRole : int {
    ReferenceRole = Qt::UserRole + 1, ///< QString: what opens, "org/name:Q4_K_M", "ollama:qwen3:30b", a path
    SubtitleRole, ///< QString: "Safetensors · 61.1 GB"
    DetailRole, ///< QString: a third line of rows of the first level
    FitRole, ///< int of Fit
    BadgeRole, ///< QString: the word of the badge, empty while unknown
    SpeedTextRole, ///< QString: "27 tok/s", empty where there is none
    GatedRole, ///< bool: terms have to be accepted first, or it is private
    FoldableRole, ///< bool: has rows below it, or may turn out to have some
    SmallestBytesRole, ///< quint64 of the smallest choice; invalid while unknown
    PendingRole, ///< bool: is being read
    ProblemRole, ///< bool: does not open as it is; the subtitle says why
};

} // namespace weir

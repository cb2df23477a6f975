// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/error.h"
#include "models/base/message.h"
#include "models/checkpoint/component.h"

#include <QString>

namespace weir {

/// How widgets get their words: implemented in app/ on the catalogue of words, so that `widgets/` and
/// `models/` hold no sentences about models. Owned by the application, outlives every widget.
class Wording
{
public:
    virtual ~Wording() = default;
    virtual QString title(const Message &message) const = 0;
    virtual QString detail(const Message &message) const = 0;
    virtual QString sentence(const Error &error) const = 0;
    virtual QString componentLabel(Component component) const = 0;
};

} // namespace weir

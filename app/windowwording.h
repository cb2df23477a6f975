// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "widgets/wording.h"

namespace weir {

/// The window's words, out of the same catalogue as those of the command line, with bytes in the unit that
/// the window shows.
class WindowWording : public Wording
{
public:
    void setUnit(ByteUnit unit) { m_unit = unit; }

    QString title(const Message &message) const override;
    QString detail(const Message &message) const override;
    QString sentence(const Error &error) const override;
    QString componentLabel(Component component) const override;
    /// One line of what is known of something that is no decoder language model; empty for other errors.
    QString facts(const Error &error) const;

private:
    ByteUnit m_unit = ByteUnit::Gigabytes;
};

} // namespace weir

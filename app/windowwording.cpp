// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/windowwording.h"

#include "app/words.h"
#include "models/items/text.h"

namespace weir {

QString WindowWording::title(const Message &message) const { return toText(wordTitle(message, m_unit)); }

QString WindowWording::detail(const Message &message) const { return toText(wordDetail(message, m_unit)); }

QString WindowWording::sentence(const Error &error) const { return toText(wordError(error, m_unit)); }

QString WindowWording::componentLabel(Component component) const
{
    return toText(weir::componentLabel(component));
}

} // namespace weir

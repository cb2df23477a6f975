// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/windowwording.h"

#include "app/words.h"
#include "models/items/text.h"

#include <QStringList>

namespace weir {

QString WindowWording::title(const Message &message) const { return toText(wordTitle(message, m_unit)); }

QString WindowWording::detail(const Message &message) const { return toText(wordDetail(message, m_unit)); }

QString WindowWording::sentence(const Error &error) const { return toText(wordError(error, m_unit)); }

QString WindowWording::componentLabel(Component component) const
{
    return toText(weir::componentLabel(component));
}

QString WindowWording::facts(const Error &error) const
{
    QStringList parts;
    for (const auto &[label, value] : wordFacts(error, m_unit))
        parts << QStringLiteral("%1: %2").arg(toText(label), toText(value));
    return parts.join(QStringLiteral(" · "));
}

} // namespace weir

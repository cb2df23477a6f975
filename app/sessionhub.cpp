// SPDX-License-Identifier: GPL-3.0-or-later
// What the session does about checkpoints of the Hub.
#include "app/loader.h"
#include "app/session.h"
#include "models/items/text.h"

namespace weir {

void Session::openFromHub(const HubReference &reference)
{
    m_wanted = toText(hubReferenceText(reference));
    m_loader.openFromHub(reference);
}

void Session::reopen(const QString &argument)
{
    // The catalog's own rows are never among them, its repositories may be.
    const std::string text = argument.toStdString();
    const std::optional<HubReference> reference =
        isPathArgument(text) ? std::nullopt : parseHubReference(text);
    if (reference)
        openFromHub(*reference);
    else
        open(argument);
}

void Session::onRestored(const QString &reference, const CheckpointPtr &checkpoint)
{
    if (m_checkpoints.contains(reference))
        return; // read anew meanwhile
    take(reference, checkpoint);
    m_catalogModel.addOpened(reference, *checkpoint);
    if (m_wanted == reference) {
        m_wanted.clear();
        pushSelection(reference);
    } else if (m_pinned.contains(reference)) {
        recompute();
    }
    restartBadges();
}

std::optional<HubReference> Session::selectedHubReference() const
{
    const CheckpointPtr checkpoint = selectedCheckpoint();
    if (!checkpoint || checkpoint->source != Source::Hub)
        return std::nullopt;
    return parseHubReference(m_selected.toStdString());
}

} // namespace weir

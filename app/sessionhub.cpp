// SPDX-License-Identifier: GPL-3.0-or-later
// What the session does about checkpoints of the Hub.
#include "app/loader.h"
#include "app/session.h"
#include "models/items/text.h"
#include "models/sources/catalog.h"

namespace weir {

std::vector<std::size_t> Session::rowsOf(const QString &id, const Checkpoint &checkpoint) const
{
    if (checkpoint.source != Source::Hub)
        return m_rowsOf.value(id);
    // Whatever revision or file was named, a measurement is of a repository and a quantization.
    std::vector<std::size_t> rows;
    QStringList ids{toText(checkpoint.repository)};
    const CatalogEntry *entry = m_library.catalog->find(checkpoint.repository);
    if (entry != nullptr && entry->quantization == checkpoint.quantization)
        ids << toText(entry->id);
    for (const QString &each : std::as_const(ids)) {
        for (const std::size_t index : m_rowsOf.value(each)) {
            const std::string &quantization = m_library.measurements[index].quantization;
            if (quantization.empty() || quantization == checkpoint.quantization)
                rows.push_back(index);
        }
    }
    return rows;
}

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
        isPathArgument(text) || text.starts_with("ollama:") ? std::nullopt : parseHubReference(text);
    if (reference)
        openFromHub(*reference);
    else
        open(argument);
}

void Session::onRestored(const QString &reference, const CheckpointPtr &checkpoint)
{
    if (m_checkpoints.contains(reference))
        return; // read anew meanwhile
    m_catalogModel.addOpened(reference, *checkpoint);
    take(reference, checkpoint);
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

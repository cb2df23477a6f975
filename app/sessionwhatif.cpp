// SPDX-License-Identifier: GPL-3.0-or-later
// What the session does about imagined quantizations, and about the siblings of a model.
#include "app/loader.h"
#include "app/session.h"
#include "app/whatif.h"
#include "models/items/text.h"

#include <algorithm>

namespace weir {

QString Session::selectedBaseId() const { return baseId(m_selected); }

CheckpointPtr Session::selectedBase() const { return m_checkpoints.value(selectedBaseId()); }

QString Session::selectedRecipe() const
{
    const std::optional<WhatIf> whatIf = whatIfOf(m_selected);
    return whatIf ? whatIf->recipe : QString();
}

Result<void> Session::imagine(const QString &recipe, bool pin)
{
    const QString base = selectedBaseId();
    const QString id = whatIfId(base, recipe);
    if (!m_checkpoints.contains(id)) {
        if (const Result<void> derived = derive(id); !derived)
            return derived;
        restartBadges();
    }
    if (!pin)
        select(id);
    else if (!isPinned(id))
        togglePin(id);
    return {};
}

Result<void> Session::derive(const QString &id)
{
    const std::optional<WhatIf> whatIf = whatIfOf(id);
    const CheckpointPtr base = whatIf ? m_checkpoints.value(whatIf->base) : nullptr;
    if (!base)
        return {};
    const Result<CheckpointPtr> derived = deriveWhatIf(whatIf->base, *base, whatIf->recipe);
    if (!derived)
        return std::unexpected(derived.error());
    take(id, *derived);
    m_catalogModel.addImagined(id, whatIf->base, **derived);
    return {};
}

void Session::deriveWanted(const QString &base)
{
    QStringList ids = m_pinned;
    ids << m_wanted << m_selected;
    ids.removeDuplicates();
    bool shown = false;
    for (const QString &id : std::as_const(ids)) {
        const std::optional<WhatIf> whatIf = whatIfOf(id);
        if (!whatIf || whatIf->base != base)
            continue;
        // What was imagined last time need not be possible with what is there now.
        if (const Result<void> derived = derive(id); !derived) {
            if (m_wanted == id)
                m_wanted = base;
            emit problemFound(derived.error());
            continue;
        }
        if (m_wanted == id) {
            m_wanted.clear();
            pushSelection(id);
        } else {
            shown = true;
        }
    }
    if (shown)
        recompute();
}

std::vector<ComparisonModel> Session::comparison() const
{
    QStringList shown = m_pinned;
    if (!m_selected.isEmpty() && !shown.contains(m_selected))
        shown.prepend(m_selected);
    std::vector<ComparisonModel> models;
    for (const QString &id : std::as_const(shown)) {
        const QString family = m_catalogModel.indexOf(id).data(CatalogModel::FamilyRole).toString();
        if (family.isEmpty() || std::ranges::find(models, family, &ComparisonModel::family) != models.end())
            continue;
        models.push_back({family, {}});
    }
    for (int row = 0; row < m_catalogModel.rowCount(); ++row) {
        const QModelIndex index = m_catalogModel.index(row);
        const auto model = std::ranges::find(models, index.data(CatalogModel::FamilyRole).toString(),
                                             &ComparisonModel::family);
        const QString id = index.data(CatalogModel::IdRole).toString();
        const std::shared_ptr<const Assessment> assessment =
            model == models.end() ? nullptr : assessNow(m_checkpoints.value(id));
        if (!assessment)
            continue; // of another model, or still being read
        ComparisonRow each;
        each.id = id;
        each.name = index.data().toString();
        each.quantization = index.data(CatalogModel::QuantizationRole).toString();
        each.engineName = toText(assessment->engineName);
        each.derived = assessment->checkpoint->provenance != Provenance::Headers;
        each.shown = shown.contains(id);
        each.weightBytes = assessment->residentBytes;
        each.streamedBytes = assessment->streamedBytes;
        each.neededBytes = assessment->memory.totalBytes;
        each.fit = fitOf(*assessment);
        if (assessment->decode && (each.fit == Fit::Fits || each.fit == Fit::Tight))
            each.tokensPerSecond = assessment->decode->tokensPerSecond;
        model->rows.push_back(std::move(each));
    }
    // What is on screen stands for its siblings.
    for (ComparisonModel &model : models) {
        std::ranges::stable_sort(model.rows, [&shown](const ComparisonRow &a, const ComparisonRow &b) {
            const auto rank = [&shown](const ComparisonRow &row) {
                const qsizetype place = shown.indexOf(row.id);
                return place < 0 ? shown.size() : place;
            };
            return rank(a) < rank(b);
        });
    }
    return models;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/items/catalogmodel.h"
#include "models/items/rowroles.h"
#include "models/items/twolevelmodel.h"
#include "models/sources/hub/hubtypes.h"

#include <QHash>
#include <QString>

#include <optional>
#include <vector>

namespace weir {

/// What a search of the Hub found: hits, and under each hit of several quantizations its choices once its
/// listing is known. Badges and speeds come later (setResult), and stay unknown with a reason where they
/// cannot be had. Two levels; GUI thread.
class HubModel : public TwoLevelModel
{
    Q_OBJECT

public:
    using enum RowRole;

    explicit HubModel(QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    bool hasChildren(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QHash<int, QByteArray> roleNames() const override;

    void clear();
    /// Adds the hits of a page behind those that are there; what is there already is not added again.
    void append(const std::vector<HubHit> &hits);
    int hitCount() const { return static_cast<int>(m_hits.size()); }

    /// Sets the choices of a hit (of its default revision). One alone makes no rows below the hit.
    void setRepository(const QString &reference, const HubRepository &repository);
    /// The badge of a hit or of a choice.
    void setResult(const QString &reference, const CatalogResult &result);
    void setPending(const QString &reference, bool pending);
    void setUnit(ByteUnit unit);

    /// Of a hit or a choice.
    std::optional<HubReference> reference(const QModelIndex &index) const;
    const HubHit *hit(const QModelIndex &index) const;
    const HubChoice *choice(const QModelIndex &index) const;
    bool isListed(const QModelIndex &index) const;
    int choiceCount(const QModelIndex &index) const;
    QModelIndex indexOf(const QString &reference) const;

    /// "1.2M", "340k", "7".
    static QString shortCount(quint64 count);

private:
    struct Choice
    {
        HubChoice facts;
        CatalogResult result;
        bool pending = false;
    };
    struct Hit
    {
        HubHit facts;
        bool listed = false;
        std::vector<Choice> choices;
        CatalogResult result;
        bool pending = false;
    };

    const Hit *hitAt(const QModelIndex &index) const;
    const Choice *choiceAt(const QModelIndex &index) const;
    CatalogResult *resultAt(const QModelIndex &index);
    QVariant hitData(const Hit &hit, int role) const;
    QVariant choiceData(const Hit &hit, const Choice &choice, int role) const;
    QString subtitle(const Hit &hit) const;
    QString subtitle(const Choice &choice) const;
    QString detail(const Hit &hit) const;
    QString toolTip(const Hit &hit) const;
    QStringList resultLines(const CatalogResult &result) const;

    std::vector<Hit> m_hits;
    QHash<QString, int> m_rows; ///< repository to row
    ByteUnit m_unit = ByteUnit::Gigabytes;
};

/// "Safetensors", "GGUF", "MLX"; empty for unknown.
QString formatText(Format format);

} // namespace weir

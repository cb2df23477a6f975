// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/items/fit.h"

#include <QAbstractListModel>
#include <QHash>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace weir {

class Catalog;

/// What a list shows of an assessment: the badge, and a speed that stands for `contextTokens`.
struct CatalogResult
{
    Fit fit = Fit::Unknown;
    QString engineName;
    QString why;                           ///< a sentence for the tooltip; may be empty
    std::optional<double> tokensPerSecond; ///< empty where it does not fit or is unknown
    quint64 contextTokens = 0;
};

/// The checkpoints that can be chosen: those opened here first, then the catalog in its own order.
/// Rows know their badge once somebody has assessed them (setResults). GUI thread.
class CatalogModel : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role {
        IdRole = Qt::UserRole + 1, ///< QString: catalog id, or the id of an opened checkpoint
        SubtitleRole,              ///< QString: "int4 AutoRound · 72.4 GB · vLLM"
        FitRole,                   ///< int of Fit
        BadgeRole,                 ///< QString: the word of the badge
        SpeedTextRole,             ///< QString: "27 tok/s", empty where there is none
        PinnedRole,                ///< bool
        OpenedRole,                ///< bool: "Opened here"
        SearchRole,                ///< QString: all that the filter looks at
        CompletionRole,            ///< QString: what a completer matches
        OrderRole,                 ///< int: opened first, then as in the catalog
        SizeSortRole,              ///< quint64 bytes
        SpeedSortRole,             ///< double tokens per second, -1 where unknown
        FamilyRole,                ///< QString: the same for all quantizations of one model
        QuantizationRole,          ///< QString: "int4 AutoRound"
        DetailRole,                ///< QString: the subtitle without the quantization
    };

    explicit CatalogModel(QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Takes over the entries (copied); keeps the opened rows.
    void setCatalog(const Catalog &catalog);
    /// Adds a row on top for a checkpoint that is not of the catalog, or replaces the one of its id.
    void addOpened(const Checkpoint &checkpoint);
    /// The same under an id of its own: two quantizations of a repository of the Hub share that of theirs.
    void addOpened(const QString &id, const Checkpoint &checkpoint);
    void setPinned(const QStringList &ids);
    /// Sets the badges of the rows named; the others keep theirs.
    void setResults(const QHash<QString, CatalogResult> &results);
    void setUnit(ByteUnit unit);

    QModelIndex indexOf(const QString &id) const;
    int catalogCount() const { return m_catalogCount; }
    int openedCount() const { return static_cast<int>(m_items.size()) - m_catalogCount; }

private:
    struct Item
    {
        QString id;
        QString name;
        QString family;
        QString quantization;
        QString search;
        QString note;
        quint64 weightBytes = 0;
        bool opened = false;
        bool pinned = false;
        CatalogResult result;
    };

    QString subtitle(const Item &item) const;
    QString detail(const Item &item) const;
    QString toolTip(const Item &item) const;
    QString accessibleText(const Item &item) const;

    std::vector<Item> m_items;
    QStringList m_pinned;
    int m_catalogCount = 0;
    ByteUnit m_unit = ByteUnit::Gigabytes;
};

} // namespace weir

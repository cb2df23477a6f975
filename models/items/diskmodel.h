// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/items/catalogmodel.h"
#include "models/items/rowroles.h"
#include "models/items/twolevelmodel.h"
#include "models/sources/disk/disk.h"

#include <QHash>
#include <QSortFilterProxyModel>
#include <QString>

#include <vector>

namespace weir {

/// What lies on this disk: places, and in each its checkpoints. Badges and speeds come later (setResult).
/// Two levels; GUI thread.
class DiskModel : public TwoLevelModel
{
    Q_OBJECT

public:
    using enum RowRole;
    enum Role {
        PathRole = ProblemRole + 1, ///< QString: the folder of a place, or what a checkpoint is opened by
        NameRole,                   ///< QString: all of a checkpoint's name
        BytesRole,                  ///< quint64: of a checkpoint, or of all in a place
        ModifiedRole,               ///< qint64: seconds since 1970 of a checkpoint
        AddedRole,                  ///< bool: a place that the user added
    };

    explicit DiskModel(QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Takes over a listing of these places; `added` are those of the user's own. Results known before are kept
    /// for what did not change. Returns false where nothing changed (and the model did not either).
    bool setListing(const std::vector<DiskPlace> &places, const QStringList &added,
                    const DiskListing &listing);
    void setResult(const QString &reference, const CatalogResult &result);
    void setPending(const QString &reference, bool pending);
    void setUnit(ByteUnit unit);
    /// What is shown as "~".
    void setHome(const QString &home) { m_home = home; }

    QModelIndex indexOf(const QString &reference) const;
    const DiskCheckpoint *checkpoint(const QModelIndex &index) const;
    const DiskPlace *place(const QModelIndex &index) const;
    int checkpointCount() const;

private:
    struct Row
    {
        DiskCheckpoint facts;
        CatalogResult result;
        bool pending = false;
    };
    struct Place
    {
        DiskPlace facts;
        bool added = false;
        std::vector<Row> rows;
    };

    const Place *placeAt(const QModelIndex &index) const;
    const Row *rowAt(const QModelIndex &index) const;
    Row *rowOf(const QString &reference, QModelIndex &index);
    QVariant placeData(const Place &place, int role) const;
    QVariant rowData(const Row &row, int role) const;
    QString shortPath(const std::filesystem::path &path) const;
    QString subtitle(const Row &row) const;
    QString toolTip(const Row &row) const;

    std::vector<Place> m_places;
    QHash<QString, std::pair<int, int>> m_rows; ///< argument to place and row
    ByteUnit m_unit = ByteUnit::Gigabytes;
    QString m_home;
};

/// "Hugging Face cache", "Ollama", "LM Studio", "llama.cpp cache"; empty for a folder.
QString diskPlaceText(DiskPlaceKind kind);

/// Rows of a DiskModel whose name, quantization or place has all the words, in a chosen order within their place;
/// a place is shown as long as one of its rows is, or nothing is looked for.
class DiskFilter : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    enum class Order : std::uint8_t { Name, Largest, Newest };

    explicit DiskFilter(QObject *parent = nullptr);

    void setText(const QString &text);
    const QString &text() const { return m_text; }
    void setOrder(Order order);
    Order order() const { return m_order; }

protected:
    bool filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

private:
    QString m_text;
    QStringList m_words;
    Order m_order = Order::Name;
};

} // namespace weir

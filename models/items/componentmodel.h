// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/decode/assessment.h"

#include <QAbstractTableModel>
#include <QString>

#include <functional>
#include <memory>

namespace weir {

/// The components of one assessment and, as the last row, their total. Read only. GUI thread.
class ComponentModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Name, Resident, Streamed, Share, Why, StoredAs, ColumnCount };
    enum Role {
        SortRole = Qt::UserRole + 1, ///< numbers as numbers: bytes, fractions; text elsewhere
        TotalRole,                   ///< bool: the row is the total
        ExactRole,                   ///< QString: what copying a cell gives: bytes in full, text elsewhere
        ComponentRole,               ///< int of Component; -1 for the total
    };
    /// Words and colours come from outside: this layer holds neither.
    struct Words
    {
        std::function<QString(Component)> label;
        std::function<QString(const Message &)> reason;
        std::function<QVariant(Component)> decoration; ///< a colour or a picture; may be empty
    };

    explicit ComponentModel(Words words, QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    /// Shows an assessment, nullptr for none. Rows stay where they are, and with them selection and
    /// scroll position, as long as the components are the same.
    void setAssessment(std::shared_ptr<const Assessment> assessment, ByteUnit unit);
    /// The decorations are others now (another theme).
    void refreshDecorations();

private:
    QString text(const ComponentAssessment &component, int column) const;
    QString totalText(int column) const;
    QString toolTip(const ComponentAssessment &component, int column) const;
    QString storedAs(const ComponentAssessment &component) const;
    double shareOf(quint64 streamedBytes) const;

    Words m_words;
    std::shared_ptr<const Assessment> m_assessment;
    ByteUnit m_unit = ByteUnit::Gigabytes;
};

} // namespace weir

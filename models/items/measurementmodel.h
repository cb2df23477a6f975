// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/measure/measurement.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace weir {

/// A measurement beside what the program says for the row's own machine, engine, context and streams.
struct MeasurementRow
{
    Measurement measurement;
    QString machineName;
    QString engineName;
    std::optional<double> predicted; ///< tokens per second of one stream; empty where it cannot be said
};

/// Measurements of one checkpoint, read only. GUI thread.
class MeasurementModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Machine, Engine, Context, Requests, Measured, Predicted, Difference, Source, ColumnCount };
    /// Sorting goes by this: numbers as numbers, unknown ones below all others.
    static constexpr int SortRole = Qt::UserRole + 1;

    explicit MeasurementModel(QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    void setRows(std::vector<MeasurementRow> rows);

private:
    QString text(const MeasurementRow &row, int column) const;
    QVariant sortValue(const MeasurementRow &row, int column) const;
    QString toolTip(const MeasurementRow &row, int column) const;

    std::vector<MeasurementRow> m_rows;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/measurementmodel.h"

#include "models/items/text.h"

#include <QLocale>

#include <cmath>

namespace weir {

namespace {

/// One decimal for everything that people published with one.
QString measuredText(double tokensPerSecond)
{
    return QLocale::c().toString(tokensPerSecond, 'f', tokensPerSecond < 1.0 ? 2 : 1);
}

std::optional<double> difference(const MeasurementRow &row)
{
    const std::optional<double> measured = row.measurement.decodeTokensPerSecond;
    if (!row.predicted || !measured || *measured <= 0.0)
        return std::nullopt;
    return *row.predicted / *measured - 1.0;
}

QVariant numberOr(const std::optional<double> &value) { return value ? *value : -HUGE_VAL; }

bool hasDrafts(const Measurement &measurement)
{
    return !measurement.draftMethod.empty() && measurement.draftMethod != "none";
}

} // namespace

MeasurementModel::MeasurementModel(QObject *parent)
    : QAbstractTableModel(parent)
{}

int MeasurementModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int MeasurementModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant MeasurementModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const MeasurementRow &row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole: return text(row, index.column());
    case Qt::ToolTipRole: return toolTip(row, index.column());
    case SortRole: return sortValue(row, index.column());
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(index.column() >= Context && index.column() <= Difference
                                       ? Qt::AlignRight | Qt::AlignVCenter
                                       : Qt::AlignLeft | Qt::AlignVCenter);
    default: return {};
    }
}

QVariant MeasurementModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(section >= Context && section <= Difference
                                       ? Qt::AlignRight | Qt::AlignVCenter
                                       : Qt::AlignLeft | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole) {
        switch (section) {
        case Context: return tr("Mean tokens of context while the answer was written");
        case Requests:
            return tr("Requests answered at the same time, and the drafts of speculative decoding");
        case Measured: return tr("Tokens per second of one stream, as published");
        case Predicted: return tr("Tokens per second for the row's own machine, engine, context and streams");
        case Difference: return tr("Predicted against measured; above zero, the prediction is too fast");
        default: return {};
        }
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Machine: return tr("Machine");
    case Engine: return tr("Engine");
    case Context: return tr("Context");
    case Requests: return tr("Requests");
    case Measured: return tr("Measured tok/s");
    case Predicted: return tr("Predicted");
    case Difference: return tr("Off by");
    case Source: return tr("Source");
    default: return {};
    }
}

void MeasurementModel::setRows(std::vector<MeasurementRow> rows)
{
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

QString MeasurementModel::text(const MeasurementRow &row, int column) const
{
    const Measurement &measurement = row.measurement;
    switch (column) {
    case Machine:
        return measurement.nodes > 1 ? tr("%1 × %2").arg(measurement.nodes).arg(row.machineName)
                                     : row.machineName;
    case Engine:
        return measurement.engineVersion.empty()
                   ? row.engineName
                   : QString(row.engineName % QLatin1Char(' ') % toText(measurement.engineVersion));
    case Context: {
        const std::optional<std::uint64_t> depth = measurement.depthTokens();
        return depth ? toText(formatCount(*depth)) : tr("not stated");
    }
    case Requests: {
        const QString requests =
            measurement.concurrency ? QString::number(*measurement.concurrency) : tr("not stated");
        if (!hasDrafts(measurement))
            return requests;
        const QString method = toText(printable(measurement.draftMethod)).toUpper();
        return measurement.draftTokens ? tr("%1, %2-%3").arg(requests, method).arg(*measurement.draftTokens)
                                       : tr("%1, %2").arg(requests, method);
    }
    case Measured:
        return measurement.decodeTokensPerSecond ? measuredText(*measurement.decodeTokensPerSecond)
                                                 : QString();
    case Predicted: return row.predicted ? measuredText(*row.predicted) : QString();
    case Difference: {
        const std::optional<double> relative = difference(row);
        if (!relative)
            return {};
        return tr("%1 %").arg(QString(*relative < 0 ? QStringLiteral("−") : QStringLiteral("+"))
                              % QLocale::c().toString(std::abs(*relative) * 100.0, 'f', 1));
    }
    case Source:
        return measurement.isClaim ? tr("%1 (claim)").arg(toText(measurement.source))
                                   : toText(measurement.source);
    default: return {};
    }
}

QVariant MeasurementModel::sortValue(const MeasurementRow &row, int column) const
{
    switch (column) {
    case Context: {
        const std::optional<std::uint64_t> depth = row.measurement.depthTokens();
        return depth ? static_cast<double>(*depth) : -1.0;
    }
    case Requests:
        return row.measurement.concurrency ? static_cast<double>(*row.measurement.concurrency) : -1.0;
    case Measured: return numberOr(row.measurement.decodeTokensPerSecond);
    case Predicted: return numberOr(row.predicted);
    case Difference: return numberOr(difference(row));
    default: return text(row, column);
    }
}

QString MeasurementModel::toolTip(const MeasurementRow &row, int column) const
{
    const Measurement &measurement = row.measurement;
    if (column == Predicted && !row.predicted) {
        if (hasDrafts(measurement))
            return tr("Not predicted: this row was measured with speculative decoding, where one step is "
                      "more than one token.");
        if (measurement.nodes > 1)
            return tr("Not predicted: this row was measured on more than one machine.");
        if (!measurement.depthTokens())
            return tr("Not predicted: the row does not say at which context it was measured.");
        return tr("Not predicted: the machine or the engine of this row is not known here.");
    }
    QStringList lines;
    lines << tr("Source: %1").arg(toText(measurement.source));
    if (!measurement.date.empty())
        lines << tr("Date: %1").arg(toText(measurement.date));
    if (!measurement.flags.empty())
        lines << tr("Flags: %1").arg(toText(measurement.flags));
    if (!measurement.note.empty())
        lines << toText(measurement.note);
    return plainToolTip(lines.join(QLatin1Char('\n')));
}

} // namespace weir

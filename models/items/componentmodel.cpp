// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/componentmodel.h"

#include "models/items/text.h"

#include <QColor>
#include <QFont>
#include <QStringList>

#include <algorithm>

namespace weir {

namespace {

/// Whether two assessments fill the table alike, so that nothing needs to be told or drawn.
bool sameNumbers(const Assessment &first, const Assessment &second)
{
    return first.checkpoint == second.checkpoint
           && std::ranges::equal(first.components, second.components,
                                 [](const ComponentAssessment &a, const ComponentAssessment &b) {
                                     return a.residentBytes == b.residentBytes
                                            && a.streamedBytes == b.streamedBytes
                                            && a.reason.id == b.reason.id
                                            && a.reason.arguments == b.reason.arguments;
                                 });
}

bool sameComponents(const Assessment &first, const Assessment &second)
{
    return std::ranges::equal(first.components, second.components, {}, &ComponentAssessment::component,
                              &ComponentAssessment::component);
}

/// Storage dtypes, the heaviest first.
std::vector<std::pair<std::string, std::uint64_t>> byWeight(const ComponentAssessment &component)
{
    std::vector<std::pair<std::string, std::uint64_t>> dtypes(component.bytesByDtype.begin(),
                                                              component.bytesByDtype.end());
    std::ranges::stable_sort(dtypes, std::ranges::greater{}, &std::pair<std::string, std::uint64_t>::second);
    return dtypes;
}

} // namespace

ComponentModel::ComponentModel(Words words, QObject *parent)
    : QAbstractTableModel(parent)
    , m_words(std::move(words))
{}

int ComponentModel::rowCount(const QModelIndex &parent) const
{
    if (parent.isValid() || !m_assessment || m_assessment->components.empty())
        return 0;
    return static_cast<int>(m_assessment->components.size()) + 1;
}

int ComponentModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(ColumnCount);
}

QVariant ComponentModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const bool isTotal = row == m_assessment->components.size();
    const int column = index.column();

    if (role == Qt::TextAlignmentRole) {
        const bool number = column == Resident || column == Streamed || column == Share;
        return QVariant::fromValue(
            Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }
    if (role == TotalRole)
        return isTotal;
    if (role == Qt::FontRole && isTotal) {
        QFont font;
        font.setWeight(QFont::DemiBold);
        return font;
    }
    if (isTotal) {
        switch (role) {
        case Qt::DisplayRole: return totalText(column);
        case Qt::ToolTipRole:
            if (column == Resident)
                return toText(formatBytesExactly(m_assessment->residentBytes));
            if (column == Streamed)
                return toText(formatBytesExactly(m_assessment->streamedBytes));
            return {};
        case SortRole:
        case ExactRole:
            if (column == Resident)
                return QVariant::fromValue<qulonglong>(m_assessment->residentBytes);
            if (column == Streamed)
                return QVariant::fromValue<qulonglong>(m_assessment->streamedBytes);
            return totalText(column);
        case ComponentRole: return -1;
        default: return {};
        }
    }

    const ComponentAssessment &component = m_assessment->components[row];
    switch (role) {
    case Qt::DisplayRole: return text(component, column);
    case Qt::ToolTipRole: return toolTip(component, column);
    case Qt::DecorationRole:
        return column == Name && m_words.decoration ? m_words.decoration(component.component) : QVariant();
    case SortRole:
    case ExactRole:
        if (column == Resident)
            return QVariant::fromValue<qulonglong>(component.residentBytes);
        if (column == Streamed)
            return QVariant::fromValue<qulonglong>(component.streamedBytes);
        if (column == Share && role == SortRole)
            return shareOf(component.streamedBytes);
        return text(component, column);
    case ComponentRole: return static_cast<int>(component.component);
    default: return {};
    }
}

QVariant ComponentModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole) {
        const bool number = section == Resident || section == Streamed || section == Share;
        return QVariant::fromValue(
            Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }
    if (role == Qt::ToolTipRole) {
        switch (section) {
        case Resident: return tr("What the files hold.");
        case Streamed: return tr("What one plain token reads, at an empty context.");
        case Share: return tr("Of all that one plain token reads.");
        default: return {};
        }
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name: return tr("Component");
    case Resident: return tr("Resident");
    case Streamed: return tr("Streamed per token");
    case Share: return tr("Share");
    case Why: return tr("Why");
    case StoredAs: return tr("Stored as");
    default: return {};
    }
}

void ComponentModel::setAssessment(std::shared_ptr<const Assessment> assessment, ByteUnit unit)
{
    const bool sameRows = m_assessment && assessment && sameComponents(*m_assessment, *assessment);
    if (!sameRows) {
        beginResetModel();
        m_assessment = std::move(assessment);
        m_unit = unit;
        endResetModel();
        return;
    }
    const bool told = m_unit == unit && sameNumbers(*m_assessment, *assessment);
    m_assessment = std::move(assessment);
    m_unit = unit;
    if (!told && rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

void ComponentModel::refreshDecorations()
{
    if (rowCount() > 0)
        emit dataChanged(index(0, Name), index(rowCount() - 1, Name), {Qt::DecorationRole});
}

QString ComponentModel::text(const ComponentAssessment &component, int column) const
{
    switch (column) {
    case Name: return m_words.label(component.component);
    case Resident: return toText(formatBytes(component.residentBytes, m_unit));
    case Streamed:
        return component.streamedBytes == 0 ? QStringLiteral("0")
                                            : toText(formatBytes(component.streamedBytes, m_unit));
    case Share:
        return component.streamedBytes == 0 ? QStringLiteral("–")
                                            : toText(formatPercent(shareOf(component.streamedBytes)));
    case Why: return m_words.reason(component.reason);
    case StoredAs: return storedAs(component);
    default: return {};
    }
}

QString ComponentModel::totalText(int column) const
{
    switch (column) {
    case Name: return tr("Total");
    case Resident: return toText(formatBytes(m_assessment->residentBytes, m_unit));
    case Streamed: return toText(formatBytes(m_assessment->streamedBytes, m_unit));
    case Share: return m_assessment->streamedBytes == 0 ? QStringLiteral("–") : toText(formatPercent(1.0));
    case Why:
        if (m_assessment->residentBytes == 0)
            return {};
        return tr("%1 of what it holds")
            .arg(toText(formatPercent(static_cast<double>(m_assessment->streamedBytes)
                                      / static_cast<double>(m_assessment->residentBytes))));
    default: return {};
    }
}

QString ComponentModel::toolTip(const ComponentAssessment &component, int column) const
{
    switch (column) {
    case Name: {
        QStringList lines;
        if (component.tensors > 0)
            lines << tr("%1 tensors").arg(toText(formatCount(component.tensors)));
        const ComponentSum *sum =
            m_assessment->checkpoint ? m_assessment->checkpoint->sum(component.component) : nullptr;
        if (sum != nullptr && !sum->parametersKnown)
            lines << tr("parameters unknown: the layout does not tell");
        else if (component.parameters > 0)
            lines << tr("%1 parameters").arg(toText(formatCount(component.parameters)));
        return lines.join(QLatin1Char('\n'));
    }
    case Resident: return toText(formatBytesExactly(component.residentBytes));
    case Streamed: return toText(formatBytesExactly(component.streamedBytes));
    case Share:
        return tr("%1 of %2 bytes")
            .arg(toText(formatCount(component.streamedBytes)),
                 toText(formatCount(m_assessment->streamedBytes)));
    case Why: return m_words.reason(component.reason);
    case StoredAs: {
        QStringList lines;
        for (const auto &[dtype, bytes] : byWeight(component))
            lines << tr("%1: %2").arg(toText(printable(dtype, 40)), toText(formatBytesExactly(bytes)));
        return lines.join(QLatin1Char('\n'));
    }
    default: return {};
    }
}

QString ComponentModel::storedAs(const ComponentAssessment &component) const
{
    const auto dtypes = byWeight(component);
    QStringList names;
    for (const auto &[dtype, bytes] : dtypes) {
        // What weighs less than a hundredth is in the tooltip.
        if (names.size() < 3 && (names.isEmpty() || bytes * 100 >= component.residentBytes))
            names << toText(printable(dtype, 40));
    }
    const QString stored = names.join(QLatin1String(" + "));
    // Packed integers with scales and zeros beside them are one quantized weight: name that, too.
    const Checkpoint *checkpoint = m_assessment->checkpoint.get();
    const bool packed = checkpoint != nullptr && !checkpoint->quantization.empty()
                        && std::ranges::any_of(checkpoint->groups, [&](const TensorGroup &group) {
                               return group.side && group.component == component.component;
                           });
    return packed ? tr("%1 (%2)").arg(quantizationText(printable(checkpoint->quantization, 40)), stored)
                  : stored;
}

double ComponentModel::shareOf(quint64 streamedBytes) const
{
    return m_assessment->streamedBytes == 0
               ? 0.0
               : static_cast<double>(streamedBytes) / static_cast<double>(m_assessment->streamedBytes);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/catalogmodel.h"

#include "models/items/text.h"
#include "models/sources/catalog.h"

#include <algorithm>
#include <iterator>

namespace weir {

CatalogModel::CatalogModel(QObject *parent)
    : QAbstractListModel(parent)
{}

int CatalogModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_items.size());
}

QVariant CatalogModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Item &item = m_items[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole: return item.name;
    case Qt::ToolTipRole: return toolTip(item);
    case Qt::AccessibleTextRole: return accessibleText(item);
    case IdRole: return item.id;
    case SubtitleRole: return subtitle(item);
    case FitRole: return static_cast<int>(item.result.fit);
    case BadgeRole: return fitText(item.result.fit);
    case SpeedTextRole:
        return item.result.tokensPerSecond ? QVariant(speedText(*item.result.tokensPerSecond)) : QVariant();
    case PinnedRole: return item.pinned;
    case OpenedRole: return item.opened;
    case SearchRole: return QString(item.search + QLatin1Char(' ') + item.result.engineName);
    case CompletionRole: return item.search;
    case OrderRole: return index.row();
    case SizeSortRole: return item.weightBytes;
    case SpeedSortRole: return item.result.tokensPerSecond.value_or(-1.0);
    case FamilyRole: return item.family;
    case QuantizationRole: return item.quantization;
    case DetailRole: return detail(item);
    default: return {};
    }
}

QHash<int, QByteArray> CatalogModel::roleNames() const
{
    QHash<int, QByteArray> names = QAbstractListModel::roleNames();
    names.insert(IdRole, "id");
    names.insert(SubtitleRole, "subtitle");
    names.insert(FitRole, "fit");
    names.insert(BadgeRole, "badge");
    names.insert(SpeedTextRole, "speed");
    names.insert(PinnedRole, "pinned");
    names.insert(OpenedRole, "opened");
    return names;
}

void CatalogModel::setCatalog(const Catalog &catalog)
{
    beginResetModel();
    std::erase_if(m_items, [](const Item &item) { return !item.opened; });
    for (const CatalogEntry &entry : catalog.entries()) {
        Item item;
        item.id = toText(entry.id);
        item.name = toText(entry.name);
        item.family = modelFamily(item.name);
        item.quantization = quantizationText(entry.quantization);
        item.weightBytes = entry.weightBytes;
        item.note = toText(entry.note);
        item.pinned = m_pinned.contains(item.id);
        item.search = QStringList{item.name,
                                  item.quantization,
                                  item.id,
                                  toText(entry.repository),
                                  toText(entry.ollama),
                                  toText(entry.architecture)}
                          .join(QLatin1Char(' '));
        m_items.push_back(std::move(item));
    }
    m_catalogCount = static_cast<int>(catalog.entries().size());
    endResetModel();
}

void CatalogModel::addOpened(const Checkpoint &checkpoint) { addOpened(toText(checkpoint.id), checkpoint); }

void CatalogModel::addOpened(const QString &id, const Checkpoint &checkpoint)
{
    Item item;
    item.id = id;
    item.name = checkpoint.name.empty() ? item.id : toText(checkpoint.name);
    item.family = modelFamily(item.name);
    item.quantization = quantizationText(checkpoint.quantization);
    item.weightBytes = checkpoint.weightBytes();
    item.opened = true;
    item.pinned = m_pinned.contains(item.id);
    item.search =
        QStringList{item.name, item.quantization, item.id, toText(checkpoint.spec.architecture)}.join(
            QLatin1Char(' '));

    const QModelIndex known = indexOf(item.id);
    if (known.isValid()) {
        Item &old = m_items[static_cast<std::size_t>(known.row())];
        if (!old.opened)
            return;
        old = std::move(item);
        emit dataChanged(known, known);
        return;
    }
    beginInsertRows({}, 0, 0);
    m_items.insert(m_items.begin(), std::move(item));
    endInsertRows();
}

void CatalogModel::setPinned(const QStringList &ids)
{
    m_pinned = ids;
    for (std::size_t row = 0; row < m_items.size(); ++row) {
        Item &item = m_items[row];
        const bool pinned = ids.contains(item.id);
        if (item.pinned == pinned)
            continue;
        item.pinned = pinned;
        const QModelIndex changed = index(static_cast<int>(row));
        emit dataChanged(changed, changed, {PinnedRole, Qt::AccessibleTextRole});
    }
}

void CatalogModel::setResults(const QHash<QString, CatalogResult> &results)
{
    int first = -1;
    int last = -1;
    for (std::size_t row = 0; row < m_items.size(); ++row) {
        const auto result = results.constFind(m_items[row].id);
        if (result == results.constEnd())
            continue;
        m_items[row].result = *result;
        last = static_cast<int>(row);
        if (first < 0)
            first = last;
    }
    if (first >= 0)
        emit dataChanged(index(first), index(last));
}

void CatalogModel::setUnit(ByteUnit unit)
{
    if (m_unit == unit)
        return;
    m_unit = unit;
    if (!m_items.empty())
        emit dataChanged(index(0), index(rowCount() - 1), {SubtitleRole, DetailRole, Qt::AccessibleTextRole});
}

QModelIndex CatalogModel::indexOf(const QString &id) const
{
    const auto found = std::ranges::find(m_items, id, &Item::id);
    return found == m_items.end() ? QModelIndex()
                                  : index(static_cast<int>(std::distance(m_items.begin(), found)));
}

QString CatalogModel::subtitle(const Item &item) const
{
    return item.quantization.isEmpty() ? detail(item)
                                       : QString(item.quantization + QStringLiteral(" · ") + detail(item));
}

QString CatalogModel::detail(const Item &item) const
{
    const QString size = shortBytes(item.weightBytes, m_unit);
    return item.result.engineName.isEmpty() ? size
                                            : QString(size + QStringLiteral(" · ") + item.result.engineName);
}

QString CatalogModel::toolTip(const Item &item) const
{
    QStringList lines{item.name, item.id};
    lines << tr("Weights: %1").arg(toText(formatBytesExactly(item.weightBytes)));
    if (item.result.tokensPerSecond)
        lines << tr("%1 at %2 tokens of context")
                     .arg(speedText(*item.result.tokensPerSecond),
                          toText(formatCount(item.result.contextTokens)));
    if (!item.result.why.isEmpty())
        lines << item.result.why;
    if (!item.note.isEmpty())
        lines << item.note;
    lines.removeDuplicates();
    return plainToolTip(lines.join(QLatin1Char('\n')));
}

QString CatalogModel::accessibleText(const Item &item) const
{
    QStringList parts{item.name, subtitle(item)};
    if (item.result.fit != Fit::Unknown)
        parts << fitText(item.result.fit);
    if (item.result.tokensPerSecond)
        parts << tr("%1 at %2 tokens of context")
                     .arg(speedText(*item.result.tokensPerSecond),
                          toText(formatCount(item.result.contextTokens)));
    if (item.pinned)
        parts << tr("pinned");
    if (item.opened)
        parts << tr("opened here");
    return parts.join(QStringLiteral(", "));
}

} // namespace weir

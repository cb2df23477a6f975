// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/diskmodel.h"

#include "models/items/hubmodel.h"
#include "models/items/text.h"

#include <QCoreApplication>
#include <QDateTime>

#include <algorithm>
#include <numeric>
#include <utility>

namespace weir {

namespace {

QString pathText(const std::filesystem::path &path) { return toText(printable(path.string(), 4096)); }

/// What stands in the first line: the last part of a name, the rest follows in the second.
QString shortName(const QString &name)
{
    const QString last = name.section(QLatin1Char('/'), -1);
    return last.isEmpty() ? name : last;
}

QString dayOf(std::int64_t seconds)
{
    return seconds > 0 ? QDateTime::fromSecsSinceEpoch(seconds).date().toString(Qt::ISODate) : QString();
}

} // namespace

QString diskPlaceText(DiskPlaceKind kind)
{
    const auto tr = [](const char *text) { return QCoreApplication::translate("weir::DiskModel", text); };
    switch (kind) {
    case DiskPlaceKind::HuggingFaceCache: return tr("Hugging Face cache");
    case DiskPlaceKind::Ollama: return tr("Ollama");
    case DiskPlaceKind::LmStudio: return tr("LM Studio");
    case DiskPlaceKind::LlamaCppCache: return tr("llama.cpp cache");
    case DiskPlaceKind::Folder: break;
    }
    return {};
}

DiskModel::DiskModel(QObject *parent)
    : TwoLevelModel(parent)
{}

int DiskModel::rowCount(const QModelIndex &parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_places.size());
    const Place *place = isUpper(parent) && parent.column() == 0 ? placeAt(parent) : nullptr;
    return place != nullptr ? static_cast<int>(place->rows.size()) : 0;
}

const DiskModel::Place *DiskModel::placeAt(const QModelIndex &index) const
{
    const int row = upperRow(index);
    return row >= 0 && static_cast<std::size_t>(row) < m_places.size()
               ? &m_places[static_cast<std::size_t>(row)]
               : nullptr;
}

const DiskModel::Row *DiskModel::rowAt(const QModelIndex &index) const
{
    const Place *place = placeAt(index);
    if (place == nullptr || isUpper(index) || static_cast<std::size_t>(index.row()) >= place->rows.size())
        return nullptr;
    return &place->rows[static_cast<std::size_t>(index.row())];
}

QVariant DiskModel::data(const QModelIndex &index, int role) const
{
    if (const Row *row = rowAt(index))
        return rowData(*row, role);
    const Place *place = placeAt(index);
    return place != nullptr && isUpper(index) ? placeData(*place, role) : QVariant();
}

QVariant DiskModel::placeData(const Place &place, int role) const
{
    const auto sum = [&place] {
        return std::accumulate(place.rows.begin(), place.rows.end(), quint64{0},
                               [](quint64 all, const Row &row) { return all + row.facts.bytes; });
    };
    const auto title = [this, &place] {
        const QString known = diskPlaceText(place.facts.kind);
        return known.isEmpty() ? shortName(shortPath(place.facts.path)) : known;
    };
    const auto contents = [this, &place, &sum] {
        const int count = static_cast<int>(place.rows.size());
        if (count == 0)
            return tr("no checkpoint");
        const QString counted = count == 1 ? tr("1 checkpoint") : tr("%n checkpoints", nullptr, count);
        return QString(counted + QStringLiteral(" · ") + shortBytes(sum(), m_unit));
    };
    switch (role) {
    case Qt::DisplayRole: return title();
    case SubtitleRole: return contents();
    case DetailRole: return shortPath(place.facts.path);
    case Qt::ToolTipRole: return plainToolTip(pathText(place.facts.path));
    case Qt::AccessibleTextRole:
        return QStringList{title(), contents(), shortPath(place.facts.path)}.join(QStringLiteral(", "));
    case PathRole: return pathText(place.facts.path);
    case BytesRole: return sum();
    case FoldableRole: return !place.rows.empty();
    case AddedRole: return place.added;
    case FitRole: return static_cast<int>(Fit::Unknown);
    default: return {};
    }
}

QVariant DiskModel::rowData(const Row &row, int role) const
{
    switch (role) {
    case Qt::DisplayRole: return shortName(toText(printable(row.facts.name, 200)));
    case NameRole: return toText(printable(row.facts.name, 200));
    case Qt::ToolTipRole: return toolTip(row);
    case Qt::AccessibleTextRole: {
        QStringList parts{toText(printable(row.facts.name, 200)), subtitle(row), fitText(row.result.fit)};
        if (row.result.tokensPerSecond)
            parts << speedText(*row.result.tokensPerSecond);
        parts.removeAll(QString());
        return parts.join(QStringLiteral(", "));
    }
    case ReferenceRole:
    case PathRole: return toText(row.facts.argument);
    case SubtitleRole: return subtitle(row);
    case FitRole: return static_cast<int>(row.result.fit);
    case BadgeRole: return row.facts.complete ? fitText(row.result.fit) : tr("Incomplete");
    case SpeedTextRole:
        return row.result.tokensPerSecond ? QVariant(speedText(*row.result.tokensPerSecond)) : QVariant();
    case FoldableRole: return false;
    case GatedRole: return false;
    case PendingRole: return row.pending;
    case ProblemRole: return !row.facts.complete || row.facts.problem.has_value();
    case BytesRole: return quint64{row.facts.bytes};
    case ModifiedRole: return qint64{row.facts.modified};
    default: return {};
    }
}

QHash<int, QByteArray> DiskModel::roleNames() const
{
    QHash<int, QByteArray> names = QAbstractItemModel::roleNames();
    names.insert(ReferenceRole, "reference");
    names.insert(SubtitleRole, "subtitle");
    names.insert(DetailRole, "detail");
    names.insert(FitRole, "fit");
    names.insert(BadgeRole, "badge");
    names.insert(SpeedTextRole, "speed");
    names.insert(PathRole, "path");
    names.insert(BytesRole, "bytes");
    return names;
}

bool DiskModel::setListing(const std::vector<DiskPlace> &places, const QStringList &added,
                           const DiskListing &listing)
{
    std::vector<Place> now;
    for (const DiskPlace &facts : places) {
        Place place;
        place.facts = facts;
        place.added = added.contains(pathText(facts.path));
        for (const DiskCheckpoint &checkpoint : listing.checkpoints) {
            if (checkpoint.place == facts.path && checkpoint.kind == facts.kind)
                place.rows.push_back({checkpoint, {}, false});
        }
        // A place that a program made and that holds nothing is no news; one that the user added is.
        if (!place.rows.empty() || place.added)
            now.push_back(std::move(place));
    }
    const bool same = std::ranges::equal(now, m_places, [](const Place &a, const Place &b) {
        return a.facts == b.facts && a.added == b.added
               && std::ranges::equal(a.rows, b.rows, {}, &Row::facts, &Row::facts);
    });
    if (same)
        return false;

    for (Place &place : now) {
        for (Row &row : place.rows) {
            QModelIndex index;
            const Row *before = rowOf(toText(row.facts.argument), index);
            if (before != nullptr && before->facts == row.facts)
                row.result = before->result;
        }
    }
    beginResetModel();
    m_places = std::move(now);
    m_rows.clear();
    for (std::size_t place = 0; place < m_places.size(); ++place) {
        for (std::size_t row = 0; row < m_places[place].rows.size(); ++row)
            m_rows.insert(toText(m_places[place].rows[row].facts.argument),
                          {static_cast<int>(place), static_cast<int>(row)});
    }
    endResetModel();
    return true;
}

DiskModel::Row *DiskModel::rowOf(const QString &reference, QModelIndex &index)
{
    const auto found = m_rows.constFind(reference);
    if (found == m_rows.constEnd())
        return nullptr;
    index = this->index(found->second, 0, this->index(found->first, 0));
    return &m_places[static_cast<std::size_t>(found->first)].rows[static_cast<std::size_t>(found->second)];
}

void DiskModel::setResult(const QString &reference, const CatalogResult &result)
{
    QModelIndex index;
    if (Row *row = rowOf(reference, index)) {
        row->result = result;
        emit dataChanged(index, index);
    }
}

void DiskModel::setPending(const QString &reference, bool pending)
{
    QModelIndex index;
    if (Row *row = rowOf(reference, index); row != nullptr && row->pending != pending) {
        row->pending = pending;
        emit dataChanged(index, index, {PendingRole});
    }
}

void DiskModel::setUnit(ByteUnit unit)
{
    if (std::exchange(m_unit, unit) != unit)
        emitAllChanged();
}

QModelIndex DiskModel::indexOf(const QString &reference) const
{
    const auto found = m_rows.constFind(reference);
    return found != m_rows.constEnd() ? index(found->second, 0, index(found->first, 0)) : QModelIndex();
}

const DiskCheckpoint *DiskModel::checkpoint(const QModelIndex &index) const
{
    const Row *row = rowAt(index);
    return row != nullptr ? &row->facts : nullptr;
}

const DiskPlace *DiskModel::place(const QModelIndex &index) const
{
    const Place *place = placeAt(index);
    return place != nullptr ? &place->facts : nullptr;
}

int DiskModel::checkpointCount() const { return static_cast<int>(m_rows.size()); }

QString DiskModel::shortPath(const std::filesystem::path &path) const
{
    const QString text = pathText(path);
    if (!m_home.isEmpty() && text == m_home)
        return QStringLiteral("~");
    if (!m_home.isEmpty() && text.startsWith(m_home + QLatin1Char('/')))
        return QLatin1Char('~') + text.mid(m_home.size());
    return text;
}

QString DiskModel::subtitle(const Row &row) const
{
    QStringList parts;
    if (!row.facts.quantization.empty())
        parts << quantizationText(row.facts.quantization);
    else if (const QString format = formatText(row.facts.format); !format.isEmpty())
        parts << format;
    parts << shortBytes(row.facts.bytes, m_unit);
    const QString name = toText(printable(row.facts.name, 200));
    if (const QString owner = name.section(QLatin1Char('/'), 0, -2); !owner.isEmpty())
        parts << owner;
    return parts.join(QStringLiteral(" · "));
}

QString DiskModel::toolTip(const Row &row) const
{
    QStringList lines{toText(printable(row.facts.name, 200)), toText(printable(row.facts.argument, 4096)),
                      toText(formatBytesExactly(row.facts.bytes))};
    if (const QString day = dayOf(row.facts.modified); !day.isEmpty())
        lines << tr("Changed on %1").arg(day);
    if (row.result.tokensPerSecond)
        lines << tr("%1 at %2 tokens of context")
                     .arg(speedText(*row.result.tokensPerSecond),
                          toText(formatCount(row.result.contextTokens)));
    if (!row.result.why.isEmpty())
        lines << row.result.why;
    return plainToolTip(lines.join(QLatin1Char('\n')));
}

DiskFilter::DiskFilter(QObject *parent)
    : QSortFilterProxyModel(parent)
{
    setDynamicSortFilter(true);
    setRecursiveFilteringEnabled(true);
    sort(0);
}

void DiskFilter::setText(const QString &text)
{
    if (m_text == text)
        return;
    m_text = text;
    m_words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void DiskFilter::setOrder(Order order)
{
    if (m_order == order)
        return;
    m_order = order;
    invalidate();
}

bool DiskFilter::filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const
{
    if (m_words.isEmpty())
        return true;
    if (!sourceParent.isValid())
        return false; // shown for its rows alone
    const QModelIndex index = sourceModel()->index(sourceRow, 0, sourceParent);
    const QString all = index.data(DiskModel::NameRole).toString() + QLatin1Char(' ')
                        + index.data(SubtitleRole).toString() + QLatin1Char(' ')
                        + sourceParent.data(Qt::DisplayRole).toString();
    return std::ranges::all_of(
        m_words, [&all](const QString &word) { return all.contains(word, Qt::CaseInsensitive); });
}

bool DiskFilter::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    if (!left.parent().isValid())
        return left.row() < right.row();
    const auto key = [](const QModelIndex &index, int role) { return index.data(role).toLongLong(); };
    if (m_order == Order::Largest) {
        const qint64 a = key(left, DiskModel::BytesRole);
        const qint64 b = key(right, DiskModel::BytesRole);
        if (a != b)
            return a > b;
    } else if (m_order == Order::Newest) {
        const qint64 a = key(left, DiskModel::ModifiedRole);
        const qint64 b = key(right, DiskModel::ModifiedRole);
        if (a != b)
            return a > b;
    }
    const int names = QString::compare(left.data(DiskModel::NameRole).toString(),
                                       right.data(DiskModel::NameRole).toString(), Qt::CaseInsensitive);
    return names != 0 ? names < 0 : left.row() < right.row();
}

} // namespace weir

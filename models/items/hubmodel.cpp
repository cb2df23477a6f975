// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/hubmodel.h"

#include "models/items/text.h"

#include <QCoreApplication>
#include <QDate>
#include <QLocale>

#include <algorithm>
#include <utility>

namespace weir {

namespace {

/// Legacy repositories have no organization.
QString nameOf(const QString &repository) { return repository.section(QLatin1Char('/'), -1); }

QString organizationOf(const QString &repository)
{
    return repository.contains(QLatin1Char('/')) ? repository.section(QLatin1Char('/'), 0, 0) : QString();
}

/// The day of an ISO 8601 time; empty if it is none.
QString dayOf(const std::string &time)
{
    const QDate date = QDate::fromString(toText(time).left(10), Qt::ISODate);
    return date.isValid() ? date.toString(Qt::ISODate) : QString();
}

bool isClosed(const HubHit &hit) { return hit.gate != Gate::Open || hit.isPrivate; }

} // namespace

QString formatText(Format format)
{
    switch (format) {
    case Format::Safetensors: return QStringLiteral("Safetensors");
    case Format::Gguf: return QStringLiteral("GGUF");
    case Format::Mlx: return QStringLiteral("MLX");
    case Format::Pickle: return QStringLiteral("PyTorch");
    case Format::Unknown: break;
    }
    return {};
}

HubModel::HubModel(QObject *parent)
    : TwoLevelModel(parent)
{}

int HubModel::rowCount(const QModelIndex &parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_hits.size());
    const Hit *hit = isUpper(parent) && parent.column() == 0 ? hitAt(parent) : nullptr;
    return hit != nullptr && hit->choices.size() > 1 ? static_cast<int>(hit->choices.size()) : 0;
}

bool HubModel::hasChildren(const QModelIndex &parent) const { return rowCount(parent) > 0; }

const HubModel::Hit *HubModel::hitAt(const QModelIndex &index) const
{
    const int row = upperRow(index);
    return row >= 0 && static_cast<std::size_t>(row) < m_hits.size() ? &m_hits[static_cast<std::size_t>(row)]
                                                                     : nullptr;
}

const HubModel::Choice *HubModel::choiceAt(const QModelIndex &index) const
{
    const Hit *hit = hitAt(index);
    if (hit == nullptr || isUpper(index) || static_cast<std::size_t>(index.row()) >= hit->choices.size())
        return nullptr;
    return &hit->choices[static_cast<std::size_t>(index.row())];
}

QVariant HubModel::data(const QModelIndex &index, int role) const
{
    const Hit *hit = hitAt(index);
    if (hit == nullptr)
        return {};
    if (isUpper(index))
        return hitData(*hit, role);
    const Choice *choice = choiceAt(index);
    return choice != nullptr ? choiceData(*hit, *choice, role) : QVariant();
}

QVariant HubModel::hitData(const Hit &hit, int role) const
{
    const QString id = toText(hit.facts.id);
    switch (role) {
    case Qt::DisplayRole: return nameOf(id);
    case Qt::ToolTipRole: return toolTip(hit);
    case Qt::AccessibleTextRole: {
        QStringList parts{id, subtitle(hit), detail(hit), fitText(hit.result.fit)};
        if (hit.result.tokensPerSecond)
            parts << speedText(*hit.result.tokensPerSecond);
        if (isClosed(hit.facts))
            parts << tr("gated");
        parts.removeAll(QString());
        return parts.join(QStringLiteral(", "));
    }
    case ReferenceRole: return id;
    case SubtitleRole: return subtitle(hit);
    case DetailRole: return detail(hit);
    case FitRole: return static_cast<int>(hit.result.fit);
    case BadgeRole: return fitText(hit.result.fit);
    case SpeedTextRole:
        return hit.result.tokensPerSecond ? QVariant(speedText(*hit.result.tokensPerSecond)) : QVariant();
    case GatedRole: return isClosed(hit.facts);
    case FoldableRole: return hit.listed ? hit.choices.size() > 1 : hit.facts.format == Format::Gguf;
    case SmallestBytesRole:
        if (!hit.choices.empty())
            return quint64{std::ranges::min(hit.choices, {}, [](const Choice &choice) {
                               return choice.facts.bytes;
                           }).facts.bytes};
        return hit.facts.bytes ? QVariant(quint64{*hit.facts.bytes}) : QVariant();
    case PendingRole: return hit.pending;
    default: return {};
    }
}

QVariant HubModel::choiceData(const Hit &hit, const Choice &choice, int role) const
{
    const QString label =
        choice.facts.label.empty() ? formatText(choice.facts.format) : toText(choice.facts.label);
    switch (role) {
    case Qt::DisplayRole: return label;
    case Qt::ToolTipRole: {
        QStringList lines{toText(hit.facts.id) + QLatin1Char(' ') + label,
                          toText(formatBytesExactly(choice.facts.bytes))};
        lines << resultLines(choice.result);
        return plainToolTip(lines.join(QLatin1Char('\n')));
    }
    case Qt::AccessibleTextRole: {
        QStringList parts{label, subtitle(choice), fitText(choice.result.fit)};
        if (choice.result.tokensPerSecond)
            parts << speedText(*choice.result.tokensPerSecond);
        parts.removeAll(QString());
        return parts.join(QStringLiteral(", "));
    }
    case ReferenceRole: {
        HubReference reference;
        reference.repository = hit.facts.id;
        reference.choice = choice.facts.label;
        return toText(hubReferenceText(reference));
    }
    case SubtitleRole: return subtitle(choice);
    case FitRole: return static_cast<int>(choice.result.fit);
    case BadgeRole: return fitText(choice.result.fit);
    case SpeedTextRole:
        return choice.result.tokensPerSecond ? QVariant(speedText(*choice.result.tokensPerSecond))
                                             : QVariant();
    case GatedRole: return false;
    case FoldableRole: return false;
    case SmallestBytesRole: return quint64{choice.facts.bytes};
    case PendingRole: return choice.pending;
    default: return {};
    }
}

QHash<int, QByteArray> HubModel::roleNames() const
{
    QHash<int, QByteArray> names = QAbstractItemModel::roleNames();
    names.insert(ReferenceRole, "reference");
    names.insert(SubtitleRole, "subtitle");
    names.insert(DetailRole, "detail");
    names.insert(FitRole, "fit");
    names.insert(BadgeRole, "badge");
    names.insert(SpeedTextRole, "speed");
    names.insert(GatedRole, "gated");
    return names;
}

void HubModel::clear()
{
    beginResetModel();
    m_hits.clear();
    m_rows.clear();
    endResetModel();
}

void HubModel::append(const std::vector<HubHit> &hits)
{
    std::vector<Hit> added;
    QHash<QString, int> rows = m_rows;
    for (const HubHit &facts : hits) {
        const QString id = toText(facts.id);
        // Pages move while they are turned: a hit may come twice.
        if (id.isEmpty() || rows.contains(id))
            continue;
        rows.insert(id, static_cast<int>(m_hits.size() + added.size()));
        Hit hit;
        hit.facts = facts;
        added.push_back(std::move(hit));
    }
    if (added.empty())
        return;
    const int first = static_cast<int>(m_hits.size());
    beginInsertRows({}, first, first + static_cast<int>(added.size()) - 1);
    std::ranges::move(added, std::back_inserter(m_hits));
    m_rows = std::move(rows);
    endInsertRows();
}

void HubModel::setRepository(const QString &reference, const HubRepository &repository)
{
    const auto row = m_rows.constFind(reference);
    if (row == m_rows.constEnd())
        return;
    Hit &hit = m_hits[static_cast<std::size_t>(*row)];
    const QModelIndex parent = index(*row, 0);
    if (hit.listed)
        return;
    std::vector<Choice> choices;
    for (const HubChoice &facts : repository.choices) {
        Choice choice;
        choice.facts = facts;
        choices.push_back(std::move(choice));
    }
    const int count = static_cast<int>(choices.size());
    if (count > 1)
        beginInsertRows(parent, 0, count - 1);
    hit.listed = true;
    hit.choices = std::move(choices);
    if (count > 1)
        endInsertRows();
    emit dataChanged(parent, parent);
}

CatalogResult *HubModel::resultAt(const QModelIndex &index)
{
    if (const Choice *choice = choiceAt(index))
        return &const_cast<Choice *>(choice)->result; // of this object, which is not const here
    const Hit *hit = hitAt(index);
    return hit != nullptr ? &const_cast<Hit *>(hit)->result : nullptr;
}

void HubModel::setResult(const QString &reference, const CatalogResult &result)
{
    const QModelIndex changed = indexOf(reference);
    if (CatalogResult *known = resultAt(changed)) {
        *known = result;
        emit dataChanged(changed, changed);
    }
}

void HubModel::setPending(const QString &reference, bool pending)
{
    const QModelIndex changed = indexOf(reference);
    if (!changed.isValid())
        return;
    Hit &hit = m_hits[static_cast<std::size_t>(isUpper(changed) ? changed.row() : changed.parent().row())];
    bool &flag =
        isUpper(changed) ? hit.pending : hit.choices[static_cast<std::size_t>(changed.row())].pending;
    if (flag == pending)
        return;
    flag = pending;
    emit dataChanged(changed, changed, {PendingRole});
}

void HubModel::setUnit(ByteUnit unit)
{
    if (std::exchange(m_unit, unit) != unit)
        emitAllChanged();
}

std::optional<HubReference> HubModel::reference(const QModelIndex &index) const
{
    const Hit *hit = hitAt(index);
    if (hit == nullptr)
        return std::nullopt;
    HubReference reference;
    reference.repository = hit->facts.id;
    if (const Choice *choice = choiceAt(index))
        reference.choice = choice->facts.label;
    return reference;
}

const HubHit *HubModel::hit(const QModelIndex &index) const
{
    const Hit *hit = hitAt(index);
    return hit != nullptr ? &hit->facts : nullptr;
}

const HubChoice *HubModel::choice(const QModelIndex &index) const
{
    const Choice *choice = choiceAt(index);
    return choice != nullptr ? &choice->facts : nullptr;
}

bool HubModel::isListed(const QModelIndex &index) const
{
    const Hit *hit = hitAt(index);
    return hit != nullptr && hit->listed;
}

int HubModel::choiceCount(const QModelIndex &index) const
{
    const Hit *hit = hitAt(index);
    return hit != nullptr ? static_cast<int>(hit->choices.size()) : 0;
}

QModelIndex HubModel::indexOf(const QString &reference) const
{
    if (const auto row = m_rows.constFind(reference); row != m_rows.constEnd())
        return index(*row, 0);
    const auto row = m_rows.constFind(reference.section(QLatin1Char(':'), 0, 0));
    if (row == m_rows.constEnd())
        return {};
    const QModelIndex parent = index(*row, 0);
    for (int child = 0; child < rowCount(parent); ++child) {
        const QModelIndex found = index(child, 0, parent);
        if (found.data(ReferenceRole).toString() == reference)
            return found;
    }
    return {};
}

QString HubModel::shortCount(quint64 count)
{
    const auto scaled = [count](double unit, const QString &sign) -> QString {
        const double value = static_cast<double>(count) / unit;
        return QLocale::c().toString(value, 'f', value < 9.95 ? 1 : 0) + sign;
    };
    if (count >= 999'950'000)
        return scaled(1e9, QStringLiteral("B"));
    if (count >= 999'500)
        return scaled(1e6, QStringLiteral("M"));
    if (count >= 1000)
        return scaled(1e3, QStringLiteral("k"));
    return QString::number(count);
}

QString HubModel::subtitle(const Hit &hit) const
{
    QStringList parts;
    if (const QString format = formatText(hit.facts.format); !format.isEmpty())
        parts << format;
    if (hit.choices.size() > 1) {
        const auto [smallest, largest] =
            std::ranges::minmax(hit.choices, {}, [](const Choice &choice) { return choice.facts.bytes; });
        //: Sizes of the choices of a repository, from and to
        parts << tr("%1 – %2").arg(shortBytes(smallest.facts.bytes, m_unit),
                                   shortBytes(largest.facts.bytes, m_unit));
    } else if (hit.choices.size() == 1) {
        parts << shortBytes(hit.choices.front().facts.bytes, m_unit);
    } else if (hit.facts.bytes) {
        parts << shortBytes(*hit.facts.bytes, m_unit);
    }
    return parts.join(QStringLiteral(" · "));
}

QString HubModel::subtitle(const Choice &choice) const
{
    QString text = shortBytes(choice.facts.bytes, m_unit);
    if (choice.facts.files.size() > 1)
        text += tr(" · %n files", nullptr, static_cast<int>(choice.facts.files.size()));
    return text;
}

QString HubModel::detail(const Hit &hit) const
{
    QStringList parts;
    if (const QString organization = organizationOf(toText(hit.facts.id)); !organization.isEmpty())
        parts << organization;
    if (hit.facts.downloads)
        parts << QStringLiteral("↓ ") + shortCount(*hit.facts.downloads);
    if (const QString day = dayOf(hit.facts.modified); !day.isEmpty())
        parts << day;
    return parts.join(QStringLiteral(" · "));
}

QStringList HubModel::resultLines(const CatalogResult &result) const
{
    QStringList lines;
    if (result.tokensPerSecond)
        lines << tr("%1 at %2 tokens of context")
                     .arg(speedText(*result.tokensPerSecond), toText(formatCount(result.contextTokens)));
    if (!result.why.isEmpty())
        lines << result.why;
    return lines;
}

QString HubModel::toolTip(const Hit &hit) const
{
    const HubHit &facts = hit.facts;
    QStringList lines{toText(printable(facts.id))};
    if (facts.gate != Gate::Open)
        lines << tr("Gated: its terms have to be accepted on the Hub");
    if (facts.isPrivate)
        lines << tr("Private");
    if (facts.downloads)
        lines << tr("%1 downloads in 30 days").arg(toText(formatCount(*facts.downloads)));
    if (facts.likes)
        lines << tr("%1 likes").arg(toText(formatCount(*facts.likes)));
    if (const QString day = dayOf(facts.modified); !day.isEmpty())
        lines << tr("Changed on %1").arg(day);
    if (!facts.architecture.empty())
        lines << tr("Architecture: %1").arg(toText(printable(facts.architecture)));
    if (!facts.license.empty())
        lines << tr("Licence: %1").arg(toText(printable(facts.license)));
    if (!facts.baseModels.empty())
        lines << tr("Made from %1").arg(toText(printable(facts.baseModels.front())));
    lines << resultLines(hit.result);
    return plainToolTip(lines.join(QLatin1Char('\n')));
}

} // namespace weir

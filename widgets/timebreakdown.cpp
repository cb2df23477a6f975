// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timebreakdown.h"

#include "models/items/text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace weir {

TimeBreakdown::TimeBreakdown(QWidget *parent)
    : Chart(parent)
{
    setObjectName(QStringLiteral("timeBreakdown"));
    setTitle(tr("Where the time goes"));
    setFramed(false);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAssessment(nullptr, ByteUnit::Gigabytes);
}

void TimeBreakdown::setAssessment(std::shared_ptr<const Assessment> assessment, ByteUnit unit)
{
    m_assessment = std::move(assessment);
    m_unit = unit;
    const std::size_t before = m_rows.size();
    m_rows.clear();
    m_seconds = 0;
    if (m_assessment && m_assessment->decode && std::isfinite(m_assessment->decode->secondsPerStep)) {
        const DecodeAssessment &decode = *m_assessment->decode;
        m_seconds = decode.secondsPerStep;
        const auto add = [&](Cut cut, quint64 bytes, double seconds) {
            if (std::isfinite(seconds) && seconds > 0)
                m_rows.push_back({cut, bytes, seconds, {}, {}});
        };
        add(Cut::Weights, decode.weightBytes, decode.weightSeconds);
        add(Cut::State, decode.stateBytes, decode.stateSeconds);
        add(Cut::Kv, decode.kvBytes, decode.kvSeconds);
        add(Cut::Fixed, 0, decode.fixedSeconds);
    }
    if (m_rows.empty()) {
        setSummary(tr("No speed is known."));
    } else {
        QStringList parts;
        for (const Row &row : m_rows)
            parts << tr("%1: %2").arg(label(row), toText(formatSeconds(row.seconds)));
        setSummary(tr("One step takes %1. %2.")
                       .arg(toText(formatSeconds(m_seconds)), parts.join(QLatin1String("; "))));
    }
    if (m_rows.size() != before)
        updateGeometry();
    dataChanged();
}

int TimeBreakdown::elementCount() const { return static_cast<int>(m_rows.size()); }

QString TimeBreakdown::elementText(int element) const
{
    const Row &row = m_rows.at(static_cast<std::size_t>(element));
    QStringList lines{label(row)};
    lines << tr("%1, %2 of a step of %3")
                 .arg(toText(formatSeconds(row.seconds)), toText(formatPercent(row.seconds / m_seconds)),
                      toText(formatSeconds(m_seconds)));
    if (row.bytes > 0)
        lines << toText(formatBytesExactly(row.bytes));
    switch (row.cut) {
    case Cut::Weights: lines << tr("streamed once for each step"); break;
    case Cut::State: lines << tr("recurrent state, read and written back, whatever the context"); break;
    case Cut::Kv:
        lines << tr("at %1 tokens of context").arg(toText(formatCount(m_assessment->workload.contextTokens)));
        break;
    case Cut::Fixed: lines << tr("launches and waits between layers; no byte explains it"); break;
    }
    return lines.join(QLatin1Char('\n'));
}

QRectF TimeBreakdown::elementRect(int element) const
{
    return m_rows.at(static_cast<std::size_t>(element)).row;
}

int TimeBreakdown::elementAt(const QPointF &position) const
{
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const Row &row = m_rows[i];
        if (row.row.contains(position) || row.bar.adjusted(-1, -2, 1, 2).contains(position))
            return static_cast<int>(i);
    }
    return -1;
}

QSize TimeBreakdown::sizeHint() const
{
    const int line = QFontMetrics(font()).height();
    const int rows = std::max<int>(2, static_cast<int>(m_rows.size()));
    return {240, headerHeight() + static_cast<int>(padding() * 1.5) + 14 + 8 + rows * (line + 6) + 4};
}

QSize TimeBreakdown::minimumSizeHint() const { return {160, sizeHint().height()}; }

void TimeBreakdown::relayout()
{
    const QRectF body = bodyRect();
    const double line = QFontMetricsF(font()).height() + 6;
    double x = body.left();
    double y = body.top() + 14 + 8;
    double total = 0;
    for (const Row &row : m_rows)
        total += row.seconds;
    for (Row &row : m_rows) {
        const double width = row.seconds / total * body.width();
        row.bar = QRectF(x, body.top(), width, 14);
        row.row = QRectF(body.left(), y, body.width(), line);
        x += width;
        y += line;
    }
}

void TimeBreakdown::paintHeaderNote(QPainter &painter)
{
    if (m_rows.empty())
        return;
    painter.setFont(textFont(font(), TextSize::Small));
    painter.setPen(theme().mutedText);
    const QString text = tr("%1 a step").arg(toText(formatSeconds(m_seconds)));
    if (painter.fontMetrics().horizontalAdvance(text) <= headerNoteRect().width())
        painter.drawText(headerNoteRect(), Qt::AlignRight | Qt::AlignVCenter, text);
}

void TimeBreakdown::paintBody(QPainter &painter)
{
    if (m_rows.empty()) {
        paintEmpty(painter, bodyRect(), tr("No speed is known for this choice."));
        return;
    }
    const Theme &colors = theme();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const Row &row = m_rows[i];
        const bool current = static_cast<int>(i) == currentElement();
        painter.fillRect(
            QRectF(row.bar.left(), row.bar.top(), std::max(1.0, row.bar.width()), row.bar.height()),
            color(row.cut));
        if (current) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colors.hoverSurface);
            painter.drawRoundedRect(row.row.adjusted(-3, 0, 3, 0), 4, 4);
        }
        const double swatch = 9;
        painter.setPen(Qt::NoPen);
        painter.setBrush(color(row.cut));
        painter.drawRoundedRect(QRectF(row.row.left(), row.row.center().y() - swatch / 2, swatch, swatch), 2,
                                2);

        const QString time = toText(formatSeconds(row.seconds));
        painter.setFont(font());
        const QFontMetricsF metrics(painter.font(), painter.device());
        const double timeWidth = metrics.horizontalAdvance(time);
        painter.setPen(colors.text);
        const QRectF words = row.row.adjusted(swatch + 7, 0, -timeWidth - 8, 0);
        painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(label(row), Qt::ElideRight, words.width()));
        painter.setPen(colors.mutedText);
        painter.drawText(row.row, Qt::AlignRight | Qt::AlignVCenter, time);
    }
    if (const int current = currentElement(); current >= 0) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colors.text, 1.5));
        painter.drawRect(m_rows.at(static_cast<std::size_t>(current)).bar.adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

QString TimeBreakdown::label(const Row &row) const
{
    const QString bytes = toText(formatBytes(row.bytes, m_unit));
    switch (row.cut) {
    case Cut::Weights: return tr("Weights, %1").arg(bytes);
    case Cut::State: return tr("State, read and written");
    case Cut::Kv: return tr("KV cache, %1").arg(bytes);
    case Cut::Fixed: return tr("Fixed, per layer");
    }
    return {};
}

QColor TimeBreakdown::color(Cut cut) const
{
    const Theme &colors = theme();
    switch (cut) {
    case Cut::Weights: return colors.component(Component::RoutedExperts);
    case Cut::State: return colors.state;
    case Cut::Kv: return colors.kv;
    case Cut::Fixed: return colors.fixedCost;
    }
    return colors.axis;
}

} // namespace weir

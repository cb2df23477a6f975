// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/memorybar.h"

#include "models/items/text.h"
#include "widgets/amount.h"
#include "widgets/ladder.h"

#include <QLocale>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace weir {

MemoryBar::MemoryBar(QWidget *parent)
    : Chart(parent)
{
    setObjectName(QStringLiteral("memoryBar"));
    setTitle(tr("Memory"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    updateSummary();
}

void MemoryBar::setAssessment(std::shared_ptr<const Assessment> assessment, ByteUnit unit)
{
    m_assessment = std::move(assessment);
    m_unit = unit;
    m_segments.clear();
    if (m_assessment) {
        const MemoryAssessment &memory = m_assessment->memory;
        quint64 at = 0;
        const auto add = [&](Part part, quint64 bytes) {
            if (bytes > 0)
                m_segments.push_back({part, at, bytes, {}, false});
            at += bytes;
        };
        add(Part::Weights, memory.weightsBytes);
        add(Part::Kv, memory.kvBytes);
        add(Part::State, memory.stateBytes);
        add(Part::Runtime, memory.activationBytes + memory.runtimeBytes);
        add(Part::Reserve, memory.reserveBytes);
        if (memory.usableBytes > at)
            add(Part::Free, memory.usableBytes - at);
        at = std::max<quint64>(at, memory.usableBytes);
        const quint64 nominal = m_assessment->machine.memoryBytes;
        if (nominal > at && at == memory.usableBytes)
            add(Part::Hidden, nominal - at);
        const double end = static_cast<double>(std::max<quint64>(at, nominal));
        const bool over = memory.totalBytes > memory.usableBytes;
        m_scaleBytes = std::max(1.0, over ? end * 1.02 : end);
    }
    updateSummary();
    dataChanged();
}

int MemoryBar::elementCount() const { return static_cast<int>(m_segments.size()); }

QString MemoryBar::elementText(int element) const
{
    const Segment &segment = m_segments.at(static_cast<std::size_t>(element));
    const MemoryAssessment &memory = m_assessment->memory;
    QStringList lines{partName(segment.part), toText(formatBytesExactly(segment.bytes))};
    switch (segment.part) {
    case Part::Weights: lines << tr("as %1 loads them").arg(toText(m_assessment->engineName)); break;
    case Part::Kv:
        lines << tr("for %1 tokens of context, %2 in parallel")
                     .arg(toText(formatCount(m_assessment->workload.contextTokens)),
                          toText(formatCount(m_assessment->workload.concurrency)));
        lines << tr("each further token takes %1").arg(toText(formatBytes(memory.kvBytesPerToken, m_unit)));
        if (memory.kvPoolBytes)
            lines << tr("%1 sets a pool of %2 aside for it")
                         .arg(toText(m_assessment->engineName),
                              toText(formatBytes(*memory.kvPoolBytes, m_unit)));
        break;
    case Part::State: lines << tr("a fixed size for each sequence, whatever the context"); break;
    case Part::Runtime:
        lines << tr("activations %1").arg(toText(formatBytes(memory.activationBytes, m_unit)));
        lines << tr("engine runtime %1").arg(toText(formatBytes(memory.runtimeBytes, m_unit)));
        break;
    case Part::Reserve: lines << tr("for the system and other programs"); break;
    case Part::Free:
        if (memory.budgetBytes)
            lines << tr("%1 takes a budget of %2 and shows all of it as used")
                         .arg(toText(m_assessment->engineName),
                              toText(formatBytes(*memory.budgetBytes, m_unit)));
        break;
    case Part::Hidden: lines << tr("part of the nominal memory, held back by firmware and system"); break;
    }
    if (segment.begin + segment.bytes > memory.usableBytes && segment.part != Part::Hidden)
        lines << tr("does not fit into the visible memory");
    return lines.join(QLatin1Char('\n'));
}

QRectF MemoryBar::elementRect(int element) const
{
    return m_segments.at(static_cast<std::size_t>(element)).rect;
}

int MemoryBar::elementAt(const QPointF &position) const
{
    if (position.y() < m_bar.top() - 2 || position.y() > m_bar.bottom() + 2)
        return -1;
    // Slivers first, with a margin: nobody can point at half a pixel.
    for (const double margin : {2.5, 0.0}) {
        for (std::size_t i = 0; i < m_segments.size(); ++i) {
            const QRectF &rect = m_segments[i].rect;
            if (margin > 0 && rect.width() > 5)
                continue;
            if (position.x() >= rect.left() - margin && position.x() <= rect.right() + margin)
                return static_cast<int>(i);
        }
    }
    return -1;
}

MemoryBar::Part MemoryBar::elementPart(int element) const
{
    return m_segments.at(static_cast<std::size_t>(element)).part;
}

double MemoryBar::visibleLineX() const
{
    return m_assessment ? xOf(static_cast<double>(m_assessment->memory.usableBytes)) : 0.0;
}

QSize MemoryBar::sizeHint() const
{
    const int line = QFontMetrics(font()).height();
    const int small = QFontMetrics(textFont(font(), TextSize::Small)).height();
    const int bar = 2 + static_cast<int>(line * 1.75);
    return {640, headerHeight() + static_cast<int>(padding() * 1.5) + bar + 7 + small + 5 + small};
}

QSize MemoryBar::minimumSizeHint() const { return {320, sizeHint().height()}; }

void MemoryBar::relayout()
{
    const QRectF body = bodyRect();
    const double line = QFontMetricsF(font()).height();
    m_bar = QRectF(body.left(), body.top() + 2, body.width(), std::floor(line * 1.75));
    const QFontMetricsF metrics(textFont(font(), TextSize::Strong));
    for (Segment &segment : m_segments) {
        const double left = xOf(static_cast<double>(segment.begin));
        const double right = xOf(static_cast<double>(segment.begin + segment.bytes));
        segment.rect = QRectF(left, m_bar.top(), right - left, m_bar.height());
        segment.labelled = segment.part != Part::Hidden
                           && metrics.horizontalAdvance(partLabel(segment)) + 12 <= segment.rect.width();
    }
}

void MemoryBar::paintHeaderNote(QPainter &painter)
{
    if (!m_assessment)
        return;
    const Machine &machine = m_assessment->machine;
    const quint64 usable = m_assessment->memory.usableBytes;
    const QString visible = tr("%1 visible to the system").arg(shortBytes(usable, m_unit));
    const QString nominal =
        m_unit == ByteUnit::Gigabytes
            ? tr("%1 GiB nominal = %2 GB")
                  .arg(QLocale::c().toString(static_cast<double>(machine.memoryBytes) / 1073741824.0, 'g', 4),
                       plainAmount(static_cast<double>(machine.memoryBytes), m_unit))
            : tr("%1 nominal").arg(shortBytes(machine.memoryBytes, m_unit));
    QStringList variants;
    if (machine.memoryBytes > usable) {
        //: Two facts about a machine's memory: the nominal and the visible amount.
        variants << tr("%1 · %2").arg(nominal, visible) << visible;
    } else {
        variants << nominal;
    }
    painter.setFont(textFont(font(), TextSize::Small));
    painter.setPen(theme().mutedText);
    const QRectF rect = headerNoteRect();
    for (const QString &text : variants) {
        if (painter.fontMetrics().horizontalAdvance(text) <= rect.width()) {
            painter.drawText(rect, Qt::AlignRight | Qt::AlignVCenter, text);
            return;
        }
    }
}

void MemoryBar::paintBody(QPainter &painter)
{
    if (!m_assessment) {
        paintEmpty(painter, bodyRect(), tr("Select a checkpoint to see what it takes of the memory."));
        return;
    }
    const Theme &colors = theme();
    for (const Segment &segment : m_segments)
        paintSegment(painter, segment);

    const MemoryAssessment &memory = m_assessment->memory;
    const double line = visibleLineX();
    if (memory.totalBytes > memory.usableBytes) {
        const QRectF over(line, m_bar.top(), xOf(static_cast<double>(memory.totalBytes)) - line,
                          m_bar.height());
        QColor veil = colors.no;
        veil.setAlphaF(0.22F);
        painter.fillRect(over, veil);
        painter.setPen(QPen(colors.no, 1.2));
        constexpr double pitch = 7;
        const double first = std::ceil((over.left() + over.top()) / pitch) * pitch;
        for (double c = first; c < over.right() + over.bottom(); c += pitch) {
            const double x0 = std::max(over.left(), c - over.bottom());
            const double x1 = std::min(over.right(), c - over.top());
            if (x1 - x0 > 0.5)
                painter.drawLine(QLineF(x0, c - x0, x1, c - x1));
        }
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(over.adjusted(0.5, 0.5, -0.5, -0.5));
    }
    for (const Segment &segment : m_segments)
        paintLabel(painter, segment, line);
    painter.setPen(QPen(colors.impossible, 2, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(QPointF(line, m_bar.top() - 5), QPointF(line, m_bar.bottom() + 5));

    if (const int current = currentElement(); current >= 0) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colors.text, 1.5));
        painter.drawRect(elementRect(current).adjusted(0.5, 0.5, -0.5, -0.5));
    }
    paintAxis(painter);
    paintLegend(painter);
}

QString MemoryBar::partName(Part part) const
{
    switch (part) {
    case Part::Weights: return tr("Weights");
    case Part::Kv: return tr("KV cache");
    case Part::State: return tr("State");
    case Part::Runtime: return tr("Runtime");
    case Part::Reserve: return tr("Keep free");
    case Part::Free: return tr("Free");
    case Part::Hidden: return tr("Not visible to the system");
    }
    return {};
}

QString MemoryBar::partLabel(const Segment &segment) const
{
    //: Inside a bar: what and how much, the unit stands on the axis. "Weights 67.3"
    return tr("%1 %2").arg(partName(segment.part), plainAmount(static_cast<double>(segment.bytes), m_unit));
}

QColor MemoryBar::partColor(Part part) const
{
    const Theme &colors = theme();
    switch (part) {
    case Part::Weights: return colors.component(Component::RoutedExperts);
    case Part::Kv: return colors.kv;
    case Part::State: return colors.state;
    case Part::Runtime: return colors.runtime;
    case Part::Reserve: return colors.reserve;
    case Part::Free: return colors.free;
    case Part::Hidden: return colors.card;
    }
    return colors.card;
}

double MemoryBar::xOf(double bytes) const { return m_bar.left() + bytes / m_scaleBytes * m_bar.width(); }

void MemoryBar::paintSegment(QPainter &painter, const Segment &segment) const
{
    const Theme &colors = theme();
    const QColor fill = partColor(segment.part);
    // Never thinner than a pixel: what is there is shown.
    const QRectF rect(segment.rect.left(), segment.rect.top(), std::max(1.0, segment.rect.width()),
                      segment.rect.height());
    painter.fillRect(rect, fill);
    if (segment.part == Part::Hidden) {
        painter.setPen(QPen(colors.border, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void MemoryBar::paintLabel(QPainter &painter, const Segment &segment, double visibleLine) const
{
    if (!segment.labelled)
        return;
    const Theme &colors = theme();
    const QColor fill = partColor(segment.part);
    const QString text = partLabel(segment);
    painter.setFont(textFont(font(), segment.part == Part::Free ? TextSize::Body : TextSize::Strong));
    const QSizeF size = QFontMetricsF(painter.font(), painter.device()).size(Qt::TextSingleLine, text);
    QRectF plate(QPointF(), size + QSizeF(10, 2));
    plate.moveCenter(segment.rect.center());
    if (segment.part != Part::Free && segment.part != Part::Hidden && plate.right() > visibleLine) {
        // On the hatch of what does not fit, letters need ground of their own.
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRoundedRect(plate, 3, 3);
    }
    painter.setPen(segment.part == Part::Free ? colors.mutedText : Theme::textOn(fill));
    painter.drawText(segment.rect, Qt::AlignCenter, text);
}

void MemoryBar::paintAxis(QPainter &painter) const
{
    const Theme &colors = theme();
    painter.setFont(textFont(font(), TextSize::Small));
    const QFontMetricsF metrics(painter.font(), painter.device());
    const double end = m_scaleBytes / unitBytes(m_unit);
    const double widest = metrics.horizontalAdvance(plainTick(end) + QLatin1String("0 ") + unitName(m_unit));
    const int most = std::max(2, static_cast<int>(m_bar.width() / (widest + 28)));
    const double step = ladderStep(end, most);
    const double top = m_bar.bottom() + 7;
    for (int i = 0; i * step <= end; ++i) {
        const double value = i * step;
        const double x = xOf(value * unitBytes(m_unit));
        painter.setPen(QPen(colors.axis, 1));
        painter.drawLine(QPointF(x, m_bar.bottom() + 1), QPointF(x, m_bar.bottom() + 5));
        const QString text =
            i == 0 ? QStringLiteral("0") : QStringLiteral("%1 %2").arg(plainTick(value), unitName(m_unit));
        const double width = metrics.horizontalAdvance(text);
        const double left = std::clamp(x - width / 2, m_bar.left(), m_bar.right() - width);
        painter.setPen(colors.mutedText);
        painter.drawText(QPointF(left, top + metrics.ascent()), text);
    }
}

void MemoryBar::paintLegend(QPainter &painter) const
{
    const Theme &colors = theme();
    painter.setFont(textFont(font(), TextSize::Small));
    const QFontMetricsF metrics(painter.font(), painter.device());
    const double top = m_bar.bottom() + 7 + metrics.height() + 5;
    if (top + metrics.height() > height() - 2)
        return;
    double right = m_bar.right();
    const MemoryAssessment &memory = m_assessment->memory;
    if (memory.totalBytes > memory.usableBytes) {
        const QString text = tr("%1 more than the visible memory")
                                 .arg(toText(formatBytes(memory.totalBytes - memory.usableBytes, m_unit)));
        painter.setFont(textFont(painter.font(), TextSize::Strong));
        const double width = QFontMetricsF(painter.font(), painter.device()).horizontalAdvance(text);
        painter.setPen(colors.no);
        painter.drawText(QPointF(right - width, top + metrics.ascent()), text);
        painter.setFont(textFont(font(), TextSize::Small));
        right -= width + 16;
    }
    double x = m_bar.left();
    for (const Segment &segment : m_segments) {
        if (segment.labelled || segment.part == Part::Hidden || segment.part == Part::Free)
            continue;
        const QString text =
            tr("%1 %2").arg(partName(segment.part), toText(formatBytes(segment.bytes, m_unit)));
        const double swatch = std::floor(metrics.ascent() * 0.8);
        const double width = swatch + 5 + metrics.horizontalAdvance(text);
        if (x + width > right)
            break;
        painter.fillRect(QRectF(x, top + metrics.ascent() - swatch, swatch, swatch), partColor(segment.part));
        painter.setPen(colors.mutedText);
        painter.drawText(QPointF(x + swatch + 5, top + metrics.ascent()), text);
        x += width + 16;
    }
}

void MemoryBar::updateSummary()
{
    if (!m_assessment) {
        setSummary(tr("No checkpoint is selected."));
        return;
    }
    const MemoryAssessment &memory = m_assessment->memory;
    QStringList parts;
    for (const Segment &segment : m_segments)
        parts << tr("%1 %2").arg(partName(segment.part), toText(formatBytes(segment.bytes, m_unit)));
    const QString verdict = memory.fits ? tr("Fits: needs %1 of %2.") : tr("Does not fit: needs %1 of %2.");
    setSummary(verdict.arg(toText(formatBytes(memory.totalBytes, m_unit)),
                           toText(formatBytes(memory.usableBytes, m_unit)))
               + QLatin1Char(' ') + parts.join(QLatin1String(", ")) + QLatin1Char('.'));
}

} // namespace weir

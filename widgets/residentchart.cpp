// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/residentchart.h"

#include "models/items/text.h"
#include "widgets/amount.h"
#include "widgets/ladder.h"
#include "widgets/plotstyle.h"
#include "widgets/wording.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace weir {

namespace {

constexpr double barWidth = 0.34;   ///< of the distance between two checkpoints
constexpr double barOffset = 0.19;  ///< of a bar's centre from its checkpoint's
constexpr double sideSpace = 0.52;  ///< left of the first and right of the last checkpoint

double barKey(std::size_t pin, bool streamed)
{
    return static_cast<double>(pin) + (streamed ? barOffset : -barOffset);
}

/// Whether two lists of checkpoints give the same picture: what a checkpoint holds and streams does not
/// change with context or concurrency, so that most moves of a slider need no drawing here.
bool lookAlike(const Pins &first, const Pins &second)
{
    return std::ranges::equal(first, second, [](const Pin &a, const Pin &b) {
        return a.shortName == b.shortName && a.selected == b.selected
               && std::ranges::equal(a.assessment->components, b.assessment->components,
                                     [](const ComponentAssessment &x, const ComponentAssessment &y) {
                                         return x.component == y.component
                                                && x.residentBytes == y.residentBytes
                                                && x.streamedBytes == y.streamedBytes;
                                     });
    });
}

} // namespace

/// Bars of one component: QCPBars stacks them, but knows plain brushes only.
class ComponentBars final : public QCPBars
{
public:
    ComponentBars(QCPAxis *keyAxis, QCPAxis *valueAxis, const ResidentChart &chart, Component component)
        : QCPBars(keyAxis, valueAxis)
        , m_chart(chart)
        , m_component(component)
    {}

protected:
    void draw(QCPPainter *painter) override
    {
        for (const QCPBarsData &bar : *mDataContainer) {
            if (bar.value > 0)
                m_chart.paintBar(*painter, getBarRect(bar.key, bar.value), m_component);
        }
    }

private:
    const ResidentChart &m_chart;
    Component m_component;
};

/// What is written around the bars, and the outline of the current segment.
class ResidentLabels final : public QCPAbstractItem
{
public:
    ResidentLabels(QCustomPlot *plot, const ResidentChart &chart)
        : QCPAbstractItem(plot)
        , m_chart(chart)
    {
        setClipToAxisRect(false);
        setSelectable(false);
    }

    double selectTest(const QPointF &, bool, QVariant *) const override { return -1; }

protected:
    void draw(QCPPainter *painter) override { m_chart.paintLabels(*painter); }

private:
    const ResidentChart &m_chart;
};

ResidentChart::ResidentChart(const Wording &wording, QWidget *parent)
    : Chart(parent)
    , m_wording(wording)
    , m_plot(new QCustomPlot(this))
{
    setObjectName(QStringLiteral("residentChart"));
    setTitle(tr("Resident and streamed"));
    setUpPlot();
    updateSummary();
}

ResidentChart::~ResidentChart() = default;

void ResidentChart::setUpPlot()
{
    embedPlot(*m_plot, QStringLiteral("residentPlot"));
    m_plot->xAxis->setTickLabels(false);
    m_plot->xAxis->setTicks(false);
    m_plot->xAxis->grid()->setVisible(false);
    for (std::size_t i = 0; i < componentCount; ++i) {
        m_bars[i] = new ComponentBars(m_plot->xAxis, m_plot->yAxis, *this, allComponents[i]);
        m_bars[i]->setPen(Qt::NoPen);
        m_bars[i]->setStackingGap(0);
        m_bars[i]->setWidth(barWidth);
        m_bars[i]->setWidthType(QCPBars::wtPlotCoords);
        if (i > 0)
            m_bars[i]->moveAbove(m_bars[i - 1]);
    }
    new ResidentLabels(m_plot, *this); // the plot owns it
    m_plot->setVisible(false);
}

void ResidentChart::setPins(const Pins &pins, ByteUnit unit)
{
    Pins shown;
    std::ranges::copy_if(pins, std::back_inserter(shown),
                         [](const Pin &pin) { return pin.assessment != nullptr; });
    const bool same = unit == m_unit && !shown.empty() && lookAlike(shown, m_pins);
    m_unit = unit;
    m_pins = std::move(shown);
    if (same)
        return;

    m_segments.clear();
    m_legend.clear();
    std::array<QVector<double>, componentCount> keys;
    std::array<QVector<double>, componentCount> values;
    std::array<bool, componentCount> present{};
    double highest = 0;
    for (std::size_t i = 0; i < m_pins.size(); ++i) {
        const auto &components = m_pins[i].assessment->components;
        for (const bool streamed : {false, true}) {
            double at = 0;
            for (std::size_t c = 0; c < components.size(); ++c) {
                const quint64 bytes = streamed ? components[c].streamedBytes : components[c].residentBytes;
                const auto slot = static_cast<std::size_t>(components[c].component);
                if (bytes == 0 || slot >= componentCount)
                    continue;
                const double value = static_cast<double>(bytes) / unitBytes(m_unit);
                keys[slot].append(barKey(i, streamed));
                values[slot].append(value);
                m_segments.push_back({i, streamed, c, at, at + value});
                at += value;
                present[slot] = true;
            }
            highest = std::max(highest, at);
        }
    }
    for (std::size_t slot = 0; slot < componentCount; ++slot) {
        m_bars[slot]->setData(keys[slot], values[slot]);
        if (present[slot])
            m_legend.push_back(allComponents[slot]);
    }
    // Room for the total above the highest bar, and the end on a tick.
    const double wanted = highest > 0 ? highest * 1.09 : 1.0;
    const double step = ladderStep(wanted, 5);
    m_maximum = std::ceil(wanted / step) * step;
    QSharedPointer<QCPAxisTickerFixed> ticker(new QCPAxisTickerFixed);
    ticker->setTickStep(step);
    m_plot->yAxis->setTicker(ticker);
    m_plot->yAxis->setNumberFormat(QStringLiteral("gb"));
    m_plot->yAxis->setNumberPrecision(6);
    m_plot->yAxis->setRange(0, m_maximum);
    // One checkpoint alone would make bars as wide as the card.
    const double count = static_cast<double>(m_pins.size());
    const double missing = std::max(0.0, 2.0 - count) / 2;
    m_plot->xAxis->setRange(-sideSpace - missing, count - 1 + sideSpace + missing);

    updateSummary();
    dataChanged();
}

int ResidentChart::elementCount() const { return static_cast<int>(m_segments.size()); }

QString ResidentChart::elementText(int element) const
{
    const Segment &segment = m_segments.at(static_cast<std::size_t>(element));
    const Pin &pin = m_pins[segment.pin];
    const ComponentAssessment &component = pin.assessment->components[segment.component];
    const quint64 bytes = segment.streamed ? component.streamedBytes : component.residentBytes;
    const quint64 whole = segment.streamed ? pin.assessment->streamedBytes : pin.assessment->residentBytes;
    QStringList lines;
    //: First line of a tooltip: component and checkpoint
    lines << tr("%1 of %2").arg(m_wording.componentLabel(component.component), pin.shortName);
    lines << toText(formatBytesExactly(bytes));
    const QString share = whole > 0
                              ? toText(formatPercent(static_cast<double>(bytes) / static_cast<double>(whole)))
                              : QStringLiteral("–");
    lines << (segment.streamed ? tr("streamed for a token: %1 of what it reads").arg(share)
                               : tr("resident: %1 of what it holds").arg(share));
    if (!component.reason.id.empty())
        lines << m_wording.detail(component.reason);
    return lines.join(QLatin1Char('\n'));
}

QRectF ResidentChart::elementRect(int element) const
{
    return segmentRect(m_segments.at(static_cast<std::size_t>(element))).translated(m_plot->pos());
}

int ResidentChart::elementAt(const QPointF &position) const
{
    // A sliver of a component is found within three pixels of it.
    int nearest = -1;
    double distance = 3.0;
    for (std::size_t i = 0; i < m_segments.size(); ++i) {
        const QRectF rect = elementRect(static_cast<int>(i));
        if (position.x() < rect.left() || position.x() > rect.right())
            continue;
        const double away = std::max({rect.top() - position.y(), position.y() - rect.bottom(), 0.0});
        if (away < distance) {
            nearest = static_cast<int>(i);
            distance = away;
        }
    }
    return nearest;
}

void ResidentChart::updateNow()
{
    relayout();
    if (m_plot->isVisibleTo(this))
        m_plot->replot(QCustomPlot::rpImmediateRefresh);
    update();
}

QSize ResidentChart::sizeHint() const { return {400, 360}; }

QSize ResidentChart::minimumSizeHint() const { return {260, 220}; }

void ResidentChart::paintHeaderNote(QPainter &painter)
{
    painter.setFont(textFont(font(), TextSize::Small));
    painter.setPen(theme().mutedText);
    painter.drawText(headerNoteRect(), Qt::AlignRight | Qt::AlignVCenter, unitName(m_unit));
}

void ResidentChart::paintBody(QPainter &painter)
{
    if (m_segments.empty()) {
        paintEmpty(painter, bodyRect(),
                   tr("Select a checkpoint to see what it holds and what a token reads of it."));
        return;
    }
    const Theme &colors = theme();
    painter.setFont(textFont(font(), TextSize::Small));
    const QFontMetricsF metrics(painter.font(), painter.device());
    const double swatch = std::floor(metrics.ascent() * 0.85);
    for (const LegendItem &item : m_legendItems) {
        const QRectF box(item.rect.left(), std::floor(item.rect.center().y() - swatch / 2), swatch, swatch);
        paintComponent(painter, box, colors, item.component);
        painter.setPen(colors.mutedText);
        const QRectF words = item.rect.adjusted(swatch + 5, 0, 0, 0);
        painter.drawText(
            words, Qt::AlignLeft | Qt::AlignVCenter,
            metrics.elidedText(m_wording.componentLabel(item.component), Qt::ElideRight, words.width() + 1));
    }
}

void ResidentChart::paintChildren(QPainter &painter)
{
    if (m_plot->isVisibleTo(this))
        paintPlot(*m_plot, painter, m_plot->pos());
}

std::shared_ptr<QPainter> ResidentChart::makePainter(QPaintDevice *device, bool vector)
{
    return makePlotPainter(device, vector);
}

void ResidentChart::restyle()
{
    stylePlot(*m_plot, theme(), font(), devicePixelRatioF());
    m_plot->yAxis->setBasePen(Qt::NoPen);
    refresh();
}

void ResidentChart::relayout()
{
    m_plot->setVisible(!m_segments.empty());
    if (m_segments.empty())
        return;
    const QRectF body = bodyRect();
    const QFontMetricsF small(textFont(font(), TextSize::Small));
    const double swatch = std::floor(small.ascent() * 0.85);
    const double line = small.height() + 4;

    // The legend flows from left to right; rows are counted first, since it stands at the bottom.
    m_legendItems.clear();
    double x = 0;
    double y = 0;
    for (const Component component : m_legend) {
        const double width = std::min(
            body.width(),
            swatch + 5 + std::ceil(small.horizontalAdvance(m_wording.componentLabel(component))) + 1);
        if (x > 0 && x + width > body.width()) {
            x = 0;
            y += line;
        }
        m_legendItems.push_back({component, QRectF(body.left() + x, y, width, line)});
        x += width + 14;
    }
    const double legendHeight = y + line;
    for (LegendItem &item : m_legendItems)
        item.rect.translate(0, body.bottom() - legendHeight);

    const QRect area(qRound(body.left()), qRound(body.top()), qRound(body.width()),
                     qRound(body.height() - legendHeight - 6));
    placePlot(*m_plot, area);
    const double left = small.horizontalAdvance(plainTick(m_maximum)) + 10;
    const QFontMetricsF strong(textFont(font(), TextSize::Strong));
    const double group = (area.width() - left - 2) / m_plot->xAxis->range().size();
    m_staggered = std::ranges::any_of(
        m_pins, [&](const Pin &pin) { return strong.horizontalAdvance(pin.shortName) > group - 6; });
    const double below =
        small.height() + (m_staggered ? small.height() + strong.height() : strong.height()) + 8;
    m_plot->axisRect()->setMargins(QMargins(qCeil(left), qCeil(small.height() / 2) + 2, 2, qCeil(below)));
}

void ResidentChart::refresh()
{
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    update();
}

void ResidentChart::paintLabels(QPainter &painter) const
{
    paintTotals(painter);
    paintNames(painter);
    if (const int current = currentElement(); current >= 0 && current < elementCount()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme().text, 1.5));
        painter.drawRect(
            segmentRect(m_segments[static_cast<std::size_t>(current)]).adjusted(-0.75, -0.75, 0.75, 0.75));
    }
}

void ResidentChart::paintTotals(QPainter &painter) const
{
    const auto bytesOf = [](const Assessment &assessment, bool streamed) {
        return static_cast<double>(streamed ? assessment.streamedBytes : assessment.residentBytes);
    };
    // Many checkpoints: smaller totals, then none, rather than totals on top of each other.
    const double pitch = m_plot->xAxis->coordToPixel(2 * barOffset) - m_plot->xAxis->coordToPixel(0);
    QFont face = textFont(textFont(font(), TextSize::Small), TextSize::Strong);
    const auto widest = [&] {
        const QFontMetricsF metrics(face);
        double width = 0;
        for (const Pin &pin : m_pins) {
            for (const bool streamed : {false, true})
                width = std::max(width, metrics.horizontalAdvance(
                                            plainAmount(bytesOf(*pin.assessment, streamed), m_unit)));
        }
        return width;
    };
    if (widest() + 3 > pitch) {
        face.setPointSizeF(face.pointSizeF() * 0.85);
        if (widest() + 2 > pitch)
            return;
    }
    painter.setFont(face);
    painter.setPen(theme().text);
    const QFontMetricsF metrics(face, painter.device());
    for (std::size_t i = 0; i < m_pins.size(); ++i) {
        for (const bool streamed : {false, true}) {
            const double bytes = bytesOf(*m_pins[i].assessment, streamed);
            const QString text = plainAmount(bytes, m_unit);
            painter.drawText(QPointF(m_plot->xAxis->coordToPixel(barKey(i, streamed))
                                         - metrics.horizontalAdvance(text) / 2,
                                     m_plot->yAxis->coordToPixel(bytes / unitBytes(m_unit)) - 4),
                             text);
        }
    }
}

void ResidentChart::paintNames(QPainter &painter) const
{
    const Theme &colors = theme();
    const double group = m_plot->xAxis->coordToPixel(1) - m_plot->xAxis->coordToPixel(0);
    const double top = m_plot->axisRect()->rect().bottom() + 4;
    const QFont small = textFont(font(), TextSize::Small);
    const QFontMetricsF smallMetrics(small, painter.device());
    const QString residentWord = tr("resident");
    const QString streamedWord = tr("streamed");
    const double residentWidth = smallMetrics.horizontalAdvance(residentWord);
    const double streamedWidth = smallMetrics.horizontalAdvance(streamedWord);
    const double barPitch = group * 2 * barOffset;
    const bool showWords = residentWidth + streamedWidth + 14 <= group;
    for (std::size_t i = 0; i < m_pins.size(); ++i) {
        const double x = m_plot->xAxis->coordToPixel(static_cast<double>(i));
        if (showWords) {
            // Each below its bar, moved apart where the bars are closer than the words.
            painter.setFont(small);
            painter.setPen(colors.mutedText);
            const double baseline = top + smallMetrics.ascent();
            const double residentX = std::min(x - barPitch / 2 - residentWidth / 2, x - 3 - residentWidth);
            const double streamedX = std::max(x + barPitch / 2 - streamedWidth / 2, x + 3);
            painter.drawText(QPointF(residentX, baseline), residentWord);
            painter.drawText(QPointF(streamedX, baseline), streamedWord);
        }
        painter.setFont(
            textFont(m_staggered ? small : font(), m_pins[i].selected ? TextSize::Strong : TextSize::Body));
        painter.setPen(colors.text);
        const QFontMetricsF metrics(painter.font(), painter.device());
        const double line = top + (showWords ? smallMetrics.height() : 0.0)
                            + (m_staggered && i % 2 == 1 ? smallMetrics.height() : 0.0);
        const QString name =
            metrics.elidedText(m_pins[i].shortName, Qt::ElideMiddle, m_staggered ? 2 * group - 8 : group - 6);
        const double width = metrics.horizontalAdvance(name);
        const double left = std::clamp(x - width / 2, 0.0, std::max(0.0, m_plot->width() - width));
        painter.drawText(QPointF(left, line + metrics.ascent()), name);
    }
}

void ResidentChart::paintBar(QPainter &painter, const QRectF &rect, Component component) const
{
    const Theme &colors = theme();
    // A hairline of the card's colour parts the segments that are thick enough to lose it.
    const double gap = rect.height() > 3 ? 0.75 : 0.0;
    paintComponent(painter, rect.normalized().adjusted(0, gap, 0, 0), colors, component);
}

QRectF ResidentChart::segmentRect(const Segment &segment) const
{
    const double key = barKey(segment.pin, segment.streamed);
    const double left = m_plot->xAxis->coordToPixel(key - barWidth / 2);
    const double right = m_plot->xAxis->coordToPixel(key + barWidth / 2);
    const double top = m_plot->yAxis->coordToPixel(segment.to);
    const double bottom = m_plot->yAxis->coordToPixel(segment.from);
    return QRectF(QPointF(left, top), QPointF(right, bottom));
}

void ResidentChart::updateSummary()
{
    if (m_pins.empty()) {
        setSummary(tr("No checkpoint is selected."));
        return;
    }
    QStringList sentences;
    for (const Pin &pin : m_pins) {
        sentences << tr("%1 holds %2 and reads %3 for a token.")
                         .arg(pin.shortName, toText(formatBytes(pin.assessment->residentBytes, m_unit)),
                              toText(formatBytes(pin.assessment->streamedBytes, m_unit)));
    }
    setSummary(sentences.join(QLatin1Char(' ')));
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/speedplot.h"

#include "models/items/text.h"
#include "widgets/amount.h"
#include "widgets/ladder.h"
#include "widgets/plotstyle.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir {

/// Ticks at 1, 2 and 5 times powers of ten, in plain numbers.
class LadderTicker final : public QCPAxisTicker
{
public:
    void setMost(int most) { m_most = most; }

protected:
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale &, QChar, int) override { return plainTick(tick); }
    QVector<double> createTickVector(double, const QCPRange &range) override
    {
        const std::vector<double> ticks = ladderTicks(range.lower, range.upper, m_most);
        return QVector<double>(ticks.begin(), ticks.end());
    }

private:
    int m_most = 8;
};

/// Draws one half of the layout on the layer that it belongs to.
class SpeedItem final : public QCPAbstractItem
{
public:
    SpeedItem(QCustomPlot *plot, const SpeedPlot &chart, bool region)
        : QCPAbstractItem(plot)
        , m_chart(chart)
        , m_region(region)
    {
        setClipToAxisRect(false);
        setSelectable(false);
        setLayer(region ? QStringLiteral("background") : QStringLiteral("overlay"));
    }

    double selectTest(const QPointF &, bool, QVariant *) const override { return -1; }

protected:
    void draw(QCPPainter *painter) override
    {
        if (m_region)
            m_chart.m_layout.paintRegion(*painter, m_chart.theme());
        else
            m_chart.m_layout.paintMarks(*painter, m_chart.theme(), m_chart.currentElement());
    }

private:
    const SpeedPlot &m_chart;
    bool m_region;
};

namespace {

QString exactSpeed(double tokensPerSecond)
{
    return SpeedPlot::tr("%1 tok/s")
        .arg(QLocale::c().toString(tokensPerSecond, 'f', tokensPerSecond < 10 ? 2 : 1));
}

QString contextText(std::optional<std::uint64_t> tokens)
{
    return tokens ? SpeedPlot::tr("%1 tokens of context").arg(toText(formatCount(*tokens)))
                  : SpeedPlot::tr("context not stated");
}

} // namespace

SpeedPlot::SpeedPlot(QWidget *parent)
    : Chart(parent)
    , m_plot(new QCustomPlot(this))
{
    setObjectName(QStringLiteral("speedPlot"));
    setTitle(tr("Speed and the bandwidth line"));
    setUpPlot();
    updateSummary();
}

SpeedPlot::~SpeedPlot() = default;

void SpeedPlot::setUpPlot()
{
    embedPlot(*m_plot, QStringLiteral("speedPlotArea"));
    const QSharedPointer<LadderTicker> xTicker(new LadderTicker);
    const QSharedPointer<LadderTicker> yTicker(new LadderTicker);
    m_xTicker = xTicker.data();
    m_yTicker = yTicker.data();
    m_plot->xAxis->setScaleType(QCPAxis::stLogarithmic);
    m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    m_plot->xAxis->setTicker(xTicker);
    m_plot->yAxis->setTicker(yTicker);
    m_plot->xAxis->setLabelPadding(3);
    m_plot->yAxis->setLabelPadding(4);
    m_plot->yAxis->setLabel(tr("tokens per second"));
    new SpeedItem(m_plot, *this, true); // the plot owns them
    new SpeedItem(m_plot, *this, false);
    connect(m_plot, &QCustomPlot::afterLayout, this, &SpeedPlot::computeLayout);
    m_plot->setVisible(false);
}

void SpeedPlot::setPins(const Pins &pins, ByteUnit unit)
{
    m_pins = pins;
    m_unit = unit;
    m_marks = collectSpeedMarks(m_pins);
    fitAxes();
    updateSummary();
    dataChanged();
}

void SpeedPlot::fitAxes()
{
    QString key = unitName(m_unit);
    for (const Pin &pin : m_pins) {
        key += QLatin1Char('\n') + pin.id + (pin.selected ? QLatin1String("*") : QLatin1String(""));
        if (pin.assessment)
            key += QLatin1Char('@') + toText(pin.assessment->machine.id);
    }
    if (key != m_rangeKey) {
        m_rangeKey = key;
        m_xRange.reset();
        m_yRange.reset();
    }
    if (m_marks.marks.empty())
        return;
    double xLow = std::numeric_limits<double>::infinity();
    double yLow = xLow;
    double xHigh = 0;
    double yHigh = 0;
    for (const SpeedMark &mark : m_marks.marks) {
        xLow = std::min(xLow, mark.bytesPerStep / unitBytes(m_unit));
        xHigh = std::max(xHigh, mark.bytesPerStep / unitBytes(m_unit));
        yLow = std::min({yLow, mark.tokensPerSecond, mark.low.value_or(mark.tokensPerSecond)});
        yHigh = std::max({yHigh, mark.tokensPerSecond, mark.high.value_or(mark.tokensPerSecond)});
    }
    // Left of the points stand their names.
    m_xRange.fit(xLow, xHigh, 2.5, 1.5, 1.3);
    m_yRange.fit(yLow, yHigh, 1.8, 1.8, 1.3);
    m_plot->xAxis->setRange(m_xRange.low(), m_xRange.high());
    m_plot->yAxis->setRange(m_yRange.low(), m_yRange.high());
    m_plot->xAxis->setLabel(tr("%1 read per decode step").arg(unitName(m_unit)));
}

int SpeedPlot::elementCount() const { return static_cast<int>(m_marks.marks.size()); }

QString SpeedPlot::elementText(int element) const
{
    const SpeedMark &mark = m_marks.marks.at(static_cast<std::size_t>(element));
    const Pin &pin = m_pins.at(mark.pin);
    const Assessment &assessment = *pin.assessment;
    const QString bytes =
        toText(formatBytesExactly(static_cast<std::uint64_t>(std::llround(mark.bytesPerStep))));
    const QString engine = toText(assessment.engineName + (assessment.engineVersion.empty() ? "" : " ")
                                  + assessment.engineVersion);
    QStringList lines;
    switch (mark.kind) {
    case SpeedMark::Kind::Predicted:
        lines << tr("%1, predicted").arg(pin.shortName);
        if (mark.low && mark.high)
            lines << tr("%1 (%2 to %3)")
                         .arg(exactSpeed(mark.tokensPerSecond), exactSpeed(*mark.low),
                              exactSpeed(*mark.high));
        else
            lines << exactSpeed(mark.tokensPerSecond);
        //: context, number of parallel requests, engine
        lines << tr("at %1, %2 in parallel, %3")
                     .arg(contextText(assessment.workload.contextTokens),
                          toText(formatCount(assessment.workload.concurrency)), engine);
        lines << tr("reads %1 per step").arg(bytes);
        if (!assessment.memory.fits)
            lines << tr("it does not fit: this is what it would do if it did");
        if (assessment.decode && assessment.decode->datasheetLimitTokensPerSecond > 0)
            lines << tr("the datasheet allows %1")
                         .arg(exactSpeed(assessment.decode->datasheetLimitTokensPerSecond));
        break;
    case SpeedMark::Kind::Measured:
    case SpeedMark::Kind::Claim: {
        const Measurement &row = pin.measured.at(mark.measured).row;
        lines << (mark.kind == SpeedMark::Kind::Measured ? tr("%1, measured").arg(pin.shortName)
                                                         : tr("%1, claimed").arg(pin.shortName));
        lines << exactSpeed(mark.tokensPerSecond);
        const std::string version = row.engine + (row.engineVersion.empty() ? "" : " ") + row.engineVersion;
        lines << tr("at %1, %2")
                     .arg(contextText(row.depthTokens()),
                          version.empty() ? tr("engine not stated") : toText(printable(version, 80)));
        lines << tr("reads %1 per step").arg(bytes);
        lines << tr("that is %1").arg(bandwidthText(mark.bytesPerStep * mark.tokensPerSecond));
        if (!row.source.empty())
            lines << tr("source: %1").arg(toText(printable(row.source, 100)));
        break;
    }
    case SpeedMark::Kind::Ghost:
        lines << tr("%1 by what it holds").arg(pin.shortName);
        lines << tr("holds %1").arg(bytes);
        lines << tr("Taking these bytes for what a step reads would mean %1.")
                     .arg(bandwidthText(mark.bytesPerStep * mark.tokensPerSecond));
        break;
    }
    if (m_marks.isImpossible(mark))
        lines << tr("above the datasheet's %1: an input is wrong").arg(bandwidthText(m_marks.datasheet));
    return lines.join(QLatin1Char('\n'));
}

QRectF SpeedPlot::elementRect(int element) const
{
    const auto index = static_cast<std::size_t>(element);
    if (index >= m_layout.points().size())
        return {};
    constexpr double r = SpeedLayout::pointRadius + 2;
    return QRectF(m_layout.points()[index] - QPointF(r, r), QSizeF(2 * r, 2 * r)).translated(m_plot->pos());
}

int SpeedPlot::elementAt(const QPointF &position) const
{
    // The nearest point; of a measurement inside its prediction's circle the nearer centre.
    int nearest = -1;
    double distance = SpeedLayout::pointRadius + 5;
    for (std::size_t i = 0; i < m_layout.points().size(); ++i) {
        const double away = QLineF(m_layout.points()[i] + m_plot->pos(), position).length();
        if (away < distance) {
            nearest = static_cast<int>(i);
            distance = away;
        }
    }
    return nearest;
}

void SpeedPlot::updateNow()
{
    relayout();
    if (m_plot->isVisibleTo(this))
        m_plot->replot(QCustomPlot::rpImmediateRefresh);
    update();
}

QSize SpeedPlot::sizeHint() const { return {480, 360}; }

QSize SpeedPlot::minimumSizeHint() const { return {280, 220}; }

void SpeedPlot::paintHeaderNote(QPainter &painter)
{
    using Kind = SpeedMark::Kind;
    const auto has = [&](Kind kind) {
        return std::ranges::any_of(m_marks.marks,
                                   [kind](const SpeedMark &mark) { return mark.kind == kind; });
    };
    const Theme &colors = theme();
    painter.setFont(textFont(font(), TextSize::Small));
    const QFontMetricsF metrics(painter.font(), painter.device());
    const QRectF area = headerNoteRect();
    std::vector<std::pair<Kind, QString>> entries;
    double needed = 0;
    for (const auto &[kind, text] :
         {std::pair{Kind::Claim, tr("claimed")}, std::pair{Kind::Measured, tr("measured")},
          std::pair{Kind::Predicted, tr("predicted")}}) {
        if (has(kind)) {
            entries.emplace_back(kind, text);
            needed += metrics.horizontalAdvance(text) + 26;
        }
    }
    // Half a legend misleads: all or nothing.
    if (needed - 12 > area.width())
        return;
    double right = area.right();
    for (const auto &[kind, text] : entries) {
        const double width = metrics.horizontalAdvance(text);
        painter.setPen(colors.mutedText);
        painter.drawText(QRectF(right - width, area.top(), width + 1, area.height()), Qt::AlignVCenter, text);
        const QPointF centre(right - width - 9, area.center().y());
        painter.setPen(kind == Kind::Predicted ? QPen(colors.mutedText, 1.8) : QPen(Qt::NoPen));
        painter.setBrush(kind == Kind::Predicted ? QBrush(Qt::NoBrush) : QBrush(colors.mutedText));
        if (kind == Kind::Claim) {
            painter.drawPolygon(QPolygonF({centre + QPointF(0, -4.5), centre + QPointF(4.5, 0),
                                           centre + QPointF(0, 4.5), centre + QPointF(-4.5, 0)}));
        } else {
            painter.drawEllipse(centre, 4.2, 4.2);
        }
        right -= width + 26;
    }
}

void SpeedPlot::paintBody(QPainter &painter)
{
    if (!m_marks.marks.empty())
        return;
    const bool nothing =
        std::ranges::none_of(m_pins, [](const Pin &pin) { return pin.assessment != nullptr; });
    paintEmpty(painter, bodyRect(),
               nothing ? tr("Select a checkpoint to see how fast it would decode.")
                       : tr("No speed is known for this choice of checkpoint, engine and machine."));
}

void SpeedPlot::paintChildren(QPainter &painter)
{
    if (m_plot->isVisibleTo(this))
        paintPlot(*m_plot, painter, m_plot->pos());
}

std::shared_ptr<QPainter> SpeedPlot::makePainter(QPaintDevice *device, bool vector)
{
    return makePlotPainter(device, vector);
}

void SpeedPlot::restyle()
{
    stylePlot(*m_plot, theme(), font(), devicePixelRatioF());
    refresh();
}

void SpeedPlot::relayout()
{
    m_plot->setVisible(!m_marks.marks.empty());
    if (m_marks.marks.empty())
        return;
    const QRect area = bodyRect().toAlignedRect().adjusted(0, 2, 0, 0);
    placePlot(*m_plot, area);

    const QFontMetricsF small(textFont(font(), TextSize::Small));
    const double widest = std::max(small.horizontalAdvance(plainTick(m_yRange.low())),
                                   small.horizontalAdvance(plainTick(m_yRange.high())));
    const double tickWidth = std::max(small.horizontalAdvance(plainTick(m_xRange.low())),
                                      small.horizontalAdvance(plainTick(m_xRange.high())));
    // A tick label that would leave the plot is not drawn at all: room for half of one at the ends.
    const QMargins margins(qCeil(widest + small.height() + 14), qCeil(small.height() / 2) + 2,
                           qCeil(tickWidth / 2) + 3, qCeil(2 * small.height() + 12));
    m_plot->axisRect()->setMargins(margins);
    m_xTicker->setMost(
        std::max(2, static_cast<int>((area.width() - margins.left() - margins.right()) / (tickWidth + 14))));
    m_yTicker->setMost(std::max(
        2, static_cast<int>((area.height() - margins.top() - margins.bottom()) / (small.height() * 1.5))));
}

void SpeedPlot::refresh()
{
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    update();
}

void SpeedPlot::computeLayout()
{
    if (m_marks.marks.empty()) {
        m_layout = SpeedLayout();
        return;
    }
    SpeedScale scale;
    scale.frame = m_plot->axisRect()->rect();
    scale.xLow = m_xRange.low();
    scale.xHigh = m_xRange.high();
    scale.yLow = m_yRange.low();
    scale.yHigh = m_yRange.high();
    m_layout.compute(m_marks, m_pins, m_unit, scale, font(), note());
}

QString SpeedPlot::note() const
{
    QStringList parts;
    if (m_marks.dropped > 0)
        parts << (m_marks.dropped == 1 ? tr("1 point left out: not a number")
                                       : tr("%1 points left out: not numbers").arg(m_marks.dropped));
    if (m_marks.withoutSpeed > 0)
        parts << (m_marks.withoutSpeed == 1 ? tr("1 checkpoint without a speed")
                                            : tr("%1 checkpoints without a speed").arg(m_marks.withoutSpeed));
    return parts.join(QLatin1String(" · "));
}

void SpeedPlot::updateSummary()
{
    QStringList sentences;
    for (const SpeedMark &mark : m_marks.marks) {
        if (mark.kind == SpeedMark::Kind::Ghost)
            continue;
        const Pin &pin = m_pins[mark.pin];
        const QString bytes =
            toText(formatBytes(static_cast<std::uint64_t>(std::llround(mark.bytesPerStep)), m_unit));
        if (mark.kind == SpeedMark::Kind::Predicted) {
            sentences << tr("%1: predicted %2 at %3, reading %4 per step.")
                             .arg(pin.shortName, exactSpeed(mark.tokensPerSecond),
                                  contextText(pin.assessment->workload.contextTokens), bytes);
        } else {
            sentences << tr("%1: measured %2, reading %3 per step.")
                             .arg(pin.shortName, exactSpeed(mark.tokensPerSecond), bytes);
        }
    }
    if (m_marks.datasheet > 0)
        sentences << tr("Datasheet %1.").arg(bandwidthText(m_marks.datasheet));
    if (m_marks.effective > 0)
        sentences << tr("Effective %1.").arg(bandwidthText(m_marks.effective));
    if (const QString words = note(); !words.isEmpty())
        sentences << words + QLatin1Char('.');
    setSummary(m_marks.marks.empty() ? tr("No speed is known.") : sentences.join(QLatin1Char(' ')));
}

} // namespace weir

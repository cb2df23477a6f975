// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/speedlayout.h"

#include "models/items/text.h"
#include "widgets/amount.h"
#include "widgets/labelplacer.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace weir {

namespace {

QString tr(const char *text) { return QCoreApplication::translate("weir::SpeedPlot", text); }

QSizeF textSize(const QFont &font, const QString &text)
{
    const QFontMetricsF metrics(font);
    return {std::ceil(metrics.horizontalAdvance(text)) + 2, std::ceil(metrics.height())};
}

} // namespace

double SpeedScale::x(double value) const
{
    return frame.left() + std::log(value / xLow) / std::log(xHigh / xLow) * frame.width();
}

double SpeedScale::y(double value) const
{
    return frame.bottom() - std::log(value / yLow) / std::log(yHigh / yLow) * frame.height();
}

void SpeedLayout::compute(const SpeedMarks &marks, const Pins &pins, ByteUnit unit, const SpeedScale &scale,
                          const QFont &font, const QString &note)
{
    m_marks = marks;
    m_scale = scale;
    m_font = font;
    m_unit = unit;
    m_unitBytes = unitBytes(unit);
    m_points.clear();
    m_labels.clear();
    m_lineLabels.clear();
    m_arrow.reset();

    for (const SpeedMark &mark : m_marks.marks)
        m_points.push_back(m_scale.at(mark.bytesPerStep / m_unitBytes, mark.tokensPerSecond));
    m_datasheet = lineOf(m_marks.datasheet);
    m_effective = lineOf(m_marks.effective);
    computeRegion();

    LabelPlacer placer(m_scale.frame.adjusted(3, 2, -3, -2));
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        constexpr double r = pointRadius + 1.5;
        placer.addObstacle(QRectF(m_points[i] - QPointF(r, r), QSizeF(2 * r, 2 * r)));
        const SpeedMark &mark = m_marks.marks[i];
        if (mark.low && mark.high) {
            const double x = m_points[i].x();
            placer.addObstacle(
                QRectF(QPointF(x - 4, m_scale.y(*mark.high)), QPointF(x + 4, m_scale.y(*mark.low))));
        }
    }
    for (const auto &line : {m_datasheet, m_effective}) {
        if (line)
            placer.addLine(*line);
    }
    placeArrow(placer);
    placeRegionWords(placer);
    // Points before lines: a line has many places for its label, a point has few.
    placePointLabels(placer, pins);
    if (m_datasheet) {
        placeLineLabel(
            placer, *m_datasheet,
            {tr("%1 datasheet").arg(bandwidthText(m_marks.datasheet)), bandwidthText(m_marks.datasheet)},
            true);
    }
    if (m_effective) {
        const QString speed = bandwidthText(m_marks.effective);
        const QString engine = toText(m_marks.effectiveEngine);
        const bool named = m_marks.enginesDiffer && !engine.isEmpty();
        QStringList texts;
        if (m_marks.isAsymptote) {
            if (named)
                texts << tr("%1 effective, asymptote of %2").arg(speed, engine)
                      << tr("%1, asymptote of %2").arg(speed, engine);
            texts << tr("%1 effective, asymptote").arg(speed) << tr("%1 asymptote").arg(speed);
        } else {
            if (named)
                texts << tr("%1 effective with %2").arg(speed, engine);
            texts << tr("%1 effective").arg(speed) << speed;
        }
        placeLineLabel(placer, *m_effective, texts, false);
    }
    if (!note.isEmpty()) {
        const QSizeF size = textSize(textFont(m_font, TextSize::Small), note);
        const QRectF rect(m_scale.frame.left() + 6, m_scale.frame.bottom() - size.height() - 4, size.width(),
                          size.height());
        if (placer.isFree(rect)) {
            placer.addObstacle(rect);
            m_labels.push_back({Label::Kind::Note, note, rect, 0, false, std::nullopt});
        }
    }
}

std::optional<QLineF> SpeedLayout::lineOf(double bytesPerSecond) const
{
    if (!(bytesPerSecond > 0))
        return std::nullopt;
    const double b = bytesPerSecond / m_unitBytes;
    const double x0 = std::max(m_scale.xLow, b / m_scale.yHigh);
    const double x1 = std::min(m_scale.xHigh, b / m_scale.yLow);
    if (!(x0 < x1))
        return std::nullopt;
    return QLineF(m_scale.at(x0, b / x0), m_scale.at(x1, b / x1));
}

void SpeedLayout::computeRegion()
{
    m_region.clear();
    const QRectF &frame = m_scale.frame;
    if (!(m_marks.datasheet > 0))
        return;
    if (!m_datasheet) {
        if (m_marks.datasheet / m_unitBytes < m_scale.xLow * m_scale.yLow)
            m_region = QPolygonF(frame);
        return;
    }
    const QPointF start = m_datasheet->p1();
    const QPointF end = m_datasheet->p2();
    m_region << start << end;
    if (end.x() < frame.right() - 0.01)
        m_region << frame.bottomRight();
    m_region << frame.topRight();
    if (start.y() > frame.top() + 0.01)
        m_region << frame.topLeft();
}

void SpeedLayout::placeArrow(LabelPlacer &placer)
{
    std::optional<std::size_t> ghost;
    std::optional<std::size_t> target;
    for (std::size_t i = 0; i < m_marks.marks.size(); ++i) {
        if (m_marks.marks[i].kind == SpeedMark::Kind::Ghost)
            ghost = i;
    }
    if (!ghost)
        return;
    for (std::size_t i = 0; i < m_marks.marks.size(); ++i) {
        const SpeedMark &mark = m_marks.marks[i];
        if (mark.kind == SpeedMark::Kind::Predicted && mark.pin == m_marks.marks[*ghost].pin)
            target = i;
    }
    if (target && m_points[*ghost].x() - m_points[*target].x() > 4 * pointRadius) {
        const QPointF gap(pointRadius + 2, 0);
        m_arrow = QLineF(m_points[*ghost] - gap, m_points[*target] + gap);
        placer.addObstacle(QRectF(m_arrow->p2() - QPointF(0, 4), m_arrow->p1() + QPointF(0, 4)));
    }
    const QFont small = textFont(m_font, TextSize::Small);
    const QString resident = tr("resident %1").arg(plainAmount(m_marks.marks[*ghost].bytesPerStep, m_unit));
    const QSizeF residentSize = textSize(small, resident);
    if (const auto rect = placer.place(m_points[*ghost], pointRadius, residentSize))
        m_labels.push_back(
            {Label::Kind::Ghost, resident, *rect, m_marks.marks[*ghost].pin, false, std::nullopt});
    if (!m_arrow)
        return;

    const double percent = m_marks.readFraction * 100;
    const QString share =
        percent >= 0.95 ? tr("%1 %").arg(qRound(percent)) : toText(formatPercent(m_marks.readFraction));
    const QString text = tr("reads %1 of what it holds").arg(share);
    const QSizeF size = textSize(small, text);
    if (size.width() + 8 > m_arrow->length())
        return;
    // On the shaft, where it crosses no line if there is such a place.
    std::optional<QRectF> best;
    bool bestCrosses = true;
    for (const double side : {-1.0, 1.0}) {
        for (int step = 0; step <= 10; ++step) {
            const double spare = m_arrow->length() - size.width() - 8;
            const double left = m_arrow->p2().x() + 4 + spare * (10 - step) / 10.0;
            const double top = side < 0 ? m_arrow->p1().y() - size.height() - 4.5 : m_arrow->p1().y() + 4.5;
            const QRectF rect(QPointF(left, top), size);
            if (!placer.isFree(rect))
                continue;
            bool crosses = false;
            for (const auto &line : {m_datasheet, m_effective})
                crosses = crosses || (line && lineMeetsRect(*line, rect.adjusted(-2, -1, 2, 1)));
            if (!best || (bestCrosses && !crosses)) {
                best = rect;
                bestCrosses = crosses;
            }
        }
    }
    if (best) {
        placer.addObstacle(*best);
        m_labels.push_back({Label::Kind::Arrow, text, *best, m_marks.marks[*ghost].pin, false, std::nullopt});
    }
}

void SpeedLayout::placeRegionWords(LabelPlacer &placer)
{
    if (m_region.isEmpty())
        return;
    QFont font = textFont(m_font, TextSize::Small);
    font.setItalic(true);
    for (const QString &text : {tr("impossible: an input is wrong"), tr("impossible")}) {
        const QSizeF size = textSize(font, text);
        for (double top = m_scale.frame.top() + 5; top < m_scale.frame.center().y(); top += size.height()) {
            const QRectF rect(m_scale.frame.right() - size.width() - 8, top, size.width(), size.height());
            const bool inside = std::ranges::all_of(
                std::array{rect.topLeft(), rect.bottomLeft() + QPointF(-4, 3)},
                [&](const QPointF &corner) { return m_region.containsPoint(corner, Qt::OddEvenFill); });
            if (inside && placer.isFree(rect)) {
                placer.addObstacle(rect);
                m_labels.push_back({Label::Kind::Region, text, rect, 0, false, std::nullopt});
                return;
            }
        }
    }
}

void SpeedLayout::placeLineLabel(LabelPlacer &placer, const QLineF &line, const QStringList &texts,
                                 bool isDatasheet)
{
    for (const QString &text : texts) {
        if (placeLineText(placer, line, text, isDatasheet))
            return;
    }
}

bool SpeedLayout::placeLineText(LabelPlacer &placer, const QLineF &line, const QString &text,
                                bool isDatasheet)
{
    const QFont font = textFont(textFont(m_font, TextSize::Small), TextSize::Strong);
    const QSizeF size = textSize(font, text);
    const double length = line.length();
    if (length < size.width() + 16)
        return false;
    const QPointF along = (line.p2() - line.p1()) / length;
    const QPointF up(along.y(), -along.x()); // towards the impossible region
    const double offset = size.height() / 2 + 3.0;
    const double spare = length - size.width() - 16;
    constexpr int steps = 24;
    // The datasheet's words above its line and near its upper end, the effective line's below it and near
    // its lower end: there the two cannot be mistaken for each other.
    for (const double side : {isDatasheet ? 1.0 : -1.0, isDatasheet ? -1.0 : 1.0}) {
        for (int step = 0; step <= steps; ++step) {
            const double share = isDatasheet ? step / double(steps) : 1.0 - step / double(steps);
            const QPointF from = line.p1() + along * (8 + spare * share) + up * offset * side;
            const QLineF axis(from, from + along * size.width());
            const QPolygonF box({axis.p1() + up * size.height() / 2, axis.p2() + up * size.height() / 2,
                                 axis.p2() - up * size.height() / 2, axis.p1() - up * size.height() / 2});
            if (!m_scale.frame.adjusted(1, 1, -1, -1).contains(box.boundingRect()))
                continue;
            bool free = true;
            const int pieces = std::max(2, static_cast<int>(size.width() / 6));
            for (int piece = 0; piece <= pieces && free; ++piece) {
                const QPointF centre = axis.pointAt(piece / double(pieces));
                const double half = size.height() / 2 - 1;
                free = placer.isFree(QRectF(centre - QPointF(half, half), QSizeF(2 * half, 2 * half)));
            }
            const auto &other = isDatasheet ? m_effective : m_datasheet;
            if (free && other && side != (isDatasheet ? 1.0 : -1.0)) {
                for (int corner = 0; corner < 4 && free; ++corner)
                    free = other->intersects(QLineF(box[corner], box[(corner + 1) % 4]), nullptr)
                           != QLineF::BoundedIntersection;
            }
            if (!free)
                continue;
            placer.addStrip(axis, size.height());
            m_lineLabels.push_back({text, axis, isDatasheet});
            return true;
        }
    }
    return false;
}

void SpeedLayout::placePointLabels(LabelPlacer &placer, const Pins &pins)
{
    // One label a checkpoint, at its prediction, or at its first measurement where there is none.
    std::vector<std::size_t> order;
    std::vector<bool> seen(pins.size(), false);
    for (std::size_t i = 0; i < m_marks.marks.size(); ++i) {
        const SpeedMark &mark = m_marks.marks[i];
        if (mark.kind == SpeedMark::Kind::Ghost || mark.pin >= pins.size() || seen[mark.pin])
            continue;
        seen[mark.pin] = true;
        order.push_back(i);
    }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return pins[m_marks.marks[a].pin].selected > pins[m_marks.marks[b].pin].selected;
    });
    for (const std::size_t i : order) {
        const Pin &pin = pins[m_marks.marks[i].pin];
        const QFont font = textFont(m_font, TextSize::Strong);
        // A speed of what does not fit is a thought, and must not look like an offer.
        const bool fits = pin.assessment == nullptr || pin.assessment->memory.fits;
        const QString name =
            fits ? pin.shortName
                 : QCoreApplication::translate("weir::SpeedPlot", "%1, if it fit").arg(pin.shortName);
        const QString text =
            QFontMetricsF(font).elidedText(name, Qt::ElideMiddle, m_scale.frame.width() * 0.4);
        const auto rect = placer.place(m_points[i], pointRadius, textSize(font, text));
        if (!rect)
            continue;
        Label label{Label::Kind::Point, text, *rect, m_marks.marks[i].pin, true, std::nullopt};
        const QPointF near(std::clamp(m_points[i].x(), rect->left(), rect->right()),
                           std::clamp(m_points[i].y(), rect->top() + 2, rect->bottom() - 2));
        const QLineF leader(near, m_points[i]);
        if (leader.length() > pointRadius + 9)
            label.leader = QLineF(near, leader.pointAt(1 - (pointRadius + 1) / leader.length()));
        m_labels.push_back(label);
    }
}

QFont SpeedLayout::fontOf(const Label &label) const
{
    QFont font = label.strong ? textFont(m_font, TextSize::Strong) : textFont(m_font, TextSize::Small);
    font.setItalic(label.kind == Label::Kind::Region);
    return font;
}

void SpeedLayout::paintRegion(QPainter &painter, const Theme &theme) const
{
    if (m_region.isEmpty())
        return;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.impossibleSurface);
    painter.drawPolygon(m_region);
}

void SpeedLayout::paintMarks(QPainter &painter, const Theme &theme, int current) const
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    if (m_datasheet) {
        painter.setPen(QPen(theme.impossible, 1.6));
        painter.drawLine(*m_datasheet);
    }
    if (m_effective) {
        QPen pen(theme.accent, 1.6);
        pen.setDashPattern({4, 3});
        painter.setPen(pen);
        painter.drawLine(*m_effective);
    }
    if (m_arrow) {
        painter.setPen(QPen(theme.fixedCost, 1.6));
        const QPointF tip = m_arrow->p2();
        painter.drawLine(QLineF(m_arrow->p1(), tip + QPointF(6, 0)));
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.fixedCost);
        painter.drawPolygon(QPolygonF({tip, tip + QPointF(10, -5), tip + QPointF(10, 5)}));
    }
    for (const LineLabel &label : m_lineLabels) {
        painter.save();
        painter.translate(label.axis.center());
        painter.rotate(-label.axis.angle());
        painter.setFont(textFont(textFont(m_font, TextSize::Small), TextSize::Strong));
        painter.setPen(label.isDatasheet ? theme.impossible : theme.accent);
        const double length = label.axis.length();
        painter.drawText(QRectF(-length / 2, -20, length, 40), Qt::AlignCenter, label.text);
        painter.restore();
    }
    // Predictions first, so that a measurement inside its prediction's circle stays visible.
    for (const bool measured : {false, true}) {
        for (std::size_t i = 0; i < m_points.size(); ++i) {
            const SpeedMark::Kind kind = m_marks.marks[i].kind;
            const bool isMeasured = kind == SpeedMark::Kind::Measured || kind == SpeedMark::Kind::Claim;
            if (isMeasured == measured)
                paintMark(painter, theme, i, static_cast<int>(i) == current);
        }
    }
    for (const Label &label : m_labels) {
        if (label.leader) {
            painter.setPen(QPen(theme.axis, 1));
            painter.drawLine(*label.leader);
        }
        QColor ink = theme.mutedText;
        if (label.kind == Label::Kind::Point)
            ink = theme.text;
        else if (label.kind == Label::Kind::Region)
            ink = theme.impossible;
        painter.setFont(fontOf(label));
        painter.setPen(ink);
        painter.drawText(label.rect.adjusted(-2, -2, 2, 2), Qt::AlignCenter, label.text);
    }
}

void SpeedLayout::paintMark(QPainter &painter, const Theme &theme, std::size_t index, bool current) const
{
    const SpeedMark &mark = m_marks.marks[index];
    const QPointF point = m_points[index];
    const QColor color = theme.pin(mark.pin);
    if (mark.low && mark.high) {
        const double top = std::max(m_scale.y(*mark.high), m_scale.frame.top());
        const double bottom = std::min(m_scale.y(*mark.low), m_scale.frame.bottom());
        painter.setPen(QPen(color, 1.4));
        painter.drawLine(QPointF(point.x(), top), QPointF(point.x(), bottom));
        for (const double y : {top, bottom})
            painter.drawLine(QPointF(point.x() - 3.5, y), QPointF(point.x() + 3.5, y));
    }
    switch (mark.kind) {
    case SpeedMark::Kind::Predicted:
        painter.setPen(QPen(color, 2));
        painter.setBrush(theme.card);
        painter.drawEllipse(point, pointRadius, pointRadius);
        break;
    case SpeedMark::Kind::Measured:
        painter.setPen(QPen(theme.card, 1));
        painter.setBrush(color);
        painter.drawEllipse(point, pointRadius - 1.5, pointRadius - 1.5);
        break;
    case SpeedMark::Kind::Claim: {
        const double r = pointRadius - 0.5;
        painter.setPen(QPen(theme.card, 1));
        painter.setBrush(color);
        painter.drawPolygon(QPolygonF(
            {point + QPointF(0, -r), point + QPointF(r, 0), point + QPointF(0, r), point + QPointF(-r, 0)}));
        break;
    }
    case SpeedMark::Kind::Ghost: {
        QPen pen(theme.fixedCost, 1.6);
        pen.setDashPattern({2, 1.6});
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(point, pointRadius, pointRadius);
        break;
    }
    }
    const bool wrong = mark.kind != SpeedMark::Kind::Ghost && m_marks.isImpossible(mark);
    if (current || wrong) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(current ? theme.text : theme.impossible, 1.5));
        painter.drawEllipse(point, pointRadius + 3, pointRadius + 3);
    }
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineF>
#include <QRectF>

#include <optional>
#include <vector>

namespace weir {

/// Finds places for labels beside points so that no label covers another label, a point or anything
/// else that was there before, and none leaves the frame. Greedy: place the most important label first.
class LabelPlacer
{
public:
    explicit LabelPlacer(const QRectF &frame);

    /// Something that no label may cover.
    void addObstacle(const QRectF &rect);
    /// As addObstacle() for a slanted strip of a height, such as a text along a line.
    void addStrip(const QLineF &axis, double height);
    /// A line that labels may cross, but rather do not.
    void addLine(const QLineF &line);

    /// Whether a label could be here.
    bool isFree(const QRectF &rect) const;
    /// The nearest good place for a label of `size` around a point of `radius`; from then on an obstacle.
    /// Empty when there is none within `reach` pixels: then better no label.
    std::optional<QRectF> place(const QPointF &point, double radius, const QSizeF &size, double reach = 60);

private:
    bool crossesLine(const QRectF &rect) const;

    QRectF m_frame;
    std::vector<QRectF> m_obstacles;
    std::vector<QLineF> m_lines;
};

/// Whether a line meets a rectangle.
bool lineMeetsRect(const QLineF &line, const QRectF &rect);

} // namespace weir

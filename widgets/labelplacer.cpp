// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/labelplacer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weir {

namespace {

struct Direction
{
    double x; ///< -1 left of the point, 0 centred on it, 1 right
    double y; ///< -1 above, 1 below
    double cost;
};

// The lines of the speed plot fall from left to right: below left and above right of a point are free.
constexpr std::array<Direction, 8> directions{{{-1, 1, 0.0},
                                               {-1, 0, 0.6},
                                               {0, 1, 1.2},
                                               {1, 0, 1.6},
                                               {1, -1, 1.8},
                                               {0, -1, 2.0},
                                               {1, 1, 2.4},
                                               {-1, -1, 2.6}}};

QRectF labelRect(const QPointF &point, const QSizeF &size, double distance, const Direction &direction)
{
    // Diagonal labels start at the circle's corner, not at its bounding square's.
    const double reach = direction.x != 0 && direction.y != 0 ? distance * 0.72 : distance;
    const double cx = point.x() + direction.x * (reach + size.width() / 2);
    const double cy = point.y() + direction.y * (reach + size.height() / 2);
    return {cx - size.width() / 2, cy - size.height() / 2, size.width(), size.height()};
}

} // namespace

LabelPlacer::LabelPlacer(const QRectF &frame)
    : m_frame(frame)
{}

void LabelPlacer::addObstacle(const QRectF &rect) { m_obstacles.push_back(rect); }

void LabelPlacer::addStrip(const QLineF &axis, double height)
{
    const double length = axis.length();
    const int pieces = std::max(1, static_cast<int>(std::ceil(length / std::max(1.0, height))));
    for (int i = 0; i < pieces; ++i) {
        const QPointF a = axis.pointAt(static_cast<double>(i) / pieces);
        const QPointF b = axis.pointAt(static_cast<double>(i + 1) / pieces);
        const double half = height / 2;
        m_obstacles.push_back(
            QRectF(a, b).normalized().adjusted(-half * 0.7, -half * 0.7, half * 0.7, half * 0.7));
    }
}

void LabelPlacer::addLine(const QLineF &line) { m_lines.push_back(line); }

bool LabelPlacer::isFree(const QRectF &rect) const
{
    return m_frame.contains(rect) && std::ranges::none_of(m_obstacles, [&](const QRectF &obstacle) {
               return obstacle.intersects(rect);
           });
}

std::optional<QRectF> LabelPlacer::place(const QPointF &point, double radius, const QSizeF &size,
                                         double reach)
{
    double best = std::numeric_limits<double>::infinity();
    QRectF found;
    for (double gap = 3; gap <= reach; gap += gap < 9 ? 3 : 6) {
        for (const Direction &direction : directions) {
            const QRectF rect = labelRect(point, size, radius + gap, direction);
            const double cost = direction.cost + (gap - 3) * 0.35;
            if (cost < best && isFree(rect)) {
                const double whole = cost + (crossesLine(rect) ? 4.0 : 0.0);
                if (whole < best) {
                    best = whole;
                    found = rect;
                }
            }
        }
    }
    if (!std::isfinite(best))
        return std::nullopt;
    addObstacle(found);
    return found;
}

bool LabelPlacer::crossesLine(const QRectF &rect) const
{
    return std::ranges::any_of(m_lines, [&](const QLineF &line) { return lineMeetsRect(line, rect); });
}

bool lineMeetsRect(const QLineF &line, const QRectF &rect)
{
    if (rect.contains(line.p1()) || rect.contains(line.p2()))
        return true;
    const std::array<QLineF, 4> sides{
        QLineF(rect.topLeft(), rect.topRight()), QLineF(rect.topRight(), rect.bottomRight()),
        QLineF(rect.bottomRight(), rect.bottomLeft()), QLineF(rect.bottomLeft(), rect.topLeft())};
    return std::ranges::any_of(sides, [&](const QLineF &side) {
        return line.intersects(side, nullptr) == QLineF::BoundedIntersection;
    });
}

} // namespace weir

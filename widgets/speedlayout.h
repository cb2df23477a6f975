// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "widgets/speedmarks.h"
#include "widgets/theme.h"

#include <QFont>
#include <QLineF>
#include <QPolygonF>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

class QPainter;

namespace weir {

class LabelPlacer;

/// A log-log frame: values in GB (or GiB) and tokens per second to pixels.
struct SpeedScale
{
    QRectF frame;
    double xLow = 1;
    double xHigh = 10;
    double yLow = 1;
    double yHigh = 10;

    double x(double value) const;
    double y(double value) const;
    QPointF at(double xValue, double yValue) const { return {x(xValue), y(yValue)}; }
};

/// Where everything inside the frame of the speed plot goes, and its drawing. Lines end at the frame (SVG
/// knows no clipping), labels cover neither points nor each other and are left out where there is no room.
class SpeedLayout
{
public:
    /// A level text.
    struct Label
    {
        enum class Kind : std::uint8_t { Point, Ghost, Arrow, Region, Note };
        Kind kind = Kind::Point;
        QString text;
        QRectF rect;
        std::size_t pin = 0;
        bool strong = false;
        std::optional<QLineF> leader; ///< to its point, when it stands away from it
    };
    /// A text along a line.
    struct LineLabel
    {
        QString text;
        QLineF axis; ///< the text's middle line, from its left to its right end
        bool isDatasheet = false;
    };

    static constexpr double pointRadius = 5.5;

    /// Places everything. `notes` is a line about what is not shown, empty for none.
    void compute(const SpeedMarks &marks, const Pins &pins, ByteUnit unit, const SpeedScale &scale,
                 const QFont &font, const QString &note);

    /// The shading above the datasheet line, to be drawn below the grid.
    void paintRegion(QPainter &painter, const Theme &theme) const;
    /// All else. `current` is the index of the highlighted mark, or -1.
    void paintMarks(QPainter &painter, const Theme &theme, int current) const;

    /// Centres of the marks, in their order.
    const std::vector<QPointF> &points() const { return m_points; }
    const std::vector<Label> &labels() const { return m_labels; }
    const std::vector<LineLabel> &lineLabels() const { return m_lineLabels; }
    const QPolygonF &region() const { return m_region; }
    std::optional<QLineF> datasheetLine() const { return m_datasheet; }
    std::optional<QLineF> effectiveLine() const { return m_effective; }

private:
    std::optional<QLineF> lineOf(double bytesPerSecond) const;
    void computeRegion();
    void placeArrow(LabelPlacer &placer);
    void placeRegionWords(LabelPlacer &placer);
    /// The first of `texts` that has room; whether one had.
    void placeLineLabel(LabelPlacer &placer, const QLineF &line, const QStringList &texts, bool isDatasheet);
    bool placeLineText(LabelPlacer &placer, const QLineF &line, const QString &text, bool isDatasheet);
    void placePointLabels(LabelPlacer &placer, const Pins &pins);
    void paintMark(QPainter &painter, const Theme &theme, std::size_t index, bool current) const;
    QFont fontOf(const Label &label) const;

    SpeedMarks m_marks;
    SpeedScale m_scale;
    QFont m_font;
    double m_unitBytes = 1e9;
    ByteUnit m_unit = ByteUnit::Gigabytes;
    std::vector<QPointF> m_points;
    std::vector<Label> m_labels;
    std::vector<LineLabel> m_lineLabels;
    std::optional<QLineF> m_datasheet;
    std::optional<QLineF> m_effective;
    std::optional<QLineF> m_arrow; ///< from the ghost to the predicted point
    QPolygonF m_region;
};

} // namespace weir

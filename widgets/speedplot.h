// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "widgets/chart.h"
#include "widgets/pin.h"
#include "widgets/speedlayout.h"
#include "widgets/stablerange.h"

class QCustomPlot;

namespace weir {

class LadderTicker;
class SpeedItem;

/// "Speed and the bandwidth line": tokens per second over the bytes that a decode step reads, both
/// logarithmic. The datasheet's bandwidth is a line that no honest point can pass; each checkpoint has
/// its prediction and its measurements, and the selected MoE the point where its resident bytes would
/// wrongly put it. Elements are the points.
class SpeedPlot : public Chart
{
    Q_OBJECT

public:
    explicit SpeedPlot(QWidget *parent = nullptr);
    ~SpeedPlot() override;

    /// Shows the selected and the pinned checkpoints. The axes keep still while numbers move a little; a
    /// different set of checkpoints, machine or unit fits them anew.
    void setPins(const Pins &pins, ByteUnit unit);

    int elementCount() const override;
    QString elementText(int element) const override;
    QRectF elementRect(int element) const override;
    int elementAt(const QPointF &position) const override;
    void updateNow() override;

    const SpeedMarks &marks() const { return m_marks; }
    /// What lies where, in pixels of the plot; valid after updateNow().
    const SpeedLayout &layoutOfMarks() const { return m_layout; }
    /// Axis ranges, in the unit shown and in tokens per second.
    const StableRange &xRange() const { return m_xRange; }
    const StableRange &yRange() const { return m_yRange; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintHeaderNote(QPainter &painter) override;
    void paintBody(QPainter &painter) override;
    void paintChildren(QPainter &painter) override;
    std::shared_ptr<QPainter> makePainter(QPaintDevice *device, bool vector) override;
    void restyle() override;
    void relayout() override;
    void refresh() override;

private:
    friend class SpeedItem;

    void setUpPlot();
    void fitAxes();
    void computeLayout();
    QString note() const;
    void updateSummary();

    QCustomPlot *m_plot = nullptr;
    LadderTicker *m_xTicker = nullptr; ///< the axes own them
    LadderTicker *m_yTicker = nullptr;
    Pins m_pins;
    ByteUnit m_unit = ByteUnit::Gigabytes;
    SpeedMarks m_marks;
    SpeedLayout m_layout;
    StableRange m_xRange;
    StableRange m_yRange;
    QString m_rangeKey; ///< what the ranges were fitted for
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "widgets/chart.h"
#include "widgets/pin.h"

#include <array>
#include <vector>

class QCustomPlot;

namespace weir {

class ComponentBars;
class ResidentLabels;
class Wording;

/// "Resident and streamed": for each checkpoint a bar of what it holds and beside it a bar of what one
/// token reads, stacked by component. Elements are the segments, from the left and from below.
class ResidentChart : public Chart
{
    Q_OBJECT

public:
    /// `wording` outlives the chart.
    explicit ResidentChart(const Wording &wording, QWidget *parent = nullptr);
    ~ResidentChart() override;

    /// Shows the selected and the pinned checkpoints, in this order.
    void setPins(const Pins &pins, ByteUnit unit);

    int elementCount() const override;
    QString elementText(int element) const override;
    QRectF elementRect(int element) const override;
    int elementAt(const QPointF &position) const override;
    void updateNow() override;

    /// The top of the value axis, in the unit shown.
    double axisMaximum() const { return m_maximum; }
    /// Components of the legend.
    const std::vector<Component> &legend() const { return m_legend; }

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
    friend class ComponentBars;
    friend class ResidentLabels;

    struct Segment
    {
        std::size_t pin = 0;
        bool streamed = false;
        std::size_t component = 0; ///< index into the assessment's components
        double from = 0;           ///< in the unit shown
        double to = 0;
    };
    struct LegendItem
    {
        Component component = Component::Other;
        QRectF rect;
    };

    void setUpPlot();
    void paintLabels(QPainter &painter) const;
    void paintNames(QPainter &painter) const;
    void paintTotals(QPainter &painter) const;
    void paintBar(QPainter &painter, const QRectF &rect, Component component) const;
    QRectF segmentRect(const Segment &segment) const;
    void updateSummary();

    const Wording &m_wording;
    QCustomPlot *m_plot = nullptr;
    std::array<ComponentBars *, componentCount> m_bars{};
    Pins m_pins; ///< those that have an assessment
    ByteUnit m_unit = ByteUnit::Gigabytes;
    std::vector<Segment> m_segments;
    std::vector<Component> m_legend;
    std::vector<LegendItem> m_legendItems;
    double m_maximum = 1;
    bool m_staggered = false; ///< names take two lines, in turn
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/decode/assessment.h"
#include "widgets/chart.h"

#include <memory>
#include <vector>

namespace weir {

/// The memory card: what a checkpoint takes of one machine's memory, what is kept free and what is
/// left, against the memory that the system shows (the red line) and the nominal one (the end).
/// What does not fit is drawn past the line. Reads the assessment, makes no sums of its own beyond
/// adding activations to the runtime.
class MemoryBar : public Chart
{
    Q_OBJECT

public:
    enum class Part : std::uint8_t { Weights, Kv, State, Runtime, Reserve, Free, Hidden };

    explicit MemoryBar(QWidget *parent = nullptr);

    /// Shows an assessment; nullptr for the empty state.
    void setAssessment(std::shared_ptr<const Assessment> assessment, ByteUnit unit);

    int elementCount() const override;
    QString elementText(int element) const override;
    QRectF elementRect(int element) const override;
    int elementAt(const QPointF &position) const override;

    /// The part that an element stands for, for tests and tools.
    Part elementPart(int element) const;
    /// Where the line of the visible memory is drawn.
    double visibleLineX() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintHeaderNote(QPainter &painter) override;
    void paintBody(QPainter &painter) override;
    void relayout() override;

private:
    struct Segment
    {
        Part part = Part::Weights;
        quint64 begin = 0;
        quint64 bytes = 0;
        QRectF rect;
        bool labelled = false; ///< its label fits inside
    };

    QString partName(Part part) const;
    QString partLabel(const Segment &segment) const;
    QColor partColor(Part part) const;
    double xOf(double bytes) const;
    void paintSegment(QPainter &painter, const Segment &segment) const;
    void paintLabel(QPainter &painter, const Segment &segment, double visibleLine) const;
    void paintAxis(QPainter &painter) const;
    void paintLegend(QPainter &painter) const;
    void updateSummary();

    std::shared_ptr<const Assessment> m_assessment;
    ByteUnit m_unit = ByteUnit::Gigabytes;
    std::vector<Segment> m_segments;
    QRectF m_bar;
    double m_scaleBytes = 1; ///< bytes at the right end of the bar
};

} // namespace weir

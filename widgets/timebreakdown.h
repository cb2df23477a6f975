// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/decode/assessment.h"
#include "widgets/chart.h"

#include <memory>
#include <vector>

namespace weir {

/// "Where the time goes": one bar for a decode step, cut by what is read, and a row for each cut with
/// its bytes and its milliseconds. Made for a narrow column, without a card of its own.
class TimeBreakdown : public Chart
{
    Q_OBJECT

public:
    explicit TimeBreakdown(QWidget *parent = nullptr);

    /// Shows an assessment; nullptr, or one without a speed, gives the empty state.
    void setAssessment(std::shared_ptr<const Assessment> assessment, ByteUnit unit);

    int elementCount() const override;
    QString elementText(int element) const override;
    /// The row of a cut; its part of the bar answers elementAt() too.
    QRectF elementRect(int element) const override;
    int elementAt(const QPointF &position) const override;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintHeaderNote(QPainter &painter) override;
    void paintBody(QPainter &painter) override;
    void relayout() override;

private:
    enum class Cut : std::uint8_t { Weights, State, Kv, Fixed };
    struct Row
    {
        Cut cut = Cut::Weights;
        quint64 bytes = 0;
        double seconds = 0;
        QRectF row;
        QRectF bar;
    };

    QString label(const Row &row) const;
    QColor color(Cut cut) const;

    std::shared_ptr<const Assessment> m_assessment;
    ByteUnit m_unit = ByteUnit::Gigabytes;
    std::vector<Row> m_rows;
    double m_seconds = 0; ///< of the whole step
};

} // namespace weir

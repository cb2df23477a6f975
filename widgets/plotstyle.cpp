// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plotstyle.h"

#include "widgets/theme.h"

#include <qcustomplot.h>

namespace weir {

void embedPlot(QCustomPlot &plot, const QString &objectName)
{
    plot.setObjectName(objectName);
    plot.setFocusPolicy(Qt::NoFocus);
    plot.setAttribute(Qt::WA_TransparentForMouseEvents);
    plot.setMouseTracking(false);
    plot.setInteractions(QCP::Interactions());
    plot.plotLayout()->setAutoMargins(QCP::msNone);
    plot.plotLayout()->setMargins(QMargins());
    plot.axisRect()->setAutoMargins(QCP::msNone);
    for (QCPAxis *axis : {plot.xAxis, plot.yAxis}) {
        axis->setSubTicks(false);
        axis->setTickLength(0, 0);
        // Not Qt::NoPen: SVG output then draws a dot for each tick.
        axis->setTickPen(QPen(Qt::transparent));
        axis->setTickLabelPadding(5);
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
}

void stylePlot(QCustomPlot &plot, const Theme &theme, const QFont &font, qreal devicePixelRatio)
{
    plot.setBufferDevicePixelRatio(devicePixelRatio);
    plot.setBackground(QBrush(theme.card));
    const QFont small = textFont(font, TextSize::Small);
    for (QCPAxis *axis : {plot.xAxis, plot.yAxis}) {
        axis->setBasePen(QPen(theme.axis, 1));
        axis->setTickLabelFont(small);
        axis->setTickLabelColor(theme.mutedText);
        axis->setLabelFont(small);
        axis->setLabelColor(theme.mutedText);
        axis->grid()->setPen(QPen(theme.grid, 1));
    }
}

void placePlot(QCustomPlot &plot, const QRect &area)
{
    if (plot.geometry() != area)
        plot.setGeometry(area);
    const QRect viewport(QPoint(), area.size());
    if (plot.viewport() != viewport)
        plot.setViewport(viewport);
}

std::shared_ptr<QPainter> makePlotPainter(QPaintDevice *device, bool vector)
{
    auto painter = std::make_shared<QCPPainter>(device);
    painter->setMode(QCPPainter::pmNoCaching);
    painter->setMode(vector ? QCPPainter::pmVectorized : QCPPainter::pmNonCosmetic);
    return painter;
}

void paintPlot(QCustomPlot &plot, QPainter &painter, const QPoint &origin)
{
    auto &plotPainter = static_cast<QCPPainter &>(painter);
    plotPainter.save();
    plotPainter.translate(origin);
    plot.toPainter(&plotPainter, plot.width(), plot.height());
    plotPainter.restore();
}

} // namespace weir

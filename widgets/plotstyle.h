// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>

#include <memory>

class QCustomPlot;
class QFont;
class QPaintDevice;
class QPainter;
class QPoint;
class QRect;
class QString;

namespace weir {

struct Theme;

/// Once, after making a plot that lies inside a Chart: the chart takes mouse and keyboard, the plot only
/// draws.
void embedPlot(QCustomPlot &plot, const QString &objectName);
/// Takes colours, fonts and the device pixel ratio over; QCustomPlot follows none of them by itself.
void stylePlot(QCustomPlot &plot, const Theme &theme, const QFont &font, qreal devicePixelRatio);
/// Moves a plot. One that was never shown gets no resize event, and would lay itself out for another size.
void placePlot(QCustomPlot &plot, const QRect &area);
/// A painter for paintPlot(); `vector` for SVG and PDF.
std::shared_ptr<QPainter> makePlotPainter(QPaintDevice *device, bool vector);
/// Draws the plot at `origin`; `painter` is of makePlotPainter().
void paintPlot(QCustomPlot &plot, QPainter &painter, const QPoint &origin);

} // namespace weir

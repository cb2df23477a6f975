// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/columnscroll.h"

#include <QEvent>
#include <QScrollBar>

namespace weir {

ColumnScroll::ColumnScroll(QWidget *parent)
    : QScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus); // what is inside takes the focus
}

QSize ColumnScroll::minimumSizeHint() const
{
    if (widget() == nullptr)
        return QScrollArea::minimumSizeHint();
    return {widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width(), 200};
}

QSize ColumnScroll::sizeHint() const
{
    return widget() != nullptr ? widget()->sizeHint() : QScrollArea::sizeHint();
}

bool ColumnScroll::eventFilter(QObject *watched, QEvent *event)
{
    const bool handled = QScrollArea::eventFilter(watched, event);
    // QScrollArea keeps the needs of its widget to itself.
    // Told on only when it changed: texts that change with every step of a slider must not lay out the window.
    if (watched == widget() && event->type() == QEvent::LayoutRequest
        && widget()->minimumSizeHint().width() != m_contentsWidth) {
        m_contentsWidth = widget()->minimumSizeHint().width();
        updateGeometry();
    }
    return handled;
}

} // namespace weir

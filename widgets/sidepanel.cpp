// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/sidepanel.h"

#include "widgets/theme.h"

#include <QPainter>

namespace weir {

SidePanel::SidePanel(Qt::Edge line, QWidget *parent)
    : QWidget(parent)
    , m_line(line)
{
    setContentsMargins(line == Qt::LeftEdge ? 1 : 0, 0, line == Qt::RightEdge ? 1 : 0, 0);
}

void SidePanel::paintEvent(QPaintEvent *)
{
    const Theme &theme = Theme::of(this);
    QPainter painter(this);
    painter.fillRect(rect(), theme.card);
    const int x = m_line == Qt::LeftEdge ? 0 : width() - 1;
    painter.fillRect(QRect(x, 0, 1, height()), theme.border);
}

} // namespace weir

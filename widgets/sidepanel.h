// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace weir {

/// A quiet column at the side of the window: the surface of a card, with one line towards the middle.
class SidePanel : public QWidget
{
    Q_OBJECT

public:
    explicit SidePanel(Qt::Edge line, QWidget *parent = nullptr);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    Qt::Edge m_line;
};

} // namespace weir

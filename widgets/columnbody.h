// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace weir {

/// What a ColumnScroll shows when it is to shrink before it scrolls: a scroll area gives widgets whose text
/// wraps their preferred height, this one asks for the least.
class ColumnBody : public QWidget
{
    Q_OBJECT

public:
    explicit ColumnBody(QWidget *parent = nullptr);

    int heightForWidth(int width) const override;
};

} // namespace weir

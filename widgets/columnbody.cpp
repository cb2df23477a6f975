// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/columnbody.h"

#include <QLayout>

namespace weir {

ColumnBody::ColumnBody(QWidget *parent)
    : QWidget(parent)
{}

int ColumnBody::heightForWidth(int width) const
{
    return layout() != nullptr ? layout()->minimumHeightForWidth(width) : QWidget::heightForWidth(width);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/items/measurementmodel.h"

#include <QWidget>

class QLabel;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace weir {

/// Published measurements of the selected checkpoint, each beside the prediction for its own machine,
/// engine and context. Rows can be sorted and copied. GUI thread.
class MeasurementTable : public QWidget
{
    Q_OBJECT

public:
    explicit MeasurementTable(QWidget *parent = nullptr);

    void setRows(std::vector<MeasurementRow> rows);
    int rowCount() const;
    /// All rows, or those selected, as tab-separated text with a header.
    QString asText(bool selectedOnly) const;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void fitColumns();

    MeasurementModel *m_model = nullptr;
    QSortFilterProxyModel *m_sorted = nullptr;
    QStackedWidget *m_pages = nullptr;
    QTableView *m_table = nullptr;
    QLabel *m_empty = nullptr;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measurementtable.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weir {

MeasurementTable::MeasurementTable(QWidget *parent)
    : QWidget(parent)
    , m_model(new MeasurementModel(this))
    , m_sorted(new QSortFilterProxyModel(this))
{
    setObjectName(QStringLiteral("measurementTable"));
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(MeasurementModel::SortRole);

    m_table = new QTableView(this);
    m_table->setObjectName(QStringLiteral("measurementRows"));
    m_table->setAccessibleName(tr("Measurements of the selected checkpoint"));
    m_table->setModel(m_sorted);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setShowGrid(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setWordWrap(false);
    m_table->setSortingEnabled(true);
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 9);
    m_table->setTabKeyNavigation(false);
    m_table->installEventFilter(this);

    m_empty = new QLabel(
        tr("No published measurement of this checkpoint is known here. The speed above is a prediction."),
        this);
    m_empty->setObjectName(QStringLiteral("measurementsEmpty"));
    m_empty->setProperty("role", QStringLiteral("muted"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);

    m_pages = new QStackedWidget(this);
    m_pages->addWidget(m_table);
    m_pages->addWidget(m_empty);
    m_pages->setCurrentWidget(m_empty);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_pages);
}

void MeasurementTable::setRows(std::vector<MeasurementRow> rows)
{
    const bool empty = rows.empty();
    m_model->setRows(std::move(rows));
    m_pages->setCurrentIndex(empty ? 1 : 0);
    if (empty)
        return;
    fitColumns();
}

void MeasurementTable::fitColumns()
{
    // Contents and headings, no endless names; what is left goes to the source, in the last column.
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    const QFontMetrics heading(bold);
    for (int column = 0; column < MeasurementModel::Source; ++column) {
        // A heading leaves room for the arrow of sorting.
        int width = heading.horizontalAdvance(m_sorted->headerData(column, Qt::Horizontal).toString()) + 34;
        for (int row = 0; row < m_sorted->rowCount(); ++row) {
            const QString text = m_sorted->index(row, column).data().toString();
            width = std::max(width, fontMetrics().horizontalAdvance(text) + 20);
        }
        m_table->setColumnWidth(column, std::min(width, 200));
    }
}

int MeasurementTable::rowCount() const { return m_model->rowCount(); }

QString MeasurementTable::asText(bool selectedOnly) const
{
    QStringList lines;
    QStringList cells;
    for (int column = 0; column < m_sorted->columnCount(); ++column)
        cells << m_sorted->headerData(column, Qt::Horizontal).toString();
    lines << cells.join(QLatin1Char('\t'));
    for (int row = 0; row < m_sorted->rowCount(); ++row) {
        if (selectedOnly && !m_table->selectionModel()->isRowSelected(row, {}))
            continue;
        cells.clear();
        for (int column = 0; column < m_sorted->columnCount(); ++column)
            cells << m_sorted->index(row, column).data().toString();
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

bool MeasurementTable::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_table && event->type() == QEvent::KeyPress
        && static_cast<QKeyEvent *>(event)->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(asText(m_table->selectionModel()->hasSelection()));
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace weir

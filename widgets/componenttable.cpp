// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/componenttable.h"

#include "models/items/componentmodel.h"
#include "widgets/theme.h"
#include "widgets/wording.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

namespace weir {

namespace {

/// Either the components or the total of a ComponentModel.
class PartProxy final : public QSortFilterProxyModel
{
public:
    PartProxy(bool total, QObject *parent)
        : QSortFilterProxyModel(parent)
        , m_total(total)
    {
        setSortRole(ComponentModel::SortRole);
        setSortCaseSensitivity(Qt::CaseInsensitive);
        setSortLocaleAware(true);
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override
    {
        return sourceModel()->index(row, 0, parent).data(ComponentModel::TotalRole).toBool() == m_total;
    }

private:
    bool m_total;
};

} // namespace

ComponentTable::ComponentTable(const Wording &wording, QWidget *parent)
    : QWidget(parent)
    , m_rows(new QTableView(this))
    , m_total(new QTableView(this))
    , m_empty(new QLabel(tr("Select a checkpoint to see what it is made of."), this))
{
    setObjectName(QStringLiteral("componentTable"));
    setAccessibleName(tr("Components"));
    m_model =
        new ComponentModel({[&wording](Component component) { return wording.componentLabel(component); },
                            [&wording](const Message &message) {
                                return message.id.empty() ? QString() : wording.detail(message);
                            },
                            [this](Component component) { return swatch(component); }},
                           this);

    auto *rows = new PartProxy(false, this);
    rows->setSourceModel(m_model);
    auto *total = new PartProxy(true, this);
    total->setSourceModel(m_model);

    setUpView(m_rows);
    m_rows->setObjectName(QStringLiteral("componentRows"));
    m_rows->setAccessibleName(tr("Components"));
    m_rows->setModel(rows);
    m_rows->setSortingEnabled(true);
    // Unsorted at first: the order of the charts.
    rows->sort(-1);
    m_rows->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    m_rows->horizontalHeader()->setSortIndicatorClearable(true);

    setUpView(m_total);
    m_total->setObjectName(QStringLiteral("componentTotal"));
    m_total->setAccessibleName(tr("Total of the components"));
    m_total->setModel(total);
    m_total->setProperty("total", true);
    m_total->horizontalHeader()->hide();
    m_total->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_total->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_total->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_empty->setObjectName(QStringLiteral("componentEmpty"));
    m_empty->setProperty("role", QStringLiteral("muted"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    layout->addWidget(m_rows, 1);
    layout->addWidget(m_empty, 1);
    layout->addWidget(m_total);

    connect(m_rows->horizontalHeader(), &QHeaderView::sectionResized, this,
            [this](int section, int, int size) {
                m_total->setColumnWidth(section, size);
                m_userSized = m_userSized || !m_fitting;
            });
    connect(m_rows->horizontalHeader(), &QHeaderView::sectionMoved, this,
            [this](int, int from, int to) { m_total->horizontalHeader()->moveSection(from, to); });
    connect(m_rows->horizontalScrollBar(), &QScrollBar::valueChanged, m_total->horizontalScrollBar(),
            &QScrollBar::setValue);

    auto *copy = new QAction(tr("Copy Rows"), this);
    copy->setObjectName(QStringLiteral("copyComponentRows"));
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this, &ComponentTable::copySelection);
    addAction(copy);
    m_rows->addAction(copy);
    m_rows->setContextMenuPolicy(Qt::ActionsContextMenu);
    setFocusProxy(m_rows);
    showParts();
}

void ComponentTable::setAssessment(std::shared_ptr<const Assessment> assessment, ByteUnit unit)
{
    m_model->setAssessment(std::move(assessment), unit);
    showParts();
    if (!m_fitted && m_model->rowCount() > 0) {
        m_fitted = true;
        fitColumns();
    }
}

QString ComponentTable::selectionAsText() const
{
    const QAbstractItemModel *rows = m_rows->model();
    const QAbstractItemModel *total = m_total->model();
    const auto line = [](const QAbstractItemModel *model, int row) {
        QStringList cells;
        for (int column = 0; column < model->columnCount(); ++column) {
            // A tab or line break inside a cell would shift all that follow.
            QString cell = model->index(row, column).data(ComponentModel::ExactRole).toString();
            cells << cell.replace(QLatin1Char('\t'), QLatin1Char(' '))
                         .replace(QLatin1Char('\n'), QLatin1Char(' '));
        }
        return cells.join(QLatin1Char('\t'));
    };
    QStringList headings;
    for (int column = 0; column < rows->columnCount(); ++column) {
        const QString heading = rows->headerData(column, Qt::Horizontal).toString();
        const bool bytes = column == ComponentModel::Resident || column == ComponentModel::Streamed;
        headings << (bytes ? tr("%1 (bytes)").arg(heading) : heading);
    }
    QStringList lines{headings.join(QLatin1Char('\t'))};
    const QItemSelectionModel *selection = m_rows->selectionModel();
    const bool all = !selection->hasSelection();
    for (int row = 0; row < rows->rowCount(); ++row) {
        if (all || selection->rowIntersectsSelection(row))
            lines << line(rows, row);
    }
    if (all && total->rowCount() > 0)
        lines << line(total, 0);
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void ComponentTable::copySelection() { QApplication::clipboard()->setText(selectionAsText()); }

void ComponentTable::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    switch (event->type()) {
    case QEvent::PaletteChange:
    case QEvent::StyleChange:
        m_swatches.clear();
        if (m_model != nullptr)
            m_model->refreshDecorations();
        break;
    case QEvent::FontChange:
        if (m_model != nullptr) {
            for (QTableView *view : {m_rows, m_total})
                view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
            fitColumns();
            showParts();
        }
        break;
    default: break;
    }
}

void ComponentTable::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    fitColumns();
}

QPixmap ComponentTable::swatch(Component component)
{
    const double ratio = devicePixelRatioF();
    QPixmap &pixmap = m_swatches[static_cast<int>(component)];
    if (pixmap.isNull() || pixmap.devicePixelRatio() != ratio) {
        pixmap = QPixmap(QSize(12, 12) * ratio);
        pixmap.setDevicePixelRatio(ratio);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        paintComponent(painter, QRectF(1, 1, 10, 10), Theme::of(this), component);
    }
    return pixmap;
}

void ComponentTable::setUpView(QTableView *view)
{
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->setShowGrid(false);
    view->setWordWrap(false);
    view->setFrameShape(QFrame::NoFrame);
    view->setTextElideMode(Qt::ElideRight);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view->setTabKeyNavigation(false);
    view->setIconSize(QSize(12, 12));
    view->verticalHeader()->hide();
    view->verticalHeader()->setMinimumSectionSize(16);
    view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    view->horizontalHeader()->setHighlightSections(false);
    view->horizontalHeader()->setMinimumSectionSize(48);
    view->horizontalHeader()->setSectionsMovable(true);
}

void ComponentTable::fitColumns()
{
    if (m_model->rowCount() == 0 || m_userSized)
        return;
    m_fitting = true;
    // Contents decide, and the reasons get what is left.
    int used = 0;
    for (int column = 0; column < ComponentModel::ColumnCount; ++column) {
        if (column == ComponentModel::Why)
            continue;
        m_rows->setColumnHidden(column, false);
        m_rows->resizeColumnToContents(column);
        const int width = m_rows->columnWidth(column) + 8;
        m_rows->setColumnWidth(column, width);
        used += width;
    }
    // Where the window is narrow, how a component is stored gives way to why it is read: a table that has to
    // be scrolled sideways is read by nobody.
    const int wanted = fontMetrics().averageCharWidth() * 30;
    const int storedAs = m_rows->columnWidth(ComponentModel::StoredAs);
    const bool narrow = m_rows->viewport()->width() - used < wanted;
    for (QTableView *view : {m_rows, m_total})
        view->setColumnHidden(ComponentModel::StoredAs, narrow);
    const int left = m_rows->viewport()->width() - used + (narrow ? storedAs : 0);
    m_rows->setColumnWidth(ComponentModel::Why, std::max(left, fontMetrics().averageCharWidth() * 16));
    m_fitting = false;
}

void ComponentTable::showParts()
{
    const bool shown = m_model->rowCount() > 0;
    m_rows->setVisible(shown);
    m_total->setVisible(shown);
    m_empty->setVisible(!shown);
    m_total->setFixedHeight(m_total->verticalHeader()->defaultSectionSize() + 2);
}

} // namespace weir

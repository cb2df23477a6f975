// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/catalogview.h"

#include "models/items/catalogmodel.h"
#include "models/items/text.h"
#include "widgets/catalogdelegate.h"
#include "widgets/rowtree.h"
#include "widgets/theme.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <chrono>

namespace weir {

CatalogView::CatalogView(CatalogModel *model, QWidget *parent)
    : QWidget(parent)
    , m_model(model)
    , m_filter(new CatalogFilter(this))
{
    setObjectName(QStringLiteral("catalogView"));

    setupControls();
    setupList(model);

    auto *controls = new QHBoxLayout;
    controls->setSpacing(6);
    controls->addWidget(m_show, 1);
    controls->addWidget(m_order, 1);

    auto *head = new QVBoxLayout;
    head->setContentsMargins(14, 8, 14, 0);
    head->setSpacing(8);
    head->addWidget(m_text);
    head->addLayout(controls);
    head->addWidget(m_caption);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    layout->addLayout(head);
    layout->addWidget(m_pages, 1);

    updateEmptyState();
}

void CatalogView::setupControls()
{
    m_text = new QLineEdit(this);
    m_text->setObjectName(QStringLiteral("catalogFilter"));
    m_text->setAccessibleName(tr("Filter checkpoints"));
    m_text->setPlaceholderText(tr("Filter"));
    m_text->setToolTip(tr("Shows checkpoints whose name, quantization, id or engine has all these words"));
    m_text->setClearButtonEnabled(true);
    m_text->installEventFilter(this);

    // A short rest in typing: the list does not jump with every letter.
    auto *delay = new QTimer(this);
    delay->setSingleShot(true);
    delay->setInterval(std::chrono::milliseconds(150));
    connect(m_text, &QLineEdit::textChanged, delay, qOverload<>(&QTimer::start));
    connect(delay, &QTimer::timeout, this, [this] {
        m_filter->setText(m_text->text());
        updateEmptyState();
    });

    m_show = new QComboBox(this);
    m_show->setObjectName(QStringLiteral("catalogShow"));
    m_show->setAccessibleName(tr("Which checkpoints are shown"));
    m_show->addItem(tr("All"), static_cast<int>(Fit::Unknown));
    m_show->addItem(tr("That fit"), static_cast<int>(Fit::Tight));
    connect(m_show, &QComboBox::currentIndexChanged, this, [this] {
        m_filter->setMinimumFit(static_cast<Fit>(m_show->currentData().toInt()));
        updateEmptyState();
        emit filterChanged();
    });

    m_order = new QComboBox(this);
    m_order->setObjectName(QStringLiteral("catalogOrder"));
    m_order->setAccessibleName(tr("Order of the checkpoints"));
    m_order->addItem(tr("As listed"), static_cast<int>(CatalogFilter::Order::Catalog));
    m_order->addItem(tr("By name"), static_cast<int>(CatalogFilter::Order::Name));
    m_order->addItem(tr("Smallest"), static_cast<int>(CatalogFilter::Order::Size));
    m_order->addItem(tr("Fastest"), static_cast<int>(CatalogFilter::Order::Speed));
    connect(m_order, &QComboBox::currentIndexChanged, this, [this] {
        m_filter->setOrder(static_cast<CatalogFilter::Order>(m_order->currentData().toInt()));
        emit filterChanged();
    });

    m_caption = new QLabel(this);
    m_caption->setObjectName(QStringLiteral("catalogCaption"));
    m_caption->setProperty("role", QStringLiteral("muted"));
    m_caption->setFont(textFont(font(), TextSize::Small));
}

void CatalogView::setupList(CatalogModel *model)
{
    m_filter->setSourceModel(model);
    // Before the view's own connections: rows that a filter takes away must not move the selection.
    connect(m_filter, &QAbstractItemModel::rowsAboutToBeRemoved, this, [this] { m_updating = true; });
    connect(m_filter, &QAbstractItemModel::modelAboutToBeReset, this, [this] { m_updating = true; });

    m_list = new QListView(this);
    m_list->setObjectName(QStringLiteral("catalogList"));
    m_list->setAccessibleName(tr("Checkpoints"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setModel(m_filter);
    m_list->setItemDelegate(new CatalogDelegate(m_list));
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->verticalScrollBar()->setSingleStep(16);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setMouseTracking(true);
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    m_list->installEventFilter(this);
    m_list->viewport()->installEventFilter(this);

    m_empty = new QLabel(this);
    m_empty->setObjectName(QStringLiteral("catalogEmpty"));
    m_empty->setProperty("role", QStringLiteral("muted"));
    m_empty->setAlignment(Qt::AlignTop | Qt::AlignHCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(24);

    m_pages = new QStackedWidget(this);
    m_pages->addWidget(m_list);
    m_pages->addWidget(m_empty);

    const auto settle = [this] {
        m_updating = false;
        restoreCurrent();
        updateEmptyState();
    };
    connect(m_filter, &QAbstractItemModel::rowsRemoved, this, settle);
    connect(m_filter, &QAbstractItemModel::modelReset, this, settle);
    connect(m_filter, &QAbstractItemModel::rowsInserted, this, settle);
    connect(m_filter, &QAbstractItemModel::layoutChanged, this, settle);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex &current) {
                if (m_updating || !current.isValid())
                    return;
                const QString id = current.data(CatalogModel::IdRole).toString();
                if (id == m_selected)
                    return;
                m_selected = id;
                emit selected(id);
            });
    connect(m_list, &QWidget::customContextMenuRequested, this, &CatalogView::showContextMenu);
}

void CatalogView::setSelected(const QString &id)
{
    m_selected = id;
    restoreCurrent();
}

void CatalogView::setSpeedContext(quint64 contextTokens)
{
    m_caption->setText(tr("tok/s at %1 tokens of context").arg(toText(formatCount(contextTokens))));
}

void CatalogView::setOrder(CatalogFilter::Order order)
{
    m_order->setCurrentIndex(m_order->findData(static_cast<int>(order)));
}

CatalogFilter::Order CatalogView::order() const { return m_filter->order(); }

void CatalogView::setMinimumFit(Fit fit) { m_show->setCurrentIndex(fit == Fit::Unknown ? 0 : 1); }

Fit CatalogView::minimumFit() const { return m_filter->minimumFit(); }

void CatalogView::focusFilter()
{
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

bool CatalogView::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_list->viewport()
        && (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonDblClick)) {
        const auto *mouse = static_cast<QMouseEvent *>(event);
        const QModelIndex index = m_list->indexAt(mouse->pos());
        if (mouse->button() == Qt::LeftButton
            && CatalogDelegate::isOnArrow(m_list->visualRect(index), mouse->pos(), index)) {
            setUnfolded(index, !index.data(CatalogFilter::UnfoldedRole).toBool());
            return true;
        }
    }
    if (event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (watched == m_text) {
            if (handleFilterKey(m_text, m_list, key->key()))
                return true;
        } else if (watched == m_list && m_list->currentIndex().isValid()) {
            const QModelIndex current = m_list->currentIndex();
            switch (key->key()) {
            case Qt::Key_Space: emit pinToggled(current.data(CatalogModel::IdRole).toString()); return true;
            case Qt::Key_Right: setUnfolded(current, true); return true;
            case Qt::Key_Left: setUnfolded(current, false); return true;
            default: break;
            }
        }
    }
    return QWidget::eventFilter(watched, event);
}

void CatalogView::setUnfolded(const QModelIndex &row, bool unfolded)
{
    if (!row.isValid())
        return;
    if (unfolded) {
        m_filter->setUnfolded(row, true);
        return;
    }
    // What is folded away hands the selection to the row it is folded into.
    const QModelIndex head = m_filter->headOf(row);
    const QModelIndex current = m_list->currentIndex();
    if (head.isValid() && current.isValid() && current != head && m_filter->headOf(current) == head)
        m_list->setCurrentIndex(head);
    m_filter->setUnfolded(head, false);
}

void CatalogView::restoreCurrent()
{
    const QScopedValueRollback updating(m_updating, true);
    m_filter->reveal(m_model->indexOf(m_selected));
    const QModelIndex index = m_filter->mapFromSource(m_model->indexOf(m_selected));
    if (!index.isValid()) {
        m_list->setCurrentIndex({});
        m_list->clearSelection();
        return;
    }
    if (m_list->currentIndex() != index)
        m_list->setCurrentIndex(index);
    if (!m_list->selectionModel()->isSelected(index))
        m_list->selectionModel()->select(index, QItemSelectionModel::ClearAndSelect);
    m_list->scrollTo(index);
}

void CatalogView::showContextMenu(const QPoint &position)
{
    const QModelIndex index = m_list->indexAt(position);
    if (!index.isValid())
        return;
    const QString id = index.data(CatalogModel::IdRole).toString();
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const bool pinned = index.data(CatalogModel::PinnedRole).toBool();
    QAction *pin = menu->addAction(pinned ? tr("Unpin") : tr("Pin"));
    connect(pin, &QAction::triggered, this, [this, id] { emit pinToggled(id); });
    if (const int siblings = index.data(CatalogFilter::SiblingsRole).toInt(); siblings > 1) {
        const bool unfolded = index.data(CatalogFilter::UnfoldedRole).toBool();
        QAction *fold = menu->addAction(unfolded ? tr("Fold %n Quantizations", nullptr, siblings)
                                                 : tr("Show %n Quantizations", nullptr, siblings));
        const QPersistentModelIndex row(index);
        connect(fold, &QAction::triggered, this, [this, row, unfolded] { setUnfolded(row, !unfolded); });
    }
    QAction *copy = menu->addAction(tr("Copy Id"));
    connect(copy, &QAction::triggered, this, [id] { QApplication::clipboard()->setText(id); });
    menu->popup(m_list->viewport()->mapToGlobal(position));
}

void CatalogView::updateEmptyState()
{
    const bool empty = m_filter->rowCount() == 0;
    m_pages->setCurrentIndex(empty ? 1 : 0);
    if (!empty)
        return;
    if (m_model->rowCount() == 0)
        m_empty->setText(
            tr("The catalog is empty. Drop a model folder or a .gguf file here, or type its path above."));
    else if (!m_filter->text().isEmpty())
        m_empty->setText(tr("No checkpoint has “%1” in it. Escape clears the filter.").arg(m_filter->text()));
    else
        m_empty->setText(tr("Nothing in the catalog fits this machine at this context. "
                            "Choose “All” to see why."));
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/diskview.h"

#include "models/items/text.h"
#include "widgets/openfield.h"
#include "widgets/rowtree.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <chrono>

namespace weir {

namespace {

constexpr auto typingRest = std::chrono::milliseconds(150);
constexpr auto scrollRest = std::chrono::milliseconds(120);

} // namespace

DiskView::DiskView(DiskModel *model, QWidget *parent)
    : QWidget(parent)
    , m_model(model)
    , m_filter(new DiskFilter(this))
    , m_settling(new QTimer(this))
{
    setObjectName(QStringLiteral("diskView"));
    setAcceptDrops(true);
    m_settling->setSingleShot(true);
    m_settling->setInterval(scrollRest);
    connect(m_settling, &QTimer::timeout, this, &DiskView::reportVisible);

    setupControls();
    setupList(model);

    auto *controls = new QHBoxLayout;
    controls->setSpacing(6);
    controls->addWidget(m_order, 1);
    controls->addWidget(m_refresh);
    auto *head = new QVBoxLayout;
    head->setContentsMargins(14, 8, 14, 0);
    head->setSpacing(8);
    head->addWidget(m_text);
    head->addLayout(controls);
    head->addWidget(m_caption);

    auto *bottom = new QVBoxLayout;
    bottom->setContentsMargins(14, 2, 14, 10);
    bottom->setSpacing(6);
    bottom->addWidget(m_footer);
    bottom->addWidget(m_add);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    layout->addLayout(head);
    layout->addWidget(m_pages, 1);
    layout->addLayout(bottom);
}

void DiskView::setupControls()
{
    m_text = new QLineEdit(this);
    m_text->setObjectName(QStringLiteral("diskFilter"));
    m_text->setAccessibleName(tr("Filter what is on this disk"));
    m_text->setPlaceholderText(tr("Filter"));
    m_text->setToolTip(tr("Shows checkpoints whose name, quantization or place has all these words"));
    m_text->setClearButtonEnabled(true);
    m_text->installEventFilter(this);
    auto *delay = new QTimer(this);
    delay->setSingleShot(true);
    delay->setInterval(typingRest);
    connect(m_text, &QLineEdit::textChanged, delay, qOverload<>(&QTimer::start));
    connect(delay, &QTimer::timeout, this, [this] {
        m_filter->setText(m_text->text());
        showRows();
    });

    m_order = new QComboBox(this);
    m_order->setObjectName(QStringLiteral("diskOrder"));
    m_order->setAccessibleName(tr("Order of the checkpoints on this disk"));
    m_order->addItem(tr("By name"), static_cast<int>(DiskFilter::Order::Name));
    m_order->addItem(tr("Largest"), static_cast<int>(DiskFilter::Order::Largest));
    m_order->addItem(tr("Newest"), static_cast<int>(DiskFilter::Order::Newest));
    connect(m_order, &QComboBox::currentIndexChanged, this, [this] {
        m_filter->setOrder(static_cast<DiskFilter::Order>(m_order->currentData().toInt()));
        emit orderChanged();
    });

    m_refresh = new QToolButton(this);
    m_refresh->setObjectName(QStringLiteral("diskRefresh"));
    m_refresh->setText(tr("Refresh"));
    m_refresh->setToolTip(tr("Look through the disk again"));
    m_refresh->setProperty("outlined", true);
    m_refresh->setFocusPolicy(Qt::StrongFocus);
    connect(m_refresh, &QToolButton::clicked, this, &DiskView::refreshRequested);

    m_caption = new QLabel(this);
    m_caption->setObjectName(QStringLiteral("diskCaption"));
    m_caption->setProperty("role", QStringLiteral("muted"));
    m_caption->setFont(textFont(font(), TextSize::Small));

    m_footer = new QLabel(this);
    m_footer->setObjectName(QStringLiteral("diskFooter"));
    m_footer->setProperty("role", QStringLiteral("muted"));
    m_footer->setTextFormat(Qt::PlainText);
    m_footer->setWordWrap(true);
    m_footer->setFont(textFont(font(), TextSize::Small));
    m_footer->hide();

    m_add = new QPushButton(tr("Add Folder…"), this);
    m_add->setObjectName(QStringLiteral("diskAddFolder"));
    m_add->setToolTip(tr("Lists the checkpoints below a folder here, and keeps looking there"));
    connect(m_add, &QPushButton::clicked, this, &DiskView::folderAsked);
}

void DiskView::setupList(DiskModel *model)
{
    m_filter->setSourceModel(model);
    m_list = new RowTree(m_filter, m_settling, this);
    m_list->setObjectName(QStringLiteral("diskList"));
    m_list->setAccessibleName(tr("Checkpoints on this disk"));
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    m_list->installEventFilter(this);
    connect(m_list, &QAbstractItemView::clicked, this, &DiskView::activate);
    connect(m_list, &QWidget::customContextMenuRequested, this, &DiskView::showContextMenu);
    connect(m_list, &QTreeView::collapsed, this, [this](const QModelIndex &index) {
        if (!m_restoring)
            m_folded << index.data(DiskModel::PathRole).toString();
    });
    connect(m_list, &QTreeView::expanded, this, [this](const QModelIndex &index) {
        if (!m_restoring)
            m_folded.removeAll(index.data(DiskModel::PathRole).toString());
    });

    m_sentence = new QLabel(this);
    m_sentence->setObjectName(QStringLiteral("diskSentence"));
    m_sentence->setProperty("role", QStringLiteral("muted"));
    m_sentence->setTextFormat(Qt::PlainText);
    m_sentence->setAlignment(Qt::AlignTop | Qt::AlignHCenter);
    m_sentence->setWordWrap(true);
    m_sentence->setMargin(20);

    m_pages = new QStackedWidget(this);
    m_pages->addWidget(m_list);
    m_pages->addWidget(m_sentence);

    connect(m_filter, &QAbstractItemModel::rowsInserted, this, &DiskView::restoreRows);
    connect(m_filter, &QAbstractItemModel::rowsRemoved, this, &DiskView::restoreRows);
    connect(m_filter, &QAbstractItemModel::modelReset, this, &DiskView::restoreRows);
}

void DiskView::showRows()
{
    if (m_filter->rowCount() == 0 && !m_filter->text().isEmpty()) {
        showSentence(
            tr("No checkpoint on this disk has “%1” in it. Escape clears the filter.").arg(m_filter->text()));
        return;
    }
    m_pages->setCurrentIndex(0);
}

void DiskView::showSentence(const QString &sentence)
{
    m_sentence->setText(sentence);
    m_sentence->setAccessibleName(sentence);
    m_pages->setCurrentIndex(1);
}

void DiskView::setScanning(bool scanning)
{
    m_refresh->setEnabled(!scanning);
    m_refresh->setText(scanning ? tr("Looking…") : tr("Refresh"));
}

void DiskView::setFooter(const QString &text)
{
    m_footer->setText(text);
    m_footer->setVisible(!text.isEmpty());
}

void DiskView::setSpeedContext(quint64 contextTokens)
{
    m_caption->setText(tr("tok/s at %1 tokens of context").arg(toText(formatCount(contextTokens))));
}

void DiskView::setSelected(const QString &reference)
{
    m_selected = reference;
    restoreRows();
}

void DiskView::focusFilter()
{
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

void DiskView::setOrder(DiskFilter::Order order)
{
    m_order->setCurrentIndex(m_order->findData(static_cast<int>(order)));
}

void DiskView::restoreRows()
{
    const QScopedValueRollback restoring(m_restoring, true);
    for (int row = 0; row < m_filter->rowCount(); ++row) {
        const QModelIndex place = m_filter->index(row, 0);
        m_list->setExpanded(place, !m_folded.contains(place.data(DiskModel::PathRole).toString()));
    }
    const QModelIndex index = m_filter->mapFromSource(m_model->indexOf(m_selected));
    if (!index.isValid()) {
        m_list->clearSelection();
        return;
    }
    if (m_list->isExpanded(index.parent()))
        m_list->setCurrentIndex(index);
}

void DiskView::activate(const QModelIndex &index)
{
    if (!index.isValid())
        return;
    if (index.parent().isValid())
        emit activated(index.data(ReferenceRole).toString());
    else
        m_list->setExpanded(index, !m_list->isExpanded(index));
}

void DiskView::showContextMenu(const QPoint &position)
{
    const QModelIndex index = m_list->indexAt(position);
    if (!index.isValid())
        return;
    auto *menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("diskMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QString path = index.data(DiskModel::PathRole).toString();
    if (index.parent().isValid()) {
        connect(menu->addAction(tr("Open")), &QAction::triggered, this,
                [this, path] { emit activated(path); });
        connect(menu->addAction(tr("Copy Name for weir")), &QAction::triggered, this,
                [path] { QApplication::clipboard()->setText(path); });
    }
    const QString place =
        index.parent().isValid() ? index.parent().data(DiskModel::PathRole).toString() : path;
    connect(menu->addAction(tr("Show in File Manager")), &QAction::triggered, this, [this, path, place] {
        emit showInFolderRequested(path.startsWith(QLatin1Char('/')) ? path : place);
    });
    if (index.data(DiskModel::AddedRole).toBool()) {
        connect(menu->addAction(tr("Remove from This List")), &QAction::triggered, this,
                [this, path] { emit removeRequested(path); });
    }
    menu->popup(m_list->viewport()->mapToGlobal(position));
}

bool DiskView::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if (watched == m_text) {
            if (handleFilterKey(m_text, m_list, key))
                return true;
        } else if (watched == m_list) {
            const QModelIndex current = m_list->currentIndex();
            if ((key == Qt::Key_Return || key == Qt::Key_Enter) && current.isValid()) {
                activate(current);
                return true;
            }
            if (key == Qt::Key_Space && current.isValid()) {
                if (current.parent().isValid())
                    emit pinToggled(current.data(ReferenceRole).toString());
                else
                    activate(current);
                return true;
            }
            if (key == Qt::Key_Delete && current.data(DiskModel::AddedRole).toBool()) {
                emit removeRequested(current.data(DiskModel::PathRole).toString());
                return true;
            }
            if (key == Qt::Key_F5) {
                emit refreshRequested();
                return true;
            }
        }
    }
    return QWidget::eventFilter(watched, event);
}

void DiskView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_settling->start();
}

void DiskView::dragEnterEvent(QDragEnterEvent *event)
{
    if (!OpenField::pathOf(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void DiskView::dropEvent(QDropEvent *event)
{
    const QString path = OpenField::pathOf(event->mimeData());
    if (path.isEmpty())
        return;
    event->acceptProposedAction();
    emit folderDropped(path);
}

void DiskView::reportVisible()
{
    QStringList references;
    if (isVisible()) {
        for (const QModelIndex &index : m_list->visibleRows()) {
            if (index.parent().isValid())
                references << index.data(ReferenceRole).toString();
        }
    }
    emit visibleChanged(references);
}

} // namespace weir

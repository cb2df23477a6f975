// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/comparisontable.h"

#include "models/items/text.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QSet>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weir {

namespace {

enum Column { Name, Weights, Streamed, Needed, FitColumn, Speed, ColumnCount };

constexpr int idRole = Qt::UserRole;
constexpr int familyRole = Qt::UserRole + 1;

/// Rows as high as those of the tables beside it, a line below each, and no frame around the current cell.
class RowDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QSize size = QStyledItemDelegate::sizeHint(option, index);
        size.setHeight(option.fontMetrics.height() + 9);
        return size;
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QStyleOptionViewItem plain(option);
        plain.state.setFlag(QStyle::State_HasFocus, false);
        if (plain.state.testFlag(QStyle::State_Selected)) {
            plain.state.setFlag(QStyle::State_Selected, false);
            painter->fillRect(option.rect, Theme::of(option.widget).accentSurface);
        }
        QStyledItemDelegate::paint(painter, plain, index);
        painter->setPen(Theme::of(option.widget).divider);
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    }
};

} // namespace

ComparisonTable::ComparisonTable(QWidget *parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("comparisonTable"));
    m_tree = new QTreeWidget(this);
    m_tree->setObjectName(QStringLiteral("comparisonRows"));
    m_tree->setAccessibleName(tr("Models side by side, with their quantizations"));
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setColumnCount(ColumnCount);
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(18);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(Name, QHeaderView::Stretch);
    m_tree->setItemDelegate(new RowDelegate(m_tree));
    m_tree->installEventFilter(this);

    m_empty = new QLabel(tr("Select or pin a checkpoint to see it beside its other quantizations."), this);
    m_empty->setObjectName(QStringLiteral("comparisonEmpty"));
    m_empty->setProperty("role", QStringLiteral("muted"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_pages = new QStackedWidget(this);
    m_pages->addWidget(m_tree);
    m_pages->addWidget(m_empty);
    m_pages->setCurrentWidget(m_empty);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_pages);

    connect(m_tree, &QTreeWidget::itemActivated, this,
            [this](const QTreeWidgetItem *item) { emit selected(item->data(Name, idRole).toString()); });
}

void ComparisonTable::setModels(const std::vector<ComparisonModel> &models, ByteUnit unit,
                                quint64 contextTokens)
{
    m_contextTokens = contextTokens;
    QSet<QString> unfolded;
    for (int i = 0; i < m_tree->topLevelItemCount(); ++i) {
        const QTreeWidgetItem *item = m_tree->topLevelItem(i);
        if (item->isExpanded())
            unfolded.insert(item->data(Name, familyRole).toString());
    }
    const QTreeWidgetItem *current = m_tree->currentItem();
    const QString currentId = current != nullptr ? current->data(Name, idRole).toString() : QString();

    m_tree->clear();
    m_tree->setHeaderLabels({tr("Checkpoint"), tr("Weights"), tr("Read per token"), tr("Needs"), tr("Fit"),
                             tr("tok/s at %1").arg(toText(formatCount(contextTokens)))});
    for (int column = Weights; column < ColumnCount; ++column) {
        m_tree->headerItem()->setTextAlignment(column, (column == FitColumn ? Qt::AlignLeft : Qt::AlignRight)
                                                           | Qt::AlignVCenter);
    }
    for (const ComparisonModel &model : models) {
        if (model.rows.empty())
            continue;
        const ComparisonRow &first = model.rows.front();
        auto *head = new QTreeWidgetItem(m_tree);
        head->setData(Name, familyRole, model.family);
        QString title = first.name + QLatin1Char(' ') + first.quantization;
        if (model.rows.size() > 1)
            title += QStringLiteral(" +%1").arg(model.rows.size() - 1);
        fill(head, first, title, unit);
        for (std::size_t i = 1; i < model.rows.size(); ++i) {
            const ComparisonRow &row = model.rows[i];
            const QString name = row.name == first.name
                                     ? row.quantization
                                     : QString(row.name + QLatin1Char(' ') + row.quantization);
            fill(new QTreeWidgetItem(head), row, name, unit);
        }
        head->setExpanded(unfolded.contains(model.family));
    }
    for (QTreeWidgetItemIterator each(m_tree); *each != nullptr; ++each) {
        if ((*each)->data(Name, idRole).toString() == currentId && !currentId.isEmpty())
            m_tree->setCurrentItem(*each);
    }
    fitColumns();
    m_pages->setCurrentIndex(m_tree->topLevelItemCount() > 0 ? 0 : 1);
}

void ComparisonTable::fitColumns()
{
    // Headings and contents, whether or not a row is unfolded: columns stay where they are.
    const QFontMetrics strong(textFont(font(), TextSize::Strong));
    for (int column = Weights; column < ColumnCount; ++column) {
        int width = strong.horizontalAdvance(m_tree->headerItem()->text(column)) + 40;
        for (QTreeWidgetItemIterator each(m_tree); *each != nullptr; ++each)
            width = std::max(width, strong.horizontalAdvance((*each)->text(column)) + 18);
        m_tree->header()->setSectionResizeMode(column, QHeaderView::Fixed);
        m_tree->header()->resizeSection(column, width);
    }
}

void ComparisonTable::fill(QTreeWidgetItem *item, const ComparisonRow &row, const QString &name,
                           ByteUnit unit) const
{
    item->setData(Name, idRole, row.id);
    item->setText(Name, row.derived ? tr("%1 (derived)").arg(name) : name);
    item->setToolTip(Name, plainToolTip(row.id + QLatin1Char('\n') + row.engineName));
    const auto bytes = [&](int column, quint64 value) {
        item->setText(column, toText(formatBytes(value, unit)));
        item->setToolTip(column, plainToolTip(toText(formatBytesExactly(value))));
    };
    bytes(Weights, row.weightBytes);
    bytes(Streamed, row.streamedBytes);
    bytes(Needed, row.neededBytes);
    item->setText(FitColumn, fitText(row.fit));
    item->setText(Speed, row.tokensPerSecond ? toText(formatSpeed(*row.tokensPerSecond)) : tr("none"));
    item->setToolTip(Speed, row.tokensPerSecond
                                ? plainToolTip(tr("%1 at %2 tokens of context, predicted for %3")
                                                   .arg(speedText(*row.tokensPerSecond),
                                                        toText(formatCount(m_contextTokens)), row.engineName))
                                : plainToolTip(tr("No speed where it does not fit or cannot be loaded")));
    for (const int column : {Weights, Streamed, Needed, Speed})
        item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    if (row.shown) {
        for (int column = 0; column < ColumnCount; ++column)
            item->setFont(column, textFont(font(), TextSize::Strong));
    }
}

QString ComparisonTable::asText() const
{
    QStringList lines;
    QStringList cells;
    for (int column = 0; column < ColumnCount; ++column)
        cells << m_tree->headerItem()->text(column);
    lines << cells.join(QLatin1Char('\t'));
    for (QTreeWidgetItemIterator each(m_tree, QTreeWidgetItemIterator::NotHidden); *each != nullptr; ++each) {
        if ((*each)->parent() != nullptr && !(*each)->parent()->isExpanded())
            continue;
        cells.clear();
        for (int column = 0; column < ColumnCount; ++column)
            cells << (*each)->text(column);
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

bool ComparisonTable::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_tree && event->type() == QEvent::KeyPress) {
        auto *key = static_cast<QKeyEvent *>(event);
        if (key->matches(QKeySequence::Copy)) {
            QApplication::clipboard()->setText(asText());
            return true;
        }
        if (key->key() == Qt::Key_Space && m_tree->currentItem() != nullptr) {
            emit pinToggled(m_tree->currentItem()->data(Name, idRole).toString());
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace weir

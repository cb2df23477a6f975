// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/hubview.h"

#include "models/items/hubfilter.h"
#include "models/items/hubmodel.h"
#include "models/items/text.h"
#include "widgets/rowtree.h"
#include "widgets/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <chrono>

namespace weir {

namespace {

constexpr auto typingRest = std::chrono::milliseconds(250);
constexpr auto scrollRest = std::chrono::milliseconds(120);

} // namespace

HubView::HubView(HubModel *model, QWidget *parent)
    : QWidget(parent)
    , m_filter(new HubFilter(this))
    , m_typing(new QTimer(this))
    , m_settling(new QTimer(this))
{
    setObjectName(QStringLiteral("hubView"));
    m_typing->setSingleShot(true);
    m_typing->setInterval(typingRest);
    connect(m_typing, &QTimer::timeout, this, &HubView::searchNow);
    m_settling->setSingleShot(true);
    m_settling->setInterval(scrollRest);
    connect(m_settling, &QTimer::timeout, this, &HubView::reportVisible);

    setupControls();
    setupList(model);

    auto *first = new QHBoxLayout;
    first->setSpacing(6);
    first->addWidget(m_sort, 1);
    first->addWidget(m_format, 1);
    auto *second = new QHBoxLayout;
    second->setSpacing(6);
    second->addWidget(m_size, 1);
    second->addWidget(m_fitting, 1);
    auto *head = new QVBoxLayout;
    head->setContentsMargins(14, 8, 14, 0);
    head->setSpacing(8);
    head->addWidget(m_text);
    head->addLayout(first);
    head->addLayout(second);
    head->addWidget(m_caption);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    layout->addLayout(head);
    layout->addWidget(m_pages, 1);
    layout->addWidget(m_footer);
}

void HubView::setupControls()
{
    m_text = new QLineEdit(this);
    m_text->setObjectName(QStringLiteral("hubSearch"));
    m_text->setAccessibleName(tr("Search the Hub"));
    m_text->setPlaceholderText(tr("Search the Hub"));
    m_text->setToolTip(tr("Part of a repository's name, such as “qwen3 gguf”; empty shows what is trending"));
    m_text->setClearButtonEnabled(true);
    m_text->setMaxLength(200);
    m_text->installEventFilter(this);
    connect(m_text, &QLineEdit::textChanged, m_typing, qOverload<>(&QTimer::start));

    m_sort = new QComboBox(this);
    m_sort->setObjectName(QStringLiteral("hubSort"));
    m_sort->setAccessibleName(tr("Order of the hits"));
    m_sort->addItem(tr("Trending"), static_cast<int>(HubSort::Trending));
    m_sort->addItem(tr("Downloads"), static_cast<int>(HubSort::Downloads));
    m_sort->addItem(tr("Newest"), static_cast<int>(HubSort::Modified));

    m_format = new QComboBox(this);
    m_format->setObjectName(QStringLiteral("hubFormat"));
    m_format->setAccessibleName(tr("Format of the hits"));
    m_format->addItem(tr("Any format"), static_cast<int>(Format::Unknown));
    for (const Format format : {Format::Safetensors, Format::Gguf, Format::Mlx})
        m_format->addItem(formatText(format), static_cast<int>(format));
    for (QComboBox *box : {m_sort, m_format})
        connect(box, &QComboBox::currentIndexChanged, this, &HubView::searchNow);

    m_size = new QComboBox(this);
    m_size->setObjectName(QStringLiteral("hubSize"));
    m_size->setAccessibleName(tr("Largest size of the hits"));
    m_size->setToolTip(tr("Hides what is larger; what has no known size yet stays"));
    m_size->addItem(tr("Any size"), qulonglong{0});
    for (const qulonglong giga : {8ULL, 16ULL, 32ULL, 64ULL, 128ULL, 256ULL})
        m_size->addItem(tr("Up to %1 GB").arg(giga), giga * 1'000'000'000);
    connect(m_size, &QComboBox::currentIndexChanged, this,
            [this] { m_filter->setLargestBytes(m_size->currentData().toULongLong()); });

    m_fitting = new QCheckBox(tr("Fits here"), this);
    m_fitting->setObjectName(QStringLiteral("hubFitting"));
    m_fitting->setAccessibleName(tr("Only what fits this machine"));
    m_fitting->setToolTip(tr("Hides what does not fit this machine; what has not been read yet stays"));
    connect(m_fitting, &QCheckBox::toggled, m_filter, &HubFilter::setFittingOnly);
    for (QWidget *box : {static_cast<QWidget *>(m_sort), static_cast<QWidget *>(m_format),
                         static_cast<QWidget *>(m_size), static_cast<QWidget *>(m_fitting)})
        box->setSizePolicy(QSizePolicy::Ignored, box->sizePolicy().verticalPolicy());

    m_caption = new QLabel(this);
    m_caption->setObjectName(QStringLiteral("hubCaption"));
    m_caption->setProperty("role", QStringLiteral("muted"));
    m_caption->setFont(textFont(font(), TextSize::Small));
}

void HubView::setupList(HubModel *model)
{
    m_filter->setSourceModel(model);
    m_list = new RowTree(m_filter, m_settling, this);
    m_list->setObjectName(QStringLiteral("hubList"));
    m_list->setAccessibleName(tr("What the Hub has"));
    m_list->installEventFilter(this);
    connect(m_list, &QAbstractItemView::clicked, this, &HubView::activate);

    auto *message = new QWidget(this);
    m_sentence = new QLabel(message);
    m_sentence->setObjectName(QStringLiteral("hubSentence"));
    m_sentence->setProperty("role", QStringLiteral("muted"));
    m_sentence->setTextFormat(Qt::PlainText);
    m_sentence->setAlignment(Qt::AlignTop | Qt::AlignHCenter);
    m_sentence->setWordWrap(true);
    m_action = new QPushButton(message);
    m_action->setObjectName(QStringLiteral("hubAction"));
    connect(m_action, &QPushButton::clicked, this, &HubView::actionRequested);
    auto *inside = new QVBoxLayout(message);
    inside->setContentsMargins(20, 20, 20, 20);
    inside->setSpacing(12);
    inside->addWidget(m_sentence);
    inside->addWidget(m_action, 0, Qt::AlignHCenter);
    inside->addStretch();

    m_pages = new QStackedWidget(this);
    m_pages->addWidget(m_list);
    m_pages->addWidget(message);

    m_footer = new QWidget(this);
    m_footer->setObjectName(QStringLiteral("hubFooter"));
    m_footerText = new QLabel(m_footer);
    m_footerText->setObjectName(QStringLiteral("hubFooterText"));
    m_footerText->setProperty("role", QStringLiteral("muted"));
    m_footerText->setTextFormat(Qt::PlainText);
    m_footerText->setWordWrap(true);
    m_footerText->setFont(textFont(font(), TextSize::Small));
    m_footerAction = new QToolButton(m_footer);
    m_footerAction->setObjectName(QStringLiteral("hubFooterAction"));
    m_footerAction->setProperty("outlined", true);
    m_footerAction->setFocusPolicy(Qt::StrongFocus);
    connect(m_footerAction, &QToolButton::clicked, this, &HubView::actionRequested);
    auto *line = new QHBoxLayout(m_footer);
    line->setContentsMargins(14, 2, 14, 8);
    line->addWidget(m_footerText, 1);
    line->addWidget(m_footerAction, 0, Qt::AlignTop);
    m_footer->hide();
}

HubQuery HubView::query() const
{
    HubQuery query;
    const QString text = m_text->text().simplified();
    query.text = text.toStdString();
    // A page's address names one repository.
    if (text.contains(QLatin1String("://"))) {
        if (const auto reference = parseHubReference(query.text))
            query.text = reference->repository;
    }
    query.sort = static_cast<HubSort>(m_sort->currentData().toInt());
    const auto format = static_cast<Format>(m_format->currentData().toInt());
    if (format != Format::Unknown)
        query.format = format;
    return query;
}

void HubView::searchNow()
{
    m_typing->stop();
    const HubQuery now = query();
    if (now == m_asked)
        return;
    m_asked = now;
    emit queryChanged();
}

void HubView::showHits() { m_pages->setCurrentIndex(0); }

void HubView::showSentence(const QString &sentence, const QString &action)
{
    m_sentence->setText(sentence);
    m_sentence->setAccessibleName(sentence);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    m_pages->setCurrentIndex(1);
    setFooter({});
}

void HubView::setFooter(const QString &text, const QString &action)
{
    m_footerText->setText(text);
    m_footerAction->setText(action);
    m_footerAction->setVisible(!action.isEmpty());
    m_footer->setVisible(!text.isEmpty());
}

void HubView::setSpeedContext(quint64 contextTokens)
{
    m_caption->setText(tr("tok/s at %1 tokens of context").arg(toText(formatCount(contextTokens))));
}

void HubView::setSelected(const QString &reference)
{
    const auto *model = static_cast<HubModel *>(m_filter->sourceModel());
    QModelIndex index = m_filter->mapFromSource(model->indexOf(reference));
    if (!index.isValid()) {
        m_list->setCurrentIndex({});
        m_list->clearSelection();
        return;
    }
    // Choosing a row unfolds nothing that the user folded.
    if (index.parent().isValid() && !m_list->isExpanded(index.parent()))
        index = index.parent();
    m_list->setCurrentIndex(index);
}

void HubView::unfold(const QString &reference)
{
    const auto *model = static_cast<HubModel *>(m_filter->sourceModel());
    const QModelIndex index = m_filter->mapFromSource(model->indexOf(reference));
    if (!index.isValid())
        return;
    m_list->expand(index);
    // The choices are what was asked for: as many as there is room for, under their hit.
    const int rows = m_filter->rowCount(index);
    if (rows > 0)
        m_list->scrollTo(m_filter->index(rows - 1, 0, index));
    m_list->scrollTo(index);
}

void HubView::focusSearch()
{
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

int HubView::shownHits() const { return m_filter->rowCount(); }

bool HubView::hasRoom() const { return m_list->verticalScrollBar()->maximum() == 0; }

void HubView::activate(const QModelIndex &index)
{
    if (!index.isValid())
        return;
    const QString reference = index.data(HubModel::ReferenceRole).toString();
    if (!index.data(HubModel::FoldableRole).toBool())
        emit activated(reference);
    else if (m_filter->hasChildren(index))
        toggle(index);
    else
        emit unfoldRequested(reference);
}

void HubView::toggle(const QModelIndex &index)
{
    if (m_list->isExpanded(index))
        m_list->collapse(index);
    else
        unfold(index.data(HubModel::ReferenceRole).toString());
}

bool HubView::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        const bool isEnter = key == Qt::Key_Return || key == Qt::Key_Enter;
        if (watched == m_text) {
            if (handleFilterKey(m_text, m_list, key))
                return true;
            if (isEnter) {
                searchNow();
                return true;
            }
        } else if (watched == m_list && m_list->currentIndex().isValid()) {
            const QModelIndex current = m_list->currentIndex();
            if (isEnter || key == Qt::Key_Space) {
                activate(current);
                return true;
            }
            if (key == Qt::Key_Right && current.data(HubModel::FoldableRole).toBool()
                && !m_filter->hasChildren(current)) {
                activate(current);
                return true;
            }
        }
    }
    return QWidget::eventFilter(watched, event);
}

void HubView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_settling->start();
}

void HubView::reportVisible()
{
    QStringList hits;
    QStringList choices;
    if (isVisible()) {
        for (const QModelIndex &index : m_list->visibleRows())
            (index.parent().isValid() ? choices : hits) << index.data(HubModel::ReferenceRole).toString();
    }
    m_visible = hits + choices;
    emit visibleChanged(m_visible);

    const QScrollBar *bar = m_list->verticalScrollBar();
    if (isVisible() && m_pages->currentIndex() == 0 && bar->maximum() - bar->value() < m_list->height() / 2)
        emit moreWanted();
}

} // namespace weir

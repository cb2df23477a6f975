// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/sourcebar.h"

#include "widgets/theme.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QEvent>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>

namespace weir {

namespace {

constexpr int shortCommit = 7;

} // namespace

SourceBar::SourceBar(QWidget *parent)
    : QFrame(parent)
    , m_layout(new QHBoxLayout(this))
{
    setObjectName(QStringLiteral("sourceBar"));
    setAccessibleName(tr("Source on the Hub"));
    setProperty("card", true);

    m_page = new QToolButton(this);
    m_page->setObjectName(QStringLiteral("sourcePage"));
    m_page->setAutoRaise(true);
    m_page->setFocusPolicy(Qt::StrongFocus);
    m_page->setCursor(Qt::PointingHandCursor);
    m_page->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_page->setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_page->setProperty("link", true);
    m_page->installEventFilter(this);
    connect(m_page, &QToolButton::clicked, this, [this] { emit pageRequested(m_source.repository); });

    m_revision = new QComboBox(this);
    m_revision->setObjectName(QStringLiteral("sourceRevision"));
    m_revision->setAccessibleName(tr("Revision"));
    m_revision->setToolTip(tr("Branch or tag; a commit can be typed, Enter reads it"));
    m_revision->setEditable(true);
    m_revision->setInsertPolicy(QComboBox::NoInsert);
    m_revision->setCompleter(nullptr);
    m_revision->lineEdit()->setMaxLength(200);
    m_revision->setMinimumContentsLength(9);
    m_revision->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_revision->installEventFilter(this);
    m_revision->lineEdit()->installEventFilter(this);
    connect(m_revision, &QComboBox::activated, this,
            [this](int index) { chooseRevision(m_revision->itemText(index)); });

    m_choice = new QComboBox(this);
    m_choice->setObjectName(QStringLiteral("sourceChoice"));
    m_choice->setAccessibleName(tr("Quantization or file"));
    m_choice->setToolTip(tr("Which quantization of the repository is shown"));
    m_choice->setMinimumContentsLength(15);
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_choice->setMaxVisibleItems(20);
    m_choice->hide();
    connect(m_choice, &QComboBox::activated, this, [this] {
        const QString id = m_choice->currentData().toString();
        if (id != m_source.choice)
            emit choiceChosen(id);
    });

    m_commit = new QLabel(this);
    m_commit->setObjectName(QStringLiteral("sourceCommit"));
    m_commit->setProperty("role", QStringLiteral("muted"));
    m_commit->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_state = new QLabel(this);
    m_state->setObjectName(QStringLiteral("sourceState"));
    m_state->setProperty("role", QStringLiteral("muted"));
    for (QLabel *label : {m_commit, m_state}) {
        label->setTextFormat(Qt::PlainText);
        label->setFont(textFont(font(), TextSize::Small));
    }

    m_refresh = new QToolButton(this);
    m_refresh->setObjectName(QStringLiteral("sourceRefresh"));
    m_refresh->setText(tr("Refresh"));
    m_refresh->setToolTip(tr("Ask the Hub again"));
    m_refresh->setFocusPolicy(Qt::StrongFocus);
    m_refresh->setProperty("outlined", true);
    connect(m_refresh, &QToolButton::clicked, this, &SourceBar::refreshRequested);

    m_layout->setContentsMargins(6, 5, 8, 5);
    m_layout->setSpacing(8);
    m_layout->addWidget(m_page, 100); // as wide as the name, where there is room
    m_layout->addStretch(1);
    m_layout->addWidget(m_revision);
    m_layout->addWidget(m_choice);
    m_layout->addWidget(m_commit);
    m_layout->addWidget(m_state);
    m_layout->addWidget(m_refresh);
    hide();
}

void SourceBar::setSource(const Source &source)
{
    if (m_source == source)
        return;
    if (m_source.repository != source.repository) {
        m_revisions.clear();
        m_choices.clear();
        m_revisionsAsked = false;
    }
    m_source = source;
    m_page->setToolTip(tr("Open the page of %1 in the browser").arg(source.repository));
    m_page->setAccessibleName(m_page->toolTip());
    m_commit->setText(source.commit.left(shortCommit));
    m_commit->setToolTip(source.commit);
    m_commit->setAccessibleName(tr("Commit %1").arg(source.commit));
    m_commit->setVisible(!source.commit.isEmpty());
    m_state->setText(source.cached ? tr("cached") : tr("live"));
    m_state->setToolTip(source.cached ? tr("Out of the cache of an earlier look; the Hub was not asked")
                                      : tr("The Hub was asked for this just now"));
    fillRevisions();
    fillChoices();
    elideName();
}

void SourceBar::setRevisions(const QStringList &revisions)
{
    m_revisions = revisions;
    fillRevisions();
    // The list that was waiting for them grows where it is.
    if (m_revision->view()->isVisible()) {
        m_revision->hidePopup();
        m_revision->showPopup();
    }
}

void SourceBar::setChoices(const std::vector<Choice> &choices)
{
    if (m_choices == choices)
        return;
    m_choices = choices;
    fillChoices();
}

void SourceBar::addWidget(QWidget *widget) { m_layout->addWidget(widget); }

void SourceBar::fillRevisions()
{
    const QSignalBlocker blocker(m_revision);
    m_revision->clear();
    QStringList all = m_revisions;
    if (!all.contains(m_source.revision))
        all.prepend(m_source.revision);
    m_revision->addItems(all);
    m_revision->setCurrentIndex(static_cast<int>(all.indexOf(m_source.revision)));
    m_revision->lineEdit()->setCursorPosition(0);
}

void SourceBar::fillChoices()
{
    const QSignalBlocker blocker(m_choice);
    m_choice->clear();
    for (const Choice &choice : m_choices)
        m_choice->addItem(choice.text, choice.id);
    m_choice->setCurrentIndex(m_choice->findData(m_source.choice));
    m_choice->setVisible(m_choices.size() > 1);
    if (m_choices.size() > 1)
        m_choice->view()->setMinimumWidth(m_choice->view()->sizeHintForColumn(0) + 28);
}

void SourceBar::chooseRevision(const QString &revision)
{
    const QString named = revision.trimmed();
    if (named.isEmpty() || named == m_source.revision) {
        fillRevisions();
        return;
    }
    emit revisionChosen(named);
}

bool SourceBar::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_page && event->type() == QEvent::Resize)
        elideName();
    const bool opens =
        watched == m_revision
        && (event->type() == QEvent::MouseButtonPress
            || (event->type() == QEvent::KeyPress && static_cast<QKeyEvent *>(event)->key() == Qt::Key_Down));
    if (opens && !m_revisionsAsked) {
        m_revisionsAsked = true;
        emit revisionsWanted(m_source.repository);
    }
    if (watched == m_revision->lineEdit() && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            chooseRevision(m_revision->currentText());
            return true;
        }
        if (key == Qt::Key_Escape) {
            fillRevisions();
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

void SourceBar::elideName()
{
    constexpr int frame = 18;
    QFont bold = m_page->font();
    bold.setWeight(QFont::DemiBold); // as the style sheet has it
    const QFontMetrics metrics(bold);
    m_page->setMaximumWidth(metrics.horizontalAdvance(m_source.repository) + frame);
    const int room = std::max(m_page->width() - frame + 2, 40);
    m_page->setText(metrics.elidedText(m_source.repository, Qt::ElideMiddle, room));
}

} // namespace weir

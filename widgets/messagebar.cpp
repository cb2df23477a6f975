// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/messagebar.h"

#include "widgets/theme.h"

#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

namespace weir {

MessageBar::MessageBar(QWidget *parent)
    : QFrame(parent)
{
    setObjectName(QStringLiteral("messageBar"));
    setAccessibleName(tr("Message"));

    m_text = new QLabel(this);
    m_text->setObjectName(QStringLiteral("messageText"));
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setWordWrap(true);

    m_copy = new QToolButton(this);
    m_copy->setObjectName(QStringLiteral("messageCopy"));
    m_copy->setText(tr("Copy"));
    m_copy->setAccessibleName(tr("Copy the message"));
    m_copy->setProperty("outlined", true);
    connect(m_copy, &QToolButton::clicked, this,
            [this] { QApplication::clipboard()->setText(m_text->text()); });

    m_close = new QToolButton(this);
    m_close->setObjectName(QStringLiteral("messageClose"));
    m_close->setText(tr("Close"));
    m_close->setAccessibleName(tr("Close the message"));
    m_close->setProperty("outlined", true);
    connect(m_close, &QToolButton::clicked, this, &QWidget::hide);

    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(16, 8, 10, 8);
    layout->setSpacing(8);
    m_actionLayout = new QHBoxLayout;
    m_actionLayout->setSpacing(8);
    layout->addWidget(m_text, 1);
    layout->addLayout(m_actionLayout);
    layout->setAlignment(m_actionLayout, Qt::AlignTop);
    layout->addWidget(m_copy, 0, Qt::AlignTop);
    layout->addWidget(m_close, 0, Qt::AlignTop);
    hide();
}

void MessageBar::showMessage(const QString &sentence, Severity severity, const std::vector<Action> &actions)
{
    m_severity = severity;
    for (QToolButton *button : m_actions)
        button->deleteLater(); // its own click may be what brought the next message
    m_actions.clear();
    for (const Action &action : actions) {
        auto *button = new QToolButton(this);
        button->setObjectName(QStringLiteral("messageAction%1").arg(m_actions.size()));
        button->setText(action.text);
        button->setProperty("outlined", true);
        button->setFocusPolicy(Qt::StrongFocus);
        connect(button, &QToolButton::clicked, this, [this, run = action.run] {
            hide();
            run();
        });
        m_actionLayout->addWidget(button);
        m_actions.push_back(button);
    }
    m_text->setText(sentence);
    setAccessibleDescription(sentence);
    show();
    update();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

QString MessageBar::text() const { return m_text->text(); }

void MessageBar::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape) {
        hide();
        return;
    }
    QFrame::keyPressEvent(event);
}

void MessageBar::paintEvent(QPaintEvent *)
{
    const Theme &theme = Theme::of(this);
    QColor surface = theme.accentSurface;
    QColor edge = theme.accent;
    if (m_severity == Severity::Error) {
        surface = theme.noSurface;
        edge = theme.no;
    } else if (m_severity == Severity::Warning) {
        surface = theme.tightSurface;
        edge = theme.tight;
    }
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(surface);
    painter.drawRoundedRect(rect(), 8, 8);
    painter.setBrush(edge);
    painter.drawRoundedRect(QRectF(6, 8, 3, height() - 16.0), 1.5, 1.5);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/verdictbar.h"

#include "widgets/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QVBoxLayout>

namespace weir {

namespace {

QLabel *makeLabel(const char *name, QWidget *parent)
{
    auto *label = new QLabel(parent);
    label->setObjectName(QString::fromLatin1(name));
    label->setTextFormat(Qt::PlainText);
    return label;
}

QString badgeStyle(Fit fit)
{
    switch (fit) {
    case Fit::Fits: return QStringLiteral("fits");
    case Fit::Tight: return QStringLiteral("tight");
    case Fit::TooBig:
    case Fit::CannotLoad: return QStringLiteral("no");
    case Fit::Unknown: break;
    }
    return {};
}

} // namespace

VerdictBar::VerdictBar(QWidget *parent)
    : QFrame(parent)
{
    setObjectName(QStringLiteral("verdictBar"));
    setAccessibleName(tr("Verdict"));
    setProperty("card", true);

    m_badge = makeLabel("verdictBadge", this);
    m_badge->setAlignment(Qt::AlignCenter);
    m_badge->setMargin(4);
    m_headline = makeLabel("verdictHeadline", this);
    m_headline->setProperty("role", QStringLiteral("headline"));
    m_underHeadline = makeLabel("verdictContext", this);
    m_underHeadline->setProperty("role", QStringLiteral("muted"));
    m_why = makeLabel("verdictWhy", this);
    m_why->setWordWrap(true);
    m_detail = makeLabel("verdictDetail", this);
    m_detail->setProperty("role", QStringLiteral("muted"));
    m_detail->setWordWrap(true);
    // Sentences fill what the window leaves them; they never set its width.
    for (QLabel *label : {m_why, m_detail})
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);

    auto *speed = new QVBoxLayout;
    speed->setSpacing(1);
    speed->addStretch();
    speed->addWidget(m_headline);
    speed->addWidget(m_underHeadline);
    speed->addStretch();

    auto *words = new QVBoxLayout;
    words->setSpacing(3);
    words->addStretch();
    words->addWidget(m_why);
    words->addWidget(m_detail);
    words->addStretch();

    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 9, 14, 9);
    layout->setSpacing(16);
    layout->addWidget(m_badge, 0, Qt::AlignVCenter);
    layout->addLayout(speed);
    layout->addSpacing(4);
    layout->addLayout(words, 1);
    updateFonts();
}

void VerdictBar::setVerdict(const Verdict &verdict)
{
    if (m_verdict == verdict)
        return;
    const bool restyle = badgeStyle(m_verdict.fit) != badgeStyle(verdict.fit) || m_badge->text().isEmpty();
    m_verdict = verdict;
    m_badge->setText(verdict.badge);
    m_badge->setVisible(!verdict.badge.isEmpty());
    m_headline->setText(verdict.headline);
    m_underHeadline->setText(verdict.underHeadline);
    m_underHeadline->setVisible(!verdict.underHeadline.isEmpty());
    m_why->setText(verdict.why);
    m_detail->setText(verdict.detail);
    m_detail->setVisible(!verdict.detail.isEmpty());
    setToolTip(verdict.toolTip);
    if (restyle) {
        m_badge->setProperty("badge", badgeStyle(verdict.fit));
        m_badge->style()->unpolish(m_badge);
        m_badge->style()->polish(m_badge);
        m_badge->updateGeometry();
    }
    setAccessibleDescription(
        QStringList{verdict.badge, verdict.headline, verdict.underHeadline, verdict.why, verdict.detail}.join(
            QStringLiteral(". ")));
}

void VerdictBar::changeEvent(QEvent *event)
{
    QFrame::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        updateFonts();
}

void VerdictBar::updateFonts()
{
    m_headline->setFont(textFont(font(), TextSize::Headline));
    m_why->setFont(textFont(font(), TextSize::Strong));
    m_underHeadline->setFont(textFont(font(), TextSize::Small));
    m_detail->setFont(textFont(font(), TextSize::Small));
}

} // namespace weir

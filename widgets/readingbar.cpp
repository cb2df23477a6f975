// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/readingbar.h"

#include "widgets/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QTimer>
#include <QToolButton>

#include <chrono>

namespace weir {

ReadingBar::ReadingBar(QWidget *parent)
    : QWidget(parent)
    , m_text(new QLabel(this))
    , m_bar(new QProgressBar(this))
    , m_cancel(new QToolButton(this))
    , m_delay(new QTimer(this))
{
    setObjectName(QStringLiteral("readingBar"));

    m_text->setObjectName(QStringLiteral("readingText"));
    m_text->setTextFormat(Qt::PlainText);
    // Names of files have any length; they never set the width of the window.
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_bar->setObjectName(QStringLiteral("readingProgress"));
    m_bar->setAccessibleName(tr("Progress of reading"));
    m_bar->setTextVisible(false);
    m_bar->setFixedSize(180, 6);
    m_cancel->setObjectName(QStringLiteral("readingCancel"));
    m_cancel->setText(tr("Cancel"));
    m_cancel->setAccessibleName(tr("Cancel reading"));
    m_cancel->setFocusPolicy(Qt::StrongFocus);
    m_cancel->setProperty("outlined", true);
    connect(m_cancel, &QToolButton::clicked, this, &ReadingBar::cancelRequested);

    m_delay->setSingleShot(true);
    m_delay->setInterval(std::chrono::milliseconds(150));
    connect(m_delay, &QTimer::timeout, this, &QWidget::show);

    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(16, 6, 14, 7);
    layout->setSpacing(12);
    layout->addWidget(m_bar);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_cancel);
    hide();
}

void ReadingBar::start(const QString &what)
{
    m_what = what;
    m_bar->setRange(0, 0);
    m_text->setText(tr("Reading %1 …").arg(what));
    m_text->setToolTip({});
    if (!isVisible())
        m_delay->start();
}

void ReadingBar::setProgress(int done, int total, const QString &file)
{
    m_bar->setRange(0, total);
    m_bar->setValue(done);
    if (total > 0)
        m_text->setText(tr("Reading %1: %2 of %3 files, %4").arg(m_what).arg(done).arg(total).arg(file));
}

void ReadingBar::finish()
{
    m_delay->stop();
    hide();
}

void ReadingBar::paintEvent(QPaintEvent *)
{
    const Theme &theme = Theme::of(this);
    QPainter painter(this);
    painter.fillRect(rect(), theme.accentSurface);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.border);
}

} // namespace weir

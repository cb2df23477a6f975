// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/assumptionspanel.h"

#include "widgets/theme.h"

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>

namespace weir {

AssumptionsPanel::AssumptionsPanel(QWidget *parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("assumptionsPanel"));
    setAccessibleName(tr("Assumptions"));

    auto *title = new QLabel(tr("Assumptions"), this);
    title->setProperty("role", QStringLiteral("title"));

    m_layout = new QVBoxLayout(this);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(6);
    m_layout->addWidget(title);
}

void AssumptionsPanel::setAssumptions(const std::vector<Assumption> &assumptions)
{
    if (m_assumptions == assumptions)
        return;
    m_assumptions = assumptions;
    rebuild();
}

void AssumptionsPanel::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        rebuild();
}

void AssumptionsPanel::rebuild()
{
    // Labels are reused: this runs while a slider moves.
    while (m_rows.size() > m_assumptions.size()) {
        m_rows.back()->deleteLater();
        m_layout->removeWidget(m_rows.back());
        m_rows.back()->hide();
        m_rows.pop_back();
    }
    while (m_rows.size() < m_assumptions.size()) {
        auto *label = new QLabel(this);
        label->setWordWrap(true);
        // Plain and not selectable: such a label is laid out without a text document, many times faster.
        label->setTextFormat(Qt::PlainText);
        m_layout->addWidget(label);
        m_rows.push_back(label);
    }
    const Theme &theme = Theme::of(this);
    for (std::size_t i = 0; i < m_assumptions.size(); ++i) {
        const Assumption &assumption = m_assumptions[i];
        auto *label = static_cast<QLabel *>(m_rows[i]);
        label->setObjectName(QStringLiteral("assumption%1").arg(i));
        label->setFont(textFont(font(), TextSize::Small));
        QPalette palette = label->palette();
        QColor color = theme.mutedText;
        if (assumption.severity == Severity::Warning)
            color = theme.tight;
        else if (assumption.severity == Severity::Error)
            color = theme.no;
        palette.setColor(QPalette::WindowText, color);
        label->setPalette(palette);
        // A mark beside the colour, for those who do not see it.
        label->setText(assumption.severity == Severity::Info
                           ? assumption.text
                           : QString(QStringLiteral("▲ ") % assumption.text));
        label->setToolTip(assumption.toolTip);
    }
}

} // namespace weir

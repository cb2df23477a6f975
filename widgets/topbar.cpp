// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/topbar.h"

#include "models/items/catalogmodel.h"
#include "models/items/text.h"
#include "widgets/openfield.h"
#include "widgets/theme.h"

#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <QToolButton>

namespace weir {

TopBar::TopBar(CatalogModel *catalog, QWidget *parent)
    : QWidget(parent)
    , m_openField(new OpenField(catalog, this))
    , m_machine(new QComboBox(this))
    , m_engine(new QComboBox(this))
    , m_weights(new QComboBox(this))
    , m_layout(new QHBoxLayout(this))
{
    setObjectName(QStringLiteral("topBar"));

    m_machine->setObjectName(QStringLiteral("machineBox"));
    m_machine->setAccessibleName(tr("Machine"));
    m_engine->setObjectName(QStringLiteral("engineBox"));
    m_engine->setAccessibleName(tr("Engine of the selected checkpoint"));
    m_weights->setObjectName(QStringLiteral("weightsBox"));
    m_weights->setAccessibleName(tr("Quantization of the selected checkpoint"));
    for (QComboBox *box : {m_machine, m_engine, m_weights}) {
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(8);
        box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        box->setMaximumWidth(box->fontMetrics().averageCharWidth() * 24);
        box->setMaxVisibleItems(20);
    }
    m_machine->setMaximumWidth(m_machine->fontMetrics().averageCharWidth() * 30);
    m_weights->setMaxVisibleItems(30);
    connect(m_machine, &QComboBox::activated, this,
            [this] { emit machineChosen(m_machine->currentData().toString()); });
    connect(m_engine, &QComboBox::activated, this,
            [this] { emit engineChosen(m_engine->currentData().toString()); });

    auto *machineName = new QLabel(tr("Machine"), this);
    machineName->setBuddy(m_machine);
    auto *engineName = new QLabel(tr("Engine"), this);
    engineName->setBuddy(m_engine);

    auto *weightsName = new QLabel(tr("Weights"), this);
    weightsName->setBuddy(m_weights);

    m_openField->setMinimumWidth(160);
    m_openField->setMaximumWidth(520);

    m_layout->setContentsMargins(14, 9, 14, 10);
    m_layout->setSpacing(8);
    m_layout->addWidget(m_openField, 5);
    m_layout->addSpacing(10);
    m_layout->addWidget(machineName);
    m_layout->addWidget(m_machine, 2);
    m_layout->addSpacing(6);
    m_layout->addWidget(engineName);
    m_layout->addWidget(m_engine, 2);
    m_layout->addSpacing(6);
    m_layout->addWidget(weightsName);
    m_layout->addWidget(m_weights, 2);
    m_layout->addStretch(0); // what the field does not want
}

void TopBar::fill(QComboBox *box, const std::vector<Choice> &choices)
{
    const QSignalBlocker blocker(box);
    const QString current = box->currentData().toString();
    box->clear();
    for (const Choice &choice : choices) {
        box->addItem(choice.text, choice.id);
        box->setItemData(box->count() - 1, choice.toolTip, Qt::ToolTipRole);
    }
    box->setCurrentIndex(box->findData(current));
    // The popup may be wider than the box: long names are read there.
    box->view()->setMinimumWidth(box->view()->sizeHintForColumn(0) + 28);
}

void TopBar::setMachines(const std::vector<Choice> &machines)
{
    fill(m_machine, machines);
    m_machine->setEnabled(!machines.empty());
}

void TopBar::setMachine(const QString &id)
{
    const QSignalBlocker blocker(m_machine);
    m_machine->setCurrentIndex(m_machine->findData(id));
    m_machine->setToolTip(m_machine->currentData(Qt::ToolTipRole).toString());
}

void TopBar::setEngines(const std::vector<Choice> &engines) { fill(m_engine, engines); }

void TopBar::setEngine(const QString &id)
{
    const QSignalBlocker blocker(m_engine);
    m_engine->setCurrentIndex(m_engine->findData(id));
    m_engine->setToolTip(m_engine->currentData(Qt::ToolTipRole).toString());
}

void TopBar::setEngineEnabled(bool enabled) { m_engine->setEnabled(enabled); }

QToolButton *TopBar::addButton(QAction *action)
{
    auto *button = new QToolButton(this);
    button->setObjectName(action->objectName() + QStringLiteral("Button"));
    button->setDefaultAction(action);
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setProperty("outlined", true);
    m_layout->addWidget(button);
    return button;
}

QToolButton *TopBar::addMenuButton(const QString &text, QMenu *menu)
{
    auto *button = new QToolButton(this);
    button->setObjectName(menu->objectName() + QStringLiteral("Button"));
    button->setText(text);
    button->setMenu(menu);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setProperty("outlined", true);
    m_layout->addWidget(button);
    return button;
}

void TopBar::paintEvent(QPaintEvent *)
{
    const Theme &theme = Theme::of(this);
    QPainter painter(this);
    painter.fillRect(rect(), theme.card);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.border);
}

} // namespace weir

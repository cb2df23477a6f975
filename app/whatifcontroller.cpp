// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/whatifcontroller.h"

#include "app/session.h"
#include "app/whatif.h"
#include "models/checkpoint/quantrecipe.h"
#include "models/items/text.h"
#include "widgets/wording.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QSignalBlocker>

namespace weir {

namespace {

/// Data of the entry that opens the dialog; no scheme is called so.
const QString &byComponent()
{
    static const QString text = QStringLiteral("…");
    return text;
}

} // namespace

WhatIfController::WhatIfController(Session &session, const Wording &wording, QComboBox *box, QWidget *window)
    : QObject(window)
    , m_session(session)
    , m_wording(wording)
    , m_box(box)
    , m_window(window)
{
    connect(&session, &Session::selectionChanged, this, &WhatIfController::updateBox);
    connect(&session, &Session::assessmentsChanged, this, &WhatIfController::updateDialog);
    connect(box, &QComboBox::activated, this, [this] {
        const QString recipe = m_box->currentData().toString();
        updateBox(); // shows what is, until something else is
        if (recipe == byComponent())
            openDialog();
        else if (recipe != m_session.selectedRecipe())
            imagine(recipe, false);
    });
    updateBox();
}

void WhatIfController::updateBox()
{
    const QSignalBlocker blocker(m_box);
    const CheckpointPtr base = m_session.selectedBase();
    m_box->setEnabled(base != nullptr);
    if (!base) {
        m_box->clear();
        return;
    }
    fillQuantChoices(m_box, quantizationText(base->quantization));
    m_box->insertSeparator(1);
    m_box->insertItem(2, tr("By component…"), byComponent());
    const QString recipe = m_session.selectedRecipe();
    int index = recipe.isEmpty() ? 0 : m_box->findData(recipe);
    if (index < 0) {
        m_box->insertItem(1, recipe, recipe);
        index = 1;
    }
    m_box->setCurrentIndex(index);
    m_box->setToolTip(recipe.isEmpty()
                          ? tr("How the weights are stored; choose another quantization to imagine it")
                          : tr("Imagined: %1 stored as %2").arg(toText(printable(base->name)), recipe));
    m_box->view()->setMinimumWidth(m_box->view()->sizeHintForColumn(0) + 28);
}

void WhatIfController::openDialog()
{
    const CheckpointPtr base = m_session.selectedBase();
    if (!base)
        return;
    if (!m_dialog) {
        m_dialog =
            new QuantDialog(m_wording, [this](const QString &recipe) { return preview(recipe); }, m_window);
        m_dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(m_dialog, &QuantDialog::chosen, this,
                [this](const QString &recipe) { imagine(recipe, false); });
        connect(m_dialog, &QuantDialog::pinRequested, this,
                [this](const QString &recipe) { imagine(recipe, true); });
    }
    m_dialog->setBase(base, m_session.selectedRecipe());
    m_dialog->show();
    m_dialog->raise();
    m_dialog->activateWindow();
}

void WhatIfController::updateDialog()
{
    if (m_dialog)
        m_dialog->refresh();
}

void WhatIfController::imagine(const QString &recipe, bool pin)
{
    if (const Result<void> done = m_session.imagine(recipe, pin); !done)
        emit failed(m_wording.sentence(done.error()));
}

QuantDialog::Preview WhatIfController::preview(const QString &recipe) const
{
    const CheckpointPtr base = m_session.selectedBase();
    if (!base)
        return {};
    const Result<CheckpointPtr> derived = deriveWhatIf(m_session.selectedBaseId(), *base, recipe);
    if (!derived)
        return {m_wording.sentence(derived.error()), false};
    const std::shared_ptr<const Assessment> now = m_session.assessmentOf(base);
    const std::shared_ptr<const Assessment> then = m_session.assessmentOf(*derived);
    if (!now || !then)
        return {};
    const auto bytes = [this](std::uint64_t value) { return shortBytes(value, m_session.unit()); };
    QString text = tr("%1 of weights instead of %2; %3 read per token instead of %4.")
                       .arg(bytes(then->residentBytes), bytes(now->residentBytes), bytes(then->streamedBytes),
                            bytes(now->streamedBytes));
    text += QLatin1Char('\n') + fitText(fitOf(*then));
    if (then->decode && now->decode) {
        text += tr(", %1 instead of %2")
                    .arg(speedText(then->decode->tokensPerSecond), speedText(now->decode->tokensPerSecond));
    } else if (then->decode) {
        text += tr(", %1").arg(speedText(then->decode->tokensPerSecond));
    }
    text += tr(", at %1 tokens of context with %2. Derived, not measured.")
                .arg(toText(formatCount(then->workload.contextTokens)), toText(then->engineName));
    return {text, true};
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/quantdialog.h"

#include <QObject>
#include <QPointer>

class QComboBox;

namespace weir {

class Session;
class Wording;

/// Lets one see the selected checkpoint at another quantization: the box in the top bar for the whole model, a
/// dialog for single components. What is imagined becomes a checkpoint of its own beside the one that is there.
/// GUI thread; everything passed in outlives it.
class WhatIfController : public QObject
{
    Q_OBJECT

public:
    WhatIfController(Session &session, const Wording &wording, QComboBox *box, QWidget *window);

    void openDialog();

signals:
    /// A recipe that cannot be followed, worded.
    void failed(const QString &sentence);

private:
    void updateBox();
    void updateDialog();
    void imagine(const QString &recipe, bool pin);
    QuantDialog::Preview preview(const QString &recipe) const;

    Session &m_session;
    const Wording &m_wording;
    QComboBox *m_box;
    QWidget *m_window;
    QPointer<QuantDialog> m_dialog;
};

} // namespace weir

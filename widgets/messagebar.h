// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/message.h"

#include <QFrame>

#include <functional>
#include <vector>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace weir {

/// One sentence where it happened, with buttons for what can be done about it, one to copy it and one to
/// close it. The newest sentence takes the place of the one before. Hidden as long as there is nothing to say. GUI thread.
class MessageBar : public QFrame
{
    Q_OBJECT

public:
    explicit MessageBar(QWidget *parent = nullptr);

    struct Action
    {
        QString text;
        std::function<void()> run;
    };

    void showMessage(const QString &sentence, Severity severity = Severity::Error,
                     const std::vector<Action> &actions = {});
    QString text() const;
    Severity severity() const { return m_severity; }

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    QHBoxLayout *m_actionLayout = nullptr;
    std::vector<QToolButton *> m_actions;
    QLabel *m_text = nullptr;
    QToolButton *m_copy = nullptr;
    QToolButton *m_close = nullptr;
    Severity m_severity = Severity::Error;
};

} // namespace weir

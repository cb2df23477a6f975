// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/message.h"

#include <QString>
#include <QWidget>

#include <vector>

class QLabel;
class QVBoxLayout;

namespace weir {

/// One thing the numbers rest on, or a warning about them.
struct Assumption
{
    Severity severity = Severity::Info;
    QString text;
    QString toolTip;

    friend bool operator==(const Assumption &, const Assumption &) = default;
};

/// What the answer rests on: where speed and bytes come from, what was assumed, warnings first. GUI thread.
class AssumptionsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit AssumptionsPanel(QWidget *parent = nullptr);

    void setAssumptions(const std::vector<Assumption> &assumptions);

protected:
    void changeEvent(QEvent *event) override;

private:
    void rebuild();

    std::vector<Assumption> m_assumptions;
    std::vector<QWidget *> m_rows;
    QVBoxLayout *m_layout = nullptr;
};

} // namespace weir

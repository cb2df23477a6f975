// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/items/fit.h"

#include <QFrame>

class QLabel;

namespace weir {

/// The words of a verdict, made elsewhere. `headline` is the speed, or what stands in its place;
/// `underHeadline` always says at which context a speed stands.
struct Verdict
{
    Fit fit = Fit::Unknown;
    QString badge;
    QString headline;
    QString underHeadline;
    QString why;
    QString detail;
    QString toolTip;

    friend bool operator==(const Verdict &, const Verdict &) = default;
};

/// The one line that answers: does it fit, how fast, and why. GUI thread.
class VerdictBar : public QFrame
{
    Q_OBJECT

public:
    explicit VerdictBar(QWidget *parent = nullptr);

    void setVerdict(const Verdict &verdict);
    const Verdict &verdict() const { return m_verdict; }

protected:
    void changeEvent(QEvent *event) override;

private:
    void updateFonts();

    Verdict m_verdict;
    QLabel *m_badge = nullptr;
    QLabel *m_headline = nullptr;
    QLabel *m_underHeadline = nullptr;
    QLabel *m_why = nullptr;
    QLabel *m_detail = nullptr;
};

} // namespace weir

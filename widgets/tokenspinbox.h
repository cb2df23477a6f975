// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSpinBox>

namespace weir {

/// A typed number of tokens: shown as "32,768", taken as "32768", "32,768", "32k" (times 1,024) or "1M".
/// The arrows double and halve.
class TokenSpinBox : public QSpinBox
{
    Q_OBJECT

public:
    static constexpr int maximumTokens = 1 << 24;

    explicit TokenSpinBox(QWidget *parent = nullptr);

    void stepBy(int steps) override;
    QValidator::State validate(QString &text, int &position) const override;

protected:
    QString textFromValue(int value) const override;
    int valueFromText(const QString &text) const override;
};

} // namespace weir

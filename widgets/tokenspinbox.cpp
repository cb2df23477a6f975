// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tokenspinbox.h"

#include "models/items/text.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace weir {

namespace {

/// Empty if the text is no number of tokens.
std::optional<double> parsed(const QString &text)
{
    QString digits = text.simplified();
    digits.remove(QLatin1Char(',')).remove(QLatin1Char(' '));
    double factor = 1;
    if (digits.endsWith(QLatin1Char('k'), Qt::CaseInsensitive))
        factor = 1024;
    else if (digits.endsWith(QLatin1Char('m'), Qt::CaseInsensitive))
        factor = 1048576;
    if (factor > 1)
        digits.chop(1);
    bool isNumber = false;
    const double value = digits.toDouble(&isNumber);
    if (!isNumber || !std::isfinite(value) || value < 0)
        return std::nullopt;
    return value * factor;
}

} // namespace

TokenSpinBox::TokenSpinBox(QWidget *parent)
    : QSpinBox(parent)
{
    setRange(0, maximumTokens);
    setAlignment(Qt::AlignRight);
    setKeyboardTracking(false);
}

void TokenSpinBox::stepBy(int steps)
{
    const double doubled = std::max(value(), 1) * std::pow(2.0, steps);
    setValue(static_cast<int>(
        std::clamp(doubled, static_cast<double>(minimum()), static_cast<double>(maximum()))));
}

QValidator::State TokenSpinBox::validate(QString &text, int &) const
{
    const QString trimmed = text.trimmed();
    if (trimmed.isEmpty() || trimmed.endsWith(QLatin1Char('.')))
        return QValidator::Intermediate;
    const std::optional<double> value = parsed(trimmed);
    if (!value)
        return QValidator::Invalid;
    return *value <= maximum() ? QValidator::Acceptable : QValidator::Invalid;
}

QString TokenSpinBox::textFromValue(int value) const
{
    return toText(formatCount(static_cast<std::uint64_t>(std::max(value, 0))));
}

int TokenSpinBox::valueFromText(const QString &text) const
{
    const double value = parsed(text).value_or(0.0);
    return static_cast<int>(std::clamp(std::round(value), 0.0, static_cast<double>(maximum())));
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/amount.h"

#include <QLocale>

#include <cmath>

namespace weir {

QString unitName(ByteUnit unit)
{
    return unit == ByteUnit::Gigabytes ? QStringLiteral("GB") : QStringLiteral("GiB");
}

double unitBytes(ByteUnit unit) { return unit == ByteUnit::Gigabytes ? 1e9 : 1073741824.0; }

QString plainAmount(double bytes, ByteUnit unit)
{
    const double value = bytes / unitBytes(unit);
    if (!(value > 0))
        return QStringLiteral("0");
    if (value < 0.005)
        return QStringLiteral("<0.01");
    return QLocale::c().toString(value, 'f', value < 9.995 ? 2 : 1);
}

QString plainTick(double value)
{
    QLocale locale = QLocale::c();
    locale.setNumberOptions(QLocale::DefaultNumberOptions);
    if (value >= 1000)
        return locale.toString(static_cast<qlonglong>(std::llround(value)));
    return locale.toString(value, 'g', 6);
}

QString bandwidthText(double bytesPerSecond)
{
    const double value = bytesPerSecond / 1e9;
    return QStringLiteral("%1 GB/s").arg(value < 9.95 ? QLocale::c().toString(value, 'f', 1)
                                                      : plainTick(std::round(value)));
}

} // namespace weir

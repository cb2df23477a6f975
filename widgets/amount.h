// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"

#include <QString>

namespace weir {

/// "GB" or "GiB".
QString unitName(ByteUnit unit);
/// Bytes of one GB or GiB.
double unitBytes(ByteUnit unit);
/// A number for a label whose unit stands on the axis or in the heading: "130.7", "72.4", "6.54",
/// "0.10", "<0.01".
QString plainAmount(double bytes, ByteUnit unit);
/// A tick of a scale: "0.05", "2", "100", "1,000".
QString plainTick(double value);
/// "273 GB/s". Bandwidth is quoted in GB/s whatever the unit of sizes is.
QString bandwidthText(double bytesPerSecond);

} // namespace weir

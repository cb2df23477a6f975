// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/pin.h"
#include "widgets/wording.h"

namespace weir::test {

/// Plain words, so that charts can be tested without the application's catalogue.
class SampleWording final : public Wording
{
public:
    QString title(const Message &message) const override;
    QString detail(const Message &message) const override;
    QString sentence(const Error &error) const override;
    QString componentLabel(Component component) const override;
};

/// One component of a hand-made assessment.
struct SampleComponent
{
    Component component;
    std::uint64_t residentBytes;
    std::uint64_t streamedBytes;
    const char *reason;
    const char *dtype;
};

/// A hand-made assessment on a 128 GiB machine with 273 GB/s; sums follow from the components. Times are
/// those of `effective` bytes per second and `fixedSeconds`, with a band of ten percent.
Assessment sampleAssessment(const std::string &name, std::uint32_t experts,
                            const std::vector<SampleComponent> &components, double effective,
                            double fixedSeconds, std::uint64_t kvBytes, std::uint64_t stateBytes);

/// The reference example of the README: a MoE of 72.38 GB that reads 6.54 GB for a token.
Assessment sampleMoe();
/// A dense model of 42.5 GB.
Assessment sampleDense70();
/// A dense model of 4.68 GB.
Assessment sampleDense7();

/// The first start: the MoE selected, the two dense ones beside it, each with a measurement.
Pins samplePins();

Pin samplePin(const Assessment &assessment, const QString &shortName, bool selected, double measuredSpeed);

} // namespace weir::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/speedmarks.h"

#include <cmath>

namespace weir {

namespace {

bool isPlottable(double value) { return std::isfinite(value) && value > 0; }

std::optional<double> plottable(std::optional<double> value)
{
    return value && isPlottable(*value) ? value : std::nullopt;
}

void takeLines(SpeedMarks &marks, const Assessment &assessment)
{
    if (assessment.machine.bandwidthBytesPerSecond
        && isPlottable(assessment.machine.bandwidthBytesPerSecond->value))
        marks.datasheet = assessment.machine.bandwidthBytesPerSecond->value;
    if (assessment.decode && isPlottable(assessment.decode->effectiveBandwidthBytesPerSecond)) {
        marks.effective = assessment.decode->effectiveBandwidthBytesPerSecond;
        marks.isAsymptote = assessment.decode->fixedSeconds > 0;
        marks.effectiveEngine = assessment.engineName;
    }
}

} // namespace

SpeedMarks collectSpeedMarks(const Pins &pins)
{
    SpeedMarks result;
    const Assessment *first = nullptr;
    for (std::size_t i = 0; i < pins.size(); ++i) {
        const Pin &pin = pins[i];
        if (!pin.assessment)
            continue;
        const Assessment &assessment = *pin.assessment;
        if (first == nullptr || pin.selected) {
            first = &assessment;
            if (pin.selected)
                result.selected = i;
        }
        std::optional<SpeedMark> predicted;
        if (!assessment.decode) {
            ++result.withoutSpeed;
        } else if (const DecodeAssessment &decode = *assessment.decode;
                   !isPlottable(decode.tokensPerSecond) || decode.bytesPerStep == 0) {
            ++result.dropped;
        } else {
            SpeedMark mark;
            mark.pin = i;
            mark.bytesPerStep = static_cast<double>(decode.bytesPerStep);
            mark.tokensPerSecond = decode.tokensPerSecond;
            mark.low = plottable(decode.low);
            mark.high = plottable(decode.high);
            predicted = mark;
            result.marks.push_back(mark);
        }
        for (std::size_t m = 0; m < pin.measured.size(); ++m) {
            const MeasuredPoint &point = pin.measured[m];
            if (!isPlottable(point.bytesPerStep) || !isPlottable(point.tokensPerSecond)) {
                ++result.dropped;
                continue;
            }
            SpeedMark mark;
            mark.kind = point.row.isClaim ? SpeedMark::Kind::Claim : SpeedMark::Kind::Measured;
            mark.pin = i;
            mark.measured = m;
            mark.bytesPerStep = point.bytesPerStep;
            mark.tokensPerSecond = point.tokensPerSecond;
            result.marks.push_back(mark);
        }
        const bool isMoe = assessment.checkpoint && assessment.checkpoint->isMoe();
        if (pin.selected && predicted && isMoe
            && static_cast<double>(assessment.residentBytes) > predicted->bytesPerStep) {
            SpeedMark ghost = *predicted;
            ghost.kind = SpeedMark::Kind::Ghost;
            ghost.bytesPerStep = static_cast<double>(assessment.residentBytes);
            ghost.low.reset();
            ghost.high.reset();
            result.marks.push_back(ghost);
            result.readFraction =
                static_cast<double>(assessment.streamedBytes) / static_cast<double>(assessment.residentBytes);
        }
    }
    if (first != nullptr)
        takeLines(result, *first);
    // The selected checkpoint may have no speed: then another's line still says what the machine does.
    for (const Pin &pin : pins) {
        if (!pin.assessment)
            continue;
        if (!(result.effective > 0))
            takeLines(result, *pin.assessment);
        if (pin.assessment->decode && isPlottable(pin.assessment->decode->effectiveBandwidthBytesPerSecond)
            && pin.assessment->engineName != result.effectiveEngine) {
            result.enginesDiffer = true;
        }
    }
    return result;
}

} // namespace weir

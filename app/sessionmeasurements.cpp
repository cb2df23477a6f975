// SPDX-License-Identifier: GPL-3.0-or-later
// What the session does about published measurements.
#include "app/session.h"
#include "models/items/text.h"

namespace weir {

std::optional<Assessment> Session::assessRow(const CheckpointPtr &checkpoint, const Measurement &row) const
{
    const Machine *machine = m_library.machine(row.machine);
    const Engine *engine = m_library.engine(row.engine);
    const std::optional<std::uint64_t> depth = row.depthTokens();
    if (machine == nullptr || engine == nullptr || !depth)
        return std::nullopt;
    Workload workload;
    workload.contextTokens = *depth;
    workload.concurrency = row.concurrency.value_or(1);
    if (!row.kDtype.empty())
        workload.kDtype = row.kDtype;
    if (!row.vDtype.empty())
        workload.vDtype = row.vDtype;
    return assess(checkpoint, *machine, *engine, workload);
}

void Session::indexMeasurements()
{
    for (std::size_t i = 0; i < m_library.measurements.size(); ++i) {
        const Measurement &row = m_library.measurements[i];
        const CatalogEntry *entry = m_library.catalog->find(row.checkpoint);
        // A repository measured at another quantization is another checkpoint.
        if (entry != nullptr && entry->id != row.checkpoint && !row.quantization.empty()
            && row.quantization != entry->quantization)
            entry = nullptr;
        m_rowsOf[toText(entry != nullptr ? std::string_view(entry->id) : std::string_view(row.checkpoint))]
            .push_back(i);
    }
}

std::vector<MeasuredPoint> Session::measuredPoints(const QString &id, const CheckpointPtr &checkpoint)
{
    const auto known = m_points.constFind(id);
    if (known != m_points.constEnd())
        return *known;
    std::vector<MeasuredPoint> points;
    for (const std::size_t index : rowsOf(id, *checkpoint)) {
        const Measurement &row = m_library.measurements[index];
        if (row.machine != m_machine->id || !row.isPlainDecode() || !row.decodeTokensPerSecond)
            continue;
        const std::optional<Assessment> own = assessRow(checkpoint, row);
        if (!own || !own->decode)
            continue;
        MeasuredPoint point;
        point.bytesPerStep = static_cast<double>(own->decode->bytesPerStep);
        point.tokensPerSecond = *row.decodeTokensPerSecond;
        point.row = row;
        points.push_back(std::move(point));
    }
    m_points.insert(id, points);
    return points;
}

std::vector<MeasurementRow> Session::measurementRows() const
{
    std::vector<MeasurementRow> rows;
    const CheckpointPtr checkpoint = selectedCheckpoint();
    if (!checkpoint)
        return rows;
    for (const std::size_t index : rowsOf(m_selected, *checkpoint)) {
        const Measurement &measurement = m_library.measurements[index];
        MeasurementRow row;
        row.measurement = measurement;
        const Machine *machine = m_library.machine(measurement.machine);
        const Engine *engine = m_library.engine(measurement.engine);
        row.machineName = toText(machine != nullptr ? machine->name : measurement.machine);
        row.engineName = toText(engine != nullptr ? engine->name : measurement.engine);
        if (measurement.nodes == 1
            && (measurement.draftMethod.empty() || measurement.draftMethod == "none")) {
            const std::optional<Assessment> own = assessRow(checkpoint, measurement);
            if (own && own->decode)
                row.predicted = own->decode->tokensPerSecond;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/decode/assessment.h"

#include <QByteArray>
#include <QHash>
#include <QString>
#include <QStringList>
#include <QVariant>

#include <array>
#include <memory>

class QSettings;

namespace weir {

/// Every setting the window keeps. The table in settings.cpp gives each its key and default.
enum class Setting : std::uint8_t {
    LayoutVersion,
    WindowGeometry,
    WindowColumns,
    DetailTab,
    ThemeChoice,
    Unit,
    CatalogOrder,
    CatalogMinimumFit,
    MachineId,
    EngineChoices,
    SelectedId,
    PinnedIds,
    ContextTokens,
    Concurrency,
    KDtype,
    VDtype,
    ReserveBytes,
    LinkMegabits,
    RecentPaths,
    OpenFolder,
    ExportFolder,
    LeftSection,
    WorkOffline,
    DiskFolders,
    DiskOrder,
    Count,
};

/// Typed access to the settings file, and the only place that touches QSettings. What is stored with a
/// wrong type or out of range reads as the default. GUI thread.
class Settings
{
public:
    /// Layouts of another version are ignored.
    static constexpr int layoutVersion = 1;
    static constexpr int maximumRecentPaths = 10;

    /// The user's own settings.
    Settings();
    /// A file of its own (tests, screenshots).
    explicit Settings(const QString &file);
    ~Settings();
    Settings(const Settings &) = delete;
    Settings &operator=(const Settings &) = delete;

    static QString key(Setting setting);
    static QVariant defaultValue(Setting setting);
    QVariant value(Setting setting) const;
    /// Writes only what changed.
    void setValue(Setting setting, const QVariant &value);
    void sync();

    QByteArray windowGeometry() const;
    QByteArray windowColumns() const;
    void setWindowLayout(const QByteArray &geometry, const QByteArray &columns);
    void forgetWindowLayout();

    ByteUnit unit() const;
    void setUnit(ByteUnit unit);

    Workload workload() const;
    void setWorkload(const Workload &workload);

    /// Engines chosen by hand: checkpoint id to engine id.
    QHash<QString, QString> engineChoices() const;
    void setEngineChoices(const QHash<QString, QString> &choices);

    QStringList recentPaths() const;
    void addRecentPath(const QString &path);

private:
    std::unique_ptr<QSettings> m_settings;
};

} // namespace weir

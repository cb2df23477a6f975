// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings.h"

#include "models/items/text.h"

#include <QSettings>

#include <algorithm>

namespace weir {

namespace {

struct Row
{
    Setting setting;
    const char *key;
    QVariant standard;
};

constexpr qulonglong maximumContextTokens = qulonglong{1} << 24U;

const std::array<Row, static_cast<std::size_t>(Setting::Count)> &table()
{
    static const std::array<Row, static_cast<std::size_t>(Setting::Count)> rows{{
        {Setting::LayoutVersion, "window/layoutVersion", 0},
        {Setting::WindowGeometry, "window/geometry", QByteArray()},
        {Setting::WindowColumns, "window/columns", QByteArray()},
        {Setting::DetailTab, "window/detailTab", 0},
        {Setting::ThemeChoice, "view/theme", QStringLiteral("system")},
        {Setting::Unit, "view/unit", QStringLiteral("GB")},
        {Setting::CatalogOrder, "catalog/order", 0},
        {Setting::CatalogMinimumFit, "catalog/minimumFit", 0},
        {Setting::MachineId, "session/machine", QStringLiteral("dgx-spark")},
        {Setting::EngineChoices, "session/engines", QVariantMap()},
        {Setting::SelectedId, "session/selected", QStringLiteral("qwen3.5-122b-a10b-int4-autoround")},
        {Setting::PinnedIds, "session/pins",
         QStringList{QStringLiteral("llama3.1-70b-q4_k_m"), QStringLiteral("qwen2.5-7b-q4_k_m")}},
        {Setting::ContextTokens, "workload/contextTokens", qulonglong{4096}},
        {Setting::Concurrency, "workload/concurrency", 1U},
        {Setting::KDtype, "workload/kDtype", QStringLiteral("f16")},
        {Setting::VDtype, "workload/vDtype", QStringLiteral("f16")},
        {Setting::ReserveBytes, "workload/reserveBytes", QString()}, // empty: the machine's default
        {Setting::LinkMegabits, "download/linkMegabits", 100.0},
        {Setting::RecentPaths, "session/recentPaths", QStringList()},
        {Setting::OpenFolder, "paths/open", QString()},
        {Setting::ExportFolder, "paths/export", QString()},
        {Setting::LeftSection, "window/leftSection", QStringLiteral("catalog")},
        {Setting::WorkOffline, "hub/workOffline", false},
        {Setting::DiskFolders, "disk/folders", QStringList()},
        {Setting::DiskOrder, "disk/order", 0},
    }};
    return rows;
}

const Row &row(Setting setting) { return table()[static_cast<std::size_t>(setting)]; }

} // namespace

Settings::Settings()
    : m_settings(std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope,
                                             QStringLiteral("weir"), QStringLiteral("weir")))
{}

Settings::Settings(const QString &file)
    : m_settings(std::make_unique<QSettings>(file, QSettings::IniFormat))
{}

Settings::~Settings() = default;

QString Settings::key(Setting setting) { return QString::fromLatin1(row(setting).key); }

QVariant Settings::defaultValue(Setting setting) { return row(setting).standard; }

QVariant Settings::value(Setting setting) const
{
    const QVariant standard = defaultValue(setting);
    QVariant stored = m_settings->value(key(setting), standard);
    // An ini file holds an empty list as an invalid value and one of a single string as a string.
    if (standard.typeId() == QMetaType::QStringList)
        return stored.toStringList();
    if (stored.typeId() != standard.typeId() && !stored.convert(standard.metaType()))
        return standard;
    return stored;
}

void Settings::setValue(Setting setting, const QVariant &value)
{
    if (this->value(setting) != value || !m_settings->contains(key(setting)))
        m_settings->setValue(key(setting), value);
}

void Settings::sync() { m_settings->sync(); }

QByteArray Settings::windowGeometry() const
{
    return value(Setting::LayoutVersion).toInt() == layoutVersion
               ? value(Setting::WindowGeometry).toByteArray()
               : QByteArray();
}

QByteArray Settings::windowColumns() const
{
    return value(Setting::LayoutVersion).toInt() == layoutVersion
               ? value(Setting::WindowColumns).toByteArray()
               : QByteArray();
}

void Settings::setWindowLayout(const QByteArray &geometry, const QByteArray &columns)
{
    setValue(Setting::LayoutVersion, layoutVersion);
    setValue(Setting::WindowGeometry, geometry);
    setValue(Setting::WindowColumns, columns);
}

void Settings::forgetWindowLayout()
{
    for (const Setting setting : {Setting::LayoutVersion, Setting::WindowGeometry, Setting::WindowColumns})
        m_settings->remove(key(setting));
}

ByteUnit Settings::unit() const
{
    return value(Setting::Unit).toString() == QLatin1String("GiB") ? ByteUnit::Gibibytes
                                                                   : ByteUnit::Gigabytes;
}

void Settings::setUnit(ByteUnit unit)
{
    setValue(Setting::Unit, unit == ByteUnit::Gibibytes ? QStringLiteral("GiB") : QStringLiteral("GB"));
}

Workload Settings::workload() const
{
    Workload workload;
    workload.contextTokens = std::min(value(Setting::ContextTokens).toULongLong(), maximumContextTokens);
    workload.concurrency = std::clamp(value(Setting::Concurrency).toUInt(), 1U, 1024U);
    workload.kDtype = value(Setting::KDtype).toString().toStdString();
    workload.vDtype = value(Setting::VDtype).toString().toStdString();
    bool isNumber = false;
    const qulonglong reserve = value(Setting::ReserveBytes).toString().toULongLong(&isNumber);
    if (isNumber)
        workload.reserveBytes = reserve;
    return workload;
}

void Settings::setWorkload(const Workload &workload)
{
    setValue(Setting::ContextTokens, qulonglong{workload.contextTokens});
    setValue(Setting::Concurrency, workload.concurrency);
    setValue(Setting::KDtype, toText(workload.kDtype));
    setValue(Setting::VDtype, toText(workload.vDtype));
    setValue(Setting::ReserveBytes,
             workload.reserveBytes ? QString::number(*workload.reserveBytes) : QString());
}

QHash<QString, QString> Settings::engineChoices() const
{
    QHash<QString, QString> choices;
    const QVariantMap stored = value(Setting::EngineChoices).toMap();
    for (auto choice = stored.begin(); choice != stored.end(); ++choice)
        choices.insert(choice.key(), choice.value().toString());
    return choices;
}

void Settings::setEngineChoices(const QHash<QString, QString> &choices)
{
    QVariantMap stored;
    for (auto choice = choices.begin(); choice != choices.end(); ++choice)
        stored.insert(choice.key(), choice.value());
    setValue(Setting::EngineChoices, stored);
}

QStringList Settings::recentPaths() const { return value(Setting::RecentPaths).toStringList(); }

void Settings::addRecentPath(const QString &path)
{
    QStringList paths = recentPaths();
    paths.removeAll(path);
    paths.prepend(path);
    setValue(Setting::RecentPaths, QStringList(paths.mid(0, maximumRecentPaths)));
}

} // namespace weir

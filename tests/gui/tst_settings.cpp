// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings.h"
#include "app/systemtheme.h"
#include "widgets/contextscale.h"

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace weir;

namespace {

/// A value of the same type that is not the default.
QVariant another(const QVariant &standard)
{
    switch (standard.typeId()) {
    case QMetaType::Bool: return !standard.toBool();
    case QMetaType::Int: return standard.toInt() + 1;
    case QMetaType::UInt: return standard.toUInt() + 1;
    case QMetaType::ULongLong: return standard.toULongLong() + 1;
    case QMetaType::Double: return standard.toDouble() + 1;
    case QMetaType::QString: return QString(standard.toString() + QStringLiteral("x"));
    case QMetaType::QByteArray: return QByteArray("bytes");
    case QMetaType::QStringList: return QStringList{QStringLiteral("one"), QStringLiteral("two, with comma")};
    case QMetaType::QVariantMap: return QVariantMap{{QStringLiteral("a/b"), QStringLiteral("vllm")}};
    default: return {};
    }
}

} // namespace

class TestSettings : public QObject
{
    Q_OBJECT

private slots:
    void everyKeyKeepsItsValue_data();
    void everyKeyKeepsItsValue();
    void keysAreDistinct();
    void nonsenseReadsAsDefault();
    void workloadKeepsTheDefaultReserve();
    void oldLayoutsAreIgnored();
    void recentPathsAreFew();
    void portalDecides();
    void contextScale();
};

void TestSettings::everyKeyKeepsItsValue_data()
{
    QTest::addColumn<int>("setting");
    for (int i = 0; i < static_cast<int>(Setting::Count); ++i)
        QTest::newRow(qPrintable(Settings::key(static_cast<Setting>(i)))) << i;
}

void TestSettings::everyKeyKeepsItsValue()
{
    QFETCH(int, setting);
    const auto which = static_cast<Setting>(setting);
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("weir.ini"));
    const QVariant standard = Settings::defaultValue(which);
    const QVariant changed = another(standard);
    QVERIFY(changed.isValid());
    {
        Settings settings(file);
        QCOMPARE(settings.value(which), standard);
        settings.setValue(which, changed);
        QCOMPARE(settings.value(which), changed);
        settings.sync();
    }
    const Settings again(file);
    QCOMPARE(again.value(which), changed);
    for (int i = 0; i < static_cast<int>(Setting::Count); ++i) {
        if (i != setting)
            QCOMPARE(again.value(static_cast<Setting>(i)), Settings::defaultValue(static_cast<Setting>(i)));
    }
}

void TestSettings::keysAreDistinct()
{
    QSet<QString> keys;
    for (int i = 0; i < static_cast<int>(Setting::Count); ++i)
        keys << Settings::key(static_cast<Setting>(i));
    QCOMPARE(keys.size(), static_cast<int>(Setting::Count));
}

void TestSettings::nonsenseReadsAsDefault()
{
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("weir.ini"));
    {
        QSettings raw(file, QSettings::IniFormat);
        raw.setValue(Settings::key(Setting::ContextTokens), QStringLiteral("many"));
        raw.setValue(Settings::key(Setting::Concurrency), QStringLiteral("-5"));
        raw.setValue(Settings::key(Setting::ReserveBytes), QStringLiteral("all"));
    }
    const Settings settings(file);
    const Workload workload = settings.workload();
    QCOMPARE(workload.contextTokens, std::uint64_t{4096});
    QCOMPARE(workload.concurrency, std::uint32_t{1});
    QVERIFY(!workload.reserveBytes.has_value());
}

void TestSettings::workloadKeepsTheDefaultReserve()
{
    QTemporaryDir folder;
    Settings settings(folder.filePath(QStringLiteral("weir.ini")));
    Workload workload = settings.workload();
    QVERIFY(!workload.reserveBytes.has_value());
    workload.reserveBytes = 0;
    settings.setWorkload(workload);
    QCOMPARE(settings.workload().reserveBytes.value_or(1), std::uint64_t{0});
    workload.reserveBytes.reset();
    settings.setWorkload(workload);
    QVERIFY(!settings.workload().reserveBytes.has_value());
}

void TestSettings::oldLayoutsAreIgnored()
{
    QTemporaryDir folder;
    Settings settings(folder.filePath(QStringLiteral("weir.ini")));
    settings.setWindowLayout("geometry", "columns");
    QCOMPARE(settings.windowGeometry(), QByteArray("geometry"));
    settings.setValue(Setting::LayoutVersion, Settings::layoutVersion + 1);
    QVERIFY(settings.windowGeometry().isEmpty());
    QVERIFY(settings.windowColumns().isEmpty());
}

void TestSettings::recentPathsAreFew()
{
    QTemporaryDir folder;
    Settings settings(folder.filePath(QStringLiteral("weir.ini")));
    for (int i = 0; i < 30; ++i)
        settings.addRecentPath(QStringLiteral("/models/%1").arg(i));
    settings.addRecentPath(QStringLiteral("/models/25"));
    QCOMPARE(settings.recentPaths().size(), Settings::maximumRecentPaths);
    QCOMPARE(settings.recentPaths().first(), QStringLiteral("/models/25"));
    QCOMPARE(settings.recentPaths().count(QStringLiteral("/models/25")), 1);
}

void TestSettings::portalDecides()
{
    SystemTheme theme;
    const bool palette = theme.isDark();
    QSignalSpy changes(&theme, &SystemTheme::isDarkChanged);
    theme.setColorScheme(1);
    QVERIFY(theme.isDark());
    theme.setColorScheme(1);
    theme.setColorScheme(2);
    QVERIFY(!theme.isDark());
    theme.setColorScheme(0);
    QCOMPARE(theme.isDark(), palette);
    QCOMPARE(changes.size(), 2);
}

void TestSettings::contextScale()
{
    QCOMPARE(ContextScale::tokensAt(0), std::uint64_t{256});
    QCOMPARE(ContextScale::tokensAt(ContextScale::maximumPosition), std::uint64_t{1048576});
    for (int position = 0; position <= ContextScale::maximumPosition; ++position) {
        QCOMPARE(ContextScale::positionOf(ContextScale::tokensAt(position)), position);
        if (position > 0)
            QVERIFY(ContextScale::tokensAt(position) > ContextScale::tokensAt(position - 1));
    }
    QCOMPARE(ContextScale::positionOf(0), 0);
    QCOMPARE(ContextScale::positionOf(8191), ContextScale::positionOf(8192));
    QCOMPARE(ContextScale::positionOf(~std::uint64_t{0}), ContextScale::maximumPosition);
}

QTEST_MAIN(TestSettings)
#include "tst_settings.moc"

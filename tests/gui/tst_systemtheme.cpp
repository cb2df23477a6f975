// SPDX-License-Identifier: GPL-3.0-or-later
// The desktop's portal, played by this test on a bus of its own.
#include "app/systemtheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

using namespace weir;

namespace {

/// Answers as xdg-desktop-portal does: Read() wraps its value in one variant more than the signal.
class FakePortal : public QObject
{
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.portal.Settings")

public:
    uint scheme = 0;

    void change(uint value)
    {
        scheme = value;
        QDBusMessage signal = QDBusMessage::createSignal(QStringLiteral("/org/freedesktop/portal/desktop"),
                                                         QStringLiteral("org.freedesktop.portal.Settings"),
                                                         QStringLiteral("SettingChanged"));
        signal << QStringLiteral("org.freedesktop.appearance") << QStringLiteral("color-scheme")
               << QVariant::fromValue(QDBusVariant(value));
        QVERIFY(QDBusConnection(QStringLiteral("portal")).send(signal));
    }

public slots:
    QDBusVariant Read(const QString &space, const QString &key) const
    {
        if (space != QLatin1String("org.freedesktop.appearance") || key != QLatin1String("color-scheme"))
            return QDBusVariant(QString());
        return QDBusVariant(QVariant::fromValue(QDBusVariant(scheme)));
    }
};

} // namespace

class TestSystemTheme : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanupTestCase();
    void followsThePortal();

private:
    QProcess m_daemon;
    FakePortal m_portal;
};

void TestSystemTheme::initTestCase()
{
    const QString daemon = QStandardPaths::findExecutable(QStringLiteral("dbus-daemon"));
    if (daemon.isEmpty())
        QSKIP("no dbus-daemon here (package dbus-daemon)");
    m_daemon.start(
        daemon, {QStringLiteral("--session"), QStringLiteral("--nofork"), QStringLiteral("--print-address")});
    QVERIFY(m_daemon.waitForStarted());
    QVERIFY(m_daemon.waitForReadyRead());
    const QByteArray address = m_daemon.readLine().trimmed();
    QVERIFY(!address.isEmpty());
    qputenv("DBUS_SESSION_BUS_ADDRESS", address);

    QDBusConnection bus =
        QDBusConnection::connectToBus(QString::fromLatin1(address), QStringLiteral("portal"));
    QVERIFY(bus.isConnected());
    QVERIFY(bus.registerObject(QStringLiteral("/org/freedesktop/portal/desktop"), &m_portal,
                               QDBusConnection::ExportAllSlots));
    QVERIFY(bus.registerService(QStringLiteral("org.freedesktop.portal.Desktop")));
}

void TestSystemTheme::cleanupTestCase()
{
    QDBusConnection::disconnectFromBus(QStringLiteral("portal"));
    m_daemon.terminate();
    m_daemon.waitForFinished();
}

void TestSystemTheme::followsThePortal()
{
    m_portal.scheme = 1;
    SystemTheme theme;
    QSignalSpy changes(&theme, &SystemTheme::isDarkChanged);
    QTRY_VERIFY(theme.isDark());
    m_portal.change(2);
    QTRY_VERIFY(!theme.isDark());
    m_portal.change(1);
    QTRY_VERIFY(theme.isDark());
    QCOMPARE(changes.last().first().toBool(), true);
}

QTEST_MAIN(TestSystemTheme)
#include "tst_systemtheme.moc"

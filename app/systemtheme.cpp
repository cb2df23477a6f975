// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/systemtheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QFileInfo>
#include <QGuiApplication>
#include <QPalette>

namespace weir {

namespace {

const QString &service()
{
    static const QString name = QStringLiteral("org.freedesktop.portal.Desktop");
    return name;
}

const QString &path()
{
    static const QString name = QStringLiteral("/org/freedesktop/portal/desktop");
    return name;
}

const QString &interfaceName()
{
    static const QString name = QStringLiteral("org.freedesktop.portal.Settings");
    return name;
}

const QString &appearance()
{
    static const QString name = QStringLiteral("org.freedesktop.appearance");
    return name;
}

const QString &colorScheme()
{
    static const QString name = QStringLiteral("color-scheme");
    return name;
}

/// Read() wraps its answer in a variant once more than ReadOne() does.
QVariant unwrapped(QVariant value)
{
    while (value.userType() == qMetaTypeId<QDBusVariant>())
        value = qvariant_cast<QDBusVariant>(value).variant();
    return value;
}

} // namespace

SystemTheme::SystemTheme(QObject *parent)
    : QObject(parent)
{
    const QPalette palette = QGuiApplication::palette();
    m_paletteIsDark =
        palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
    askPortal();
}

bool SystemTheme::isDark() const { return m_portalIsDark.value_or(m_paletteIsDark); }

void SystemTheme::setColorScheme(uint scheme)
{
    const bool before = isDark();
    if (scheme == 1)
        m_portalIsDark = true;
    else if (scheme == 2)
        m_portalIsDark = false;
    else
        m_portalIsDark.reset();
    if (isDark() != before)
        emit isDarkChanged(isDark());
}

void SystemTheme::askPortal()
{
    // Without a bus there is no portal, and asking must not start one.
    const QString runtimeFolder = qEnvironmentVariable("XDG_RUNTIME_DIR");
    if (!qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS")
        && (runtimeFolder.isEmpty() || !QFileInfo::exists(runtimeFolder + QStringLiteral("/bus"))))
        return;
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    bus.connect(service(), path(), interfaceName(), QStringLiteral("SettingChanged"), this,
                SLOT(onSettingChanged(QDBusMessage)));
    QDBusMessage question =
        QDBusMessage::createMethodCall(service(), path(), interfaceName(), QStringLiteral("Read"));
    question << appearance() << colorScheme();
    auto *watcher = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher *done) {
        const QDBusPendingReply<QDBusVariant> reply = *done;
        if (reply.isValid())
            setColorScheme(unwrapped(reply.value().variant()).toUInt());
        done->deleteLater();
    });
}

void SystemTheme::onSettingChanged(const QDBusMessage &message)
{
    const QList<QVariant> arguments = message.arguments();
    if (arguments.size() == 3 && arguments.at(0).toString() == appearance()
        && arguments.at(1).toString() == colorScheme())
        setColorScheme(unwrapped(arguments.at(2)).toUInt());
}

} // namespace weir

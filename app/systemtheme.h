// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <optional>

class QDBusMessage;

namespace weir {

/// Whether the desktop prefers dark: the portal's `color-scheme` over D-Bus where there is one, asked for
/// without waiting and followed while it changes; else the lightness of the palette the program started
/// with. GUI thread.
class SystemTheme : public QObject
{
    Q_OBJECT

public:
    explicit SystemTheme(QObject *parent = nullptr);

    bool isDark() const;

    /// The portal's numbers: 1 prefers dark, 2 prefers light, anything else has no preference.
    void setColorScheme(uint scheme);

signals:
    void isDarkChanged(bool dark);

private slots:
    void onSettingChanged(const QDBusMessage &message);

private:
    void askPortal();

    bool m_paletteIsDark = false;
    std::optional<bool> m_portalIsDark;
};

} // namespace weir

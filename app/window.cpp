// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window.h"

#include "app/hubaccount.h"
#include "app/hubbridge.h"
#include "app/keyring.h"
#include "app/library.h"
#include "app/loader.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/windowwording.h"
#include "models/items/text.h"
#include "models/sources/hub/hub.h"
#include "models/sources/hub/hubsettings.h"

#include <QApplication>
#include <QFileInfo>
#include <QPixmap>
#include <QTemporaryDir>
#include <QTimer>

#include <chrono>
#include <cstdio>
#include <memory>

namespace weir {

namespace {

constexpr int exitDone = 0;
constexpr int exitUnreadable = 3;

QString toQString(const std::filesystem::path &path) { return QString::fromStdString(path.string()); }

/// Waits until everything is read and painted, writes the picture, and ends the event loop.
void takeScreenshot(MainWindow &window, Session &session, const QString &file)
{
    const auto write = [&window, file] {
        const QPixmap picture = window.grab();
        if (picture.save(file, "PNG")) {
            QCoreApplication::exit(exitDone);
            return;
        }
        std::fprintf(stderr, "weir: cannot write \"%s\": choose a folder that exists and can be written to\n",
                     qPrintable(file));
        QCoreApplication::exit(exitUnreadable);
    };
    // Queued drawing and layout take a turn or two of the event loop after the last number.
    const auto soon = [&window, write] {
        QTimer::singleShot(std::chrono::milliseconds(250), &window, write);
    };
    if (session.isSettled())
        soon();
    else
        QObject::connect(&session, &Session::settled, &window, soon, Qt::SingleShotConnection);
}

} // namespace

int runWindow(int argc, char **argv, const WindowOptions &options)
{
    QApplication application(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("weir"));
    QCoreApplication::setApplicationVersion(QStringLiteral(WEIR_VERSION));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Weir"));
    QGuiApplication::setDesktopFileName(QStringLiteral("org.weir_explorer.Weir"));

    // A picture shows the first start, whatever the user has set.
    std::unique_ptr<QTemporaryDir> temporary;
    std::unique_ptr<Settings> settings;
    if (options.screenshot) {
        temporary = std::make_unique<QTemporaryDir>();
        settings = std::make_unique<Settings>(temporary->filePath(QStringLiteral("weir.ini")));
    } else {
        settings = std::make_unique<Settings>();
    }
    if (!options.theme.empty())
        settings->setValue(Setting::ThemeChoice, toText(options.theme));

    WindowWording wording;
    const Library library = Library::read();
    const auto client = std::make_shared<Hub>(hubSettings(processEnvironment()));
    HubBridge hub(hubCalls(client));
    HubAccount account(hub, desktopKeyring());
    Loader loader(library.catalog);
    hub.serve(loader);
    loader.setRegistryOpener(registryOpener(client));
    Session session(library, *settings, loader);
    MainWindow window(session, loader, hub, account, *settings, wording);
    if (options.width > 0 && options.height > 0)
        window.resize(options.width, options.height);
    session.start(toText(options.checkpointArgument));
    for (const Error &problem : library.problems)
        window.showMessage(wording.sentence(problem), Severity::Error);
    window.show();
    if (options.screenshot)
        takeScreenshot(window, session, toQString(*options.screenshot));
    return QApplication::exec();
}

} // namespace weir

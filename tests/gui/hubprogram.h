// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/hubaccount.h"
#include "app/hubbridge.h"
#include "app/library.h"
#include "app/loader.h"
#include "app/mainwindow.h"
#include "app/session.h"
#include "app/settings.h"
#include "app/windowwording.h"
#include "models/items/hubmodel.h"
#include "models/sources/hub/hub.h"
#include "tests/support/hubfakes.h"

#include <QAction>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QTabBar>
#include <QTabWidget>
#include <QTest>
#include <QTreeView>

namespace weir::test {

/// The settings of a client that asks a stand-in and keeps all it writes in one folder.
inline HubSettings settingsFor(const std::string &endpoint, const QString &folder)
{
    HubSettings settings;
    settings.endpoint = endpoint;
    settings.hubCache = folder.toStdString() + "/hub";
    settings.metadataCache = folder.toStdString() + "/weir";
    settings.userAgent = "weir-test";
    settings.connectTimeout = std::chrono::milliseconds(2000);
    settings.stallTimeout = std::chrono::milliseconds(5000);
    settings.tries = 2;
    settings.retryDelay = std::chrono::milliseconds(10);
    return settings;
}

/// One window on one Hub, with settings, caches and keyring of its own.
struct HubProgram
{
    HubProgram(const QString &folder, const HubSettings &hubSettings, FakeKeyring &keyring,
               const QString &argument = {})
        : settings(folder + QStringLiteral("/weir.ini"))
        , library(Library::read())
        , client(std::make_shared<Hub>(hubSettings))
        , bridge(hubCalls(client))
        , account(bridge, keyring.calls())
        , loader(library.catalog)
        , session(library, settings, loader)
        , window(session, loader, bridge, account, settings, wording)
    {
        bridge.serve(loader);
        loader.setRegistryOpener(registryOpener(client));
        window.resize(1280, 800);
        session.start(argument);
        window.show();
        window.activateWindow();
        if (!QTest::qWaitForWindowActive(&window))
            qWarning("the window did not become active");
    }

    template <typename Widget>
    Widget *find(const char *name)
    {
        auto *widget = window.findChild<Widget *>(QString::fromLatin1(name));
        if (widget == nullptr)
            qFatal("no widget named %s", name);
        return widget;
    }

    QString text(const char *label) { return find<QLabel>(label)->text(); }

    QAction *action(const char *name)
    {
        auto *found = window.findChild<QAction *>(QString::fromLatin1(name));
        if (found == nullptr)
            qFatal("no action named %s", name);
        return found;
    }

    /// Clicks the tab of the Hub.
    void enterHub()
    {
        auto *tabs = find<QTabBar>("sectionTabs");
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(1).center());
    }

    QTreeView *hits() { return find<QTreeView>("hubList"); }
    int hitCount() { return hits()->model()->rowCount(); }

    /// So many hits, all of one organization: not those of the search before.
    bool shows(int count, const QString &organization)
    {
        const QAbstractItemModel *model = hits()->model();
        for (int hit = 0; hit < model->rowCount(); ++hit) {
            if (!model->index(hit, 0).data(HubModel::ReferenceRole).toString().startsWith(organization))
                return false;
        }
        return model->rowCount() == count;
    }

    QModelIndex row(const QString &reference)
    {
        const QAbstractItemModel *model = hits()->model();
        for (int hit = 0; hit < model->rowCount(); ++hit) {
            const QModelIndex index = model->index(hit, 0);
            if (index.data(HubModel::ReferenceRole).toString() == reference)
                return index;
            for (int choice = 0; choice < model->rowCount(index); ++choice) {
                const QModelIndex below = model->index(choice, 0, index);
                if (below.data(HubModel::ReferenceRole).toString() == reference)
                    return below;
            }
        }
        return {};
    }

    void click(const QModelIndex &index)
    {
        hits()->scrollTo(index);
        QTest::mouseClick(hits()->viewport(), Qt::LeftButton, {}, hits()->visualRect(index).center());
    }

    void type(const QString &text)
    {
        auto *field = find<QLineEdit>("hubSearch");
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, text);
        if (text.isEmpty())
            QTest::keyClick(field, Qt::Key_Delete);
    }

    /// Saves what is on screen where the variable names a folder: for the eye, not for the test.
    void picture(const char *name)
    {
        const QString folder = qEnvironmentVariable("WEIR_TEST_PICTURES");
        if (folder.isEmpty())
            return;
        QTest::qWait(200);
        window.grab().save(QDir(folder).filePath(QString::fromLatin1(name) + QStringLiteral(".png")));
    }

    WindowWording wording;
    Settings settings;
    Library library;
    std::shared_ptr<Hub> client;
    HubBridge bridge;
    HubAccount account;
    Loader loader;
    Session session;
    MainWindow window;
};

} // namespace weir::test

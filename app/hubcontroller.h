// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/hubbridge.h"
#include "app/hubprobe.h"
#include "models/items/catalogmodel.h"
#include "widgets/sourcebar.h"

#include <QObject>

namespace weir {

class HubModel;
class HubView;
class Session;
class Wording;

/// Joins the Hub's section and the source bar to the bridge and the session: what is typed becomes searches,
/// what is visible becomes badges, what is chosen is opened. Everything passed in outlives it. GUI thread.
class HubController : public QObject
{
    Q_OBJECT

public:
    /// Pages that one query loads before it asks whether to go on.
    static constexpr int pageBudget = 10;

    HubController(Session &session, HubBridge &bridge, HubModel *model, HubView *view, SourceBar *source,
                  const Wording &wording, QObject *parent = nullptr);
    ~HubController() override;

    /// The user turned to the Hub: what is trending is loaded if nothing was asked yet.
    void enter();
    /// Asks again for what failed.
    void retry();

signals:
    /// What the user asked for just now could not be done, and why.
    void failed(const QString &reference, const weir::Error &error);
    void pageRequested(const QString &address);

private:
    enum class Offer : std::uint8_t { None, Search, Retry, More, Online };

    void search();
    void more();
    void onPage(quint64 number, const HubPage &page);
    void onSearchFailed(const Error &error);
    void showState();
    QString problemText(const Error &error) const;
    void onAction();

    void probe(const QStringList &references);
    void learn(const HubReference &reference);
    void apply(const QString &reference);
    void refreshResults();
    CatalogResult resultFor(const HubReference &reference, const QModelIndex &row) const;

    void unfold(const QString &reference);
    void onListed(const HubReference &reference, const HubRepository &repository);
    void onListFailed(const HubReference &reference, const Error &error);

    void updateSource();

    Session &m_session;
    HubBridge &m_bridge;
    HubModel *m_model;
    HubView *m_view;
    SourceBar *m_source;
    const Wording &m_wording;
    HubProbe m_probe;

    bool m_asked = false;
    quint64 m_firstPage = 0; ///< the request whose answer replaces the hits
    std::string m_next;
    int m_pagesLeft = 0;
    std::optional<Error> m_problem; ///< of the last search
    std::optional<Error> m_stalled; ///< of the background
    Offer m_offer = Offer::None;
    QStringList m_visible;
    QString m_unfolding;
    QStringList m_notListed; ///< listings of the source that failed: not asked again and again
};

} // namespace weir

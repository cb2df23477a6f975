// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/hubcontroller.h"

#include "app/session.h"
#include "models/items/hubmodel.h"
#include "models/items/text.h"
#include "widgets/hubview.h"
#include "widgets/wording.h"

#include <algorithm>
#include <utility>

namespace weir {

namespace {

QString textOf(const HubReference &reference) { return toText(hubReferenceText(reference)); }

/// The repository and revision of a reference: what a listing is of.
HubReference withoutChoice(HubReference reference)
{
    reference.choice.clear();
    return reference;
}

bool isCommit(const std::string &text)
{
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The choice that a checkpoint was read from, whatever it was named by.
const HubChoice *choiceOf(const HubRepository &repository, const HubReference &reference,
                          const Checkpoint &checkpoint)
{
    for (const HubChoice &choice : repository.choices) {
        if (!reference.choice.empty() && choice.label == reference.choice)
            return &choice;
    }
    for (const HubChoice &choice : repository.choices) {
        for (const RepositoryFile &file : checkpoint.files) {
            if (file.counted && std::ranges::find(choice.files, file.path) != choice.files.end())
                return &choice;
        }
    }
    return nullptr;
}

} // namespace

HubController::HubController(Session &session, HubBridge &bridge, HubModel *model, HubView *view,
                             SourceBar *source, const Wording &wording, QObject *parent)
    : QObject(parent)
    , m_session(session)
    , m_bridge(bridge)
    , m_model(model)
    , m_view(view)
    , m_source(source)
    , m_wording(wording)
    , m_probe(bridge)
{
    connect(view, &HubView::queryChanged, this, &HubController::search);
    connect(view, &HubView::moreWanted, this, &HubController::more);
    connect(view, &HubView::visibleChanged, this, &HubController::probe);
    connect(view, &HubView::activated, &session, &Session::select);
    connect(view, &HubView::unfoldRequested, this, &HubController::unfold);
    connect(view, &HubView::actionRequested, this, &HubController::onAction);

    connect(&bridge, &HubBridge::pageFound, this, &HubController::onPage);
    connect(&bridge, &HubBridge::searchFailed, this,
            [this](quint64, const Error &error) { onSearchFailed(error); });
    connect(&bridge, &HubBridge::listed, this, &HubController::onListed);
    connect(&bridge, &HubBridge::listFailed, this, &HubController::onListFailed);
    connect(&bridge, &HubBridge::revisionsFound, this,
            [this](const QString &repository, const QStringList &revisions) {
                if (m_source->source().repository == repository)
                    m_source->setRevisions(revisions);
            });
    connect(&bridge, &HubBridge::revisionsFailed, this, &HubController::failed);
    connect(&bridge, &HubBridge::offlineChanged, this, [this](bool offline) {
        if (offline)
            showState();
        else
            retry();
    });
    connect(&m_probe, &HubProbe::learned, this, &HubController::learn);
    connect(&m_probe, &HubProbe::stalled, this, [this](const Error &error) {
        m_stalled = error;
        showState();
    });

    connect(&session, &Session::badgesChanged, this, [this](quint64 contextTokens) {
        m_view->setSpeedContext(contextTokens);
        refreshResults();
    });
    connect(&session, &Session::unitChanged, this, [this] { m_model->setUnit(m_session.unit()); });
    connect(&session, &Session::selectionChanged, this,
            [this] { m_view->setSelected(m_session.selectedId()); });
    connect(&session, &Session::assessmentsChanged, this, &HubController::updateSource);

    connect(source, &SourceBar::pageRequested, this,
            [this](const QString &repository) { emit pageRequested(m_bridge.pageAddress(repository)); });
    connect(source, &SourceBar::revisionsWanted, &bridge, &HubBridge::revisions);
    connect(source, &SourceBar::revisionChosen, this, [this](const QString &revision) {
        if (auto reference = m_session.selectedHubReference()) {
            reference->revision = revision.toStdString();
            m_session.select(textOf(*reference));
        }
    });
    connect(source, &SourceBar::choiceChosen, this, [this](const QString &choice) {
        if (auto reference = m_session.selectedHubReference()) {
            reference->choice = choice.toStdString();
            m_session.select(textOf(*reference));
        }
    });
    connect(source, &SourceBar::refreshRequested, this, [this] {
        if (const auto reference = m_session.selectedHubReference()) {
            m_notListed.clear();
            m_session.openFromHub(*reference);
        }
    });
    showState();
}

HubController::~HubController() = default;

void HubController::enter()
{
    if (!m_asked)
        search();
}

void HubController::search()
{
    m_asked = true;
    m_problem.reset();
    m_pagesLeft = pageBudget - 1;
    m_next.clear();
    m_firstPage = m_bridge.search(m_view->query());
    showState();
}

void HubController::more()
{
    if (!m_asked || m_next.empty() || m_problem || m_bridge.isSearching() || m_pagesLeft <= 0)
        return;
    --m_pagesLeft;
    HubPage page;
    page.next = m_next;
    m_bridge.more(page);
    showState();
}

void HubController::retry()
{
    m_stalled.reset();
    m_probe.forgetFailures();
    m_notListed.clear();
    if (m_problem && !m_next.empty()) {
        m_problem.reset();
        more();
    } else if (m_problem) {
        search();
    } else {
        showState();
    }
    probe(m_visible);
}

void HubController::onPage(quint64 number, const HubPage &page)
{
    if (number == m_firstPage) {
        m_model->clear();
        // The Hub answers again: what the background could not have is tried again.
        if (std::exchange(m_stalled, std::nullopt))
            m_probe.forgetFailures();
    }
    m_next = page.next;
    m_model->append(page.hits);
    refreshResults();
    m_view->setSelected(m_session.selectedId());
    showState();
}

void HubController::onSearchFailed(const Error &error)
{
    if (error.id == "cancelled")
        return;
    m_problem = error;
    const QString text = toText(m_view->query().text);
    m_problem->subject =
        (text.isEmpty() ? tr("what is trending") : tr("the search for “%1”").arg(text)).toStdString();
    // Hits of another query must not look like the answer to this one.
    if (m_next.empty())
        m_model->clear();
    showState();
}

void HubController::showState()
{
    m_offer = Offer::None;
    const bool searching = m_bridge.isSearching();
    if (!m_asked) {
        m_offer = Offer::Search;
        m_view->showSentence(tr("No network was used yet. Type a name to search %1, or look at what is "
                                "trending there.")
                                 .arg(m_bridge.hubName()),
                             tr("Show Trending"));
        return;
    }
    if (m_model->hitCount() == 0) {
        if (searching) {
            m_view->showSentence(tr("Asking %1 …").arg(m_bridge.hubName()));
        } else if (m_problem) {
            m_offer = m_bridge.isOffline() ? Offer::Online : Offer::Retry;
            m_view->showSentence(problemText(*m_problem),
                                 m_bridge.isOffline() ? tr("Go Online") : tr("Try Again"));
        } else {
            const QString text = toText(m_view->query().text);
            m_view->showSentence(text.isEmpty()
                                     ? tr("The Hub has nothing to show here. Another format may have.")
                                     : tr("Nothing on the Hub has “%1” in its name. Fewer letters or another "
                                          "format find more.")
                                           .arg(text));
        }
        return;
    }
    m_view->showHits();
    if (m_problem) {
        m_offer = m_bridge.isOffline() ? Offer::Online : Offer::Retry;
        m_view->setFooter(problemText(*m_problem), m_bridge.isOffline() ? tr("Go Online") : tr("Try Again"));
    } else if (searching) {
        m_view->setFooter(tr("Asking %1 …").arg(m_bridge.hubName()));
    } else if (m_stalled) {
        m_offer = m_bridge.isOffline() ? Offer::Online : Offer::Retry;
        m_view->setFooter(problemText(*m_stalled), m_bridge.isOffline() ? tr("Go Online") : tr("Try Again"));
    } else if (!m_next.empty() && m_pagesLeft <= 0) {
        m_offer = Offer::More;
        m_view->setFooter(
            tr("%1 of the first %2 hits are shown.").arg(m_view->shownHits()).arg(m_model->hitCount()),
            tr("More"));
    } else if (m_view->shownHits() == 0) {
        m_view->setFooter(tr("None of %n hits passes the filters.", nullptr, m_model->hitCount()));
    } else {
        m_view->setFooter({});
    }
}

QString HubController::problemText(const Error &error) const
{
    return error.id == "hub.offline"
               ? tr("You work offline, so the Hub is not searched. What was read here before still opens.")
               : m_wording.sentence(error);
}

void HubController::onAction()
{
    switch (std::exchange(m_offer, Offer::None)) {
    case Offer::None: break;
    case Offer::Search: search(); break;
    case Offer::Retry: retry(); break;
    case Offer::More:
        m_pagesLeft = pageBudget;
        more();
        break;
    case Offer::Online: m_bridge.setOffline(false); break;
    }
}

void HubController::probe(const QStringList &references)
{
    m_visible = references;
    std::vector<HubProbe::Wish> wishes;
    for (const QString &text : references) {
        const QModelIndex row = m_model->indexOf(text);
        const std::optional<HubReference> reference = m_model->reference(row);
        if (!reference)
            continue;
        const CatalogResult known = resultFor(*reference, row);
        const bool needed = known.fit == Fit::Unknown && known.why.isEmpty();
        m_model->setPending(text, needed && !m_stalled);
        if (needed)
            wishes.push_back({*reference, true});
    }
    m_probe.want(wishes);
    if (m_asked && !m_problem && m_view->shownHits() == 0)
        showState();
}

void HubController::learn(const HubReference &reference)
{
    const QString text = textOf(reference);
    m_model->setPending(text, false);
    apply(text);
    if (m_unfolding == text && m_probe.repository(reference) != nullptr)
        unfold(text);
    updateSource();
}

void HubController::apply(const QString &text)
{
    const QModelIndex row = m_model->indexOf(text);
    const std::optional<HubReference> reference = m_model->reference(row);
    if (!reference)
        return;
    if (const HubRepository *repository = m_probe.repository(*reference))
        m_model->setRepository(text, *repository);
    m_model->setResult(text, resultFor(*reference, row));
}

void HubController::refreshResults()
{
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QModelIndex hit = m_model->index(row, 0);
        apply(hit.data(HubModel::ReferenceRole).toString());
        for (int child = 0; child < m_model->rowCount(hit); ++child)
            apply(m_model->index(child, 0, hit).data(HubModel::ReferenceRole).toString());
    }
}

CatalogResult HubController::resultFor(const HubReference &reference, const QModelIndex &row) const
{
    if (const CheckpointPtr checkpoint = m_probe.checkpoint(reference))
        return m_session.resultOf(checkpoint);

    CatalogResult result;
    // What is stored has to be loaded: no header is needed to see that it is more than the machine has.
    const Machine *machine = m_session.machine();
    const QVariant bytes = row.data(HubModel::SmallestBytesRole);
    if (machine != nullptr && machine->usableBytes && bytes.isValid()
        && bytes.toDouble() > machine->usableBytes->value) {
        result.fit = Fit::TooBig;
        result.why =
            tr("Its files alone are more than the %1 that this machine shows")
                .arg(shortBytes(static_cast<quint64>(machine->usableBytes->value), m_session.unit()));
        return result;
    }
    if (const Error *failure = m_probe.failure(reference)) {
        result.why = m_wording.sentence(*failure);
    } else if (const HubRepository *repository = m_probe.repository(reference);
               repository != nullptr && reference.choice.empty()) {
        if (repository->choices.empty())
            result.why = tr("It has no weights that this program reads");
        else if (repository->choices.size() > 1)
            result.why = tr("%n quantizations: unfold it to choose one", nullptr,
                            static_cast<int>(repository->choices.size()));
        else if (repository->choices.front().files.size() > HubProbe::mostFiles)
            result.why = tr("%n files: open it to know how fast it is", nullptr,
                            static_cast<int>(repository->choices.front().files.size()));
    } else if (row.data(HubModel::GatedRole).toBool() && m_bridge.calls().settings().token.empty()) {
        result.why = tr("Unknown as long as no token opens it");
    }
    return result;
}

void HubController::unfold(const QString &text)
{
    m_unfolding = text;
    const QModelIndex row = m_model->indexOf(text);
    const std::optional<HubReference> reference = m_model->reference(row);
    if (!reference)
        return;
    const HubRepository *repository = m_probe.repository(*reference);
    if (repository == nullptr) {
        m_model->setPending(text, true);
        m_bridge.list(*reference);
        return;
    }
    m_unfolding.clear();
    m_model->setPending(text, false);
    apply(text);
    if (repository->choices.size() > 1)
        m_view->unfold(text);
    else
        m_session.select(text);
}

void HubController::onListed(const HubReference &reference, const HubRepository &repository)
{
    m_probe.learn(reference, repository);
}

void HubController::onListFailed(const HubReference &reference, const Error &error)
{
    const QString text = textOf(reference);
    m_model->setPending(text, false);
    if (m_unfolding == text) {
        m_unfolding.clear();
        emit failed(text, error);
    }
    m_notListed << text;
}

void HubController::updateSource()
{
    const std::optional<HubReference> reference = m_session.selectedHubReference();
    m_source->setVisible(reference.has_value());
    if (!reference)
        return;
    const CheckpointPtr checkpoint = m_session.selectedCheckpoint();
    const HubReference base = withoutChoice(*reference);
    const HubRepository *repository = m_probe.repository(base);

    SourceBar::Source source;
    source.repository = toText(reference->repository);
    source.revision = toText(reference->revision);
    source.choice = toText(reference->choice);
    source.cached =
        std::ranges::find(checkpoint->notes, "hub.not-asked", &Message::id) != checkpoint->notes.end();
    if (isCommit(checkpoint->revision))
        source.commit = toText(checkpoint->revision);
    else if (repository != nullptr)
        source.commit = toText(repository->commit);

    std::vector<SourceBar::Choice> choices;
    if (repository != nullptr) {
        for (const HubChoice &choice : repository->choices) {
            const QString label = choice.label.empty() ? formatText(choice.format) : toText(choice.label);
            choices.push_back({toText(choice.label),
                               label + QStringLiteral(" · ") + shortBytes(choice.bytes, m_session.unit())});
        }
        if (const HubChoice *choice = choiceOf(*repository, *reference, *checkpoint))
            source.choice = toText(choice->label);
    } else if (checkpoint->format == Format::Gguf && !m_notListed.contains(textOf(base))) {
        m_bridge.list(base); // its other quantizations; learn() comes back here
    }
    m_source->setSource(source);
    m_source->setChoices(choices);
}

} // namespace weir

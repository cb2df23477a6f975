// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session.h"

#include "app/loader.h"
#include "app/settings.h"
#include "app/whatif.h"
#include "models/items/text.h"

#include <QTimer>
#include <QUndoCommand>

#include <algorithm>
#include <chrono>
#include <utility>

namespace weir {

namespace {

constexpr auto badgeDelay = std::chrono::milliseconds(80);
constexpr qint64 badgeSliceMilliseconds = 6;
constexpr int undoSteps = 100;

/// Names a checkpoint of the Hub and nothing else; whether the catalog has it comes first.
bool isHubId(const QString &id)
{
    const std::string text = id.toStdString();
    return !isPathArgument(text) && !text.starts_with("ollama:") && parseHubReference(text).has_value();
}

/// Names a checkpoint of Ollama: what lies in its store on this disk goes before the catalog's.
bool isOllamaId(const QString &id) { return id.startsWith(QLatin1String("ollama:")); }

bool takes(const Engine &engine, const std::string &dtype)
{
    return engine.kvDtypes.empty() || std::ranges::find(engine.kvDtypes, dtype) != engine.kvDtypes.end();
}

} // namespace

class Session::SelectCommand : public QUndoCommand
{
public:
    SelectCommand(Session *session, QString before, QString after)
        : QUndoCommand(Session::tr("Select"))
        , m_session(session)
        , m_before(std::move(before))
        , m_after(std::move(after))
    {}

    void redo() override { m_session->applySelection(m_after); }
    void undo() override { m_session->applySelection(m_before); }

private:
    Session *m_session;
    QString m_before;
    QString m_after;
};

class Session::PinCommand : public QUndoCommand
{
public:
    PinCommand(Session *session, QStringList before, QStringList after)
        : QUndoCommand(before.size() < after.size() ? Session::tr("Pin") : Session::tr("Unpin"))
        , m_session(session)
        , m_before(std::move(before))
        , m_after(std::move(after))
    {}

    void redo() override { m_session->applyPins(m_after); }
    void undo() override { m_session->applyPins(m_before); }

private:
    Session *m_session;
    QStringList m_before;
    QStringList m_after;
};

Session::Session(const Library &library, Settings &settings, Loader &loader, QObject *parent)
    : QObject(parent)
    , m_library(library)
    , m_settings(settings)
    , m_loader(loader)
    , m_badgeTimer(new QTimer(this))
{
    m_undoStack.setUndoLimit(undoSteps);
    m_badgeTimer->setSingleShot(true);
    connect(m_badgeTimer, &QTimer::timeout, this, &Session::continueBadges);

    connect(&loader, &Loader::opened, this, &Session::onOpened);
    connect(&loader, &Loader::failed, this, [this] {
        m_wanted.clear();
        // A bad argument at the start does not leave the window empty.
        if (m_selected.isEmpty() && !m_fallback.isEmpty())
            select(std::exchange(m_fallback, QString()));
        openNextRemembered();
        checkSettled();
    });
    connect(&loader, &Loader::cancelled, this, [this] {
        m_wanted.clear();
        m_remembered.clear();
        checkSettled();
    });
    connect(&loader, &Loader::entryLoaded, this, &Session::onEntryLoaded);
    connect(&loader, &Loader::entryFailed, this, [this](const QString &id, const Error &error) {
        if (m_wanted == id)
            m_wanted.clear();
        emit problemFound(error);
    });
    connect(&loader, &Loader::entriesFinished, this, [this] {
        m_entriesLoading = false;
        restartBadges();
    });
    connect(&loader, &Loader::restored, this, &Session::onRestored);
    // Nobody asked for it just now, and the cache may have been emptied since: no word about it.
    connect(&loader, &Loader::restoreFailed, this, [this](const QString &reference) {
        if (m_wanted != reference)
            return;
        m_wanted.clear();
        if (m_selected.isEmpty() && !firstSelection().isEmpty())
            select(firstSelection());
    });
    connect(&loader, &Loader::restoreFinished, this, [this] {
        m_restoring = false;
        checkSettled();
    });
    indexMeasurements();
}

Session::~Session() { remember(); }

void Session::start(const QString &argument)
{
    m_unit = m_settings.unit();
    m_workload = m_settings.workload();
    m_engineChoices = m_settings.engineChoices();
    m_machine = m_library.machine(m_settings.value(Setting::MachineId).toString().toStdString());
    if (m_machine == nullptr && !m_library.machines.empty())
        m_machine = &m_library.machines.front();
    m_pinned = m_settings.value(Setting::PinnedIds).toStringList();
    m_pinned.removeDuplicates();

    const Catalog &catalog = *m_library.catalog;
    m_catalogModel.setUnit(m_unit);
    m_catalogModel.setCatalog(catalog);
    m_catalogModel.setPinned(m_pinned);

    // What is on screen first, then the rest for its badges.
    QStringList order;
    QString selected = m_settings.value(Setting::SelectedId).toString();
    const QStringList ids = catalogIds();
    const QString base = baseId(selected);
    const bool isCatalogId = ids.contains(base);
    const bool isOfHub = !isCatalogId && isHubId(base);
    if (!isCatalogId && !isOfHub && !isOllamaId(base) && !isPathArgument(base.toStdString()))
        selected = firstSelection();
    // A what-if is derived as soon as its base is there.
    if (!selected.isEmpty())
        order << baseId(selected);
    for (const QString &id : std::as_const(m_pinned))
        order << baseId(id);
    QStringList ofHub;
    for (const QString &id : std::as_const(order)) {
        if (!ids.contains(id))
            (isHubId(id) ? ofHub : m_remembered) << id;
    }
    ofHub.removeDuplicates();
    order << ids;
    order.removeDuplicates();

    emit machineChanged();
    emit workloadChanged();
    emit unitChanged();
    emit pinsChanged();

    m_entriesLoading = !catalog.entries().empty();
    if (m_entriesLoading)
        m_loader.loadEntries(order);
    m_restoring = !ofHub.isEmpty();
    if (m_restoring)
        m_loader.restoreFromHub(ofHub);
    if (!argument.isEmpty()) {
        m_remembered.clear();
        m_fallback = isCatalogId ? selected : firstSelection();
        open(argument);
    } else {
        m_wanted = selected;
        openNextRemembered();
    }
    recompute();
}

QStringList Session::catalogIds() const
{
    QStringList ids;
    for (const CatalogEntry &entry : m_library.catalog->entries())
        ids << toText(entry.id);
    return ids;
}

QString Session::firstSelection() const
{
    const auto &entries = m_library.catalog->entries();
    return entries.empty() ? QString() : toText(entries.front().id);
}

void Session::openNextRemembered()
{
    if (!m_remembered.isEmpty() && !m_loader.isOpening())
        m_loader.openFromDisk(m_remembered.takeFirst());
}

void Session::setMachine(const QString &id)
{
    const Machine *machine = m_library.machine(id.toStdString());
    if (machine == nullptr || machine == m_machine)
        return;
    m_machine = machine;
    m_points.clear();
    emit machineChanged();
    recompute();
    restartBadges();
}

void Session::setWorkload(const Workload &workload)
{
    m_workload = workload;
    emit workloadChanged();
    recompute();
    restartBadges();
}

void Session::setUnit(ByteUnit unit)
{
    if (m_unit == unit)
        return;
    m_unit = unit;
    m_catalogModel.setUnit(unit);
    emit unitChanged();
}

void Session::setEngineChoice(const QString &engineId)
{
    if (m_selected.isEmpty() || engineChoice() == engineId)
        return;
    if (engineId.isEmpty())
        m_engineChoices.remove(m_selected);
    else
        m_engineChoices.insert(m_selected, engineId);
    emit engineChanged();
    recompute();
    restartBadges();
}

const Engine *Session::automaticEngineFor(const Checkpoint &checkpoint) const
{
    return m_library.engine(automaticEngine(checkpoint));
}

const Engine *Session::engineFor(const Checkpoint &checkpoint) const
{
    const QString choice = m_engineChoices.value(m_ids.value(&checkpoint, toText(checkpoint.id)));
    if (!choice.isEmpty()) {
        if (const Engine *engine = m_library.engine(choice.toStdString()))
            return engine;
    }
    return automaticEngineFor(checkpoint);
}

std::shared_ptr<const Assessment> Session::selectedAssessment() const
{
    for (const Pin &pin : m_pins) {
        if (pin.selected)
            return pin.assessment;
    }
    return nullptr;
}

bool Session::isSettled() const
{
    return !m_loader.isOpening() && !m_entriesLoading && !m_restoring && !m_badgesStale
           && m_remembered.isEmpty();
}

void Session::open(const QString &argument)
{
    if (whatIfOf(argument)) {
        select(argument);
        return;
    }
    const CatalogEntry *entry = isPathArgument(argument.toStdString()) || isOllamaId(argument)
                                    ? nullptr
                                    : m_library.catalog->find(argument.toStdString());
    if (entry != nullptr) {
        select(toText(entry->id));
        return;
    }
    if (isHubId(argument)) {
        openFromHub(*parseHubReference(argument.toStdString()));
        return;
    }
    m_wanted = argument;
    m_loader.open(argument);
}

void Session::select(const QString &id)
{
    if (m_checkpoints.contains(id)) {
        m_wanted.clear();
        pushSelection(id);
        return;
    }
    if (const std::optional<WhatIf> whatIf = whatIfOf(id)) {
        m_wanted = id;
        if (m_checkpoints.contains(whatIf->base))
            deriveWanted(whatIf->base);
        else if (!catalogIds().contains(whatIf->base) && isHubId(whatIf->base))
            m_loader.openFromHub(*parseHubReference(whatIf->base.toStdString()));
        else
            m_loader.open(whatIf->base);
        return;
    }
    if (!catalogIds().contains(id) && isHubId(id)) {
        openFromHub(*parseHubReference(id.toStdString()));
        return;
    }
    m_wanted = id;
    // The catalog is being read anyway as long as the window is young; an entry named now comes first.
    m_loader.open(id);
}

void Session::togglePin(const QString &id)
{
    if (id.isEmpty())
        return;
    QStringList pins = m_pinned;
    if (!pins.removeOne(id))
        pins << id;
    m_undoStack.push(new PinCommand(this, m_pinned, pins));
}

void Session::take(const QString &id, const CheckpointPtr &checkpoint)
{
    if (const CheckpointPtr old = m_checkpoints.value(id))
        m_ids.remove(old.get());
    m_checkpoints.insert(id, checkpoint);
    m_ids.insert(checkpoint.get(), id);
    m_points.remove(id);
    if (!whatIfOf(id))
        deriveWanted(id);
}

void Session::onOpened(const QString &argument, const CheckpointPtr &checkpoint)
{
    // One of the Hub goes by all that names it; the catalog may have its repository as well.
    const bool ofHub = checkpoint->source == Source::Hub;
    const QString id = ofHub ? argument : toText(checkpoint->id);
    if (ofHub || m_library.catalog->find(checkpoint->id) == nullptr) {
        m_catalogModel.addOpened(id, *checkpoint);
        m_settings.addRecentPath(id);
    }
    take(id, checkpoint); // what is imagined of it finds its row
    if (m_wanted == argument || m_wanted == id) {
        m_wanted.clear();
        pushSelection(id);
    } else if (m_pinned.contains(argument) || m_selected == id) {
        recompute();
    }
    restartBadges();
    openNextRemembered();
    checkSettled();
}

void Session::onEntryLoaded(const QString &id, const CheckpointPtr &checkpoint)
{
    take(id, checkpoint);
    if (m_wanted == id) {
        m_wanted.clear();
        pushSelection(id);
    } else if (m_pinned.contains(id)) {
        recompute();
    }
}

void Session::pushSelection(const QString &id)
{
    if (m_selected == id) {
        recompute(); // read again
        return;
    }
    // The first one of all is where undoing ends.
    if (m_selected.isEmpty())
        applySelection(id);
    else
        m_undoStack.push(new SelectCommand(this, m_selected, id));
}

void Session::applySelection(const QString &id)
{
    m_selected = id;
    emit selectionChanged();
    emit engineChanged();
    recompute();
}

void Session::applyPins(const QStringList &ids)
{
    m_pinned = ids;
    m_catalogModel.setPinned(ids);
    emit pinsChanged();
    recompute();
}

std::shared_ptr<const Assessment> Session::assessNow(const CheckpointPtr &checkpoint, bool *kvFallback) const
{
    if (!checkpoint || m_machine == nullptr)
        return nullptr;
    const Engine *engine = engineFor(*checkpoint);
    if (engine == nullptr)
        return nullptr;
    Workload workload = m_workload;
    for (std::string *dtype : {&workload.kDtype, &workload.vDtype}) {
        if (takes(*engine, *dtype))
            continue;
        *dtype = engine->kvDtypes.front();
        if (kvFallback != nullptr)
            *kvFallback = true;
    }
    return std::make_shared<const Assessment>(assess(checkpoint, *m_machine, *engine, workload));
}

void Session::recompute()
{
    QStringList ids = m_pinned;
    if (!m_selected.isEmpty() && !ids.contains(m_selected))
        ids.prepend(m_selected);
    m_kvFallback = false;
    Pins pins;
    for (const QString &id : std::as_const(ids)) {
        const CheckpointPtr checkpoint = m_checkpoints.value(id);
        Pin pin;
        pin.id = id;
        pin.selected = id == m_selected;
        pin.assessment = assessNow(checkpoint, pin.selected ? nullptr : &m_kvFallback);
        if (!pin.assessment)
            continue; // still being read
        pin.shortName = shortModelName(toText(printable(checkpoint->name)));
        pin.measured = measuredPoints(id, checkpoint);
        pins.push_back(std::move(pin));
    }
    // Two quantizations of one model are told apart by it.
    QHash<QString, int> uses;
    for (const Pin &pin : pins)
        ++uses[pin.shortName];
    for (Pin &pin : pins) {
        if (uses.value(pin.shortName) > 1)
            pin.shortName += QLatin1Char(' ') + quantizationText(pin.assessment->checkpoint->quantization);
    }
    m_pins = std::move(pins);
    emit assessmentsChanged();
}

CatalogResult Session::resultOf(const CheckpointPtr &checkpoint) const
{
    CatalogResult result;
    const std::shared_ptr<const Assessment> assessment = assessNow(checkpoint);
    if (!assessment)
        return result;
    result.fit = fitOf(*assessment);
    result.engineName = toText(assessment->engineName);
    result.contextTokens = assessment->workload.contextTokens;
    if (assessment->decode && (result.fit == Fit::Fits || result.fit == Fit::Tight))
        result.tokensPerSecond = assessment->decode->tokensPerSecond;
    return result;
}

void Session::restartBadges()
{
    m_badgesStale = true;
    m_badgeQueue.clear();
    m_badgeTimer->start(badgeDelay);
}

void Session::continueBadges()
{
    if (m_badgeQueue.isEmpty()) {
        m_badges.clear();
        m_badgeQueue = m_checkpoints.keys();
    }
    // In slices: a list of badges must not hold up a slider that moves again.
    QElapsedTimer slice;
    slice.start();
    while (!m_badgeQueue.isEmpty() && slice.elapsed() < badgeSliceMilliseconds) {
        const QString id = m_badgeQueue.takeLast();
        m_badges.insert(id, resultOf(m_checkpoints.value(id)));
    }
    if (!m_badgeQueue.isEmpty()) {
        m_badgeTimer->start(0);
        return;
    }
    // All at once, so that the context said above the list holds for every row.
    m_catalogModel.setResults(m_badges);
    m_badgesStale = false;
    emit badgesChanged(m_workload.contextTokens);
    remember();
    checkSettled();
}

void Session::checkSettled()
{
    if (isSettled())
        emit settled();
}

void Session::remember()
{
    if (m_machine == nullptr)
        return; // never started
    m_settings.setUnit(m_unit);
    m_settings.setWorkload(m_workload);
    m_settings.setEngineChoices(m_engineChoices);
    m_settings.setValue(Setting::MachineId, toText(m_machine->id));
    m_settings.setValue(Setting::PinnedIds, m_pinned);
    if (!m_selected.isEmpty())
        m_settings.setValue(Setting::SelectedId, m_selected);
}

} // namespace weir

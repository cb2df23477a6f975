// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/loader.h"

#include "models/items/text.h"
#include "models/sources/catalog.h"
#include "models/sources/disk/ollama.h"
#include "models/sources/hub/hub.h"

#include <QMetaObject>

#include <chrono>
#include <exception>
#include <utility>

namespace weir {

namespace {

/// No reader throws on purpose; running out of memory over a forged file must not end the program.
Result<CheckpointPtr> guarded(std::string_view subject, const std::function<Result<CheckpointPtr>()> &read)
{
    try {
        return read();
    } catch (const std::exception &problem) {
        return fail("read.failed", ErrorKind::Unreadable, std::string(subject),
                    {{"reason", std::string(problem.what())}});
    }
}

} // namespace

Loader::Opener diskOpener()
{
    return [](std::string_view argument, const Catalog &catalog, std::stop_token stop,
              const ProgressCallback &progress) {
        Ollama ollama(ollamaSettings(processEnvironment()));
        OpenContext context{catalog};
        context.ollama = &ollama;
        return openCheckpoint(argument, context, std::move(stop), progress);
    };
}

Loader::Opener registryOpener(std::shared_ptr<Hub> hub)
{
    return [hub = std::move(hub)](std::string_view argument, const Catalog &catalog, std::stop_token stop,
                                  const ProgressCallback &progress) {
        Ollama ollama(ollamaSettings(processEnvironment()));
        OpenContext context{catalog};
        context.ollama = &ollama;
        context.hub = hub.get();
        return openCheckpoint(argument, context, std::move(stop), progress);
    };
}

Loader::Loader(std::shared_ptr<const Catalog> catalog, QObject *parent)
    : QObject(parent)
    , m_catalog(std::move(catalog))
    , m_opener(diskOpener())
{}

Loader::~Loader() = default;

void Loader::setHubReaders(HubReader live, HubReader cached)
{
    m_hubReader = std::move(live);
    m_hubCacheReader = std::move(cached);
}

void Loader::open(const QString &argument)
{
    startOpening(argument,
                 [this, text = argument.toStdString(), opener = m_opener, registry = m_registryOpener,
                  catalog = m_catalog](const std::stop_token &stop, const ProgressCallback &progress) {
                     Result<CheckpointPtr> read =
                         guarded(text, [&] { return opener(text, *catalog, stop, progress); });
                     if (read || read.error().id != "ollama.not-here" || !registry)
                         return read;
                     QMetaObject::invokeMethod(this, [this] { emit registryNeeded(); }, Qt::QueuedConnection);
                     return guarded(text, [&] { return registry(text, *catalog, stop, progress); });
                 });
}

void Loader::openFromDisk(const QString &argument)
{
    startOpening(argument, [text = argument.toStdString(), opener = m_opener, catalog = m_catalog](
                               const std::stop_token &stop, const ProgressCallback &progress) {
        return guarded(text, [&] { return opener(text, *catalog, stop, progress); });
    });
}

void Loader::openFromHub(const HubReference &reference)
{
    emit hubNeeded();
    const std::string text = hubReferenceText(reference);
    startOpening(toText(text), [reference, text, reader = m_hubReader, catalog = m_catalog](
                                   const std::stop_token &stop, const ProgressCallback &progress) {
        return guarded(text, [&]() -> Result<CheckpointPtr> {
            const Result<CheckpointPtr> read = reader(reference, stop, progress);
            return read ? catalog->comparedWithEntry(*read) : read;
        });
    });
}

void Loader::startOpening(const QString &argument, Read read)
{
    m_jobs.stop(m_openNumber);
    m_openNumber = m_jobs.nextNumber();
    m_opening = true;
    m_argument = argument;
    emit started(argument);

    m_jobs.start([this, argument, read = std::move(read)](const std::stop_token &stop, quint64 number) {
        using Clock = std::chrono::steady_clock;
        Clock::time_point last{};
        const auto report = [this, number, &last](const ReadProgress &now) {
            // The eye follows thirty steps a second; more would only fill the event queue.
            const Clock::time_point time = Clock::now();
            if (time - last < std::chrono::milliseconds(33) && now.done != now.total)
                return;
            last = time;
            QMetaObject::invokeMethod(
                this,
                [this, number, done = static_cast<int>(now.done), total = static_cast<int>(now.total),
                 file = toText(printable(now.file))] {
                    if (number == m_openNumber && m_opening)
                        emit progress(done, total, file);
                },
                Qt::QueuedConnection);
        };
        Result<CheckpointPtr> result = read(stop, report);
        QMetaObject::invokeMethod(
            this,
            [this, number, argument, result = std::move(result)] { finishOpening(number, argument, result); },
            Qt::QueuedConnection);
    });
}

void Loader::finishOpening(quint64 number, const QString &argument, const Result<CheckpointPtr> &result)
{
    if (number != m_openNumber || !m_opening)
        return; // superseded or cancelled
    m_opening = false;
    if (result)
        emit opened(argument, *result);
    else
        emit failed(argument, result.error());
}

void Loader::cancel()
{
    if (!m_opening)
        return;
    m_opening = false;
    m_jobs.stop(m_openNumber);
    emit cancelled(m_argument);
}

void Loader::loadEntries(const QStringList &ids)
{
    m_jobs.start([this, ids, catalog = m_catalog](const std::stop_token &stop, quint64) {
        for (const QString &id : ids) {
            if (stop.stop_requested())
                return;
            const CatalogEntry *entry = catalog->find(id.toStdString());
            if (entry == nullptr)
                continue;
            Result<CheckpointPtr> result = guarded(entry->id, [&] { return catalog->load(*entry); });
            QMetaObject::invokeMethod(
                this,
                [this, id, result = std::move(result)] {
                    if (result)
                        emit entryLoaded(id, *result);
                    else
                        emit entryFailed(id, result.error());
                },
                Qt::QueuedConnection);
        }
        QMetaObject::invokeMethod(this, [this] { emit entriesFinished(); }, Qt::QueuedConnection);
    });
}

void Loader::restoreFromHub(const QStringList &references)
{
    m_jobs.start([this, references, reader = m_hubCacheReader](const std::stop_token &stop, quint64) {
        for (const QString &argument : references) {
            if (stop.stop_requested())
                return;
            const std::string text = argument.toStdString();
            const std::optional<HubReference> reference = parseHubReference(text);
            if (!reference)
                continue;
            Result<CheckpointPtr> result = guarded(text, [&] { return reader(*reference, stop, {}); });
            QMetaObject::invokeMethod(
                this,
                [this, argument, result = std::move(result)] {
                    if (result)
                        emit restored(argument, *result);
                    else
                        emit restoreFailed(argument, result.error());
                },
                Qt::QueuedConnection);
        }
        QMetaObject::invokeMethod(this, [this] { emit restoreFinished(); }, Qt::QueuedConnection);
    });
}

} // namespace weir

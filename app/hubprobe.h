// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/hubbridge.h"

#include <QHash>
#include <QObject>

#include <deque>
#include <optional>
#include <vector>

namespace weir {

/// Reads, in the background, the metadata of those search hits that are on screen, a few at a time: listings
/// first, then the headers of what has one choice and few files. What leaves the screen is stopped or never
/// started; what was read is kept for as long as the program runs. Lives on the GUI thread.
class HubProbe : public QObject
{
    Q_OBJECT

public:
    static constexpr int parallelReads = 3;
    /// A checkpoint of more files costs more requests than a badge is worth: it is read when it is opened.
    static constexpr std::size_t mostFiles = 24;

    struct Wish
    {
        HubReference reference;
        bool headers = true; ///< false: the listing is enough
        friend bool operator==(const Wish &, const Wish &) = default;
    };

    explicit HubProbe(HubBridge &bridge, QObject *parent = nullptr);
    ~HubProbe() override;

    /// What is on screen now, in order of importance. Replaces what was wanted before.
    void want(const std::vector<Wish> &wishes);
    /// Takes over a listing that somebody else asked for.
    void learn(const HubReference &reference, const HubRepository &repository);
    /// Forgets what could not be read, so that it is tried again when it is wanted.
    void forgetFailures();

    const HubRepository *repository(const HubReference &reference) const;
    CheckpointPtr checkpoint(const HubReference &reference) const;
    const Error *failure(const HubReference &reference) const;

    bool isIdle() const { return m_running.empty() && m_queue.empty(); }

signals:
    /// Something new is known of a reference.
    void learned(const weir::HubReference &reference);
    /// The Hub asks for a pause or cannot be reached: nothing more is asked until want() names it anew
    /// after forgetFailures().
    void stalled(const weir::Error &error);

private:
    struct Known
    {
        std::optional<HubRepository> repository;
        CheckpointPtr checkpoint;
        std::optional<Error> failure;
    };
    bool isDone(const Wish &wish) const;
    void startNext();
    void finish(quint64 number, Known answer);

    HubBridge &m_bridge;
    QHash<QString, Known> m_known;
    std::deque<Wish> m_queue;
    std::vector<std::pair<quint64, Wish>> m_running;
    bool m_isStalled = false;
    Jobs m_jobs; ///< last: its threads end before what they use
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/library.h"
#include "models/base/units.h"
#include "models/decode/assessment.h"
#include "models/items/catalogmodel.h"
#include "models/items/measurementmodel.h"
#include "models/sources/hub/hubtypes.h"
#include "widgets/comparisontable.h"
#include "widgets/pin.h"

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QStringList>
#include <QUndoStack>

#include <memory>
#include <optional>
#include <vector>

class QTimer;

namespace weir {

class Loader;
class Settings;

/// What the window shows: the checkpoints that are selected and pinned, each with its engine, the machine
/// and workload they share, and the assessments of all that. Everything visible is recomputed at once
/// when something changes; the badges of the catalog follow when a slider rests. Selecting and pinning
/// can be undone. Lives on the GUI thread; library, settings and loader outlive it.
class Session : public QObject
{
    Q_OBJECT

public:
    Session(const Library &library, Settings &settings, Loader &loader, QObject *parent = nullptr);
    ~Session() override;

    /// Takes over what the settings remember, starts reading the catalog, and opens `argument` if there
    /// is one instead of the checkpoint selected last.
    void start(const QString &argument = {});

    const Library &library() const { return m_library; }
    CatalogModel *catalogModel() { return &m_catalogModel; }
    QUndoStack *undoStack() { return &m_undoStack; }

    const Machine *machine() const { return m_machine; }
    void setMachine(const QString &id);

    const Workload &workload() const { return m_workload; }
    void setWorkload(const Workload &workload);

    ByteUnit unit() const { return m_unit; }
    void setUnit(ByteUnit unit);

    /// The engine chosen for the selected checkpoint, empty for automatic.
    QString engineChoice() const { return m_engineChoices.value(m_selected); }
    void setEngineChoice(const QString &engineId);
    /// The engine in force for a checkpoint; null if the library has none of that name.
    const Engine *engineFor(const Checkpoint &checkpoint) const;
    const Engine *automaticEngineFor(const Checkpoint &checkpoint) const;

    const QString &selectedId() const { return m_selected; }
    CheckpointPtr selectedCheckpoint() const { return m_checkpoints.value(m_selected); }
    /// Null while nothing is selected, its file is being read, or there is no machine or engine.
    std::shared_ptr<const Assessment> selectedAssessment() const;

    const QStringList &pinnedIds() const { return m_pinned; }
    bool isPinned(const QString &id) const { return m_pinned.contains(id); }
    /// The selected checkpoint first unless it is pinned itself, then the pinned ones in their order.
    const Pins &pins() const { return m_pins; }
    /// Pinned checkpoints whose engine does not take the KV type asked for: they keep their default.
    bool hasKvFallback() const { return m_kvFallback; }

    /// Set while a checkpoint of the Hub is selected.
    std::optional<HubReference> selectedHubReference() const;

    /// The selected checkpoint as it is, also while one of its what-ifs is selected.
    CheckpointPtr selectedBase() const;
    QString selectedBaseId() const;
    /// What is imagined of it; empty: nothing.
    QString selectedRecipe() const;
    /// Derives the selected checkpoint at another quantization (see --quant), and selects or pins that.
    Result<void> imagine(const QString &recipe, bool pin);
    /// On the machine, with the engine and at the workload in force; null where there is none of these.
    std::shared_ptr<const Assessment> assessmentOf(const CheckpointPtr &checkpoint) const
    {
        return assessNow(checkpoint);
    }
    /// The models that are selected or pinned, each with all of its quantizations that are known here.
    std::vector<ComparisonModel> comparison() const;

    /// What a list shows of a checkpoint on the machine and at the workload in force.
    CatalogResult resultOf(const CheckpointPtr &checkpoint) const;

    /// Measurements of the selected checkpoint, on all machines.
    std::vector<MeasurementRow> measurementRows() const;

    /// Nothing is being read and all that is shown is up to date.
    bool isSettled() const;

public slots:
    /// What the user typed or dropped: a path, an id, a name.
    void open(const QString &argument);
    /// The Hub's own, also where the catalog has one of that name. Read again if it is open already.
    void openFromHub(const weir::HubReference &reference);
    /// An argument that was opened before: a path, or what names a checkpoint of the Hub.
    void reopen(const QString &argument);
    /// A row of the list.
    void select(const QString &id);
    void togglePin(const QString &id);

signals:
    void selectionChanged();
    void pinsChanged();
    void machineChanged();
    void engineChanged();
    void workloadChanged();
    void unitChanged();
    /// pins() and selectedAssessment() are new.
    void assessmentsChanged();
    /// The badges of the list are new, and stand for this context.
    void badgesChanged(quint64 contextTokens);
    /// Something could not be read that nobody asked for just now (a pin, an entry of the catalog).
    void problemFound(const weir::Error &error);
    void settled();

private:
    class SelectCommand;
    class PinCommand;

    void onOpened(const QString &argument, const CheckpointPtr &checkpoint);
    void onEntryLoaded(const QString &id, const CheckpointPtr &checkpoint);
    void pushSelection(const QString &id);
    void applySelection(const QString &id);
    void applyPins(const QStringList &ids);
    void openNextRemembered();
    void onRestored(const QString &reference, const CheckpointPtr &checkpoint);
    void take(const QString &id, const CheckpointPtr &checkpoint);
    Result<void> derive(const QString &id);
    void deriveWanted(const QString &base);
    QStringList catalogIds() const;
    QString firstSelection() const;

    std::shared_ptr<const Assessment> assessNow(const CheckpointPtr &checkpoint,
                                                bool *kvFallback = nullptr) const;
    std::optional<Assessment> assessRow(const CheckpointPtr &checkpoint, const Measurement &row) const;
    std::vector<MeasuredPoint> measuredPoints(const QString &id, const CheckpointPtr &checkpoint);
    void indexMeasurements();
    /// Rows about a checkpoint; one of the Hub shares those of the catalog's entry for its repository.
    std::vector<std::size_t> rowsOf(const QString &id, const Checkpoint &checkpoint) const;
    void recompute();

    void restartBadges();
    void continueBadges();
    void checkSettled();
    void remember();

    const Library &m_library;
    Settings &m_settings;
    Loader &m_loader;
    CatalogModel m_catalogModel;
    QUndoStack m_undoStack;

    const Machine *m_machine = nullptr;
    Workload m_workload;
    ByteUnit m_unit = ByteUnit::Gigabytes;
    QHash<QString, QString> m_engineChoices;

    QHash<QString, CheckpointPtr> m_checkpoints;
    QHash<const Checkpoint *, QString> m_ids; ///< the same the other way round
    QString m_selected;
    QString m_wanted; ///< to be selected as soon as it is read
    QString m_fallback; ///< to be selected if the argument of the start cannot be
    QStringList m_pinned;
    QStringList m_remembered; ///< paths of the last time, opened one after the other
    Pins m_pins;
    bool m_kvFallback = false;

    QHash<QString, std::vector<std::size_t>> m_rowsOf; ///< checkpoint id to measurements
    QHash<QString, std::vector<MeasuredPoint>> m_points; ///< of the machine in force

    QTimer *m_badgeTimer = nullptr;
    QStringList m_badgeQueue;
    QHash<QString, CatalogResult> m_badges;
    bool m_badgesStale = false;
    bool m_entriesLoading = false;
    bool m_restoring = false;
};

} // namespace weir

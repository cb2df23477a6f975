// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/decode/assessment.h"

#include <QWidget>

#include <memory>
#include <string>
#include <vector>

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QSlider;
class QSpinBox;
class QToolButton;

namespace weir {

class TokenSpinBox;

/// What is asked of the model: context, parallel requests, type of the KV cache, memory kept free. Speaks
/// while a slider moves. GUI thread.
class WorkloadPanel : public QWidget
{
    Q_OBJECT

public:
    explicit WorkloadPanel(QWidget *parent = nullptr);

    /// Shows a workload without telling anybody.
    void setWorkload(const Workload &workload);
    const Workload &workload() const { return m_workload; }

    /// Types that the engine of the selected checkpoint takes for K and V, its default first.
    void setKvDtypes(const std::vector<std::string> &dtypes);
    /// A sentence under the types, e.g. about pinned checkpoints on other engines; empty hides it.
    void setKvNote(const QString &note);
    /// What is kept free unless the user says otherwise, and the rule it comes from.
    void setReserveDefault(quint64 bytes, const QString &rule);
    /// For the terms shown under the context; may be null.
    void setAssessment(const std::shared_ptr<const Assessment> &assessment, ByteUnit unit);

signals:
    void workloadChanged(const weir::Workload &workload);

protected:
    void changeEvent(QEvent *event) override;

private:
    QWidget *makeContext();
    QWidget *makeConcurrency();
    QWidget *makeKv();
    QWidget *makeReserve();
    QLabel *makeNote(const char *name);
    void updateFonts();
    void updateReserve();
    void changed();

    Workload m_workload;
    ByteUnit m_unit = ByteUnit::Gigabytes;
    quint64 m_defaultReserveBytes = 0;
    QString m_reserveRule;
    std::vector<std::string> m_kvDtypes;
    bool m_updating = false;

    QSlider *m_contextSlider = nullptr;
    TokenSpinBox *m_context = nullptr;
    QLabel *m_contextNote = nullptr;
    QSlider *m_concurrencySlider = nullptr;
    QSpinBox *m_concurrency = nullptr;
    QComboBox *m_kDtype = nullptr;
    QComboBox *m_vDtype = nullptr;
    QLabel *m_kvNote = nullptr;
    QDoubleSpinBox *m_reserve = nullptr;
    QToolButton *m_reserveDefault = nullptr;
    QLabel *m_reserveNote = nullptr;
    std::vector<QLabel *> m_notes;
};

} // namespace weir

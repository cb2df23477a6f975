// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/items/fit.h"

#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

class QLabel;
class QStackedWidget;
class QTreeWidget;
class QTreeWidgetItem;

namespace weir {

/// One checkpoint of a comparison; every number is taken from its assessment.
struct ComparisonRow
{
    QString id;
    QString name;
    QString quantization;
    QString engineName;
    bool derived = false; ///< imagined or derived from a config: marked
    bool shown = false;   ///< selected or pinned: drawn in the charts
    quint64 weightBytes = 0;
    quint64 streamedBytes = 0;
    quint64 neededBytes = 0; ///< reserve included
    Fit fit = Fit::Unknown;
    std::optional<double> tokensPerSecond;
};

/// One model, with all of its quantizations that are known here.
struct ComparisonModel
{
    QString family;
    std::vector<ComparisonRow> rows; ///< the first stands for all while they are folded
};

/// The models that are selected or pinned, side by side: one row each that unfolds into its quantizations.
/// Enter or a double click selects a row, Space pins it. GUI thread.
class ComparisonTable : public QWidget
{
    Q_OBJECT

public:
    explicit ComparisonTable(QWidget *parent = nullptr);

    void setModels(const std::vector<ComparisonModel> &models, ByteUnit unit, quint64 contextTokens);
    /// The rows in sight as tab-separated text with a header.
    QString asText() const;

signals:
    void selected(const QString &id);
    void pinToggled(const QString &id);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void fitColumns();
    void fill(QTreeWidgetItem *item, const ComparisonRow &row, const QString &name, ByteUnit unit) const;

    QStackedWidget *m_pages = nullptr;
    QTreeWidget *m_tree = nullptr;
    QLabel *m_empty = nullptr;
    quint64 m_contextTokens = 0;
};

} // namespace weir

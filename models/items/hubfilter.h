// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSortFilterProxyModel>

namespace weir {

/// Which rows of a HubModel are shown; their order is the Hub's. What is not known yet passes, so that
/// rows leave when they are found too large rather than appear when they are found to fit.
class HubFilter : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit HubFilter(QObject *parent = nullptr);

    /// Hides what is larger; 0 shows all.
    void setLargestBytes(quint64 bytes);
    quint64 largestBytes() const { return m_largestBytes; }
    /// Hides what does not fit the machine in force.
    void setFittingOnly(bool only);
    bool isFittingOnly() const { return m_fittingOnly; }

protected:
    bool filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const override;

private:
    quint64 m_largestBytes = 0;
    bool m_fittingOnly = false;
};

} // namespace weir

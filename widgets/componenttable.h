// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/base/units.h"
#include "models/decode/assessment.h"

#include <QHash>
#include <QPixmap>
#include <QWidget>

#include <memory>

class QLabel;
class QTableView;

namespace weir {

class ComponentModel;
class Wording;

/// The exact numbers behind the charts: a sortable table of components with the total fixed below it.
/// Ctrl+C copies the selected rows as tab-separated text, bytes in full. GUI thread.
class ComponentTable : public QWidget
{
    Q_OBJECT

public:
    /// `wording` outlives the table.
    explicit ComponentTable(const Wording &wording, QWidget *parent = nullptr);

    /// Shows an assessment; nullptr for none. Sorting, selection and scroll position stay.
    void setAssessment(std::shared_ptr<const Assessment> assessment, ByteUnit unit);

    /// The selected rows (all rows and the total if none is) with a line of headings.
    QString selectionAsText() const;

    ComponentModel *model() const { return m_model; }

public slots:
    void copySelection();

protected:
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    QPixmap swatch(Component component);
    void setUpView(QTableView *view);
    void fitColumns();
    void showParts();

    ComponentModel *m_model = nullptr;
    QTableView *m_rows = nullptr;
    QTableView *m_total = nullptr;
    QLabel *m_empty = nullptr; ///< stands where the rows would be
    QHash<int, QPixmap> m_swatches; ///< by component, in the colours and at the pixel ratio in force
    bool m_fitted = false;
    bool m_fitting = false;
    bool m_userSized = false; ///< columns keep the widths that the user gave them
};

} // namespace weir

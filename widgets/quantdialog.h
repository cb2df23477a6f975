// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/checkpoint.h"
#include "models/checkpoint/quantrecipe.h"

#include <QDialog>

#include <functional>
#include <vector>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace weir {

class Wording;

/// Imagines a checkpoint at another quantization: one scheme for all of it, and others for single components.
/// Says at once what would come of it; nothing changes before a button is pressed. GUI thread.
class QuantDialog : public QDialog
{
    Q_OBJECT

public:
    /// What a recipe comes to, worded; `possible` is false where it cannot be derived.
    struct Preview
    {
        QString text;
        bool possible = false;
    };
    using Previewer = std::function<Preview(const QString &recipe)>;

    QuantDialog(const Wording &wording, Previewer previewer, QWidget *parent = nullptr);

    /// @param base    the checkpoint as it is
    /// @param recipe  what is imagined now; empty: nothing
    void setBase(const CheckpointPtr &base, const QString &recipe);
    /// Asks for the preview again: machine or workload are others.
    void refresh() { updatePreview(); }
    /// The recipe as it stands: "awq,lm_head=int8", empty for the checkpoint as it is.
    QString recipe() const;

signals:
    void chosen(const QString &recipe);
    void pinRequested(const QString &recipe);

private:
    struct Row
    {
        Component component;
        QComboBox *box;
    };

    void makeRows(const Checkpoint &base);
    void fillRows();
    void showRecipe(const QString &recipe);
    void updatePreview();

    const Wording &m_wording;
    Previewer m_previewer;
    CheckpointPtr m_base;
    QuantRecipe m_recipe; ///< also what no box shows
    bool m_updating = false;
    QLabel *m_title = nullptr;
    QComboBox *m_whole = nullptr;
    QFormLayout *m_form = nullptr;
    std::vector<Row> m_rows;
    QLineEdit *m_text = nullptr;
    QLabel *m_preview = nullptr;
    QPushButton *m_show = nullptr;
    QPushButton *m_pin = nullptr;
};

/// Fills a box with every scheme of --quant under headings of their kind; data is the id. The first entry,
/// with empty data, is `asItIs`.
void fillQuantChoices(QComboBox *box, const QString &asItIs);

} // namespace weir

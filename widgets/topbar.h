// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

class QAction;
class QComboBox;
class QHBoxLayout;
class QMenu;
class QToolButton;

namespace weir {

class CatalogModel;
class OpenField;

/// The row on top of the window: what to open, on which machine, with which engine, and the few buttons
/// that belong to all of it. GUI thread.
class TopBar : public QWidget
{
    Q_OBJECT

public:
    /// A line of a list to choose from; the text is for people, the id for the program.
    struct Choice
    {
        QString id;
        QString text;
        QString toolTip;
    };

    explicit TopBar(CatalogModel *catalog, QWidget *parent = nullptr);

    OpenField *openField() const { return m_openField; }
    /// How the weights are stored, and other quantizations to imagine; filled by whoever knows them.
    QComboBox *weightsBox() const { return m_weights; }

    void setMachines(const std::vector<Choice> &machines);
    void setMachine(const QString &id);
    void setEngines(const std::vector<Choice> &engines);
    void setEngine(const QString &id);
    /// Engines belong to a checkpoint: without one there is nothing to choose.
    void setEngineEnabled(bool enabled);

    QToolButton *addButton(QAction *action);
    QToolButton *addMenuButton(const QString &text, QMenu *menu);

signals:
    void machineChosen(const QString &id);
    void engineChosen(const QString &id);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    static void fill(QComboBox *box, const std::vector<Choice> &choices);

    OpenField *m_openField = nullptr;
    QComboBox *m_machine = nullptr;
    QComboBox *m_engine = nullptr;
    QComboBox *m_weights = nullptr;
    QHBoxLayout *m_layout = nullptr;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/sources/hub/hubtypes.h"

#include <QStringList>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QTimer;
class QToolButton;

namespace weir {

class HubFilter;
class HubModel;
class RowTree;

/// Search of the Hub as you type, with its filters and the hits. It asks and reports by signals and knows no
/// network: whoever listens fills the model and says what to show in place of hits. Enter or a click opens
/// a hit, or unfolds one of several choices. GUI thread.
class HubView : public QWidget
{
    Q_OBJECT

public:
    explicit HubView(HubModel *model, QWidget *parent = nullptr);

    /// What the fields ask for now.
    HubQuery query() const;
    void setQuery(const HubQuery &query);

    /// Shows the hits, or with a sentence that instead; `action` empty: no button below the sentence.
    void showHits();
    void showSentence(const QString &sentence, const QString &action = {});
    /// One line below the hits; empty texts hide it.
    void setFooter(const QString &text, const QString &action = {});
    /// The context that the speeds in the list stand for.
    void setSpeedContext(quint64 contextTokens);

    void setSelected(const QString &reference);
    void unfold(const QString &reference);
    void focusSearch();

    /// Rows that the filters leave, hits alone.
    int shownHits() const;
    /// The hits do not reach the bottom of the list.
    bool hasRoom() const;
    HubFilter *filter() const { return m_filter; }

signals:
    /// The fields rest at another query; Enter does not wait for the rest.
    void queryChanged();
    /// The end of the list is near.
    void moreWanted();
    /// What is on screen is another: references, hits before their choices.
    void visibleChanged(const QStringList &references);
    void activated(const QString &reference);
    /// The choices of a hit are asked for that are not there yet.
    void unfoldRequested(const QString &reference);
    /// The button below a sentence, or that of the footer.
    void actionRequested();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    void setupControls();
    void setupList(HubModel *model);
    void activate(const QModelIndex &index);
    void toggle(const QModelIndex &index);
    void searchNow();
    void reportVisible();

    HubFilter *m_filter = nullptr;
    QLineEdit *m_text = nullptr;
    QComboBox *m_sort = nullptr;
    QComboBox *m_format = nullptr;
    QComboBox *m_size = nullptr;
    QCheckBox *m_fitting = nullptr;
    QLabel *m_caption = nullptr;
    QStackedWidget *m_pages = nullptr;
    RowTree *m_list = nullptr;
    QLabel *m_sentence = nullptr;
    QPushButton *m_action = nullptr;
    QWidget *m_footer = nullptr;
    QLabel *m_footerText = nullptr;
    QToolButton *m_footerAction = nullptr;
    QTimer *m_typing = nullptr;
    QTimer *m_settling = nullptr; ///< until what is visible is reported
    HubQuery m_asked;
    QString m_selected;
    QStringList m_visible;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QString>
#include <QStringList>

#include <vector>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QToolButton;

namespace weir {

/// Where a checkpoint of the Hub comes from, above its verdict: repository, revision, choice, commit, and
/// whether it was read live. Revisions and choices are chosen here; nothing is sent anywhere by it. GUI
/// thread.
class SourceBar : public QFrame
{
    Q_OBJECT

public:
    struct Choice
    {
        QString id;   ///< what activated choices are told by
        QString text; ///< "Q4_K_M · 18.6 GB"
        friend bool operator==(const Choice &, const Choice &) = default;
    };

    struct Source
    {
        QString repository;
        QString revision;
        QString choice; ///< id of one of `choices`
        QString commit; ///< 40 hex digits or empty
        bool cached = false;
        friend bool operator==(const Source &, const Source &) = default;
    };

    explicit SourceBar(QWidget *parent = nullptr);

    void setSource(const Source &source);
    const Source &source() const { return m_source; }
    /// Branches and tags; the one in force is added if it is none of them.
    void setRevisions(const QStringList &revisions);
    /// Fewer than two hide the box.
    void setChoices(const std::vector<Choice> &choices);

    /// Adds what belongs to the source of a checkpoint, at the right end.
    void addWidget(QWidget *widget);

signals:
    void pageRequested(const QString &repository);
    /// The list of revisions is about to be opened for the first time.
    void revisionsWanted(const QString &repository);
    void revisionChosen(const QString &revision);
    void choiceChosen(const QString &choice);
    void refreshRequested();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void fillRevisions();
    void fillChoices();
    void chooseRevision(const QString &revision);
    void elideName();

    QHBoxLayout *m_layout = nullptr;
    QToolButton *m_page = nullptr;
    QComboBox *m_revision = nullptr;
    QComboBox *m_choice = nullptr;
    QLabel *m_commit = nullptr;
    QLabel *m_state = nullptr;
    QToolButton *m_refresh = nullptr;
    Source m_source;
    QStringList m_revisions;
    std::vector<Choice> m_choices;
    bool m_revisionsAsked = false;
};

} // namespace weir

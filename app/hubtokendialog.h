// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QLabel;
class QLineEdit;
class QPushButton;

namespace weir {

class HubAccount;
class Wording;

/// Says where the token of the Hub comes from, takes one and removes it. A token is never shown. GUI thread.
class HubTokenDialog : public QDialog
{
    Q_OBJECT

public:
    HubTokenDialog(HubAccount &account, const Wording &wording, const QString &hubName,
                   QWidget *parent = nullptr);

private:
    void update();
    void save();

    HubAccount &m_account;
    const Wording &m_wording;
    QString m_hubName;
    QLabel *m_state = nullptr;
    QLabel *m_note = nullptr;
    QLineEdit *m_entry = nullptr;
    QPushButton *m_save = nullptr;
    QPushButton *m_remove = nullptr;
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/hubtokendialog.h"

#include "app/hubaccount.h"
#include "widgets/wording.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace weir {

HubTokenDialog::HubTokenDialog(HubAccount &account, const Wording &wording, const QString &hubName,
                               QWidget *parent)
    : QDialog(parent)
    , m_account(account)
    , m_wording(wording)
    , m_hubName(hubName)
{
    setObjectName(QStringLiteral("hubTokenDialog"));
    setWindowTitle(tr("Hub Account"));

    auto *why = new QLabel(tr("Public models need no token. Gated and private ones open with an access token "
                              "of an account that may read them; one with read access is enough."),
                           this);
    why->setObjectName(QStringLiteral("hubTokenWhy"));
    why->setWordWrap(true);

    m_state = new QLabel(this);
    m_state->setObjectName(QStringLiteral("hubTokenState"));
    m_state->setProperty("role", QStringLiteral("title"));
    m_state->setTextFormat(Qt::PlainText);
    m_state->setWordWrap(true);

    m_entry = new QLineEdit(this);
    m_entry->setObjectName(QStringLiteral("hubTokenEntry"));
    m_entry->setAccessibleName(tr("Access token"));
    m_entry->setPlaceholderText(tr("Access token, begins with hf_"));
    m_entry->setEchoMode(QLineEdit::Password);
    m_entry->setInputMethodHints(Qt::ImhSensitiveData | Qt::ImhNoPredictiveText | Qt::ImhNoAutoUppercase);
    m_entry->setMaxLength(512);
    m_save = new QPushButton(tr("Save"), this);
    m_save->setObjectName(QStringLiteral("hubTokenSave"));
    m_save->setAutoDefault(false);
    m_remove = new QPushButton(tr("Remove"), this);
    m_remove->setObjectName(QStringLiteral("hubTokenRemove"));
    m_remove->setAutoDefault(false);

    m_note = new QLabel(this);
    m_note->setObjectName(QStringLiteral("hubTokenNote"));
    m_note->setProperty("role", QStringLiteral("muted"));
    m_note->setTextFormat(Qt::PlainText);
    m_note->setWordWrap(true);

    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->setObjectName(QStringLiteral("hubTokenButtons"));
    QPushButton *close = buttons->button(QDialogButtonBox::Close);
    close->setObjectName(QStringLiteral("hubTokenClose"));
    close->setAutoDefault(false);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);

    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    line->addWidget(m_entry, 1);
    line->addWidget(m_save);
    line->addWidget(m_remove);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(20, 18, 20, 16);
    layout->setSpacing(12);
    layout->addWidget(why);
    layout->addWidget(m_state);
    layout->addLayout(line);
    layout->addWidget(m_note);
    layout->addStretch();
    layout->addWidget(buttons);
    setMinimumWidth(520);

    connect(m_entry, &QLineEdit::textChanged, this, &HubTokenDialog::update);
    connect(m_entry, &QLineEdit::returnPressed, this, &HubTokenDialog::save);
    connect(m_save, &QPushButton::clicked, this, &HubTokenDialog::save);
    connect(m_remove, &QPushButton::clicked, &m_account, &HubAccount::removeToken);
    connect(&m_account, &HubAccount::changed, this, &HubTokenDialog::update);
    update();
    m_account.lookUp();
}

void HubTokenDialog::save()
{
    if (!m_save->isEnabled())
        return;
    const QString token = m_entry->text();
    m_entry->clear();
    m_account.enterToken(token);
}

void HubTokenDialog::update()
{
    using Origin = HubAccount::Origin;
    const Origin origin = m_account.origin();
    QString note = tr("A token that is entered here is kept in the desktop's keyring, and sent to %1 only.")
                       .arg(m_hubName);
    switch (origin) {
    case Origin::None: m_state->setText(tr("No token: the Hub is asked anonymously.")); break;
    case Origin::Variable:
        m_state->setText(
            tr("The token in force comes from the environment (%1).").arg(m_account.originName()));
        note = tr("A variable of the environment comes before any other token: unset it and start again to "
                  "enter one here.");
        break;
    case Origin::File:
        m_state->setText(tr("The token in force comes from the file %1.").arg(m_account.originName()));
        note += QLatin1Char(' ') + tr("It comes before that of the file.");
        break;
    case Origin::Keyring: m_state->setText(tr("The token in force comes from the keyring.")); break;
    case Origin::Session:
        m_state->setText(tr("The token in force was entered in this window and is not kept."));
        break;
    }
    if (m_account.isBusy())
        note = tr("Waiting for the desktop's keyring …");
    else if (m_account.problem() && origin != Origin::Variable)
        note = m_wording.sentence(*m_account.problem());
    m_note->setText(note);

    const bool mayChange = origin != Origin::Variable;
    m_entry->setEnabled(mayChange);
    m_save->setEnabled(mayChange && !m_entry->text().trimmed().isEmpty());
    m_remove->setEnabled(mayChange && (origin == Origin::Keyring || origin == Origin::Session));
}

} // namespace weir

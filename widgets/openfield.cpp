// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/openfield.h"

#include "models/items/catalogmodel.h"
#include "models/sources/hub/hubtypes.h"
#include "widgets/catalogdelegate.h"
#include "widgets/theme.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QMimeData>
#include <QTimer>
#include <QUrl>

namespace weir {

OpenField::OpenField(CatalogModel *catalog, QWidget *parent)
    : QLineEdit(parent)
    , m_completer(new QCompleter(catalog, this))
    , m_hint(new QLabel(this))
{
    setObjectName(QStringLiteral("openField"));
    setAccessibleName(tr("Open a checkpoint"));
    setPlaceholderText(tr("Name, Hub id or path, or drop a file"));
    setToolTip(tr("A name or id of the catalog, a repository of the Hub (org/name, or its page's address), "
                  "the path of a model folder, a .gguf, a .safetensors or a config.json"));
    setClearButtonEnabled(true);
    setAcceptDrops(true);

    m_completer->setCompletionRole(CatalogModel::CompletionRole);
    m_completer->setFilterMode(Qt::MatchContains);
    m_completer->setCaseSensitivity(Qt::CaseInsensitive);
    m_completer->setMaxVisibleItems(7);
    // Many checkpoints share a name: the list shows what each is, as the catalog does.
    QAbstractItemView *popup = m_completer->popup();
    popup->setObjectName(QStringLiteral("openCompletions"));
    popup->setAccessibleName(tr("Matching checkpoints"));
    popup->setItemDelegate(new CatalogDelegate(popup));
    popup->setStyleSheet(QStringLiteral("QListView { border: 1px solid palette(mid); }"));
    // setCompleter() would put the completion role into the field; the id is what opens.
    m_completer->setWidget(this);
    connect(this, &QLineEdit::textEdited, this, [this](const QString &text) {
        m_opensFromHub = false;
        if (text.trimmed().size() < 2) {
            m_completer->popup()->hide();
            return;
        }
        m_completer->setCompletionPrefix(text.trimmed());
        if (m_completer->completionCount() > 0)
            m_completer->complete();
        else
            m_completer->popup()->hide();
        // Nothing of the catalog: what is typed may still name something.
        const QString typed = text.trimmed();
        const bool isPath = typed.startsWith(QLatin1Char('/')) || typed.startsWith(QLatin1Char('.'))
                            || typed.startsWith(QLatin1Char('~'));
        m_opensFromHub = m_completer->completionCount() == 0 && typed.contains(QLatin1Char('/')) && !isPath
                         && parseHubReference(typed.toStdString()).has_value();
        placeHint();
    });
    connect(m_completer, qOverload<const QModelIndex &>(&QCompleter::activated), this,
            [this](const QModelIndex &index) {
                setText(index.data(CatalogModel::IdRole).toString());
                open();
            });

    m_hint->setObjectName(QStringLiteral("openHint"));
    m_hint->setProperty("role", QStringLiteral("muted"));
    m_hint->setAttribute(Qt::WA_TransparentForMouseEvents);
    connect(this, &QLineEdit::textChanged, this, &OpenField::placeHint);
}

void OpenField::setShortcutHint(const QString &hint)
{
    m_shortcut = hint;
    placeHint();
}

QString OpenField::pathOf(const QMimeData *data)
{
    if (data == nullptr || !data->hasUrls())
        return {};
    const QList<QUrl> urls = data->urls();
    for (const QUrl &url : urls) {
        if (url.isLocalFile())
            return url.toLocalFile();
    }
    return {};
}

void OpenField::open()
{
    const QString argument = text().trimmed();
    if (argument.isEmpty())
        return;
    m_completer->popup()->hide();
    emit openRequested(argument);
}

void OpenField::changeEvent(QEvent *event)
{
    QLineEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        placeHint();
}

void OpenField::dragEnterEvent(QDragEnterEvent *event)
{
    if (!pathOf(event->mimeData()).isEmpty())
        event->acceptProposedAction();
    else
        QLineEdit::dragEnterEvent(event);
}

void OpenField::dropEvent(QDropEvent *event)
{
    const QString path = pathOf(event->mimeData());
    if (path.isEmpty()) {
        QLineEdit::dropEvent(event);
        return;
    }
    event->acceptProposedAction();
    setText(path);
    open();
}

void OpenField::focusInEvent(QFocusEvent *event)
{
    QLineEdit::focusInEvent(event);
    if (event->reason() == Qt::ShortcutFocusReason || event->reason() == Qt::TabFocusReason)
        QTimer::singleShot(0, this, &QLineEdit::selectAll);
}

void OpenField::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        const QAbstractItemView *popup = m_completer->popup();
        if (popup->isVisible() && popup->currentIndex().isValid())
            event->ignore(); // the completer takes the row that is highlighted
        else
            open();
        return;
    }
    if (event->key() == Qt::Key_Escape && !text().isEmpty()) {
        clear();
        return;
    }
    QLineEdit::keyPressEvent(event);
}

void OpenField::resizeEvent(QResizeEvent *event)
{
    QLineEdit::resizeEvent(event);
    placeHint();
}

void OpenField::placeHint()
{
    const bool empty = text().isEmpty();
    m_hint->setFont(textFont(font(), TextSize::Small));
    m_hint->setText(empty ? m_shortcut : tr("Enter opens it from the Hub"));
    m_hint->adjustSize();
    const int button = empty ? 0 : 24; // the one that clears
    m_hint->move(width() - m_hint->width() - 12 - button, (height() - m_hint->height()) / 2);
    const QString shown = empty ? placeholderText() : text();
    const bool room = width() > fontMetrics().horizontalAdvance(shown) + m_hint->width() + button + 36;
    m_hint->setVisible((empty || m_opensFromHub) && room);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/downloadpanel.h"

#include "models/items/text.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QDoubleSpinBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <cmath>

namespace weir {

namespace {

QLabel *makeLabel(const char *name, QWidget *parent, const char *role = nullptr)
{
    auto *label = new QLabel(parent);
    label->setObjectName(QLatin1String(name));
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    if (role != nullptr)
        label->setProperty("role", QLatin1String(role));
    return label;
}

} // namespace

QString durationText(double seconds)
{
    if (!(seconds >= 0) || seconds > 1e9)
        return DownloadPanel::tr("longer than anybody waits");
    if (seconds < 45)
        return DownloadPanel::tr("less than a minute");
    const auto minutes = static_cast<qint64>(std::llround(seconds / 60));
    if (minutes < 60)
        return DownloadPanel::tr("about %1 min").arg(minutes);
    const qint64 hours = minutes / 60;
    if (hours >= 48)
        return DownloadPanel::tr("about %1 days").arg((hours + 12) / 24);
    return minutes % 60 == 0 ? DownloadPanel::tr("about %1 h").arg(hours)
                             : DownloadPanel::tr("about %1 h %2 min").arg(hours).arg(minutes % 60);
}

DownloadPanel::DownloadPanel(QWidget *parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("downloadPanel"));

    m_summary = makeLabel("downloadSummary", this);
    m_summary->setFont(textFont(font(), TextSize::Strong));
    m_link = new QDoubleSpinBox(this);
    m_link->setObjectName(QStringLiteral("linkSpeed"));
    m_link->setAccessibleName(tr("Speed of the link"));
    m_link->setRange(0.1, 100'000);
    m_link->setDecimals(0);
    m_link->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    m_link->setSuffix(tr(" Mbit/s"));
    m_link->setToolTip(tr("What your connection carries, in millions of bits a second"));
    m_linkLabel = makeLabel("linkLabel", this, "muted");
    m_linkLabel->setText(tr("at"));
    m_linkLabel->setBuddy(m_link);
    m_time = makeLabel("downloadTime", this);
    m_room = makeLabel("downloadRoom", this, "muted");

    m_command = new QLineEdit(this);
    m_command->setObjectName(QStringLiteral("downloadCommand"));
    m_command->setAccessibleName(tr("Command that downloads these files"));
    m_command->setReadOnly(true);
    m_command->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_copy = new QToolButton(this);
    m_copy->setObjectName(QStringLiteral("copyDownloadCommand"));
    m_copy->setText(tr("Copy"));
    m_copy->setToolTip(tr("Copies the command; it is quoted for a shell"));
    m_copy->setFocusPolicy(Qt::StrongFocus);
    m_copy->setProperty("outlined", true);
    m_state = makeLabel("downloadState", this, "muted");
    m_state->setWordWrap(true);

    m_files = new QTableWidget(0, 2, this);
    m_files->setObjectName(QStringLiteral("downloadFiles"));
    m_files->setAccessibleName(tr("Files of the download"));
    m_files->setFrameShape(QFrame::NoFrame);
    m_files->setShowGrid(false);
    m_files->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_files->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_files->setTabKeyNavigation(false);
    m_files->setHorizontalHeaderLabels({tr("File"), tr("Bytes")});
    m_files->horizontalHeader()->setHighlightSections(false);
    m_files->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_files->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Fixed);
    m_files->horizontalHeader()->resizeSection(
        1, fontMetrics().horizontalAdvance(QStringLiteral("1,000.00 GiB")) + 30);
    m_files->horizontalHeaderItem(0)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_files->horizontalHeaderItem(1)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_files->verticalHeader()->hide();
    m_files->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 7);

    auto *first = new QHBoxLayout;
    first->setSpacing(8);
    first->addWidget(m_summary);
    first->addWidget(m_linkLabel);
    first->addWidget(m_link);
    first->addWidget(m_time);
    first->addStretch(1);
    first->addWidget(m_room);
    auto *second = new QHBoxLayout;
    second->setSpacing(8);
    second->addWidget(m_command, 1);
    second->addWidget(m_copy);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 8, 4, 0);
    layout->setSpacing(6);
    layout->addLayout(first);
    layout->addLayout(second);
    layout->addWidget(m_state);
    layout->addWidget(m_files, 1);

    connect(m_link, &QDoubleSpinBox::valueChanged, this, [this](double megabits) {
        showSummary();
        emit linkChanged(megabits);
    });
    connect(m_copy, &QToolButton::clicked, this, [this] {
        QApplication::clipboard()->setText(m_command->text());
        emit commandCopied();
    });
    setFacts({}, ByteUnit::Gigabytes);
}

void DownloadPanel::setFacts(const DownloadFacts &facts, ByteUnit unit)
{
    if (facts.folder != m_facts.folder)
        m_freeBytes.reset();
    m_facts = facts;
    m_unit = unit;
    m_command->setText(toText(facts.plan.command));
    m_command->setCursorPosition(0);
    m_command->setVisible(!facts.plan.command.empty());
    m_copy->setVisible(!facts.plan.command.empty());
    m_state->setText(facts.state);
    m_state->setVisible(!facts.state.isEmpty());
    showSummary();
    showFiles();
    showRoom();
}

void DownloadPanel::setFreeBytes(const QString &folder, std::optional<quint64> bytes)
{
    if (folder != m_facts.folder)
        return;
    m_freeBytes = bytes;
    showRoom();
}

void DownloadPanel::setLinkMegabits(double megabitsPerSecond) { m_link->setValue(megabitsPerSecond); }

double DownloadPanel::linkMegabits() const { return m_link->value(); }

void DownloadPanel::showSummary()
{
    const DownloadPlan &plan = m_facts.plan;
    const bool known = plan.bytes.has_value();
    for (QWidget *each : {static_cast<QWidget *>(m_linkLabel), static_cast<QWidget *>(m_link),
                          static_cast<QWidget *>(m_time)})
        each->setVisible(known);
    m_summary->setVisible(known);
    if (!known)
        return;
    const QString size = shortBytes(*plan.bytes, m_unit);
    m_summary->setText(plan.files.empty()
                           ? size
                           : tr("%1 in %n files", nullptr, static_cast<int>(plan.files.size())).arg(size));
    m_summary->setToolTip(plainToolTip(toText(formatBytesExactly(*plan.bytes))));
    m_time->setText(durationText(downloadSeconds(*plan.bytes, m_link->value() * 1e6)));
}

void DownloadPanel::showFiles()
{
    const auto &files = m_facts.plan.files;
    m_files->setVisible(!files.empty());
    m_files->setRowCount(static_cast<int>(files.size()));
    for (int row = 0; row < m_files->rowCount(); ++row) {
        const DownloadFile &file = files[static_cast<std::size_t>(row)];
        auto *name = new QTableWidgetItem(toText(printable(file.path)));
        auto *size = new QTableWidgetItem(toText(formatBytes(file.bytes, m_unit)));
        size->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        size->setToolTip(plainToolTip(toText(formatBytesExactly(file.bytes))));
        m_files->setItem(row, 0, name);
        m_files->setItem(row, 1, size);
    }
}

void DownloadPanel::showRoom()
{
    const std::optional<std::uint64_t> needed = m_facts.plan.bytes;
    m_room->setVisible(needed.has_value() && !m_facts.folder.isEmpty());
    m_room->setToolTip(plainToolTip(m_facts.folder));
    if (!m_freeBytes) {
        m_room->setText(tr("free disk unknown"));
        return;
    }
    const QString free = shortBytes(*m_freeBytes, m_unit);
    if (needed && *needed > *m_freeBytes) {
        m_room->setText(tr("%1 free: %2 too little").arg(free, shortBytes(*needed - *m_freeBytes, m_unit)));
        m_room->setStyleSheet(QStringLiteral("color: %1").arg(Theme::of(this).no.name()));
    } else {
        m_room->setText(tr("%1 free on the disk").arg(free));
        m_room->setStyleSheet({});
    }
}

} // namespace weir

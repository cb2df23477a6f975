// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/workloadpanel.h"

#include "models/items/text.h"
#include "widgets/amount.h"
#include "widgets/contextscale.h"
#include "widgets/theme.h"
#include "widgets/tokenspinbox.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QScopedValueRollback>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace weir {

namespace {

/// Where the slider of parallel requests stops: every number while they are few, then in octaves.
constexpr std::array<int, 26> concurrencyStops{1,  2,  3,  4,  5,  6,  7,  8,  10, 12,  14,  16,  20,
                                               24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 160, 192, 256};

int concurrencyPosition(int streams)
{
    const auto stop = std::ranges::lower_bound(concurrencyStops, streams);
    const auto last = static_cast<std::ptrdiff_t>(concurrencyStops.size()) - 1;
    return static_cast<int>(std::min(stop - concurrencyStops.begin(), last));
}

/// "16-bit" for a default of that width, else the type as its engine names it.
QString dtypeText(const std::string &dtype, bool isDefault)
{
    if (isDefault && (dtype == "f16" || dtype == "bf16" || dtype == "auto"))
        return QCoreApplication::translate("weir::WorkloadPanel", "16-bit");
    return toText(dtype).toUpper();
}

QLabel *makeName(const QString &text, QWidget *buddy, QWidget *parent)
{
    auto *label = new QLabel(text, parent);
    label->setBuddy(buddy);
    return label;
}

} // namespace

WorkloadPanel::WorkloadPanel(QWidget *parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("workloadPanel"));
    setAccessibleName(tr("Workload"));

    auto *title = new QLabel(tr("Workload"), this);
    title->setProperty("role", QStringLiteral("title"));

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(12);
    layout->addWidget(title);
    layout->addWidget(makeContext());
    layout->addWidget(makeConcurrency());
    layout->addWidget(makeKv());
    layout->addWidget(makeReserve());
    updateFonts();
    setWorkload(m_workload);
}

QLabel *WorkloadPanel::makeNote(const char *name)
{
    auto *note = new QLabel(this);
    note->setObjectName(QString::fromLatin1(name));
    note->setProperty("role", QStringLiteral("muted"));
    note->setTextFormat(Qt::PlainText);
    note->setWordWrap(true);
    m_notes.push_back(note);
    return note;
}

QWidget *WorkloadPanel::makeContext()
{
    m_context = new TokenSpinBox(this);
    m_context->setObjectName(QStringLiteral("contextEntry"));
    m_context->setAccessibleName(tr("Context in tokens"));
    m_context->setToolTip(tr("Tokens in the cache while the answer is written. “32k” is 32,768."));
    m_contextSlider = new QSlider(Qt::Horizontal, this);
    m_contextSlider->setObjectName(QStringLiteral("contextSlider"));
    m_contextSlider->setAccessibleName(tr("Context in tokens, by octaves"));
    m_contextSlider->setRange(0, ContextScale::maximumPosition);
    m_contextSlider->setPageStep(ContextScale::stepsPerOctave);
    m_contextNote = makeNote("contextNote");

    connect(m_contextSlider, &QSlider::valueChanged, this, [this](int position) {
        if (m_updating)
            return;
        m_workload.contextTokens = ContextScale::tokensAt(position);
        changed();
    });
    connect(m_context, &QSpinBox::valueChanged, this, [this](int tokens) {
        if (m_updating)
            return;
        m_workload.contextTokens = static_cast<std::uint64_t>(tokens);
        changed();
    });

    auto *box = new QWidget(this);
    auto *grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(6);
    grid->setColumnStretch(0, 1);
    grid->addWidget(makeName(tr("Context"), m_context, this), 0, 0);
    grid->addWidget(m_context, 0, 1);
    grid->addWidget(m_contextSlider, 1, 0, 1, 2);
    grid->addWidget(m_contextNote, 2, 0, 1, 2);
    return box;
}

QWidget *WorkloadPanel::makeConcurrency()
{
    m_concurrency = new QSpinBox(this);
    m_concurrency->setObjectName(QStringLiteral("concurrencyEntry"));
    m_concurrency->setAccessibleName(tr("Parallel requests"));
    m_concurrency->setToolTip(tr("Requests answered at the same time"));
    m_concurrency->setRange(1, 1024);
    m_concurrency->setAlignment(Qt::AlignRight);
    m_concurrency->setKeyboardTracking(false);
    m_concurrencySlider = new QSlider(Qt::Horizontal, this);
    m_concurrencySlider->setObjectName(QStringLiteral("concurrencySlider"));
    m_concurrencySlider->setAccessibleName(tr("Parallel requests"));
    m_concurrencySlider->setRange(0, static_cast<int>(concurrencyStops.size()) - 1);
    m_concurrencySlider->setPageStep(4);

    connect(m_concurrencySlider, &QSlider::valueChanged, this, [this](int position) {
        if (m_updating)
            return;
        m_workload.concurrency =
            static_cast<std::uint32_t>(concurrencyStops.at(static_cast<std::size_t>(position)));
        changed();
    });
    connect(m_concurrency, &QSpinBox::valueChanged, this, [this](int streams) {
        if (m_updating)
            return;
        m_workload.concurrency = static_cast<std::uint32_t>(streams);
        changed();
    });

    auto *box = new QWidget(this);
    auto *grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(6);
    grid->setColumnStretch(0, 1);
    grid->addWidget(makeName(tr("Parallel requests"), m_concurrency, this), 0, 0);
    grid->addWidget(m_concurrency, 0, 1);
    grid->addWidget(m_concurrencySlider, 1, 0, 1, 2);
    return box;
}

QWidget *WorkloadPanel::makeKv()
{
    m_kDtype = new QComboBox(this);
    m_kDtype->setObjectName(QStringLiteral("kDtype"));
    m_kDtype->setAccessibleName(tr("Type of cached keys"));
    m_vDtype = new QComboBox(this);
    m_vDtype->setObjectName(QStringLiteral("vDtype"));
    m_vDtype->setAccessibleName(tr("Type of cached values"));
    m_kvNote = makeNote("kvNote");
    m_kvNote->hide();
    setKvDtypes({"f16"});

    connect(m_kDtype, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (m_updating || index < 0)
            return;
        m_workload.kDtype = m_kvDtypes.at(static_cast<std::size_t>(index));
        changed();
    });
    connect(m_vDtype, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (m_updating || index < 0)
            return;
        m_workload.vDtype = m_kvDtypes.at(static_cast<std::size_t>(index));
        changed();
    });

    auto *box = new QWidget(this);
    auto *grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(6);
    grid->setColumnStretch(0, 1);
    grid->addWidget(makeName(tr("Cached keys"), m_kDtype, this), 0, 0);
    grid->addWidget(m_kDtype, 0, 1);
    grid->addWidget(makeName(tr("Cached values"), m_vDtype, this), 1, 0);
    grid->addWidget(m_vDtype, 1, 1);
    grid->addWidget(m_kvNote, 2, 0, 1, 2);
    return box;
}

QWidget *WorkloadPanel::makeReserve()
{
    m_reserve = new QDoubleSpinBox(this);
    m_reserve->setObjectName(QStringLiteral("reserveEntry"));
    m_reserve->setAccessibleName(tr("Memory kept free"));
    m_reserve->setLocale(QLocale::c());
    m_reserve->setRange(0, 100000);
    m_reserve->setDecimals(1);
    m_reserve->setAlignment(Qt::AlignRight);
    m_reserve->setKeyboardTracking(false);
    m_reserveDefault = new QToolButton(this);
    m_reserveDefault->setObjectName(QStringLiteral("reserveDefault"));
    m_reserveDefault->setText(tr("Default"));
    m_reserveDefault->setProperty("outlined", true);
    m_reserveNote = makeNote("reserveNote");

    connect(m_reserve, &QDoubleSpinBox::valueChanged, this, [this](double amount) {
        if (m_updating)
            return;
        m_workload.reserveBytes = static_cast<std::uint64_t>(std::llround(amount * unitBytes(m_unit)));
        changed();
    });
    connect(m_reserveDefault, &QToolButton::clicked, this, [this] {
        if (m_reserveDefault->hasFocus())
            m_reserve->setFocus(Qt::OtherFocusReason); // the button hides itself
        m_workload.reserveBytes.reset();
        changed();
    });

    auto *box = new QWidget(this);
    auto *grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(6);
    grid->setColumnStretch(0, 1);
    grid->addWidget(makeName(tr("Keep free"), m_reserve, this), 0, 0);
    grid->addWidget(m_reserve, 0, 1);
    auto *under = new QHBoxLayout;
    under->addWidget(m_reserveNote, 1);
    under->addWidget(m_reserveDefault);
    grid->addLayout(under, 1, 0, 1, 2);
    return box;
}

void WorkloadPanel::setWorkload(const Workload &workload)
{
    const QScopedValueRollback updating(m_updating, true);
    m_workload = workload;
    m_context->setValue(static_cast<int>(std::min<std::uint64_t>(
        workload.contextTokens, static_cast<std::uint64_t>(TokenSpinBox::maximumTokens))));
    m_contextSlider->setValue(ContextScale::positionOf(workload.contextTokens));
    m_concurrency->setValue(static_cast<int>(workload.concurrency));
    m_concurrencySlider->setValue(concurrencyPosition(static_cast<int>(workload.concurrency)));
    const auto show = [this](QComboBox *box, const std::string &dtype) {
        const auto found = std::ranges::find(m_kvDtypes, dtype);
        box->setCurrentIndex(found == m_kvDtypes.end() ? 0 : static_cast<int>(found - m_kvDtypes.begin()));
    };
    show(m_kDtype, workload.kDtype);
    show(m_vDtype, workload.vDtype);
    updateReserve();
}

void WorkloadPanel::setKvDtypes(const std::vector<std::string> &dtypes)
{
    if (m_kvDtypes == dtypes || dtypes.empty())
        return;
    {
        const QScopedValueRollback updating(m_updating, true);
        m_kvDtypes = dtypes;
        for (QComboBox *box : {m_kDtype, m_vDtype}) {
            box->clear();
            for (const std::string &dtype : dtypes)
                box->addItem(dtypeText(dtype, box->count() == 0));
            // One choice is no choice.
            box->setEnabled(dtypes.size() > 1);
        }
    }
    if (m_reserve != nullptr) // not while the panel is being built
        setWorkload(m_workload);
}

void WorkloadPanel::setKvNote(const QString &note)
{
    m_kvNote->setText(note);
    m_kvNote->setVisible(!note.isEmpty());
}

void WorkloadPanel::setReserveDefault(quint64 bytes, const QString &rule)
{
    m_defaultReserveBytes = bytes;
    m_reserveRule = rule;
    updateReserve();
}

void WorkloadPanel::setAssessment(const std::shared_ptr<const Assessment> &assessment, ByteUnit unit)
{
    if (m_unit != unit) {
        m_unit = unit;
        updateReserve();
    }
    if (!assessment) {
        m_contextNote->hide();
        return;
    }
    const MemoryAssessment &memory = assessment->memory;
    QStringList terms;
    QStringList exact;
    if (memory.kvBytes > 0) {
        terms << tr("KV %1").arg(toText(formatBytes(memory.kvBytes, unit)));
        exact << tr("KV cache: %1").arg(toText(formatBytesExactly(memory.kvBytes)));
    }
    if (memory.stateBytes > 0) {
        terms << tr("state %1").arg(toText(formatBytes(memory.stateBytes, unit)));
        exact << tr("Recurrent state: %1").arg(toText(formatBytesExactly(memory.stateBytes)));
    }
    m_contextNote->setText(terms.join(QStringLiteral(" + ")));
    m_contextNote->setVisible(!terms.isEmpty());
    m_contextNote->setToolTip(exact.join(QLatin1Char('\n')));
}

void WorkloadPanel::updateReserve()
{
    const QScopedValueRollback updating(m_updating, true);
    const bool isDefault = !m_workload.reserveBytes.has_value();
    m_reserve->setSuffix(QLatin1Char(' ') + unitName(m_unit));
    m_reserve->setValue(static_cast<double>(m_workload.reserveBytes.value_or(m_defaultReserveBytes))
                        / unitBytes(m_unit));
    m_reserveDefault->setVisible(!isDefault);
    m_reserveDefault->setToolTip(
        tr("Back to %1: %2").arg(toText(formatBytes(m_defaultReserveBytes, m_unit)), m_reserveRule));
    m_reserveNote->setText(isDefault ? tr("default: %1").arg(m_reserveRule) : tr("set by hand"));
}

void WorkloadPanel::changed()
{
    setWorkload(Workload(m_workload));
    emit workloadChanged(m_workload);
}

void WorkloadPanel::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        updateFonts();
}

void WorkloadPanel::updateFonts()
{
    for (QLabel *note : m_notes)
        note->setFont(textFont(font(), TextSize::Small));
    // Wide enough for the longest numbers, equal for all, so that the column keeps one edge.
    const int width = fontMetrics().horizontalAdvance(QStringLiteral("16,777,216")) + 44;
    for (QWidget *entry :
         std::initializer_list<QWidget *>{m_context, m_concurrency, m_kDtype, m_vDtype, m_reserve})
        entry->setFixedWidth(width);
}

} // namespace weir

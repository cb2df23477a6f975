// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/quantdialog.h"

#include "models/checkpoint/quantrecipe.h"
#include "models/items/text.h"
#include "widgets/theme.h"
#include "widgets/wording.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <array>

namespace weir {

namespace {

QString kindTitle(QuantKind kind)
{
    switch (kind) {
    case QuantKind::Float: return QuantDialog::tr("Unquantized");
    case QuantKind::Safetensors: return QuantDialog::tr("Safetensors");
    case QuantKind::Mlx: return QuantDialog::tr("MLX");
    case QuantKind::Gguf: return QuantDialog::tr("GGUF");
    }
    return {};
}

void addHeading(QComboBox *box, const QString &text)
{
    box->addItem(text, QStringLiteral("-"));
    auto *model = qobject_cast<QStandardItemModel *>(box->model());
    QStandardItem *item = model->item(box->count() - 1);
    item->setFlags(Qt::NoItemFlags);
    item->setFont(textFont(box->font(), TextSize::Small));
}

/// Schemes that make sense for a single component of a file of that format.
void fillComponentChoices(QComboBox *box, bool gguf)
{
    static constexpr std::array<const char *, 6> packed{"bf16", "fp8", "int8", "int4", "nvfp4", "mxfp4"};
    static constexpr std::array<const char *, 6> mixes{"bf16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS"};
    box->clear();
    box->addItem(QuantDialog::tr("like the rest"), QString());
    for (const char *id : gguf ? mixes : packed)
        box->addItem(quantizationText(id), QLatin1String(id));
}

} // namespace

void fillQuantChoices(QComboBox *box, const QString &asItIs)
{
    box->clear();
    box->addItem(asItIs, QString());
    std::optional<QuantKind> kind;
    for (const QuantChoice &choice : quantChoices()) {
        if (kind != choice.kind) {
            kind = choice.kind;
            addHeading(box, kindTitle(choice.kind));
        }
        box->addItem(quantizationText(choice.id), toText(choice.id));
    }
}

QuantDialog::QuantDialog(const Wording &wording, Previewer previewer, QWidget *parent)
    : QDialog(parent)
    , m_wording(wording)
    , m_previewer(std::move(previewer))
{
    setObjectName(QStringLiteral("quantDialog"));
    setWindowTitle(tr("What If It Were Quantized Otherwise?"));

    m_title = new QLabel(this);
    m_title->setObjectName(QStringLiteral("quantTitle"));
    m_title->setProperty("role", QStringLiteral("title"));
    m_title->setTextFormat(Qt::PlainText);

    m_whole = new QComboBox(this);
    m_whole->setObjectName(QStringLiteral("quantWhole"));
    m_whole->setAccessibleName(tr("Quantization of the whole model"));
    m_whole->setMaxVisibleItems(24);

    m_form = new QFormLayout;
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_form->setHorizontalSpacing(16);
    m_form->setLabelAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_form->addRow(tr("Whole model"), m_whole);

    m_text = new QLineEdit(this);
    m_text->setObjectName(QStringLiteral("quantRecipe"));
    m_text->setAccessibleName(tr("Recipe as text"));
    m_text->setPlaceholderText(tr("as it is"));
    m_text->setToolTip(tr("As --quant takes it: awq,lm_head=int8"));

    m_preview = new QLabel(this);
    m_preview->setObjectName(QStringLiteral("quantPreview"));
    m_preview->setTextFormat(Qt::PlainText);
    m_preview->setWordWrap(true);
    m_preview->setMinimumHeight(4 * fontMetrics().lineSpacing());
    m_preview->setAlignment(Qt::AlignTop);

    m_show = new QPushButton(tr("Show"), this);
    m_show->setObjectName(QStringLiteral("quantShow"));
    m_show->setDefault(true);
    m_pin = new QPushButton(tr("Pin Beside"), this);
    m_pin->setObjectName(QStringLiteral("quantPin"));
    auto *close = new QPushButton(tr("Close"), this);
    close->setObjectName(QStringLiteral("quantClose"));

    auto *recipeRow = new QHBoxLayout;
    recipeRow->setSpacing(16);
    auto *recipeName = new QLabel(tr("Recipe"), this);
    recipeName->setBuddy(m_text);
    recipeRow->addWidget(recipeName);
    recipeRow->addWidget(m_text, 1);
    auto *buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(close);
    buttons->addWidget(m_pin);
    buttons->addWidget(m_show);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(18, 16, 18, 14);
    layout->setSpacing(12);
    layout->addWidget(m_title);
    layout->addLayout(m_form);
    layout->addLayout(recipeRow);
    layout->addWidget(m_preview);
    layout->addLayout(buttons);
    setMinimumWidth(30 * fontMetrics().averageCharWidth() + 220);

    connect(m_whole, &QComboBox::currentIndexChanged, this, [this] {
        if (m_updating)
            return;
        m_recipe.label = m_whole->currentData().toString().toStdString();
        m_text->setText(recipe());
    });
    connect(m_text, &QLineEdit::textChanged, this, [this](const QString &text) {
        if (text.trimmed() != recipe())
            showRecipe(text);
        else if (const QScopedValueRollback updating(m_updating, true); true)
            fillRows(); // another format takes other schemes
        updatePreview();
    });
    connect(m_show, &QPushButton::clicked, this, [this] { emit chosen(m_text->text().trimmed()); });
    connect(m_pin, &QPushButton::clicked, this, [this] { emit pinRequested(m_text->text().trimmed()); });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
}

void QuantDialog::setBase(const CheckpointPtr &base, const QString &recipe)
{
    {
        const QScopedValueRollback updating(m_updating, true);
        m_base = base;
        m_title->setText(toText(printable(base->name, 80)));
        fillQuantChoices(m_whole, tr("as it is: %1").arg(quantizationText(base->quantization)));
        makeRows(*base);
    }
    showRecipe(recipe);
    m_text->setText(recipe);
    updatePreview();
}

void QuantDialog::makeRows(const Checkpoint &base)
{
    for (const Row &row : m_rows)
        m_form->removeRow(row.box);
    m_rows.clear();
    for (const ComponentSum &sum : base.sums) {
        // Small parts that no recipe touches would only lengthen the list.
        switch (sum.component) {
        case Component::Router:
        case Component::Norm:
        case Component::Other: continue;
        default: break;
        }
        auto *box = new QComboBox(this);
        box->setObjectName(QStringLiteral("quant_") + toText(componentId(sum.component)));
        box->setAccessibleName(m_wording.componentLabel(sum.component));
        connect(box, &QComboBox::currentIndexChanged, this, [this, box, component = sum.component] {
            if (m_updating)
                return;
            const std::string scheme = box->currentData().toString().toStdString();
            if (scheme.empty())
                m_recipe.overrides.erase(component);
            else
                m_recipe.overrides[component] = scheme;
            m_text->setText(this->recipe());
        });
        m_form->addRow(m_wording.componentLabel(sum.component), box);
        m_rows.push_back({sum.component, box});
    }
}

QString QuantDialog::recipe() const
{
    QStringList parts;
    if (!m_recipe.label.empty())
        parts << toText(m_recipe.label);
    for (const auto &[component, scheme] : m_recipe.overrides)
        parts << toText(componentId(component)) + QLatin1Char('=') + toText(scheme);
    return parts.join(QLatin1Char(','));
}

void QuantDialog::fillRows()
{
    const auto whole = quantChoice(m_recipe.label);
    const bool gguf = whole && whole->kind != QuantKind::Float ? whole->kind == QuantKind::Gguf
                                                               : m_base && m_base->format == Format::Gguf;
    for (const Row &row : m_rows) {
        fillComponentChoices(row.box, gguf);
        const auto found = m_recipe.overrides.find(row.component);
        const QString scheme = found == m_recipe.overrides.end() ? QString() : toText(found->second);
        // What was typed and is not on the list is shown all the same.
        if (row.box->findData(scheme) < 0)
            row.box->addItem(quantizationText(scheme.toStdString()), scheme);
        row.box->setCurrentIndex(row.box->findData(scheme));
    }
}

void QuantDialog::showRecipe(const QString &text)
{
    const QScopedValueRollback updating(m_updating, true);
    m_recipe = parseQuantRecipe(text.trimmed().toStdString()).value_or(QuantRecipe{});
    m_whole->setCurrentIndex(std::max(0, m_whole->findData(toText(m_recipe.label))));
    fillRows();
}

void QuantDialog::updatePreview()
{
    const QString text = m_text->text().trimmed();
    const Preview preview =
        text.isEmpty() ? Preview{tr("Choose what to change: nothing is downloaded or converted."), false}
                       : m_previewer(text);
    m_preview->setText(preview.text);
    m_show->setEnabled(preview.possible);
    m_pin->setEnabled(preview.possible);
}

} // namespace weir

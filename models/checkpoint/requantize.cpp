// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/requantize.h"

#include "models/base/ascii.h"
#include "models/base/saturating.h"
#include "models/base/units.h"
#include "models/checkpoint/ggufderivation.h"
#include "models/checkpoint/ggufmix.h"
#include "models/checkpoint/quantconvention.h"
#include "models/checkpoint/tensorset.h"
#include "models/checkpoint/unquantized.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir {

namespace {

/// A plain dtype in a GGUF file is the mix of that name: "bf16" -> "BF16".
std::string mixOf(const QuantChoice &choice)
{
    return choice.kind == QuantKind::Float ? asciiUpper(choice.id) : std::string(choice.id);
}

Format formatOf(const QuantChoice &choice, const Checkpoint &source)
{
    switch (choice.kind) {
    case QuantKind::Safetensors: return Format::Safetensors;
    case QuantKind::Mlx: return Format::Mlx;
    case QuantKind::Gguf: return Format::Gguf;
    case QuantKind::Float: break;
    }
    return source.format == Format::Unknown ? Format::Safetensors : source.format;
}

bool isAlready(const Checkpoint &source, const QuantChoice &choice)
{
    if (source.format != formatOf(choice, source) && choice.kind != QuantKind::Safetensors)
        return false;
    if (asciiLower(source.quantization) == asciiLower(mixOf(choice)))
        return true;
    const auto known = quantChoice(source.quantization);
    return known && known->id == choice.id && source.format == formatOf(choice, source);
}

/// A GGUF type for "lm_head=int8" in a GGUF file.
std::string_view ggufTypeOf(const QuantChoice &choice)
{
    static constexpr std::pair<std::string_view, std::string_view> types[] = {
        {"int8", "Q8_0"}, {"int4", "Q4_K"}, {"nvfp4", "NVFP4"}, {"mxfp4", "MXFP4"},
        {"bf16", "BF16"}, {"f16", "F16"},   {"f32", "F32"}};
    for (const auto &[id, type] : types) {
        if (id == choice.id)
            return type;
    }
    return choice.kind == QuantKind::Gguf ? GgufMix::baseType(choice.id) : std::string_view();
}

/// How one component is stored by an override; a Plain layout carries the dtype.
std::optional<LinearScheme> overrideLayout(const QuantChoice &choice, Format format,
                                           std::string_view architecture)
{
    if (choice.kind == QuantKind::Float || choice.id == "mlx-bf16") {
        LinearScheme plain;
        plain.scaleDtype = choice.kind == QuantKind::Float ? asciiUpper(choice.id) : std::string("BF16");
        return plain;
    }
    if (format != Format::Mlx)
        return choice.kind == QuantKind::Safetensors ? layoutOf(choice.id, architecture) : std::nullopt;
    if (choice.kind == QuantKind::Mlx)
        return layoutOf(choice.id, architecture);
    static constexpr std::pair<std::string_view, std::string_view> same[] = {
        {"int8", "mlx-8bit"}, {"int4", "mlx-4bit"}, {"mxfp4", "mlx-mxfp4"}, {"nvfp4", "mlx-nvfp4"}};
    for (const auto &[id, mlx] : same) {
        if (id == choice.id)
            return layoutOf(mlx, architecture);
    }
    return std::nullopt;
}

void setDtype(TensorGroup &group, const std::string &dtype)
{
    group.dtype = dtype;
    group.bytes = saturatingMultiply(group.parameters, dtype == "F32" ? 4 : 2);
}

/// Builds one derived checkpoint.
class Derivation
{
public:
    Derivation(const Checkpoint &source, const QuantRecipe &recipe, Checkpoint plain)
        : m_source(source)
        , m_recipe(recipe)
        , m_plain(std::move(plain))
    {}

    Result<Checkpoint> make();

private:
    std::optional<Error> readRecipe();
    void copyTiedHead();
    void addGguf(Checkpoint &derived) const;
    void addOthers(Checkpoint &derived) const;
    std::vector<TensorGroup> draftAsItIs() const;
    void add(TensorGroup group, const LinearScheme &scheme, bool wanted, Checkpoint &derived) const;
    void describe(Checkpoint &derived) const;
    bool becomesGguf() const { return m_format == Format::Gguf && m_source.format != Format::Gguf; }
    /// In a GGUF file a draft head is there if it is asked for.
    bool keepsDraft() const
    {
        if (becomesGguf())
            return m_recipe.overrides.contains(Component::Mtp);
        return m_format == Format::Safetensors || m_source.format == m_format;
    }

    const Checkpoint &m_source;
    const QuantRecipe &m_recipe;
    Checkpoint m_plain;
    std::optional<QuantChoice> m_whole; ///< empty: components that are not overridden stay as they are
    Format m_format = Format::Safetensors;
    std::map<Component, LinearScheme> m_layouts;
    std::map<Component, std::string_view> m_types;
    std::string m_draftMix; ///< "mtp=Q4_K_M" in a GGUF file
    bool m_headCopied = false;
};

std::optional<Error> Derivation::readRecipe()
{
    m_format = m_source.format == Format::Unknown ? Format::Safetensors : m_source.format;
    if (!m_recipe.label.empty()) {
        const auto whole = quantChoice(m_recipe.label);
        if (!whole)
            return fail("quant.unknown-scheme", ErrorKind::Usage, printable(m_recipe.label, 80),
                        {{"known", std::string()}})
                .error();
        if (!isAlready(m_source, *whole)) {
            m_whole = whole;
            m_format = formatOf(*whole, m_source);
        }
    }
    copyTiedHead();
    for (const auto &[component, scheme] : m_recipe.overrides) {
        const std::string id(componentId(component));
        const auto choice = quantChoice(scheme);
        const bool dropped =
            becomesGguf() && (component == Component::Vision || component == Component::Audio);
        const bool draftless = component == Component::Mtp && !keepsDraft();
        const bool present =
            std::any_of(m_plain.groups.begin(), m_plain.groups.end(),
                        [component](const auto &group) { return group.component == component; });
        if (!present || dropped || draftless)
            return fail("quant.component-absent", ErrorKind::Usage, id).error();
        if (component == Component::Mtp && becomesGguf() && !knowsGgufDraft(m_plain)) {
            const std::string architecture = printable(m_source.spec.architecture, 80);
            return fail("quant.draft-unknown", ErrorKind::Usage,
                        architecture.empty() ? "this architecture" : architecture)
                .error();
        }
        const auto fits = [&] {
            if (!choice)
                return false;
            if (m_format == Format::Gguf) {
                m_types[component] = ggufTypeOf(*choice);
                if (component == Component::Mtp && choice->kind == QuantKind::Gguf)
                    m_draftMix = choice->id;
                return !m_types[component].empty();
            }
            const auto layout = overrideLayout(*choice, m_format, m_source.spec.architecture);
            if (layout)
                m_layouts[component] = *layout;
            return layout.has_value();
        };
        if (!fits()) {
            return fail("quant.component-scheme", ErrorKind::Usage, printable(scheme, 80),
                        {{"component", id}, {"format", std::string(formatId(m_format))}})
                .error();
        }
        const bool matrices =
            std::any_of(m_plain.groups.begin(), m_plain.groups.end(), [&](const TensorGroup &group) {
                return group.component == component
                       && (m_format == Format::Gguf ? !GgufMix::staysFloat(group)
                                                    : isMatrix(group)
                                                          && (m_layouts[component].layout == Layout::Plain
                                                              || canPack(laidOut(m_plain, group, m_format),
                                                                         m_layouts[component])));
            });
        if (!matrices)
            return fail("quant.nothing-to-quantize", ErrorKind::Usage, id, {{"scheme", scheme}}).error();
    }
    return std::nullopt;
}

void Derivation::copyTiedHead()
{
    if (!m_recipe.overrides.contains(Component::LmHead) || m_plain.sum(Component::LmHead) != nullptr)
        return;
    const auto table = std::find_if(m_plain.groups.begin(), m_plain.groups.end(), [](const auto &group) {
        return group.component == Component::EmbedTokens && isMatrix(group);
    });
    if (table == m_plain.groups.end())
        return;
    TensorGroup head = *table;
    head.component = Component::LmHead;
    head.role = Role::Head;
    head.pattern = std::string(m_format == Format::Gguf ? "output" : "lm_head") + ".weight";
    m_plain.groups.push_back(std::move(head));
    m_plain.spec.tiedEmbeddings = false;
    m_headCopied = true;
}

void Derivation::addGguf(Checkpoint &derived) const
{
    // With overrides alone, only what they ask for is taken of the derived tensors.
    const std::string mix = m_whole ? mixOf(*m_whole) : std::string("Q8_0");
    for (TensorGroup &group :
         ggufGroups(m_plain, mix, m_types, {becomesGguf() && keepsDraft(), m_draftMix})) {
        if (m_whole || m_types.contains(group.component))
            derived.groups.push_back(std::move(group));
    }
}

void Derivation::add(TensorGroup group, const LinearScheme &scheme, bool wanted, Checkpoint &derived) const
{
    if (wanted && scheme.layout == Layout::Plain)
        setDtype(group, scheme.scaleDtype);
    if (!wanted || scheme.layout == Layout::Plain) {
        derived.groups.push_back(std::move(group));
        return;
    }
    for (TensorGroup &each : packed(group, scheme))
        derived.groups.push_back(std::move(each));
}

/// The groups of a draft head that the scheme leaves alone as the source stacks them; empty if it is none.
std::vector<TensorGroup> Derivation::draftAsItIs() const
{
    std::vector<TensorGroup> groups;
    if (!m_whole || m_source.format != Format::Safetensors || m_format != Format::Safetensors)
        return groups;
    const bool touched =
        std::any_of(m_plain.groups.begin(), m_plain.groups.end(), [this](const TensorGroup &group) {
            return group.component == Component::Mtp && conventionalLayout(m_whole->id, m_plain, group);
        });
    if (touched || m_layouts.contains(Component::Mtp))
        return groups;
    for (TensorGroup group : m_source.groups) {
        if (group.component != Component::Mtp)
            continue;
        if (group.side || (group.dtype != "BF16" && group.dtype != "F16" && group.dtype != "F32"))
            return {};
        group.file.clear();
        group.listed = true;
        groups.push_back(std::move(group));
    }
    return groups;
}

void Derivation::addOthers(Checkpoint &derived) const
{
    const bool plainDtype = m_whole && (m_whole->kind == QuantKind::Float || m_whole->id == "mlx-bf16");
    LinearScheme plain;
    if (plainDtype)
        plain.scaleDtype = m_whole->kind == QuantKind::Float ? asciiUpper(m_whole->id) : std::string("BF16");
    const std::vector<TensorGroup> draft = plainDtype ? std::vector<TensorGroup>() : draftAsItIs();
    derived.groups.insert(derived.groups.end(), draft.begin(), draft.end());
    // ModelOpt exports the model in one dtype, also what a source keeps in F32 (A_log, norms of DeltaNet layers).
    const bool oneDtype = m_whole && m_whole->id == "nvfp4-mixed";
    for (const TensorGroup &logical : m_plain.groups) {
        if (logical.component == Component::Mtp && !draft.empty())
            continue;
        // rope_freqs and the like are made by the converter to GGUF.
        if ((logical.component == Component::Mtp && !keepsDraft()) || logical.pattern.starts_with("rope_f"))
            continue;
        const auto asked = m_layouts.find(logical.component);
        if (asked == m_layouts.end() && !m_whole)
            continue;
        TensorGroup group = laidOut(m_plain, logical, m_format);
        if (asked != m_layouts.end()) {
            const bool router =
                group.component == Component::Mtp
                && (moduleOf(group).ends_with(".gate") || moduleOf(group).ends_with(".router"));
            // A gate of a few rows is no projection: no publisher quantizes it.
            const bool gate = logical.role == Role::SharedExpertGate;
            add(group, asked->second, isMatrix(logical) && !router && !gate, derived);
        } else if (plainDtype) {
            // Parameters that are F32 on purpose stay so.
            add(group, plain, group.dtype == "BF16" || group.dtype == "F16" || m_plain.spec.dtype == "F32",
                derived);
        } else {
            const auto layout = conventionalLayout(m_whole->id, m_plain, logical);
            if (oneDtype && group.component == Component::LinearAttention && group.dtype == "F32")
                setDtype(group, floatDtype(m_source));
            add(group, layout.value_or(LinearScheme{}), layout.has_value(), derived);
        }
    }
}

void Derivation::describe(Checkpoint &derived) const
{
    std::erase_if(derived.notes, [](const Message &note) {
        return !note.id.starts_with("checkpoint.") && !note.id.starts_with("config.");
    });
    const std::string base = m_whole ? (m_format == Format::Gguf ? mixOf(*m_whole) : std::string(m_whole->id))
                                     : m_source.quantization;
    derived.quantization = recipeLabel(m_recipe, base);
    derived.notes.push_back(
        {"quant.derived",
         Severity::Info,
         {{"quantization", derived.quantization},
          {"from", printable(m_source.quantization.empty() ? "unknown" : m_source.quantization, 80)},
          {"provenance", std::string(provenanceId(m_source.provenance))}},
         {}});
    std::uint64_t leftOut = 0;
    for (const Component component : {Component::Mtp, Component::Vision, Component::Audio}) {
        if (const ComponentSum *before = m_source.sum(component);
            before != nullptr && derived.sum(component) == nullptr)
            leftOut = saturatingAdd(leftOut, before->bytes);
    }
    if (leftOut > 0)
        derived.notes.push_back({"quant.left-out", Severity::Info, {{"bytes", Bytes{leftOut}}}, {}});
    if (m_headCopied)
        derived.notes.push_back({"quant.head-copied", Severity::Info, {}, {}});
}

Result<Checkpoint> Derivation::make()
{
    if (auto error = readRecipe())
        return std::unexpected(std::move(*error));
    Checkpoint derived = m_source;
    derived.format = m_format;
    derived.provenance = Provenance::Config;
    derived.repositoryBytes.reset();
    derived.files.clear();
    derived.companions.clear(); // nobody may have published it
    derived.repository.clear();
    derived.ollama.clear();
    derived.spec.tiedEmbeddings = m_plain.spec.tiedEmbeddings;
    derived.groups.clear();
    if (!m_whole) {
        for (TensorGroup group : m_source.groups) {
            if (m_recipe.overrides.contains(group.component) || group.role == Role::UnseenRemainder)
                continue;
            group.file.clear();
            group.listed = true;
            derived.groups.push_back(std::move(group));
        }
    } else {
        derived.spec.declaredKvDtype.reset();
        if (m_format == Format::Gguf) {
            // llama.cpp keeps the recurrent state and 16-bit caches in its own dtypes.
            derived.spec.dtype = "F16";
            if (!derived.spec.state.empty())
                derived.spec.stateDtype = "F32";
        } else {
            derived.spec.dtype =
                m_whole->kind == QuantKind::Float ? asciiUpper(m_whole->id) : floatDtype(m_source);
        }
        // An Ollama model in another format is no Ollama model.
        if (m_format != Format::Gguf && m_source.format == Format::Gguf) {
            derived.source = Source::Config;
            derived.revision.clear();
            derived.id = derived.name;
        }
    }
    if (m_format == Format::Gguf)
        addGguf(derived);
    else
        addOthers(derived);
    std::stable_sort(derived.groups.begin(), derived.groups.end(),
                     [](const TensorGroup &a, const TensorGroup &b) { return a.component < b.component; });
    finish(derived);
    describe(derived);
    return derived;
}

} // namespace

Result<Checkpoint> requantize(const Checkpoint &source, const QuantRecipe &recipe)
{
    const auto whole = quantChoice(recipe.label);
    if (recipe.overrides.empty() && (recipe.label.empty() || (whole && isAlready(source, *whole))))
        return source;
    Result<Checkpoint> plain = unquantized(source);
    if (!plain)
        return plain;
    return Derivation(source, recipe, *std::move(plain)).make();
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/verdictwords.h"

#include "models/items/text.h"
#include "widgets/wording.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace weir {

namespace {

/// The context of this file's texts for translators.
struct Words
{
    Q_DECLARE_TR_FUNCTIONS(weir::Verdict)
};

QString count(std::uint64_t value) { return toText(formatCount(value)); }

/// "at 4,096 tokens of context", with the band where there is one and the streams where there are several.
QString speedContext(const Assessment &assessment, const DecodeAssessment &decode)
{
    const QString context =
        Words::tr("at %1 tokens of context").arg(count(assessment.workload.contextTokens));
    if (assessment.workload.concurrency > 1)
        return Words::tr("each of %1, %2").arg(count(assessment.workload.concurrency), context);
    if (decode.low && decode.high)
        return Words::tr("%1 – %2 %3")
            .arg(toText(formatSpeed(*decode.low)), toText(formatSpeed(*decode.high)), context);
    return context;
}

/// "6.5 of the 72.4 GB": the unit once, where both have the same.
QString partOfWhole(std::uint64_t part, std::uint64_t whole, ByteUnit unit)
{
    const QString partText = shortBytes(part, unit);
    const QString wholeText = shortBytes(whole, unit);
    const qsizetype space = partText.lastIndexOf(QLatin1Char(' '));
    const bool sameUnit = space >= 0 && wholeText.endsWith(QStringView(partText).mid(space));
    return Words::tr("%1 of the %2").arg(sameUnit ? partText.left(space) : partText, wholeText);
}

QString whyOf(const Assessment &assessment, ByteUnit unit)
{
    const Checkpoint &checkpoint = *assessment.checkpoint;
    const QString amount = partOfWhole(assessment.streamedBytes, assessment.residentBytes, unit);
    if (checkpoint.isMoe())
        return Words::tr("It reads %1 it holds for each token: %2 of %3 experts wake up.")
            .arg(amount, count(checkpoint.spec.expertsPerToken), count(checkpoint.spec.experts));
    return Words::tr("It reads %1 it holds for each token: a dense model wakes all of its layers.")
        .arg(amount);
}

QString longestContext(const Assessment &assessment)
{
    const MemoryAssessment &memory = assessment.memory;
    if (!memory.maxContextTokens)
        return Words::tr("The weights alone do not fit.");
    if (memory.contextLimitedByModel)
        return Words::tr("Longest context %1 (the model's own limit)").arg(count(*memory.maxContextTokens));
    if (*memory.maxContextTokens == 0)
        return Words::tr("No context fits beside the weights");
    return Words::tr("Longest context %1 (then memory is full)").arg(count(*memory.maxContextTokens));
}

QString exactTerms(const Assessment &assessment)
{
    const MemoryAssessment &memory = assessment.memory;
    QStringList lines;
    const auto add = [&lines](const QString &name, std::uint64_t bytes) {
        if (bytes > 0)
            lines << name.arg(toText(formatBytesExactly(bytes)));
    };
    add(Words::tr("Weights: %1"), memory.weightsBytes);
    add(Words::tr("KV cache: %1"), memory.kvBytes);
    add(Words::tr("State: %1"), memory.stateBytes);
    add(Words::tr("Activations: %1"), memory.activationBytes);
    add(Words::tr("Runtime: %1"), memory.runtimeBytes);
    add(Words::tr("Kept free: %1"), memory.reserveBytes);
    add(Words::tr("Needed: %1"), memory.totalBytes);
    add(Words::tr("Visible to the system: %1"), memory.usableBytes);
    return plainToolTip(lines.join(QLatin1Char('\n')));
}

QString sourceLine(const Message &message)
{
    return message.source.empty() ? QString()
                                  : Words::tr("Source: %1").arg(toText(printable(message.source)));
}

/// The whole sentence of a message; its title and source on hover.
Assumption worded(const Message &message, const Wording &wording)
{
    Assumption assumption;
    assumption.severity = message.severity;
    const QString title = wording.title(message);
    const QString detail = wording.detail(message);
    assumption.text = detail.isEmpty() ? title : detail;
    QStringList lines{title, sourceLine(message)};
    lines.removeAll(QString());
    assumption.toolTip = plainToolTip(lines.join(QLatin1Char('\n')));
    return assumption;
}

QString speedBasis(const DecodeAssessment &decode)
{
    const int rows = static_cast<int>(decode.basisRows);
    switch (decode.basis) {
    case SpeedBasis::Own: return Words::tr("Speed: fitted on %n of your own measurements", nullptr, rows);
    case SpeedBasis::Fitted: return Words::tr("Speed: fitted on %n rows of this machine", nullptr, rows);
    case SpeedBasis::Class:
        return rows > 0 ? Words::tr("Speed: fitted on %n rows of machines of this kind", nullptr, rows)
                        : Words::tr("Speed: typical of machines of this kind");
    case SpeedBasis::Default: break;
    }
    return Words::tr("Speed: a general default, no measurement stands behind it");
}

QString provenance(const Checkpoint &checkpoint)
{
    switch (checkpoint.provenance) {
    case Provenance::Headers: return Words::tr("Bytes: read from the headers of its files");
    case Provenance::Config: return Words::tr("Bytes: derived from its config");
    case Provenance::Reconstructed: return Words::tr("Bytes: reconstructed from published totals");
    case Provenance::Index: return Words::tr("Bytes: names from the index, shapes from its config");
    }
    return {};
}

/// What nobody has read from a file is marked where it is read first.
QString derivedMark(const Checkpoint &checkpoint)
{
    const bool imagined = std::ranges::any_of(
        checkpoint.notes, [](const Message &note) { return note.id.starts_with("quant."); });
    if (imagined)
        return Words::tr("imagined at %1").arg(quantizationText(checkpoint.quantization));
    return checkpoint.source == Source::Config ? Words::tr("derived from its config") : QString();
}

} // namespace

Verdict verdictOf(const Assessment &assessment, ByteUnit unit, const Wording &wording)
{
    const MemoryAssessment &memory = assessment.memory;
    Verdict verdict;
    verdict.fit = fitOf(assessment);
    verdict.badge = fitText(verdict.fit);
    verdict.toolTip = exactTerms(assessment);

    if (verdict.fit == Fit::CannotLoad) {
        verdict.headline = Words::tr("Cannot load");
        verdict.badge = Words::tr("No");
        verdict.underHeadline = toText(assessment.engineName);
        verdict.why = wording.detail(assessment.load.reason);
        if (verdict.why.isEmpty())
            verdict.why = wording.title(assessment.load.reason);
        verdict.detail = Words::tr("Choose another engine above, or another machine.");
        return verdict;
    }
    if (verdict.fit == Fit::TooBig) {
        const auto missing = static_cast<std::uint64_t>(-memory.marginBytes);
        verdict.headline = Words::tr("%1 short").arg(shortBytes(missing, unit));
        verdict.underHeadline =
            Words::tr("at %1 tokens of context").arg(count(assessment.workload.contextTokens));
        verdict.why =
            memory.reserveBytes > 0
                ? Words::tr("It needs %1, %2 of that kept free, and the machine shows %3.")
                      .arg(shortBytes(memory.totalBytes, unit), shortBytes(memory.reserveBytes, unit),
                           shortBytes(memory.usableBytes, unit))
                : Words::tr("It needs %1 and the machine shows %2.")
                      .arg(shortBytes(memory.totalBytes, unit), shortBytes(memory.usableBytes, unit));
        verdict.detail = longestContext(assessment);
        if (const QString mark = derivedMark(*assessment.checkpoint); !mark.isEmpty())
            verdict.detail += QStringLiteral(" · ") + mark;
        return verdict;
    }

    if (assessment.decode) {
        const DecodeAssessment &decode = *assessment.decode;
        verdict.headline = speedText(decode.tokensPerSecond);
        verdict.underHeadline = speedContext(assessment, decode);
        verdict.why = whyOf(assessment, unit);
    } else {
        verdict.headline = Words::tr("Speed unknown");
        verdict.underHeadline = Words::tr("no bandwidth is published");
        verdict.why = whyOf(assessment, unit);
    }
    QStringList detail{
        longestContext(assessment),
        Words::tr("%1 to spare").arg(shortBytes(static_cast<std::uint64_t>(memory.marginBytes), unit))};
    if (assessment.decode && assessment.workload.concurrency > 1)
        detail.prepend(Words::tr("%1 tok/s together")
                           .arg(toText(formatSpeed(assessment.decode->aggregateTokensPerSecond))));
    if (const QString mark = derivedMark(*assessment.checkpoint); !mark.isEmpty())
        detail << mark;
    verdict.detail = detail.join(QStringLiteral(" · "));
    return verdict;
}

Verdict emptyVerdict(bool catalogIsEmpty)
{
    Verdict verdict;
    verdict.headline = Words::tr("Nothing chosen");
    verdict.why =
        catalogIsEmpty
            ? Words::tr("Drop a model folder or a .gguf file here, or type its path in the field above.")
            : Words::tr("Choose a checkpoint on the left, drop a model folder or a .gguf file here, or type "
                        "a path above.");
    return verdict;
}

std::vector<Assumption> assumptionsOf(const Assessment &assessment, const Engine *engine, ByteUnit unit,
                                      const Wording &wording)
{
    const Checkpoint &checkpoint = *assessment.checkpoint;
    std::vector<const Message *> rest;
    for (const Message &message : assessment.warnings)
        rest.push_back(&message);
    // A line of this panel takes the place of the message about the same thing, and its words as tooltip.
    const auto take = [&rest, &wording](std::string_view prefix) {
        QStringList lines;
        std::erase_if(rest, [&](const Message *message) {
            if (message->severity != Severity::Info || !message->id.starts_with(prefix))
                return false;
            lines << wording.detail(*message) << sourceLine(*message);
            return true;
        });
        lines.removeAll(QString());
        return lines;
    };

    std::vector<Assumption> basis;
    const auto say = [&basis](const QString &text, const QStringList &lines) {
        basis.push_back({Severity::Info, text,
                         lines.isEmpty() ? QString() : plainToolTip(lines.join(QLatin1Char('\n')))});
    };
    QStringList speedLines = take("speed.basis");
    if (assessment.decode) {
        const SpeedConstants *constants = engine != nullptr ? engine->speedFor(assessment.machine) : nullptr;
        if (constants != nullptr && !constants->source.empty())
            speedLines << toText(printable(constants->source, 600));
        say(speedBasis(*assessment.decode), speedLines);
        if (!assessment.decode->low)
            say(Words::tr("No band: too few measurements to say how far off it may be"), {});
    }
    const QStringList routingLines = take("routing.");
    if (checkpoint.isMoe()) {
        say(assessment.workload.concurrency > 1
                ? Words::tr("Routing: uniform, each request wakes its own experts")
                : Words::tr("Routing: uniform"),
            routingLines);
    }
    const QStringList draftLines = take("draft.");
    if (const ComponentSum *head = checkpoint.sum(Component::Mtp)) {
        const QString bytes = toText(formatBytes(head->bytes, unit));
        say(engine != nullptr && engine->loadsIdleDraftHead
                ? Words::tr("MTP head: %1 loaded, idle").arg(bytes)
                : Words::tr("MTP head: %1 on disk, not loaded").arg(bytes),
            draftLines);
    }
    const QStringList provenanceLines = take("provenance.");
    const bool warned = std::ranges::any_of(
        rest, [](const Message *message) { return message->id.starts_with("provenance."); });
    if (!warned)
        say(provenance(checkpoint), provenanceLines);
    const QStringList budgetLines = take("memory.budget");
    if (assessment.memory.budgetBytes)
        say(Words::tr("%1 takes a budget of %2 and will show all of it as used")
                .arg(toText(assessment.engineName), shortBytes(*assessment.memory.budgetBytes, unit)),
            budgetLines);

    std::vector<Assumption> assumptions;
    for (const Severity severity : {Severity::Error, Severity::Warning}) {
        for (const Message *message : rest) {
            if (message->severity == severity)
                assumptions.push_back(worded(*message, wording));
        }
    }
    assumptions.insert(assumptions.end(), basis.begin(), basis.end());
    for (const Message *message : rest) {
        if (message->severity == Severity::Info)
            assumptions.push_back(worded(*message, wording));
    }
    return assumptions;
}

QString reserveRule(const Machine &machine)
{
    return machine.memoryKind == MemoryKind::Discrete ? Words::tr("1 GB on a discrete card")
                                                      : Words::tr("15 % of visible memory");
}

QString checkpointTitle(const Checkpoint &checkpoint)
{
    const QString name = toText(printable(checkpoint.name.empty() ? checkpoint.id : checkpoint.name));
    const QString quantization = quantizationText(printable(checkpoint.quantization));
    return quantization.isEmpty() ? name : QString(name % QLatin1Char(' ') % quantization);
}

} // namespace weir

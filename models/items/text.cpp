// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/items/text.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>
#include <QStringList>

#include <array>
#include <utility>

namespace weir {

QString toText(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString shortBytes(quint64 bytes, ByteUnit unit)
{
    const double giga = unit == ByteUnit::Gigabytes ? 1e9 : 1073741824.0;
    const double value = static_cast<double>(bytes) / giga;
    if (value < 0.095)
        return toText(formatBytes(bytes, unit));
    return QStringLiteral("%1 %2").arg(QLocale::c().toString(value, 'f', 1), unit == ByteUnit::Gigabytes
                                                                                 ? QStringLiteral("GB")
                                                                                 : QStringLiteral("GiB"));
}

QString speedText(double tokensPerSecond)
{
    //: A speed: tokens per second
    return QCoreApplication::translate("weir::text", "%1 tok/s").arg(toText(formatSpeed(tokensPerSecond)));
}

QString shortModelName(const QString &name)
{
    constexpr qsizetype comfortable = 14;
    QString text = name;
    for (const auto *tuning : {"-GGUF", "-Instruct", "-it", "-Chat", "-Thinking"}) {
        if (text.endsWith(QLatin1String(tuning), Qt::CaseInsensitive))
            text.chop(QLatin1String(tuning).size());
    }
    if (text.size() <= comfortable)
        return text;
    // The family goes where the size behind it says enough.
    static const QRegularExpression familyBeforeSize(QStringLiteral("^[^-]+-(?=\\d+(\\.\\d+)?B-)"));
    return text.remove(familyBeforeSize);
}

QString modelFamily(const QString &name)
{
    QString text = name.section(QLatin1Char('/'), -1).toLower();
    static const QRegularExpression publisher(QStringLiteral("^(nvidia-|meta-(?=llama))"));
    text.remove(publisher);
    // From the end: what a quantizer or a converter adds to the name of the model.
    static const QRegularExpression addition(QStringLiteral(
        "[-_.](gguf|mlx|awq|gptq|autoround|auto-round|bnb|hf|dwq|exl[23]|quantized|dynamic|static|per-?"
        "tensor|"
        "block|int[348]|[234568]-?bits?|w[48]a(16|8|4)|bf16|f16|fp16|f32|fp8|fp4|nvfp4|mxfp[48]|nf4|"
        "g(32|64|128)|i1|ud|mtp|i?q\\d(_[a-z0-9]+)*)$"));
    for (QRegularExpressionMatch match = addition.match(text); match.hasMatch() && match.capturedStart() > 0;
         match = addition.match(text))
        text.truncate(match.capturedStart());
    return text;
}

QString plainToolTip(const QString &lines)
{
    return QStringLiteral("<p style='white-space:pre-wrap'>%1</p>").arg(lines.toHtmlEscaped());
}

QString quantizationText(std::string_view id)
{
    static const std::array<std::pair<QLatin1String, QLatin1String>, 16> names{{
        {QLatin1String("autoround"), QLatin1String("AutoRound")},
        {QLatin1String("gptq"), QLatin1String("GPTQ")},
        {QLatin1String("awq"), QLatin1String("AWQ")},
        {QLatin1String("bf16"), QLatin1String("BF16")},
        {QLatin1String("f16"), QLatin1String("F16")},
        {QLatin1String("f32"), QLatin1String("F32")},
        {QLatin1String("fp8"), QLatin1String("FP8")},
        {QLatin1String("fp4"), QLatin1String("FP4")},
        {QLatin1String("mxfp4"), QLatin1String("MXFP4")},
        {QLatin1String("mxfp8"), QLatin1String("MXFP8")},
        {QLatin1String("nvfp4"), QLatin1String("NVFP4")},
        {QLatin1String("nf4"), QLatin1String("NF4")},
        {QLatin1String("bnb"), QLatin1String("bitsandbytes")},
        {QLatin1String("mlx"), QLatin1String("MLX")},
        {QLatin1String("ct"), QLatin1String("compressed-tensors")},
        {QLatin1String("gguf"), QLatin1String("GGUF")},
    }};
    QStringList words = toText(id).split(QLatin1Char('-'), Qt::SkipEmptyParts);
    for (QString &word : words) {
        for (const auto &[plain, shown] : names) {
            if (word == plain)
                word = shown;
        }
    }
    return words.join(QLatin1Char(' '));
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/checkpoint/quantlabel.h"

#include "models/base/ascii.h"
#include "models/base/saturating.h"
#include "models/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace weir {

namespace {

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

bool isPlainDtype(std::string_view dtype)
{
    return dtype == "BF16" || dtype == "F16" || dtype == "F32" || dtype == "F64";
}

/// The matrices that a quantizer is for: not the tables, which most leave alone.
bool isDecoderMatrix(const TensorGroup &group)
{
    if (group.side || group.shape.size() < 2)
        return false;
    switch (group.component) {
    case Component::RoutedExperts:
    case Component::SharedExpert:
    case Component::DenseMlp:
    case Component::Attention:
    case Component::LinearAttention: return true;
    default: return false;
    }
}

/// How much of the decoder's matrices is stored as plain floats.
struct PlainShare
{
    std::uint64_t plainBytes = 0;
    std::uint64_t plainParameters = 0;
    std::uint64_t parameters = 0;
    std::map<Component, std::uint64_t> plainByComponent;
    std::map<std::string, std::uint64_t> bytesByDtype; ///< of the plain ones

    /// The component with most of it.
    Component most() const
    {
        const auto found = std::max_element(plainByComponent.begin(), plainByComponent.end(),
                                            [](const auto &a, const auto &b) { return a.second < b.second; });
        return found == plainByComponent.end() ? Component::Other : found->first;
    }
    std::string dtype() const
    {
        const auto found = std::max_element(bytesByDtype.begin(), bytesByDtype.end(),
                                            [](const auto &a, const auto &b) { return a.second < b.second; });
        return found == bytesByDtype.end() ? std::string("BF16") : found->first;
    }
    bool isAll() const { return parameters > 0 && plainParameters == parameters; }
    bool isHalf() const { return parameters > 0 && plainParameters >= parameters - plainParameters; }
};

PlainShare plainShare(const Checkpoint &checkpoint)
{
    PlainShare share;
    for (const TensorGroup &group : checkpoint.groups) {
        if (!isDecoderMatrix(group))
            continue;
        // What the layout does not tell is quantized, and as many parameters as bytes at least.
        const std::uint64_t parameters =
            group.parameters > 0 ? group.parameters : saturatingMultiply(group.bytes, 2);
        share.parameters = saturatingAdd(share.parameters, parameters);
        if (!isPlainDtype(group.dtype))
            continue;
        share.plainParameters = saturatingAdd(share.plainParameters, parameters);
        share.plainBytes = saturatingAdd(share.plainBytes, group.bytes);
        std::uint64_t &part = share.plainByComponent[group.component];
        part = saturatingAdd(part, group.bytes);
        std::uint64_t &bytes = share.bytesByDtype[group.dtype];
        bytes = saturatingAdd(bytes, group.bytes);
    }
    return share;
}

/// Bytes of the decoder by dtype: tell more than the label.
std::map<std::string, std::uint64_t> bytesByDtype(const Checkpoint &checkpoint)
{
    std::map<std::string, std::uint64_t> bytes;
    for (const ComponentSum &sum : checkpoint.sums) {
        if (sum.component == Component::Vision || sum.component == Component::Audio
            || sum.component == Component::Mtp)
            continue;
        for (const auto &[dtype, size] : sum.bytesByDtype)
            bytes[dtype] += size;
    }
    return bytes;
}

/// The dtype that holds most of them.
std::string mostUsedDtype(const Checkpoint &checkpoint)
{
    std::map<std::string, std::uint64_t> bytes = bytesByDtype(checkpoint);
    std::string most = "BF16";
    for (const auto &[dtype, size] : bytes) {
        if (size > bytes[most])
            most = dtype;
    }
    return most;
}

/// What the tensors are called where no config says it.
std::string_view methodOfNames(const Checkpoint &checkpoint)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> endings{{
        {".trellis", "exl3"},
        {".q_weight", "exl2"},
        {".g_idx", "gptq"},
        {".qweight", "awq"},
        {".W_q", "hqq"},
        {".codebooks", "aqlm"},
        {"_blocks", "mxfp4"},
        {".weight.absmax", "bitsandbytes"},
    }};
    for (const auto &[ending, method] : endings) {
        for (const TensorGroup &group : checkpoint.groups) {
            if (group.pattern.ends_with(ending))
                return method;
        }
    }
    return {};
}

std::string modelOptLabel(std::string_view format, const Checkpoint &checkpoint, const std::string &width)
{
    const std::string most = mostUsedDtype(checkpoint);
    const std::string lower = asciiLower(format);
    if (contains(lower, "mixed"))
        return bytesByDtype(checkpoint).contains("U8") ? "nvfp4-mixed" : "mixed";
    if (contains(lower, "nvfp4"))
        return "nvfp4";
    if (contains(lower, "mxfp4"))
        return "mxfp4";
    if (contains(lower, "mxfp8"))
        return "mxfp8";
    if (contains(lower, "marlin-24"))
        return "int" + width + "-24";
    if (contains(lower, "pack-quantized"))
        return "int" + width;
    if (contains(lower, "int-quantized") || lower == "int8_sq" || lower.starts_with("w8a8"))
        return "int8";
    if (contains(lower, "awq"))
        return lower; // w4a16_awq, w4a8_awq
    if (most.starts_with("F8_"))
        return "fp8";
    if (most == "I8")
        return "int8";
    return {};
}

/// The label of what is declared; empty if only the dtypes tell.
/// Bits that one weight of a packed group takes, its scales aside.
unsigned bitsOf(const TensorGroup &group)
{
    const double bits = static_cast<double>(group.bytes) * 8 / static_cast<double>(group.parameters);
    return static_cast<unsigned>(std::min(bits, 64.0) + 0.5);
}

/// Bits of a weight in the packed words that most of the model is in; empty where there are none, or some are as
/// declared: then the rest are exceptions.
std::optional<unsigned> storedBits(const Checkpoint &checkpoint, unsigned declared)
{
    const TensorGroup *largest = nullptr;
    for (const TensorGroup &group : checkpoint.groups) {
        if (!group.pattern.ends_with(".qweight") || group.parameters == 0)
            continue;
        if (bitsOf(group) == declared)
            return std::nullopt;
        if (largest == nullptr || group.bytes > largest->bytes)
            largest = &group;
    }
    if (largest == nullptr)
        return std::nullopt;
    const unsigned bits = bitsOf(*largest);
    return bits >= 1 && bits <= 8 ? std::optional(bits) : std::nullopt;
}

std::string declaredLabel(const QuantizationConfig &declared, const Checkpoint &checkpoint)
{
    const std::string most = mostUsedDtype(checkpoint);
    const unsigned usual = declared.bits == 0 ? 4 : declared.bits;
    const unsigned bits = storedBits(checkpoint, usual).value_or(usual);
    const std::string width = std::to_string(bits);
    std::string method = asciiLower(declared.method);
    std::replace(method.begin(), method.end(), '_', '-');
    if (method.empty())
        method = methodOfNames(checkpoint);
    if (method.starts_with("gptq"))
        return bits == 4 ? "gptq" : "gptq-int" + width;
    if (method == "auto-round" || method == "intel/auto-round") {
        const std::string type = asciiLower(declared.format);
        if (contains(type, "nv_fp") || contains(type, "nvfp"))
            return "nvfp4";
        if (contains(type, "mx_fp") || contains(type, "mxfp"))
            return bits == 8 ? "mxfp8" : "mxfp4";
        if (most.starts_with("F8_"))
            return "fp8";
        return bits == 4 ? "autoround" : "autoround-int" + width;
    }
    if (method == "awq")
        return "awq";
    if (method == "mlx") {
        const std::string mode = asciiLower(declared.format);
        return mode.empty() || mode == "affine" ? "mlx-" + width + "bit" : "mlx-" + mode;
    }
    if (method == "mxfp4")
        return "mxfp4";
    if (contains(method, "fp8")) { // DeepSeek V4 keeps its experts as pairs of FP4 in bytes
        const auto bytes = bytesByDtype(checkpoint);
        return bytes.contains("I8") && bytes.contains("F8_E8M0") ? "fp8-fp4" : "fp8";
    }
    if (method == "bitsandbytes")
        return declared.fourBitBitsandbytes || most == "U8" ? "bnb-4bit" : "bnb-int8";
    if (method.starts_with("modelopt") || method == "compressed-tensors")
        return modelOptLabel(declared.format, checkpoint, width);
    if (method == "quark") {
        return most.starts_with("F8_") ? "quark-fp8"
               : most == "U8"          ? "quark-mxfp4"
               : most == "I8"          ? "quark-int8"
                                       : "quark-int" + width;
    }
    static constexpr std::array<std::string_view, 12> own{"hqq",    "torchao", "exl2",   "exl3",
                                                          "aqlm",   "vptq",    "higgs",  "spqr",
                                                          "bitnet", "eetq",    "quanto", "fp-quant"};
    return std::find(own.begin(), own.end(), method) == own.end() ? std::string() : method;
}

std::string plainLabel(std::string_view dtype)
{
    return dtype == "F16" ? "f16" : dtype == "F32" ? "f32" : "bf16";
}

/// "4-bit", "fp8", "awq" ... in a name, with the bits it stands for.
struct Claim
{
    std::string text;
    unsigned bits = 0;
};

std::optional<Claim> claimOfName(std::string_view name)
{
    static constexpr auto known = std::to_array<std::pair<std::string_view, unsigned>>(
        {{"awq", 4},  {"gptq", 4}, {"nvfp4", 4}, {"mxfp4", 4}, {"int4", 4}, {"w4a16", 4}, {"4bit", 4},
         {"bnb", 4},  {"fp8", 8},  {"int8", 8},  {"8bit", 8},  {"w8a8", 8}, {"w8a16", 8}, {"mxfp8", 8},
         {"exl2", 4}, {"exl3", 4}, {"hqq", 4},   {"3bit", 3},  {"6bit", 6}, {"5bit", 5},  {"2bit", 2},
         {"w4a8", 4}, {"fp4", 4},  {"nf4", 4},   {"int3", 3},  {"int2", 2}, {"aqlm", 2},  {"autoround", 4}});
    const std::string lower = asciiLower(name);
    std::vector<std::string> words;
    std::string word;
    for (const char c : lower) {
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            word += c;
        else if (!word.empty())
            words.push_back(std::exchange(word, {}));
    }
    if (!word.empty())
        words.push_back(word);
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string each = words[i];
        if (each.size() == 1 && i + 1 < words.size() && words[i + 1] == "bit")
            each += "bit";
        for (const auto &[text, bits] : known) {
            if (each == text)
                return Claim{each, bits};
        }
        // "Q4_K_M", "IQ2_XS", "TQ1_0"
        const std::size_t letter = each.find('q');
        if (letter != std::string::npos && letter + 2 == each.size() && each[letter + 1] >= '1'
            && each[letter + 1] <= '8'
            && (letter == 0 || each == "iq" + each.substr(2) || each == "tq" + each.substr(2)))
            return Claim{each, static_cast<unsigned>(each[letter + 1] - '0')};
    }
    return std::nullopt;
}

/// Bits that a weight of the decoder's matrices takes, scales of their own tensors aside; 0 where that cannot be told.
double decoderBits(const Checkpoint &checkpoint)
{
    double bytes = 0;
    double parameters = 0;
    for (const TensorGroup &group : checkpoint.groups) {
        if (!isDecoderMatrix(group))
            continue;
        if (group.parameters == 0)
            return 0;
        bytes += static_cast<double>(group.bytes);
        parameters += static_cast<double>(group.parameters);
    }
    return parameters > 0 ? bytes * 8 / parameters : 0;
}

void noteContradiction(Checkpoint &checkpoint, const PlainShare &share, std::string id,
                       const std::string &claim, unsigned bits)
{
    const Component most = share.most();
    const std::uint64_t whole = std::max<std::uint64_t>(1, checkpoint.weightBytes());
    const double percent = static_cast<double>(share.plainBytes) * 100 / static_cast<double>(whole);
    Message note{std::move(id), Severity::Warning, {}, {}};
    note.arguments.emplace_back("claim", claim);
    note.arguments.emplace_back("bits", std::uint64_t{bits});
    note.arguments.emplace_back("component", std::string(componentId(most)));
    note.arguments.emplace_back("dtype", share.dtype());
    note.arguments.emplace_back("bytes", Bytes{share.plainBytes});
    note.arguments.emplace_back("weights", Bytes{checkpoint.weightBytes()});
    note.arguments.emplace_back("percent", static_cast<std::uint64_t>(percent + 0.5));
    checkpoint.notes.push_back(std::move(note));
}

unsigned declaredBits(const QuantizationConfig &declared, std::string_view label)
{
    if (declared.bits != 0)
        return declared.bits;
    for (const std::string_view eight : {"fp8", "int8", "mxfp8"}) {
        if (contains(label, eight))
            return 8;
    }
    return contains(declared.method, "fp8") || contains(asciiLower(declared.format), "fp8")
                   || declared.method == "eetq"
               ? 8
               : 4;
}

} // namespace

std::string safetensorsQuantization(const ModelConfig &config, const Checkpoint &checkpoint)
{
    const PlainShare share = plainShare(checkpoint);
    const std::string most = mostUsedDtype(checkpoint);
    if (share.isAll() && !config.quantization.method.empty())
        return plainLabel(share.dtype()); // whatever is declared
    if (std::string label = declaredLabel(config.quantization, checkpoint); !label.empty()) {
        const bool mixed = share.isHalf() && !label.ends_with("mixed");
        return mixed ? label + "-mixed" : label;
    }
    if (most.starts_with("F8_"))
        return "fp8";
    if (isPlainDtype(most) && most != "F64")
        return plainLabel(most);
    return config.quantization.method.empty() ? "unknown" : asciiLower(config.quantization.method);
}

void noteContradictedQuantization(const ModelConfig &config, Checkpoint &checkpoint)
{
    if (config.quantization.method.empty())
        return;
    const PlainShare share = plainShare(checkpoint);
    if (!share.isHalf())
        return;
    const std::string label = declaredLabel(config.quantization, checkpoint);
    noteContradiction(checkpoint, share, "checkpoint.quantization-contradicted",
                      printable(config.quantization.method, 40), declaredBits(config.quantization, label));
}

void noteContradictedName(std::string_view name, Checkpoint &checkpoint)
{
    if (checkpoint.provenance != Provenance::Headers)
        return;
    const bool said = std::any_of(checkpoint.notes.begin(), checkpoint.notes.end(), [](const Message &note) {
        return note.id == "checkpoint.quantization-contradicted" || note.id == "checkpoint.name-contradicted"
               || note.id == "checkpoint.name-understated";
    });
    const auto claim = claimOfName(name.substr(0, 200));
    const PlainShare share = plainShare(checkpoint);
    if (said || !claim)
        return;
    if (share.isHalf()) {
        noteContradiction(checkpoint, share, "checkpoint.name-contradicted", claim->text, claim->bits);
        return;
    }
    // A method promises no width ("GPTQ-Int8"), and mixes take up to half as much again as their name says.
    static constexpr auto methods =
        std::to_array<std::string_view>({"awq", "gptq", "bnb", "exl2", "exl3", "hqq", "aqlm", "autoround"});
    const double bits = decoderBits(checkpoint);
    if (std::ranges::find(methods, claim->text) != methods.end() || claim->bits < 2
        || bits < 2.0 * claim->bits)
        return;
    Message note{"checkpoint.name-understated", Severity::Warning, {}, {}};
    note.arguments.emplace_back("claim", claim->text);
    note.arguments.emplace_back("bits", std::uint64_t{claim->bits});
    note.arguments.emplace_back("stored", fmt::format("{:.1f}", bits));
    checkpoint.notes.push_back(std::move(note));
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is derived instead of read (lone configs, pickle files), and what is no decoder at all.
#include "tests/unit/formatkinds.h"

using nlohmann::json;

namespace weir::test {

namespace {

namespace fs = std::filesystem;

/// Parameters of writeTinyModel().
constexpr std::uint64_t parameters = tinyWeightBytes / 2;

json indexOf(const std::vector<std::pair<SafetensorsBuilder, std::string>> &shards)
{
    json map;
    for (const auto &[builder, file] : shards) {
        const json header = json::parse(builder.header());
        for (const auto &[name, entry] : header.items())
            map[name] = file;
    }
    return {{"metadata", {{"total_size", tinyWeightBytes}}}, {"weight_map", map}};
}

SafetensorsBuilder tinyTables()
{
    SafetensorsBuilder builder;
    builder.add("model.embed_tokens.weight", "BF16", {256, 64})
        .add("lm_head.weight", "BF16", {256, 64})
        .add("model.norm.weight", "BF16", {64});
    return builder;
}

/// Two pickle shards and their index; `extra` bytes are archive.
void writePickles(const fs::path &folder, std::uint64_t bytes, std::uint64_t extra)
{
    writeFile(folder / "config.json", tinyConfig().dump());
    writeSparse(folder / "pytorch_model-00001-of-00002.bin", "PK", bytes / 2);
    writeSparse(folder / "pytorch_model-00002-of-00002.bin", "PK", bytes - bytes / 2 + extra);
    writeFile(folder / "pytorch_model.bin.index.json",
              indexOf({{tinyTables(), "pytorch_model-00001-of-00002.bin"},
                       {tinyLayer(0), "pytorch_model-00001-of-00002.bin"},
                       {tinyLayer(1), "pytorch_model-00002-of-00002.bin"}})
                  .dump());
}

FormatKind derived(const std::string &id, std::uint64_t bytes, std::vector<std::string> notes,
                   std::function<void(const fs::path &)> make)
{
    FormatKind out;
    out.id = id;
    out.provenance = "config";
    out.label = "bf16";
    out.parameters = parameters;
    out.bytes = bytes;
    out.notes = std::move(notes);
    out.make = std::move(make);
    return out;
}

void addDerived(std::vector<FormatKind> &out)
{
    out.push_back(derived("config", tinyWeightBytes, {}, [](const fs::path &folder) {
        writeFile(folder / "config.json", tinyConfig().dump());
    }));
    out.push_back(derived("config-file", tinyWeightBytes, {}, [](const fs::path &folder) {
        writeFile(folder / "some-model.json", tinyConfig().dump());
    }));
    out.back().path = "some-model.json";
    out.push_back(derived("config-and-index", tinyWeightBytes, {}, [](const fs::path &folder) {
        writeTinyModel(folder);
        for (const char *number : {"1", "2", "3"})
            fs::remove(folder / ("model-0000" + std::string(number) + "-of-00003.safetensors"));
    }));
    out.back().provenance = "index";
    json quantized = tinyConfig();
    quantized["quantization_config"] = {{"quant_method", "fp8"}, {"activation_scheme", "dynamic"}};
    // 14 matrices of one byte an element with a scale of each, and the tables in BF16.
    out.push_back(derived("config-quantized", 0, {}, [quantized](const fs::path &folder) {
        writeFile(folder / "config.json", quantized.dump());
    }));
    out.back().label = "fp8";
    constexpr std::uint64_t matrices = 2 * (2 * 64 * 64 + 2 * 32 * 64 + 3 * 128 * 64);
    out.back().bytes = tinyWeightBytes - matrices + 14 * 4;
    out.back().resident = {{"embed_tokens", 256 * 64 * 2}, {"lm_head", 256 * 64 * 2}};

    const auto pickle = [&out](FormatKind kind) {
        kind.format = "pickle";
        out.push_back(std::move(kind));
    };
    pickle(derived("pickle", tinyWeightBytes + 5000, {"pickle.not-opened"}, [](const fs::path &folder) {
        writeFile(folder / "config.json", tinyConfig().dump());
        writeSparse(folder / "pytorch_model.bin", "PK", tinyWeightBytes + 5000);
        writeFile(folder / "training_args.bin", "x");
        writeFile(folder / "optimizer.pt", "x");
    }));
    out.back().resident = {{"other", 5000}, {"embed_tokens", 256 * 64 * 2}};
    out.back().streamed = {{"other", 0}, {"embed_tokens", 0}};
    pickle(derived("pickle-index", tinyWeightBytes + 5000, {"pickle.not-opened"},
                   [](const fs::path &folder) { writePickles(folder, tinyWeightBytes, 5000); }));
    out.back().provenance = "index";
    pickle(derived("pickle-dtype", 2 * tinyWeightBytes + 5000, {"pickle.dtype", "pickle.not-opened"},
                   [](const fs::path &folder) { writePickles(folder, 2 * tinyWeightBytes, 5000); }));
    out.back().provenance = "index";
    out.back().label = "f32";
    pickle(derived("pickle-size-differs", 3 * tinyWeightBytes, {"pickle.not-opened", "pickle.size-differs"},
                   [](const fs::path &folder) {
                       writeFile(folder / "config.json", tinyConfig().dump());
                       writeSparse(folder / "pytorch_model.bin", "PK", 3 * tinyWeightBytes);
                   }));
    pickle(derived("pickle-consolidated", tinyWeightBytes + 100, {"pickle.not-opened"},
                   [](const fs::path &folder) {
                       writeFile(folder / "config.json", tinyConfig().dump());
                       writeSparse(folder / "consolidated.00.pth", "PK", tinyWeightBytes + 100);
                   }));
}

FormatKind declined(const std::string &id, const std::string &error, std::map<std::string, std::string> facts,
                    std::function<void(const fs::path &)> make)
{
    FormatKind out;
    out.id = id;
    out.error = error;
    out.facts = std::move(facts);
    out.make = std::move(make);
    return out;
}

/// A repository of this config with one matrix of 64 F32.
FormatKind byConfig(const std::string &id, const char *architecture, const char *type, const char *kind)
{
    return declined(id, "config.not-language-model",
                    {{"kind", kind},
                     {"architecture", architecture},
                     {"parameters", "64"},
                     {"weights", "256"},
                     {"files", "2"}},
                    [architecture, type](const fs::path &folder) {
                        writeFile(folder / "config.json", json{{"architectures", {architecture}},
                                                               {"model_type", type},
                                                               {"num_hidden_layers", 2},
                                                               {"hidden_size", 8},
                                                               {"num_attention_heads", 1}}
                                                              .dump());
                        SafetensorsBuilder builder;
                        builder.add("a.weight", "F32", {8, 8}).write(folder / "model.safetensors");
                    });
}

void addDeclined(std::vector<FormatKind> &out)
{
    out.push_back(declined(
        "adapter", "folder.adapter",
        {{"base", "meta-llama/Llama-3.1-8B"},
         {"rank", "16"},
         {"targets", "q_proj, v_proj"},
         {"parameters", "2048"},
         {"weights", "8192"},
         {"architecture", "LORA"}},
        [](const fs::path &folder) {
            writeFile(folder / "adapter_config.json",
                      json{{"base_model_name_or_path", "meta-llama/Llama-3.1-8B"},
                           {"peft_type", "LORA"},
                           {"r", 16},
                           {"target_modules", {"v_proj", "q_proj"}}}
                          .dump());
            SafetensorsBuilder builder;
            builder.add("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "F32", {16, 64})
                .add("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", "F32", {64, 16})
                .write(folder / "adapter_model.safetensors");
        }));
    out.push_back(
        declined("adapter-pickle", "folder.adapter-alone", {{"weights", "77"}}, [](const fs::path &folder) {
            writeFile(folder / "adapter_config.json", json{{"peft_type", "LORA"}}.dump());
            writeSparse(folder / "adapter_model.bin", "PK", 77);
        }));
    out.push_back(declined(
        "diffusion", "folder.diffusion",
        {{"kind", "diffusion"},
         {"architecture", "StableDiffusionXLPipeline"},
         {"parameters", "192"},
         {"weights", "512"}},
        [](const fs::path &folder) {
            writeFile(folder / "model_index.json", json{{"_class_name", "StableDiffusionXLPipeline"}}.dump());
            SafetensorsBuilder unet;
            unet.add("conv_in.weight", "F32", {8, 8})
                .write(folder / "unet" / "diffusion_pytorch_model.safetensors");
            SafetensorsBuilder half;
            half.add("conv_in.weight", "F16", {8, 8})
                .write(folder / "unet" / "diffusion_pytorch_model.fp16.safetensors");
            SafetensorsBuilder text;
            text.add("a.weight", "F16", {16, 8}).write(folder / "text_encoder" / "model.fp16.safetensors");
        }));
    out.push_back(
        declined("embedding", "folder.embedding",
                 {{"kind", "embedding"}, {"architecture", "Qwen3ForCausalLM"}, {"parameters", "64"}},
                 [](const fs::path &folder) {
                     json config = tinyConfig();
                     config["architectures"] = {"Qwen3ForCausalLM"};
                     writeFile(folder / "config.json", config.dump());
                     writeFile(folder / "modules.json", "[]");
                     writeFile(folder / "1_Pooling" / "config.json", "{}");
                     SafetensorsBuilder builder;
                     builder.add("embed_tokens.weight", "BF16", {8, 8}).write(folder / "model.safetensors");
                 }));
    out.push_back(byConfig("speech-whisper", "WhisperForConditionalGeneration", "whisper", "speech"));
    out.push_back(byConfig("speech-wav2vec", "Wav2Vec2ForCTC", "wav2vec2", "speech"));
    out.push_back(byConfig("encoder", "BertModel", "bert", "encoder"));
    out.push_back(byConfig("reranker", "XLMRobertaForSequenceClassification", "xlm-roberta", "classifier"));
    out.push_back(byConfig("reward", "Qwen2ForRewardModel", "qwen2", "classifier"));
    out.push_back(byConfig("image-text", "CLIPModel", "clip", "image-text"));
    out.push_back(byConfig("encoder-decoder", "T5ForConditionalGeneration", "t5", "encoder-decoder"));
    out.push_back(declined("onnx", "folder.other-weights", {}, [](const fs::path &folder) {
        writeFile(folder / "config.json", tinyConfig().dump());
        writeFile(folder / "model.onnx", "x");
    }));
    out.push_back(declined("pickle-unknown", "folder.pickle-only", {}, [](const fs::path &folder) {
        writeFile(
            folder / "config.json",
            json{{"architectures", {"NobodyForCausalLM"}}, {"model_type", "nobody"}, {"num_hidden_layers", 2}}
                .dump());
        writeFile(folder / "pytorch_model.bin", "x");
    }));
}

} // namespace

std::vector<FormatKind> otherKinds()
{
    std::vector<FormatKind> out;
    addDerived(out);
    addDeclined(out);
    return out;
}

} // namespace weir::test

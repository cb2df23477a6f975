#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the seeds of the fuzz targets: tests/fuzz/seeds.py [CORPUS]

Everything is made up here: small true inputs and damaged ones, for each target. Files named crash-* were found
by fuzzing and are left alone."""
import json
import pathlib
import struct
import sys

corpus = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")


def seed(target, name, content):
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


# --- safetensors: length, header, and eight bytes with the size of the data

bits = {"BF16": 16, "F32": 32, "I32": 32, "U8": 8, "F8_E4M3": 8, "F4": 4, "I64": 64, "U32": 32}


def st_header(tensors, tag=None):
    header, at = {}, 0
    if tag is not None:
        header["__metadata__"] = {"format": tag}
    for name, dtype, shape in tensors:
        size = bits[dtype]
        for dimension in shape:
            size *= dimension
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size // 8]}
        at += size // 8
    return json.dumps(header), at


def st_file(text, data):
    text = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(text)) + text + struct.pack("<Q", data)


def layer(i, prefix="model.layers"):
    p = f"{prefix}.{i}."
    return [(p + "self_attn.q_proj.weight", "BF16", [64, 64]), (p + "self_attn.k_proj.weight", "BF16", [16, 64]),
            (p + "self_attn.o_proj.weight", "BF16", [64, 64]), (p + "mlp.gate.weight", "BF16", [8, 64]),
            (p + "mlp.down_proj.weight", "BF16", [64, 128]), (p + "input_layernorm.weight", "BF16", [64])]


tables = [("model.embed_tokens.weight", "BF16", [256, 64]), ("lm_head.weight", "BF16", [256, 64]),
          ("model.norm.weight", "BF16", [64])]
dense = tables + layer(0) + layer(1)
experts = [(f"model.layers.{i}.mlp.experts.{e}.{w}_proj.{leaf}", dtype, shape)
           for i in range(2) for e in range(4) for w in ("gate", "up", "down")
           for leaf, dtype, shape in (("qweight", "I32", [8, 64]), ("scales", "BF16", [1, 64]), ("qzeros", "I32", [1, 8]))]
for name, tensors, tag in (
        ("dense", dense, "LlamaForCausalLM"), ("untagged", dense, None), ("experts", dense + experts, "Qwen3MoeForCausalLM"),
        ("draft", dense + [("mtp.layers.0.mlp.gate_proj.weight", "BF16", [64, 64]), ("mtp.fc.weight", "BF16", [64, 128])],
         "Qwen3NextForCausalLM"),
        ("mla", tables + [("model.layers.0.self_attn.kv_b_proj.weight", "F8_E4M3", [64, 32]),
                          ("model.layers.0.self_attn.kv_b_proj.weight_scale_inv", "F32", [1, 1])], "DeepseekV3ForCausalLM"),
        ("vision", dense + [("visual.blocks.0.attn.qkv.weight", "BF16", [96, 32])], "Qwen3_5ForConditionalGeneration"),
        ("mlx", [("model.embed_tokens.weight", "U32", [256, 8]), ("model.embed_tokens.scales", "BF16", [256, 1]),
                 ("model.embed_tokens.biases", "BF16", [256, 1])], "mlx"),
        ("nvfp4", dense + [("model.layers.0.mlp.up_proj.weight", "U8", [64, 32]),
                           ("model.layers.0.mlp.up_proj.weight_scale", "F8_E4M3", [64, 4]),
                           ("model.layers.0.mlp.up_proj.weight_scale_2", "F32", [])], "Qwen3ForCausalLM")):
    seed("safetensors", name, st_file(*st_header(tensors, tag)))
text, size = st_header(dense)
seed("safetensors", "longer-data", st_file(text, size + 1))
seed("safetensors", "length-2-63", struct.pack("<Q", 1 << 63) + text.encode())
seed("safetensors", "cut", st_file(text[:200], size))
seed("safetensors", "duplicate", st_file('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                                         '"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', 2))
seed("safetensors", "overflow", st_file('{"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}}', 0))
seed("safetensors", "zero-shape", st_file('{"a":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]}}', 0))
seed("safetensors", "names", st_file('{"\\u0000":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                                     '"../\\u202e\\n.1":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', 2))
seed("safetensors", "unknown-dtype", st_file('{"a.0.b":{"dtype":"X9","shape":[3],"data_offsets":[0,5]}}', 5))
seed("safetensors", "empty-object", st_file("{}", 0))
seed("safetensors", "deep", st_file("{\"a\":" + "[" * 2000 + "]" * 2000 + "}", 0))
seed("safetensors", "large-numbers", st_file(*st_header(
    [("model.layers.4294967295.mlp.up_proj.weight", "BF16", [1 << 31, 1 << 28]),
     ("model.layers.99999999999999999999.x", "BF16", [1])], "LlamaForCausalLM")))

# --- index

names = [name for name, _, _ in dense]
shards = {name: f"model-0000{1 + i % 2}-of-00002.safetensors" for i, name in enumerate(names)}
seed("index", "two", json.dumps({"metadata": {"total_size": 1}, "weight_map": shards}))
seed("index", "no-map", '{"metadata":{}}')
seed("index", "leaves", '{"weight_map":{"a":"../../etc/passwd"}}')
seed("index", "absolute", '{"weight_map":{"a":"/etc/passwd"}}')
seed("index", "duplicate", '{"weight_map":{"a":"x.safetensors","a":"y.safetensors"}}')
seed("index", "nul", '{"weight_map":{"a\\u0000":"x\\u0000.safetensors"}}')
seed("index", "folder", '{"weight_map":{"a":"sub/x.safetensors","":"x"}}')
seed("index", "twice", '{"weight_map":{"a":"x"},"weight_map":{"a":"y"}}')
seed("index", "trailing", '{"weight_map":{"a":"x"}} []')
seed("index", "deep", '{"weight_map":' + "{\"a\":" * 1500 + "1" + "}" * 1500 + "}")

# --- config.json, and what lies beside it

base = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
        "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 256,
        "tie_word_embeddings": False, "torch_dtype": "bfloat16", "max_position_embeddings": 4096}


def config(name, extra=None, side=None, **more):
    content = {**base, **(extra or {}), **more}
    seed("config", name, json.dumps(content) + ("\x1e" + json.dumps(side) if side is not None else ""))


moe = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "decoder_sparse_step": 1}
config("llama")
config("tied", tie_word_embeddings=True, rope_scaling={"rope_type": "llama3", "factor": 8.0})
config("qwen3-moe", moe, architectures=["Qwen3MoeForCausalLM"], model_type="qwen3_moe", head_dim=16)
config("gpt-oss", architectures=["GptOssForCausalLM"], model_type="gpt_oss", num_local_experts=4,
       layer_types=["sliding_attention", "full_attention"], sliding_window=128,
       quantization_config={"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})
config("gemma3", architectures=["Gemma3ForConditionalGeneration"], model_type="gemma3",
       text_config={**base, "sliding_window_pattern": 6, "query_pre_attn_scalar": 256},
       vision_config={"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64, "patch_size": 14, "image_size": 56})
mla = {"q_lora_rank": 32, "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
       "n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
       "first_k_dense_replace": 1, "num_nextn_predict_layers": 1}
config("deepseek", mla, architectures=["DeepseekV3ForCausalLM"], model_type="deepseek_v3",
       quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]})
config("qwen3-next", moe, architectures=["Qwen3NextForCausalLM"], model_type="qwen3_next", head_dim=16,
       linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8,
       linear_conv_kernel_dim=4, full_attention_interval=2, shared_expert_intermediate_size=32)
config("mamba", architectures=["NemotronHForCausalLM"], model_type="nemotron_h", hybrid_override_pattern="M-*M",
       num_hidden_layers=4, mamba_num_heads=4, mamba_head_dim=16, ssm_state_size=16, n_groups=2, conv_kernel=4)
for method, more in (
        ("gptq", {"bits": 4, "group_size": 128, "dynamic": {"-:.*lm_head.*": {}, "+:.*down.*": {"bits": 8}}}),
        ("awq", {"bits": 4, "group_size": 128, "modules_to_not_convert": ["mlp.gate", "re:.*attn.*"]}),
        ("auto-round", {"bits": 4, "group_size": 128, "extra_config": {"model.layers.0.mlp": {"bits": 16}, ".*q_proj": {"bits": 8}}}),
        ("bitsandbytes", {"load_in_4bit": True, "llm_int8_skip_modules": ["lm_head"]}),
        ("compressed-tensors", {"format": "pack-quantized", "ignore": ["lm_head", "re:.*gate$"], "config_groups": {
            "group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 128, "strategy": "group"}}}}),
        ("modelopt", {"quant_algo": "NVFP4", "exclude_modules": ["lm_head", "model.layers.*.mlp.gate"]})):
    config("declared-" + method, quantization_config={"quant_method": method, **more})
config("mlx", quantization={"group_size": 64, "bits": 4, "model.layers.0.mlp.down_proj": {"bits": 8, "group_size": 64},
                            "lm_head": False})
config("modelopt-beside", side={"quantization": {"quant_algo": "MIXED_PRECISION", "exclude_modules": ["lm_head*"],
                                                  "quantized_layers": {"model.layers.0.mlp.up_proj": {"quant_algo": "FP8"}}}})
config("wrong-types", hidden_size="64", num_hidden_layers=[2], vocab_size=-1, num_attention_heads=1e300)
config("absurd", num_hidden_layers=4096, hidden_size=1 << 20, vocab_size=1 << 20, intermediate_size=1 << 20)
config("many-experts", moe, architectures=["Qwen3MoeForCausalLM"], num_experts=1 << 20, num_hidden_layers=4096)
config("zeroes", num_attention_heads=0, num_key_value_heads=0, hidden_size=0)
config("patterns", quantization_config={"quant_method": "awq", "bits": 4,
                                        "modules_to_not_convert": ["re:(a*)*b", "re:((a|b)*c){1,30}", "*a*b*c*d*e*"] * 20})
seed("config", "duplicate", '{"architectures":["LlamaForCausalLM"],"hidden_size":64,"hidden_size":32}')
seed("config", "not-finite", '{"architectures":["LlamaForCausalLM"],"hidden_size":NaN,"a":-Infinity}')

# --- GGUF

U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64 = range(13)


class Gguf:
    def __init__(self, big=False):
        self.order = ">" if big else "<"
        self.keys, self.infos, self.key_count, self.count, self.at = b"", b"", 0, 0, 0

    def pack(self, code, *values):
        return struct.pack(self.order + code, *values)

    def text(self, value):
        value = value.encode() if isinstance(value, str) else value
        return self.pack("Q", len(value)) + value

    def key(self, name, kind, value):
        self.keys += self.text(name) + self.pack("I", kind) + value
        self.key_count += 1
        return self

    def u32(self, name, value):
        return self.key(name, U32, self.pack("I", value))

    def string(self, name, value):
        return self.key(name, TEXT, self.text(value))

    def texts(self, name, values):
        return self.key(name, ARRAY, self.pack("IQ", TEXT, len(values)) + b"".join(map(self.text, values)))

    def numbers(self, name, values):
        return self.key(name, ARRAY, self.pack("IQ", U32, len(values)) + b"".join(self.pack("I", v) for v in values))

    def tensor(self, name, kind, shape, size):
        self.infos += self.text(name) + self.pack("I", len(shape)) + b"".join(self.pack("Q", d) for d in shape)
        self.infos += self.pack("IQ", kind, self.at)
        self.at += (size + 31) // 32 * 32
        self.count += 1
        return self

    def file(self, tensors=None, keys=None, version=3, data=True):
        head = b"GGUF" + self.pack("IQQ", version, self.count if tensors is None else tensors,
                                   self.key_count if keys is None else keys) + self.keys + self.infos
        return head + (bytes(-len(head) % 32) + bytes(self.at) if data else b"")


def gguf(architecture="llama", big=False):
    a = architecture
    return (Gguf(big).string("general.architecture", a).u32("general.file_type", 15).u32(a + ".block_count", 1)
            .u32(a + ".context_length", 4096).u32(a + ".embedding_length", 32).u32(a + ".feed_forward_length", 64)
            .u32(a + ".attention.head_count", 4).u32(a + ".attention.head_count_kv", 2).u32(a + ".vocab_size", 8)
            .texts("tokenizer.ggml.tokens", ["a", "b", "", "\u202e"]))


def small(file):
    return (file.tensor("token_embd.weight", 1, [32, 8], 512).tensor("blk.0.attn_q.weight", 8, [32, 4], 136)
            .tensor("blk.0.ffn_down_exps.weight", 8, [32, 2, 2], 136).tensor("output.weight", 1, [32, 8], 512))


seed("gguf", "llama", small(gguf()).file())
seed("gguf", "big-endian", small(gguf(big=True)).file())
seed("gguf", "moe", small(gguf("qwen3moe").u32("qwen3moe.expert_count", 2).u32("qwen3moe.expert_used_count", 1)).file())
seed("gguf", "arrays", small(gguf("gemma3").numbers("gemma3.attention.sliding_window_pattern", [1, 0, 1])
                             .numbers("gemma3.attention.head_count_kv", [2])).file())
seed("gguf", "mla", small(gguf("deepseek2").u32("deepseek2.attention.kv_lora_rank", 16).u32("deepseek2.rope.dimension_count", 8)
                          .u32("deepseek2.attention.key_length_mla", 24)).file())
seed("gguf", "mamba", small(gguf("nemotron_h").u32("nemotron_h.ssm.state_size", 16).u32("nemotron_h.ssm.conv_kernel", 4)
                            .u32("nemotron_h.ssm.inner_size", 64).u32("nemotron_h.ssm.group_count", 2)).file())
seed("gguf", "split", small(gguf().key("split.no", U16, struct.pack("<H", 0)).key("split.count", U16, struct.pack("<H", 65535))
                            .key("split.tensors.count", I32, struct.pack("<i", -1))).file())
seed("gguf", "counts", gguf().file(tensors=1 << 63, keys=1 << 63))
seed("gguf", "long-text", Gguf().key("a", TEXT, struct.pack("<Q", (1 << 64) - 4)).file())
seed("gguf", "empty-texts", Gguf().key("a", ARRAY, struct.pack("<IQ", TEXT, 1_000_000_000)).file())
seed("gguf", "nested", Gguf().key("a", ARRAY, struct.pack("<IQ", ARRAY, 3) * 40).file())
seed("gguf", "overflow", gguf().tensor("token_embd.weight", 0, [1 << 32, 1 << 32], 0).file(data=False))
seed("gguf", "unknown-type", gguf().tensor("token_embd.weight", 137, [32, 8], 512).file())
seed("gguf", "duplicate", gguf().tensor("a", 0, [8], 32).tensor("a", 0, [8], 32).file())
seed("gguf", "alignment", small(gguf().u32("general.alignment", 0)).file())
seed("gguf", "name", gguf().tensor(b"a\0../\xff\n.0", 0, [8], 32).file())
seed("gguf", "projector", small(gguf("clip")).file())
seed("gguf", "pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")

# --- what the Hub answers

commit = "0123456789abcdef0123456789abcdef01234567"
seed("hub", "info", json.dumps({"id": "org/name", "sha": commit, "gated": "manual", "private": False, "siblings": []}))
files = [{"type": "file", "path": p, "size": 10, "oid": commit, "lfs": {"oid": "0" * 64, "size": 1 << 33}}
         for p in ("config.json", "model-00001-of-00002.safetensors", "name-Q4_K_M.gguf", "Q8_0/name-Q8_0-00001-of-00002.gguf")]
seed("hub", "tree", json.dumps(files + [{"type": "directory", "path": "Q8_0", "size": 0}]))
seed("hub", "tree-bad", json.dumps([{"type": "file", "path": p, "size": s} for p, s in
                                    (("../up", 1), ("/abs", 1), ("a\0b", 1), ("a\\b", 1), ("x", -1), ("y", 1e300), ("z", "1"))]))
seed("hub", "tree-duplicate", '[{"type":"file","path":"a","path":"../b","size":1,"size":2}]')
seed("hub", "hits", json.dumps([{"id": "org/name", "downloads": 5, "likes": 1, "tags": ["gguf", "license:mit", "base_model:a/b"],
                                 "pipeline_tag": "text-generation", "gated": "auto", "lastModified": "2026-01-01T00:00:00.000Z",
                                 "safetensors": {"parameters": {"BF16": 1 << 62, "I32": 1 << 62}, "total": 5},
                                 "gguf": {"total": 1, "architecture": "llama"}, "config": {"architectures": ["LlamaForCausalLM"]}},
                                {"id": "../.."}, {"modelId": "a/b"}]))
seed("hub", "refs", json.dumps({"branches": [{"name": "main"}, {"name": "a/b"}], "tags": [{"name": "v1"}, {"name": "\u202e"}]}))
seed("hub", "error", json.dumps({"error": "Access to model is restricted. hf_0123456789abcdef"}))
seed("hub", "page", "<!DOCTYPE html><html></html>")
seed("hub", "deep", "[" * 100 + "]" * 100)
seed("hub", "surrogate", '[{"type":"file","path":"\\ud800","size":1}]')
seed("hub", "broken-utf8", b'[{"type":"file","path":"\xff\xc0\xaf","size":1}]')

# --- addresses and names

for i, text in enumerate((
        "https://huggingface.co/org/name/tree/main", "http://[::1]:80/", "https://user:word@example.org/", "file:///etc/passwd",
        "//example.org/x", "/api/models?x=1#y", "org/name@refs/pr/1:Q4_K_M", "gopher://127.0.0.1:70/", "https://0x7f.1/",
        "http://169.254.169.254/latest", "https://example.org:99999/", "https://exa mple.org/", "10.0.0.1\x1e10.0.0.0/8,.corp,*",
        "::ffff:127.0.0.1\x1e::1/64", "bytes 0-99/1000", "\"api\";r=0;t=55\x1e120", "x\x1eFri, 31 Dec 1999 23:59:59 GMT",
        "<https://huggingface.co/api/models?cursor=a>; rel=\"next\"", "Bearer hf_0123456789abcdef\x1e secret-word")):
    seed("web", f"{i:02}", text)

# --- patterns and recipes

for i, text in enumerate((
        "model.layers.*.mlp.gate\x1emodel.layers.11.mlp.gate", "(a*)*b\x1e" + "a" * 200, "^.*\\.(q|k|v)_proj$\x1emodel.q_proj",
        "((((a{1,9}){1,9}){1,9}){1,9})\x1eaaaa", "[^\\d\\w]+?|\\s{3,}\x1e   ", "*a*a*a*a*a*a*b\x1e" + "a" * 300,
        "(?=a)b\x1eb", "awq,lm_head=int8\x1e", "Q4_K_M\x1e", "[z-a]\x1e", "a{99999999999}\x1e", "(" * 40 + ")" * 40 + "\x1e")):
    seed("pattern", f"{i:02}", text)

# --- groups

spec = {"architecture": "Qwen3MoeForCausalLM", "family": "llama", "layers": 2, "moe_layers": 1, "hidden_size": 64,
        "vocabulary_size": 256, "experts": 4, "experts_per_token": 2, "max_context_tokens": 4096, "tied_embeddings": False,
        "dtype": "BF16", "state_dtype": "F32", "declared_kv_dtype": "fp8",
        "attention": [{"kind": "attention", "layers": 1, "k_elements_per_token": 32, "v_elements_per_token": 32, "kv_heads": 2,
                       "window": 128}],
        "state": [{"kind": "gated_delta_net", "layers": 1, "convolution_elements": 64, "recurrent_elements": 256}]}
tensors = [{"pattern": "model.layers.N.mlp.experts.N.up_proj.weight", "component": "routed_experts", "role": "up", "layers": "0-1",
            "dtype": "BF16", "shape": [32, 64], "count": 8, "bytes": 32768, "parameters": 16384, "file": "model.safetensors"},
           {"pattern": "model.embed_tokens.weight", "component": "embed_tokens", "role": "embedding", "dtype": "BF16",
            "shape": [256, 64], "count": 1, "bytes": 32768, "parameters": 16384, "side": False, "listed": False}]
groups = {"schema": "weir.groups/1", "id": "a", "name": "A", "revision": commit, "format": "safetensors", "provenance": "headers",
          "quantization": "bf16", "repository_bytes": 70000, "spec": spec,
          "files": [{"path": "model.safetensors", "bytes": 65536, "listed": True, "counted": True}],
          "companions": [{"path": "config.json", "bytes": 100}],
          "notes": [{"id": "folder.unlisted-file", "severity": "info", "arguments": {"file": "a", "bytes": {"bytes": 5}, "n": 1, "x": 0.5}}],
          "groups": tensors}
seed("groups", "small", json.dumps(groups))
seed("groups", "mixed", json.dumps({**groups, "format": "gguf", "groups": tensors + [{**tensors[0], "dtype": "Q4_K", "bytes": 1 << 62}]}))
seed("groups", "long-runs", json.dumps({**groups, "groups": [{**tensors[0], "layers": ",".join(["0-1000000"] * 1000)}]}))
seed("groups", "absurd", json.dumps({**groups, "spec": {**spec, "layers": 4294967295, "experts": 4294967295, "hidden_size": (1 << 64) - 1},
                                     "groups": [{**tensors[0], "count": 0, "bytes": (1 << 64) - 1, "shape": [(1 << 64) - 1] * 9}]}))

# --- Ollama


def blob(kind, size, name=None, digest="a" * 64):
    more = {"annotations": {"org.cncf.model.filepath": name}, "name": name} if name else {}
    return {"mediaType": "application/vnd.ollama.image." + kind, "digest": "sha256:" + digest, "size": size, **more}


manifest = {"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": "sha256:" + "b" * 64, "size": 500},
            "layers": [blob("model", 1 << 33), blob("template", 100), blob("projector", 1 << 28), blob("license", 10)]}
seed("ollama", "manifest", json.dumps(manifest))
seed("ollama", "tensors", json.dumps({**manifest, "layers": [blob("tensor", 5, "model.layers.0.a.weight"), blob("json", 5, "config.json")]}))
seed("ollama", "names", json.dumps({**manifest, "layers": [blob("tensor", 5, "../../x"), blob("json", 5, "/etc/passwd")]}))
seed("ollama", "digests", json.dumps({**manifest, "layers": [blob("model", 5, digest="../" * 21 + "a")]}))
seed("ollama", "sizes", json.dumps({**manifest, "layers": [blob("model", -1), blob("model", 1e300), blob("model", 1 << 64)]}))
seed("ollama", "duplicate", '{"schemaVersion":2,"layers":[],"layers":[]}')
seed("ollama", "deep", '{"layers":' + "[" * 2000)
seed("ollama", "config", json.dumps({"model_format": "gguf", "model_family": "llama", "file_type": "Q4_K_M", "remote_host": ""}))
for i, text in enumerate(("qwen3:30b", "ollama:someone/model:tag", "host.example:443/a/b:c", "hf.co/org/name:Q4_K_M", "../..:x", "a//b",
                          "registry.ollama.ai/library/qwen3/latest")):
    seed("ollama", f"name-{i}", text)

# --- JSON in general

for name, text in (("object", '{"a":[1,2.5,-3,true,null,"\\u00e9"],"b":{"c":{}}}'), ("not-finite", '{"a":NaN,"b":[-Infinity,Infinity]}'),
                   ("duplicate", '{"a":1,"a":2,"b":{"a":1,"a":3}}'), ("deep", '{"a":' + "[" * 63 + "]" * 63 + "}"),
                   ("too-deep", '{"a":' + "[" * 5000 + "]" * 5000 + "}"), ("number", '{"a":1e400,"b":123456789012345678901234567890}'),
                   ("array", "[]"), ("comma", '{"a":1,}'), ("comment", '{/*a*/"a":1}'), ("nul", '{"a\\u0000":"\\u0000"}'),
                   ("surrogate", '{"a":"\\ud800"}'), ("page", "<html>"), ("bom", b'\xef\xbb\xbf{"a":1}'), ("broken-utf8", b'{"a":"\xff"}'),
                   ("pointer", "version https://git-lfs.github.com/spec/v1\n")):
    seed("json", name, text)

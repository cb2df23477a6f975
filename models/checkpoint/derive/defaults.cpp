// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the transformers library (5.17) assumes for keys that a config does not hold, per model type: only
// keys that decide sizes, and only values that differ from what an absent key is read as (null, false, empty).
#include "models/checkpoint/derive/defaults.h"

#include <array>
#include <span>
#include <utility>

namespace weir::derive {

using nlohmann::json;

namespace {

// clang-format off
constexpr std::pair<std::string_view, std::string_view> table[] = {
    {"llama",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32})"},
    {"mistral",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8})"},
    {"ministral",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8})"},
    {"ministral3",
     R"({"vocab_size":131072,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":34,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128})"},
    {"mixtral",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"num_experts_per_tok":2,"num_local_experts":8})"},
    {"qwen2",
     R"({"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32})"},
    {"qwen2_moe",
     R"({"vocab_size":151936,"hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":16,"decoder_sparse_step":1,"moe_intermediate_size":1408,"shared_expert_intermediate_size":5632,"num_experts_per_tok":4,"num_experts":60,"qkv_bias":true})"},
    {"qwen3",
     R"({"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"head_dim":128})"},
    {"qwen3_moe",
     R"({"vocab_size":151936,"hidden_size":2048,"intermediate_size":6144,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":4,"decoder_sparse_step":1,"moe_intermediate_size":768,"num_experts_per_tok":8,"num_experts":128})"},
    {"qwen3_next",
     R"({"vocab_size":151936,"hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":2,"head_dim":256,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":32,"decoder_sparse_step":1,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,"num_experts_per_tok":10,"num_experts":512})"},
    {"qwen3_5_text",
     R"({"vocab_size":248320,"hidden_size":4096,"intermediate_size":12288,"num_hidden_layers":32,"num_attention_heads":16,"num_key_value_heads":4,"head_dim":256,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":32})"},
    {"qwen3_5_moe_text",
     R"({"vocab_size":248320,"hidden_size":2048,"num_hidden_layers":40,"num_attention_heads":16,"num_key_value_heads":2,"head_dim":256,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":32,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,"num_experts_per_tok":8,"num_experts":256})"},
    {"qwen3_vl_text",
     R"({"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"head_dim":128})"},
    {"qwen3_vl_moe_text",
     R"({"vocab_size":151936,"hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":16,"tie_word_embeddings":true,"decoder_sparse_step":1,"moe_intermediate_size":1408,"num_experts_per_tok":4,"num_experts":60})"},
    {"qwen2_vl_text",
     R"({"vocab_size":152064,"hidden_size":8192,"intermediate_size":29568,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8})"},
    {"qwen2_5_vl_text",
     R"({"vocab_size":152064,"hidden_size":8192,"intermediate_size":29568,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8})"},
    {"gemma",
     R"({"vocab_size":256000,"hidden_size":3072,"intermediate_size":24576,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":256,"tie_word_embeddings":true})"},
    {"gemma2",
     R"({"vocab_size":256000,"hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"tie_word_embeddings":true})"},
    {"gemma3_text",
     R"({"vocab_size":262208,"hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"tie_word_embeddings":true})"},
    {"gemma4_text",
     R"({"vocab_size":262144,"hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":30,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"tie_word_embeddings":true,"vocab_size_per_layer_input":262144,"hidden_size_per_layer_input":256,"num_kv_shared_layers":0})"},
    {"deepseek_v2",
     R"({"vocab_size":102400,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"first_k_dense_replace":0,"kv_lora_rank":512,"q_lora_rank":1536,"n_routed_experts":64,"n_shared_experts":2,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"moe_intermediate_size":1407})"},
    {"deepseek_v3",
     R"({"vocab_size":129280,"hidden_size":7168,"intermediate_size":18432,"moe_intermediate_size":2048,"num_hidden_layers":61,"num_attention_heads":128,"num_key_value_heads":128,"n_shared_experts":1,"n_routed_experts":256,"kv_lora_rank":512,"q_lora_rank":1536,"qk_rope_head_dim":64,"v_head_dim":128,"qk_nope_head_dim":128,"num_experts_per_tok":8,"first_k_dense_replace":3})"},
    {"deepseek_v32",
     R"({"vocab_size":129280,"hidden_size":7168,"intermediate_size":18432,"moe_intermediate_size":2048,"num_hidden_layers":61,"num_attention_heads":128,"num_key_value_heads":128,"n_shared_experts":1,"n_routed_experts":256,"kv_lora_rank":512,"q_lora_rank":1536,"qk_rope_head_dim":64,"v_head_dim":128,"qk_nope_head_dim":128,"num_experts_per_tok":8,"index_topk":2048,"index_head_dim":128,"index_n_heads":64,"head_dim":64,"first_k_dense_replace":3})"},
    {"kimi_linear",
     R"({"vocab_size":163840,"hidden_size":2304,"intermediate_size":9216,"moe_intermediate_size":1024,"num_hidden_layers":27,"num_attention_heads":32,"num_key_value_heads":32,"n_shared_experts":1,"kv_lora_rank":512,"qk_rope_head_dim":64,"v_head_dim":128,"qk_nope_head_dim":128,"num_experts_per_tok":8,"num_local_experts":256,"linear_head_dim":128,"linear_num_heads":32,"linear_conv_kernel_dim":4})"},
    {"glm",
     R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,"attention_bias":true})"},
    {"glm4",
     R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,"attention_bias":true})"},
    {"glm4_moe",
     R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":10944,"num_hidden_layers":46,"num_attention_heads":96,"num_key_value_heads":8,"moe_intermediate_size":1408,"num_experts_per_tok":8,"n_shared_experts":1,"n_routed_experts":128,"first_k_dense_replace":1})"},
    {"glm4_moe_lite",
     R"({"vocab_size":154880,"hidden_size":2048,"intermediate_size":10240,"moe_intermediate_size":1536,"num_hidden_layers":47,"num_attention_heads":20,"num_key_value_heads":20,"n_shared_experts":1,"n_routed_experts":64,"kv_lora_rank":512,"q_lora_rank":768,"qk_rope_head_dim":64,"v_head_dim":256,"qk_nope_head_dim":192,"num_experts_per_tok":4})"},
    {"glm_moe_dsa",
     R"({"vocab_size":154880,"hidden_size":6144,"intermediate_size":12288,"moe_intermediate_size":2048,"num_hidden_layers":78,"num_attention_heads":64,"num_key_value_heads":64,"n_shared_experts":1,"n_routed_experts":256,"kv_lora_rank":512,"q_lora_rank":2048,"qk_rope_head_dim":64,"v_head_dim":256,"qk_nope_head_dim":192,"num_experts_per_tok":8,"index_topk":2048,"index_head_dim":128,"index_n_heads":32,"head_dim":64,"first_k_dense_replace":3})"},
    {"glm4v_text",
     R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2})"},
    {"glm4v_moe_text",
     R"({"vocab_size":151424,"hidden_size":4096,"intermediate_size":10944,"num_hidden_layers":46,"num_attention_heads":96,"num_key_value_heads":8,"attention_bias":true,"moe_intermediate_size":1408,"num_experts_per_tok":8,"n_shared_experts":1,"n_routed_experts":128,"first_k_dense_replace":1})"},
    {"minimax_m2",
     R"({"vocab_size":200064,"hidden_size":3072,"intermediate_size":1536,"num_hidden_layers":62,"num_attention_heads":48,"num_key_value_heads":8,"head_dim":128,"num_experts_per_tok":8,"num_local_experts":256})"},
    {"nemotron_h",
     R"({"vocab_size":131072,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"intermediate_size":21504,"ssm_state_size":128,"mamba_num_heads":128,"mamba_head_dim":64,"n_groups":8,"conv_kernel":4,"use_conv_bias":true,"n_routed_experts":8,"n_shared_experts":1,"moe_intermediate_size":7688,"moe_shared_expert_intermediate_size":7688,"num_experts_per_tok":2})"},
    {"nemotron",
     R"({"vocab_size":256000,"hidden_size":6144,"intermediate_size":24576,"num_hidden_layers":32,"num_attention_heads":48})"},
    {"gpt_oss",
     R"({"num_hidden_layers":36,"num_local_experts":128,"vocab_size":201088,"hidden_size":2880,"intermediate_size":2880,"head_dim":64,"num_attention_heads":64,"num_key_value_heads":8,"num_experts_per_tok":4,"attention_bias":true})"},
    {"granite",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32})"},
    {"granitemoe",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_local_experts":8,"num_experts_per_tok":2})"},
    {"granitemoehybrid",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_local_experts":8,"num_experts_per_tok":2,"shared_intermediate_size":1024,"mamba_n_heads":128,"mamba_n_groups":1,"mamba_d_state":256,"mamba_d_head":"auto","mamba_d_conv":4,"mamba_expand":2,"mamba_conv_bias":true})"},
    {"granitemoeshared",
     R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_local_experts":8,"num_experts_per_tok":2,"shared_intermediate_size":0})"},
    {"lfm2",
     R"({"vocab_size":65536,"hidden_size":2560,"intermediate_size":12288,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"tie_word_embeddings":true,"conv_L_cache":3,"block_multiple_of":256,"block_ffn_dim_multiplier":1.0,"block_auto_adjust_ff_dim":true})"},
    {"lfm2_moe",
     R"({"vocab_size":65536,"hidden_size":2048,"intermediate_size":7168,"moe_intermediate_size":1792,"num_hidden_layers":32,"tie_word_embeddings":true,"num_attention_heads":32,"num_key_value_heads":8,"conv_L_cache":3,"num_dense_layers":2,"num_experts_per_tok":4,"num_experts":32,"use_expert_bias":true})"},
    {"olmo",
     R"({"vocab_size":50304,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32})"},
    {"olmo2",
     R"({"vocab_size":50304,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32})"},
    {"olmo3",
     R"({"vocab_size":50304,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32})"},
    {"olmoe",
     R"({"vocab_size":50304,"hidden_size":2048,"intermediate_size":2048,"num_hidden_layers":16,"num_attention_heads":16,"num_experts_per_tok":8,"num_experts":64})"},
    {"flex_olmo",
     R"({"vocab_size":100352,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_experts_per_tok":5,"num_experts":7})"},
    {"falcon_h1",
     R"({"vocab_size":128000,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"mamba_d_ssm":1024,"mamba_n_heads":128,"mamba_d_head":"auto","mamba_n_groups":1,"mamba_d_state":256,"mamba_d_conv":4,"mamba_expand":2,"mamba_conv_bias":true})"},
    {"jamba",
     R"({"vocab_size":65536,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"num_experts_per_tok":2,"num_experts":16,"expert_layer_period":2,"expert_layer_offset":1,"attn_layer_period":8,"attn_layer_offset":4,"mamba_d_state":16,"mamba_d_conv":4,"mamba_expand":2,"mamba_dt_rank":"auto","mamba_conv_bias":true})"},
    {"bamba",
     R"({"vocab_size":128000,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"mamba_n_heads":128,"mamba_d_head":"auto","mamba_n_groups":1,"mamba_d_state":256,"mamba_d_conv":4,"mamba_expand":2,"mamba_conv_bias":true})"},
    {"hunyuan_v1_dense",
     R"({"vocab_size":290943,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32})"},
    {"hunyuan_v1_moe",
     R"({"vocab_size":290943,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,"num_experts":1,"moe_topk":1})"},
    {"seed_oss",
     R"({"vocab_size":155136,"hidden_size":4096,"intermediate_size":27648,"num_hidden_layers":64,"num_attention_heads":80,"num_key_value_heads":8,"attention_bias":true,"head_dim":128})"},
    {"ernie4_5",
     R"({"vocab_size":103424,"hidden_size":1024,"intermediate_size":3072,"num_hidden_layers":18,"num_attention_heads":16,"num_key_value_heads":2,"tie_word_embeddings":true,"head_dim":128})"},
    {"ernie4_5_moe",
     R"({"vocab_size":103424,"hidden_size":2560,"intermediate_size":12288,"num_hidden_layers":28,"num_attention_heads":20,"num_key_value_heads":4,"tie_word_embeddings":true,"moe_intermediate_size":1536,"moe_k":6,"moe_num_experts":64,"moe_num_shared_experts":2,"moe_layer_start_index":1,"moe_layer_end_index":-1,"moe_layer_interval":1})"},
    {"dots1",
     R"({"vocab_size":152064,"hidden_size":4608,"intermediate_size":10944,"moe_intermediate_size":1408,"num_hidden_layers":62,"num_attention_heads":32,"num_key_value_heads":32,"first_k_dense_replace":0})"},
    {"phi",
     R"({"vocab_size":51200,"hidden_size":2048,"intermediate_size":8192,"num_hidden_layers":24,"num_attention_heads":32})"},
    {"phi3",
     R"({"vocab_size":32064,"hidden_size":3072,"intermediate_size":8192,"num_hidden_layers":32,"num_attention_heads":32})"},
    {"phimoe",
     R"({"vocab_size":32064,"hidden_size":4096,"intermediate_size":6400,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"num_experts_per_tok":2,"num_local_experts":16})"},
    {"llama4_text",
     R"({"vocab_size":202048,"hidden_size":5120,"intermediate_size":8192,"intermediate_size_mlp":16384,"num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"num_experts_per_tok":1,"num_local_experts":16,"interleave_moe_layer_step":1,"use_qk_norm":true})"},
    {"cohere",
     R"({"vocab_size":256000,"hidden_size":8192,"intermediate_size":22528,"num_hidden_layers":40,"num_attention_heads":64,"tie_word_embeddings":true})"},
    {"cohere2",
     R"({"vocab_size":256000,"hidden_size":8192,"intermediate_size":22528,"num_hidden_layers":40,"num_attention_heads":64,"tie_word_embeddings":true})"},
    {"starcoder2",
     R"({"vocab_size":49152,"hidden_size":3072,"intermediate_size":12288,"num_hidden_layers":30,"num_attention_heads":24,"num_key_value_heads":2,"use_bias":true,"tie_word_embeddings":true})"},
    {"smollm3",
     R"({"vocab_size":128256,"hidden_size":2048,"intermediate_size":11008,"num_hidden_layers":36,"num_attention_heads":16,"num_key_value_heads":4,"tie_word_embeddings":true})"},
    {"exaone4",
     R"({"vocab_size":102400,"hidden_size":4096,"intermediate_size":16384,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32})"},
    {"exaone_moe",
     R"({"vocab_size":102400,"hidden_size":4096,"intermediate_size":16384,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"first_k_dense_replace":1,"moe_intermediate_size":1024,"num_experts":64,"num_experts_per_tok":8,"num_shared_experts":1})"},
    {"stablelm",
     R"({"vocab_size":50304,"intermediate_size":6912,"hidden_size":2560,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32})"},
    {"arcee",
     R"({"vocab_size":32000,"hidden_size":2560,"intermediate_size":18432,"num_hidden_layers":32,"num_attention_heads":32})"},
    {"apertus",
     R"({"vocab_size":131072,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"hidden_act":"xielu"})"},
    {"solar_open",
     R"({"vocab_size":196608,"hidden_size":4096,"num_hidden_layers":48,"num_attention_heads":64,"num_key_value_heads":8,"moe_intermediate_size":1280,"num_experts_per_tok":8,"n_shared_experts":1,"n_routed_experts":128,"head_dim":128})"},
    {"helium",
     R"({"vocab_size":48000,"hidden_size":2560,"intermediate_size":7040,"num_hidden_layers":24,"num_attention_heads":20,"num_key_value_heads":20,"head_dim":128})"},

    {"mistral3",
     R"({"vision_feature_layer":-1,"spatial_merge_size":2,"tie_word_embeddings":true})"},
    {"kimi_k25",
     R"({"projection_hidden_size":1152,"tie_word_embeddings":true})"},
    {"qwen2_vl",
     R"({})"},
    {"qwen2_5_vl",
     R"({})"},
    {"qwen3_vl",
     R"({})"},
    {"qwen3_vl_moe",
     R"({})"},
    {"qwen3_5",
     R"({})"},
    {"qwen3_5_moe",
     R"({})"},
    {"gemma3",
     R"({"tie_word_embeddings":true})"},
    {"gemma4",
     R"({"tie_word_embeddings":true})"},
    {"llama4",
     R"({})"},
    {"glm4v",
     R"({})"},
    {"glm4v_moe",
     R"({})"},
    {"lfm2_vl",
     R"({"projector_hidden_size":2560,"projector_bias":true,"projector_use_layernorm":true,"downsample_factor":2,"tie_word_embeddings":true})"},

    {"pixtral",
     R"({"hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"num_channels":3,"image_size":1024,"patch_size":16})"},
    {"kimi_k25_vision",
     R"({"patch_size":14,"pos_emb_height":64,"pos_emb_width":64,"num_attention_heads":16,"num_hidden_layers":27,"hidden_size":1152,"intermediate_size":4304,"merge_kernel_size":[2,2]})"},
    {"qwen2_vl_vision",
     R"({"depth":32,"embed_dim":1280,"hidden_size":3584,"mlp_ratio":4,"num_heads":16,"in_channels":3,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2})"},
    {"qwen2_5_vl_vision",
     R"({"depth":32,"hidden_size":3584,"intermediate_size":3420,"num_heads":16,"in_channels":3,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584})"},
    {"qwen3_vl_vision",
     R"({"depth":27,"hidden_size":1152,"intermediate_size":4304,"num_heads":16,"in_channels":3,"patch_size":16,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584,"num_position_embeddings":2304,"deepstack_visual_indexes":[8,16,24]})"},
    {"qwen3_vl_moe_vision",
     R"({"depth":27,"hidden_size":1152,"intermediate_size":4304,"num_heads":16,"in_channels":3,"patch_size":16,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584,"num_position_embeddings":2304,"deepstack_visual_indexes":[8,16,24]})"},
    {"qwen3_5_vision",
     R"({"depth":27,"hidden_size":1152,"intermediate_size":4304,"num_heads":16,"in_channels":3,"patch_size":16,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584,"num_position_embeddings":2304})"},
    {"qwen3_5_moe_vision",
     R"({"depth":27,"hidden_size":1152,"intermediate_size":4304,"num_heads":16,"in_channels":3,"patch_size":16,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584,"num_position_embeddings":2304})"},
    {"siglip_vision_model",
     R"({"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"num_channels":3,"image_size":224,"patch_size":16})"},
    {"siglip2_vision_model",
     R"({"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"num_channels":3,"patch_size":16,"num_patches":256})"},
    {"gemma4_audio",
     R"({"hidden_size":1024,"num_hidden_layers":12,"num_attention_heads":8,"subsampling_conv_channels":[128,32],"conv_kernel_size":5,"output_proj_dims":1536})"},
    {"gemma4_vision",
     R"({"position_embedding_size":10240,"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":16,"num_attention_heads":12,"num_key_value_heads":12,"head_dim":64,"patch_size":16})"},
    {"llama4_vision_model",
     R"({"hidden_size":768,"num_hidden_layers":34,"num_attention_heads":16,"num_channels":3,"intermediate_size":5632,"vision_output_dim":7680,"image_size":448,"patch_size":14,"pixel_shuffle_ratio":0.5,"projector_input_dim":4096,"projector_output_dim":4096})"},
    {"glm4v_vision",
     R"({"depth":24,"hidden_size":1536,"num_heads":12,"in_channels":3,"image_size":336,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":4096,"intermediate_size":13696})"},
    {"glm4v_moe_vision",
     R"({"depth":24,"hidden_size":1536,"num_heads":12,"in_channels":3,"image_size":336,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":4096,"intermediate_size":13696})"},
};
// clang-format on

/// Keys that mean the same: a config that holds one of a row is not given another's default.
constexpr std::array<std::array<std::string_view, 4>, 6> sameKeys{{
    {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"},
    {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", {}},
    {"num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k"},
    {"hidden_size", "vt_hidden_size", {}, {}},
    {"num_hidden_layers", "vt_num_hidden_layers", {}, {}},
    {"intermediate_size", "vt_intermediate_size", "block_ff_dim", {}},
}};

bool hasSame(const json &config, std::string_view key)
{
    for (const auto &row : sameKeys) {
        bool inRow = false;
        bool held = false;
        for (const std::string_view each : row) {
            inRow = inRow || each == key;
            held = held || (!each.empty() && config.contains(each));
        }
        if (inRow && held)
            return true;
    }
    return false;
}

} // namespace

std::vector<std::string_view> typesWithDefaults()
{
    std::vector<std::string_view> types;
    for (const auto &[type, defaults] : table)
        types.push_back(type);
    return types;
}

void fillDefaults(json &config, std::string_view modelType)
{
    for (const auto &[type, defaults] : table) {
        if (type != modelType)
            continue;
        const json parsed = json::parse(defaults, nullptr, false);
        for (const auto &[key, value] : parsed.items()) {
            if (!config.contains(key) && !hasSame(config, key))
                config[key] = value;
        }
    }
}

} // namespace weir::derive

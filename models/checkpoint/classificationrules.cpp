// SPDX-License-Identifier: GPL-3.0-or-later
//
// The table that decides what every tensor of every checkpoint is. To teach the program a new
// architecture, add its rules to a block (or a new block) and its class name to a family below;
// nothing else needs to change. `tests/unit/tst_classification.cpp` shows how to test it.
//
// A pattern names a module, without the last part (`weight`, `bias`, `qweight`, `scales` ...), which
// the classifier takes off first; parameters that have no such part (`A_log`, `experts.down_proj`) are
// matched whole. Patterns match whole names, segment by segment:
//   P        any prefix a decoder may have: nothing, model., model.language_model., backbone. ...
//   N        a number (layer, expert)
//   {a,b}    one of these segments
//   *        any one segment
//   **       the rest, one segment or more (last only)
// What counts as which component: scales and zero points go with their weight; norms of queries, keys and
// latents, sinks and the sparse-attention indexer are attention; everything of a draft head is mtp;
// everything of a tower or projector is vision or audio.
// Tensors of layers beyond num_hidden_layers are mtp before any rule is asked.
#include "models/checkpoint/classificationrules.h"

#include <array>
#include <cstddef>

namespace weir {

namespace {

using enum Component;
using R = ClassificationRule;

// ---- safetensors -------------------------------------------------------------------------------

constexpr R towerRules[] = {
    {"P.visual.**", Vision, Role::Tower},
    {"P.vision_tower.**", Vision, Role::Tower},
    {"P.vision_model.**", Vision, Role::Tower},
    {"P.vision_backbone.**", Vision, Role::Tower},
    {"P.vision_encoder.**", Vision, Role::Tower},
    {"P.vision_embedder.**", Vision, Role::Tower},
    {"P.embed_vision.**", Vision, Role::Projector},
    {"P.multi_modal_projector.**", Vision, Role::Projector},
    {"P.mm_projector.**", Vision, Role::Projector},
    {"P.vision_projection.**", Vision, Role::Projector},
    {"P.patch_merger.**", Vision, Role::Projector},
    {"P.image_newline", Vision, Role::Projector},
    {"P.embed_tokens_extend.image_embed.**", Vision, Role::Tower}, // Phi-4-multimodal
    {"P.{vpm,resampler}.**", Vision, Role::Tower},                 // MiniCPM
    {"P.{audio_tower,audio_model,audio_encoder,sound_encoder}.**", Audio, Role::Tower},
    {"P.{embed_audio,audio_projector,sound_projection}.**", Audio, Role::Projector},
    {"{code2wav,talker,token2wav}.**", Audio, Role::Tower},
    {"P.embed_tokens_extend.audio_embed.**", Audio, Role::Tower},
    {"P.{apm,audio_projection_layer,tts}.**", Audio, Role::Tower},
    {"P.mm_whisper_embeddings.{whisper_encoder,audio_language_projection}.**", Audio, Role::Tower},
};

constexpr R draftRules[] = {
    {"P.mtp.{fc,eh_proj}", Mtp, Role::MtpProjection},
    {"P.mtp.layers.N.{fc,eh_proj}", Mtp, Role::MtpProjection},
    {"P.mtp.layers.N.{mlp,mixer}.{experts,switch_mlp}.**", Mtp, Role::MtpExperts},
    {"P.mtp.layers.N.self_attn.**", Mtp, Role::MtpAttention},
    {"P.mtp.layers.N.mixer.{q_proj,k_proj,v_proj,o_proj}", Mtp, Role::MtpAttention},
    {"P.mtp.embed_tokens", Mtp, Role::MtpEmbedding},
    {"P.mtp.{lm_head,shared_head}", Mtp, Role::MtpHead},
    {"P.mtp.**", Mtp, Role::MtpRest},
    {"P.mtp_layers.**", Mtp, Role::MtpRest},
    {"P.mtp_block.**", Mtp, Role::MtpRest},
    {"P.{mtp_emb_norm,mtp_hidden_norm,mtp_linear_proj}.**", Mtp, Role::MtpRest},
};

constexpr R tableRules[] = {
    {"P.{embed_tokens,embeddings,wte,embed,word_embeddings,tok_embeddings,embed_in}", EmbedTokens,
     Role::Embedding},
    {"P.embeddings.word_embeddings", EmbedTokens, Role::Embedding},
    {"P.mm_whisper_embeddings.tok_embeddings", EmbedTokens, Role::Embedding},
    {"P.embed_tokens_per_layer", LookupTables, Role::Embedding},
    // n-gram tables: LongCat-Flash-Lite's in front of the layers, Engram's within some of them
    {"P.ngram_embeddings.embedders.N", LookupTables, Role::Embedding},
    {"P.ngram_embeddings.word_embeddings", EmbedTokens, Role::Embedding},
    {"P.ngram_embeddings.post_projs.N", DenseMlp, Role::Up},
    {"P.layers.N.engram.{multi_head_embedding,embedding,embeddings}.**", LookupTables, Role::Embedding},
    {"P.layers.N.engram.{embedding,embeddings}", LookupTables, Role::Embedding},
    {"P.layers.N.engram.{value_proj,key_proj}", DenseMlp, Role::Up},
    {"P.layers.N.engram.{value_projs,key_projs}.N", DenseMlp, Role::Up},
    {"P.layers.N.engram.**", Other},
    {"P.{lm_head,embed_out,head,output}", LmHead, Role::Head},
    {"P.{norm,norm_f,final_layernorm,ln_f,final_norm,embedding_norm}", Norm, Role::NormWeight},
};

constexpr R normRules[] = {
    {"P.layers.N.{input_layernorm,post_attention_layernorm,pre_attention_layernorm}", Norm, Role::NormWeight},
    {"P.layers.N.{pre_feedforward_layernorm,post_feedforward_layernorm}", Norm, Role::NormWeight},
    {"P.layers.N.{pre_feedforward_layernorm_2,post_feedforward_layernorm_1,post_feedforward_layernorm_2}",
     Norm, Role::NormWeight},
    {"P.layers.N.{norm,operator_norm,ffn_norm,attention_norm,pre_ff_layernorm,pre_mlp_layernorm,post_mlp_"
     "layernorm}",
     Norm, Role::NormWeight},
    {"P.layers.N.{pre_moe_layernorm,post_moe_layernorm,attn_norm,mlp_norm,ln_1,ln_2,layernorm}", Norm,
     Role::NormWeight},
    {"P.layers.N.{post_self_attn_layernorm,post_mlp_layernorm,attention_layernorm,feedforward_layernorm}",
     Norm, Role::NormWeight},
};

constexpr R attentionRules[] = {
    {"P.layers.N.self_attn.q_proj", Attention, Role::Query},
    {"P.layers.N.self_attn.k_proj", Attention, Role::Key},
    {"P.layers.N.self_attn.v_proj", Attention, Role::Value},
    {"P.layers.N.self_attn.{qkv_proj,query_key_value,W_pack}", Attention, Role::QueryKeyValue},
    {"P.layers.N.self_attn.{o_proj,dense,out_proj}", Attention, Role::AttentionOutput},
    {"P.layers.N.self_attn.{g_proj,gate_proj}", Attention, Role::AttentionGate},
    {"P.layers.N.self_attn.{q_norm,k_norm,q_layernorm,k_layernorm,query_layernorm,key_layernorm,sinks,v_"
     "norm}",
     Attention, Role::AttentionSmall},
    {"P.layers.N.self_attn.{q_layernorm,k_layernorm}.norms.N", Attention, Role::AttentionSmall},
    {"P.layers.N.self_attn", Attention, Role::AttentionSmall}, // k_scale and v_scale of a quantized KV cache
    {"P.layers.N.self_attn.attn", Attention, Role::AttentionSmall},
};

constexpr R latentAttentionRules[] = {
    {"P.layers.N.self_attn.{q_a_proj,kv_a_proj_with_mqa,q_a_proj_with_mqa,fused_qkv_a_proj_with_mqa}",
     Attention, Role::MlaDown},
    {"P.layers.N.self_attn.{q_b_proj,kv_b_proj}", Attention, Role::MlaUp},
    {"P.layers.N.self_attn.{q_a_layernorm,kv_a_layernorm}", Attention, Role::AttentionSmall},
    {"P.layers.N.self_attn.indexer.**", Attention, Role::Indexer},
};

constexpr R deltaNetRules[] = {
    {"P.layers.N.linear_attn.{in_proj_qkv,in_proj_z,in_proj_a,in_proj_b,in_proj_qkvz,in_proj_ba}",
     LinearAttention, Role::RecurrentInput},
    {"P.layers.N.linear_attn.out_proj", LinearAttention, Role::RecurrentOutput},
    {"P.layers.N.linear_attn.{conv1d,A_log,dt_bias,norm}", LinearAttention, Role::RecurrentSmall},
};

// Kimi Delta Attention shares the names of attention; A_log in the layer tells them apart.
constexpr R kdaRules[] = {
    {"P.layers.N.self_attn.{q_proj,k_proj,v_proj,b_proj,f_a_proj,f_b_proj,g_a_proj,g_b_proj}",
     LinearAttention, Role::RecurrentInput, Where::StateLayer},
    {"P.layers.N.self_attn.o_proj", LinearAttention, Role::RecurrentOutput, Where::StateLayer},
    {"P.layers.N.self_attn.{q_conv1d,k_conv1d,v_conv1d,A_log,dt_bias,o_norm}", LinearAttention,
     Role::RecurrentSmall, Where::StateLayer},
};

constexpr R mambaRules[] = {
    {"P.layers.N.{mixer,mamba}.{in_proj,x_proj,dt_proj}", LinearAttention, Role::RecurrentInput},
    {"P.layers.N.{mixer,mamba}.out_proj", LinearAttention, Role::RecurrentOutput},
    {"P.layers.N.{mixer,mamba}.{conv1d,A_log,D,dt_bias,norm,dt_layernorm,b_layernorm,c_layernorm}",
     LinearAttention, Role::RecurrentSmall},
};

constexpr R shortConvolutionRules[] = {
    {"P.layers.N.conv.in_proj", LinearAttention, Role::RecurrentInput},
    {"P.layers.N.conv.out_proj", LinearAttention, Role::RecurrentOutput},
    {"P.layers.N.conv.conv", LinearAttention, Role::RecurrentSmall},
};

// Nemotron-H: one mixer a layer, named alike whatever it is.
constexpr R nemotronRules[] = {
    {"P.layers.N.mixer.q_proj", Attention, Role::Query},
    {"P.layers.N.mixer.k_proj", Attention, Role::Key},
    {"P.layers.N.mixer.v_proj", Attention, Role::Value},
    {"P.layers.N.mixer.o_proj", Attention, Role::AttentionOutput},
    {"P.layers.N.mixer", Attention, Role::AttentionSmall},
    {"P.layers.N.mixer.experts.N.up_proj", RoutedExperts, Role::Up},
    {"P.layers.N.mixer.experts.N.down_proj", RoutedExperts, Role::Down},
    {"P.layers.N.mixer.shared_experts.up_proj", SharedExpert, Role::Up},
    {"P.layers.N.mixer.shared_experts.down_proj", SharedExpert, Role::Down},
    {"P.layers.N.mixer.{fc1_latent_proj,fc2_latent_proj}", SharedExpert, Role::LatentProjection},
    {"P.layers.N.mixer.gate.e_score_correction_bias", Router, Role::RouterBias},
    {"P.layers.N.mixer.gate", Router, Role::RouterWeight},
    {"P.layers.N.mixer.up_proj", DenseMlp, Role::Up},
    {"P.layers.N.mixer.down_proj", DenseMlp, Role::Down},
};

constexpr R denseRules[] = {
    {"P.layers.N.{mlp,feed_forward}.{gate_proj,w1}", DenseMlp, Role::Gate},
    {"P.layers.N.{mlp,feed_forward}.{up_proj,w3,fc1,c_fc}", DenseMlp, Role::Up},
    {"P.layers.N.{mlp,feed_forward}.{down_proj,w2,fc2,c_proj}", DenseMlp, Role::Down},
    {"P.layers.N.{mlp,feed_forward}.{gate_up_proj,dense_h_to_4h}", DenseMlp, Role::GateUp},
    {"P.layers.N.mlp.dense_4h_to_h", DenseMlp, Role::Down},
    {"P.layers.N.mlp.act_fn.{alpha_p,alpha_n,beta,eps}", DenseMlp},
};

constexpr R expertRules[] = {
    // one by one
    {"P.layers.N.{mlp,feed_forward}.experts.N.{gate_proj,w1}", RoutedExperts, Role::Gate},
    {"P.layers.N.{mlp,feed_forward}.experts.N.{up_proj,w3}", RoutedExperts, Role::Up},
    {"P.layers.N.{mlp,feed_forward}.experts.N.{down_proj,w2}", RoutedExperts, Role::Down},
    {"P.layers.N.block_sparse_moe.experts.N.w1", RoutedExperts, Role::Gate},
    {"P.layers.N.block_sparse_moe.experts.N.w3", RoutedExperts, Role::Up},
    {"P.layers.N.block_sparse_moe.experts.N.w2", RoutedExperts, Role::Down},
    // fused, three dimensions
    {"P.layers.N.{mlp,feed_forward}.experts.gate_up_proj", RoutedExperts, Role::GateUp},
    {"P.layers.N.{mlp,feed_forward}.experts.{gate_proj,w1}", RoutedExperts, Role::Gate},
    {"P.layers.N.{mlp,feed_forward}.experts.{up_proj,w3}", RoutedExperts, Role::Up},
    {"P.layers.N.{mlp,feed_forward}.experts.{down_proj,w2}", RoutedExperts, Role::Down},
    {"P.layers.N.experts.gate_up_proj", RoutedExperts, Role::GateUp},
    {"P.layers.N.experts.down_proj", RoutedExperts, Role::Down},
    {"P.layers.N.experts.N.{gate_proj,w1}", RoutedExperts, Role::Gate},
    {"P.layers.N.experts.N.{up_proj,w3}", RoutedExperts, Role::Up},
    {"P.layers.N.experts.N.{down_proj,w2}", RoutedExperts, Role::Down},
    {"P.layers.N.{mlp,block_sparse_moe,feed_forward}.switch_mlp.gate_proj", RoutedExperts, Role::Gate},
    {"P.layers.N.{mlp,block_sparse_moe,feed_forward}.switch_mlp.up_proj", RoutedExperts, Role::Up},
    {"P.layers.N.{mlp,block_sparse_moe,feed_forward}.switch_mlp.down_proj", RoutedExperts, Role::Down},
    {"P.layers.N.experts.switch_glu.{gate_proj,up_proj,down_proj}", RoutedExperts},
    {"P.layers.N.moe.{gate_proj,up_proj,down_proj}", RoutedExperts},
    {"P.layers.N.block_sparse_moe.input_linear", RoutedExperts, Role::GateUp},
    {"P.layers.N.block_sparse_moe.output_linear", RoutedExperts, Role::Down},
};

constexpr R sharedExpertRules[] = {
    {"P.layers.N.{mlp,feed_forward,block_sparse_moe}.{shared_expert,shared_experts,shared_mlp}.{gate_proj,"
     "w1}",
     SharedExpert, Role::Gate},
    {"P.layers.N.{mlp,feed_forward,block_sparse_moe}.{shared_expert,shared_experts,shared_mlp}.{up_proj,w3}",
     SharedExpert, Role::Up},
    {"P.layers.N.{mlp,feed_forward,block_sparse_moe}.{shared_expert,shared_experts,shared_mlp}.{down_proj,"
     "w2}",
     SharedExpert, Role::Down},
    {"P.layers.N.{mlp,feed_forward,block_sparse_moe}.{shared_expert,shared_experts,shared_mlp}.gate_up_proj",
     SharedExpert, Role::GateUp},
    {"P.layers.N.{mlp,feed_forward}.shared_expert_gate", SharedExpert, Role::SharedExpertGate},
    {"P.layers.N.shared_mlp.input_linear", SharedExpert, Role::GateUp},
    {"P.layers.N.shared_mlp.output_linear", SharedExpert, Role::Down},
    {"P.layers.N.share_expert.{gate_proj,up_proj,down_proj}", SharedExpert},
};

constexpr R routerRules[] = {
    {"P.layers.N.{mlp,block_sparse_moe,feed_forward,moe}.gate.{e_score_correction_bias,expert_bias}", Router,
     Role::RouterBias},
    {"P.layers.N.{mlp,block_sparse_moe,feed_forward,moe}.e_score_correction_bias", Router, Role::RouterBias},
    {"P.layers.N.{mlp,block_sparse_moe,feed_forward,moe}.{expert_bias,router_bias}", Router,
     Role::RouterBias},
    {"P.layers.N.mlp.moe_statics.e_score_correction_bias", Router, Role::RouterBias},
    {"P.layers.N.{mlp,block_sparse_moe,feed_forward,moe}.{gate,router}", Router, Role::RouterWeight},
    {"P.layers.N.mlp.gate.wg", Router, Role::RouterWeight},
    {"P.layers.N.{mlp,block_sparse_moe}.router.layer", Router, Role::RouterWeight},
    {"P.layers.N.router.proj", Router, Role::RouterWeight},
    {"P.layers.N.router.{scale,per_expert_scale}", Router, Role::RouterBias},
    {"P.layers.N.router", Router, Role::RouterWeight},
};

// Gemma 3n / 4: a scalar a layer, and per-layer inputs of the small models.
constexpr R gemmaRules[] = {
    {"P.layers.N.layer_scalar", Other},
    {"P.per_layer_model_projection", DenseMlp, Role::Up},
    {"P.layers.N.{per_layer_input_gate,per_layer_projection}", DenseMlp, Role::Up},
    {"P.{per_layer_projection_norm}", Norm, Role::NormWeight},
    {"P.layers.N.post_per_layer_input_norm", Norm, Role::NormWeight},
    {"P.{altup_projections,altup_unembed_projections}.N", DenseMlp, Role::Up},
    {"P.layers.N.altup.{modality_router,prediction_coefs,correction_coefs}", DenseMlp},
    {"P.layers.N.altup.{router_norm,correct_output_scale}", Norm},
    {"P.layers.N.laurel.linear_left", DenseMlp, Role::Up},
    {"P.layers.N.laurel.linear_right", DenseMlp, Role::Down},
    {"P.layers.N.laurel.post_laurel_norm", Norm, Role::NormWeight},
};

// LongCat-Flash: two attentions and two dense MLPs in every layer, beside its experts.
constexpr R longcatRules[] = {
    {"P.layers.N.self_attn.N.{q_a_proj,kv_a_proj_with_mqa}", Attention, Role::MlaDown},
    {"P.layers.N.self_attn.N.{q_b_proj,kv_b_proj}", Attention, Role::MlaUp},
    {"P.layers.N.self_attn.N.o_proj", Attention, Role::AttentionOutput},
    {"P.layers.N.self_attn.N.{q_a_layernorm,kv_a_layernorm}", Attention, Role::AttentionSmall},
    {"P.layers.N.mlps.N.gate_proj", DenseMlp, Role::Gate},
    {"P.layers.N.mlps.N.up_proj", DenseMlp, Role::Up},
    {"P.layers.N.mlps.N.down_proj", DenseMlp, Role::Down},
    {"P.layers.N.mlp.router.classifier", Router, Role::RouterWeight},
    {"P.layers.N.mlp.router.e_score_correction_bias", Router, Role::RouterBias},
    {"P.layers.N.{input_layernorm,post_attention_layernorm}.N", Norm, Role::NormWeight},
};

// Phi-4-multimodal: adapters for what is seen and heard beside each matrix.
constexpr R modalAdapterRules[] = {
    {"P.layers.N.self_attn.qkv_proj.base_layer", Attention, Role::QueryKeyValue},
    {"P.layers.N.self_attn.o_proj.base_layer", Attention, Role::AttentionOutput},
    {"P.layers.N.mlp.gate_up_proj.base_layer", DenseMlp, Role::GateUp},
    {"P.layers.N.mlp.down_proj.base_layer", DenseMlp, Role::Down},
    {"P.layers.N.{self_attn,mlp}.*.{lora_A,lora_B}.vision", Vision, Role::Projector},
    {"P.layers.N.{self_attn,mlp}.*.{lora_A,lora_B}.speech", Audio, Role::Projector},
};

// Other ways to name attention: Step, Ling, Phi, GPT-NeoX.
constexpr R otherAttentionRules[] = {
    {"P.{layers,h,blocks}.N.{attn,attention}.{q_proj,query}", Attention, Role::Query},
    {"P.{layers,h,blocks}.N.{attn,attention}.{k_proj,key}", Attention, Role::Key},
    {"P.{layers,h,blocks}.N.{attn,attention}.{v_proj,value}", Attention, Role::Value},
    {"P.{layers,h,blocks}.N.{attn,attention}.{qkv_proj,query_key_value,c_attn,Wqkv}", Attention,
     Role::QueryKeyValue},
    {"P.{layers,h,blocks}.N.{attn,attention}.{o_proj,dense,c_proj,out_proj}", Attention,
     Role::AttentionOutput},
    {"P.{layers,h,blocks}.N.{attn,attention}.{q_norm,k_norm,query_layernorm,key_layernorm}", Attention,
     Role::AttentionSmall},
    {"P.{h,blocks}.N.mlp.{c_fc,fc1,up_proj}", DenseMlp, Role::Up},
    {"P.{h,blocks}.N.mlp.{c_proj,fc2,down_proj}", DenseMlp, Role::Down},
    {"P.{h,blocks}.N.{ln_1,ln_2,norm1,norm2}", Norm, Role::NormWeight},
};

// Mistral's own naming (consolidated.safetensors), which is the original Llama's too.
constexpr R nativeRules[] = {
    {"P.layers.N.attention.wq", Attention, Role::Query},
    {"P.layers.N.attention.wk", Attention, Role::Key},
    {"P.layers.N.attention.wv", Attention, Role::Value},
    {"P.layers.N.attention.wo", Attention, Role::AttentionOutput},
    {"P.layers.N.{attention_norm,ffn_norm}", Norm, Role::NormWeight},
};

// DeepSeek V4: short names, `ffn` and `attn`.
constexpr R shortNameRules[] = {
    {"P.layers.N.ffn.gate.{bias,e_score_correction_bias,tid2eid}", Router, Role::RouterBias},
    {"P.layers.N.ffn.gate", Router, Role::RouterWeight},
    {"P.layers.N.ffn.shared_experts.{w1,gate_proj}", SharedExpert, Role::Gate},
    {"P.layers.N.ffn.shared_experts.{w3,up_proj}", SharedExpert, Role::Up},
    {"P.layers.N.ffn.shared_experts.{w2,down_proj}", SharedExpert, Role::Down},
    {"P.layers.N.ffn.experts.N.{w1,gate_proj}", RoutedExperts, Role::Gate},
    {"P.layers.N.ffn.experts.N.{w3,up_proj}", RoutedExperts, Role::Up},
    {"P.layers.N.ffn.experts.N.{w2,down_proj}", RoutedExperts, Role::Down},
    {"P.layers.N.attn.{wq_a,wkv,wo_a}", Attention, Role::MlaDown},
    {"P.layers.N.attn.{wq_b,wo_b}", Attention, Role::MlaUp},
    {"P.layers.N.attn.{indexer,compressor}.**", Attention, Role::Indexer},
    {"P.layers.N.attn.{attn_sink,kv_norm}", Attention, Role::AttentionSmall},
};

// ---- GGUF ---------------------------------------------------------------------------------------
// Source: llama.cpp src/llama-arch.cpp (LLM_TENSOR_NAMES).

// Kimi-Linear: in a block with a recurrence the attention names are its projections.
constexpr R ggufKdaRules[] = {
    {"blk.N.{attn_q,attn_k,attn_v}", LinearAttention, Role::RecurrentInput, Where::StateLayer},
    {"blk.N.attn_output", LinearAttention, Role::RecurrentOutput, Where::StateLayer},
};

constexpr R ggufRules[] = {
    {"blk.N.nextn.eh_proj", Mtp, Role::MtpProjection},
    {"blk.N.nextn.embed_tokens", Mtp, Role::MtpEmbedding},
    {"blk.N.nextn.shared_head_head", Mtp, Role::MtpHead},
    {"blk.N.nextn.**", Mtp, Role::MtpRest},
    {"mtp.**", Mtp, Role::MtpRest},
    {"v.**", Vision, Role::Tower},
    {"mm.**", Vision, Role::Projector},
    {"a.**", Audio, Role::Tower},
    {"token_embd", EmbedTokens, Role::Embedding},
    {"{position_embd,token_types}", EmbedTokens, Role::Embedding},
    {"per_layer_token_embd", LookupTables, Role::Embedding},
    {"per_layer_model_proj", DenseMlp, Role::Up},
    {"per_layer_proj_norm", Norm, Role::NormWeight},
    {"output", LmHead, Role::Head},
    {"{output_norm,token_embd_norm}", Norm, Role::NormWeight},
    {"{rope_freqs,rope_factors_long,rope_factors_short}", Other},
    // linear attention; in a block with a recurrence attn_qkv and attn_gate are its projections
    {"blk.N.{ssm_in,ssm_x,ssm_ba,ssm_alpha,ssm_beta,ssm_f_a,ssm_f_b,ssm_g_a,ssm_g_b}", LinearAttention,
     Role::RecurrentInput},
    {"blk.N.ssm_out", LinearAttention, Role::RecurrentOutput},
    {"blk.N.{ssm_a,ssm_d,ssm_dt,ssm_conv1d,ssm_norm,ssm_conv1d_q,ssm_conv1d_k,ssm_conv1d_v,ssm_dt_norm,ssm_b_"
     "norm,ssm_c_norm}",
     LinearAttention, Role::RecurrentSmall},
    {"blk.N.shortconv.in_proj", LinearAttention, Role::RecurrentInput},
    {"blk.N.shortconv.out_proj", LinearAttention, Role::RecurrentOutput},
    {"blk.N.shortconv.conv", LinearAttention, Role::RecurrentSmall},
    {"blk.N.{attn_qkv,attn_gate}", LinearAttention, Role::RecurrentInput, Where::StateLayer},
    // attention
    {"blk.N.attn_q", Attention, Role::Query},
    {"blk.N.attn_k", Attention, Role::Key},
    {"blk.N.attn_v", Attention, Role::Value},
    {"blk.N.attn_qkv", Attention, Role::QueryKeyValue},
    {"blk.N.attn_output", Attention, Role::AttentionOutput},
    {"blk.N.attn_gate", Attention, Role::AttentionGate},
    {"blk.N.{attn_q_a,attn_kv_a_mqa}", Attention, Role::MlaDown},
    {"blk.N.{attn_q_b,attn_kv_b,attn_k_b,attn_v_b}", Attention, Role::MlaUp},
    {"blk.N.{attn_q_norm,attn_k_norm,attn_q_a_norm,attn_kv_a_norm,attn_sinks,attn_sub_norm,attn_rot_embd}",
     Attention, Role::AttentionSmall},
    {"blk.N.indexer.**", Attention, Role::Indexer},
    {"blk.N.{indexer_compressor_k,indexer_compressor_gate,indexer_compressor_norm}", Attention,
     Role::Indexer},
    // experts and feed-forward
    {"blk.N.ffn_gate_exps", RoutedExperts, Role::Gate},
    {"blk.N.ffn_up_exps", RoutedExperts, Role::Up},
    {"blk.N.ffn_down_exps", RoutedExperts, Role::Down},
    {"blk.N.ffn_gate_up_exps", RoutedExperts, Role::GateUp},
    {"blk.N.ffn_gate.N", RoutedExperts, Role::Gate},
    {"blk.N.ffn_up.N", RoutedExperts, Role::Up},
    {"blk.N.ffn_down.N", RoutedExperts, Role::Down},
    {"blk.N.ffn_gate_inp_shexp", SharedExpert, Role::SharedExpertGate},
    {"blk.N.ffn_gate_shexp", SharedExpert, Role::Gate},
    {"blk.N.ffn_up_shexp", SharedExpert, Role::Up},
    {"blk.N.ffn_down_shexp", SharedExpert, Role::Down},
    {"blk.N.{ffn_latent_down,ffn_latent_up}", SharedExpert, Role::LatentProjection},
    {"blk.N.ffn_gate_inp", Router, Role::RouterWeight},
    {"blk.N.ffn_gate_inp.scale", Router, Role::RouterBias},
    {"blk.N.exp_probs_b", Router, Role::RouterBias},
    {"blk.N.ffn_gate", DenseMlp, Role::Gate},
    {"blk.N.ffn_up", DenseMlp, Role::Up},
    {"blk.N.ffn_down", DenseMlp, Role::Down},
    {"blk.N.{inp_gate,proj}", DenseMlp, Role::Up},
    // norms and scalars
    {"blk.N.{attn_norm,attn_norm_2,ffn_norm,post_attention_norm,post_ffw_norm,attn_post_norm,ffn_post_norm,"
     "layer_output_norm,attn_output_norm}",
     Norm, Role::NormWeight},
    {"blk.N.{pre_ffw_norm_2,post_ffw_norm_1,post_ffw_norm_2,ffn_norm_exps,post_norm,ffn_sub_norm}", Norm,
     Role::NormWeight},
    {"blk.N.{layer_output_scale,layer_scalar}", Other},
    // Gemma 3n
    {"{altup_proj,altup_unembd_proj}", DenseMlp, Role::Up},
    {"blk.N.{altup_correct_coef,altup_predict_coef,altup_router}", DenseMlp},
    {"blk.N.{altup_correct_scale,altup_router_norm,laurel_post_norm}", Norm},
    {"blk.N.laurel_l", DenseMlp, Role::Up},
    {"blk.N.laurel_r", DenseMlp, Role::Down},
    // RWKV
    {"blk.N.{time_mix_key,time_mix_value,time_mix_receptance,time_mix_gate,time_mix_w1,time_mix_w2,time_mix_"
     "a1,"
     "time_mix_a2,time_mix_v1,time_mix_v2,time_mix_g1,time_mix_g2,time_mix_decay_w1,time_mix_decay_w2}",
     LinearAttention, Role::RecurrentInput},
    {"blk.N.time_mix_output", LinearAttention, Role::RecurrentOutput},
    {"blk.N.{time_mix_lerp_x,time_mix_lerp_w,time_mix_lerp_k,time_mix_lerp_v,time_mix_lerp_r,time_mix_lerp_g,"
     "time_mix_lerp_fused,time_mix_first,time_mix_decay,time_mix_ln,time_mix_w0,time_mix_a0,time_mix_v0,"
     "time_mix_k_k,time_mix_k_a,time_mix_r_k}",
     LinearAttention, Role::RecurrentSmall},
    {"blk.N.{channel_mix_key,channel_mix_receptance}", DenseMlp, Role::Up},
    {"blk.N.channel_mix_value", DenseMlp, Role::Down},
    {"blk.N.{channel_mix_lerp_k,channel_mix_lerp_r}", DenseMlp},
};

// ---- families -----------------------------------------------------------------------------------

constexpr std::array denseBlocks{RuleBlock(towerRules), RuleBlock(draftRules),     RuleBlock(tableRules),
                                 RuleBlock(normRules),  RuleBlock(attentionRules), RuleBlock(denseRules),
                                 RuleBlock(nativeRules)};
constexpr std::array gemmaBlocks{RuleBlock(towerRules),  RuleBlock(draftRules),     RuleBlock(tableRules),
                                 RuleBlock(normRules),   RuleBlock(attentionRules), RuleBlock(routerRules),
                                 RuleBlock(expertRules), RuleBlock(denseRules),     RuleBlock(gemmaRules)};
constexpr std::array moeBlocks{
    RuleBlock(towerRules),        RuleBlock(draftRules),     RuleBlock(tableRules),
    RuleBlock(normRules),         RuleBlock(attentionRules), RuleBlock(routerRules),
    RuleBlock(sharedExpertRules), RuleBlock(expertRules),    RuleBlock(denseRules)};
constexpr std::array latentMoeBlocks{RuleBlock(towerRules),           RuleBlock(draftRules),
                                     RuleBlock(tableRules),           RuleBlock(normRules),
                                     RuleBlock(latentAttentionRules), RuleBlock(attentionRules),
                                     RuleBlock(routerRules),          RuleBlock(sharedExpertRules),
                                     RuleBlock(expertRules),          RuleBlock(denseRules)};
constexpr std::array deltaNetBlocks{
    RuleBlock(towerRules),    RuleBlock(draftRules),     RuleBlock(tableRules),  RuleBlock(normRules),
    RuleBlock(deltaNetRules), RuleBlock(attentionRules), RuleBlock(routerRules), RuleBlock(sharedExpertRules),
    RuleBlock(expertRules),   RuleBlock(denseRules)};
constexpr std::array kdaBlocks{
    RuleBlock(towerRules),     RuleBlock(draftRules),  RuleBlock(tableRules),
    RuleBlock(normRules),      RuleBlock(kdaRules),    RuleBlock(latentAttentionRules),
    RuleBlock(attentionRules), RuleBlock(routerRules), RuleBlock(sharedExpertRules),
    RuleBlock(expertRules),    RuleBlock(denseRules)};
constexpr std::array nemotronBlocks{RuleBlock(towerRules), RuleBlock(draftRules), RuleBlock(tableRules),
                                    RuleBlock(normRules),  RuleBlock(mambaRules), RuleBlock(nemotronRules)};
constexpr std::array hybridBlocks{
    RuleBlock(towerRules),     RuleBlock(draftRules),  RuleBlock(tableRules),
    RuleBlock(normRules),      RuleBlock(mambaRules),  RuleBlock(shortConvolutionRules),
    RuleBlock(attentionRules), RuleBlock(routerRules), RuleBlock(sharedExpertRules),
    RuleBlock(expertRules),    RuleBlock(denseRules)};
constexpr std::array genericBlocks{RuleBlock(towerRules),       RuleBlock(draftRules),
                                   RuleBlock(tableRules),       RuleBlock(normRules),
                                   RuleBlock(deltaNetRules),    RuleBlock(kdaRules),
                                   RuleBlock(mambaRules),       RuleBlock(shortConvolutionRules),
                                   RuleBlock(nemotronRules),    RuleBlock(latentAttentionRules),
                                   RuleBlock(attentionRules),   RuleBlock(otherAttentionRules),
                                   RuleBlock(routerRules),      RuleBlock(sharedExpertRules),
                                   RuleBlock(expertRules),      RuleBlock(denseRules),
                                   RuleBlock(gemmaRules),       RuleBlock(nativeRules),
                                   RuleBlock(shortNameRules),   RuleBlock(longcatRules),
                                   RuleBlock(modalAdapterRules)};
constexpr std::array longcatBlocks{RuleBlock(towerRules), RuleBlock(draftRules),   RuleBlock(tableRules),
                                   RuleBlock(normRules),  RuleBlock(longcatRules), RuleBlock(expertRules)};
constexpr std::array modalAdapterBlocks{
    RuleBlock(towerRules),        RuleBlock(draftRules),     RuleBlock(tableRules), RuleBlock(normRules),
    RuleBlock(modalAdapterRules), RuleBlock(attentionRules), RuleBlock(denseRules)};
constexpr std::array ggufBlocks{RuleBlock(ggufRules)};
constexpr std::array ggufKdaBlocks{RuleBlock(ggufKdaRules), RuleBlock(ggufRules)};

using Names = std::string_view;
constexpr Names llamaNames[] = {"LlamaForCausalLM",
                                "MistralForCausalLM",
                                "Qwen2ForCausalLM",
                                "Qwen3ForCausalLM",
                                "Phi3ForCausalLM",
                                "Olmo3ForCausalLM",
                                "Mistral3ForConditionalGeneration",
                                "Ministral3ForCausalLM",
                                "Qwen2_5_VLForConditionalGeneration",
                                "Qwen3VLForConditionalGeneration",
                                "Qwen2VLForConditionalGeneration",
                                "MinistralForCausalLM",
                                "GlmForCausalLM",
                                "Glm4ForCausalLM",
                                "Glm4vForConditionalGeneration",
                                "GraniteForCausalLM",
                                "OlmoForCausalLM",
                                "Olmo2ForCausalLM",
                                "SeedOssForCausalLM",
                                "Ernie4_5ForCausalLM",
                                "SmolLM3ForCausalLM",
                                "CohereForCausalLM",
                                "Cohere2ForCausalLM",
                                "Starcoder2ForCausalLM",
                                "Exaone4ForCausalLM",
                                "StableLmForCausalLM",
                                "ArceeForCausalLM",
                                "ApertusForCausalLM",
                                "NemotronForCausalLM",
                                "PhiForCausalLM",
                                "HunYuanDenseV1ForCausalLM",
                                "VoxtralForConditionalGeneration",
                                "Qwen2AudioForConditionalGeneration",
                                "Qwen2_5OmniForConditionalGeneration",
                                "UltravoxModel",
                                "MiniCPMO",
                                "MiniCPMV"};
constexpr Names gemmaNames[] = {"GemmaForCausalLM",   "Gemma2ForCausalLM",
                                "Gemma3ForCausalLM",  "Gemma3ForConditionalGeneration",
                                "Gemma4ForCausalLM",  "Gemma4ForConditionalGeneration",
                                "Gemma3nForCausalLM", "Gemma3nForConditionalGeneration"};
constexpr Names moeNames[] = {"MixtralForCausalLM",
                              "Qwen2MoeForCausalLM",
                              "Qwen3MoeForCausalLM",
                              "GptOssForCausalLM",
                              "MiniMaxM2ForCausalLM",
                              "Glm4MoeForCausalLM",
                              "Llama4ForConditionalGeneration",
                              "Llama4ForCausalLM",
                              "Qwen3VLMoeForConditionalGeneration",
                              "PhiMoEForCausalLM",
                              "PhimoeForCausalLM",
                              "OlmoeForCausalLM",
                              "FlexOlmoForCausalLM",
                              "Dots1ForCausalLM",
                              "Glm4vMoeForConditionalGeneration",
                              "ExaoneMoeForCausalLM",
                              "SolarOpenForCausalLM",
                              "Ernie4_5_MoeForCausalLM",
                              "HunYuanMoEV1ForCausalLM",
                              "Qwen3OmniMoeForConditionalGeneration"};
constexpr Names latentMoeNames[] = {"DeepseekV2ForCausalLM",           "DeepseekV3ForCausalLM",
                                    "DeepseekV32ForCausalLM",          "KimiK2ForCausalLM",
                                    "KimiK25ForConditionalGeneration", "Kimi_K25ForConditionalGeneration",
                                    "Glm4MoeLiteForCausalLM",          "GlmMoeDsaForCausalLM"};
constexpr Names deltaNetNames[] = {"Qwen3NextForCausalLM", "Qwen3_5ForConditionalGeneration",
                                   "Qwen3_5ForCausalLM", "Qwen3_5MoeForConditionalGeneration",
                                   "Qwen3_5MoeForCausalLM"};
constexpr Names kdaNames[] = {"KimiLinearForCausalLM"};
constexpr Names nemotronNames[] = {"NemotronHForCausalLM", "NemotronH_Nano_VL_V2"};
constexpr Names hybridNames[] = {"GraniteMoeHybridForCausalLM",
                                 "GraniteMoeForCausalLM",
                                 "FalconH1ForCausalLM",
                                 "Lfm2ForCausalLM",
                                 "Lfm2MoeForCausalLM",
                                 "JambaForCausalLM",
                                 "GraniteMoeSharedForCausalLM",
                                 "BambaForCausalLM",
                                 "Lfm2VlForConditionalGeneration"};
constexpr Names longcatNames[] = {"LongcatFlashForCausalLM", "LongcatFlashNgramForCausalLM"};
constexpr Names modalAdapterNames[] = {"Phi4MMForCausalLM", "Phi4MultimodalForCausalLM"};
constexpr Names ggufNames[] = {
    "llama",   "llama4",     "qwen2",         "qwen2moe",   "qwen2vl",        "qwen3",   "qwen3moe",
    "qwen3vl", "qwen3vlmoe", "qwen3next",     "qwen35",     "qwen35moe",      "gpt-oss", "deepseek2",
    "glm4",    "glm4moe",    "minimax-m2",    "nemotron_h", "nemotron_h_moe", "gemma2",  "gemma3",
    "gemma3n", "gemma4",     "phi3",          "phimoe",     "mistral3",       "lfm2",    "lfm2moe",
    "granite", "granitemoe", "granitehybrid", "falcon-h1",  "olmo2",          "mimo2"};

constexpr ArchitectureFamily families[] = {
    {"llama", llamaNames, denseBlocks},
    {"gemma", gemmaNames, gemmaBlocks},
    {"moe", moeNames, moeBlocks},
    {"latent-moe", latentMoeNames, latentMoeBlocks},
    {"delta-net", deltaNetNames, deltaNetBlocks},
    {"kda", kdaNames, kdaBlocks},
    {"nemotron-h", nemotronNames, nemotronBlocks},
    {"hybrid", hybridNames, hybridBlocks},
    {"longcat", longcatNames, longcatBlocks},
    {"modal-adapters", modalAdapterNames, modalAdapterBlocks},
};
constexpr Names ggufKdaNames[] = {"kimi-linear"};
constexpr ArchitectureFamily ggufFamilyTable[] = {{"gguf-kda", ggufKdaNames, ggufKdaBlocks},
                                                  {"gguf", ggufNames, ggufBlocks}};
constexpr ArchitectureFamily genericFamily{"generic", {}, genericBlocks};
constexpr ArchitectureFamily genericGguf{"generic", {}, ggufBlocks};

// ---- matching -----------------------------------------------------------------------------------

constexpr std::string_view prefixes[] = {"",
                                         "model.",
                                         "model.language_model.",
                                         "language_model.model.",
                                         "language_model.",
                                         "backbone.",
                                         "transformer.",
                                         "model.model.",
                                         "language_model.backbone.",
                                         "model.text_model.",
                                         "thinker.model.",
                                         "thinker.",
                                         "llm.model.",
                                         "llm.",
                                         "gpt_neox.",
                                         "model.llm.",
                                         "text_model."};

bool segmentMatches(std::string_view pattern, std::string_view segment)
{
    if (pattern == "*")
        return true;
    if (pattern.size() < 2 || pattern.front() != '{')
        return pattern == segment;
    pattern.remove_prefix(1);
    pattern.remove_suffix(1);
    while (true) {
        const std::size_t comma = pattern.find(',');
        if (pattern.substr(0, comma) == segment)
            return true;
        if (comma == std::string_view::npos)
            return false;
        pattern.remove_prefix(comma + 1);
    }
}

/// Takes the first segment off; alternatives in braces hold no dots, so a dot always ends a segment.
std::string_view takeSegment(std::string_view &text)
{
    const std::size_t dot = text.find('.');
    const std::string_view segment = text.substr(0, dot);
    text = dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1);
    return segment;
}

bool segmentsMatch(std::string_view pattern, std::string_view name)
{
    if (name.ends_with('.')) // an empty last segment, which would go unseen
        return false;
    while (!pattern.empty()) {
        if (pattern == "**")
            return !name.empty();
        if (name.empty())
            return false;
        const std::string_view want = takeSegment(pattern);
        const std::string_view have = takeSegment(name);
        if (!segmentMatches(want, have))
            return false;
    }
    return name.empty();
}

} // namespace

std::span<const ArchitectureFamily> safetensorsFamilies() { return families; }

std::span<const ArchitectureFamily> ggufFamilies() { return ggufFamilyTable; }

const ArchitectureFamily &genericSafetensorsFamily() { return genericFamily; }

const ArchitectureFamily &genericGgufFamily() { return genericGguf; }

bool matchesPattern(std::string_view pattern, std::string_view name)
{
    if (!pattern.starts_with("P."))
        return segmentsMatch(pattern, name);
    pattern.remove_prefix(2);
    for (const std::string_view prefix : prefixes) {
        if (name.starts_with(prefix) && segmentsMatch(pattern, name.substr(prefix.size())))
            return true;
    }
    return false;
}

} // namespace weir

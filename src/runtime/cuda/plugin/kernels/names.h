// The kernels that the host looks up by name.
#pragma once

#define SHW_CUDA_KERNELS(X)     \
  X(shw_pointwise_f32)          \
  X(shw_pointwise_f64)          \
  X(shw_pointwise_i64)          \
  X(shw_pointwise_c64)          \
  X(shw_reduce_each_f64)        \
  X(shw_reduce_each_i64)        \
  X(shw_reduce_block_f64)       \
  X(shw_reduce_block_i64)       \
  X(shw_contract_f32)           \
  X(shw_contract_f64)           \
  X(shw_contract_i64)           \
  X(shw_contract_c64)           \
  X(shw_embedding)              \
  X(shw_embedding_backward_f32) \
  X(shw_embedding_backward_f64) \
  X(shw_attention_f32)          \
  X(shw_attention_f64)          \
  X(shw_attention_dq_f32)       \
  X(shw_attention_dq_f64)       \
  X(shw_attention_dkv_f32)      \
  X(shw_attention_dkv_f64)

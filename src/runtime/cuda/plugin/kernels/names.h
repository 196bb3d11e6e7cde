// The programs of device code, and the kernels of each that the host looks up by name.
#pragma once

#define SHW_CUDA_PROGRAMS(X) \
  X(pointwise)               \
  X(reduction)               \
  X(lines)                   \
  X(extreme)                 \
  X(sort)                    \
  X(ranking)                 \
  X(norm)                    \
  X(loss)                    \
  X(contraction)             \
  X(grouped)                 \
  X(convolution)             \
  X(embedding)               \
  X(indexing)                \
  X(numbering)               \
  X(draw)                    \
  X(pairs)                   \
  X(documents)               \
  X(progress)                \
  X(gathered)                \
  X(attention)               \
  X(flash)                   \
  X(tiled_attention)

// X(program, name)
#define SHW_CUDA_KERNELS(X)                  \
  X(pointwise, shw_pointwise_f32)            \
  X(pointwise, shw_pointwise_f64)            \
  X(pointwise, shw_pointwise_i64)            \
  X(pointwise, shw_pointwise_c64)            \
  X(pointwise, shw_pointwise_dense_narrow)   \
  X(pointwise, shw_pointwise_dense_wide)     \
  X(pointwise, shw_move)                     \
  X(pointwise, shw_transpose)                \
  X(reduction, shw_reduce_each_f64)          \
  X(reduction, shw_reduce_each_i64)          \
  X(reduction, shw_reduce_block_f64)         \
  X(reduction, shw_reduce_block_i64)         \
  X(reduction, shw_reduce_columns_f64)       \
  X(reduction, shw_reduce_columns_i64)       \
  X(reduction, shw_reduce_column_packs)      \
  X(reduction, shw_reduce_slices_f64)        \
  X(reduction, shw_reduce_slices_i64)        \
  X(reduction, shw_variance)                 \
  X(lines, shw_softmax_f32)                  \
  X(lines, shw_softmax_f64)                  \
  X(lines, shw_softmax_backward_f32)         \
  X(lines, shw_softmax_backward_f64)         \
  X(lines, shw_running_f64)                  \
  X(lines, shw_running_i64)                  \
  X(lines, shw_running_c64)                  \
  X(extreme, shw_extreme_f64)                \
  X(extreme, shw_extreme_i64)                \
  X(sort, shw_sort_tiles)                    \
  X(sort, shw_sort_merge)                    \
  X(ranking, shw_rank_keys_f64)              \
  X(ranking, shw_rank_keys_i64)              \
  X(ranking, shw_rank_write_f64)             \
  X(ranking, shw_rank_write_i64)             \
  X(norm, shw_norm_f32)                      \
  X(norm, shw_norm_f64)                      \
  X(norm, shw_norm_backward_f32)             \
  X(norm, shw_norm_backward_f64)             \
  X(norm, shw_norm_parameter_parts_f32)      \
  X(norm, shw_norm_parameter_parts_f64)      \
  X(norm, shw_norm_parameters)               \
  X(loss, shw_nll_loss)                      \
  X(loss, shw_nll_loss_backward)             \
  X(contraction, shw_contract_f32)           \
  X(contraction, shw_contract_f64)           \
  X(contraction, shw_contract_i64)           \
  X(contraction, shw_contract_c64)           \
  X(grouped, shw_grouped_mm_f32)             \
  X(grouped, shw_grouped_mm_f64)             \
  X(convolution, shw_convolve_f32)           \
  X(convolution, shw_convolve_f64)           \
  X(convolution, shw_convolve_to_input_f32)  \
  X(convolution, shw_convolve_to_input_f64)  \
  X(convolution, shw_convolve_to_weight_f32) \
  X(convolution, shw_convolve_to_weight_f64) \
  X(embedding, shw_embedding)                \
  X(embedding, shw_embedding_rows)           \
  X(embedding, shw_embedding_backward_f32)   \
  X(embedding, shw_embedding_backward_f64)   \
  X(documents, shw_document_spans)           \
  X(attention, shw_attention_f32)            \
  X(attention, shw_attention_f64)            \
  X(attention, shw_attention_dq_f32)         \
  X(attention, shw_attention_dq_f64)         \
  X(attention, shw_attention_dkv_f32)        \
  X(attention, shw_attention_dkv_f64)        \
  X(flash, shw_flash_bf16_64)                \
  X(flash, shw_flash_dq_bf16_64)             \
  X(flash, shw_flash_dkv_bf16_64)            \
  X(flash, shw_flash_bf16_128)               \
  X(flash, shw_flash_dq_bf16_128)            \
  X(flash, shw_flash_dkv_bf16_128)           \
  X(flash, shw_flash_f16_64)                 \
  X(flash, shw_flash_dq_f16_64)              \
  X(flash, shw_flash_dkv_f16_64)             \
  X(flash, shw_flash_f16_128)                \
  X(flash, shw_flash_dq_f16_128)             \
  X(flash, shw_flash_dkv_f16_128)            \
  X(flash, shw_flash_join)                   \
  X(tiled_attention, shw_tiled_64)           \
  X(tiled_attention, shw_tiled_dq_64)        \
  X(tiled_attention, shw_tiled_dkv_64)       \
  X(tiled_attention, shw_tiled_128)          \
  X(tiled_attention, shw_tiled_dq_128)       \
  X(tiled_attention, shw_tiled_dkv_128)      \
  X(indexing, shw_index_read)                \
  X(indexing, shw_index_places)              \
  X(indexing, shw_index_write_f32)           \
  X(indexing, shw_index_write_f64)           \
  X(indexing, shw_index_write_i64)           \
  X(indexing, shw_index_write_c64)           \
  X(numbering, shw_iota_f64)                 \
  X(numbering, shw_iota_i64)                 \
  X(numbering, shw_triangle)                 \
  X(draw, shw_draw)                          \
  X(draw, shw_dropout_f32)                   \
  X(draw, shw_dropout_f64)                   \
  X(draw, shw_attention_seed)                \
  X(pairs, shw_mul_pairs)                    \
  X(pairs, shw_conj_pairs)                   \
  X(progress, shw_count_up)                  \
  X(gathered, shw_reduce_gathered)           \
  X(attention, shw_attention_paged_f32)      \
  X(attention, shw_attention_paged_f64)

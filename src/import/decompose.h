// Functions for decompositions that a text of decompositions.cc cannot express alone: they compute
// sizes and choose the text. One file per family.
#pragma once
#include <string_view>

#include "import/expansion.h"

namespace shw::import {

// Binds names and returns the text to expand. Empty: the operation with the overload's own name is
// used.
using Decomposer = std::string_view (*)(Expansion& e);

// X(name of the function, as used in the texts)
#define SHW_DECOMPOSERS(X)    \
  X(arange)                   \
  X(as_strided)               \
  X(as_strided_scatter)       \
  X(avg_pool)                 \
  X(avg_pool_backward)        \
  X(bernoulli)                \
  X(bucketize)                \
  X(clamp)                    \
  X(convolution)              \
  X(convolution_backward)     \
  X(copy)                     \
  X(diagonal)                 \
  X(div)                      \
  X(elu_backward)             \
  X(embedding_bag)            \
  X(embedding_bag_backward)   \
  X(even_pool)                \
  X(even_pool_backward)       \
  X(fft_c2c)                  \
  X(fft_c2r)                  \
  X(fft_r2c)                  \
  X(fmod)                     \
  X(group_norm)               \
  X(group_norm_backward)      \
  X(gru_cell)                 \
  X(gru_cell_backward)        \
  X(histc)                    \
  X(layer_norm)               \
  X(layer_norm_backward)      \
  X(linspace)                 \
  X(logit)                    \
  X(lstm_cell)                \
  X(lstm_cell_backward)       \
  X(max_pool)                 \
  X(max_pool_backward)        \
  X(max_pool_indices)         \
  X(max_pool_offsets)         \
  X(nan_to_num)               \
  X(randint)                  \
  X(randperm)                 \
  X(reflection_pad)           \
  X(reflection_pad_backward)  \
  X(replication_pad)          \
  X(replication_pad_backward) \
  X(roll)                     \
  X(scatter_reduce)           \
  X(unfold)                   \
  X(unfold_backward)          \
  X(vector_norm)              \
  X(weight_norm)              \
  X(weight_norm_backward)

namespace decompose {
#define X(name) std::string_view name(Expansion& e);
SHW_DECOMPOSERS(X)
#undef X
}  // namespace decompose

}  // namespace shw::import

// Dropout of attention: a share of the weights is set to zero, and the others are multiplied by
// 1/(1 − dropout_p). The softmax denominators are those of all weights, as in PyTorch.
//
// Whether the weight of a query and a key stays depends only on the seed and on the place of the
// pair in the whole [batch, heads, queries, keys], so it is the same under every sharding. The
// forward step returns the seed that it drew with, and the backward step takes it as an operand.
#pragma once
#include "runtime/attention_shape.h"
#include "runtime/draw_shape.h"
#include "runtime/random.h"

namespace shw::runtime {

struct AttentionDropout {
  Dropped dropped;  // nothing: there is no dropout
  // Place of a pair in the whole: first + Σ index · stride. A query's pairs are consecutive.
  int64_t first = 0;
  int64_t batch_stride = 0, head_stride = 0, query_stride = 0;

  bool is_there() const { return dropped.least > 0; }
  u64 place(int64_t b, int64_t h, int64_t query, int64_t key) const {
    return static_cast<u64>(first + b * batch_stride + h * head_stride + query * query_stride +
                            key);
  }
};

// Reads attributes dropout_p, and `size` and `cuts` of a tensor [batch, heads, queries, …].
Result<AttentionDropout> attention_dropout(const KernelArgs& args, const AttentionShape& shape);

// Where the forward step's seed comes from; operand `run_seed` is the run's.
inline constexpr size_t kAttentionRunSeed = 5;
Result<StepSeed> attention_seed(const KernelArgs& args);

// The seed that the forward step drew with, an i64: its result of this number, and the backward
// step's operand.
inline constexpr size_t kAttentionSeedResult = 2;
inline constexpr size_t kAttentionDrawnSeed = 7;
Status check_drawn_seed(const TensorType& seed);
Status check_drawn_seed(const KernelArgs& backward);

}  // namespace shw::runtime

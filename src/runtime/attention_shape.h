// Shapes of attention: tensors are [batch, heads, sequence, width].
#pragma once
#include <algorithm>
#include <cstdint>

#include "runtime/kernel.h"
#include "tensor/key_window.h"

namespace shw::runtime {

inline constexpr int64_t kQueryBlock = 32;  // query rows whose scores are computed together

struct AttentionShape {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  KeyWindow window;

  // The number of consecutive query heads that share one head of keys and values.
  int64_t group() const { return heads / std::max<int64_t>(1, key_heads); }
};

// Reads the shapes and the attributes. UNIMPLEMENTED: f64 mixed with other types.
Result<AttentionShape> attention_shape(const KernelArgs& args, const TensorType& q,
                                       const TensorType& k, const TensorType& v);

// Operand `documents`, [batch, n + 1] integers, says where the documents of each row of the batch
// end: 0 first, then each end, the last one repeated.
Status check_documents(const AttentionShape& shape, const TensorType& documents);

// The type of a result, as [batch, heads, sequence, width]. Attribute `dims` may prescribe another
// order of dims in memory: then dim dims[i] is stored as the i-th.
Result<TensorType> as_heads(const KernelArgs& args, const TensorType& written);

// The logarithms of the softmax denominators: dtype `dtype`, shape [batch, heads, queries],
// possibly with a last dim of 1. It may have more rows than there are queries, because some
// attention kernels pad it. It may be empty.
struct LogSumExp {
  int64_t batch_stride = 0, head_stride = 0, stride = 0, length = 0;
  static Result<LogSumExp> create(const TensorType& type, const AttentionShape& shape, Dtype dtype);
  int64_t offset(int64_t b, int64_t h, int64_t i) const {
    return b * batch_stride + h * head_stride + i * stride;
  }
};

}  // namespace shw::runtime

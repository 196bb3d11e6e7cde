// Shapes of attention: tensors are [batch, heads, sequence, width].
#pragma once
#include <algorithm>
#include <cstdint>

#include "runtime/kernel.h"
#include "tensor/key_window.h"

namespace shw::runtime {

inline constexpr int64_t kQueryBlock = 32;  // rows of scores that are in work at a time

struct AttentionShape {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  KeyWindow window;

  // As many query heads in a row share the keys and values of one key head.
  int64_t group() const { return heads / std::max<int64_t>(1, key_heads); }
};

// Reads shape and attributes. UNIMPLEMENTED: dropout, f64 mixed with other types.
Result<AttentionShape> attention_shape(const KernelArgs& args, const TensorType& q,
                                       const TensorType& k, const TensorType& v);

// Operand `documents`, [batch, n + 1] integers, says where the documents of each row of the batch
// end: 0 first, then each end, the last one repeated.
Status check_documents(const AttentionShape& shape, const TensorType& documents);

// A result that is written in another order of dims – attribute `dims`: dim dims[i] lies i-th – as
// [batch, heads, sequence, width].
Result<TensorType> as_heads(const KernelArgs& args, const TensorType& written);

// Logarithms of the softmax denominators, [batch, heads, queries] or with a last dim of 1; of dtype
// `dtype`. May be longer than there are queries, as some attention kernels pad it, or empty.
struct LogSumExp {
  int64_t batch_stride = 0, head_stride = 0, stride = 0, length = 0;
  static Result<LogSumExp> create(const TensorType& type, const AttentionShape& shape, Dtype dtype);
  int64_t offset(int64_t b, int64_t h, int64_t i) const {
    return b * batch_stride + h * head_stride + i * stride;
  }
};

}  // namespace shw::runtime

// Integer tensors that select rows of a table.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/rows.h"
#include "runtime/strided.h"
#include "runtime/table_part.h"

namespace shw::runtime::cpu {

// Iterates over an index tensor together with another operand, in row-major order of the indices.
class IndexWalk {
 public:
  IndexWalk() = default;
  // `beside`: strides in bytes of the other operand along the dims of `indices`.
  IndexWalk(const TensorType& indices, const Dims& beside) : load_(load_row<Int>(indices.dtype)) {
    // The first operand determines the loop's order. Row-major strides are passed as a third,
    // temporary operand in that place, so that the order does not depend on the layout: sums of
    // rows depend on the order.
    const Dims strides[3] = {row_major_strides(indices.shape),
                             broadcast_strides_bytes(indices, indices.shape), beside};
    loop_ = make_loop(indices.shape, strides);
    for (size_t o = 0; o < 2; ++o) {
      loop_.stride_bytes[o] = loop_.stride_bytes[o + 1];
      loop_.row_stride_bytes[o] = loop_.row_stride_bytes[o + 1];
    }
  }

  // Calls f(index, address in the other operand) for each index; the first error ends the
  // iteration.
  template <class F>
  Status for_each(void* indices, void* other, F&& f) const {
    Status status;
    for_each_row(loop_,
                 std::array{static_cast<std::byte*>(indices), static_cast<std::byte*>(other)},
                 [&](const std::array<std::byte*, 2>& p) {
                   for (int64_t i = 0; status.ok() && i < loop_.row_size; ++i) {
                     Int index;
                     load_(p[0] + i * loop_.row_stride_bytes[0], 0, 1, &index);
                     status = f(index.v, p[1] + i * loop_.row_stride_bytes[1]);
                   }
                 });
    return status;
  }

 private:
  LoadRow<Int> load_ = nullptr;
  StridedLoop loop_;
};

}  // namespace shw::runtime::cpu

// Loops over strided windows, for pointwise kernels, copies, and the sharding of host tensors. Dims
// that all operands traverse alike are merged, and the dim with the smallest stride in operand 0
// becomes the innermost. So most loops become a single flat row.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/tensor_type.h"

namespace shw::runtime {

inline constexpr int kMaxLoopOperands = 4;

struct StridedLoop {
  int rank = 0;  // number of outer loops; 0: a single row
  std::array<int64_t, kMaxRank> size{};
  std::array<std::array<int64_t, kMaxRank>, kMaxLoopOperands> stride_bytes{};  // [operand][dim]
  int64_t row_size = 0;  // 0: the loop is empty
  std::array<int64_t, kMaxLoopOperands> row_stride_bytes{};
};

// `strides`: per operand, in bytes, one for each dim of `shape`. Operand 0 determines the order of
// the dims.
StridedLoop make_loop(const Dims& shape, std::span<const Dims> strides);

// The strides in bytes of `type` broadcast to `shape`: 0 in broadcast dims. Dims are aligned at the
// end, as in NumPy.
Dims broadcast_strides_bytes(const TensorType& type, const Dims& shape);
bool broadcasts_to(const Dims& from, const Dims& to);
// The first `count` strides of a type, in bytes; and the strides from dim `from` on.
inline Dims leading_strides_bytes(const TensorType& t, size_t count) {
  Dims bytes;
  for (size_t d = 0; d < count; ++d) bytes.push_back(t.strides[d] * dtype_size(t.dtype));
  return bytes;
}
inline Dims trailing_strides_bytes(const TensorType& t, size_t from) {
  Dims bytes;
  for (size_t d = from; d < t.strides.size(); ++d)
    bytes.push_back(t.strides[d] * dtype_size(t.dtype));
  return bytes;
}

// Calls row(pointers) for each row, in order; operand o's row begins at pointers[o].
template <size_t N, class F>
void for_each_row(const StridedLoop& loop, std::array<std::byte*, N> p, F&& row) {
  if (loop.row_size == 0) return;
  std::array<int64_t, kMaxRank> index{};
  while (true) {
    row(p);
    int d = loop.rank - 1;
    for (; d >= 0; --d) {
      const auto i = static_cast<size_t>(d);
      if (++index[i] < loop.size[i]) {
        for (size_t o = 0; o < N; ++o) p[o] += loop.stride_bytes[o][i];
        break;
      }
      for (size_t o = 0; o < N; ++o) p[o] -= (loop.size[i] - 1) * loop.stride_bytes[o][i];
      index[i] = 0;
    }
    if (d < 0) return;
  }
}

// A copy between two windows of the same shape and element size, prepared once and run often.
class StridedCopy {
 public:
  StridedCopy() = default;
  // Strides in elements.
  StridedCopy(const Dims& shape, int64_t element_bytes, const Dims& to_strides,
              const Dims& from_strides);
  void run(void* to, const void* from) const;

 private:
  StridedLoop loop_;
  bool alike_ = false;  // both windows have the same strides
  void (*row_)(std::byte* to, const std::byte* from, int64_t n, int64_t to_stride,
               int64_t from_stride) = nullptr;
  // Used when elements of a row are far apart in `from` but adjacent in the next outer dim: both
  // dims are then traversed in tiles.
  void (*tile_)(std::byte* to, const std::byte* from, int64_t rows, int64_t n,
                int64_t to_row_stride, int64_t from_row_stride, int64_t to_stride,
                int64_t from_stride) = nullptr;
};

// Fills a window with one element.
class StridedFill {
 public:
  using Element = std::array<std::byte, 16>;  // the largest dtype has 8
  StridedFill() = default;
  explicit StridedFill(const TensorType& window, const Element& element = {})
      : element_(element),
        copy_(window.shape, dtype_size(window.dtype), window.strides,
              Dims(window.shape.size(), 0)) {}
  void run(void* to) const { copy_.run(to, element_.data()); }

 private:
  Element element_{};
  StridedCopy copy_;
};

}  // namespace shw::runtime

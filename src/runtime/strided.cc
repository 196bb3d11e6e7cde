#include "runtime/strided.h"

#include <algorithm>
#include <cstring>

#include "runtime/transpose.h"

namespace shw::runtime {
namespace {

constexpr int64_t kTile = 32;  // rows and columns; two tiles of 8-byte elements fit in an L1 cache

template <class T>
void copy_row(std::byte* to, const std::byte* from, int64_t n, int64_t to_stride,
              int64_t from_stride) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
}

template <class T>
void copy_dense_row(std::byte* to, const std::byte* from, int64_t n, int64_t, int64_t) {
  std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
}

template <class T>
void copy_tiled(std::byte* to, const std::byte* from, int64_t rows, int64_t n,
                int64_t to_row_stride, int64_t from_row_stride, int64_t to_stride,
                int64_t from_stride) {
  constexpr int64_t kBytes = sizeof(T);
  if constexpr (kBytes == 4) {
    const bool whole = (to_row_stride | from_stride) % kBytes == 0;
    if (to_stride == kBytes && from_row_stride == kBytes && whole) {
      transpose(reinterpret_cast<uint32_t*>(to), to_row_stride / kBytes,
                reinterpret_cast<const uint32_t*>(from), from_stride / kBytes, n, rows);
      return;
    }
  }
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const int64_t r1 = std::min(rows, r0 + kTile);
    for (int64_t i0 = 0; i0 < n; i0 += kTile) {
      const int64_t columns = std::min(kTile, n - i0);
      for (int64_t r = r0; r < r1; ++r)
        copy_row<T>(to + r * to_row_stride + i0 * to_stride,
                    from + r * from_row_stride + i0 * from_stride, columns, to_stride, from_stride);
    }
  }
}

template <class F>
auto by_element_bytes(int64_t bytes, F&& pick) {
  switch (bytes) {
    case 1:
      return pick(uint8_t{});
    case 2:
      return pick(uint16_t{});
    case 4:
      return pick(uint32_t{});
    default:
      return pick(uint64_t{});
  }
}

}  // namespace

StridedLoop make_loop(const Dims& shape, std::span<const Dims> strides) {
  struct Dim {
    int64_t size;
    std::array<int64_t, kMaxLoopOperands> stride;
  };
  std::array<Dim, kMaxRank> dims;
  size_t n = 0;
  StridedLoop loop;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return loop;
    if (shape[d] == 1) continue;
    dims[n] = {shape[d], {}};
    for (size_t o = 0; o < strides.size(); ++o) dims[n].stride[o] = strides[o][d];
    ++n;
  }
  // Insertion sort: stable, and there are few dims.
  for (size_t i = 1; i < n; ++i)
    for (size_t j = i; j > 0 && dims[j - 1].stride[0] < dims[j].stride[0]; --j)
      std::swap(dims[j - 1], dims[j]);
  size_t merged = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto continues = [&](size_t o) {
      return dims[merged - 1].stride[o] == dims[i].stride[o] * dims[i].size;
    };
    bool merge = merged > 0;
    for (size_t o = 0; merge && o < strides.size(); ++o) merge = continues(o);
    if (merge) {
      dims[merged - 1].size *= dims[i].size;
      dims[merged - 1].stride = dims[i].stride;
    } else {
      dims[merged++] = dims[i];
    }
  }
  loop.row_size = 1;
  if (merged > 0) {
    loop.row_size = dims[merged - 1].size;
    loop.row_stride_bytes = dims[merged - 1].stride;
    loop.rank = static_cast<int>(merged - 1);
  }
  for (size_t d = 0; d + 1 < merged; ++d) {
    loop.size[d] = dims[d].size;
    for (size_t o = 0; o < strides.size(); ++o) loop.stride_bytes[o][d] = dims[d].stride[o];
  }
  return loop;
}

Dims broadcast_strides_bytes(const TensorType& type, const Dims& shape) {
  Dims strides(shape.size(), 0);
  const size_t missing = shape.size() - type.shape.size();
  for (size_t d = 0; d < type.shape.size(); ++d)
    if (type.shape[d] != 1) strides[missing + d] = type.strides[d] * dtype_size(type.dtype);
  return strides;
}

bool broadcasts_to(const Dims& from, const Dims& to) {
  if (from.size() > to.size()) return false;
  const size_t missing = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1 && from[d] != to[missing + d]) return false;
  return true;
}

StridedCopy::StridedCopy(const Dims& shape, int64_t element_bytes, const Dims& to_strides,
                         const Dims& from_strides) {
  Dims strides[2] = {to_strides, from_strides};
  alike_ = to_strides == from_strides;
  for (Dims& operand : strides)
    for (int64_t& stride : operand) stride *= element_bytes;
  loop_ = make_loop(shape, strides);
  const bool dense =
      loop_.row_stride_bytes[0] == element_bytes && loop_.row_stride_bytes[1] == element_bytes;
  row_ = by_element_bytes(element_bytes, [&](auto t) {
    return dense ? &copy_dense_row<decltype(t)> : &copy_row<decltype(t)>;
  });
  if (loop_.rank > 0 && !dense) {
    // The outer dim with the smallest stride in `from` becomes the innermost one.
    const auto last = static_cast<size_t>(loop_.rank - 1);
    size_t near = last;
    for (size_t d = 0; d < last; ++d)
      if (loop_.stride_bytes[1][d] != 0 && loop_.stride_bytes[1][d] < loop_.stride_bytes[1][near])
        near = d;
    const bool transposed =
        loop_.stride_bytes[1][near] != 0 && loop_.stride_bytes[1][near] < loop_.row_stride_bytes[1];
    if (transposed) {
      std::swap(loop_.size[near], loop_.size[last]);
      for (auto& stride : loop_.stride_bytes) std::swap(stride[near], stride[last]);
      tile_ = by_element_bytes(element_bytes, [](auto t) { return &copy_tiled<decltype(t)>; });
    }
  }
}

void StridedCopy::run(void* to, const void* from) const {
  if (to == from && alike_) return;  // source and target are the same
  auto* t = static_cast<std::byte*>(to);
  auto* f = const_cast<std::byte*>(static_cast<const std::byte*>(from));
  const int64_t to_stride = loop_.row_stride_bytes[0], from_stride = loop_.row_stride_bytes[1];
  if (tile_ == nullptr) {
    for_each_row(loop_, std::array{t, f}, [&](const std::array<std::byte*, 2>& p) {
      row_(p[0], p[1], loop_.row_size, to_stride, from_stride);
    });
    return;
  }
  StridedLoop outer = loop_;  // without its innermost loop, which the tiles cover
  const auto last = static_cast<size_t>(--outer.rank);
  for_each_row(outer, std::array{t, f}, [&](const std::array<std::byte*, 2>& p) {
    tile_(p[0], p[1], loop_.size[last], loop_.row_size, loop_.stride_bytes[0][last],
          loop_.stride_bytes[1][last], to_stride, from_stride);
  });
}

}  // namespace shw::runtime

// Kernels that work along one dim: the elements of some tensors along it, a line, for every place
// in their other dims.
#pragma once
#include <array>

#include "runtime/dim.h"
#include "runtime/strided.h"

namespace shw::runtime {

template <size_t N>
struct Lines {
  Dims places;  // the shape, with 1 in place of the dim
  std::array<Dims, N> strides;
  std::array<int64_t, N> count{}, step{};  // of a line: elements, and bytes from one to the next
};

// Of tensors that differ in no other dim than attribute `dim` (absent: `otherwise`). Null: absent.
template <size_t N>
Result<Lines<N>> lines_along(const Attrs& attrs, int64_t otherwise,
                             const std::array<const TensorType*, N>& tensors) {
  const TensorType& first = *tensors[0];
  SHW_ASSIGN_OR_RETURN(const size_t d, dim_of(attrs, first, otherwise));
  Lines<N> lines;
  lines.places = first.shape;
  lines.places[d] = 1;
  bool empty = false;
  for (size_t o = 0; o < N; ++o) {
    lines.strides[o] = Dims(first.shape.size(), 0);
    if (tensors[o] == nullptr) continue;
    const TensorType& t = *tensors[o];
    Dims places = t.shape;
    if (d < places.size()) places[d] = 1;
    if (places != lines.places)
      return bad_types(to_string(first) + " and " + to_string(t) + " do not lie side by side");
    lines.strides[o] = leading_strides_bytes(t, t.shape.size());
    lines.count[o] = t.shape[d];
    lines.step[o] = t.strides[d] * dtype_size(t.dtype);
    empty = empty || t.shape[d] == 0;
  }
  if (empty) lines.places[d] = 0;  // nothing is walked
  return lines;
}

}  // namespace shw::runtime

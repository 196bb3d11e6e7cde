// For kernels that work along one dim. A *line* is the elements of a tensor along that dim, at one
// position in all other dims.
#pragma once
#include <array>

#include "runtime/dim.h"
#include "runtime/strided.h"

namespace shw::runtime {

template <size_t N>
struct Lines {
  Dims places;  // the shape, with 1 in place of the dim
  std::array<Dims, N> strides;
  std::array<int64_t, N> count{}, step{};  // per line: number of elements, bytes between them
};

// The lines of tensors that have equal sizes in all dims other than attribute `dim` (absent:
// `otherwise`). A null tensor is absent.
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
      return bad_types(to_string(first) + " and " + to_string(t) +
                       " have different ranks, or sizes in a dim other than the one that the "
                       "kernel works along");
    lines.strides[o] = leading_strides_bytes(t, t.shape.size());
    lines.count[o] = t.shape[d];
    lines.step[o] = t.strides[d] * dtype_size(t.dtype);
    empty = empty || t.shape[d] == 0;
  }
  if (empty) lines.places[d] = 0;  // nothing is walked
  return lines;
}

}  // namespace shw::runtime

// Tensors cut along their leading dims into slices that fit a cache.
#pragma once
#include <optional>

#include "tensor/tensor_type.h"

namespace shw {

// The loops over the slices, outermost first. Each takes a leading dim, or a part of one: [8,32]
// cuts [8,256,512] into 8 · 32 slices of [8,512].
using SliceLoops = Dims;

// One operand, cut into slices.
struct Slice {
  TensorType type;      // of one slice, with the strides of the whole tensor
  Dims stride_bytes;    // by loop: from one slice to the next; 0: slices share the data
  size_t dims_cut = 0;  // number of dims of the shape that loops cut, partly or fully
};

// Cuts `type`, which broadcasts to `shape` (its dims are aligned at the end), as the loops cut
// `shape`. Nothing if the loops do not fit its leading dims.
std::optional<Slice> slice_of(const TensorType& type, const Dims& shape, const SliceLoops& loops);

// Loops that cut a tensor of that shape into slices of about `elements`. They never cut the last
// dim, along which reductions work. Empty: one slice is the whole tensor.
SliceLoops loops_for(const Dims& shape, int64_t elements);

}  // namespace shw

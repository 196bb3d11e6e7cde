// Tensors cut along their leading dims into slices that fit a cache.
#pragma once
#include <optional>

#include "tensor/tensor_type.h"

namespace shw {

// The loops over the slices, outermost first. Each takes a leading dim, or a part of one: [8,32]
// cuts [8,256,512] into 8 · 32 slices of [8,512].
using SliceLoops = Dims;

// One operand, cut.
struct Slice {
  TensorType type;      // of one slice; the strides are those of the whole
  Dims stride_bytes;    // from one slice to the next, by loop; 0: they share it
  size_t dims_cut = 0;  // dims of the shape that loops walk, in part or altogether
};

// Cuts `type`, which broadcasts to `shape` (its dims are aligned at the end), as the loops cut
// `shape`. Nothing: they do not fit its leading dims.
std::optional<Slice> slice_of(const TensorType& type, const Dims& shape, const SliceLoops& loops);

// Loops that cut a tensor of that shape into slices of about `elements`, but not its last dim,
// which reductions work along; empty: one slice is all.
SliceLoops loops_for(const Dims& shape, int64_t elements);

}  // namespace shw

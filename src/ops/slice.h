// Which elements of one dim a slice takes: for inference, and for lowering it to a window.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

struct SliceRange {
  size_t dim;
  int64_t start, size, step;  // elements start + i · step, 0 ≤ i < size
};
// From attributes dim, start, end, step, for a tensor of that shape.
Result<SliceRange> slice_range(const Attrs& attrs, const Dims& shape);

// Sizes along `dim` of the pieces of a split: all `split_size` but the last, or as `split_sizes`
// says.
struct SplitPieces {
  size_t dim;
  std::vector<int64_t> sizes;
};
Result<SplitPieces> split_pieces(const Attrs& attrs, const Dims& shape);

}  // namespace shw::ops

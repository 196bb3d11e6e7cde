// The elements of one dim that slice, split, select and related ops select; for inference, and for
// lowering these ops to windows.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

struct SliceRange {
  size_t dim;
  int64_t start, size, step;  // elements start + i · step, 0 ≤ i < size
};
// From attributes dim, start, end, step, for a tensor of that shape.
Result<SliceRange> slice_range(const Attrs& attrs, const Dims& shape);

// The sizes of the pieces of a split along `dim`: `split_size` for all but the last, or as in
// `split_sizes`.
struct SplitPieces {
  size_t dim;
  std::vector<int64_t> sizes;
};
Result<SplitPieces> split_pieces(const Attrs& attrs, const Dims& shape);

// Results and rules of both splits, which are views.
Result<std::vector<OptionalType>> infer_split(const OpArgs& args);

// Element `index` of dim `dim`, which is removed.
struct SelectAt {
  size_t dim;
  int64_t index;
};
Result<SelectAt> select_at(const Attrs& attrs, const Dims& shape);

// Operand 0 is the gradient of a part of a tensor. Returns the shape of this tensor: operand 0's
// shape, with the size from attribute `input_sizes` in dim `dim`. The dim is new if `inserted`.
// (The other sizes may be those of one rank's piece.)
Result<Dims> shape_before(const OpArgs& args, bool inserted);

// Every dim except `along` may be sharded. Operand `part` of several, or the result if there is
// none, lacks that dim.
void select_rules(size_t rank, size_t along, size_t part, RuleSet& rules);

}  // namespace shw::ops

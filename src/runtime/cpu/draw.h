// Kernels that fill a tensor with random numbers. Element number i of the whole tensor (attrs.size,
// row-major) depends on attrs.seed and i alone; a rank makes those of its piece (attrs.cuts).
// They are rounded to attrs.dtype (absent: the result's), so that a program in wider types can draw
// the same numbers.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/piece.h"

namespace shw::runtime::cpu {

// The place of a piece's elements in the whole, as their numbers.
struct Numbering {
  int64_t first = 0;
  Dims strides;  // in elements of the whole
};
// Of a tensor that is the piece that attributes `size` and `cuts` tell of.
Result<Numbering> numbering_of(const KernelArgs& args, const TensorType& piece);

using Draw = float (*)(uint64_t seed, uint64_t number);
Prepared prepare_draw(const KernelArgs& args, Draw draw);

}  // namespace shw::runtime::cpu

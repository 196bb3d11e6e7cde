// Kernels that fill a tensor with random numbers. Element number i of the whole tensor (attrs.size,
// row-major) depends on attrs.seed, the seed and offset of the run (the last operand, i64[2], if it
// is there) and i alone; a rank makes those of its piece (attrs.cuts).
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

// What a step draws by.
class StepSeed {
 public:
  // The run's seed is this operand, or there is none.
  static Result<StepSeed> of(const KernelArgs& args, size_t operand);
  uint64_t in_run(void* const* buffers) const;

 private:
  uint64_t own_ = 0;  // attrs.seed
  bool has_run_ = false;
  size_t operand_ = 0;
  int64_t stride_ = 0;  // in elements
};

using Draw = float (*)(uint64_t seed, uint64_t number);
// The run's seed is operand `seed_operand`.
Prepared prepare_draw(const KernelArgs& args, Draw draw, size_t seed_operand);

}  // namespace shw::runtime::cpu

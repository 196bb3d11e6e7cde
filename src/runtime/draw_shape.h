// Steps that fill a tensor with random numbers. Element number i of the whole tensor (attrs.size,
// row-major) depends on attrs.seed, the seed and offset of the run (the last operand, i64[2], if it
// is there) and i alone; a rank makes those of its piece (attrs.cuts).
// They are rounded to attrs.dtype (absent: the result's), so that a program in wider types can draw
// the same numbers.
#pragma once
#include "runtime/piece.h"
#include "runtime/step_args.h"

namespace shw::runtime {

// The place of a piece's elements in the whole, as their numbers.
struct Numbering {
  int64_t first = 0;
  Dims strides;  // in elements of the whole
};

// What a step draws by.
struct StepSeed {
  uint64_t own = 0;  // attrs.seed
  bool has_run = false;
  size_t operand = 0;  // the run's seed, if there is one
  int64_t stride = 0;  // of it, in elements
};

struct DrawShape {
  Numbering numbers;
  StepSeed seed;
  Dtype drawn;
};
// The run's seed is operand `seed_operand`, or there is none.
Result<DrawShape> draw_shape(const KernelArgs& args, size_t seed_operand);

// native_dropout(x, run_seed?) → zeros for a share `p` of the elements, the others times `scale`;
// and which stayed. Each result may be absent.
struct DropoutShape {
  Numbering numbers;
  StepSeed seed;
  double p = 0;
  double scale = 1;  // 1/(1 - p); 0 where nothing stays
};
Result<DropoutShape> dropout_shape(const KernelArgs& args);

}  // namespace shw::runtime

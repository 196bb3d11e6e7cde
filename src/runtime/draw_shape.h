// Steps that fill a tensor with random numbers. Element i of the whole tensor (attrs.size,
// row-major) depends only on i, attrs.seed, and the seed and offset of the run (the last operand,
// i64[2], if present). So each rank computes the elements of its own piece (attrs.cuts) without
// communication.
// Values are rounded to attrs.dtype (absent: the result's dtype), so that a program in wider types
// can draw the same numbers.
#pragma once
#include "runtime/piece.h"
#include "runtime/step_args.h"

namespace shw::runtime {

// The indices that a piece's elements have in the whole tensor.
struct Numbering {
  int64_t first = 0;
  Dims strides;  // strides of the whole tensor, in elements
};

// Where a step's seed comes from.
struct StepSeed {
  uint64_t own = 0;  // attrs.seed
  bool has_run = false;
  size_t operand = 0;  // number of the operand with the run's seed; valid if has_run
  int64_t stride = 0;  // of that operand, in elements
};

// The run's seed is operand `operand`, the last one, if the step has that operand.
Result<StepSeed> step_seed(const KernelArgs& args, size_t operand);

struct DrawShape {
  Numbering numbers;
  StepSeed seed;
  Dtype drawn;
};
// The run's seed is operand `seed_operand`, if the step has that operand.
Result<DrawShape> draw_shape(const KernelArgs& args, size_t seed_operand);

// A share `p` of elements, from 0 to 1, is set to zero, and the others are multiplied by `scale`.
// An element stays if its 24 random bits are at least `least` (stays() in random.h).
struct Dropped {
  uint64_t least = 0;
  double scale = 1;  // 1/(1 - p); 0 if p = 1
  static Dropped share(double p);
};

// native_dropout(x, run_seed?) has two results, each optional. The first is x with a share of its
// elements dropped. The second is the mask of the elements that are kept.
struct DropoutShape {
  Numbering numbers;
  StepSeed seed;
  Dropped dropped;
};
Result<DropoutShape> dropout_shape(const KernelArgs& args);

}  // namespace shw::runtime

// Shared by nll_loss_forward and its backward.
#pragma once
#include "ops/families.h"

namespace shw::ops {

enum class LossReduction : uint8_t { kNone = 0, kMean = 1, kSum = 2 };

// Scores [C], [N,C] or [N,C,…] in operand `self`, followed by the target: integers of that shape
// without the class dim. An optional operand after that is a weight per class.
struct Loss {
  size_t classes;  // the class dim
  Dims target;
  LossReduction reduction;
};
Result<Loss> loss_of(const OpArgs& args, size_t self);

}  // namespace shw::ops

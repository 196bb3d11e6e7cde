// Which dims of a tensor layer norm and RMS norm normalise.
#pragma once
#include <initializer_list>

#include "runtime/step_args.h"

namespace shw::runtime {

// The index of the first dim of `x` that is normalised, by attribute normalized_shape. Checks that
// `stats` (mean, rstd; null: absent) have size 1 in the normalised dims and x's sizes in the
// others, and that `parameters` (weight, bias) have the normalised shape.
Result<size_t> check_norm(const KernelArgs& args, const TensorType& x,
                          std::initializer_list<const TensorType*> stats,
                          std::initializer_list<const TensorType*> parameters);

}  // namespace shw::runtime

// Sorting along a dim: values in order, and where they stood. Equal ones keep their order, and NaN
// counts as larger than everything, as in ATen.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

// x → values, places (i64), as many along attrs.dim as the results have. `descending`: largest
// first.
Prepared prepare_ranking(const KernelArgs& args, bool descending);

}  // namespace shw::runtime::cpu

// Sorting along a dim (runtime/ranking_shape.h).
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/ranking_shape.h"

namespace shw::runtime::cpu {

// `descending`: largest first.
Prepared prepare_ranking(const KernelArgs& args, bool descending);

}  // namespace shw::runtime::cpu

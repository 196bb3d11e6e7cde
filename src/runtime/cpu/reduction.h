// Sums, means, products, extremes and truth over some dims of a tensor.
//
// Reals accumulate in f64, so that the order of the loops does not show in an f32 result; integers
// accumulate in int64. The loop order follows the input's memory: either whole rows are reduced,
// or, if a kept dim has the smallest stride, many results are accumulated side by side.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/reduced_dims.h"

namespace shw::runtime::cpu {

enum class Reduction : uint8_t { kSum, kMean, kProduct, kMax, kMin, kAny, kAll };

// Attributes: dims (negative ones count from the end; empty or absent: all dims), keepdim.
Prepared prepare_reduction(const KernelArgs& args, Reduction reduction);

}  // namespace shw::runtime::cpu

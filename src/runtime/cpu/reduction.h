// Sums, means, products, extremes and truth over some dims of a tensor.
//
// Reals accumulate in f64, so that the order in which the loops run cannot show in an f32 result;
// integers in int64. The walk follows the input's memory: either whole rows are reduced, or, where
// a kept dim lies closest, many results advance side by side.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/reduced_dims.h"

namespace shw::runtime::cpu {

enum class Reduction : uint8_t { kSum, kMean, kProduct, kMax, kMin, kAny, kAll };

// Attributes: dims (negative: from the end; empty or absent: all), keepdim.
Prepared prepare_reduction(const KernelArgs& args, Reduction reduction);

}  // namespace shw::runtime::cpu

// Sums and means over some dims of a tensor.
//
// Reals accumulate in f64, so that the order in which the loops run cannot show in an f32 result;
// integers in int64. The walk follows the input's memory: either whole rows are summed, or, where a
// kept dim lies closest, many sums advance side by side.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

enum class Reduction : uint8_t { kSum, kMean };

// Attributes: dims (negative: from the end; empty or absent: all), keepdim.
Prepared prepare_reduction(const KernelArgs& args, Reduction reduction);

}  // namespace shw::runtime::cpu

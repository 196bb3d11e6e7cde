// Sums, means, products, extremes and truth over some dims of a tensor.
//
// Reals accumulate in f64, so that the order in which the loops run cannot show in an f32 result;
// integers in int64. The walk follows the input's memory: either whole rows are reduced, or, where
// a kept dim lies closest, many results advance side by side.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

enum class Reduction : uint8_t { kSum, kMean, kProduct, kMax, kMin, kAny, kAll };

// Attributes: dims (negative: from the end; empty or absent: all), keepdim.
Prepared prepare_reduction(const KernelArgs& args, Reduction reduction);

// The input's dims, those that stay with their strides in input and output.
struct ReducedDims {
  Dims kept, kept_in, kept_out;  // sizes; strides in bytes
  Dims reduced, reduced_in;
  int64_t count = 1;  // elements that make one result
};
Result<ReducedDims> reduced_dims(const KernelArgs& args);

}  // namespace shw::runtime::cpu

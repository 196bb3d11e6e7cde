// Which dims of its input a reduction keeps and which it reduces.
#pragma once
#include "runtime/kernel.h"

namespace shw::runtime {

// The input's dims, those that stay with their strides in input and output.
struct ReducedDims {
  Dims kept, kept_in, kept_out;  // sizes; strides in bytes
  Dims reduced, reduced_in;
  int64_t count = 1;  // elements that make one result
};
// Attributes: dims (negative: from the end; empty or absent: all), keepdim.
Result<ReducedDims> reduced_dims(const KernelArgs& args);

}  // namespace shw::runtime

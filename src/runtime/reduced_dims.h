// Which dims of its input a reduction keeps and which it reduces.
#pragma once
#include "runtime/kernel.h"

namespace shw::runtime {

// The input's kept dims with their strides in input and output, and its reduced dims.
struct ReducedDims {
  Dims kept, kept_in, kept_out;  // sizes; strides in bytes
  Dims reduced, reduced_in;
  int64_t count = 1;  // elements that are reduced to one result
};
// Attributes: dims (negative ones count from the end; empty or absent: all dims), keepdim.
Result<ReducedDims> reduced_dims(const KernelArgs& args);

}  // namespace shw::runtime

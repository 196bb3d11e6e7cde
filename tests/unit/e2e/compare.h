// Compares two sets of tensors: the relative error of each tensor in the Frobenius norm.
#pragma once
#include <map>
#include <string>

#include "import/safetensors.h"

namespace shw::testing {

struct Comparison {
  size_t num_compared = 0, num_bad = 0;
  double worst_output = 0;              // of tensors whose names begin with "output"
  double worst_gradient = 0;            // of tensors whose names begin with "grad."
  std::string worst_name;               // the tensor with the largest error
  std::map<std::string, double> error;  // of every tensor that was compared
};

// Compares every tensor of `got` that is also in `want`. A tensor is bad if it has another shape,
// contains a NaN, or has a relative error above `tolerance`. That tolerance is for f32. For bf16
// and f16, whose mantissas are shorter, it is 2^16 times as large.
Comparison compare(const import::TensorFile& got, const import::TensorFile& want, double tolerance);

}  // namespace shw::testing

// Two sets of tensors side by side: relative errors in the Frobenius norm.
#pragma once
#include <map>
#include <string>

#include "import/safetensors.h"

namespace shw::testing {

struct Comparison {
  size_t num_compared = 0, num_bad = 0;
  double worst_output = 0;              // of tensors named output…
  double worst_gradient = 0;            // of tensors named grad.…
  std::string worst_name;               // the tensor that is furthest away
  std::map<std::string, double> error;  // of every tensor that was compared
};

// Every tensor of `got` that `want` has too. Bad: relative error above `tolerance` (f32; 2^16 times
// that for bf16 and f16, whose mantissas are that much shorter), a NaN, or another shape.
Comparison compare(const import::TensorFile& got, const import::TensorFile& want, double tolerance);

}  // namespace shw::testing

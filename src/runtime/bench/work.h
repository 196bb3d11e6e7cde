// What a step of a program has to do, counted from its types.
#pragma once
#include <vector>

#include "plan/program.h"
#include "support/status.h"

namespace shw::runtime {

// A batch of matrix products [m,k] × [k,n].
struct Product {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  Dtype dtype = Dtype::kF32;
  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

struct StepWork {
  double flops = 0;  // of a step that is no product: one for each element that it writes
  bool is_product = false;
  std::vector<Product> products;  // whose shape a rate can be measured at
};

// Bytes of memory that a window shows; a broadcast dim shows the same ones again.
double window_bytes(const TensorType& type);

// Attention counts as its products, and of a causal one the scores that are not masked.
StepWork work_of(const Program& program, const ProgramStep& step);

}  // namespace shw::runtime

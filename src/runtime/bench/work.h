// The work of a program's step, computed from its types.
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
  double flops = 0;  // if not a product: one per element that it writes
  bool is_product = false;
  std::vector<Product> products;  // products at whose shape a rate can be measured
};

// The number of distinct bytes in a window; broadcast dims add none.
double window_bytes(const TensorType& type);

// Attention counts as its matrix products; causal attention counts only the scores that are not
// masked.
StepWork work_of(const Program& program, const ProgramStep& step);

}  // namespace shw::runtime

// The host's kernels.
#pragma once

#include <vector>

#include "tape.h"
#include "tensor.h"
#include "threads.h"

namespace host {

// One operation on one device.
void compute(Threads& threads, const Operation& op, const std::vector<Tensor>& operands,
             const Tensor& result);

}  // namespace host

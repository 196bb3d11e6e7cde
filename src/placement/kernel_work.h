// The work of an op in the units in which kernels are measured (cost/kernel_times.h).
#pragma once
#include <span>
#include <vector>

#include "cost/kernel_times.h"
#include "ops/op_def.h"

namespace shw {

// The kernels of one launch, for the types of a rank's pieces. A matrix product is `mm`; a batch
// counts as one `mm` per matrix. An op that does more than multiply, or copies its operands first,
// has several kernels.
std::vector<cost::KernelWork> kernel_works(OpKind op, const OpArgs& pieces,
                                           std::span<const OptionalType> results);

}  // namespace shw

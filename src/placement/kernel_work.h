// What an op asks of a device, in the terms in which kernels are measured (cost/kernel_times.h).
#pragma once
#include <span>
#include <vector>

#include "cost/kernel_times.h"
#include "ops/op_def.h"

namespace shw {

// The kernels of one launch, by the types of a rank's pieces. Products are `mm`, each of a batch
// one. An op that multiplies and does more, or copies its operands first, is several.
std::vector<cost::KernelWork> kernel_works(OpKind op, const OpArgs& pieces,
                                           std::span<const OptionalType> results);

}  // namespace shw

// Kernels that copy tensors into parts of a result: cat, stack, the scatters, and the backward
// steps of slice and select.
#pragma once
#include <vector>

#include "runtime/cpu/kernel_args.h"
#include "runtime/part.h"

namespace shw::runtime::cpu {

Prepared prepare_parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground);

}  // namespace shw::runtime::cpu

// Kernels that lay tensors into parts of another: cat, stack, the scatters and backwards of slice
// and select.
#pragma once
#include <vector>

#include "runtime/cpu/kernel_args.h"
#include "runtime/part.h"

namespace shw::runtime::cpu {

Prepared prepare_parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground);

}  // namespace shw::runtime::cpu

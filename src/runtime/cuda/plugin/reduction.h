// Sums and means over some dims of a tensor.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_sum(const Context& context, const KernelArgs& args);
Prepared prepare_mean(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

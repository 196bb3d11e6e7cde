// Running sums and products along a dim.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_cumsum(const Context& context, const KernelArgs& args);
Prepared prepare_cumprod(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

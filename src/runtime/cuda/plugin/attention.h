// Attention, forward and backward.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_sdpa(const Context& context, const KernelArgs& args);
Prepared prepare_sdpa_backward(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

// Softmax, its logarithm, and their gradients.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_softmax(const Context& context, const KernelArgs& args);
Prepared prepare_log_softmax(const Context& context, const KernelArgs& args);
Prepared prepare_softmax_backward(const Context& context, const KernelArgs& args);
Prepared prepare_log_softmax_backward(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

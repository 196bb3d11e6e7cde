// Convolutions and their gradients (runtime/convolution_shape.h).
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_convolution(const Context& context, const KernelArgs& args);
Prepared prepare_convolution_backward(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

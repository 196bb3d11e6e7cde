// Layer norm and RMS norm, forward and backward.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_layer_norm(const Context& context, const KernelArgs& args);
Prepared prepare_layer_norm_backward(const Context& context, const KernelArgs& args);
Prepared prepare_rms_norm(const Context& context, const KernelArgs& args);
Prepared prepare_rms_norm_backward(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

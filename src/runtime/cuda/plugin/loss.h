// The negative log-likelihood of targets, and its gradient.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_nll_loss(const Context& context, const KernelArgs& args);
Prepared prepare_nll_loss_backward(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

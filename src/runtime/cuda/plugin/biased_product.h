// Matrix products that are added to a tensor.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// Compute attrs.beta · c + attrs.alpha · a × b; baddbmm for each matrix of a batch.
Prepared prepare_addmm(const Context& context, const KernelArgs& args);
Prepared prepare_baddbmm(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

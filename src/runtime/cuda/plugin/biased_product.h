// Products of matrices that are added to a tensor.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// attrs.beta · c + attrs.alpha · a × b; batch by batch.
Prepared prepare_addmm(const Context& context, const KernelArgs& args);
Prepared prepare_baddbmm(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

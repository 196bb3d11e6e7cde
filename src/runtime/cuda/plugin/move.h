// Steps that copy or create elements.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_move(const Context& context, const KernelArgs& args);  // clone, casts
Prepared prepare_full(const Context& context, const KernelArgs& args);
Prepared prepare_local_slice(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

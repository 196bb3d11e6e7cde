// Steps that copy tensors into parts of a result.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_cat(const Context& context, const KernelArgs& args);
Prepared prepare_stack(const Context& context, const KernelArgs& args);
Prepared prepare_slice_scatter(const Context& context, const KernelArgs& args);
Prepared prepare_slice_backward(const Context& context, const KernelArgs& args);
Prepared prepare_select_scatter(const Context& context, const KernelArgs& args);
Prepared prepare_select_backward(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

// Einstein sums of two tensors (equation.h): mm and einsum.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_mm(const Context& context, const KernelArgs& args);
Prepared prepare_bmm(const Context& context, const KernelArgs& args);
Prepared prepare_einsum(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

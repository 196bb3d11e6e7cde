// Einstein sums of two tensors (equation.h): mm, bmm and einsum.
#pragma once
#include <string_view>

#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// Multiplies the first two operands as `equation` specifies.
Prepared prepare_contraction(const Context& context, const KernelArgs& args,
                             std::string_view equation);
Prepared prepare_mm(const Context& context, const KernelArgs& args);
Prepared prepare_bmm(const Context& context, const KernelArgs& args);
Prepared prepare_einsum(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

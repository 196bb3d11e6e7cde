// scaled_mm of 8-bit floats by cuBLASLt.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// `otherwise` computes the same. It runs if the operands do not have the layout that cuBLASLt
// requires. If cuBLASLt cannot multiply such matrices at all, `otherwise` is returned.
Prepared prepare_float8_product(const Context& context, const KernelArgs& args,
                                std::unique_ptr<PreparedKernel> otherwise);

}  // namespace shw::runtime::cuda

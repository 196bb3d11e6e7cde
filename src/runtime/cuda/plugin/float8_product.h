// scaled_mm of 8-bit floats by cuBLASLt.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// `otherwise` computes the same, and runs where operands do not lie as cuBLASLt wants. It is all
// that is returned where cuBLASLt does not multiply such matrices.
Prepared prepare_float8_product(const Context& context, const KernelArgs& args,
                                std::unique_ptr<PreparedKernel> otherwise);

}  // namespace shw::runtime::cuda

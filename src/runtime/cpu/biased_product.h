// Matrix products to which a tensor is added: addmm, baddbmm.
#pragma once
#include <string_view>

#include "runtime/cpu/kernel_args.h"
#include "runtime/wide_type.h"

namespace shw::runtime::cpu {

// Computes attrs.beta · input 0 + attrs.alpha · (the sum given by `equation` of inputs 1 and 2).
// The result is rounded once, after the addition. If beta = 0, input 0 is not read.
Prepared prepare_biased_product(const KernelArgs& args, std::string_view equation);

}  // namespace shw::runtime::cpu

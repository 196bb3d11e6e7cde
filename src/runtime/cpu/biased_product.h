// Matrix products with an addition: addmm, baddbmm.
#pragma once
#include <string_view>

#include "runtime/cpu/kernel_args.h"
#include "runtime/wide_type.h"

namespace shw::runtime::cpu {

// attrs.beta · input 0 + attrs.alpha · the sum that `equation` says of inputs 1 and 2. The sum is
// rounded once, with the addition; with beta = 0 input 0 is not read.
Prepared prepare_biased_product(const KernelArgs& args, std::string_view equation);

}  // namespace shw::runtime::cpu

// A kernel that writes one number everywhere.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

// attrs.fill_value, in the dtype of the result.
Prepared prepare_fill(const KernelArgs& args);

}  // namespace shw::runtime::cpu

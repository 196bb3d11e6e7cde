// Matrix products with scales: scaled_mm.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_scaled_mm(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

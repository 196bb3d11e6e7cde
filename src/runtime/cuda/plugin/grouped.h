// Products by groups (runtime/grouped_shape.h): grouped_mm.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_grouped_mm(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

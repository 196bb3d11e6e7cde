// Sorting along a dim (runtime/ranking_shape.h): sort and topk.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_sort(const Context& context, const KernelArgs& args);
Prepared prepare_topk(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

// The largest or smallest elements, and the index of their first occurrence.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_max(const Context& context, const KernelArgs& args);
Prepared prepare_min(const Context& context, const KernelArgs& args);
Prepared prepare_argmax(const Context& context, const KernelArgs& args);
Prepared prepare_argmin(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

// Sums, means, products, extremes, truth and variances over some dims of a tensor.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_sum(const Context& context, const KernelArgs& args);
Prepared prepare_mean(const Context& context, const KernelArgs& args);
Prepared prepare_prod(const Context& context, const KernelArgs& args);
Prepared prepare_amax(const Context& context, const KernelArgs& args);
Prepared prepare_amin(const Context& context, const KernelArgs& args);
Prepared prepare_any(const Context& context, const KernelArgs& args);
Prepared prepare_all(const Context& context, const KernelArgs& args);
Prepared prepare_var(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

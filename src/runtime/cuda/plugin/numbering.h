// Steps whose elements depend on their position: iota, tril, triu.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_iota(const Context& context, const KernelArgs& args);
Prepared prepare_tril(const Context& context, const KernelArgs& args);
Prepared prepare_triu(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

// Steps that read or write elements that index tensors select: gather, index_select, index, scatter
// and its variants, index_put.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_gather(const Context& context, const KernelArgs& args);
Prepared prepare_index_select(const Context& context, const KernelArgs& args);
Prepared prepare_index(const Context& context, const KernelArgs& args);
Prepared prepare_scatter(const Context& context, const KernelArgs& args);
Prepared prepare_scatter_add(const Context& context, const KernelArgs& args);
Prepared prepare_scatter_reduce(const Context& context, const KernelArgs& args);
Prepared prepare_index_put(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

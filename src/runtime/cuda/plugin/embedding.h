// embedding (selects rows of a table by indices) and the gradient of the table.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_embedding(const Context& context, const KernelArgs& args);
Prepared prepare_embedding_backward(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

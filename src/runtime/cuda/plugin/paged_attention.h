// Attention over keys and values in pages.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_sdpa_paged(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda

// Groups of steps as kernels that are generated for them.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// What Device::prepare_group() says.
Result<GroupKernel> prepare_fused_group(Context& context, std::span<const GroupStep> steps);

}  // namespace shw::runtime::cuda

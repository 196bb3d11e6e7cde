// Kernels that are generated for groups of steps.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// Implements Device::prepare_group().
Result<GroupKernel> prepare_fused_group(Context& context, std::span<const GroupStep> steps);

}  // namespace shw::runtime::cuda

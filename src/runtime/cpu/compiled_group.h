// Pointwise steps of a group as one compiled loop over rows. Values that only these steps use stay
// in registers.
#pragma once
#include <functional>

#include "runtime/cpu/kernel_args.h"
#include "runtime/hal.h"

namespace shw::runtime::cpu {

// Prepares a single step.
using PrepareStep = std::function<Prepared(std::string_view kernel, const KernelArgs& args)>;

// Implements Device::prepare_group() for steps that run slice by slice. The compiled steps end
// before the first step that has no formula in f32, that reads or writes rows with gaps, or that
// shares bytes with an earlier step other than element by element.
Result<GroupKernel> compile_group(std::span<const GroupStep> steps, const PrepareStep& prepare);

}  // namespace shw::runtime::cpu

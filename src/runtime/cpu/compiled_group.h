// Pointwise steps of a group as one loop over rows, compiled for them: values that only the steps
// see stay in registers.
#pragma once
#include <functional>

#include "runtime/cpu/kernel_args.h"
#include "runtime/hal.h"

namespace shw::runtime::cpu {

// How this backend prepares a step by itself.
using PrepareStep = std::function<Prepared(std::string_view kernel, const KernelArgs& args)>;

// What Device::prepare_group() says, of steps that run slice by slice. One that has no formula in
// f32, that reads or writes rows with gaps, or touches bytes of an earlier one other than element
// by element, ends the steps that the kernel does.
Result<GroupKernel> compile_group(std::span<const GroupStep> steps, const PrepareStep& prepare);

}  // namespace shw::runtime::cpu

// A kernel that runs a group of steps slice by slice.
#pragma once
#include <memory>

#include "runtime/fusion/group.h"
#include "runtime/hal.h"

namespace shw::runtime {

// The operands of the kernel's launch: the values of the group that are not temporaries, including
// absent ones, in the order in which the members list them.
std::vector<ValueId> operands_of(const SlicedGroup& group);

// Requires a device whose kernels are host kernels (Capabilities::slices).
Result<std::unique_ptr<PreparedKernel>> prepare_group(const Program& program,
                                                      const SlicedGroup& group, Device& device,
                                                      const Mesh& mesh, int64_t rank);

}  // namespace shw::runtime

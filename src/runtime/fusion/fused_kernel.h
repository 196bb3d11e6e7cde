// A kernel that runs a group of steps slice by slice.
#pragma once
#include <memory>

#include "runtime/fusion/group.h"
#include "runtime/hal.h"

namespace shw::runtime {

// The operands that its launch takes: the values of the group that are no temporaries, in the order
// in which the members name them; absent ones too.
std::vector<ValueId> operands_of(const SlicedGroup& group);

// On a device whose kernels are host kernels (Capabilities::slices).
Result<std::unique_ptr<PreparedKernel>> prepare_group(const Program& program,
                                                      const SlicedGroup& group, Device& device,
                                                      const Mesh& mesh, int64_t rank);

}  // namespace shw::runtime

// Reductions over ranks that NCCL does not support, as a collective that moves the operands and a
// kernel that reduces them.
#pragma once
#include "runtime/channel.h"
#include "runtime/cuda/plugin/context.h"

namespace shw::runtime::cuda {

// True for 16-bit integers, and for averages of integers, which are rounded towards zero.
bool is_reduced_here(const CollectiveSpec& spec);

// The collective that brings the operands to each rank: all operands, or each rank's part of them.
CollectiveSpec moved_for(const CollectiveSpec& spec);

// `moved`: the prepared collective moved_for(spec), for a group of `members`.
Result<std::unique_ptr<PreparedKernel>> prepare_gathered(Context& context,
                                                         std::unique_ptr<PreparedKernel> moved,
                                                         const CollectiveSpec& spec,
                                                         int64_t members);

}  // namespace shw::runtime::cuda

// Reductions over ranks that NCCL does not have, as a collective that moves the operands, and a
// kernel that reduces them.
#pragma once
#include "runtime/channel.h"
#include "runtime/cuda/plugin/context.h"

namespace shw::runtime::cuda {

// Of 16-bit integers, and averages of integers, which are rounded towards zero.
bool is_reduced_here(const CollectiveSpec& spec);

// What brings the operands of such a collective to each rank: all of them, or each rank's part.
CollectiveSpec moved_for(const CollectiveSpec& spec);

// `moved`: the prepared collective moved_for(spec), of a group of `members`.
Result<std::unique_ptr<PreparedKernel>> prepare_gathered(Context& context,
                                                         std::unique_ptr<PreparedKernel> moved,
                                                         const CollectiveSpec& spec,
                                                         int64_t members);

}  // namespace shw::runtime::cuda

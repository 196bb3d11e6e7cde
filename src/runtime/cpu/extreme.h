// The largest or smallest element along a dim, or of all, and where the first of them stands.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

enum class Extreme : uint8_t { kLargest, kSmallest };

// Attributes dim, keepdim. x → values, places.
Prepared prepare_extreme(const KernelArgs& args, Extreme extreme);
// x → places; without attribute dim in the whole tensor, read row by row.
Prepared prepare_extreme_index(const KernelArgs& args, Extreme extreme);

}  // namespace shw::runtime::cpu

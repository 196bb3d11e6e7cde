// The largest or smallest element along a dim or of a whole tensor, and the index of its first
// occurrence.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

enum class Extreme : uint8_t { kLargest, kSmallest };

// Attributes dim, keepdim. x → values, places.
Prepared prepare_extreme(const KernelArgs& args, Extreme extreme);
// x → indices; without attribute dim, of the whole tensor in row-major order.
Prepared prepare_extreme_index(const KernelArgs& args, Extreme extreme);

}  // namespace shw::runtime::cpu

// tril and triu: set the elements on one side of a diagonal to zero.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

enum class Triangle : uint8_t { kLower, kUpper };
// Attribute `diagonal` is in coordinates of the whole tensor; `size` and `cuts` give the position
// of a piece.
Prepared prepare_triangle(const KernelArgs& args, Triangle triangle);

}  // namespace shw::runtime::cpu
